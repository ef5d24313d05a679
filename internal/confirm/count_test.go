package confirm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/paths"
	"github.com/toolconform/conform/internal/sources"
	"github.com/toolconform/conform/internal/wire"
)

// counts holds the figures by engine and fact.
type counts map[string]map[string]sources.Confirmed

//go:embed tables.json
var tableFile []byte

// tables say which engine of the catalogue a recorded provider is, where the names
// differ, and where the bodies of a dialect show a fact: paths of internal/paths.
type tables struct {
	Engines []struct {
		Recorded string // <dialect>/<provider>
		URL      string // a part of the URL, "" for any
		Engine   string // "" for none
	}
	Dialects map[string]table
}

type table struct {
	Like                   string              // the dialect whose paths hold where a member is absent
	Images, PDF, Reasoning []string            // in a request: media inside tool results, reasoning of earlier turns
	Fields                 map[string][]string // in a reply: what carries reasoning, by the word of the fact
	Failed                 []string            // an error under a success status, beside "error"
	Limit, Server          []string            // the token limit ended it; the provider ran a tool
	Calls                  []callPaths
}

// callPaths are where calls stand. The calls of a stream come in pieces: those of
// one index (a path from the call, or with a slash from the event) are one call.
type callPaths struct{ At, Index, ID, Arguments, More string }

func loadTables() (tables, error) {
	var t tables
	if err := json.Unmarshal(tableFile, &t); err != nil {
		return t, fmt.Errorf("tables.json: %w", err)
	}
	for name, one := range t.Dialects {
		if one.Like == "" {
			continue
		}
		whole := t.Dialects[one.Like]
		if one.Fields != nil { // a wire of its own for replies
			whole.Fields, whole.Limit, whole.Server, whole.Calls = one.Fields, one.Limit, one.Server, one.Calls
		}
		t.Dialects[name] = whole
	}
	return t, nil
}

// count reads the recordings <dialect>/<provider>/NAME.json below dir and counts,
// for each fact of each engine of the catalogue, the exchanges that show the value
// that the catalogue has. An exchange that shows another value does not count, nor
// one with a model for which the profile says something else. Of several reasoning
// fields one is enough. A provider that no engine stands for is left out. The place
// named is that of the first file, in the order of paths, that shows the fact.
func count(dir fs.FS, c *engines.Catalog) (counts, error) {
	t, err := loadTables()
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(dir, "*/*/*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no recordings: expected files <dialect>/<provider>/NAME.json")
	}
	slices.Sort(names)
	out := counts{}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		r, err := cassettes.ParseRecording(name, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seen := map[string]bool{} // call ids of earlier replies
		for _, x := range r.Exchanges {
			e, err := c.Lookup(t.engine(path.Dir(name), x.Request.URL))
			if err != nil {
				continue
			}
			for _, fact := range t.Dialects[path.Dir(path.Dir(name))].shown(e, r.Model, x, seen) {
				out.add(e.Name, fact, r.Source)
			}
		}
	}
	return out, nil
}

func (c counts) add(engine, fact string, s cassettes.Source) {
	if c[engine] == nil {
		c[engine] = map[string]sources.Confirmed{}
	}
	f := c[engine][fact]
	if f.Count == 0 {
		// A recording that was put together from several files names all of them.
		path, _, _ := strings.Cut(s.Path, " + ")
		f.Repository, f.Path, f.Commit = s.Repo, path, s.Commit
	}
	f.Count++
	c[engine][fact] = f
}

// engine names the engine that a provider of the recordings stands for.
func (t tables) engine(recorded, url string) string {
	for _, e := range t.Engines {
		if e.Recorded == recorded && strings.Contains(url, e.URL) {
			return e.Engine
		}
	}
	return path.Base(recorded)
}

