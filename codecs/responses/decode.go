package responses

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Item types that this package treats in a way of their own.
const (
	typeMessage   = "message"
	typeCall      = "function_call"
	typeOutput    = "function_call_output"
	typeReasoning = "reasoning"
	typeImageGen  = "image_generation_call"
	typeRefusal   = "refusal"
	typeApproval  = "mcp_approval_request"
)

// serverItems are items that report what the provider ran. Source: spec 1.6,
// the OpenAI item union, and Perplexity's result items.
var serverItems = map[string]bool{
	"web_search_call": true, "file_search_call": true, "code_interpreter_call": true,
	typeImageGen: true, "mcp_call": true, "mcp_list_tools": true, "x_search_call": true,
	"shell_call_output": true, "program": true, "program_output": true,
	"search_results": true, "fetch_url_results": true,
}

// clientItems are calls that the client must answer with an item of its own
// kind. The tool loop cannot. Source: spec 1.6.
var clientItems = map[string]bool{
	"computer_call": true, "local_shell_call": true, "apply_patch_call": true, typeApproval: true,
}

// itemType is the type of an item; one without a type but with a role is a
// message.
func itemType(v jsonx.Value) string {
	t := v.Get("type").Str()
	if t == "" && v.Get("role").Str() != "" {
		return typeMessage
	}
	return t
}

// itemKind tells whether an item that is neither message, call nor reasoning
// reports something that the provider ran, asks the client for something, or is
// unknown. shellDone holds the call ids whose shell output stands beside it.
// xAI reports its own searches as calls of custom tools: under names that the
// profile lists, or with ids that no other provider makes.
func itemKind(v jsonx.Value, shellDone map[string]bool, p codecs.Profile) codecs.Kind {
	switch t := itemType(v); {
	case serverItems[t]:
		return codecs.KindServer
	case clientItems[t]:
		return codecs.KindClient
	case t == "tool_search_call", t == "tool_search_output":
		if v.Get("execution").Str() == "client" && t == "tool_search_call" {
			return codecs.KindClient
		}
		return codecs.KindServer
	case t == "custom_tool_call":
		if slices.Contains(p.ServerCalls, v.Get("name").Str()) || strings.HasPrefix(v.Get("call_id").Str(), "xs_call") {
			return codecs.KindServer
		}
		return codecs.KindClient
	case t == "shell_call":
		return shellKind(v, shellDone)
	}
	return codecs.KindOpaque
}

// shellKind tells who runs a shell call: the provider where the item names a
// container or its output stands beside it, else the client.
func shellKind(v jsonx.Value, shellDone map[string]bool) codecs.Kind {
	switch v.Path("environment", "type").Str() {
	case "container_auto", "container_reference":
		return codecs.KindServer
	case "":
		if shellDone[v.Get("call_id").Str()] {
			return codecs.KindServer
		}
	}
	return codecs.KindClient
}

// shellOutputs returns the call ids of the shell outputs among items.
func shellOutputs(items []jsonx.Value) map[string]bool {
	done := map[string]bool{}
	for _, v := range items {
		if v.Get("type").Str() == "shell_call_output" {
			done[v.Get("call_id").Str()] = true
		}
	}
	return done
}

// asText reads texts whole, tags and all, as a history keeps them.
var asText = codecs.Profile{ThinkTag: "none"}

// reader turns items into parts, in order.
type reader struct {
	profile   codecs.Profile
	shellDone map[string]bool

	parts     []codecs.Part
	calls     []wire.Spelled
	warnings  []codecs.Warning
	citations wire.Citations
	refusals  []string
	tagged    bool   // think tags held some thinking
	message   string // status of the last message item
}

func (rd *reader) add(p codecs.Part) { rd.parts = append(rd.parts, p) }

