package cassettes

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/toolconform/conform/internal/files"
)

// parseVCR reads the YAML of go-vcr. All its versions agree on the few fields
// that are needed; what else a version writes is passed over.
func parseVCR(file string, data []byte) ([]Exchange, error) {
	r := vcrReader{file}
	if len(data) > MostYAML {
		return nil, &TapeError{File: file, Text: "is larger than " + files.Size(MostYAML), Remedy: "split it, or keep it as an httprr trace"}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, &TapeError{File: file, Text: "is UTF-16", Remedy: "write it as UTF-8"} // where the marks are not counted
	}
	if n := nodesAtMost(data); n > mostNodes {
		return nil, &TapeError{
			File: file, Text: fmt.Sprintf("may hold %d nodes (lines, list items, commas and brackets); at most %d are read", n, mostNodes),
			Remedy: "split it, or write its bodies as !!binary",
		}
	}
	var doc, next yaml.Node
	reader := yaml.NewDecoder(bytes.NewReader(data))
	if err := reader.Decode(&doc); err != nil && err != io.EOF {
		return nil, &TapeError{File: file, Text: "is no YAML: " + err.Error(), Remedy: "want a go-vcr tape or an httprr trace", Err: err}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, &TapeError{File: file, Text: "is empty", Remedy: "record it again"}
	}
	if err := reader.Decode(&next); err != io.EOF {
		return nil, &TapeError{File: file, Text: "goes on behind the end of its document", Remedy: "keep one tape a file"}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, r.fault(root, "is no tape: want a mapping with interactions", "want a go-vcr tape or an httprr trace")
	}
	if field(root, "http_interactions") != nil {
		return nil, r.fault(root, "is a tape of Ruby's VCR", "convert it to go-vcr's form")
	}
	if v := field(root, "version"); v != nil && v.Value != "1" && v.Value != "2" {
		return nil, r.fault(v, fmt.Sprintf("has version %q", v.Value), "versions 1 and 2 are known")
	}
	list := field(root, "interactions")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, r.fault(root, "has no list of interactions", "want a go-vcr tape or an httprr trace")
	}
	if n := len(list.Content); n > mostExchanges {
		return nil, r.fault(list, fmt.Sprintf("has %d interactions; at most %d are read", n, mostExchanges), "split the tape")
	}
	var out []Exchange
	for i, node := range list.Content {
		x, err := r.exchange(node)
		if err != nil {
			var te *TapeError
			if errors.As(err, &te) {
				te.Text = fmt.Sprintf("interaction %d: %s", i, te.Text)
			}
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

type vcrReader struct{ file string }

func (r vcrReader) fault(n *yaml.Node, text, remedy string) error {
	return &TapeError{File: r.file, Line: n.Line, Text: text, Remedy: remedy}
}

func (r vcrReader) exchange(n *yaml.Node) (Exchange, error) {
	var x Exchange
	request, response := field(n, "request"), field(n, "response")
	if request == nil || response == nil {
		return x, r.fault(n, "has no request or no response", "record the tape again")
	}
	if field(request, "uri") != nil {
		return x, r.fault(request, "is of vcrpy", "convert the tape to go-vcr's form")
	}
	var err error
	if x.Request.Method, err = r.text(request, "method"); err != nil {
		return x, err
	}
	if x.Request.URL, err = r.text(request, "url"); err != nil {
		return x, err
	}
	if x.Request.Method == "" || x.Request.URL == "" {
		return x, r.fault(request, "the request has no method or no url", "record the tape again")
	}
	if x.Request.Body, err = r.body(request); err != nil {
		return x, err
	}
	if x.Request.Header, err = r.header(request); err != nil {
		return x, err
	}
	if x.Response.Body, err = r.body(response); err != nil {
		return x, err
	}
	if x.Response.Header, err = r.header(response); err != nil {
		return x, err
	}
	code := field(response, "code")
	if code == nil {
		return x, r.fault(response, "the response has no code", "record the tape again")
	}
	x.Response.Status, err = strconv.Atoi(code.Value)
	if err != nil || x.Response.Status < 100 || x.Response.Status > 999 {
		return x, r.fault(code, fmt.Sprintf("code %q is no HTTP status", code.Value), "record the tape again")
	}
	return x, nil
}

func (r vcrReader) text(n *yaml.Node, key string) (string, error) {
	b, err := r.scalar(field(n, key))
	return string(b), err
}

func (r vcrReader) body(n *yaml.Node) ([]byte, error) { return r.scalar(field(n, "body")) }

// scalar is the content of a node: nothing for an absent or null one, bytes for
// a !!binary one.
func (r vcrReader) scalar(n *yaml.Node) ([]byte, error) {
	switch {
	case n == nil:
		return nil, nil
	case n.Kind != yaml.ScalarNode:
		return nil, r.fault(n, "want a text, got a list, a mapping or an alias", "the tape was edited or is of another tool")
	case n.ShortTag() == "!!null":
		return nil, nil
	case n.ShortTag() == "!!binary":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			return nil, r.fault(n, "!!binary is no base64: "+err.Error(), "record the tape again")
		}
		return b, nil
	}
	return []byte(n.Value), nil
}

func (r vcrReader) header(n *yaml.Node) (http.Header, error) {
	h := http.Header{}
	m := field(n, "headers")
	if m == nil || m.ShortTag() == "!!null" {
		return h, nil
	}
	if m.Kind != yaml.MappingNode {
		return nil, r.fault(m, "headers are no mapping", "record the tape again")
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i].Value, m.Content[i+1]
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
			h[key] = []string{}
		}
		for _, v := range values {
			text, err := r.scalar(v)
			if err != nil {
				return nil, err
			}
			h[key] = append(h[key], string(text))
		}
	}
	return h, nil
}

// field is the value of a key of a mapping, nil when there is none.
func field(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
