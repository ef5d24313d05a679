package wire_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// A schema that fits keeps every byte; one that does not becomes an object that
// says as much as it can.
func TestFitSchema(t *testing.T) {
	rules := wire.SchemaRules{NotAtRoot: []string{"oneOf", "anyOf", "allOf"}, Items: true}
	for _, tc := range []struct{ name, in, want, lost string }{
		{"fits", `{ "type" : "object", "properties": {"a": {"type":"array","items":{}}} }`, ``, ""},
		{"bare", `{"type":"object"}`, `{"type":"object","properties":{}}`, ""},
		{"true", `true`, `{"type":"object","properties":{}}`, ""},
		{"false", `false`, `{"type":"object","properties":{}}`, "a boolean as a schema"},
		{"text", `{"type":"string","title":"t"}`, `{"type":"object","properties":{},"title":"t"}`, `type "string"`},
		{"list of properties", `{"type":"object","properties":[]}`, `{"type":"object","properties":{}}`, ""},
		{"items everywhere", `{"type":"object","properties":{"a":{"anyOf":[{"type":"array"},{"type":"null"}]}},"$defs":{"b":{"type":["array","null"]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"array","items":{}},{"type":"null"}]}},"$defs":{"b":{"type":["array","null"],"items":{}}}}`, ""},
		{"allOf loses nothing", `{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}],"additionalProperties":false}`, `{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"additionalProperties":false}`, ""},
		{"alternatives require nothing", `{"type":"object","required":["x"],"oneOf":[{"properties":{"a":{}},"required":["a"]},{"minProperties":1}]}`, `{"type":"object","properties":{"a":{}},"required":["x"]}`, "oneOf, minProperties"},
		{"a reference to itself", `{"$ref":"#"}`, `{"type":"object","properties":{}}`, "nesting"},
		{"a reference to nowhere", `{"$ref":"https://x.example/s"}`, `{"type":"object","properties":{}}`, "$ref https://x.example/s"},
	} {
		if tc.want == "" {
			tc.want = tc.in
		}
		got, lost := wire.FitSchema([]byte(tc.in), rules)
		same := jsonx.Equal(got, []byte(tc.want))
		if tc.want == tc.in {
			same = string(got) == tc.in
		}
		if !same || strings.Join(lost, ", ") != tc.lost {
			t.Errorf("%s: %s, lost %q", tc.name, got, lost)
		}
	}
}

// References that fan out into themselves end: this would not in a lifetime.
func TestFitSchemaEnds(t *testing.T) {
	in := `{"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 2000) + `{"$ref":"#"}]}`
	if _, lost := wire.FitSchema([]byte(in), wire.SchemaRules{NotAtRoot: []string{"allOf"}}); strings.Join(lost, ", ") != "nesting" {
		t.Errorf("lost %q", lost)
	}
}
