//go:build !race

package deps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// addition is something new, as edits of the places that docs/architecture.md
// names for it.
type addition struct {
	what  string
	names map[string]string // what stands for the <placeholders> of the places
	edits map[string]func(t *testing.T, old string) string
	tests []string // go test arguments
	shows []string // arguments of conform, with its standard input last
	want  string   // a part of what it prints
}

// in replaces the first match of a pattern, which must be there.
func in(pattern, with string) func(*testing.T, string) string {
	return func(t *testing.T, old string) string {
		t.Helper()
		re := regexp.MustCompile(pattern)
		if !re.MatchString(old) {
			t.Fatalf("nothing matches %s", pattern)
		}
		return re.ReplaceAllString(old, with)
	}
}

func text(s string) func(*testing.T, string) string {
	return func(*testing.T, string) string { return s }
}

// dialectList adds a name to every list of dialects of a schema.
var dialectList = in(`("ollama"),(\s*)`, `$1,$2"semaphore",$2`)

var additions = []addition{
	{
		what: "a dialect", names: map[string]string{"<dialect>": "semaphore"},
		edits: map[string]func(*testing.T, string) string{
			"codecs/semaphore/": nil, // another wire under the stub's name, see stub
			"codecs/codecs.go": func(t *testing.T, old string) string {
				old = in(`(?m)^\tOllama +Dialect = .*$`, "$0\n\tSemaphore Dialect = \"semaphore\" // a stub")(t, old)
				return in(`(return \[\]Dialect\{.*)\}`, `$1, Semaphore}`)(t, old)
			},
			"codecs/all/all.go": func(t *testing.T, old string) string {
				old = in(`(?m)^\t"github.com/toolconform/conform/codecs/responses"$`, "$0\n\t\"github.com/toolconform/conform/codecs/semaphore\"")(t, old)
				return in(`(return \[\]codecs.Full\{.*)\}`, `$1, semaphore.Codec{}}`)(t, old)
			},
			"suite/verify/scan/semaphore.json": text(`{"groups": [{"at": "message", "rules": [{"text": "content"}]}]}`),
			"engines/schema.json":              dialectList,
			"fixtures/schema/case.v1.json":     dialectList,
			"fixtures/schema/scenario.v1.json": dialectList,
			"docs/finish.md": func(t *testing.T, old string) string {
				start := strings.Index(old, "\n## ollama")
				if start < 0 {
					t.Fatal("no section ollama")
				}
				end := strings.Index(old[start+4:], "\n## ")
				if end < 0 {
					end = len(old) - start - 4
				}
				section := old[start : start+4+end]
				return strings.TrimRight(old, "\n") + "\n" + strings.Replace(section, "ollama", "semaphore", 1)
			},
			"docs/architecture.md": func(t *testing.T, old string) string {
				old = in("(?m)^(\\| `codecs/)ollama(` .*)$", "$0\n${1}semaphore$2")(t, old)
				return in("(\\| `codecs/all` .*`codecs/hermes`)", "$1, `codecs/semaphore`")(t, old)
			},
		},
		tests: []string{"./internal/deps", "-run", "TestArchitecturePage|TestDialectFolders|TestDialectNames|TestSchemasKnowTheDialects"},
		shows: []string{"decode", "--dialect", "semaphore", `{"message":{"role":"assistant","content":"ebb"},"done":true,"done_reason":"stop"}`},
		want:  `"text": "ebb"`,
	},
	{
		what: "a check", names: map[string]string{"<area>": "reply"},
		edits: map[string]func(*testing.T, string) string{
			"fixtures/rules.json": in(`(?m)^(  \{\n    "id": "reply.decodes",)`, `  {"id": "reply.brief", "side": "reply", "kind": "law", "level": "info", "title": "A reply is brief", "why": "A stub.", "sources": ["docs/facts/openai.md#envelope"]},`+"\n$1"),
			"suite/judge/reply.go": func(t *testing.T, old string) string {
				return in(`(?m)^\t\t\{"reply.decodes", .*$`, "$0\n\t\t{\"reply.brief\", atReply, replyBrief},")(t, old) + `
func replyBrief(c *scene) {
	if len(c.x.Reply.Text()) > 9 {
		c.fail("a brief reply", c.x.Reply.Text())
		return
	}
	c.pass()
}
`
			},
			"suite/mutants/mutants.json": in(`(?m)^  "faults": \[$`, "$0\n"+`    {"id": "long-reply", "title": "a long reply", "side": "engine", "dialects": ["openai"], "rules": ["reply.brief"],
      "body": {"choices": [{"message": {"role": "assistant", "content": "ebb"}, "finish_reason": "stop"}]},
      "how": [{"on": "body", "op": "set", "at": "/choices/0/message/content", "value": "a very long ebb"}]},`),
		},
		tests: []string{"./suite/mutants", "-run", "TestFaults"},
		shows: []string{"list", "checks", ""},
		want:  "reply.brief",
	},
	{
		what: "a report form", names: map[string]string{"<form>": "rows"},
		edits: map[string]func(*testing.T, string) string{
			"report/rows.go": text("package report\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\n\t\"github.com/toolconform/conform/suite/results\"\n)\n\n" +
				"func writeRows(w io.Writer, doc results.Document, _ Options) error {\n\t_, err := fmt.Fprintf(w, \"%d rows\\n\", len(doc.Rows))\n\treturn err\n}\n"),
			"report/report.go": in(`(?m)^\t\t\{"json", .*$`, "$0\n\t\t{\"rows\", \".rows\", writeRows},"),
		},
		shows: []string{"run", "--format", "rows", "--engine", "openai", "--scenario", "basic/plain-text", ""},
		want:  "1 rows",
	},
}

