// Package files reads and writes files that somebody else chose, without hanging
// on what is no file and without taking more memory than was meant.
package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read reads a file of at most most bytes. Links are followed; a folder, a pipe, a
// socket or a device is an error and is not opened, since opening or reading one
// may wait for ever or never end. The error names path and remedy.
func Read(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return read(path, info, most, func() (fs.File, error) { return os.Open(path) })
}

// ReadFS is Read inside fsys.
func ReadFS(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	return read(name, info, most, func() (fs.File, error) { return fsys.Open(name) })
}

func read(name string, info fs.FileInfo, most int64, open func() (fs.File, error)) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s; give a regular file", name, kindOf(info.Mode()))
	}
	tooLarge := fmt.Errorf("%s is larger than %s; split it or leave it out", name, Size(most))
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

// Writable tells why Write cannot write a file, as far as that can be seen before.
func Writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s; give a regular file", path, kindOf(info.Mode()))
	case err == nil:
		return nil
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err == nil && !dir.IsDir() {
		err = fmt.Errorf("%s is no folder", filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write writes a file whole or not at all: who reads it meanwhile, or after a
// failure, sees the old one. A link is followed, and what is no regular file is an
// error and is not opened.
func Write(path string, data []byte) error {
	if err := Writable(path); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(part.Name(), mode)
	}
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		os.Remove(part.Name())
	}
	return err
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

// Size says a number of bytes for people.
func Size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
