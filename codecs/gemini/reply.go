package gemini

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

// finishes maps finishReason to the neutral reason. Every value but STOP and
// UNEXPECTED_TOOL_CALL is no normal end. The numbers are those of clients that
// ask for integer enums; from 6 on the Gemini API and Vertex count differently,
// and 6 to 8 are content filters in both.
var finishes = map[string]string{
	"STOP":       codecs.FinishStop,
	"MAX_TOKENS": codecs.FinishLength,

	"SAFETY":                   codecs.FinishContentFilter,
	"RECITATION":               codecs.FinishContentFilter,
	"LANGUAGE":                 codecs.FinishContentFilter,
	"BLOCKLIST":                codecs.FinishContentFilter,
	"PROHIBITED_CONTENT":       codecs.FinishContentFilter,
	"SPII":                     codecs.FinishContentFilter,
	"MODEL_ARMOR":              codecs.FinishContentFilter,
	"IMAGE_SAFETY":             codecs.FinishContentFilter,
	"IMAGE_PROHIBITED_CONTENT": codecs.FinishContentFilter,
	"IMAGE_RECITATION":         codecs.FinishContentFilter,

	"MALFORMED_FUNCTION_CALL": codecs.FinishMalformedCall,
	"UNEXPECTED_TOOL_CALL":    codecs.FinishMalformedCall, // with a call in the turn: tool_calls, and the loop answers it as unknown
	"TOO_MANY_TOOL_CALLS":     codecs.FinishError,
	"OTHER":                   codecs.FinishError,
	"IMAGE_OTHER":             codecs.FinishError,
	"NO_IMAGE":                codecs.FinishError,
	"CONTINUATION":            codecs.FinishPause,

	"FINISH_REASON_UNSPECIFIED": "",

	"0": "", "1": codecs.FinishStop, "2": codecs.FinishLength, "3": codecs.FinishContentFilter,
	"4": codecs.FinishContentFilter, "5": codecs.FinishError, "6": codecs.FinishContentFilter,
	"7": codecs.FinishContentFilter, "8": codecs.FinishContentFilter,
}

// Reply decodes the body of generateContent. The first candidate is the reply.
//
// A prompt that was blocked as a whole has no candidates; it gives a Reply with
// Finish blocked, the block reason as RawFinish and the provider's words as
// FinishMessage. A body with an error and no candidate gives a
// *codecs.ProviderError. A list of chunks gives a *codecs.DecodeError that wraps
// ErrStream. A functionCall of a turn that ended with MALFORMED_FUNCTION_CALL
// becomes an opaque part, so that it never runs.
func (Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := codecs.ParseBody(codecs.Gemini, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if root.IsArray() {
		items := root.Items()
		if len(items) == 1 && items[0].Get("error").Defined() {
			return codecs.Reply{}, insideError(items[0], body)
		}
		return codecs.Reply{}, decodeError("", fmt.Errorf("a list of chunks: %w", ErrStream))
	}
	if !root.IsObject() {
		return codecs.Reply{}, decodeError("", fmt.Errorf("response is %s, not an object", root.Kind()))
	}
	r := codecs.Reply{
		ID: token(field(root, "responseId")), Model: field(root, "modelVersion").Str(),
		Usage: readUsage(field(root, "usageMetadata")), Body: body,
	}
	candidates := root.Get("candidates").Items()
	if len(candidates) == 0 {
		return emptyReply(r, root, body)
	}
	if len(candidates) > 1 {
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnLossy, "/candidates/1",
			"the reply has %d candidates; only the first is read", len(candidates)))
	}
	return readCandidate(r, root, candidates[0], p)
}

// emptyReply reads a body without candidates.
func emptyReply(r codecs.Reply, root jsonx.Value, body []byte) (codecs.Reply, error) {
	feedback := field(root, "promptFeedback")
	if reason := token(field(feedback, "blockReason")); reason != "" {
		r.Finish, r.RawFinish = codecs.FinishBlocked, reason
		r.FinishMessage = field(feedback, "blockReasonMessage").Str()
		return r, nil
	}
	if root.Get("error").Defined() {
		return codecs.Reply{}, insideError(root, body)
	}
	return codecs.Reply{}, decodeError("/candidates", errors.New("response contained no candidates"))
}

