package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/files"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	fifo(t, at("pipe"))
	for from, to := range map[string]string{"zero": "/dev/zero", "linked": at("file"), "folder": dir, "piped": at("pipe"), "status": "/proc/self/status"} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	if err := os.WriteFile(at("file"), []byte("tide"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		most int64
		want string // of the error; "" is none
	}{
		{"file", 4, ""},
		{"linked", 4, ""},
		{"file", 3, "is larger than 3 bytes; split it or leave it out"},
		{"status", 10, "is larger than 10 bytes"}, // its size is told as 0
		{"pipe", 9, "is a pipe; give a regular file"},
		{"piped", 9, "is a pipe; give a regular file"},
		{"zero", 9, "is a device; give a regular file"},
		{"folder", 9, "is a folder; give a regular file"},
		{"none", 9, "no such file"},
	} {
		data, err := files.Read(at(c.name), c.most)
		switch {
		case c.want == "" && (err != nil || string(data) != "tide"):
			t.Errorf("%s: %q, %v", c.name, data, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name)):
			t.Errorf("%s: error = %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	fifo(t, at("pipe"))
	if err := os.Symlink(at("file"), at("linked")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, c := range []struct{ name, want string }{
		{"file", ""},
		{"linked", ""},
		{"pipe", "is a pipe; give a regular file"},
		{".", "is a folder; give a regular file"},
		{"none/file", "no such file"},
		{"file/below", "file is no folder"},
	} {
		err := files.Write(at(c.name), []byte("tide "+c.name))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want %q", c.name, err, c.want)
		}
	}
	if data, err := os.ReadFile(at("file")); err != nil || string(data) != "tide linked" {
		t.Errorf("%q, %v", data, err)
	}
	if err := os.Chmod(at("file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.Write(at("file"), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(at("linked")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(at("file")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("other rights: %v %v", info, err)
	}
	if left, _ := filepath.Glob(at(".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
