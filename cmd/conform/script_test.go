package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolconform/conform/internal/jsonx"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"conform": main})
}

// noWait keeps the race detector from sleeping a second at the end of every child.
const noWait = "atexit_sleep_ms=0"

// TestScripts runs testdata/script. Beside the usual commands the scripts have:
//
//	code N program args...   run a program, which must exit with N
//	samejson FILE WANT       FILE (or stdout) holds the JSON of WANT: the same
//	                         values in the same order of keys, numbers by their
//	                         spelling; a wanted "*" is any non-empty text
//	equaljson FILE WANT      the same, with the order of keys free
//	jsonlist N KEY...        stdout is a list of at least N objects that have
//	                         these keys
//
// $FIXTURES is the folder of the suite, $RUNNER the runner of cases in Python.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitCode, "samejson": sameJSON, "equaljson": equalJSON, "jsonlist": jsonList,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("RUNNER", filepath.Join(fixtures, "..", "docs", "comparers", "run.py"))
			e.Setenv("GORACE", noWait)
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func sameJSON(ts *testscript.TestScript, neg bool, args []string) {
	compareJSON(ts, neg, args, func(raw []byte) (jsonx.Raw, error) { return raw, jsonx.Check(raw) })
}

func equalJSON(ts *testscript.TestScript, neg bool, args []string) {
	compareJSON(ts, neg, args, jsonx.Canonical)
}

func compareJSON(ts *testscript.TestScript, neg bool, args []string, form func([]byte) (jsonx.Raw, error)) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samejson FILE WANT, or equaljson FILE WANT")
	}
	got, err := form([]byte(ts.ReadFile(args[0])))
	if err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	want, err := form([]byte(ts.ReadFile(args[1])))
	if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if at, what := difference("", jsonx.Of(want), jsonx.Of(got)); what != "" {
		ts.Fatalf("%s: %s\n%s", at, what, cmp.Diff(indented(want), indented(got)))
	}
}

// difference finds the first place where got is not want, "" when there is none.
func difference(at string, want, got jsonx.Value) (place, what string) {
	switch {
	case want.Str() == "*" && got.Str() != "":
		return "", ""
	case want.Kind() != got.Kind():
		return at, fmt.Sprintf("want %s, got %s", want.Raw(), got.Raw())
	case want.IsArray():
		w, g := want.Items(), got.Items()
		if len(w) != len(g) {
			return at, fmt.Sprintf("want %d items, got %d", len(w), len(g))
		}
		for i := range w {
			if place, what = difference(fmt.Sprintf("%s/%d", at, i), w[i], g[i]); what != "" {
				return place, what
			}
		}
		return "", ""
	case want.IsObject():
		w, g := want.Members(), got.Members()
		if keys(w) != keys(g) {
			return at, fmt.Sprintf("want the keys %s, got %s", keys(w), keys(g))
		}
		for i := range w {
			if place, what = difference(at+"/"+w[i].Key, w[i].Value, g[i].Value); what != "" {
				return place, what
			}
		}
		return "", ""
	case want.Kind() == jsonx.String && want.Str() == got.Str():
		return "", ""
	case string(want.Raw()) != string(got.Raw()):
		return at, fmt.Sprintf("want %s, got %s", want.Raw(), got.Raw())
	}
	return "", ""
}

func keys(members []jsonx.Member) string {
	var out []string
	for _, m := range members {
		out = append(out, m.Key)
	}
	return strings.Join(out, " ")
}

func jsonList(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jsonlist N KEY...")
	}
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	v, err := jsonx.Parse([]byte(ts.ReadFile("stdout")))
	ts.Check(err)
	if v.Len() < least || !v.IsArray() {
		ts.Fatalf("want a list of at least %d, got %s of %d", least, v.Kind(), v.Len())
	}
	for i, item := range v.Items() {
		for _, key := range args[1:] {
			if !item.Get(key).Exists() {
				ts.Fatalf("item %d has no %q: %s", i, key, item.Raw())
			}
		}
	}
}

// TestDifference shows that samejson can fail.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
		at        string
	}{
		{`{"a":1,"b":[true,null]}`, `{"a": 1, "b": [true, null]}`, true, ""},
		{`{"a":"\u00fc"}`, `{"a":"ü"}`, true, ""},
		{`{"a":"*"}`, `{"a":"anything"}`, true, ""},
		{`{"a":"*"}`, `{"a":""}`, false, "/a"},
		{`{"a":"*"}`, `{"a":1}`, false, "/a"},
		{`{"a":1}`, `{"a":1.0}`, false, "/a"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false, ""},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false, "/a/0"},
		{`{"a":[1]}`, `{"a":[1,2]}`, false, "/a"},
		{`{"a":null}`, `{"a":""}`, false, "/a"},
		{`{"a":null}`, `{}`, false, ""},
	} {
		at, what := difference("", jsonx.Of([]byte(c.want)), jsonx.Of([]byte(c.got)))
		if at != c.at || (what == "") != c.same {
			t.Errorf("want %s, got %s: place %q, difference %q", c.want, c.got, at, what)
		}
	}
}

// conformBinary is this test binary under the name conform, for commands that a
// shell runs.
func conformBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "conform")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}
