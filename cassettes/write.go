package cassettes

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write writes a tape in go-vcr's version 2 form, which version 1 to 4 of
// go-vcr load. The same tape gives the same bytes.
func Write(w io.Writer, t Tape) error {
	var b strings.Builder
	b.WriteString("---\nversion: 2\ninteractions:")
	if len(t.Exchanges) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for i, x := range t.Exchanges {
		host := ""
		if u, err := url.Parse(x.Request.URL); err == nil {
			host = u.Host
		}
		fmt.Fprintf(&b, "  - id: %d\n    request:\n", i)
		writeProto(&b)
		fmt.Fprintf(&b, "      content_length: %d\n      host: %s\n      remote_addr: \"\"\n      request_uri: \"\"\n", len(x.Request.Body), quoted(host))
		b.WriteString("      form: {}\n")
		writeHeader(&b, x.Request.Header)
		fmt.Fprintf(&b, "      method: %s\n      url: %s\n      body: ", scalar(x.Request.Method), scalar(x.Request.URL))
		writeBody(&b, x.Request.Body)

		b.WriteString("    response:\n")
		writeProto(&b)
		fmt.Fprintf(&b, "      content_length: %d\n      uncompressed: false\n", len(x.Response.Body))
		writeHeader(&b, x.Response.Header)
		status := strings.TrimSpace(strconv.Itoa(x.Response.Status) + " " + http.StatusText(x.Response.Status))
		fmt.Fprintf(&b, "      status: %s\n      code: %d\n      duration: 0s\n      body: ", quoted(status), x.Response.Status)
		writeBody(&b, x.Response.Body)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeProto(b *strings.Builder) {
	b.WriteString("      proto: HTTP/1.1\n      proto_major: 1\n      proto_minor: 1\n      transfer_encoding: []\n      trailer: {}\n")
}

func writeHeader(b *strings.Builder, h http.Header) {
	if len(h) == 0 {
		b.WriteString("      headers: {}\n")
		return
	}
	b.WriteString("      headers:\n")
	for _, key := range slices.Sorted(maps.Keys(h)) {
		values := make([]string, len(h[key]))
		for i, v := range h[key] {
			values[i] = scalar(v)
		}
		fmt.Fprintf(b, "        %s: [%s]\n", quoted(key), strings.Join(values, ", "))
	}
}

const bodyIndent = "        "

// writeBody writes a body so that people can read it: as a block of text where
// YAML keeps every byte of it, else quoted, else in base64.
func writeBody(b *strings.Builder, body []byte) {
	text := string(body)
	switch {
	case text == "":
		b.WriteString("\"\"\n")
	case !utf8.ValidString(text) || !blockSafe(text):
		b.WriteString(scalar(text) + "\n")
	default:
		content := strings.TrimRight(text, "\n")
		header := "|"
		if strings.ContainsRune(" \t\n", rune(content[0])) {
			header += "2" // the first line does not show the indentation
		}
		switch len(text) - len(content) {
		case 0:
			header += "-"
		case 1:
		default:
			header += "+"
		}
		b.WriteString(header + "\n")
		for _, line := range strings.SplitAfter(text, "\n") {
			if line != "\n" && line != "" {
				b.WriteString(bodyIndent)
			}
			b.WriteString(line)
		}
		if !strings.HasSuffix(text, "\n") {
			b.WriteString("\n")
		}
	}
}

// blockSafe tells whether a block scalar carries the text unchanged. Every
// generation of go-vcr brings its own YAML reader; what any of them takes for a
// line break or refuses is left to the quoted form.
func blockSafe(text string) bool {
	if strings.Trim(text, "\n") == "" {
		return false
	}
	for _, line := range strings.Split(text, "\n") {
		if line != "" && strings.Trim(line, " \t") == "" {
			return false // a line of blanks alone may be taken for an empty one
		}
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	return true
}

func printable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xfffe && r <= 0xffff:
		return false
	}
	return r != utf8.RuneError
}

// scalar spells any bytes on one line: quoted, or in base64 where they are no
// UTF-8.
func scalar(s string) string {
	if !utf8.ValidString(s) {
		return "!!binary " + quoted(base64.StdEncoding.EncodeToString([]byte(s)))
	}
	return quoted(s)
}

// quoted spells a double-quoted scalar.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		case !printable(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
