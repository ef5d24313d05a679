package hermes

import (
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RenderReply writes the turn as a model on a server without a parser does:
// thinking and calls inside the text, the finish reason stop for a turn with
// calls.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	limit := r.Finish == codecs.FinishLength
	p.ReasoningEcho = "" // a rule for requests
	text, rest, warnings := assemble(r.Parts, limit, p)
	if limit && r.Unfinished > 0 {
		text += "\n<" + callTag(p) + ">\n{\"na"
	}
	if text != "" {
		rest = append([]codecs.Part{{Kind: codecs.KindText, Text: text}}, rest...)
	}
	out := r
	out.Parts = rest
	if limit {
		out.Unfinished = 0 // the text says it
	}
	if r.RawFinish == "" && r.Finish == codecs.FinishToolCalls {
		out.RawFinish = "stop"
	}
	pointer, standard := contentAt(p)
	if standard {
		body, w, err := chat.RenderReply(out, transport(p), l)
		return body, append(warnings, w...), own(err)
	}
	if n := len(rest); n > 1 || n == 1 && rest[0].Kind != codecs.KindText {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, pointer, "this host sends text only; other parts are left out"))
	}
	finish := out.RawFinish
	if finish == "" {
		finish = "stop"
		if limit {
			finish = "length"
		}
	}
	usage := codecs.Usage{}
	if r.Usage != nil {
		usage = *r.Usage
	}
	var f jsonx.Fields
	f.Bool("success", true)
	if r.ID != "" {
		f.Str("id", r.ID)
	}
	f.Str("model", r.Model).Merge(nest(pointer, jsonx.Quote(text))).Str("finish_reason", finish)
	f.Int("prompt_length", usage.Input).Int("num_generated_tokens", usage.Output)
	body := wire.Shaped(f.Raw(), l)
	return body, append(warnings, wire.LostFinish(c, r, body, p)...), nil
}

// nest builds the value that has v at pointer.
func nest(pointer string, v codecs.Raw) codecs.Raw {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := len(tokens) - 1; i >= 0; i-- {
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i])
		if _, err := strconv.Atoi(key); err == nil && i > 0 {
			v = jsonx.List(v)
			continue
		}
		v = (&jsonx.Fields{}).Set(key, v).Raw()
	}
	return v
}
