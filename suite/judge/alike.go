package judge

import (
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Alike is a JSON value without what does not change its meaning on any wire:
// members that are null, key order, the spelling of keys (toolType, tool_type),
// the alphabet of base64. Two values with the same text are the same.
func Alike(raw codecs.Raw) string {
	var b strings.Builder
	writeAlike(&b, jsonx.Of(raw))
	return b.String()
}

func writeAlike(b *strings.Builder, v jsonx.Value) {
	switch {
	case v.IsObject():
		var members []string
		for _, m := range v.Members() {
			if m.Value.Defined() {
				members = append(members, string(jsonx.Quote(strings.ToLower(strings.ReplaceAll(m.Key, "_", ""))))+":"+Alike(m.Value.Raw()))
			}
		}
		slices.Sort(members)
		b.WriteString("{" + strings.Join(members, ",") + "}")
	case v.IsArray():
		b.WriteByte('[')
		for _, item := range v.Items() {
			writeAlike(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		if text, ok := v.Text(); ok {
			b.Write(jsonx.Quote(signature(text)))
			return
		}
		b.Write(v.Raw())
	}
}

// signature is an opaque text in one alphabet of base64, where it can be base64:
// clients that decode it write it back in theirs.
func signature(text string) string {
	const shortest = 16
	core := strings.TrimRight(text, "=")
	if len(core) < shortest || strings.ContainsFunc(core, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_", r))
	}) {
		return text
	}
	return strings.NewReplacer("-", "+", "_", "/").Replace(core)
}

// SameBase64 tells whether two opaque texts are the same but for the alphabet of
// base64.
func SameBase64(a, b string) bool { return signature(a) == signature(b) }
