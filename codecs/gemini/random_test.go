package gemini

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/laws"
	"github.com/toolconform/conform/internal/wire"
)

// equalRaw compares raw JSON as JSON.
func equalRaw() cmp.Option {
	filled := func(a, b codecs.Raw) bool { return len(a)+len(b) > 0 } // two empty ones are EquateEmpty's
	return cmp.FilterValues(filled, cmp.Comparer(func(a, b codecs.Raw) bool { return jsonx.Equal(a, b) }))
}

// world makes random neutral values that this dialect can carry.
type world struct{ *rand.Rand }

func (w world) word() string {
	words := []string{"quay", "ebb & flow", "lamp \"3\"", "Föhr\n", "", "buoy", "<b>", "潮"}
	return words[w.IntN(len(words))]
}

func (w world) signature() string {
	if w.IntN(2) == 0 {
		return ""
	}
	return []string{"c2ln", "skip_thought_signature_validator", "-_-"}[w.IntN(3)]
}

func (w world) call(pos int) *codecs.ToolCall {
	c := &codecs.ToolCall{Pos: pos, Name: fmt.Sprintf("tool_%d", w.IntN(3)), Signature: w.signature(), Arguments: codecs.Raw("{}")}
	if w.IntN(2) == 0 {
		c.ID = fmt.Sprintf("id-%d", pos)
	}
	args := []string{"", "{}", `{"n":1.50,"b":12345678901234567890}`, `{ "a" : [1, "x"] }`}[w.IntN(4)]
	if args != "" {
		c.ArgumentsText, c.Arguments = args, codecs.Raw(args)
	}
	return c
}

func (w world) modelParts() []codecs.Part {
	var out []codecs.Part
	calls := 0
	for range 1 + w.IntN(5) {
		switch w.IntN(6) {
		case 0:
			out = append(out, codecs.Part{Kind: codecs.KindReasoning, Text: w.word() + ".", Signature: w.signature()})
		case 1, 2:
			out = append(out, codecs.Part{Kind: codecs.KindCall, Call: w.call(calls)})
			calls++
		case 3:
			out = append(out, codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "image/png", Data: "iVBORw0KGgo="}, Signature: w.signature()})
		case 4:
			out = append(out, codecs.Part{Kind: codecs.KindServer, Type: "executableCode", ID: "e1", Extra: codecs.Raw(`{"executableCode":{"id":"e1","code":"1"}}`)})
		default:
			out = append(out, codecs.Part{Kind: codecs.KindText, Text: w.word() + ".", Signature: w.signature()})
		}
	}
	return out
}

func (w world) block() codecs.Raw {
	data := base64.StdEncoding.EncodeToString([]byte("payload " + w.word()))
	return codecs.Raw([]string{
		string(codecs.TextBlock("line " + w.word())),
		`{"type":"image","data":"` + data + `","mimeType":"image/png"}`,
		`{"type":"image","data":"` + data + `","mimeType":"image/gif"}`,
		`{"type":"image","data":"` + data + `","mimeType":"image/bmp"}`,
		`{"type":"audio","data":"` + data + `","mimeType":"audio/wav"}`,
		`{"type":"resource","resource":{"uri":"file:///l.pdf","mimeType":"application/pdf","blob":"` + data + `"}}`,
		`{"type":"resource","resource":{"uri":"file:///l.zip","mimeType":"application/zip","blob":"` + data + `"}}`,
		`{"type":"resource_link","name":"chart","uri":"file:///chart"}`,
		`{"type":"foghorn"}`,
		`{"type":"search_result","title":"Ebb","source":"https://e.example","content":[{"type":"text","text":"low"}]}`,
		`"bare"`,
	}[w.IntN(11)])
}

