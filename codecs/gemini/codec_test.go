package gemini

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

func TestEndpoint(t *testing.T) {
	for _, tc := range []struct {
		model  string
		stream bool
		want   string
	}{
		{"gemini-x", false, "/models/gemini-x:generateContent"},
		{"gemini-x", true, "/models/gemini-x:streamGenerateContent?alt=sse"},
		{"models/gemini-x", false, "/models/gemini-x:generateContent"},
		{"tunedModels/gulls-7", false, "/tunedModels/gulls-7:generateContent"},
		{"publishers/google/models/gemini-x@2", false, "/publishers/google/models/gemini-x@2:generateContent"},
		{"odd?name", false, "/models/odd%3Fname:generateContent"},
	} {
		got := Codec{}.Endpoint(tc.model, tc.stream)
		if got != tc.want {
			t.Errorf("Endpoint(%q, %v) = %q, want %q", tc.model, tc.stream, got, tc.want)
		}
		model, stream, ok := Codec{}.Match(codecs.Post("/v1beta"+got, nil))
		if !ok || stream != tc.stream || !strings.HasSuffix(tc.model, model) {
			t.Errorf("Match(%q) = %q, %v, %v", got, model, stream, ok)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, path := range []string{
		"", "/", ":generateContent", "/v1/models/:generateContent", "/v1/models/x", "/v1/chat/completions",
		"/v1beta/models/x:batchGenerateContent", "/v1/projects/p/publishers/anthropic/models/c:rawPredict",
	} {
		if model, _, ok := (Codec{}).Match(codecs.Post(path, nil)); ok {
			t.Errorf("Match(%q) found %q", path, model)
		}
	}
}

// Both spellings of every key that the codec looks for.
func TestSpelling(t *testing.T) {
	for c, s := range map[string]string{
		"thoughtSignature": "thought_signature", "fileUri": "file_uri", "text": "text",
		"parametersJsonSchema": "parameters_json_schema", "allowedFunctionNames": "allowed_function_names",
	} {
		if snake(c) != s || camel(s) != c || camel(c) != c {
			t.Errorf("%s: snake %s, camel %s", c, snake(c), camel(s))
		}
	}
	v := jsonx.Of([]byte(`{"functionCall":null,"function_call":{"name":"x"}}`))
	if field(v, "functionCall").Get("name").Str() != "x" {
		t.Error("null in one spelling hides the other")
	}
}

func reply(t *testing.T, parts string) codecs.Reply {
	t.Helper()
	r, err := Codec{}.Reply([]byte(`{"candidates":[{"content":{"role":"model","parts":`+parts+`},"finishReason":"STOP"}]}`), codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Spec 2.7 over parts: a tag opens in one part and closes in the next; a signed
// part ends a run, and its signature stays.
func TestThinkTagsOverParts(t *testing.T) {
	for _, tc := range []struct{ name, parts, text, reasoning, signature string }{
		{"over two parts", `[{"text":"<think>ebb "},{"text":"first</think>six"}]`, "six", "ebb first", ""},
		{"orphan closing tag (HT15)", `[{"text":"ebb</think>six"}]`, "six", "ebb", ""},
		{"never closed (HT16)", `[{"text":"six <think>ebb"}]`, "six", "ebb", ""},
		{"two blocks (HT17)", `[{"text":"<think>a</think>x<think>b</think>y"}]`, "xy", "a\nb", ""},
		{"no tag (HT18)", `[{"text":"  six "},{"text":"\n"}]`, "  six \n", "", ""},
		{"signed", `[{"text":"<think>a</think>six","thoughtSignature":"cw=="},{"text":" more"}]`, "six more", "a", "cw=="},
		{"native thought", `[{"text":"a","thought":true},{"text":"six"}]`, "six", "a", ""},
	} {
		r := reply(t, tc.parts)
		if r.Text() != tc.text || r.Reasoning() != tc.reasoning {
			t.Errorf("%s: text %q reasoning %q", tc.name, r.Text(), r.Reasoning())
		}
		signature := ""
		for _, p := range r.Parts {
			signature += p.Signature
		}
		if signature != tc.signature {
			t.Errorf("%s: signature %q, want %q", tc.name, signature, tc.signature)
		}
	}
}

// Wrong types of members are tolerated or named, never a panic.
func TestOddBodies(t *testing.T) {
	for _, tc := range []struct{ body, pointer string }{
		{`null`, ""},
		{`"text"`, ""},
		{`{}`, "/candidates"},
		{`{"candidates":{}}`, "/candidates"},
		{`{"candidates":["x"]}`, "/candidates/0"},
		{`{"candidates":[{"content":"x"}]}`, "/candidates/0/content"},
		{`{"candidates":[{"content":{"parts":"x"}}]}`, "/candidates/0/content/parts"},
	} {
		_, err := Codec{}.Reply([]byte(tc.body), codecs.Profile{})
		var de *codecs.DecodeError
		if !errors.As(err, &de) || de.Pointer != tc.pointer {
			t.Errorf("%s: %v", tc.body, err)
		}
	}
	r := reply(t, `[null,{},7,{"text":5},{"text":"a","thoughtSignature":9},{"thoughtSignature":"cw=="},{"functionCall":"x"},{"functionCall":{"name":"f","id":12}}]`)
	if r.Text() != "a" || len(r.Calls()) != 1 || r.Calls()[0].ID != "12" {
		t.Errorf("parts %+v", r.Parts)
	}
}

func TestStreamBodyIsNamed(t *testing.T) {
	_, err := Codec{}.Reply([]byte(`[{"candidates":[]}]`), codecs.Profile{})
	if !errors.Is(err, codecs.ErrStream) {
		t.Error(err)
	}
	_, err = Codec{}.Reply([]byte(`[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`), codecs.Profile{})
	var pe *codecs.ProviderError
	if !errors.As(err, &pe) || pe.Error() != "response carried an error: overloaded" {
		t.Error(err)
	}
}

// An id goes back in the type it came in.
func TestNumberID(t *testing.T) {
	r := reply(t, `[{"functionCall":{"name":"f","id":12}}]`)
	msgs, _, err := Codec{}.Continue(r, []codecs.ToolResult{{}}, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(jsonx.Of(msgs[1]).Lookup("/parts/0/functionResponse/id").Raw()); got != "12" {
		t.Errorf("id %s", got)
	}
}

// A turn without parts leaves no empty content, which the provider refuses.
func TestEmptyTurnHasNoContent(t *testing.T) {
	r, err := Codec{}.Reply([]byte(`{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}`), codecs.Profile{})
	if err != nil || r.Finish != codecs.FinishLength {
		t.Fatal(err, r.Finish)
	}
	msgs, _, err := Codec{}.Continue(r, nil, codecs.Profile{})
	if err != nil || len(msgs) != 0 {
		t.Error(msgs, err)
	}
}

// Keywords of the older schema field; sources: Schema of the Gemini API, and
// the 400 texts of the wire notes, 2a.
func TestReduceSchema(t *testing.T) {
	for _, tc := range []struct{ name, in, want, lost string }{
		{"type list", `{"type":["string","null"]}`, `{"nullable":true,"type":"string"}`, ""},
		{"two types", `{"type":["string","integer"]}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, ""},
		{"keywords by type", `{"type":["array","string"],"items":{"type":"integer"},"maxLength":4,"description":"d"}`, `{"anyOf":[{"type":"array","items":{"type":"integer"},"description":"d"},{"type":"string","maxLength":4,"description":"d"}]}`, ""},
		{"keywords beside anyOf", `{"anyOf":[{"type":"string","description":"own"},{"type":"integer"}],"description":"d","minimum":1,"default":2}`, `{"anyOf":[{"type":"string","description":"own","default":2},{"type":"integer","description":"d","minimum":1,"default":2}]}`, ""},
		{"keyword of another type", `{"type":"string","minimum":1,"items":{"type":"string"}}`, `{"type":"string"}`, "minimum beside another type; items beside another type"},
		{"oneOf with null", `{"oneOf":[{"type":"null"},{"type":"number"}]}`, `{"nullable":true,"type":"number"}`, ""},
		{"const number", `{"const":4}`, `{"type":"string"}`, "enum of a number; any type"},
		{"empty enum member", `{"enum":["a",""]}`, `{"type":"string","enum":["a"]}`, "enum of an empty text"},
		{"no type", `{"pattern":"a"}`, `{"type":"string","pattern":"a"}`, ""},
		{"type that is none", `{"type":"date"}`, `{"type":"string"}`, `type "date"; any type`},
		{"value that is none", `{"type":"string","maxLength":"4","description":4}`, `{"type":"string"}`, "maxLength that is a string; description that is a number"},
		{"no schema", `"string"`, `{"type":"string"}`, "a schema that is no object; any type"},
		{"array without items", `{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`, "items of any type"},
		{"required of nothing", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b","a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, ""},
		{"ref beside keys", `{"$ref":"#/$defs/O","title":"x"}`, `{"type":"object","title":"x"}`, ""},
		{"ref to nowhere", `{"$ref":"https://x.example/s"}`, `{"type":"string"}`, "$ref https://x.example/s; any type"},
		{"ref into properties", `{"type":"array","items":{"$ref":"#/properties/h"}}`, `{"type":"array","items":{"type":"object"}}`, ""},
		{"allOf", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`, ""},
		{"format", `{"type":"string","format":"uri"}`, `{"type":"string"}`, "format uri"},
		{"format of another type", `{"type":"string","format":"int32"}`, `{"type":"string"}`, "format int32"},
	} {
		in := `{"type":"object","properties":{"a":` + tc.in + `,"h":{"type":"object"}},"$defs":{"O":{"type":"object"}}}`
		got, lost := reduceSchema(jsonx.Of([]byte(in)))
		got = jsonx.Of(got).Path("properties", "a").Raw()
		if !jsonx.Equal(got, []byte(tc.want)) || strings.Join(lost, "; ") != tc.lost {
			t.Errorf("%s: %s, lost %q", tc.name, got, lost)
		}
	}
}

// The root of parameters is an object, whatever it is put together of.
func TestReduceSchemaRoot(t *testing.T) {
	for _, tc := range []struct{ in, want, lost string }{
		{`{"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "anyOf"},
		{`{"type":"string"}`, `{"type":"object"}`, `type "string"`},
	} {
		got, lost := reduceSchema(jsonx.Of([]byte(tc.in)))
		if !jsonx.Equal(got, []byte(tc.want)) || strings.Join(lost, "; ") != tc.lost {
			t.Errorf("%s: %s, lost %q", tc.in, got, lost)
		}
	}
}

// A schema that contains itself ends.
func TestReduceSchemaRecursion(t *testing.T) {
	in := `{"$defs":{"n":{"type":"object","properties":{"l":{"$ref":"#/$defs/n"},"r":{"$ref":"#/$defs/n"}}}},"properties":{"n":{"$ref":"#/$defs/n"},"self":{"$ref":"#"}}}`
	got, lost := reduceSchema(jsonx.Of([]byte(in)))
	if err := jsonx.Check(got); err != nil || len(got) > 1<<20 || len(lost) != 1 || lost[0] != "nesting" {
		t.Errorf("%d bytes, %v, lost %v", len(got), err, lost)
	}
}

// Law 9: a fileData part of a function response survives, while a link that a
// tool server made stays a line of text (1.4 of the source documents).
func TestFileDataInResponse(t *testing.T) {
	in := `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"survey","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"survey","response":{"result":""},"parts":[{"fileData":{"mimeType":"image/png","fileUri":"gs://pier/4.png"}}]}}]}]}`
	req, _, err := Codec{}.ParseRequest(codecs.In{Body: []byte(in)}, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]string{
		"":                      in,
		codecs.MediaPlaceholder: strings.Replace(in, `"result":""},"parts":[{"fileData":{"mimeType":"image/png","fileUri":"gs://pier/4.png"}}]`, `"result":"[resource_link] <gs://pier/4.png>"}`, 1),
	} {
		out, _, err := Codec{}.Request(req, codecs.Profile{ResultImages: mode})
		if err != nil || !jsonx.Equal(out, []byte(want)) {
			t.Errorf("mode %q: %v\n%s\n%s", mode, err, out, want)
		}
	}
}
