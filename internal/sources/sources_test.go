package sources

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/docs"
)

func pages(t *testing.T) Pages {
	t.Helper()
	p, err := Read(docs.FS())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheck(t *testing.T) {
	p := pages(t)
	for _, ok := range []string{
		"https://api-docs.deepseek.com/guides/thinking_mode",
		"https://github.com/0xPlaygrounds/rig/blob/b75850e/tests/a%5Bb%5D.yaml",
		"vercel/ai#13203", "ml-explore/mlx-lm#1375",
		"docs/facts/langertha.md#TD01", "docs/facts/openai.md#tools", "docs/decisions.md#truncation",
	} {
		if err := p.Check(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for bad, want := range map[string]string{
		"":                              "is no source",
		"wire facts 1a":                 "is no source",
		"TD01":                          "did you mean docs/facts/langertha.md#TD01?",
		"http://api-docs.deepseek.com/": "is no source",
		"https://localhost/x":           "no public host",
		"https://127.0.0.1/x":           "no public host",
		"https://a.example/x":           "no public host",
		"https://me@github.com/x":       "no public host",
		"https://github.com/a b":        "is no address",
		"vercel/ai#0":                   "is no source",
		"vercel#1":                      "is no source",
		"docs/facts/openai.md":          "has no row",
		"docs/facts/openai.md#tool":     `did you mean "tools"`,
		"docs/facts/langertha.md#TD99":  "has no row",
		"docs/fact/openai.md#tools":     `did you mean "docs/facts/openai.md"`,
		"docs/engines.md#facts":         "no page",
		strings.Repeat("docs/", 1<<20):  "no page",
	} {
		if err := p.Check(bad); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.60q: %v, want %q", bad, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	p := pages(t)
	row, decision := "docs/facts/openai.md#tools", "docs/decisions.md#truncation"
	for _, o := range []Origin{
		{Kind: Documented, Source: []string{row}},
		{Kind: Recorded, Engine: "ollama", Version: "0.17.4"},
		{Kind: Synthetic},
		{Kind: Decision, Source: []string{decision}},
	} {
		if f := p.Faults(o); f != nil {
			t.Errorf("%v: %v", o, f)
		}
	}
	for _, c := range []struct {
		o       Origin
		pointer string
	}{
		{Origin{Kind: Documented}, "/source"},
		{Origin{Kind: Documented, Source: []string{row, "wire facts"}}, "/source/1"},
		{Origin{Kind: Documented, Source: []string{decision}}, "/source/0"},
		{Origin{Kind: Recorded, Engine: "ollama"}, ""},
		{Origin{Kind: Synthetic, Source: []string{"x"}}, "/source/0"},
		{Origin{Kind: Decision}, "/source"},
		{Origin{Kind: Decision, Source: []string{row}}, "/source/0"},
		{Origin{Kind: "guessed"}, "/kind"},
	} {
		f := p.Faults(c.o)
		if len(f) != 1 || f[0].Pointer != c.pointer {
			t.Errorf("%v: %v, want one fault at %q", c.o, f, c.pointer)
		}
	}
}

func TestReadRefusesARowTwice(t *testing.T) {
	text := "| `a` | x |\n- `a`: y\n"
	if _, err := Read(fstest.MapFS{"facts/p.md": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Error(err)
	}
}

// TestPagesSayWhatTheyWereTakenFrom holds each page of facts to a first table of
// documents, every one with an address that can be opened and a date; every
// address and issue of the page resolves.
func TestPagesSayWhatTheyWereTakenFrom(t *testing.T) {
	p := pages(t)
	dated := regexp.MustCompile(`\| \d{4}-\d{2}-\d{2} \|$`)
	link := regexp.MustCompile(`<(https?://[^>]*)>`)
	issues := regexp.MustCompile(`[A-Za-z0-9-]+/[A-Za-z0-9._-]+#\d+`)
	files, err := fs.Glob(docs.FS(), "facts/*.md")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(docs.FS(), file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if n := strings.Count(text, "\n"); n > 500 {
			t.Errorf("%s has %d lines", file, n)
		}
		if len(p["docs/"+file]) == 0 {
			t.Errorf("%s has no rows", file)
		}
		_, rest, ok := strings.Cut(text, "| as of |\n")
		if !ok {
			t.Errorf("%s does not say what it was taken from", file)
			continue
		}
		head, _, _ := strings.Cut(rest, "\n\n")
		lines := strings.Split(head, "\n")[1:]
		if len(lines) == 0 {
			t.Errorf("%s names no document", file)
		}
		for _, line := range lines {
			if !dated.MatchString(line) || !link.MatchString(line) {
				t.Errorf("%s: no address and date: %s", file, line)
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if err := p.Check(m[1]); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		for _, m := range issues.FindAllString(text, -1) {
			if err := p.Check(m); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
