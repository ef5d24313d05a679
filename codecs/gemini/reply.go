package gemini

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Reply decodes the body of generateContent. The first candidate is the reply.
//
// A prompt that was blocked as a whole has no candidates; it gives a Reply with
// Finish blocked, the block reason as RawFinish and the provider's words as
// FinishMessage. A body with an error and no candidate gives a
// *codecs.ProviderError. A list of chunks gives a *codecs.DecodeError that wraps
// codecs.ErrStream. A functionCall of a turn that ended with MALFORMED_FUNCTION_CALL
// becomes an opaque part, so that it never runs.
func (Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := wire.ParseBody(codecs.Gemini, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if root.IsArray() {
		items := root.Items()
		if len(items) == 1 && items[0].Get("error").Defined() {
			return codecs.Reply{}, insideError(items[0], body)
		}
		return codecs.Reply{}, decodeError("", fmt.Errorf("a list of chunks: %w", codecs.ErrStream))
	}
	if !root.IsObject() {
		return codecs.Reply{}, decodeError("", fmt.Errorf("response is %s, not an object", root.Kind()))
	}
	r := codecs.Reply{
		ID: wire.Scalar(field(root, "responseId")), Model: field(root, "modelVersion").Str(),
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
	if reason := wire.Scalar(field(feedback, "blockReason")); reason != "" {
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
		if len(parts) == 0 || slices.ContainsFunc(parts, func(v jsonx.Value) bool { return field(v, "functionCall").Defined() }) {
			return codecs.Reply{}, insideError(root, r.Body)
		}
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnFinishOdd, "/error",
			"the reply has a candidate and an error: %s", readError(root).message))
	}
	rd := partReader{malformed: isMalformed(cand)}
	r.Parts = splitThink(rd.readAll(parts, "/candidates/0/content/parts"), p, &rd.Notes)
	r.Warnings = append(r.Warnings, rd.Warnings...)
	r.Unfinished = rd.unfinished

	r.RawFinish = wire.Scalar(field(cand, "finishReason"))
	r.FinishMessage = field(cand, "finishMessage").Str()
	wire.SetFinish(&r, finishes, "/candidates/0/finishReason")
	if rd.calls > 0 && r.RawFinish == "UNEXPECTED_TOOL_CALL" {
		r.Finish = codecs.FinishToolCalls
	}
	wire.Tolerated(&r, form, rd.spelled, "")
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
