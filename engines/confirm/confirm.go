// Package confirm counts how many recorded exchanges show what the catalogue of
// engines says, and writes the figures into it. Only figures, and where one of
// the recordings is published, leave it: no body does.
package confirm

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
)

// Counts holds the figures by engine and fact.
type Counts map[string]map[string]engines.Confirmed

// recording is one file: a conversation with its published place.
type recording struct {
	Source struct {
		Repo, Path, Commit string
	}
	Dialect, Provider, Model string
	Exchanges                []exchange
}

type exchange struct {
	Request struct {
		URL  string
		Body jsonx.Raw
	}
	Response struct {
		Status int
		Body   jsonx.Raw
		Raw    string
	}
}

// Confirm reads the recordings <dialect>/<provider>/NAME.json below dir and
// counts, for each fact of each engine of the catalogue, the exchanges that show
// the value that the catalogue has. An exchange that shows another value does
// not count, nor one with a model for which the profile says something else. Of
// several reasoning fields one is enough. A provider that no engine stands for
// is left out. The place named is that of the first
// file, in the order of paths, that shows the fact.
func Confirm(dir fs.FS, c *engines.Catalog) (Counts, error) {
	names, err := fs.Glob(dir, "*/*/*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no recordings: expected files <dialect>/<provider>/NAME.json")
	}
	slices.Sort(names)
	out := Counts{}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		var r recording
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("recording %s: %w", name, err)
		}
		parts := strings.Split(path.Dir(name), "/")
		seen := map[string]bool{} // call ids of earlier replies
		for _, x := range r.Exchanges {
			e, err := c.Lookup(engineOf(parts[0], parts[1], x.Request.URL))
			if err != nil {
				continue
			}
			for _, fact := range shown(e, parts[0], r.Model, x, seen) {
				out.add(e.Name, fact, r)
			}
		}
	}
	return out, nil
}

func (c Counts) add(engine, fact string, r recording) {
	if c[engine] == nil {
		c[engine] = map[string]engines.Confirmed{}
	}
	f := c[engine][fact]
	if f.Count == 0 {
		f.Repo, f.Path, f.Commit = r.Source.Repo, r.Source.Path, r.Source.Commit
	}
	f.Count++
	c[engine][fact] = f
}

// engineOf names the engine that a provider of the recordings stands for. Where
// the names are the same there is no entry.
func engineOf(dialect, provider, url string) string {
	switch name := dialect + "/" + provider; name {
	case "openai/zai":
		if strings.Contains(url, "/coding/") {
			return "zai-coding"
		}
	case "openai/ollama":
		return "ollama-openai"
	case "openai/llamacpp":
		return "llama-server"
	case "openai/gemini":
		return "gemini-openai"
	case "openai/litellm-proxy":
		return "litellm"
	case "openai/perplexity", "openai/anthropic":
		return ""
	case "anthropic/azure-openai", "anthropic/vertex":
		return provider + "-anthropic"
	case "responses/llamacpp":
		return "llama-server-responses"
	case "responses/openai", "responses/azure-openai", "responses/azure-ai", "responses/bedrock", "responses/copilot",
		"responses/deepseek", "responses/xai", "responses/openrouter":
		return provider + "-responses"
	case "hermes/openrouter":
		return "openrouter-hermes"
	case "hermes/llamacpp":
		return "llama-server-hermes"
	}
	return provider
}

// shown lists the facts of an engine that one exchange shows.
func shown(e engines.Engine, dialect, model string, x exchange, seen map[string]bool) []string {
	var out []string
	show := func(fact string, ok bool) {
		if ok {
			out = append(out, fact)
		}
	}
	req := readRequest(dialect, jsonx.Of(x.Request.Body))
	rep := readReply(dialect, x)
	resolved, usual := e.Resolve(model), e.Resolve("")
	images, pdf := resolved.ResultMedia()
	f := e.Facts
	sameEcho := resolved.Profile.ReasoningEcho == usual.Profile.ReasoningEcho
	// Hermes has no such field; what a transport does with it shows nothing.
	sameChoice := resolved.Dialect != codecs.Hermes && slices.Equal(resolved.Choices(), usual.Choices())
	switch accepted := x.Response.Status/100 == 2 && !rep.failed; {
	case accepted:
		show("result_images", req.resultImage && f.ResultImages.Value == "native" && images == "native")
		show("result_pdf", req.resultPDF && f.ResultPDF.Value == "native" && pdf == "native")
		show("reasoning_echo", sameEcho && req.reasoning && f.ReasoningEcho.Value == "accepted")
		show("tool_choice", sameChoice && req.choice != "" && req.choice != "auto" && has(f.ToolChoice.Value, req.choice))
	default:
		// A refusal shows what is refused; what else was wrong with a request
		// is told by its message.
		show("reasoning_echo", sameEcho && strings.HasPrefix(f.ReasoningEcho.Value, "required") &&
			rep.says("must be passed back", "reasoning_content is missing", "missing a `thought_signature`", "missing a thought_signature"))
		show("reasoning_echo", sameEcho && req.reasoning && f.ReasoningEcho.Value == "refused" && rep.says("reasoning"))
		show("tool_choice", sameChoice && (req.choice == "any" || req.choice == "tool") && rep.says("tool_choice") &&
			has(f.ToolChoice.Value, "auto") && !has(f.ToolChoice.Value, req.choice))
		return out
	}
	for _, word := range strings.Fields(f.ReasoningField.Value) {
		if rep.fields[word] {
			show("reasoning_field", true)
			break
		}
	}
	show("cut_call", rep.limit && rep.lastCut() != "" && rep.lastCut() == f.CutCall.Value)
	show("ids", rep.shows(f.IDs.Value, seen))
	show("server_tools", rep.server && f.ServerTools.Value == "yes")
	for _, c := range rep.calls {
		seen[c.id] = true
	}
	return out
}

func has(words, word string) bool { return slices.Contains(strings.Fields(words), word) }
