package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
)

// MaxAnswer is the largest message that a server may send, in bytes: a line over
// stdio, a body or an event over HTTP, all pages of a list together. A call that
// is answered with more fails with an *AnswerError.
const MaxAnswer = 64 << 20

// An AnswerError says why what a server sent is no answer. It ends the call.
type AnswerError struct{ Text string }

func (e *AnswerError) Error() string { return "the server's answer cannot be read: " + e.Text }

var errTooLarge = &AnswerError{fmt.Sprintf("it is larger than %d MiB", MaxAnswer>>20)}

// message is one JSON-RPC message of a server.
type message struct {
	id     string // as a text; "" is none
	rawID  jsonx.Raw
	method string
	result json.RawMessage
	rpc    *mcp.JSONRPCErrorDetails
	fault  error // of an answer that cannot be read
}

// readMessage reads a message. ok is false for what was not meant as one, such as
// a line of a log.
func readMessage(raw []byte) (m message, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return m, false
	}
	v, err := jsonx.Parse(raw)
	if err != nil {
		m.id, m.fault = shallowID(raw), &AnswerError{err.Error()}
		return m, m.id != "" || bytes.Contains(raw, []byte(`"jsonrpc"`))
	}
	m.rawID = v.Get("id").Raw()
	m.id = idText(v.Get("id"))
	if v.Get("method").Exists() {
		m.method = v.Get("method").Str()
		return m, m.method != ""
	}
	switch e := v.Get("error"); {
	case e.IsObject():
		m.rpc = &mcp.JSONRPCErrorDetails{}
		if json.Unmarshal(e.Raw(), m.rpc) != nil || m.rpc.Message == "" {
			code, _ := e.Get("code").Int()
			m.rpc = &mcp.JSONRPCErrorDetails{Code: int(code), Message: e.Get("message").Str()}
			if m.rpc.Message == "" {
				m.rpc.Message = "an error without a message: " + bounded(e.Raw())
			}
		}
	case e.Defined():
		m.fault = &AnswerError{fmt.Sprintf("/error: want an object with code and message, got %s %s", e.Kind(), bounded(e.Raw()))}
	case v.Get("result").Exists():
		m.result = json.RawMessage(v.Get("result").Raw())
	case m.id == "":
		return message{}, false
	default:
		m.fault = &AnswerError{"it holds neither result nor error: " + bounded(raw)}
	}
	return m, m.id != "" || m.rpc != nil || m.fault != nil
}

func idText(v jsonx.Value) string {
	if n, ok := v.Int(); ok {
		return strconv.FormatInt(n, 10)
	}
	return v.Str()
}

func bounded(raw []byte) string {
	const most = 200
	if len(raw) <= most {
		return string(raw)
	}
	return string(bytes.ToValidUTF8(raw[:most], nil)) + fmt.Sprintf("... (%d bytes)", len(raw))
}

// shallowID finds the id of an object that is no JSON as a whole, or nests too
// deep for a parser: it looks for a member id of the outermost object.
func shallowID(b []byte) string {
	depth := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case '"':
			end := stringEnd(b, i)
			key := b[i+1 : end-1]
			i = skipSpace(b, end)
			if depth != 1 || i >= len(b) || b[i] != ':' || string(key) != "id" {
				continue
			}
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == '"' {
				end = stringEnd(b, i)
			} else if n := bytes.IndexAny(b[i:], ",}] \t\r\n"); n >= 0 {
				end = i + n
			} else {
				return ""
			}
			return idText(jsonx.Of(b[i:end]))
		default:
			i++
		}
	}
	return ""
}

// stringEnd is the index behind the string that starts at i.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return max(len(b), i+2)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// settle is how long a call whose context has ended may take to end in order.
const settle = 100 * time.Millisecond

// await runs f and returns when it ends, or soon after ctx does: nothing that a
// server does, or does not, holds a caller up. A panic of f is an error.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.err = fmt.Errorf("the tool server panicked: %v", r)
			}
			done <- o
		}()
		o.value, o.err = f()
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	late := time.NewTimer(settle)
	defer late.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-late.C:
		var none T
		return none, ctx.Err()
	}
}
