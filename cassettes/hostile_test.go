package cassettes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolconform/conform/cassettes"
)

// within fails a test whose function does not end.
func within(t *testing.T, most time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(most):
		t.Fatalf("not done after %v", most)
	}
}

// allocated is what f takes from the heap in all, in MiB.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int((after.TotalAlloc - before.TotalAlloc) >> 20)
}

// A pipe or a device among the tapes is a fault of its own, and hides no other.
func TestReadersRefuseWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	tapes := filepath.Join(dir, "tapes", "harbour", "area")
	if err := os.MkdirAll(tapes, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{filepath.Join(dir, "index.json"): goodIndex, filepath.Join(tapes, "tide.yaml"): tapeText(t, "{}")} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fifo(t, filepath.Join(tapes, "pipe.yaml"))
	if err := os.Symlink("/dev/zero", filepath.Join(tapes, "zero.yaml")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	within(t, 20*time.Second, func() {
		var all []string
		for _, p := range cassettes.Lint(os.DirFS(dir)) {
			all = append(all, p.String())
		}
		text := strings.Join(all, "\n")
		for _, want := range []string{"tapes/harbour/area/pipe.yaml is a pipe", "tapes/harbour/area/zero.yaml is a device"} {
			if !strings.Contains(text, want) || strings.Contains(text, "tide.yaml") {
				t.Errorf("got %s\nwant %s", text, want)
			}
		}
		for name, read := range map[string]func() (cassettes.Tape, error){
			"Read":     func() (cassettes.Tape, error) { return cassettes.Read(os.DirFS(dir), "harbour/area/pipe") },
			"ReadFile": func() (cassettes.Tape, error) { return cassettes.ReadFile(filepath.Join(tapes, "pipe.yaml")) },
		} {
			_, err := read()
			var te *cassettes.TapeError
			if !errors.As(err, &te) || te.Text != "is a pipe; give a regular file" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Few bytes of gzip hold many: what is no trace is refused at its first bytes,
// what is one ends at the limit.
func TestPackedBombs(t *testing.T) {
	bomb := "version: 1\ninteractions:\n" + strings.Repeat("- a\n", 2<<20)
	for _, c := range []struct {
		name, text, want string
		most             int // MiB allocated
	}{
		{"yaml", bomb, "is packed, and holds no httprr trace; unpack it with gunzip", 4},
		{"zeros", strings.Repeat("\x00", 8<<20), "holds no httprr trace", 4},
		{"a trace", "httprr trace v1\n" + strings.Repeat("\x00", 65<<20), "it unpacks to more than 64 MiB", 700},
		{"short", "httprr", "cannot be unpacked", 4},
		{"a trace in a trace", string(pack(t, httprr(rrRequest, rrResponse))), "holds no httprr trace", 4},
	} {
		file := filepath.Join(t.TempDir(), "quay.httprr.gz")
		if err := os.WriteFile(file, pack(t, c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		used := allocated(func() { _, err = cassettes.ReadFile(file) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want one with %q", c.name, err, c.want)
		}
		if used > c.most {
			t.Errorf("%s: %d MiB allocated", c.name, used)
		}
	}
}

// What would be a tree of many nodes is refused before the tree is built, in
// whatever way the nodes are spelled.
func TestAbsurdTrees(t *testing.T) {
	const start = "version: 1\ninteractions: "
	for name, text := range map[string]string{
		"list":      start + "\n" + strings.Repeat("- a\n", 1_000_001),
		"crlf":      start + "\r" + strings.Repeat("- a\r", 1_000_001),
		"old break": start + "\n" + strings.Repeat("- a\u2028", 1_100_000),
		"flow":      start + "[" + strings.Repeat("a,", 1_000_001) + "]",
		"brackets":  start + strings.Repeat("[", 1_000_001),
		"braces":    start + strings.Repeat("{", 1_000_001),
		"compact":   start + "\n" + strings.Repeat(strings.Repeat("- ", 5000)+"\n", 300),
		"tabs":      start + "\n" + strings.Repeat(strings.Repeat("-\t", 5000)+"\n", 300),
		"keys":      start + "\n" + strings.Repeat(strings.Repeat("? ", 5000)+"\n", 300),
		"hidden":    start + "[\"\n a: |\n   \"," + strings.Repeat("a,", 1_000_001) + "]",
		"large":     start + "\"" + strings.Repeat("a", 16<<20) + "\"",
		"utf-16":    "\xff\xfe" + strings.Repeat("- \x00 \x00", 1000),
	} {
		var err error
		used := allocated(func() { _, err = cassettes.Parse("quay.yaml", []byte(text)) })
		var te *cassettes.TapeError
		if !errors.As(err, &te) || te.Remedy == "" {
			t.Errorf("%s: error = %v", name, err)
		}
		if used > 40 {
			t.Errorf("%s: %d MiB allocated", name, used)
		}
	}
	// What is let in takes memory in proportion.
	for name, text := range map[string]string{
		"pairs": start + "[" + strings.Repeat("a: b,", 300_000) + "]",
	} {
		if testing.Short() {
			break
		}
		used := allocated(func() {
			if _, err := cassettes.Parse("quay.yaml", []byte(text)); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
		if used > 350 {
			t.Errorf("%s: %d MiB allocated", name, used)
		}
	}
}

func TestAbsurdTraces(t *testing.T) {
	const get, ok = "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"
	one := fmt.Sprintf("%d %d\n%s%s", len(get), len(ok), get, ok)
	_, err := cassettes.Parse("quay.httprr", []byte("httprr trace v1\n"+strings.Repeat(one, 60_000)))
	if err == nil || !strings.Contains(err.Error(), "more than 50000 exchanges") {
		t.Errorf("error = %v", err)
	}
	head := "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("a:\n", 1<<20) + "\r\n"
	_, err = cassettes.Parse("quay.httprr", []byte(httprr(head, ok)))
	if err == nil || !strings.Contains(err.Error(), "a head of more than 1 MiB") {
		t.Errorf("error = %v", err)
	}
}

// Many findings in one tape take no quadratic time.
func TestLintOfManyFindings(t *testing.T) {
	body := strings.Repeat("\"/home/ann/x\"\n", 40_000)
	fsys := collection(goodIndex, "")
	fsys["tapes/harbour/area/tide.yaml"] = &fstest.MapFile{Data: []byte("version: 2\ninteractions: []\n# " + strings.ReplaceAll(body, "\n", "\n# "))}
	within(t, 30*time.Second, func() {
		if got := cassettes.Lint(fsys); len(got) < 40_000 || got[len(got)-1].Line != 40002 || got[len(got)-1].Text != "looks like a path of a local machine" {
			t.Errorf("%d problems, the last is %v", len(got), got[len(got)-1])
		}
	})
}
