// Package suite runs the checks of this project: it expands scenarios over
// dialects and engines, replays them, judges both sides of the wire and writes
// the verdicts down.
package suite