func (rd *reader) item(v jsonx.Value, pointer string) {
	if !v.IsObject() {
		rd.add(codecs.Part{Kind: codecs.KindOpaque, Extra: v.Raw()})
		return
	}
	switch itemType(v) {
	case typeMessage:
		rd.messageItem(v, pointer)
	case typeCall:
		rd.call(v, pointer)
	case typeReasoning:
		rd.add(readReasoning(v))
	default:
		p := codecs.Part{Kind: itemKind(v, rd.shellDone, rd.profile), Type: itemType(v), ID: wire.Scalar(v.Get("id")), Extra: v.Raw()}
		rd.add(p)
		if data := v.Get("result").Str(); p.Type == typeImageGen && data != "" {
			rd.add(codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "image/" + imageFormat(v), Data: data}})
		}
	}
}

func imageFormat(v jsonx.Value) string {
	if f := v.Get("output_format").Str(); f != "" {
		return f
	}
	return "png"
}

// call reads a function_call, at the top level or inside a message.
func (rd *reader) call(v jsonx.Value, pointer string) {
	if v.Get("name").Str() == "" {
		rd.warnings = append(rd.warnings, codecs.Warnf(codecs.WarnCallNameless, pointer, "a function_call without a name is left out"))
		return
	}
	c, warnings := readCall(v, len(rd.calls), pointer+"/arguments")
	if rd.calls == nil {
		rd.calls = make([]wire.Spelled, 0, 4)
	}
	rd.calls = append(rd.calls, wire.Spelled{At: pointer, ID: v.Get("call_id"), Arguments: v.Get("arguments")})
	rd.warnings = append(rd.warnings, warnings...)
	rd.add(codecs.Part{Kind: codecs.KindCall, Call: &c})
}

// readCall reads a function_call that has a name. Its id is call_id, which is
// what results refer to; servers that leave call_id out mean the item's id.
func readCall(v jsonx.Value, pos int, pointer string) (codecs.ToolCall, []codecs.Warning) {
	c := codecs.ToolCall{
		Pos: pos, ID: callID(v), ItemID: wire.Scalar(v.Get("id")), Name: v.Get("name").Str(),
		Cut:   v.Get("status").Str() == "incomplete",
		Extra: wire.Without(v, "type", "id", "call_id", "name", "arguments", "status"),
	}
	return c, wire.ReadArguments(&c, v.Get("arguments"), pointer)
}

func callID(v jsonx.Value) string {
	if id := wire.Scalar(v.Get("call_id")); id != "" {
		return id
	}
	return wire.Scalar(v.Get("id"))
}

// messageItem reads the content of an assistant message. What stands beside the
// content (phase, an unusual status, unknown keys) goes to its first text.
func (rd *reader) messageItem(v jsonx.Value, pointer string) {
	id := wire.Scalar(v.Get("id"))
	rd.message = v.Get("status").Str()
	outer := wire.Without(v, "type", "id", "role", "content", "status")
	if rd.message != "" && rd.message != "completed" {
		var f jsonx.Fields
		outer = f.Str("status", rd.message).Merge(outer).Raw()
	}
	content := v.Get("content")
	if s, ok := content.Text(); ok {
		rd.text(s, id, pointer, outer)
		return
	}
	for i, block := range content.Items() {
		at := fmt.Sprintf("%s/content/%d", pointer, i)
		switch t := block.Get("type").Str(); {
		case t == typeCall:
			rd.call(block, at)
		case t == "reasoning_text":
			rd.add(codecs.Part{Kind: codecs.KindReasoning, Text: block.Get("text").Str()})
		case t == typeRefusal:
			rd.refusals = append(rd.refusals, block.Get("refusal").Str())
			rd.add(codecs.Part{Kind: codecs.KindOpaque, Type: t, ID: id, Extra: block.Raw()})
		case block.Get("text").Kind() == jsonx.String && (t == "output_text" || t == "text" || t == "input_text" || t == ""):
			rd.citations.AddAnnotations(block.Get("annotations"))
			extra := blockExtra(block)
			if outer != nil {
				var f jsonx.Fields
				extra, outer = f.Merge(outer).Merge(extra).Raw(), nil
			}
			rd.text(block.Get("text").Str(), id, at, extra)
		default:
			rd.add(codecs.Part{Kind: codecs.KindOpaque, Type: t, ID: id, Extra: block.Raw()})
		}
	}
}

