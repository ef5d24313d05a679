package jsonx

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// agrees holds the index against two readers of other hands: jsontext on what is
// JSON, gjson on what is in it.
func agrees(t *testing.T, in []byte) {
	t.Helper()
	want := tooDeep(in, MaxDepth) < 0 && check(in) == nil
	if got := wellFormed(in, MaxDepth); got != want {
		t.Fatalf("wellFormed(%q) = %v, jsontext says %v", in, got, want)
	}
	v, err := Parse(in)
	if (err == nil) != want {
		t.Fatalf("Parse(%q) = %v, jsontext says %v", in, err, want)
	}
	if IsObjectText(string(in)) != v.IsObject() {
		t.Fatalf("IsObjectText(%q) is not what Parse says", in)
	}
	if want {
		same(t, v, gjson.ParseBytes(in))
	}
}

func same(t *testing.T, v Value, want gjson.Result) {
	t.Helper()
	if raw := strings.TrimRight(want.Raw, " \t\r\n"); string(v.Raw()) != raw { // of the root gjson keeps it
		t.Fatalf("Raw = %q, gjson reads %q", v.Raw(), raw)
	}
	switch {
	case want.Type == gjson.String:
		if got := v.Str(); v.Kind() != String || got != content(want) {
			t.Fatalf("%q reads as %v %q, want %q", want.Raw, v.Kind(), got, content(want))
		}
	case want.IsArray():
		items, i := v.Items(), 0
		want.ForEach(func(_, item gjson.Result) bool {
			if i >= len(items) || i < 20 && v.At(i) != items[i] {
				t.Fatalf("element %d of %q is not what At returns", i, want.Raw)
			}
			same(t, items[i], item)
			i++
			return true
		})
		if v.Kind() != Array || len(items) != i || v.Len() != i || v.At(i).Exists() {
			t.Fatalf("%q has %d elements, want %d", want.Raw, len(items), i)
		}
	case want.IsObject():
		last, order := map[string]gjson.Result{}, []string{}
		want.ForEach(func(k, item gjson.Result) bool {
			key := content(k)
			if !utf8.ValidString(k.Raw) {
				key = k.Str // as spelled
			}
			if _, again := last[key]; !again {
				order = append(order, key)
			}
			last[key] = item
			return true
		})
		members := v.Members()
		if v.Kind() != Object || len(members) != len(order) || v.Len() != len(order) {
			t.Fatalf("%q has %d members, want %d", want.Raw, len(members), len(order))
		}
		for i, m := range members {
			if m.Key != order[i] || i < 20 && v.Get(m.Key) != m.Value {
				t.Fatalf("member %d of %q is %q, want %q", i, want.Raw, m.Key, order[i])
			}
			same(t, m.Value, last[m.Key])
		}
		if !v.HasOnly(order...) || len(order) > 0 && v.HasOnly(order[1:]...) {
			t.Fatalf("HasOnly is wrong about %q", want.Raw)
		}
	default:
		if kind := map[gjson.Type]Kind{gjson.Null: Null, gjson.True: Bool, gjson.False: Bool, gjson.Number: Number}[want.Type]; v.Kind() != kind || v.Bool() != (want.Type == gjson.True) {
			t.Fatalf("%q reads as %v", want.Raw, v.Kind())
		}
	}
}

// content is what a string says. gjson drops the character behind a lone
// surrogate, and jsontext counts bad bytes one by one: each is asked for what it
// reads well.
func content(s gjson.Result) string {
	if utf8.ValidString(s.Raw) {
		out, _ := jsontext.AppendUnquote(nil, s.Raw) // the error is about surrogates
		return string(out)
	}
	return strings.ToValidUTF8(s.Str, "\uFFFD")
}

var documents = []string{
	`{"a":[1,{"b":2}],"c":"x\"y\\z\u00e9\ud83d\ude00"}`, `"\ud800\u0041"`, `"\udc00\ud800"`, `"\ud83dx"`, "\"\xff\xfe x\"", `{"\u0061":1,"a":2}`,
	"{\"\xff\":1,\"\xfe\":2}", `[1e400,-0,0.10,-1.5E+3,01]`, `[01]`, `[1.]`, `[-]`, `{"a":1,}`, `[1,]`, `[,1]`, `{"a" :1 , "a": 2}`, ` [ ] `, `{}x`, "\x00", `tru`, `true `,
	"\"eight ch\tar\"", "\"\x1f\"", "\"\x7f\u00e9\"", `"` + strings.Repeat("seven..", 40) + `\n"`, strings.Repeat("[", 5001) + strings.Repeat("]", 5001), "[1]\x00", `"a`, `"a\`, `"\u12`, `"\x"`,
}

