package gemini

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// field returns a member by its camelCase name, in either spelling.
func field(v jsonx.Value, name string) jsonx.Value {
	found := v.Get(name)
	if found.Defined() {
		return found
	}
	var room [32]byte // on the stack: this is asked of every chunk
	if s := appendSnake(room[:0], name); len(s) != len(name) {
		if other := v.Get(string(s)); other.Exists() {
			return other
		}
	}
	return found
}

// list returns the elements of a repeated field. The provider's JSON reader
// also takes one object in place of a list of one.
func list(v jsonx.Value) []jsonx.Value {
	if v.IsObject() {
		return []jsonx.Value{v}
	}
	return v.Items()
}

// camel spells a key in camelCase: inline_data becomes inlineData.
func camel(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	var b strings.Builder
	up := false
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case c == '_' && b.Len() > 0:
			up = true
			continue
		case up && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}

// snake spells a camelCase key in snake_case.
func snake(key string) string { return string(appendSnake(nil, key)) }

func appendSnake(dst []byte, key string) []byte {
	for _, c := range []byte(key) {
		if c >= 'A' && c <= 'Z' {
			dst = append(dst, '_')
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// contentKeys are the members of a part that hold its content. By the schema a
// part has one of them; in practice text and functionCall come together.
var contentKeys = []string{
	"text", "functionCall", "functionResponse", "inlineData", "fileData",
	"executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}

// siblingKeys may stand beside the content of a part.
var siblingKeys = []string{"videoMetadata", "partMetadata", "mediaResolution"}

// partReader turns the wire parts of one content into neutral parts and numbers
// its calls.
type partReader struct {
	wire.Notes
	request    bool // functionResponse parts are results
	malformed  bool // the provider calls the calls of this turn malformed: they never run
	calls      int
	spelled    []wire.Spelled
	results    []string // where they stand
	unfinished int
}

// readAll reads the parts of a content.
func (rd *partReader) readAll(parts []jsonx.Value, pointer string) []codecs.Part {
	if len(parts) == 0 {
		return nil
	}
	out := make([]codecs.Part, 0, len(parts))
	for i, v := range parts {
		out = rd.read(out, v, pointer+"/"+strconv.Itoa(i))
	}
	return out
}

// read reads one wire part: none, one, or one neutral part for each content
// member in it.
func (rd *partReader) read(out []codecs.Part, v jsonx.Value, pointer string) []codecs.Part {
	if !v.IsObject() {
		if !v.Defined() {
			return out
		}
		return append(out, codecs.Part{Kind: codecs.KindOpaque, Type: "part", Extra: v.Raw()})
	}
	var content []jsonx.Member
	var extra []jsonx.Member
	unknown := ""
	for _, m := range v.Members() {
		key := camel(m.Key)
		switch {
		case key == "thought" || key == "thoughtSignature" || !m.Value.Defined():
		case slices.Contains(contentKeys, key):
			content = addMember(content, key, m)
		default:
			if unknown == "" && !slices.Contains(siblingKeys, key) {
				unknown = m.Key
			}
			extra = append(extra, m)
		}
	}
	signature, thought := field(v, "thoughtSignature").Str(), field(v, "thought").Bool()
	if len(content) == 0 {
		switch {
		case unknown != "":
			return append(out, codecs.Part{Kind: codecs.KindOpaque, Type: unknown, Signature: signature, Extra: v.Raw()})
		case signature == "" && !thought && extra == nil:
			return out // {} or {"thought":false}: there is nothing in it
		}
		// A signature alone stands on an empty text.
		content = []jsonx.Member{{Key: "text", Value: jsonx.Of([]byte(`""`))}}
	}
	before := len(out)
	for _, m := range content {
		whole := v.Raw()
		if len(content) > 1 {
			whole = (&jsonx.Fields{}).Set(m.Key, m.Value.Raw()).Raw()
		}
		if p, ok := rd.member(m, whole, thought, pointer+"/"+m.Key); ok {
			out = append(out, p)
		}
	}
	mine := out[before:]
	if len(mine) == 0 {
		return out
	}
	// The signature belongs to the call when there is one.
	owner := &mine[len(mine)-1]
	for i := range mine {
		if mine[i].Kind == codecs.KindCall {
			owner = &mine[i]
		}
	}
	if owner.Kind == codecs.KindCall {
		owner.Call.Signature = signature
	} else {
		owner.Signature = signature
	}
	if !wholeBlock(owner.Kind) {
		owner.Extra = wire.Object(extra)
	}
	return out
}

// without returns the members of an object but for the named ones, in either
// spelling.
func without(v jsonx.Value, names ...string) []jsonx.Member {
	var out []jsonx.Member
	for _, m := range v.Members() {
		if !slices.Contains(names, camel(m.Key)) {
			out = append(out, m)
		}
	}
	return out
}

// addMember adds a content member under its camelCase name. Of a member in both
// spellings the camelCase one counts, as in field.
func addMember(content []jsonx.Member, key string, m jsonx.Member) []jsonx.Member {
	for i := range content {
		if content[i].Key == key {
			if m.Key == key {
				content[i].Value = m.Value
			}
			return content
		}
	}
	return append(content, jsonx.Member{Key: key, Value: m.Value})
}

// wholeBlock tells whether Extra of a part holds the block itself.
func wholeBlock(k codecs.Kind) bool {
	return k == codecs.KindServer || k == codecs.KindClient || k == codecs.KindOpaque
}

func (rd *partReader) member(m jsonx.Member, whole codecs.Raw, thought bool, pointer string) (codecs.Part, bool) {
	opaque := codecs.Part{Kind: codecs.KindOpaque, Type: m.Key, Extra: whole}
	v := m.Value
	switch m.Key {
	case "text":
		text, ok := v.Text()
		if !ok {
			return opaque, true
		}
		if thought {
			return codecs.Part{Kind: codecs.KindReasoning, Text: text}, true
		}
		return codecs.Part{Kind: codecs.KindText, Text: text}, true
	case "functionCall":
		return rd.call(v, opaque, pointer)
	case "functionResponse":
		if !rd.request || !v.IsObject() {
			return opaque, true
		}
		return codecs.Part{Kind: codecs.KindResult, Result: rd.result(v, pointer)}, true
	case "inlineData", "fileData":
		if !v.IsObject() || thought { // an image of the thinking is no image of the answer
			return opaque, true
		}
		return codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{
			MIME: field(v, "mimeType").Str(), URI: field(v, "fileUri").Str(),
			Name: field(v, "displayName").Str(), Data: v.Get("data").Str(),
		}}, true
	default:
		return codecs.Part{Kind: codecs.KindServer, Type: m.Key, ID: wire.Scalar(v.Get("id")), Extra: whole}, true
	}
}

// call reads a functionCall. One without a name is no call; one of a turn that
// the provider calls malformed is kept but never runs.
func (rd *partReader) call(v jsonx.Value, opaque codecs.Part, pointer string) (codecs.Part, bool) {
	if rd.malformed {
		return opaque, true
	}
	name := v.Get("name").Str()
	cut := field(v, "willContinue").Bool()
	if name == "" {
		if cut {
			rd.unfinished++
			return codecs.Part{}, false
		}
		rd.Warn(codecs.WarnCallNameless, pointer, "a functionCall without a name is no call; it was left out")
		return codecs.Part{}, false
	}
	c := &codecs.ToolCall{Pos: rd.calls, ID: wire.Scalar(v.Get("id")), Name: name, Cut: cut}
	rd.calls++
	rd.spelled = append(rd.spelled, wire.Spelled{At: pointer, ID: v.Get("id"), Arguments: v.Get("args")})
	c.Extra = wire.Object(without(v, "id", "name", "args", "willContinue"))
	rd.Warnings = append(rd.Warnings, wire.ReadArguments(c, v.Get("args"), pointer+"/args")...)
	if args := v.Get("args"); rd.request && args.Defined() && !args.IsObject() {
		rd.Warn(codecs.WarnArgumentsString, pointer+"/args", "args of %s is no object", name)
	}
	return codecs.Part{Kind: codecs.KindCall, Call: c}, true
}

// result reads a functionResponse back into MCP form. The keys result, output
// and error are conventions for plain text; any other object is structured
// content.
func (rd *partReader) result(v jsonx.Value, pointer string) *codecs.ToolResult {
	rd.results = append(rd.results, pointer)
	r := &codecs.ToolResult{ID: wire.Scalar(v.Get("id")), Name: v.Get("name").Str(), Content: []codecs.Raw{}}
	response := v.Get("response")
	addText := func(s string) {
		if s != "" {
			r.Content = append(r.Content, codecs.TextBlock(s))
		}
	}
	switch {
	case response.IsObject():
		members := response.Members()
		text, plain := "", false
		if len(members) == 1 {
			text, plain = members[0].Value.Text()
		}
		switch {
		case plain && members[0].Key == "result":
			addText(text)
		case plain && (members[0].Key == "output" || members[0].Key == "error"):
			// Both: the text for other dialects, the object for this one.
			addText(text)
			r.Structured, r.IsError = response.Raw(), members[0].Key == "error"
		case len(members) > 0:
			r.Structured = response.Raw()
		}
	case response.Kind() == jsonx.String:
		addText(response.Str())
	case response.Defined():
		r.Structured = response.Raw()
	}
	for _, part := range list(v.Get("parts")) {
		r.Content = append(r.Content, mcpBlock(part))
	}
	for _, m := range v.Members() {
		switch camel(m.Key) {
		case "id", "name", "response", "parts":
		default:
			rd.Warn(codecs.WarnLossy, pointer+"/"+jsonx.Token(m.Key), "%s of a functionResponse has no neutral form", m.Key)
		}
	}
	return r
}

// fileDataMark in the _meta of a resource link says that it was a fileData part
// of a function response. Such a link goes out in that form again; any other
// link is a line of text, since the provider may not reach it.
const fileDataMark = "conform/fileData"

// mcpBlock reads one part of a multimodal function response as an MCP block.
func mcpBlock(part jsonx.Value) codecs.Raw {
	var out jsonx.Fields
	if d := field(part, "inlineData"); d.IsObject() {
		mime, name := field(d, "mimeType").Str(), field(d, "displayName").Str()
		typ := mediaType(mime)
		if typ == "image" || typ == "audio" {
			return out.Str("type", typ).Str("data", d.Get("data").Str()).Str("mimeType", mime).Raw()
		}
		var res jsonx.Fields
		res.Str("uri", name).Str("mimeType", mime).Str("blob", d.Get("data").Str())
		return out.Str("type", "resource").Set("resource", res.Raw()).Raw()
	}
	if d := field(part, "fileData"); d.IsObject() {
		var meta jsonx.Fields
		return out.Str("type", "resource_link").Str("name", field(d, "displayName").Str()).
			Str("uri", field(d, "fileUri").Str()).Str("mimeType", field(d, "mimeType").Str()).
			Set("_meta", meta.Bool(fileDataMark, true).Raw()).Raw()
	}
	return part.Raw()
}

// splitThink moves thinking between tags out of the visible text, in place.
// Neighbouring texts are read as one, since a tag may open in one part and close
// in the next; a part with a signature ends such a run, and the signature stays
// on what is left of it.
func splitThink(parts []codecs.Part, p codecs.Profile, notes *wire.Notes) []codecs.Part {
	tag := wire.ThinkTag(p)
	if tag == "" || len(parts) == 0 {
		return parts
	}
	out := make([]codecs.Part, 0, len(parts))
	for i := 0; i < len(parts); {
		if parts[i].Kind != codecs.KindText {
			out = append(out, parts[i])
			i++
			continue
		}
		var text strings.Builder
		j := i
		for j < len(parts) && parts[j].Kind == codecs.KindText {
			text.WriteString(parts[j].Text)
			j++
			if parts[j-1].Signature != "" || len(parts[j-1].Extra) > 0 {
				break
			}
		}
		notes.Warnings = append(notes.Warnings, wire.UnpairedThink(text.String(), "/candidates/0/content/parts", p)...)
		segments, found := tags.SplitThink(text.String(), tag)
		if !found {
			out = append(out, parts[i:j]...)
			i = j
			continue
		}
		last := parts[j-1]
		for k, s := range segments {
			p := codecs.Part{Kind: codecs.KindText, Text: s.Text}
			if s.Think {
				p.Kind = codecs.KindReasoning
			}
			if k == len(segments)-1 {
				p.Signature, p.Extra = last.Signature, last.Extra
			}
			if p.Text != "" || p.Signature != "" || p.Extra != nil {
				out = append(out, p)
			}
		}
		i = j
	}
	return out
}
