// Package interop holds conform against other projects: their recorded tapes
// are read where the module cache keeps them and not copied; the schemas that the
// providers publish (testdata/schemas) and their Go SDKs judge what conform writes.
// It is a module of its own so that heavy peers stay out of the main one.
package interop