func TestIndexAgreesWithOtherReaders(t *testing.T) {
	for _, in := range documents {
		agrees(t, []byte(in))
	}
	rnd := rand.New(rand.NewPCG(8, 1))
	for range 30_000 {
		in := appendAny(nil, rnd, 4)
		if rnd.IntN(2) == 0 { // one fault, or none that matters
			i := rnd.IntN(len(in))
			switch rnd.IntN(3) {
			case 0:
				in[i] = pick(rnd)
			case 1:
				in = append(in[:i:i], in[i+1:]...)
			default:
				in = append(in[:i:i], append([]byte{pick(rnd)}, in[i:]...)...)
			}
		}
		agrees(t, in)
	}
}

func pick(rnd *rand.Rand) byte {
	const common = "{}[]\",:\\u0123456789abcdefEe+-.tnr \t\n\x00\x1f\x80\xc3\xa9\xff"
	return common[rnd.IntN(len(common))]
}

func appendAny(dst []byte, rnd *rand.Rand, depth int) []byte {
	blank := func() {
		if rnd.IntN(8) == 0 {
			dst = append(dst, " \t\r\n"[rnd.IntN(4)])
		}
	}
	text := func() {
		dst = append(dst, '"')
		for range rnd.IntN(24) {
			switch rnd.IntN(12) {
			case 0:
				dst = append(dst, []string{`\"`, `\\`, `\/`, `\b`, `\u00E9`, `\ud83d`, `\ude00`, `\n`}[rnd.IntN(8)]...)
			case 1:
				dst = append(dst, []string{"\u00e9", "\U0001F600", "\xff", "\xc3"}[rnd.IntN(4)]...)
			default:
				dst = append(dst, byte('a'+rnd.IntN(26)))
			}
		}
		dst = append(dst, '"')
	}
	blank()
	defer blank()
	kind := rnd.IntN(8)
	if depth == 0 {
		kind %= 4
	}
	switch {
	case kind == 0:
		return append(dst, []string{"true", "false", "null"}[rnd.IntN(3)]...)
	case kind == 1:
		return append(dst, []string{"0", "-1", "12345678901234567890", "1.50", "2e-7", "-0.0E+9"}[rnd.IntN(6)]...)
	case kind < 4:
		text()
		return dst
	}
	n := rnd.IntN(6)
	if rnd.IntN(10) == 0 {
		n *= 8 // many members are looked up in another way
	}
	opening, closing := byte('['), byte(']')
	if kind > 5 {
		opening, closing = '{', '}'
	}
	dst = append(dst, opening)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if opening == '{' {
			blank()
			if rnd.IntN(3) == 0 {
				dst = append(dst, `"k"`...)
			} else {
				text()
			}
			blank()
			dst = append(dst, ':')
		}
		dst = appendAny(dst, rnd, depth-1)
	}
	return append(dst, closing)
}

func TestParsedValuesStay(t *testing.T) {
	buffer := []byte(`{"text":"before","list":[1]}`)
	v, err := Parse(buffer)
	if err != nil {
		t.Fatal(err)
	}
	s, raw := v.Get("text").Str(), v.Get("list").Raw()
	copy(buffer, bytes.Repeat([]byte("x"), len(buffer)))
	_ = append(raw, " more"...)
	if s != "before" || string(raw) != "[1]" || v.Get("text").Str() != "before" || string(v.Raw()) != `{"text":"before","list":[1]}` {
		t.Errorf("values changed with the buffer: %q, %s, %s", s, raw, v.Raw())
	}
}

func TestReadingAllocatesForValuesOnly(t *testing.T) {
	body := []byte(`{"a":"` + strings.Repeat("long text ", 30_000) + `","b":{"c":[1,2,"plain"]},"n":7}`)
	if n := testing.AllocsPerRun(20, func() {
		v, _ := Parse(body)
		if v.Path("b", "c").At(2).Str() != "plain" || len(v.Get("a").Str()) < 100 || v.Get("b").Raw() == nil {
			t.Fatal("not read")
		}
	}); n > 4 { // the copy, the document, its nodes, open containers
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(20, func() { _ = Check(body) }); n > 1 { // open containers
		t.Errorf("Check of valid JSON allocates %v times", n)
	}
}

func FuzzIndex(f *testing.F) {
	for _, in := range documents {
		f.Add([]byte(in))
	}
	f.Fuzz(agrees)
}
