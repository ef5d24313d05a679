package bugreports

import (
	"bytes"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// stream reads the stream of a report, and where it asks for that, cut at every
// byte: each way must give the same.
func (k *kase) stream() []string {
	stream := k.frames()
	cuts := [][]int{nil}
	if k.report.Input["split_bytes_at_every_offset"] == true || k.report.Input["split_at_every_offset"] == true {
		for i := 1; i < len(stream); i++ {
			cuts = append(cuts, []int{i})
		}
	}
	for _, cut := range cuts {
		if diffs := match(k.report.Expected, k.streamed(stream, cut)); len(diffs) > 0 {
			return append(diffs, fmt.Sprintf("cut at %v", cut))
		}
	}
	return nil
}

func (k *kase) streamed(stream []byte, cuts []int) obj {
	reply, err := wire.DecodeStream(k.codec.(codecs.Streamer), k.profile, stream, cuts...)
	if err != nil {
		run := []any{}
		for _, c := range reply.Calls() {
			run = append(run, c.Name)
		}
		return obj{"error": err.Error(), "run": run}
	}
	got := k.reply(reply)
	msgs, _, err := k.codec.Continue(reply, nil, k.profile)
	if err != nil {
		k.t.Fatalf("continue: %v", err)
	}
	if len(msgs) > 0 {
		echo := decoded(k.t, msgs[0])
		got["echo_message"], got["echo_content"] = echo, echo
	}
	return got
}

// frames are the events of a report as its dialect sends them; a text is the
// content of chunks of one character each.
func (k *kase) frames() []byte {
	var out bytes.Buffer
	data := func(raw []byte) { fmt.Fprintf(&out, "data: %s\n\n", raw) }
	if text, ok := k.report.Input["text"].(string); ok {
		for _, r := range text {
			data(encode(k.t, obj{"choices": []any{obj{"index": 0, "delta": obj{"content": string(r)}}}}))
		}
		data([]byte(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`))
		data([]byte("[DONE]"))
		return out.Bytes()
	}
	for _, e := range k.report.Input["events"].([]any) {
		raw := encode(k.t, e)
		if name := jsonx.Of(raw).Get("type").Str(); k.codec.Dialect() == codecs.Ollama {
			fmt.Fprintf(&out, "%s\n", raw)
			continue
		} else if name != "" {
			fmt.Fprintf(&out, "event: %s\n", name)
		}
		data(raw)
	}
	return out.Bytes()
}
