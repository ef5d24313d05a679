// Package interop holds conform against other projects: their recorded tapes
// are read where the module cache keeps them, and nothing of them is copied.
// It is a module of its own so that heavy peers stay out of the main one.
package interop
