package main

import (
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/docs"
	"github.com/toolconform/conform/internal/texts"
)

// say writes text for people in lines of a screen.
func say(w io.Writer, first, s string) {
	indent := strings.Repeat(" ", min(len(strings.TrimLeft(first, "\n")), 4))
	_, _ = io.WriteString(w, texts.Wrap(first, indent, s, screen)) // guarded keeps the error
}

// entry is a row of a table in the pages that explain words.
type entry struct {
	page, section string
	head, cells   []string
}

var inCode = regexp.MustCompile("`([^`]+)`")

// names are the words that the row explains, values those that it mentions.
func (e entry) names() []string { return codeIn(e.cells[:1]) }

func (e entry) values() []string { return codeIn(e.cells[1:]) }

func codeIn(cells []string) (out []string) {
	for _, c := range cells {
		for _, m := range inCode.FindAllStringSubmatch(c, -1) {
			out = append(out, strings.Trim(m[1], `"`))
		}
	}
	return out
}

// entries reads the tables of the pages: warning codes, profile fields and facts
// with their values, verdicts, levels and marks.
func entries() ([]entry, error) {
	var out []entry
	for _, page := range docs.Words() {
		text, err := fs.ReadFile(docs.Pages(), page)
		if err != nil {
			return nil, err
		}
		var head []string
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch title, isTitle := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); {
			case isTitle && strings.HasPrefix(line, "#"):
				section = title
			case !strings.HasPrefix(line, "|"):
				head = nil
			case strings.HasPrefix(line, "|---"):
			default:
				var cells []string
				for c := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
					cells = append(cells, strings.TrimSpace(c))
				}
				if head == nil {
					head = cells
				} else {
					out = append(out, entry{page, section, head, cells})
				}
			}
		}
	}
	return out, nil
}

// explainWord shows the rows that explain a word, or else those that name it as a
// value; it tells whether there are any.
func explainWord(w io.Writer, word string) (bool, error) {
	list, err := entries()
	if err != nil {
		return false, err
	}
	found := false
	for _, of := range []func(entry) []string{entry.names, entry.values} {
		for _, e := range list {
			if !slices.Contains(of(e), word) {
				continue
			}
			if found {
				_, _ = io.WriteString(w, "\n")
			}
			found = true
			say(w, plain(e.cells[0])+"  ", "("+e.section+", docs/"+e.page+")")
			for i, c := range e.cells[1:] {
				if i+1 < len(e.head) && c != "" {
					say(w, plain(e.head[i+1])+": ", plain(c))
				}
			}
		}
		if found {
			return true, nil
		}
	}
	return false, nil
}

// plain takes the marks of Markdown out.
func plain(s string) string { return strings.NewReplacer("`", "", "**", "").Replace(s) }

// wordNames are the words that explainWord knows.
func wordNames() []string {
	list, err := entries()
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		out = append(out, e.names()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
