package docs_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

func read(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// table returns the names in code spelling that stand in the first column of the
// tables of a page.
func table(page string) (names []string) {
	code := regexp.MustCompile("`([^`]+)`")
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, _, _ := strings.Cut(line[2:], " | ")
		for _, m := range code.FindAllStringSubmatch(first, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// section is the part of a page below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

func sameSet(t *testing.T, what string, listed, want []string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(listed, w) {
			t.Errorf("%s does not list %q", what, w)
		}
	}
	for _, l := range listed {
		if !slices.Contains(want, l) {
			t.Errorf("%s lists %q, which does not exist", what, l)
		}
	}
}

// tags are the keys of a struct in JSON.
func tags(v any) (out []string) {
	typ := reflect.TypeOf(v)
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name != "-" && name != "" {
			out = append(out, name)
		}
	}
	return out
}

func TestWarningsPage(t *testing.T) {
	sameSet(t, "warnings.md", table(read(t, "warnings.md")), codecs.WarningCodes())
}

func TestEnginesPage(t *testing.T) {
	page := read(t, "engines.md")
	sameSet(t, "engines.md, profile", table(section(t, page, "Profile")), tags(codecs.Profile{}))
	sameSet(t, "engines.md, likeness", table(section(t, page, "Likeness")), tags(codecs.Likeness{}))
	sameSet(t, "engines.md, facts", table(section(t, page, "Facts")), tags(engines.Facts{}))
	var entry []string
	for _, name := range table(section(t, page, "The entry")) {
		entry = append(entry, strings.TrimSuffix(name, "?"))
	}
	// The command of the auth kind command is told in the row of auth.
	sameSet(t, "engines.md, entry", append(entry, "command"), tags(engines.Engine{}))
	for _, key := range tags(engines.ModelRule{}) {
		if !strings.Contains(section(t, page, "Model rules"), `"`+key+`"`) {
			t.Errorf("engines.md, model rules: no word of %q", key)
		}
	}
}

func TestTapesPage(t *testing.T) {
	sameSet(t, "tapes.md, index", table(section(t, read(t, "tapes.md"), "Index")), tags(cassettes.Entry{}))
}

func TestResultsPage(t *testing.T) {
	page := read(t, "results.md")
	var verdicts []string
	for _, v := range results.Verdicts() {
		verdicts = append(verdicts, string(v))
	}
	sameSet(t, "results.md, verdicts", table(section(t, page, "Verdicts")), verdicts)
	for _, key := range slices.Concat(tags(results.Document{}), tags(results.Cell{}), tags(results.Check{}), tags(results.Totals{})) {
		if key != "rows" && !strings.Contains(section(t, page, "Form"), "`"+key) {
			t.Errorf("results.md: no word of %q", key)
		}
	}
	for _, r := range judge.Rules() {
		if !strings.Contains(section(t, page, "Sides, levels, origins"), "`"+r.Side+"`") {
			t.Errorf("results.md: no word of the side %q", r.Side)
		}
	}
}

func TestCasesPage(t *testing.T) {
	page := read(t, "cases.md")
	sameSet(t, "cases.md, fields", table(section(t, page, "Fields")), tags(fixtures.Case{}))
	ops := map[string]bool{}
	cases, err := fixtures.LoadCases(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		ops[c.Op] = true
	}
	listed := table(section(t, page, "Operations"))
	for op := range ops {
		if !slices.Contains(listed, op) {
			t.Errorf("cases.md does not list the operation %q", op)
		}
	}
	for _, op := range listed {
		if _, err := suite.RunOp(openai.Codec{}, op, codecs.Profile{}, codecs.Raw(`{}`)); err != nil && strings.Contains(err.Error(), "no operation is called") {
			t.Errorf("cases.md lists %q: %v", op, err)
		}
	}
}

// The tables of neutral.md name every key of the two forms, and no other.
func TestNeutralPage(t *testing.T) {
	page := read(t, "neutral.md")
	keys := func(file string, path ...string) (out []string) {
		data, err := fs.ReadFile(fixtures.FS(), "schema/"+file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range jsonx.Of(data).Path(append(path, "properties")...).Members() {
			out = append(out, m.Key)
		}
		return out
	}
	sameSet(t, "neutral.md, reply", table(section(t, page, "Reply")), keys("reply.v1.json", "$defs", "reply"))
	sameSet(t, "neutral.md, request", table(section(t, page, "Request")), keys("request.v1.json"))
}

func TestScenariosPage(t *testing.T) {
	page := read(t, "scenarios.md")
	for heading, key := range map[string][]string{
		"Fields": tags(fixtures.Scenario{}), "Turns": tags(fixtures.Turn{}), "Expect": tags(fixtures.Expect{}),
	} {
		text := section(t, page, heading)
		for _, k := range key {
			if !regexp.MustCompile("`" + k + `\b`).MatchString(text) {
				t.Errorf("scenarios.md, %s: no word of %q", heading, k)
			}
		}
	}
}

// example returns the JSON of the section Example of a page as the one file of a
// suite, besides the schemas.
func example(t *testing.T, page, dir string) fstest.MapFS {
	t.Helper()
	m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section(t, read(t, page), "Example"))
	if m == nil {
		t.Fatalf("%s has no example", page)
	}
	var head struct{ ID string }
	if err := json.Unmarshal([]byte(m[1]), &head); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	out := fstest.MapFS{"cases/none.txt": {}, "scenarios/none.txt": {}, dir + "/" + head.ID + ".json": {Data: []byte(m[1])}}
	err := fs.WalkDir(fixtures.FS(), "schema", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fixtures.FS(), name)
		out[name] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known := fixtures.Known{Warnings: codecs.WarningCodes()}
	for _, r := range judge.Rules() {
		known.Checks = append(known.Checks, r.ID)
	}
	for _, p := range fixtures.Lint(out, known) {
		t.Errorf("%s: %s", page, p)
	}
	return out
}

// TestCaseExample lints the case of cases.md and runs it.
func TestCaseExample(t *testing.T) {
	cases, err := fixtures.LoadCases(example(t, "cases.md", "cases"))
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	r, err := suite.RunCase(cases[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(r.Law, r.Policy...) {
		t.Error(m)
	}
}

// TestScenarioExample lints the scenario of scenarios.md and runs it in every
// dialect: one file, no line of Go.
func TestScenarioExample(t *testing.T) {
	scenarios, err := fixtures.LoadScenarios(example(t, "scenarios.md", "scenarios"))
	if err != nil || len(scenarios) != 1 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := suite.Runner{Catalog: catalog, Scenarios: scenarios}.Run(t.Context(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, row := range doc.Rows {
		switch c := row.Cells[0]; c.Verdict {
		case results.Pass:
			passed[row.From] = true
		case results.Same, results.Unknown:
		default:
			t.Errorf("%s: %s: %s", row.Name, c.Verdict, c.Reason)
		}
	}
	if len(passed) != len(codecs.Dialects()) {
		t.Errorf("passed in %v", passed)
	}
}

// TestLinks: what a page links to is there.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// TestLawsAreTested: the tests that architecture.md names are there.
func TestLawsAreTested(t *testing.T) {
	laws := section(t, read(t, "architecture.md"), "Laws")
	for _, m := range regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(laws, -1) {
		files, err := filepath.Glob("../" + m[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool { return strings.Contains(read(t, file), "\nfunc "+m[2]+"(") }) {
			t.Errorf("architecture.md names %s.%s, which is not there", m[1], m[2])
		}
	}
}
