package judge

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

func toolChecks() []check {
	return []check{
		{"tools.declared", atRequest, toolsDeclared},
		{"server_tools.sent", atRequest, serverToolsSent},
	}
}

// toolsDeclared looks for each expected tool. Two tools of one name are a fault
// whatever was expected.
func toolsDeclared(c *scene) {
	if c.x.RequestErr != nil {
		return
	}
	seen, first := map[string]int{}, map[string]codecs.Tool{}
	ok := true
	for _, t := range c.x.Request.Tools {
		if seen[t.Name]++; seen[t.Name] == 1 {
			first[t.Name] = t
		} else if seen[t.Name] == 2 {
			c.fail(fmt.Sprintf("tool %q once", t.Name), "it twice")
			ok = false
		}
	}
	want := c.expect().Tools
	if want == nil {
		if ok && len(seen) > 0 {
			c.pass()
		}
		return
	}
	for _, t := range want {
		if seen[t.Name] == 0 {
			c.fail(fmt.Sprintf("tool %q once", t.Name), "0 times")
			ok = false
		}
	}
	if len(c.x.Request.Tools) > len(want) {
		c.fail(fmt.Sprintf("%d tools", len(want)), fmt.Sprintf("%d", len(c.x.Request.Tools)))
		ok = false
	}
	for _, t := range want {
		if got, found := first[t.Name]; found && !schemaKept(t.InputSchema, got.InputSchema) {
			c.fail(fmt.Sprintf("the schema of tool %s: %s", t.Name, t.InputSchema), string(got.InputSchema))
			ok = false
		}
	}
	if ok && len(want) > 0 {
		c.pass()
	}
}

// schemaKept tells whether a declared schema still says what the tool's own
// schema says: every property with its type, and the required list. Keywords
// that a wire cannot carry, such as $schema, may go.
func schemaKept(want, got codecs.Raw) bool {
	w, g := jsonx.Of(want), jsonx.Of(got)
	types, required := map[string]jsonx.Value{}, map[string]bool{}
	for _, m := range g.Get("properties").Members() {
		types[m.Key] = m.Value.Get("type")
	}
	for _, n := range g.Get("required").Items() {
		required[n.Str()] = true
	}
	for _, m := range w.Get("properties").Members() {
		is, there := types[m.Key]
		if due := m.Value.Get("type"); !there || due.Exists() && !jsonx.Equal(due.Raw(), is.Raw()) {
			return false
		}
	}
	for _, n := range w.Get("required").Items() {
		if !required[n.Str()] {
			return false
		}
	}
	return true
}

func serverToolsSent(c *scene) {
	if c.x.RequestErr != nil {
		return
	}
	have := map[string]bool{}
	for _, got := range c.x.Request.ServerTools {
		have[canonical(got)] = true
	}
	for _, want := range c.expect().ServerTools {
		if !have[canonical(want)] {
			c.fail(string(want), string(jsonx.List(c.x.Request.ServerTools...)))
			continue
		}
		c.pass()
	}
}
