package cassettes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/toolconform/conform/internal/files"
)

// Limits of what is read as a tape. A tape larger than these is an error that
// names its remedy, since a reader must not take more memory than a hostile
// file's author likes.
const (
	MostTape  = 64 << 20 // bytes of a file, and of what a packed one unpacks to
	MostYAML  = 16 << 20 // bytes of YAML, whose tree takes many times their memory
	mostIndex = 4 << 20  // bytes of index.json

	// mostNodes bounds the nodes of a YAML tree from above before the tree is
	// built: each node stands on a line of its own or behind one of the marks
	// that nodesAtMost counts. The largest tapes known have some 20,000.
	mostNodes = 1_000_000

	// mostExchanges bounds a tape of exchanges without a body.
	mostExchanges = 50_000

	// mostHeader bounds the head of one HTTP message, as servers do.
	mostHeader = 1 << 20
)

func compressed(data []byte) bool { return len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b }

var errPackedKind = errors.New("no httprr trace is packed in it")

// unpack unpacks an httprr trace, the only form that is kept packed. What starts
// otherwise is refused before it is unpacked: a few bytes of gzip may hold
// gigabytes, and YAML multiplies them once more.
func unpack(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	start := make([]byte, len(httprrMagic))
	n, err := io.ReadFull(r, start)
	if !bytes.HasPrefix([]byte(httprrMagic), start[:n]) {
		return nil, errPackedKind
	}
	if err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(r, MostTape-int64(n)+1))
	if err != nil {
		return nil, err
	}
	if n+len(rest) > MostTape {
		return nil, fmt.Errorf("it unpacks to more than %s", files.Size(MostTape))
	}
	return append(start, rest...), nil
}

// nodesAtMost counts what may start a node in YAML: every line, and every mark
// that lets a line hold a further one. Marks inside texts are counted too, so
// that no spelling of a text can hide a node.
func nodesAtMost(data []byte) int {
	n := 1
	for i, c := range data {
		switch c {
		case '\n', '\r', ',', '[', '{':
			n++
		case '-', '?':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				n++
			}
		case 0x85: // with the bytes before it, a line break of YAML 1.1
			n++
		case 0xa8, 0xa9:
			if i >= 2 && data[i-1] == 0x80 && data[i-2] == 0xe2 {
				n++
			}
		}
	}
	return n
}
