package loop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// LP21, SV03 to SV05: server tools go out on every request, after the functions.
func TestServerTools(t *testing.T) {
	call := `{"id":"r","status":"completed","output":[{"type":"function_call","id":"f","call_id":"c1","name":"tide","arguments":"{}"}]}`
	text := `{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}]}`
	e := says(call, text)
	conf := config(responses.Codec{}, e, tides("tide"))
	conf.ServerTools = []codecs.Raw{codecs.Raw(`{"type":"web_search"}`), codecs.Raw(`{"type":"mcp","server_label":"b","require_approval":"never"}`)}
	conf.RequestServerTools = []codecs.Raw{codecs.Raw(`{"type":"web_search","search_context_size":"high"}`)}
	conf.CheckServerTool = func(raw codecs.Raw) (codecs.Raw, error) {
		if jsonx.Of(raw).Get("type").Str() == "mcp" {
			return jsonx.Set(raw, "/server_url", []byte(`"http://127.0.0.1/"`))
		}
		return raw, nil
	}
	out := mustRun(t, conf)
	for _, body := range e.bodies {
		tools := jsonx.Of([]byte(body)).Get("tools")
		same(t, "function first", "function", tools.At(0).Get("type").Str())
		same(t, "request's own", `{"type":"web_search","search_context_size":"high"}`, string(tools.At(1).Raw()))
		same(t, "default as rewritten", "http://127.0.0.1/", tools.At(2).Get("server_url").Str())
		same(t, "tools", 3, tools.Len())
	}
	same(t, "warnings", []string{codecs.WarnServerToolSame}, codes(out.Warnings))
}

// SV06 to SV11: refused before anything is sent.
func TestServerToolsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		codec codecs.Codec
		entry string
		def   bool
		prof  codecs.Profile
		check func(codecs.Raw) (codecs.Raw, error)
		want  string
	}{
		{"SV06", responses.Codec{}, `{"type":"mcp","server_label":"q","require_approval":"always"}`, false, codecs.Profile{}, nil, "require_approval"},
		{"SV06 default", responses.Codec{}, `{"type":"mcp","server_label":"q"}`, true, codecs.Profile{}, nil, "require_approval"},
		{"SV07", responses.Codec{}, `{"type":"function","name":"f"}`, true, codecs.Profile{}, nil, "not a server tool"},
		{"SV09", openai.Codec{}, `{"type":"web_search"}`, false, codecs.Profile{}, nil, "responses"},
		{"engine without", responses.Codec{}, `{"type":"web_search"}`, false, codecs.Profile{ServerTools: codecs.ServerToolsNo}, nil, "takes no server tools"},
		{"no JSON", responses.Codec{}, `{"type"`, false, codecs.Profile{}, nil, "server_tools[0]"},
		{"hook refuses", responses.Codec{}, `{"type":"web_search"}`, false, codecs.Profile{}, func(codecs.Raw) (codecs.Raw, error) { return nil, errors.New("not at night") }, "not at night"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := says(chat("stop", "never"))
			conf := config(c.codec, e, tides("tide"))
			conf.Profile, conf.CheckServerTool = c.prof, c.check
			if c.def {
				conf.ServerTools = []codecs.Raw{codecs.Raw(c.entry)}
			} else {
				conf.RequestServerTools = []codecs.Raw{codecs.Raw(c.entry)}
			}
			_, err := loop.Run(t.Context(), conf)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
			same(t, "requests", 0, len(e.bodies))
		})
	}
}
