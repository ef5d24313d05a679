package cassettes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	json2 "github.com/go-json-experiment/json"

	"github.com/toolconform/conform/docs"
	"github.com/toolconform/conform/internal/files"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/lint"
	"github.com/toolconform/conform/internal/sources"
)

// Index says of each tape where it comes from. It is the file index.json.
type Index struct {
	Version int     `json:"version"` // 1
	Tapes   []Entry `json:"tapes"`
}

// Values of Entry.Requests.
const (
	RequestsRecorded = "recorded"  // as a client sent them
	RespelledRequest = "respelled" // the responses are recorded, the requests are written anew for this suite
)

// Entry is what the index holds of one tape.
type Entry struct {
	Tape      string          `json:"tape"` // <engine>/<scenario>, the name that Read takes
	Engine    string          `json:"engine"`
	Dialect   string          `json:"dialect,omitempty"` // where the engine speaks several
	Scenario  string          `json:"scenario"`
	Origin    Origin          `json:"origin"`
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens,omitempty"`
	Extra     json.RawMessage `json:"extra,omitempty"`  // request keys of the recording that the scenario does not say
	Expect    json.RawMessage `json:"expect,omitempty"` // keys of the scenario's expect that this tape replaces: an engine may answer in other words
	Lacks     string          `json:"lacks,omitempty"`  // why nothing that the scenario is about is in it: the engine lost it
	Requests  string          `json:"requests"`
	Note      string          `json:"note,omitempty"`
}

// Origin says where a tape comes from.
type Origin = sources.Origin

// LoadIndex reads index.json of fsys. Unknown and repeated keys are errors.
func LoadIndex(fsys fs.FS) (Index, error) {
	const file = "index.json"
	var ix Index
	data, err := files.ReadFS(fsys, file, mostIndex)
	if err != nil {
		return ix, fmt.Errorf("%s: %w", file, err)
	}
	if err := json2.Unmarshal(data, &ix, json2.RejectUnknownMembers(true)); err != nil {
		var se *json2.SemanticError
		if errors.As(err, &se) && se.JSONPointer != "" {
			return ix, fmt.Errorf("%s: %s: %w", file, se.JSONPointer, err)
		}
		return ix, fmt.Errorf("%s: %w", file, err)
	}
	if ix.Version != 1 {
		return ix, fmt.Errorf("%s: /version: %d, this reader knows 1", file, ix.Version)
	}
	return ix, nil
}

// Find returns the entry of a tape.
func (ix Index) Find(tape string) (Entry, bool) {
	i := slices.IndexFunc(ix.Tapes, func(e Entry) bool { return e.Tape == tape })
	if i < 0 {
		return Entry{}, false
	}
	return ix.Tapes[i], true
}

// Of lists the entries of an engine and a scenario, in index order.
func (ix Index) Of(engine, scenario string) []Entry {
	var out []Entry
	for _, e := range ix.Tapes {
		if e.Engine == engine && e.Scenario == scenario {
			out = append(out, e)
		}
	}
	return out
}

var date = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// Lint checks that the index and the tapes of fsys agree, that every tape can
// be read, that its origin is told, and that nothing in it looks like a secret
// or a path of somebody's machine.
func Lint(fsys fs.FS) []lint.Problem {
	ix, err := LoadIndex(fsys)
	if err != nil {
		return []lint.Problem{{File: "index.json", Text: strings.TrimPrefix(err.Error(), "index.json: ")}}
	}
	pages, err := sources.Read(docs.FS())
	if err != nil {
		return []lint.Problem{{File: "index.json", Text: err.Error()}}
	}
	var out []lint.Problem
	listed := map[string]bool{}
	for i, e := range ix.Tapes {
		fault := func(pointer, format string, args ...any) {
			out = append(out, lint.Problem{File: "index.json", Pointer: fmt.Sprintf("/tapes/%d%s", i, pointer), Text: fmt.Sprintf(format, args...)})
		}
		if listed[e.Tape] {
			fault("/tape", "%q is listed twice", e.Tape)
		}
		listed[e.Tape] = true
		lintEntry(e, pages, fault)
		if _, err := fs.Stat(fsys, path.Join("tapes", e.Tape+".yaml")); err != nil {
			fault("/tape", "tapes/%s.yaml does not exist", e.Tape)
		}
	}
	if data, err := files.ReadFS(fsys, "index.json", mostIndex); err == nil {
		lint.Number(data, out)
	}
	_ = fs.WalkDir(fsys, "tapes", func(file string, d fs.DirEntry, err error) error {
		if err != nil { // of one folder; the others still count
			out = append(out, lint.Problem{File: file, Text: err.Error()})
			return fs.SkipDir
		}
		if d.IsDir() || path.Base(file) == "README.md" {
			return nil
		}
		out = append(out, lintTape(fsys, file, listed)...)
		return nil
	})
	return out
}

func lintEntry(e Entry, pages sources.Pages, fault func(pointer, format string, args ...any)) {
	for name, value := range map[string]string{"engine": e.Engine, "scenario": e.Scenario, "model": e.Model} {
		if value == "" {
			fault("/"+name, "missing")
		}
	}
	if e.Tape == "" || path.Clean(e.Tape) != e.Tape || !strings.HasPrefix(e.Tape, e.Engine+"/") {
		fault("/tape", "%q does not start with the engine %q", e.Tape, e.Engine)
	}
	for _, f := range pages.Faults(e.Origin) {
		fault("/origin"+f.Pointer, "%s", f.Text)
	}
	if !date.MatchString(e.Origin.Date) {
		fault("/origin/date", "%q is no date YYYY-MM-DD", e.Origin.Date)
	}
	if e.Requests != RequestsRecorded && e.Requests != RespelledRequest {
		fault("/requests", "%q is none of recorded, respelled", e.Requests)
	}
	if e.Expect != nil && !jsonx.Of(e.Expect).IsObject() {
		fault("/expect", "want an object")
	}
	if e.Extra != nil && !jsonx.Of(e.Extra).IsObject() {
		fault("/extra", "want an object")
	}
}

func lintTape(fsys fs.FS, file string, listed map[string]bool) []lint.Problem {
	if path.Ext(file) != ".yaml" {
		return []lint.Problem{{File: file, Text: "is no tape; the folder holds only .yaml files"}}
	}
	var out []lint.Problem
	name := strings.TrimSuffix(strings.TrimPrefix(file, "tapes/"), ".yaml")
	if !listed[name] {
		out = append(out, lint.Problem{File: file, Text: fmt.Sprintf("has no entry %q in index.json", name)})
	}
	data, err := files.ReadFS(fsys, file, MostTape)
	if err != nil {
		return append(out, lint.Problem{File: file, Text: err.Error()})
	}
	t, err := Parse(file, data)
	if err != nil {
		return append(out, lint.Problem{File: file, Text: err.Error()})
	}
	if len(t.Exchanges) == 0 {
		out = append(out, lint.Problem{File: file, Text: "holds no exchange"})
	}
	return append(out, lint.Secrets(file, data)...)
}
