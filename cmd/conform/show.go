package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
)

// showTranscript prints what happened in a cell, for reading: each request and its
// reply, the tool calls, the end.
func showTranscript(w io.Writer, t jsonx.Value) {
	for i, x := range t.Get("exchanges").Items() {
		showExchange(w, fmt.Sprintf("Request %d", i+1), fmt.Sprintf("Reply %d", i+1), x)
	}
	for _, x := range t.Get("side").Items() {
		showExchange(w, "Side request", "Answer", x)
	}
	for _, c := range t.Get("tool_calls").Items() {
		fmt.Fprintf(w, "\nTool call  %s on %s\n%s\n", clean(c.Get("name").Str()), clean(c.Get("server").Str()), indented(c.Get("arguments").Raw()))
		if e := c.Get("error"); e.Exists() {
			fmt.Fprintf(w, "Error of the protocol: %s\n", clean(e.Str()))
		} else {
			fmt.Fprintf(w, "Result:\n%s\n", indented(c.Get("result").Raw()))
		}
	}
	if e := t.Path("end", "error"); e.Exists() {
		fmt.Fprintf(w, "\nEnd: error %s: %s\n", e.Get("kind").Str(), clean(e.Get("message").Str()))
	} else {
		fmt.Fprintf(w, "\nEnd: text %s\n", t.Path("end", "text").Raw())
	}
	fmt.Fprintln(w, "\nChecks:")
}

func showExchange(w io.Writer, request, reply string, x jsonx.Value) {
	in, out := x.Get("request"), x.Get("reply")
	fmt.Fprintf(w, "\n%s  %s %s\n", request, in.Get("method").Str(), clean(in.Get("url").Str()))
	showMessage(w, in)
	status, _ := out.Get("status").Int()
	fmt.Fprintf(w, "\n%s  status %d\n", reply, status)
	showMessage(w, out)
}

// showMessage prints the headers and the body of a request or reply.
func showMessage(w io.Writer, m jsonx.Value) {
	for _, h := range m.Get("headers").Members() {
		for _, v := range h.Value.Items() {
			fmt.Fprintf(w, "%s: %s\n", clean(h.Key), clean(v.Str()))
		}
	}
	if body := m.Get("body"); body.Exists() {
		fmt.Fprintln(w, indented(body.Raw()))
	}
	if text, ok := m.Get("body_text").Text(); ok {
		for line := range strings.Lines(text) {
			fmt.Fprintln(w, clean(strings.TrimRight(line, "\r\n")))
		}
	}
	if text, ok := m.Get("body_base64").Text(); ok {
		fmt.Fprintf(w, "(no text; in base64) %s\n", text)
	}
}
