package jsonx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolconform/conform/internal/jsonx"
)

func TestCheckNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		name, in string
		offset   int64
		reason   string
	}{
		{"empty", "", 0, "empty input"},
		{"blank", " \n", 0, "empty input"},
		{"cut", `{"a":[1,`, 8, "unexpected end"},
		{"cut string", `{"a":"x`, 7, "unexpected end"},
		{"trailing", `{} x`, 3, "text after"},
		{"glued", `{"a":1}{"b":2}`, 7, "text after"},
		{"binary", "\x00\x01", 0, "invalid"},
		{"deep", strings.Repeat("[", 100_000), 5_000, "deeper"},
		{"deep and whole", strings.Repeat("[", 5_001) + strings.Repeat("]", 5_001), 5_000, "deeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var se *jsonx.SyntaxError
			if err := jsonx.Check([]byte(c.in)); !errors.As(err, &se) {
				t.Fatalf("Check = %v, want a *SyntaxError", err)
			}
			if se.Offset != c.offset || !strings.Contains(se.Reason, c.reason) {
				t.Errorf("got offset %d, reason %q; want %d, %q", se.Offset, se.Reason, c.offset, c.reason)
			}
		})
	}
	for _, ok := range []string{strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), `"[[[\"[["`, `null`, ` {"a":1,"a":2} `, `"\ud800"`, "\"\xff\"", `[1e400]`} {
		if err := jsonx.Check([]byte(ok)); err != nil {
			t.Errorf("Check(%s) = %v", ok, err)
		}
	}
}

func TestEqualComparesNumbersAsTokens(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2, "a":1}`, true},
		{`[1,2]`, `[2,1]`, false},
		{`1.0`, `1`, false},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`"\u0041"`, `"A"`, true},
		{`{"a":null}`, `{}`, false},
		{`{`, `{`, false},
	} {
		if got := jsonx.Equal([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

func TestEditsTouchNothingElse(t *testing.T) {
	doc := `{"z" : 12345678901234567890, "a.b":{"0":[1.10, {"k":"\u00e9"}]}, "t":"<&>"}`
	for _, c := range []struct{ name, pointer, value, want string }{
		{"replace", "/a.b/0/0", `2`, `{"z" : 12345678901234567890, "a.b":{"0":[2, {"k":"\u00e9"}]}, "t":"<&>"}`},
		{"append", "/a.b/0/-", `null`, `{"z" : 12345678901234567890, "a.b":{"0":[1.10, {"k":"\u00e9"},null]}, "t":"<&>"}`},
		{"add key", "/a.b/x*?", `1`, `{"z" : 12345678901234567890, "a.b":{"0":[1.10, {"k":"\u00e9"}],"x*?":1}, "t":"<&>"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := jsonx.Set([]byte(doc), c.pointer, []byte(c.value))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
	got, err := jsonx.Delete([]byte(doc), "/a.b/0/1")
	if want := `{"z" : 12345678901234567890, "a.b":{"0":[1.10]}, "t":"<&>"}`; err != nil || !jsonx.Equal(got, []byte(want)) {
		t.Errorf("Delete = %s (%v)", got, err)
	}
	if got, err := jsonx.Delete([]byte(`{"a":1,"b":2,"a":3}`), "/a"); err != nil || string(got) != `{"b":2}` {
		t.Errorf("Delete of a repeated key = %s (%v)", got, err)
	}
	for _, c := range []struct{ doc, pointer, set, deleted string }{
		{`{"a":1,"b":2,"a":3}`, "/a", `{"a":"new","b":2}`, `{"b":2}`},
		{`{"a":{"b":1,"c":[1],"b":2},"z":1.0}`, "/a/b", `{"a":{"b":"new","c":[1]},"z":1.0}`, `{"a":{"c":[1]},"z":1.0}`},
		{`{"a":{"b":1},"a":{"b":2}}`, "/a/b", `{"a":{"b":"new"}}`, `{"a":{}}`},
	} {
		got, err := jsonx.Set([]byte(c.doc), c.pointer, []byte(`"new"`))
		if err != nil || !jsonx.Equal(got, []byte(c.set)) || jsonx.Of(got).Lookup(c.pointer).Str() != "new" {
			t.Errorf("Set of the repeated key %s in %s = %s (%v)", c.pointer, c.doc, got, err)
		}
		got, err = jsonx.Delete([]byte(c.doc), c.pointer)
		if err != nil || string(got) != c.deleted {
			t.Errorf("Delete of the repeated key %s in %s = %s (%v)", c.pointer, c.doc, got, err)
		}
	}
	for _, bad := range []string{"/none/x", "/a.b/0/7", "/t/x", "x"} {
		if _, err := jsonx.Set([]byte(doc), bad, []byte(`1`)); err == nil {
			t.Errorf("Set at %s succeeded", bad)
		}
	}
	if _, err := jsonx.Set([]byte(`{"a":1`), "/b", []byte(`2`)); err == nil {
		t.Error("Set accepted a cut document")
	}
}

func TestLookupAndMembers(t *testing.T) {
	v, err := jsonx.Parse([]byte(`{"a":{"b/c":[10,null,"x"]},"n":1,"n":2}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Lookup("/a/b~1c/2").Str(); got != "x" {
		t.Errorf("Lookup = %q", got)
	}
	if k := v.Lookup("/a/b~1c/1").Kind(); k != jsonx.Null {
		t.Errorf("null has kind %v", k)
	}
	if v.Lookup("/a/b~1c/3").Exists() || v.Lookup("/a/b~1c/01").Exists() {
		t.Error("Lookup found an element that is not there")
	}
	if n, ok := v.Get("n").Int(); !ok || n != 2 {
		t.Errorf("repeated key = %d, want the last", n)
	}
	if v.Len() != 2 {
		t.Errorf("Len = %d", v.Len())
	}
}

func TestDiffNamesThePlaces(t *testing.T) {
	d, err := jsonx.Diff([]byte(`{"a":[1,2],"b":"x"}`), []byte(`{"a":[1,3,4],"c":1}`))
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, x := range d {
		at = append(at, x.String())
	}
	want := []string{"/a/1: want 2, got 3", "/a/2: want nothing, got 4", `/b: want "x", got nothing`, "/c: want nothing, got 1"}
	if strings.Join(at, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(at, "\n"))
	}
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":2}]}`), "/a/1/b")
	f.Add([]byte(`{"*":{"0":1}}`), "/*/0")
	f.Add([]byte(`{"a":{"b":1},"a":{"b":2,"b":3}}`), "/a/b")
	f.Fuzz(func(t *testing.T, doc []byte, pointer string) {
		got, err := jsonx.Set(doc, pointer, []byte(`"new"`))
		if err != nil {
			return
		}
		if err := jsonx.Check(got); err != nil {
			t.Fatalf("Set(%q, %q) made invalid JSON %q: %v", doc, pointer, got, err)
		}
		if !strings.HasSuffix(pointer, "/-") && jsonx.Of(got).Lookup(pointer).Str() != "new" {
			t.Fatalf("Set(%q, %q) = %q does not hold the value", doc, pointer, got)
		}
	})
}

// FuzzQuote holds the spelling of strings against jsontext.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "grün\u2028 <&>", "\xff", "0123456\"", "01234567\xc3\xbc", "\xed\xa0\x80", "eight by\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, _ := jsontext.AppendQuote(nil, s)
		if got := jsonx.Quote(s); string(got) != string(want) {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
		if got := jsonx.AppendQuote([]byte("x"), s); string(got) != "x"+string(want) {
			t.Errorf("AppendQuote(%q) = %s", s, got)
		}
	})
}
