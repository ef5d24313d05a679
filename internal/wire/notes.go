package wire

import (
	"slices"

	"github.com/toolconform/conform/codecs"
)

// Notes collects the warnings of one translation; the types that walk a body or
// a request embed it.
type Notes struct{ Warnings []codecs.Warning }

// Warn adds a warning.
func (n *Notes) Warn(code, pointer, format string, args ...any) {
	n.Warnings = append(n.Warnings, codecs.Warnf(code, pointer, format, args...))
}

// once is Warn for what one word in a translation is enough of.
func (n *Notes) once(code, pointer, format string, args ...any) {
	if !slices.ContainsFunc(n.Warnings, func(w codecs.Warning) bool { return w.Code == code }) {
		n.Warn(code, pointer, format, args...)
	}
}
