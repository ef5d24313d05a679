package engines

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// check reports everything that is wrong with an entry.
func (e Engine) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if e.Name == "" || e.URL == "" || e.DefaultModel == "" {
		bad("name, url and default_model must be there")
	}
	if !known(e.Dialect) {
		bad("/dialect: no dialect is called %q", e.Dialect)
	}
	kind, arg, _ := strings.Cut(e.Auth, ":")
	switch {
	case kind == "header" || kind == "query" || kind == "body":
		if arg == "" {
			bad("/auth: %q lacks the name after the colon", e.Auth)
		}
	case kind == "command":
		if len(e.Command) == 0 {
			bad("/command: the auth kind command needs a command")
		}
	case kind != "none" && kind != "bearer":
		bad("/auth: %q is none of none, bearer, header:NAME, query:NAME, body:POINTER, command", e.Auth)
	}
	for _, t := range e.templates() {
		for _, name := range placeholders(t) {
			if _, ok := e.Vars[name]; !ok && name != "model" {
				bad("/vars: the placeholder {%s} of %q has no variable", name, t)
			}
		}
	}
	checkEdits("", e.BodySet, e.BodyRemove, bad)
	if err := e.Likeness.fault(e.Dialect); err != nil {
		bad("/%w", err)
	}
	for i, m := range e.Models {
		if err := m.Likeness.fault(cmp.Or(m.Dialect, e.Dialect)); err != nil {
			bad("/models/%d/%w", i, err)
		}
		at := fmt.Sprintf("/models/%d", i)
		if m.Match == "" {
			bad("%s/match: empty", at)
		}
		if m.Dialect != "" && !known(m.Dialect) {
			bad("%s/dialect: no dialect is called %q", at, m.Dialect)
		}
		if len(m.Profile) > 0 {
			var p codecs.Profile
			if err := strict(m.Profile, &p); err != nil {
				bad("%s/profile: %w", at, err)
			}
		}
		checkEdits(at, m.BodySet, m.BodyRemove, bad)
	}
	return errors.Join(errs...)
}

func known(d codecs.Dialect) bool { return slices.Contains(codecs.Dialects(), d) }

func checkEdits(at string, set []BodyEdit, remove []string, bad func(string, ...any)) {
	for i, s := range set {
		switch {
		case !strings.HasPrefix(s.Pointer, "/"):
			bad("%s/body_set/%d/pointer: %q is no JSON pointer below the root", at, i, s.Pointer)
		case s.From == "" && jsonx.Check(s.Value) != nil:
			bad("%s/body_set/%d: neither value nor from", at, i)
		}
	}
	for i, p := range remove {
		if !strings.HasPrefix(p, "/") {
			bad("%s/body_remove/%d: %q is no JSON pointer below the root", at, i, p)
		}
	}
}

// templates lists every text of the entry that may hold placeholders.
func (e Engine) templates() []string {
	out := []string{e.URL, e.StreamURL}
	for _, m := range []map[string]string{e.Query, e.Headers, e.Vars} {
		for _, v := range m {
			out = append(out, v)
		}
	}
	return out
}
