package anthropic_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/laws"
)

func TestErrorFields(t *testing.T) {
	e := anthropic.Codec{}.Error(429, map[string][]string{"retry-After": {"7"}},
		[]byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`))
	if e.RetryAfter != "7" || e.Code != "rate_limit_error" || e.Status != 429 || e.Dialect != codecs.Anthropic {
		t.Errorf("%+v", e)
	}
	// ER07: the error inside a 200 has the prefix, and its own message apart.
	_, err := anthropic.Codec{}.Reply([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), codecs.Profile{})
	var pe *codecs.ProviderError
	if !errors.As(err, &pe) || pe.Error() != "response carried an error: Overloaded" || pe.Status != 200 {
		t.Errorf("%v", err)
	}
}

func TestErrorCodes(t *testing.T) {
	for _, c := range []struct{ body, code, message string }{
		{`{"error":"no boat"}`, "", "no boat"},
		{`{"base_resp":{"status_code":2013,"status_msg":"no form"}}`, "2013", "no form"},
		{`{"code":1210,"msg":"bad parameter"}`, "1210", "bad parameter"},
		{`{"error":{"code":7,"message":"x"}}`, "7", "x"},
		{`{"detail":"gone"}`, "", "gone"},
		{`[]`, "", "[]"},
		{`{"type":"error","error":{}}`, "", `{"type":"error","error":{}}`},
	} {
		e := anthropic.Codec{}.Error(400, nil, []byte(c.body))
		if e.Code != c.code || e.Message != c.message {
			t.Errorf("%s: code %q, message %q", c.body, e.Code, e.Message)
		}
	}
}

// The API refuses more than 24 optional properties in the strict tools of one
// request, so strict must stop before.
func TestStrictStopsBeforeTheLimit(t *testing.T) {
	schema := func(optional int) codecs.Raw {
		props := []string{`"must":{"type":"string"}`}
		for i := range optional {
			props = append(props, fmt.Sprintf(`"o%d":{"type":"string"}`, i))
		}
		return codecs.Raw(`{"type":"object","additionalProperties":false,"required":["must"],"properties":{` + strings.Join(props, ",") + `}}`)
	}
	out, _, err := anthropic.Codec{}.Tools([]codecs.Tool{
		{Name: "a", InputSchema: schema(20)}, {Name: "b", InputSchema: schema(5)}, {Name: "c", InputSchema: schema(4)}, {Name: "d", InputSchema: schema(25)},
	}, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, true, false} {
		if got := jsonx.Of(out).At(i).Get("strict").Bool(); got != want {
			t.Errorf("tool %d: strict %v", i, got)
		}
	}
}

// Gap 13: what makes a closed schema unfit for strict.
func TestStrictDeep(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"string"}`: true,
		`{"type":"object","additionalProperties":false,"properties":{"b":{"type":"string"}}}`: true,
		`{"type":"object","properties":{}}`:                                                   false,
		`{"type":["object","null"],"properties":{}}`:                                          false,
		`{"type":"object","additionalProperties":{"type":"string"}}`:                          false,
		`{"anyOf":[{"type":"null"},{"type":"object"}]}`:                                       false,
		`{"type":"array","items":{"type":"object","additionalProperties":true}}`:              false,
		`{"$ref":"#"}`:                       false,
		`{"type":"string","maxLength":3}`:    false,
		`{"type":"array","minItems":1}`:      true,
		`{"type":"array","minItems":2}`:      false,
		`{"type":"string","enum":["a","b"]}`: true,
	} {
		root := codecs.Raw(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":` + schema + `}}`)
		out, _, err := anthropic.Codec{}.Tools([]codecs.Tool{{Name: "t", InputSchema: root}}, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonx.Of(out).At(0).Get("strict").Bool(); got != want {
			t.Errorf("%s: strict %v", schema, got)
		}
	}
}

// Two encodings at once give the same bytes, made ids included.
func TestConcurrentUse(t *testing.T) {
	body := []byte(`{"content":[{"type":"tool_use","name":"n","input":{}},{"type":"tool_use","name":"n","input":"x"}],"stop_reason":"tool_use"}`)
	var wg sync.WaitGroup
	outs := make([]string, 8)
	for i := range outs {
		wg.Go(func() {
			r, err := anthropic.Codec{}.Reply(body, codecs.Profile{})
			if err != nil {
				t.Error(err)
				return
			}
			msgs, _, err := anthropic.Codec{}.Continue(r, laws.Answers(r), codecs.Profile{UndecodableEcho: codecs.UndecodableEmpty})
			if err != nil {
				t.Error(err)
			}
			outs[i] = string(jsonx.List(msgs...))
		})
	}
	wg.Wait()
	for _, out := range outs {
		if out != outs[0] {
			t.Fatalf("%s\n%s", out, outs[0])
		}
	}
}

// Cited sources without a native form of their own stay with the text.
func TestCitationsOfAnotherDialect(t *testing.T) {
	at := int64(3)
	r := codecs.Reply{
		ID: "m", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "Fog."}}, Finish: codecs.FinishStop,
		Citations: []codecs.Citation{{URL: "https://fog.example", Title: "Fog", StartIndex: &at}},
	}
	body, warnings, err := anthropic.Codec{}.RenderReply(r, codecs.Profile{}, codecs.Likeness{})
	if err != nil || len(warnings) != 1 || warnings[0].Code != codecs.WarnLossy {
		t.Fatal(warnings, err)
	}
	again, err := anthropic.Codec{}.Reply(body, codecs.Profile{})
	if err != nil || len(again.Citations) != 1 || again.Citations[0].URL != "https://fog.example" || again.Citations[0].Title != "Fog" {
		t.Fatalf("%+v %v", again.Citations, err)
	}
}
