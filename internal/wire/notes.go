package wire

import "github.com/toolconform/conform/codecs"

// Notes collects the warnings of one translation; the types that walk a body or
// a request embed it.
type Notes struct{ Warnings []codecs.Warning }

// Warn adds a warning.
func (n *Notes) Warn(code, pointer, format string, args ...any) {
	n.Warnings = append(n.Warnings, codecs.Warnf(code, pointer, format, args...))
}
