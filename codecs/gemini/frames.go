package gemini

import (
	"bytes"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// streamWays are those that streams of generateContent were seen in.
var streamWays = []string{wire.StreamWhole, wire.StreamUsageFinish, wire.StreamUsageNever, wire.StreamBreaksOff, wire.StreamErrorAfter}

// RenderStream encodes a reply as chunks, each a response with one part: texts in
// pieces, all else whole, the finish reason with the last one. shape is sse or
// json_array. Source: the wire facts on streams.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, shape string) ([][]byte, []codecs.Warning, error) {
	w, body, warnings, err := wire.StreamOf(c, r, p, l)
	if err != nil {
		return nil, nil, err
	}
	chunks := cut(w, jsonx.Of(body))
	switch {
	case w.Is(wire.StreamBreaksOff):
		chunks = chunks[:len(chunks)-1]
	case w.Is(wire.StreamErrorAfter):
		chunks[len(chunks)-1] = wire.StreamError(c, p, l)
	}
	if shape != "json_array" {
		for _, chunk := range chunks {
			w.Frames = append(w.Frames, slices.Concat([]byte("data: "), wire.OneLine(chunk), []byte("\r\n\r\n")))
		}
		return w.Frames, warnings, nil
	}
	for i, chunk := range chunks {
		frame := slices.Concat([]byte(",\r\n"), chunk)
		if i == 0 {
			frame = slices.Concat([]byte("["), chunk)
		}
		if i == len(chunks)-1 && !w.Is(wire.StreamBreaksOff) {
			frame = append(frame, "\n]"...)
		}
		w.Frames = append(w.Frames, frame)
	}
	return w.Frames, warnings, nil
}

// cut makes the chunks of a body. One without parts is a chunk alone.
func cut(w *wire.StreamWriter, v jsonx.Value) (chunks [][]byte) {
	candidate := v.Get("candidates").At(0)
	content := candidate.Get("content")
	var parts []codecs.Raw
	for _, part := range content.Get("parts").Items() {
		text, plain := part.Get("text").Text()
		for _, m := range part.Members() { // a signature stays with the whole of its text
			plain = plain && (m.Key == "text" || m.Key == "thought")
		}
		if !plain || text == "" {
			parts = append(parts, part.Raw())
			continue
		}
		for _, piece := range w.Pieces(text) {
			parts = append(parts, wire.With(part, wire.TextMember("text", piece)))
		}
	}
	usage := v.Get("usageMetadata")
	for i, part := range parts {
		own := wire.With(content, wire.RawMember("parts", jsonx.List(part)))
		if i == len(parts)-1 {
			last := wire.With(candidate, wire.RawMember("content", own))
			whole := []jsonx.Member{wire.RawMember("candidates", jsonx.List(last))}
			if w.Is(wire.StreamUsageNever) {
				whole = append(whole, wire.RawMember("usageMetadata", nil))
			}
			return append(chunks, wire.With(v, whole...))
		}
		var one jsonx.Fields
		one.Set("content", own).Set("index", candidate.Get("index").Raw())
		members := []jsonx.Member{wire.RawMember("candidates", jsonx.List(one.Raw())), wire.RawMember("usageMetadata", sofar(w, usage))}
		chunks = append(chunks, wire.With(v, members...))
	}
	return append(chunks, bytes.Clone(v.Raw()))
}

// sofar is the usage of a chunk that is not the last: the prompt is counted.
func sofar(w *wire.StreamWriter, usage jsonx.Value) codecs.Raw {
	if w.Is(wire.StreamUsageNever) || w.Is(wire.StreamUsageFinish) || !usage.IsObject() {
		return nil
	}
	var f jsonx.Fields
	n := usage.Get("promptTokenCount").Raw()
	return f.Set("promptTokenCount", n).Set("totalTokenCount", n).Raw()
}
