package cassettes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// ReadRegular reads a file of at most most bytes. Links are followed; a folder,
// a pipe, a socket or a device is an error and is not opened, since opening or
// reading one may wait for ever or never end. The error names path and remedy.
func ReadRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return readRegular(path, info, most, func() (fs.File, error) { return os.Open(path) })
}

// readFS is ReadRegular inside fsys.
func readFS(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	return readRegular(name, info, most, func() (fs.File, error) { return fsys.Open(name) })
}

func readRegular(name string, info fs.FileInfo, most int64, open func() (fs.File, error)) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s; give a regular file", name, kindOf(info.Mode()))
	}
	tooLarge := fmt.Errorf("%s is larger than %s; split it or leave it out", name, size(most))
	if info.Size() > most {
		return nil, tooLarge
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The size may be a lie, as below /proc, or change.
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, tooLarge
	}
	return data, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

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
		return nil, fmt.Errorf("it unpacks to more than %s", size(MostTape))
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
