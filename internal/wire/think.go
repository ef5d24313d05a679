package wire

import (
	"github.com/toolconform/conform/codecs"
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
