package wire

import (
	_ "embed" // for the built-in tools
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Schema is the input schema of a tool, with one that takes nothing where it names
// none.
func Schema(t codecs.Tool) codecs.Raw {
	if len(t.InputSchema) == 0 {
		return codecs.Raw(`{"type":"object","properties":{}}`)
	}
	return t.InputSchema
}

// ToolClass says who runs a tool entry.
type ToolClass string

// The classes.
const (
	FunctionTool ToolClass = "function"       // the client, through the tool loop
	ServerTool   ToolClass = "server"         // the provider
	ClientTool   ToolClass = "client_builtin" // the client, in a way of the provider's own
	UnknownTool  ToolClass = "unknown"
)

//go:embed builtins.json
var builtinsJSON []byte

// builtin names built-in tools of a dialect. It is data of all dialects in one
// place, since each codec has to tell the tools of the others, whose folders it
// cannot import: an entry of another wire is named as such, and never sent.
type builtin struct {
	Type, Key *pattern // of the entry's type; of a key of an entry without one, in small letters without _
	At        []string // where Is has to match, too
	Is        *pattern
	Class     ToolClass
	Dialect   codecs.Dialect
}

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

var builtins = sync.OnceValue(func() (list []builtin) {
	if err := json.Unmarshal(builtinsJSON, &list); err != nil {
		panic(err) // embedded
	}
	return list
})

// ClassifyTool tells who runs the entry of a tool list and, for a built-in
// tool, whose dialect it belongs to. label names the entry in error texts.
// Source: spec 1.1 of the source documents.
func ClassifyTool(entry codecs.Raw) (class ToolClass, owner codecs.Dialect, label string) {
	v := jsonx.Of(entry)
	if !v.IsObject() {
		return UnknownTool, "", v.Kind().String()
	}
	typ, typed := v.Get("type").Text()
	if !typed {
		if name := v.Get("name").Str(); name != "" {
			return FunctionTool, "", name
		}
		for _, m := range v.Members() {
			key := strings.ToLower(strings.ReplaceAll(m.Key, "_", ""))
			for _, b := range builtins() {
				if b.Key != nil && b.Key.MatchString(key) {
					return b.Class, b.Dialect, m.Key
				}
			}
		}
		return UnknownTool, "", ""
	}
	if typ == "function" || typ == "custom" && v.Get("input_schema").IsObject() {
		return FunctionTool, "", typ
	}
	for _, b := range builtins() {
		if b.Type != nil && b.Type.MatchString(typ) && (b.Is == nil || b.Is.MatchString(v.Path(b.At...).Str())) {
			return b.Class, b.Dialect, typ
		}
	}
	return UnknownTool, "", typ
}

// ParseTool reads one tool definition in MCP form or in the form of any
// dialect. ok is false for an entry that is skipped silently: one that is no
// object, or a typed function without a name. Entries that are no function
// tools are errors: they are never dropped and never sent as functions.
func ParseTool(entry codecs.Raw) (tool codecs.Tool, ok bool, err error) {
	v := jsonx.Of(entry)
	if !v.IsObject() {
		return codecs.Tool{}, false, nil
	}
	class, owner, label := ClassifyTool(entry)
	const refuse = " (refusing to drop it or to send it as a function tool)"
	switch class {
	case ServerTool:
		return codecs.Tool{}, false, fmt.Errorf("'%s' is a server-side tool (%s), not a function tool%s; where its wire is spoken it goes into server_tools", label, owner, refuse)
	case ClientTool:
		return codecs.Tool{}, false, fmt.Errorf("'%s' is a client-executed built-in tool (%s), not a server tool, and the loop cannot run it%s", label, owner, refuse)
	case UnknownTool:
		if label == "" {
			var keys []string
			for _, m := range v.Members() {
				keys = append(keys, m.Key)
			}
			return codecs.Tool{}, false, fmt.Errorf("tool has no type and no name (keys: %s)%s", strings.Join(keys, ", "), refuse)
		}
		return codecs.Tool{}, false, fmt.Errorf("unsupported tool type '%s': not a function tool%s", label, refuse)
	}
	src := v
	schemaKeys := []string{"inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"}
	if v.Get("type").Str() == "function" {
		if fn := v.Get("function"); fn.IsObject() {
			src = fn
		}
		schemaKeys = []string{"parameters", "inputSchema", "input_schema"}
	}
	tool = codecs.Tool{Name: src.Get("name").Str(), Description: src.Get("description").Str(), InputSchema: Schema(codecs.Tool{}), Raw: entry}
	for _, key := range schemaKeys {
		if s := src.Get(key); s.IsObject() {
			tool.InputSchema = s.Raw()
			break
		}
	}
	return tool, tool.Name != "", nil
}

// ParseTools reads a list of tool definitions: a list of entries, an MCP
// tools/list result, or a gemini wrapper with functionDeclarations.
func ParseTools(list codecs.Raw) ([]codecs.Tool, []codecs.Warning, error) {
	v, err := jsonx.Parse(list)
	if err != nil {
		return nil, nil, fmt.Errorf("tools: %w", err)
	}
	if t := v.Get("tools"); t.IsArray() {
		v = t
	}
	if !v.IsArray() {
		return nil, nil, fmt.Errorf("tools: want a list of tool definitions, got %s", v.Kind())
	}
	var entries []jsonx.Value
	for _, item := range v.Items() {
		decls := item.Get("functionDeclarations")
		if !decls.Exists() {
			decls = item.Get("function_declarations")
		}
		if decls.IsArray() {
			entries = append(entries, decls.Items()...)
			continue
		}
		entries = append(entries, item)
	}
	var tools []codecs.Tool
	var warnings []codecs.Warning
	for i, e := range entries {
		t, ok, err := ParseTool(e.Raw())
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		if !ok {
			warnings = append(warnings, codecs.Warnf(codecs.WarnToolSkipped, fmt.Sprintf("/%d", i), "entry %d of the tool list is no tool (%s)", i, e.Kind()))
			continue
		}
		tools = append(tools, t)
	}
	return tools, warnings, nil
}

// MergeServerTools appends the defaults to a request's own server tools. A
// default gives way to a request tool of the same kind: the same type, and for
// mcp the same server_label as well (gemini: the same key).
// Source: the ServerTools page of the source documents.
func MergeServerTools(request, defaults []codecs.Raw) ([]codecs.Raw, []codecs.Warning) {
	seen := map[string]bool{}
	for _, t := range request {
		seen[serverToolKind(t)] = true
	}
	out := append([]codecs.Raw(nil), request...)
	var warnings []codecs.Warning
	for _, t := range defaults {
		if kind := serverToolKind(t); seen[kind] {
			warnings = append(warnings, codecs.Warnf(codecs.WarnServerToolSame, "", "the default server tool %s gives way to the request's own", kind))
			continue
		}
		out = append(out, t)
	}
	return out, warnings
}

func serverToolKind(t codecs.Raw) string {
	v := jsonx.Of(t)
	typ := v.Get("type").Str()
	if typ == "mcp" {
		return "mcp " + v.Get("server_label").Str()
	}
	if typ == "" {
		for _, m := range v.Members() {
			return strings.ToLower(strings.ReplaceAll(m.Key, "_", ""))
		}
	}
	return typ
}

// ServerTools tells whether server tools can go out: entries that the dialect
// refuses are an error (see CheckServerTools), and so is every one where the
// engine takes none; where nobody knows that, or the type, there is a warning.
func ServerTools(d codecs.Dialect, entries []codecs.Raw, p codecs.Profile, allowUnlisted bool) ([]codecs.Warning, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	_, _, label := ClassifyTool(entries[0])
	if p.ServerTools == codecs.ServerToolsNo {
		return nil, fmt.Errorf("server_tools[0]: '%s' is a server tool, and this engine does not support server tools", label)
	}
	if err := CheckServerTools(d, entries, allowUnlisted); err != nil {
		return nil, err
	}
	if p.ServerTools == codecs.ServerToolsUnknown {
		return []codecs.Warning{codecs.Warnf(codecs.WarnServerToolMaybe, "/server_tools", "nobody knows whether this engine takes server tools such as '%s'", label)}, nil
	}
	var n Notes
	for i, e := range entries {
		if class, _, label := ClassifyTool(e); class == UnknownTool {
			n.Warn(codecs.WarnServerToolMaybe, fmt.Sprintf("/server_tools/%d", i), "no table lists '%s' as a server tool", label)
		}
	}
	return n.Warnings, nil
}

// CheckServerTools refuses entries that cannot go out as server tools of
// dialect d. unlisted entries, of a type that no table lists, are allowed
// through when allowUnlisted is set.
func CheckServerTools(d codecs.Dialect, entries []codecs.Raw, allowUnlisted bool) error {
	for i, e := range entries {
		class, owner, label := ClassifyTool(e)
		switch {
		case class == ServerTool && owner == d:
		case class == ServerTool:
			return fmt.Errorf("server_tools[%d]: '%s' belongs to the %s wire, not '%s'; server tools are provider-native and cannot be translated", i, label, owner, d)
		case class == UnknownTool && allowUnlisted && jsonx.Of(e).IsObject() && label != "" && label != "custom" && label != "namespace":
		default:
			return fmt.Errorf("server_tools[%d]: entry '%s' is not a server tool of the %s wire", i, label, d)
		}
		if v := jsonx.Of(e); v.Get("type").Str() == "mcp" && v.Get("require_approval").Str() != "never" {
			return fmt.Errorf("server_tools[%d]: remote MCP tool '%s' needs require_approval => 'never'", i, v.Get("server_label").Str())
		}
	}
	return nil
}
