package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// TestReadArguments is spec 1.2.1 with the two differences of the design: the
// text null and double encoding.
func TestReadArguments(t *testing.T) {
	for _, c := range []struct{ name, wire, want, reason, warning string }{
		{"absent", "", "{}", "", ""},
		{"null", "null", "{}", "", ""},
		{"empty text", `""`, "{}", "", ""},
		{"text null", `"null"`, "{}", "", ""},
		{"object", `{"a":12345678901234567890}`, `{"a":12345678901234567890}`, "", ""},
		{"text of an object", `"{\"b\":1.10, \"a\":2}"`, `{"b":1.10, "a":2}`, "", ""},
		{"white space around", `" {\"a\":1}\n"`, `{"a":1}`, "", ""},
		{"encoded twice", `"\"{\\\"a\\\":1}\""`, `{"a":1}`, "", codecs.WarnDoubleEncoded},
		{"encoded three times", `"\"\\\"{}\\\"\""`, "", "not a JSON object", ""},
		{"list", `[1]`, "", "not a JSON object", ""},
		{"text of a list", `"[1]"`, "", "not a JSON object", ""},
		{"boolean", `true`, "", "not a JSON object", ""},
		{"number", `5`, "", "not a JSON object", ""},
		{"cut", `"{\"m\":\"hello wor"`, "", "unexpected end of JSON", ""},
		{"blank", `"  "`, "", "empty input", ""},
		{"garbage behind", `"{\"a\":1}}"`, "", "text after the JSON value", ""},
		{"two objects", `"{\"a\":1}{\"b\":2}"`, "", "text after the JSON value", ""},
		{"single quotes", `"{'a':1}"`, "", "invalid", ""},
		{"deep", `"` + strings.Repeat("[", 20_000) + `"`, "", "deep", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var call codecs.ToolCall
			warnings := wire.ReadArguments(&call, jsonx.Of([]byte(c.wire)), "")
			if string(call.Arguments) != c.want || !strings.Contains(call.ArgumentsErr, c.reason) || (c.reason == "") != (call.ArgumentsErr == "") {
				t.Errorf("arguments %s, error %q; want %s, %q", call.Arguments, call.ArgumentsErr, c.want, c.reason)
			}
			code := ""
			for _, w := range warnings {
				code = w.Code
			}
			if code != c.warning {
				t.Errorf("warning %q, want %q", code, c.warning)
			}
		})
	}
}

// TestParseTool reads each form that spec 1.1 lists, and refuses the rest.
func TestParseTool(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"integer"}}}`
	for _, c := range []struct{ name, in, tool, schema, err string }{
		{"MCP", `{"name":"ring","description":"Ring","inputSchema":` + schema + `}`, "ring", schema, ""},
		{"openai", `{"type":"function","function":{"name":"ring","parameters":` + schema + `}}`, "ring", schema, ""},
		{"responses", `{"type":"function","name":"ring","parameters":` + schema + `}`, "ring", schema, ""},
		{"anthropic", `{"name":"ring","input_schema":` + schema + `}`, "ring", schema, ""},
		{"anthropic custom", `{"type":"custom","name":"ring","input_schema":` + schema + `}`, "ring", schema, ""},
		{"gemini", `{"name":"ring","parametersJsonSchema":` + schema + `}`, "ring", schema, ""},
		{"name only", `{"name":"ring"}`, "ring", `{"type":"object","properties":{}}`, ""},
		{"typed without a name", `{"type":"function","name":""}`, "", "", ""},
		{"a string", `"ring"`, "", "", ""},
		{"server tool", `{"type":"web_search"}`, "", "", "'web_search' is a server-side tool (responses), not a function tool"},
		{"server tool of another wire", `{"type":"web_search_20250305","name":"web_search"}`, "", "", "(anthropic)"},
		{"gemini built-in", `{"google_search":{}}`, "", "", "(gemini)"},
		{"client built-in", `{"type":"computer_use_preview"}`, "", "", "client-executed built-in tool"},
		{"unknown type", `{"type":"teleport"}`, "", "", "unsupported tool type 'teleport'"},
		{"custom without a schema", `{"type":"custom","name":"ring"}`, "", "", "unsupported tool type 'custom'"},
		{"nameless", `{"description":"?","extra":1}`, "", "", "no type and no name (keys: description, extra)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool, ok, err := wire.ParseTool(codecs.Raw(c.in))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil || ok != (c.tool != "") || tool.Name != c.tool || (ok && string(tool.InputSchema) != c.schema) {
				t.Errorf("got %q %s, ok %v, error %v", tool.Name, tool.InputSchema, ok, err)
			}
		})
	}
}

// TestPlaceholders is the grammar of spec 1.4 on the fixture MIXED and on the
// blocks that its table lists.
func TestPlaceholders(t *testing.T) {
	png := "iVBORw0KGgoAAAANSUhEUgAA" // 24 characters, 18 bytes
	for _, c := range []struct{ block, want string }{
		{`{"type":"text","text":"first"}`, "first"},
		{`{"type":"text"}`, ""},
		{`{"type":"image","mimeType":"image/png","data":"` + png + `"}`, "[image] image/png (18 bytes)"},
		{`{"type":"image","data":"` + png + `"}`, "[image] (18 bytes)"},
		{`{"type":"resource_link","name":"r.txt","uri":"file:///r.txt"}`, "[resource_link] r.txt <file:///r.txt>"},
		{`{"type":"resource","resource":{"uri":"file:///x","mimeType":"application/json","text":"{\"a\":1}"}}`, `{"a":1}`},
		{`{"type":"resource","resource":{"uri":"file:///a.zip","mimeType":"application/zip","blob":"UEsDBA=="}}`, "[resource] application/zip <file:///a.zip> (4 bytes)"},
		{`{"type":"resource","resource":{"mimeType":"text/plain","blob":"w7w="}}`, "ü"},
		{`{"type":"resource","resource":{"uri":"u:1","mimeType":"image/png"}}`, "[resource] image/png <u:1>"},
		{`{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}`, "[audio] audio/wav (4 bytes)"},
		{`{"type":"mystery"}`, "[mystery]"},
		{`{"no":"type"}`, "[unsupported]"},
		{`"bare"`, "[unsupported]"},
		{`{"type":"document","source":{"type":"content","content":[]}}`, "[document]"},
		{`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}}`, "[document] application/pdf"},
		{`{"type":"search_result","title":"T","source":"kb://1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "[search_result] T <kb://1>\na\nb"},
	} {
		if got := wire.ReadItems([]codecs.Raw{codecs.Raw(c.block)})[0].String(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.block, got, c.want)
		}
	}
	for data, want := range map[string]int{"": 0, "QQ==": 1, "QUI=": 2, "QUJD": 3, " QU\nJD ": 3, "QUJDRA": 4} {
		if got := wire.DecodedSize(data); got != want {
			t.Errorf("DecodedSize(%q) = %d, want %d", data, got, want)
		}
	}
}

