package cassettes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/toolconform/conform/internal/files"
)

const httprrMagic = "httprr trace v1\n"

// parseHTTPRR reads the text form of httprr: the magic line, then for each
// exchange a line with two byte counts, the request and the response as HTTP/1.1
// wrote them.
func parseHTTPRR(file string, data []byte) ([]Exchange, error) {
	offset := len(httprrMagic)
	fault := func(format string, args ...any) error {
		return &TapeError{
			File: file, Line: 1 + bytes.Count(data[:offset], []byte("\n")),
			Text: fmt.Sprintf(format, args...), Remedy: "record the trace again",
		}
	}
	var out []Exchange
	for i := 0; offset < len(data); i++ {
		if i >= mostExchanges {
			return nil, fault("more than %d exchanges", mostExchanges)
		}
		line, _, ok := bytes.Cut(data[offset:], []byte("\n"))
		var n1, n2 int
		if _, err := fmt.Sscanf(string(line), "%d %d", &n1, &n2); !ok || err != nil || n1 < 0 || n2 < 0 {
			return nil, fault("exchange %d: want a line with two byte counts, got %.40q", i, line)
		}
		start := offset + len(line) + 1
		if n1 > len(data)-start || n2 > len(data)-start-n1 {
			return nil, fault("exchange %d: %d and %d bytes are announced, %d are left", i, n1, n2, len(data)-start)
		}
		x, err := readWire(data[start:start+n1], data[start+n1:start+n1+n2])
		if err != nil {
			return nil, fault("exchange %d: %v", i, err)
		}
		out = append(out, x)
		offset = start + n1 + n2
	}
	return out, nil
}

func readWire(request, response []byte) (Exchange, error) {
	var x Exchange
	if headSize(request) > mostHeader || headSize(response) > mostHeader {
		return x, fmt.Errorf("a head of more than %s", files.Size(mostHeader))
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return x, fmt.Errorf("the request cannot be read: %w", err)
	}
	defer req.Body.Close()
	x.Request.Method, x.Request.Header = req.Method, req.Header
	if x.Request.Body, err = io.ReadAll(req.Body); err != nil {
		return x, fmt.Errorf("the request's body cannot be read: %w", err)
	}
	if req.URL.Host == "" { // written in origin form
		req.URL.Scheme, req.URL.Host = "https", req.Host
	}
	x.Request.URL = req.URL.String()

	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(response)), req)
	if err != nil {
		return x, fmt.Errorf("the response cannot be read: %w", err)
	}
	defer resp.Body.Close()
	x.Response.Status, x.Response.Header = resp.StatusCode, resp.Header
	if x.Response.Body, err = io.ReadAll(resp.Body); err != nil {
		return x, fmt.Errorf("the response's body cannot be read: %w", err)
	}
	return x, nil
}

// headSize is the size of what stands before the body of a message.
func headSize(message []byte) int {
	n := len(message)
	for _, end := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(message[:n], []byte(end)); i >= 0 {
			n = i
		}
	}
	return n
}
