package neutral_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs/neutral"
)

// TestWrongKinds: a name or an id of a wrong kind is an error that names its
// place; null says nothing.
func TestWrongKinds(t *testing.T) {
	read := map[string]func(string) error{
		"results": func(s string) error { _, err := neutral.Results([]byte(s)); return err },
		"reply":   func(s string) error { _, err := neutral.Reply([]byte(s)); return err },
		"request": func(s string) error { _, _, err := neutral.Request([]byte(s)); return err },
	}
	for _, row := range []struct{ form, text, want string }{
		{"results", `[{},{"id":5}]`, "results[1]: id: want a string, got a number"},
		{"results", `[{"tool_use_id":["c2"]}]`, "results[0]: tool_use_id: want a string, got a list"},
		{"results", `[{"name":{}}]`, "results[0]: name: want a string, got an object"},
		{"results", `[{"id":null,"name":null,"pos":null}]`, ""},
		{"reply", `{"model":[]}`, "reply: model: want a string, got a list"},
		{"reply", `{"parts":[{"kind":"text","text":7}]}`, "reply: parts[0]: text: want a string, got a number"},
		{"reply", `{"parts":[{"kind":"call","call":{"id":true}}]}`, "reply: parts[0]: id: want a string, got a boolean"},
		{"reply", `{"parts":[{"kind":"media","uri":0}]}`, "reply: parts[0]: uri: want a string, got a number"},
		{"reply", `{"parts":[{"kind":"call","id":null,"name":"tide"}]}`, ""},
		{"request", `{"messages":[{"role":"tool","parts":[{"kind":"result","result":{"id":5}}]}]}`, "messages[0]: parts[0]: id: want a string, got a number"},
	} {
		err := read[row.form](row.text)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s %s: error %v, want %q", row.form, row.text, err, row.want)
		}
	}
}