func (rd *reader) text(s, id, at string, extra codecs.Raw) {
	rd.warnings = append(rd.warnings, wire.UnpairedThink(s, at, rd.profile)...)
	parts, tagged := wire.SplitThink(s, rd.profile)
	rd.tagged = rd.tagged || tagged
	for _, p := range parts {
		if p.Kind == codecs.KindText {
			p.ID, p.Extra, extra = id, extra, nil
		}
		rd.add(p)
	}
}

// textKeys are the keys of a content block; every other key of a text part
// belongs to the message around it.
var textKeys = []string{"annotations", "logprobs", "parsed", "prompt_cache_breakpoint"}

// blockExtra is what a text block holds beside its text, empty lists left out.
func blockExtra(block jsonx.Value) codecs.Raw {
	skip := []string{"type", "text"}
	for _, key := range []string{"annotations", "logprobs"} {
		if block.Get(key).Len() == 0 {
			skip = append(skip, key)
		}
	}
	return wire.Without(block, skip...)
}

// readReasoning reads a reasoning item. The summary texts and the reasoning
// texts are the text; what the text and the id alone could not rebuild stays in
// Extra, so that the item can be written again as it was.
func readReasoning(v jsonx.Value) codecs.Part {
	p := codecs.Part{Kind: codecs.KindReasoning, ID: wire.Scalar(v.Get("id")), Signature: v.Get("encrypted_content").Str()}
	summary, content := v.Get("summary"), v.Get("content")
	texts := append(textsOf(summary), textsOf(content)...)
	p.Text = strings.Join(texts, "\n")
	var f jsonx.Fields
	kept := false
	if p.ID == "" || summary.Len() > 1 || (content.Defined() && summary.Len() > 0) {
		f.Set("summary", summary.Raw())
		kept = summary.Exists()
	}
	if content.Defined() {
		f.Set("content", content.Raw())
		kept = true
	}
	if others := wire.Without(v, "type", "id", "summary", "content", "encrypted_content"); others != nil {
		f.Merge(others)
		kept = true
	}
	if kept {
		p.Extra = f.Raw()
	}
	return p
}

// textsOf returns the non-empty texts of a list of blocks, or a bare string.
func textsOf(v jsonx.Value) []string {
	var out []string
	if s := v.Str(); s != "" {
		return []string{s}
	}
	for _, block := range v.Items() {
		s := block.Get("text").Str()
		if s == "" {
			s = block.Str()
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// readMedia reads an input_image or input_file part. ok is false for what Media
// cannot hold, such as the id of an uploaded file.
func readMedia(v jsonx.Value) (codecs.Media, bool) {
	switch v.Get("type").Str() {
	case "input_image":
		u := v.Get("image_url").Str()
		if u == "" {
			u = v.Path("image_url", "url").Str() // the chat form, which some clients send
		}
		if mime, data, ok := wire.SplitDataURI(u); ok {
			return codecs.Media{MIME: mime, Data: data}, true
		}
		m := codecs.Media{URI: u, MIME: wire.LinkMIME(u)}
		if !strings.HasPrefix(m.MIME, "image/") {
			m.MIME = "image/*" // only the part's type tells that the URL is an image
		}
		return m, u != ""
	case "input_file":
		name := v.Get("filename").Str()
		if u := v.Get("file_url").Str(); u != "" {
			return codecs.Media{URI: u, Name: name, MIME: wire.LinkMIME(u)}, name == ""
		}
		data := v.Get("file_data").Str()
		mime, payload, ok := wire.SplitDataURI(data)
		m := codecs.Media{MIME: mime, Data: payload}
		if !ok && data != "" && strings.HasSuffix(strings.ToLower(name), ".pdf") {
			m, ok = codecs.Media{MIME: wire.PDFMIME, Data: data}, true
		}
		m.Name = name
		return m, ok && m.MIME == wire.PDFMIME
	}
	return codecs.Media{}, false
}

// fileURI spells a filename as the last segment of a URI.
func fileURI(name string) string {
	if name == "" {
		name = "document.pdf"
	}
	return url.PathEscape(name)
}