// shown lists the facts of an engine that one exchange shows.
func (t table) shown(e engines.Engine, model string, x cassettes.Exchange, seen map[string]bool) []string {
	var out []string
	show := func(fact string, ok bool) {
		if ok {
			out = append(out, fact)
		}
	}
	var body any
	if json.Unmarshal(x.Request.Body, &body) != nil {
		return nil
	}
	rep := t.reply(x.Response.Body)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(x.Response.Body), w) })
	}
	resolved, usual := e.Resolve(model), e.Resolve("")
	images, pdf := resolved.ResultMedia()
	f, mode := e.Facts, choice(body)
	echoed := anyFilled(body, t.Reasoning)
	sameEcho := resolved.Profile.ReasoningEcho == usual.Profile.ReasoningEcho
	sameChoice := slices.Equal(resolved.Choices(), usual.Choices())
	if c, err := all.For(resolved.Dialect); err != nil || c.Wire().TextCalls {
		sameChoice = false // it has no such field; what a transport does with it shows nothing
	}
	if x.Response.Status/100 != 2 || rep.failed {
		// A refusal shows what is refused; what else was wrong with a request
		// is told by its message.
		show("reasoning_echo", sameEcho && strings.HasPrefix(f.ReasoningEcho.Value, "required") &&
			says("must be passed back", "reasoning_content is missing", "missing a `thought_signature`", "missing a thought_signature"))
		show("reasoning_echo", sameEcho && echoed && f.ReasoningEcho.Value == "refused" && says("reasoning"))
		show("tool_choice", sameChoice && (mode == codecs.ChoiceAny || mode == codecs.ChoiceTool) && says("tool_choice") &&
			has(f.ToolChoice.Value, codecs.ChoiceAuto) && !has(f.ToolChoice.Value, mode))
		return out
	}
	show("result_images", anyFilled(body, t.Images) && f.ResultImages.Value == "native" && images == "native")
	show("result_pdf", t.hasPDF(body) && f.ResultPDF.Value == "native" && pdf == "native")
	show("reasoning_echo", sameEcho && echoed && f.ReasoningEcho.Value == "accepted")
	show("tool_choice", sameChoice && mode != "" && mode != codecs.ChoiceAuto && has(f.ToolChoice.Value, mode))
	show("reasoning_field", slices.ContainsFunc(strings.Fields(f.ReasoningField.Value), func(w string) bool { return rep.fields[w] }))
	show("cut_call", rep.limit && rep.lastCut() != "" && rep.lastCut() == f.CutCall.Value)
	show("ids", rep.shows(f.IDs.Value, seen))
	show("server_tools", rep.server && f.ServerTools.Value == "yes")
	for _, c := range rep.calls {
		seen[c.id] = true
	}
	return out
}

func has(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

func anyFilled(v any, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return slices.ContainsFunc(paths.Find(v, p), paths.Filled) })
}

func str(v any, path string) string { s, _ := paths.First(v, path).(string); return s }

// hasPDF tells whether a result has a PDF, by its type or its name.
func (t table) hasPDF(v any) bool {
	for _, p := range t.PDF {
		for _, item := range paths.Find(v, p) {
			name := str(item, "file_data|file_url|url|filename")
			if str(item, "media_type|mime_type|mimeType") == wire.PDFMIME || strings.HasPrefix(name, "data:"+wire.PDFMIME) || strings.HasSuffix(name, ".pdf") {
				return true
			}
		}
	}
	return false
}

// choice reads the tool choice of any dialect, in the words of codecs.Choice.
func choice(v any) string {
	const mode = "toolConfig|tool_config/functionCallingConfig|function_calling_config"
	word := str(v, "tool_choice")
	if word == "" {
		word = str(v, "tool_choice/type")
	}
	if paths.First(v, "tool_choice") == nil {
		word = strings.ToLower(str(v, mode+"/mode"))
		if len(paths.Find(v, mode+"/allowedFunctionNames|allowed_function_names/*")) == 1 {
			word = codecs.ChoiceTool
		}
	}
	switch word {
	case "required":
		return codecs.ChoiceAny
	case "function":
		return codecs.ChoiceTool
	case codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool:
		return word
	}
	return ""
}
