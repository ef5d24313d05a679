package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/texts"
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
				m.rpc.Message = "an error without a message: " + texts.Bounded(e.Raw(), mostShown)
			}
		}
	case e.Defined():
		m.fault = &AnswerError{fmt.Sprintf("/error: want an object with code and message, got %s %s", e.Kind(), texts.Bounded(e.Raw(), mostShown))}
	case v.Get("result").Exists():
		m.result = json.RawMessage(v.Get("result").Raw())
	case m.id == "":
		return message{}, false
	default:
		m.fault = &AnswerError{"it holds neither result nor error: " + texts.Bounded(raw, mostShown)}
	}
	return m, m.id != "" || m.rpc != nil || m.fault != nil
}

func idText(v jsonx.Value) string {
	if n, ok := v.Int(); ok {
		return strconv.FormatInt(n, 10)
	}
	return v.Str()
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

// mostShown keeps an error readable when an answer is large, in bytes.
const mostShown = 200

// settle is how long a call whose context has ended may take to end in order.
const settle = 100 * time.Millisecond
