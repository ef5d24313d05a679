// Package sources tells whether the source of a statement is one that a reader
// can open, and holds the one form in which statements say where they come from.
package sources

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/suggest"
)

var (
	row   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
	issue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}#[1-9][0-9]{0,6}$`)
	host  = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`)
)

// reserved are names that no reader can open.
var reserved = []string{".example", ".invalid", ".test", ".local", ".localhost", "example.com", "example.org", "example.net"}

// Pages are the rows of the pages that may be cited, by page; a page's name is its
// path from the root of the project, such as docs/facts/openai.md.
type Pages map[string][]string

// Read reads the rows of all pages below docs. A row is a line that begins a list
// item or a table row with a name in code spelling: "| `TD01` |", "- `pause`:".
// A name that a page has twice is an error.
func Read(docs fs.FS) (Pages, error) {
	pages := Pages{}
	err := fs.WalkDir(docs, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		text, err := fs.ReadFile(docs, file)
		if err != nil {
			return err
		}
		name := path.Join("docs", file)
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "- `") && !strings.HasPrefix(line, "| `") {
				continue
			}
			id, _, ok := strings.Cut(line[3:], "`")
			if !ok || !row.MatchString(id) {
				continue
			}
			if slices.Contains(pages[name], id) {
				return fmt.Errorf("%s: the row %q stands there twice", name, id)
			}
			pages[name] = append(pages[name], id)
		}
		return nil
	})
	return pages, err
}

// Check tells why a reader cannot open a source; nil when it is a https address
// of a public host, an issue or pull request owner/repository#number, or a row of
// one of the pages. It opens nothing.
func (p Pages) Check(source string) error {
	if strings.HasPrefix(source, "docs/") {
		return p.row(source)
	}
	if strings.HasPrefix(source, "https://") {
		return address(source)
	}
	if issue.MatchString(source) {
		return nil
	}
	return fmt.Errorf("%.80q is no source: want an https:// address, owner/repository#number, or a row of a page such as docs/facts/openai.md#tools%s", source, p.suggest(source))
}

func (p Pages) row(source string) error {
	page, id, _ := strings.Cut(source, "#")
	rows, ok := p[page]
	if !ok {
		return fmt.Errorf("no page %.80q can be cited%s", page, near(page, p.names()))
	}
	if !slices.Contains(rows, id) {
		return fmt.Errorf("%s has no row %.80q%s", page, id, near(id, rows))
	}
	return nil
}

// near is a hint for a name that may be mistyped.
func near(name string, list []string) string {
	if len(name) > 200 {
		return ""
	}
	return suggest.Text(name, list)
}

// suggest finds the row that a bare name may have meant.
func (p Pages) suggest(source string) string {
	for _, page := range p.names() {
		if slices.Contains(p[page], source) {
			return fmt.Sprintf("; did you mean %s#%s?", page, source)
		}
	}
	return ""
}

func (p Pages) names() []string {
	var out []string
	for name := range p {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func address(source string) error {
	u, err := url.Parse(source)
	if err != nil || strings.ContainsAny(source, " <>\"`{}|\\^") {
		return fmt.Errorf("%.120q is no address", source)
	}
	if u.User != nil || u.Port() != "" || !host.MatchString(u.Hostname()) ||
		slices.ContainsFunc(reserved, func(r string) bool { return strings.HasSuffix(u.Hostname(), r) }) {
		return fmt.Errorf("%.120q names no public host", source)
	}
	return nil
}

// Kinds of an Origin.
const (
	Recorded   = "recorded"   // captured from the real engine, which is named with its version
	Documented = "documented" // from public documents and reports; Source names them
	Synthetic  = "synthetic"  // made to provoke a fault
	Decision   = "decision"   // policy of this project; Source names rows of docs/decisions.md
)

// Origin says where a statement comes from.
type Origin struct {
	Kind        string     `json:"kind"`
	Date        string     `json:"date,omitempty"`   // YYYY-MM-DD: when it was looked up, recorded or decided
	Source      []string   `json:"source,omitempty"` // each as Pages.Check wants it
	Engine      string     `json:"engine,omitempty"` // of a recording
	Version     string     `json:"version,omitempty"`
	Note        string     `json:"note,omitempty"`
	ConfirmedBy *Confirmed `json:"confirmed_by,omitempty"`
}

// From is one line on what an origin rests on: engine and version, then the
// sources.
func (o Origin) From() string {
	var parts []string
	if o.Engine != "" {
		parts = append(parts, strings.TrimSpace(o.Engine+" "+o.Version))
	}
	parts = append(parts, o.Source...)
	return strings.Join(parts, ", ")
}

// Confirmed counts public recorded exchanges that show a documented fact, and
// names one of them.
type Confirmed struct {
	Count      int    `json:"count"`
	Repository string `json:"repository,omitempty"`
	Path       string `json:"path,omitempty"`
	Commit     string `json:"commit,omitempty"`
}

// A Fault is what is wrong with an origin.
type Fault struct {
	Pointer string // into the origin
	Text    string
}

// Known tells whether a word is a kind of origin.
func Known(kind string) bool {
	return kind == Recorded || kind == Documented || kind == Synthetic || kind == Decision
}

// Faults lists what an origin claims without showing it, and sources that nobody
// can open.
func (p Pages) Faults(o Origin) []Fault {
	var out []Fault
	add := func(pointer, text string) { out = append(out, Fault{pointer, text}) }
	switch o.Kind {
	case Recorded:
		if o.Engine == "" || o.Version == "" {
			add("", "what is recorded names engine and version")
		}
	case Documented:
		if len(o.Source) == 0 {
			add("/source", "what is documented names its sources")
		}
	case Decision:
		if len(o.Source) == 0 {
			add("/source", "a decision names its row of docs/decisions.md")
		}
	case Synthetic:
	default:
		add("/kind", fmt.Sprintf("%.80q is none of recorded, documented, synthetic, decision", o.Kind))
	}
	for i, s := range o.Source {
		at := fmt.Sprintf("/source/%d", i)
		if err := p.Check(s); err != nil {
			add(at, err.Error())
		} else if o.Kind == Decision && !strings.HasPrefix(s, "docs/decisions.md#") {
			add(at, "a decision rests on a row of docs/decisions.md")
		} else if o.Kind == Documented && strings.HasPrefix(s, "docs/decisions.md#") {
			add(at, "our own decision documents nothing; its kind is decision")
		}
	}
	return out
}
