package suite

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/lint"
)

// The schemas of the neutral forms hold for all that decode prints and for all
// that encode is given in the cases: docs/neutral.md says no more than is true.
func TestNeutralSchemas(t *testing.T) {
	compiled := map[string]*lint.Schema{}
	for _, name := range []string{"reply.v1.json", "request.v1.json", "request.v1.json#/$defs/tools", "request.v1.json#/$defs/continue"} {
		s, err := lint.Compile(fixtures.FS(), "schema/"+name)
		if err != nil {
			t.Fatal(err)
		}
		compiled[name] = s
	}
	cases, err := fixtures.LoadCases(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]int{}
	holds := func(name, schema string, doc []byte) {
		held[schema]++
		for _, p := range compiled[schema].Check(name, doc) {
			t.Error(p)
		}
	}
	for _, c := range cases {
		codec, profile, err := target(c, catalog)
		if err != nil {
			t.Fatal(err)
		}
		in := jsonx.Of(codecs.Raw(c.Input))
		switch c.Op {
		case "reply":
			body, err := inputBody(in)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := codec.Reply(body, profile); err != nil {
				holds(c.ID, "reply.v1.json", neutral.ViewError(err, 200))
			} else {
				holds(c.ID, "reply.v1.json", neutral.View(r))
			}
		case "request":
			if req := in.Get("request"); req.Exists() {
				in = req
			}
			holds(c.ID, "request.v1.json", in.Raw())
		case "tools", "continue":
			holds(c.ID, "request.v1.json#/$defs/"+c.Op, in.Raw())
		case "parse_request":
			r, err := Run(c, catalog)
			if err != nil {
				t.Fatal(err)
			}
			if r.Err == nil {
				holds(c.ID, "request.v1.json", r.Value)
			}
		}
	}
	for schema := range compiled {
		if held[schema] < 20 {
			t.Errorf("%s: held by %d cases only", schema, held[schema])
		}
	}
}