func TestResultText(t *testing.T) {
	block := codecs.TextBlock
	for _, c := range []struct {
		name string
		r    codecs.ToolResult
		want string
	}{
		{"two texts (RS17)", codecs.ToolResult{Content: []codecs.Raw{block("a"), block("b")}}, "a\nb"},
		{"an empty text (RS18)", codecs.ToolResult{Content: []codecs.Raw{block("a"), block("")}}, "a\n"},
		{"empty (RS08)", codecs.ToolResult{}, ""},
		{"structured only (RS09)", codecs.ToolResult{Structured: codecs.Raw(`{"b":1.0,"a":"ü"}`)}, `{"a":"ü","b":1.0}`},
		{"content wins (RS10)", codecs.ToolResult{Content: []codecs.Raw{block("a")}, Structured: codecs.Raw(`{"b":1}`)}, "a"},
	} {
		if got := wire.ResultText(c.r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestGateChoice is the capability gate of spec 1.3 (CH07-CH13).
func TestGateChoice(t *testing.T) {
	none := codecs.Profile{ToolChoice: []string{"-"}}
	some := codecs.Profile{ToolChoice: []string{"auto", "none"}}
	for _, c := range []struct {
		name     string
		in       codecs.Choice
		tools    bool
		p        codecs.Profile
		send     codecs.Choice
		withhold bool
		warning  string
	}{
		{"all taken", codecs.Choice{Mode: "any"}, true, codecs.Profile{}, codecs.Choice{Mode: "any"}, false, ""},
		{"auto is dropped in silence", codecs.Choice{Mode: "auto"}, true, none, codecs.Choice{}, false, ""},
		{"a forced choice warns", codecs.Choice{Mode: "any"}, true, none, codecs.Choice{}, false, codecs.WarnChoiceDropped},
		{"none withholds the tools", codecs.Choice{Mode: "none"}, true, none, codecs.Choice{}, true, codecs.WarnToolsWithheld},
		{"none without tools is silent", codecs.Choice{Mode: "none"}, false, none, codecs.Choice{}, true, ""},
		{"a mode that is listed", codecs.Choice{Mode: "none"}, true, some, codecs.Choice{Mode: "none"}, false, ""},
		{"a named tool that is not", codecs.Choice{Mode: "tool", Name: "ring"}, true, some, codecs.Choice{}, false, codecs.WarnChoiceDropped},
		{"a tool without a name is auto", codecs.Choice{Mode: "tool"}, true, some, codecs.Choice{Mode: "auto"}, false, ""},
		{"a native value passes where there is a field", codecs.Choice{Raw: codecs.Raw(`{"type":"allowed_tools"}`)}, true, some, codecs.Choice{Raw: codecs.Raw(`{"type":"allowed_tools"}`)}, false, ""},
		{"a value of another wire", codecs.Choice{Raw: codecs.Raw(`{"type":"mcp"}`)}, true, codecs.Profile{}, codecs.Choice{}, false, codecs.WarnChoiceDropped},
		{"a native value without a field", codecs.Choice{Raw: codecs.Raw(`{"type":"allowed_tools"}`)}, true, none, codecs.Choice{}, false, codecs.WarnChoiceDropped},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := func(v jsonx.Value) bool { return v.Get("type").Str() == "allowed_tools" }
			send, withhold, warnings := wire.GateChoice(c.in, own, c.tools, c.p)
			if d := cmp.Diff(c.send, send); d != "" || withhold != c.withhold {
				t.Errorf("withhold %v, want %v\n%s", withhold, c.withhold, d)
			}
			if (c.warning == "") != (len(warnings) == 0) || (c.warning != "" && warnings[0].Code != c.warning) {
				t.Errorf("warnings %v, want %q", warnings, c.warning)
			}
		})
	}
}

func TestMadeID(t *testing.T) {
	body := codecs.Raw(`{"id":"turn-1"}`)
	a, b := wire.MadeID(body, 0, "call_", ""), wire.MadeID(body, 1, "call_", "")
	if a == b || a != wire.MadeID(body, 0, "call_", "") || a == wire.MadeID(codecs.Raw(`{"id":"turn-2"}`), 0, "call_", "") {
		t.Errorf("ids %q, %q are not unique and stable", a, b)
	}
	if m := wire.MadeID(body, 0, "call_", "mistral9"); len(m) != 9 || strings.ContainsAny(m, "_-") {
		t.Errorf("mistral id %q", m)
	}
}

func TestErrorKind(t *testing.T) {
	for _, c := range []struct {
		status        int
		code, message string
		want          codecs.ErrorKind
	}{
		{401, "", "", codecs.ErrAuth},
		{403, "permission_error", "", codecs.ErrAuth},
		{400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", codecs.ErrAuth},
		{402, "", "", codecs.ErrQuota},
		{429, "insufficient_quota", "", codecs.ErrQuota},
		{429, "rate_limit_error", "", codecs.ErrRate},
		{400, "invalid_request_error", "missing field", codecs.ErrShape},
		{404, "", "", codecs.ErrShape},
		{529, "overloaded_error", "Overloaded", codecs.ErrOverload},
		{503, "", "", codecs.ErrOverload},
		{500, "api_error", "", codecs.ErrServer},
		{400, "content_filter", "", codecs.ErrModeration},
		{200, "overloaded", "try again", codecs.ErrOverload},
	} {
		if got := wire.ErrorKind(c.status, c.code, c.message); got != c.want {
			t.Errorf("%d %q %q is %s, want %s", c.status, c.code, c.message, got, c.want)
		}
	}
}

// TestServerTools: the same-kind rule and the refusals (SV rows).
func TestServerTools(t *testing.T) {
	raw := func(list ...string) (out []codecs.Raw) {
		for _, s := range list {
			out = append(out, codecs.Raw(s))
		}
		return out
	}
	for _, c := range []struct {
		name              string
		request, defaults []codecs.Raw
		want              []codecs.Raw
	}{
		{"request wins (SV04)", raw(`{"type":"web_search","size":"high"}`), raw(`{"type":"web_search"}`), raw(`{"type":"web_search","size":"high"}`)},
		{"mcp by label (SV05)", raw(`{"type":"mcp","server_label":"a"}`), raw(`{"type":"mcp","server_label":"a","x":1}`, `{"type":"mcp","server_label":"b"}`), raw(`{"type":"mcp","server_label":"a"}`, `{"type":"mcp","server_label":"b"}`)},
		{"both spellings of gemini", raw(`{"googleSearch":{}}`), raw(`{"google_search":{}}`), raw(`{"googleSearch":{}}`)},
	} {
		got, _ := wire.MergeServerTools(c.request, c.defaults)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
	}
	for _, c := range []struct {
		d        codecs.Dialect
		entry    string
		unlisted bool
		err      string
	}{
		{codecs.Responses, `{"type":"web_search"}`, false, ""},
		{codecs.Responses, `{"type":"web_search_20250305"}`, false, "belongs to the anthropic wire, not 'responses'"},
		{codecs.Anthropic, `{"type":"web_search_20250305"}`, false, ""},
		{codecs.Responses, `{"type":"mcp","server_label":"g","require_approval":"never"}`, false, ""},
		{codecs.Responses, `{"type":"mcp","server_label":"g"}`, false, "needs require_approval => 'never'"},
		{codecs.Responses, `{"type":"mcp","server_label":"g","require_approval":{"always":{}}}`, false, "needs require_approval"},
		{codecs.Responses, `"web_search"`, false, "is not a server tool"},
		{codecs.Responses, `{"type":"function","name":"x"}`, true, "is not a server tool"},
		{codecs.Responses, `{"type":"teleport"}`, false, "is not a server tool"},
		{codecs.Responses, `{"type":"teleport"}`, true, ""},
		{codecs.Responses, `{"type":"custom","name":"x"}`, true, "is not a server tool"},
	} {
		err := wire.CheckServerTools(c.d, raw(c.entry), c.unlisted)
		if (c.err == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s %s: error %v, want %q", c.d, c.entry, err, c.err)
		}
	}
}