func readCandidate(r codecs.Reply, root, cand jsonx.Value, p codecs.Profile) (codecs.Reply, error) {
	parts, err := candidateParts(cand)
	if err != nil {
		return codecs.Reply{}, err
	}
	if e := root.Get("error"); e.Defined() {
		if len(parts) == 0 {
			return codecs.Reply{}, insideError(root, r.Body)
		}
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnFinishOdd, "/error",
			"the reply has a candidate and an error: %s", readError(root).message))
	}
	rd := partReader{malformed: isMalformed(cand)}
	r.Parts = splitThink(rd.readAll(parts, "/candidates/0/content/parts"), codecs.ThinkTag(p))
	r.Warnings = append(r.Warnings, rd.warnings...)
	r.Unfinished = rd.unfinished

	r.RawFinish = token(field(cand, "finishReason"))
	r.FinishMessage = field(cand, "finishMessage").Str()
	codecs.SetFinish(&r, finishes, "/candidates/0/finishReason")
	if rd.calls > 0 && r.RawFinish == "UNEXPECTED_TOOL_CALL" {
		r.Finish = codecs.FinishToolCalls
	}
	r.Citations = readCitations(cand)
	return r, nil
}

func isMalformed(cand jsonx.Value) bool {
	return field(cand, "finishReason").Str() == "MALFORMED_FUNCTION_CALL"
}

// candidateParts returns the parts of a candidate; content and parts may be
// absent under any finish reason.
func candidateParts(cand jsonx.Value) ([]jsonx.Value, error) {
	if !cand.IsObject() {
		return nil, decodeError("/candidates/0", fmt.Errorf("candidate is %s, not an object", cand.Kind()))
	}
	content := cand.Get("content")
	if !content.Defined() {
		return nil, nil
	}
	if !content.IsObject() {
		return nil, decodeError("/candidates/0/content", fmt.Errorf("content is %s, not an object", content.Kind()))
	}
	parts := content.Get("parts")
	if parts.Defined() && !parts.IsArray() && !parts.IsObject() {
		return nil, decodeError("/candidates/0/content/parts", fmt.Errorf("parts is %s, not a list", parts.Kind()))
	}
	return list(parts), nil
}

func decodeError(pointer string, err error) error {
	return &codecs.DecodeError{Dialect: codecs.Gemini, Pointer: pointer, Offset: -1, Err: err}
}

// readUsage reads usageMetadata. The candidates count leaves the thinking out;
// Output counts both, as the other dialects do.
func readUsage(v jsonx.Value) *codecs.Usage {
	if !v.IsObject() {
		return nil
	}
	count := func(name string) int64 { n, _ := field(v, name).Int(); return n }
	thoughts := count("thoughtsTokenCount")
	return &codecs.Usage{
		Input: count("promptTokenCount"), Output: count("candidatesTokenCount") + thoughts,
		Cached: count("cachedContentTokenCount"), Reasoning: thoughts,
	}
}

// readCitations reads the sources that grounding and the recitation checker
// name.
func readCitations(cand jsonx.Value) []codecs.Citation {
	var out []codecs.Citation
	for _, chunk := range field(field(cand, "groundingMetadata"), "groundingChunks").Items() {
		for _, kind := range []string{"web", "retrievedContext", "maps"} {
			src := field(chunk, kind)
			if uri := src.Get("uri").Str(); uri != "" {
				out = append(out, codecs.Citation{URL: uri, Title: src.Get("title").Str()})
			}
		}
	}
	meta := field(cand, "citationMetadata")
	sources := field(meta, "citationSources")
	if !sources.Exists() {
		sources = meta.Get("citations")
	}
	for _, src := range sources.Items() {
		uri := src.Get("uri").Str()
		if uri == "" {
			continue
		}
		c := codecs.Citation{URL: uri, Title: src.Get("title").Str()}
		if n, ok := field(src, "startIndex").Int(); ok {
			c.StartIndex = &n
		}
		if n, ok := field(src, "endIndex").Int(); ok {
			c.EndIndex = &n
		}
		out = append(out, c)
	}
	return out
}

// splitThink moves thinking between tags out of the visible text, in place.
// Neighbouring texts are read as one, since a tag may open in one part and close
// in the next; a part with a signature ends such a run, and the signature stays
// on what is left of it.
func splitThink(parts []codecs.Part, tag string) []codecs.Part {
	if tag == "" {
		return parts
	}
	var out []codecs.Part
	for i := 0; i < len(parts); {
		if parts[i].Kind != codecs.Text {
			out = append(out, parts[i])
			i++
			continue
		}
		var text strings.Builder
		j := i
		for j < len(parts) && parts[j].Kind == codecs.Text {
			text.WriteString(parts[j].Text)
			j++
			if parts[j-1].Signature != "" || len(parts[j-1].Extra) > 0 {
				break
			}
		}
		segments, found := tags.SplitThink(text.String(), tag)
		if !found {
			out = append(out, parts[i:j]...)
			i = j
			continue
		}
		last := parts[j-1]
		for k, s := range segments {
			p := codecs.Part{Kind: codecs.Text, Text: s.Text}
			if s.Think {
				p.Kind = codecs.Reasoning
			}
			if k == len(segments)-1 {
				p.Signature, p.Extra = last.Signature, last.Extra
			}
			if p.Text != "" || p.Signature != "" || p.Extra != nil {
				out = append(out, p)
			}
		}
		i = j
	}
	return out
}
