package verify

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/paths"
)

// table says where a dialect's reply bodies hold what is counted. It is data of
// its own (scan/<dialect>.json), so that a body is read a second time by nothing
// that a codec is made of.
//
// Paths are those of internal/paths; one that starts with a slash starts at the
// body.
type table struct {
	Like          string     // the dialect whose groups these are
	ReasoningOnce bool       `json:"reasoning_once"` // all the reasoning of a reply is one item
	TextCalls     *textCalls `json:"text_calls"`
	Groups        []group
	Stream        streamTable
}

// textCalls is markup around calls that stand in the text as JSON with a name.
type textCalls struct{ Open, Close, Name string }

// group is a place of items and the rules for each of them, all of which apply.
type group struct {
	At     string
	Rules  []rule
	Others bool // an item that no rule was for counts as one of another kind
}

// rule says what an item holds, if what stands at the paths of When is as said
// there, and what stands at those of Unless is not. A condition is a value, one
// of several words with | between, or "*": anything.
type rule struct {
	When, Unless                map[string]any
	Text                        string
	ObjectAsText                bool   `json:"object_as_text"` // an object at Text is a text as it is spelled
	Reasoning, Signature, Media string // counted when something is there
	Call                        *struct{ Name, ID, Arguments string }
	Other                       bool
	Each                        *group
}

// errorPlace is a place where a body says that something went wrong.
type errorPlace struct {
	At string
	Is any // nil: whatever is there
}

//go:embed scan/*.json
var scanFiles embed.FS

// tables are the tables by dialect, and the places of errors, which are the same
// for all since gateways mix them.
type tables struct {
	of     map[codecs.Dialect]table
	errors []errorPlace
}

func loadTables() (tables, error) {
	t := tables{of: map[codecs.Dialect]table{}}
	files, err := fs.Glob(scanFiles, "scan/*.json")
	if err != nil {
		return t, err
	}
	for _, file := range files {
		data, err := scanFiles.ReadFile(file)
		if err != nil {
			return t, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "scan/"), ".json")
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.DisallowUnknownFields()
		if name == "errors" {
			err = dec.Decode(&t.errors)
		} else {
			var one table
			err = dec.Decode(&one)
			t.of[codecs.Dialect(name)] = one
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", file, err)
		}
	}
	for name, one := range t.of {
		if one.Like != "" {
			like := t.of[codecs.Dialect(one.Like)]
			one.Groups, one.ReasoningOnce, one.Stream = like.Groups, like.ReasoningOnce, like.Stream
			t.of[name] = one
		}
		if len(one.Groups) == 0 {
			return t, errors.New("scan/" + string(name) + ".json: no groups")
		}
	}
	return t, nil
}

// at reads one value; a path that starts with a slash starts at the body.
func at(root, item any, path string) any {
	if strings.HasPrefix(path, "/") {
		return paths.First(root, path[1:])
	}
	return paths.First(item, path)
}

func (r rule) applies(root, item any) bool {
	for path, want := range r.When {
		if !is(at(root, item, path), want) {
			return false
		}
	}
	for path, want := range r.Unless {
		if is(at(root, item, path), want) {
			return false
		}
	}
	return true
}

func is(v, want any) bool {
	words, ok := want.(string)
	if !ok {
		return v == want
	}
	if words == "*" {
		return paths.Filled(v)
	}
	s, ok := v.(string)
	if !ok {
		return false
	}
	for _, w := range strings.Split(words, "|") {
		if s == w {
			return true
		}
	}
	return false
}
