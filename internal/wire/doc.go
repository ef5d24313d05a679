// Package wire is what the dialects share and nobody outside this module needs:
// reading of bodies, arguments and content blocks, results and media on their
// way to the wire, ids, finish reasons, tool entries of every dialect. A name
// that others have to call belongs into package codecs instead.
package wire
