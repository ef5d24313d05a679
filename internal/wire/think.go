package wire

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

// ThinkTag is the name of the tag around thinking in text, "" where the profile
// leaves the text alone.
func ThinkTag(p codecs.Profile) string {
	switch p.ThinkTag {
	case "":
		return "think"
	case "none":
		return ""
	}
	return p.ThinkTag
}

// UnpairedThink warns that text has a tag without its other half, and visible text
// beside what is taken for thinking: a model may as well have written about the tag.
func UnpairedThink(text, at string, p codecs.Profile) []codecs.Warning {
	tag := ThinkTag(p)
	if tag == "" {
		return nil
	}
	open, closing := "<"+tag+">", "</"+tag+">"
	if !strings.Contains(text, open) && !strings.Contains(text, closing) {
		return nil // searching backwards is dear
	}
	before, _, orphan := strings.Cut(text, closing)
	_, rest, opened := cutLast(text, open)
	switch {
	case orphan && !strings.Contains(before, open):
		_, after, _ := cutLast(text, closing)
		if strings.TrimSpace(before) != "" && strings.TrimSpace(after) != "" {
			return []codecs.Warning{codecs.Warnf(codecs.WarnThinkUnpaired, at, "%s has no %s before it; all before it is taken for thinking", closing, open)}
		}
	case opened && !strings.Contains(rest, closing):
		before, _, _ := strings.Cut(text, open)
		if strings.TrimSpace(before) != "" && strings.TrimSpace(rest) != "" {
			return []codecs.Warning{codecs.Warnf(codecs.WarnThinkUnpaired, at, "%s has no %s after it; all after it is taken for thinking", open, closing)}
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// ThinkFeeder finds the thinking in a text that comes in pieces.
func ThinkFeeder(p codecs.Profile) tags.Feeder {
	return tags.Feeder{Scanner: tags.Scanner{Think: ThinkTag(p)}}
}

// SplitThink turns text into text and reasoning parts, thinking where it stood.
// Without a tag the text is one part, byte for byte; empty text and empty
// thinking leave no part. tagged tells whether the tags held any thinking.
func SplitThink(text string, p codecs.Profile) (parts []codecs.Part, tagged bool) {
	segments := []tags.Segment{{Text: text}}
	if tag := ThinkTag(p); tag != "" {
		segments, _ = tags.SplitThink(text, tag)
	}
	for _, s := range segments {
		switch {
		case s.Text == "":
		case s.Think:
			tagged = true
			parts = append(parts, codecs.Part{Kind: codecs.KindReasoning, Text: s.Text})
		default:
			parts = append(parts, codecs.Part{Kind: codecs.KindText, Text: s.Text})
		}
	}
	return parts, tagged
}

// ReasoningKey tells whether a key of a message carries reasoning, by its name:
// reasoning_opaque, thinking_blocks, reasoning_encrypted, encrypted_reasoning.
func ReasoningKey(key string) bool {
	return strings.Contains(key, "reasoning") || strings.Contains(key, "thinking") || strings.Contains(key, "thought")
}

// Hollow tells whether a member says nothing: absent, null, "", [] or {}.
func Hollow(v jsonx.Value) bool {
	switch v.Kind() {
	case jsonx.String:
		return v.Str() == ""
	case jsonx.Array, jsonx.Object:
		return v.Len() == 0
	}
	return !v.Defined()
}
