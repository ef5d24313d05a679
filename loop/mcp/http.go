package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/texts"
)

// guard stands between the HTTP client of mcp-go and the wire. It bounds what is
// read, and turns an answer that mcp-go would drop, so that its call never ends,
// into one that says what is wrong.
type guard struct{ next http.RoundTripper }

// mostText bounds a body that only becomes the text of an error.
const mostText = 64 << 10

type idKey struct{}

// withID notes the id of the request that an HTTP exchange is for.
func withID(ctx context.Context, req transport.JSONRPCRequest) context.Context {
	return context.WithValue(ctx, idKey{}, fmt.Sprint(req.ID.Value()))
}

func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	id, _ := req.Context().Value(idKey{}).(string)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted || id == "":
	case kind == "text/event-stream":
		t, _ := req.Context().Value(tapKey{}).(*tap)
		resp.Body = &events{Closer: resp.Body, r: bufio.NewReader(resp.Body), id: id, tap: t}
		return resp, nil
	case kind == "application/json":
		body, err := readAnswer(resp.Body, id)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return resp, nil
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, mostText), resp.Body}
	return resp, nil
}

// readAnswer reads the one answer of a JSON body.
func readAnswer(body io.Reader, id string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > MaxAnswer:
		return nil, errTooLarge
	}
	m, ok := readMessage(data)
	switch {
	case m.fault != nil:
		return nil, m.fault
	case !ok || m.method != "":
		return nil, &AnswerError{"it is no JSON-RPC answer: " + texts.Bounded(data, mostShown)}
	case m.id != "" && m.id != id:
		return nil, &AnswerError{fmt.Sprintf("/id: want %s, got %s", id, texts.Bounded(m.rawID, mostShown))}
	}
	return m.answer(id), nil
}

// answer spells an answer anew, in the types that mcp-go reads.
func (m message) answer(id string) []byte {
	var f jsonx.Fields
	f.Str("jsonrpc", "2.0").Set("id", jsonx.Raw(id))
	if m.rpc == nil {
		return f.Set("result", jsonx.Raw(m.result)).Raw()
	}
	details, err := jsonx.Marshal(m.rpc)
	if err != nil {
		details = jsonx.Raw(`{"code":-32603,"message":"an error that cannot be spelled"}`)
	}
	return f.Set("error", details).Raw()
}

// events is a stream of server-sent events without what mcp-go cannot read.
type events struct {
	io.Closer
	r   *bufio.Reader
	id  string
	tap *tap // learns of an answer that cannot be read; may be nil

	meta  []byte // the lines of the event that are no data
	kind  string
	data  []byte
	ready bytes.Buffer
	err   error
}

func (e *events) Read(p []byte) (int, error) {
	for e.ready.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.next()
	}
	return e.ready.Read(p)
}

// next reads a line.
func (e *events) next() {
	line, err := readLine(e.r, MaxAnswer)
	line = bytes.TrimRight(line, "\r\n")
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "": // or a comment
		if len(line) == 0 && err == nil {
			e.flush()
		}
	case "data":
		if len(e.data) > 0 {
			e.data = append(e.data, ' ') // a line break between tokens of JSON
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
	case "event":
		e.kind = string(bytes.TrimSpace(value))
	case "id", "retry":
		e.meta = append(append(e.meta, line...), '\n')
	}
	if len(e.data)+len(e.meta) > MaxAnswer {
		err = errTooLarge
	}
	if errors.Is(err, errTooLarge) {
		e.data, e.meta = nil, nil
		e.tap.fail(errTooLarge)
	} else if err != nil {
		e.flush()
	}
	if err != nil {
		e.err = err
	}
}

// flush ends an event.
func (e *events) flush() {
	var out [][]byte
	if len(bytes.TrimSpace(e.data)) > 0 && (e.kind == "" || e.kind == "message") {
		out = e.messages(e.data)
	}
	e.ready.Write(e.meta)
	for i, m := range out {
		if i > 0 {
			e.ready.WriteByte('\n')
		}
		e.ready.WriteString("data: ")
		e.ready.Write(m)
		e.ready.WriteByte('\n')
	}
	if len(e.meta)+len(out) > 0 {
		e.ready.WriteByte('\n')
	}
	e.meta, e.kind, e.data = nil, "", nil
}

// messages is what mcp-go gets of an event.
func (e *events) messages(data []byte) [][]byte {
	data = bytes.TrimSpace(data)
	if data[0] == '[' {
		if batch, err := jsonx.Parse(data); err == nil {
			var out [][]byte
			for _, item := range batch.Items() {
				out = append(out, e.messages(item.Raw())...)
			}
			return out
		}
	}
	m, ok := readMessage(data)
	switch {
	case m.method != "":
		return [][]byte{data}
	case !ok && data[0] == '{' && m.fault == nil:
		return nil // an object of another kind, such as a sign of life
	case !ok && m.fault == nil:
		m.fault = &AnswerError{"it is no JSON-RPC message: " + texts.Bounded(data, mostShown)}
	case m.id != "" && m.id != e.id:
		return nil
	}
	if m.fault != nil {
		e.tap.fail(m.fault)
		var f jsonx.Fields
		f.Set("code", jsonx.Raw("-32700")).Str("message", m.fault.Error())
		return [][]byte{new(jsonx.Fields).Str("jsonrpc", "2.0").Set("id", jsonx.Raw(e.id)).Set("error", f.Raw()).Raw()}
	}
	return [][]byte{m.answer(e.id)}
}
