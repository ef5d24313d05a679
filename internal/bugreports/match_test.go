package bugreports

import (
	"strings"
	"testing"
)

// TestMatch has each rule of the matchers once met and once not.
func TestMatch(t *testing.T) {
	for _, c := range []struct{ want, meets, fails string }{
		{`{"a":1}`, `{"a":1,"b":2}`, `{"a":1.0}`},
		{`{"a":{}}`, `{"a":{}}`, `{"a":{"b":1}}`},
		{`{"a":[1,2]}`, `{"a":[1,2]}`, `{"a":[1,2,3]}`},
		{`{"a_tail":[2,3]}`, `{"a":[1,2,3]}`, `{"a":[3]}`},
		{`{"a":"ebb"}`, `{"a":" ebb\n"}`, `{"a":"flood"}`},
		{`{"a":"ebb"}`, `{"a":[{"type":"text","text":"ebb"}]}`, `{"a":[{"type":"text","text":"flood"}]}`},
		{`{"a":[{"type":"text","text":"ebb"}]}`, `{"a":"ebb"}`, `{"a":""}`},
		{`{"a":null}`, `{"a":null}`, `{}`},
		{`{"a":{"$any":true}}`, `{"a":null}`, `{}`},
		{`{"a":{"$absent":true}}`, `{"b":1}`, `{"a":null}`},
		{`{"a":{"$type":"object"}}`, `{"a":{"b":1}}`, `{"a":[]}`},
		{`{"a":{"$ci":"object"}}`, `{"a":"OBJECT"}`, `{"a":"list"}`},
		{`{"a":{"$contains_text":"ebb"}}`, `{"a":[{"b":"at ebb"}]}`, `{"a":{"ebb":1}}`},
		{`{"a":{"$no_key":"ref"}}`, `{"a":{"b":"ref"}}`, `{"a":[{"ref":1}]}`},
		{`{"a":{"$one_of":[1,{"$absent":true}]}}`, `{}`, `{"a":2}`},
		{`{"a":{"$str":{"nonempty":true,"contains":["b"],"not_contains":["c"],"maxlen":3,"regex":"^a"}}}`, `{"a":"ab"}`, `{"a":"abc"}`},
		{`{"a":{"$str":{"nonblank":true}}}`, `{"a":" x"}`, `{"a":" "}`},
		{`{"a":{"$str":{"json_equals":{"n":1}}}}`, `{"a":"{ \"n\": 1 }"}`, `{"a":"{\"n\":2}"}`},
		{`{"a":{"$str":{"capture":"i"}},"b":{"$same_as":"i"}}`, `{"a":"x","b":"x"}`, `{"a":"x","b":"y"}`},
		{`{"a":{"$str":{"capture":"i"}},"b":{"$str":{"differs_from":"i"}}}`, `{"a":"x","b":"y"}`, `{"a":"x","b":"x"}`},
		{`{"a":1,"not":{"b":2},"note":"free"}`, `{"a":1,"b":1}`, `{"a":1,"b":2}`},
		{`{"$defs":{"$absent":true},"a":1}`, `{"a":1}`, `{"a":1,"$defs":{}}`},
		{`{"a":{"$str":{"maxlen":"x","contains":1}}}`, ``, `{"a":"b"}`},
	} {
		want := decoded(t, []byte(c.want))
		if c.meets != "" {
			if d := match(want, decoded(t, []byte(c.meets))); len(d) > 0 {
				t.Errorf("%s against %s: %q", c.want, c.meets, d)
			}
		}
		if d := match(want, decoded(t, []byte(c.fails))); len(d) == 0 {
			t.Errorf("%s against %s: no difference", c.want, c.fails)
		}
	}
}

func TestReadNamesTheLine(t *testing.T) {
	for _, in := range []string{"{}", "\n{\"id\":\"A\",\"operation\":\"loop\"}\n{"} {
		if _, err := read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", in, err)
		}
	}
	list, err := read(strings.NewReader("{\"id\":\"A\",\"operation\":\"loop\",\"policy\":true}\n\n"))
	if err != nil || len(list) != 1 || !list[0].Policy {
		t.Errorf("%+v, %v", list, err)
	}
}
