// Package wire is what the dialects share and nobody outside this module needs.
package wire