// Law 9: RenderReply then Reply loses nothing.
func TestRenderedReplyReadsTheSame(t *testing.T) {
	finishes := []string{"", codecs.FinishStop, codecs.FinishLength, codecs.FinishContentFilter, codecs.FinishPause, codecs.FinishError}
	for seed := range uint64(400) {
		w := world{rand.New(rand.NewPCG(seed, 1))}
		r := codecs.Reply{
			Parts: w.modelParts(), Finish: finishes[w.IntN(len(finishes))],
			Usage: &codecs.Usage{Input: int64(w.IntN(99)), Output: 40, Reasoning: int64(w.IntN(40)), Cached: int64(w.IntN(9))},
		}
		if len(r.Calls()) > 0 && r.Finish == codecs.FinishStop {
			r.Finish = codecs.FinishToolCalls
		}
		if w.IntN(4) == 0 {
			for i := range r.Parts {
				if c := r.Parts[i].Call; c != nil {
					c.ArgumentsText, c.Arguments, c.ArgumentsErr = "[1]", nil, "not a JSON object"
				}
			}
		}
		laws.RoundTrip(t, dialect, r, codecs.Profile{})
		body, _, err := Codec{}.RenderReply(r, codecs.Profile{}, codecs.Likeness{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Codec{}.Reply(body, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		laws.Echo(t, dialect, back, codecs.Profile{})
	}
}

// Laws 6 and 9: Request is deterministic, and ParseRequest gets everything back.
func TestRequestParsesBack(t *testing.T) {
	for seed := range uint64(400) {
		w := world{rand.New(rand.NewPCG(seed, 2))}
		in := codecs.Request{
			Model: "m", MaxTokens: w.IntN(3) * 100,
			Messages: []codecs.Message{
				{Role: "system", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "Be brief."}}},
				{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: w.word() + "?"}, {Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "application/pdf", Data: "JVBERi0=", Name: "log"}}}},
				{Role: "assistant", Parts: w.modelParts()},
			},
			Tools:       []codecs.Tool{{Name: "tool_0", Description: w.word(), InputSchema: codecs.Raw(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}},
			ServerTools: []codecs.Raw{codecs.Raw(`{"codeExecution":{}}`)},
			Choice:      []codecs.Choice{{}, {Mode: "auto"}, {Mode: "any"}, {Mode: "none"}, {Mode: "tool", Name: "tool_0"}}[w.IntN(5)],
			Extra:       codecs.Raw(`{"generationConfig":{"temperature":0.10},"labels":{"a":"b"}}`),
		}
		var results []codecs.Part
		for _, p := range in.Messages[2].Parts {
			if c := p.Call; c != nil {
				results = append(results, codecs.Part{Kind: codecs.KindResult, Result: &codecs.ToolResult{Pos: &c.Pos, ID: c.ID, Name: c.Name, Content: []codecs.Raw{codecs.TextBlock("r" + w.word())}}})
			}
		}
		if results != nil {
			in.Messages = append(in.Messages, codecs.Message{Role: "tool", Parts: results})
		}
		named := codecs.Profile{DisplayName: true} // Vertex takes the names of media
		body, ws, err := Codec{}.Request(in, named)
		if err != nil || len(ws) > 0 {
			t.Fatal(seed, err, ws)
		}
		if again, _, _ := (Codec{}).Request(in, named); !bytes.Equal(body, again) {
			t.Fatal("two encodings differ")
		}
		out, ws, err := Codec{}.ParseRequest(codecs.Post(Codec{}.Endpoint("m", false), body), codecs.Profile{})
		if err != nil || len(ws) > 0 {
			t.Fatal(seed, err, ws)
		}
		if diff := cmp.Diff(in, out, cmpopts.EquateEmpty(), equalRaw(), cmpopts.IgnoreFields(codecs.Tool{}, "Raw")); diff != "" {
			t.Fatalf("seed %d (-in +out):\n%s\n%s", seed, diff, body)
		}
	}
}

// Law 7: each block of a result arrives in native form or as a placeholder that
// says something, and base64 never stands in a text.
func TestResultBlocksArrive(t *testing.T) {
	body := []byte(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"survey"}}]},"finishReason":"STOP"}]}`)
	r, err := Codec{}.Reply(body, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(600) {
		w := world{rand.New(rand.NewPCG(seed, 3))}
		modes := []string{"", codecs.MediaNative, codecs.MediaPlaceholder, codecs.MediaFollowUp}
		p := codecs.Profile{ResultImages: modes[w.IntN(4)], ResultPDF: modes[w.IntN(4)]}
		res := codecs.ToolResult{Name: "survey"}
		for range 1 + w.IntN(4) {
			res.Content = append(res.Content, w.block())
		}
		if w.IntN(3) == 0 {
			res.Structured = codecs.Raw(`{"result":"taken"}`)
		}
		msgs, _, err := Codec{}.Continue(r, []codecs.ToolResult{res}, p)
		if err != nil {
			t.Fatal(err)
		}
		var texts, payloads []string
		collect(jsonx.Of(jsonx.List(msgs[1:]...)), "", &texts, &payloads)
		all := strings.Join(texts, "\n")
		for _, it := range wire.ReadItems(res.Content) {
			text := it.Kind == wire.ItemText
			switch {
			case text && res.Structured != nil:
			case it.Kind == wire.ItemBlob && slices.Contains(payloads, it.Data):
			case it.String() == "" || !strings.Contains(all, it.String()):
				t.Fatalf("seed %d: %s is nowhere in %s", seed, it.String(), msgs[1:])
			}
			if it.Data != "" && strings.Contains(all, it.Data) {
				t.Fatalf("seed %d: base64 in a text: %s", seed, all)
			}
		}
	}
}

// collect gathers the strings of a document, those under the key data apart.
func collect(v jsonx.Value, key string, texts, payloads *[]string) {
	for _, item := range v.Items() {
		collect(item, key, texts, payloads)
	}
	for _, m := range v.Members() {
		collect(m.Value, m.Key, texts, payloads)
	}
	if s, ok := v.Text(); ok && key == "data" {
		*payloads = append(*payloads, s)
	} else if ok {
		*texts = append(*texts, s)
	}
}
