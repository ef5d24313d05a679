// Package neutral is the JSON form of the neutral types: what a person or a
// program in another language writes and reads in their place. docs/matching.md
// of the project and the schemas of its suite describe it.
package neutral