// TestAdditions adds one of each to a copy of the tree, in the places that
// docs/architecture.md names and in no other.
func TestAdditions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyTree(t, dir)
	for _, a := range additions {
		m := regexp.MustCompile(`(?m)^\| ` + a.what + ` \| ([^|]*) \|`).FindStringSubmatch(string(page))
		if m == nil {
			t.Fatalf("docs/architecture.md does not say where %s goes", a.what)
		}
		var places, edited []string
		for _, p := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[1], -1) {
			for placeholder, name := range a.names {
				p[1] = strings.ReplaceAll(p[1], placeholder, name)
			}
			places = append(places, p[1])
		}
		for p := range a.edits {
			edited = append(edited, p)
		}
		slices.Sort(places)
		slices.Sort(edited)
		if !slices.Equal(places, edited) {
			t.Errorf("%s goes into %d places, docs/architecture.md names %d:\n%q\n%q", a.what, len(edited), len(places), edited, places)
		}
		for place, edit := range a.edits {
			name := filepath.Join(dir, filepath.FromSlash(place))
			if edit == nil {
				stub(t, filepath.Join(dir, "codecs", "ollama"), name)
				continue
			}
			old, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(edit(t, string(old))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if t.Failed() {
		return
	}
	conform := filepath.Join(dir, "conform-built")
	command(t, dir, "go", "build", "-o", conform, "./cmd/conform")
	for _, a := range additions {
		if out, err := show(dir, conform, a.shows); err != nil || !strings.Contains(out, a.want) {
			t.Errorf("%s does not show: %v\n%s", a.what, err, out)
		}
		if len(a.tests) > 0 {
			command(t, dir, "go", append([]string{"test"}, a.tests...)...)
		}
	}
}

// copyTree copies what git has of this tree, as it stands.
func copyTree(t *testing.T, dir string) {
	t.Helper()
	git := exec.Command("git", "ls-files", "-z")
	git.Dir = "../.."
	out, err := git.Output()
	if err != nil {
		t.Skipf("no git to list the files: %v", err)
	}
	for _, f := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join("../..", f))
		if os.IsNotExist(err) {
			continue // removed and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// stub makes a dialect of another one: the same files under another name.
func stub(t *testing.T, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", from, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	rename := strings.NewReplacer("package ollama", "package semaphore", "Package ollama", "Package semaphore", "codecs.Ollama", "codecs.Semaphore", "/api/chat", "/api/semaphore", `Home: "ollama"`, `Home: "semaphore"`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), []byte(rename.Replace(string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func show(dir, conform string, args []string) (string, error) {
	cmd := exec.Command(conform, args[:len(args)-1]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(args[len(args)-1])
	out, err := cmd.Output()
	return string(out), err
}
