package wire

import (
	"testing"

	"github.com/toolconform/conform/codecs"
)

// RN09 and spec 1.4, PDF filename.
func TestPDFName(t *testing.T) {
	for uri, want := range map[string]string{
		"":                                "document.pdf",
		"file:///log/pier%201.pdf":        "pier 1.pdf",
		"file:///a/tides.PDF?v=1#p2":      "tides.PDF",
		"file:///a/tides":                 "tides.pdf",
		"file:///h%C3%A4fen.pdf":          "häfen.pdf",
		"file:///50%.pdf":                 "50%.pdf",
		"https://tides.example/report#p2": "report.pdf",
		"https://tides.example":           "document.pdf",
		"https://tides.example/a/":        "document.pdf",
		"urn:isbn:1":                      "document.pdf",
		"data:application/pdf;base64,AA":  "document.pdf",
		"foo:bar/baz.pdf":                 "document.pdf",
		"report":                          "report.pdf",
		"logs/report.pdf":                 "report.pdf",
	} {
		if got := PDFName(uri); got != want {
			t.Errorf("PDFName(%q) = %q, want %q", uri, got, want)
		}
	}
}

func TestDataURI(t *testing.T) {
	if got := DataURI("image/png", " QU\nJD\t"); got != "data:image/png;base64,QUJD" {
		t.Errorf("DataURI gives %q", got)
	}
	for _, c := range []struct {
		in, mime, data string
		ok             bool
	}{
		{"data:image/png;base64,QQ==", "image/png", "QQ==", true},
		{"data:;base64,", "", "", true},
		{"data:text/plain,ebb", "", "", false},
		{"https://t.example/a;base64,QQ", "", "", false},
		{"data:image/png;base64", "", "", false},
	} {
		if mime, data, ok := SplitDataURI(c.in); mime != c.mime || data != c.data || ok != c.ok {
			t.Errorf("SplitDataURI(%q) = %q, %q, %v", c.in, mime, data, ok)
		}
	}
}

func TestLinkMIME(t *testing.T) {
	for uri, want := range map[string]string{
		"https://t.example/a.JPG?w=1": "image/jpeg", "https://t.example/a.pdf#p2": PDFMIME, "https://t.example/a": "",
		"https://t.example.png": "", "data:text/plain,a.png": "", "a.webp": "image/webp",
	} {
		if got := LinkMIME(uri); got != want {
			t.Errorf("LinkMIME(%q) = %q, want %q", uri, got, want)
		}
	}
}

// SV14: parameters that only track do not make another source.
func TestCitations(t *testing.T) {
	var s Citations
	for _, c := range []codecs.Citation{
		{URL: "https://t.example/a?utm_source=x"},
		{URL: "https://t.example/a", Title: "Ebb"},
		{URL: "https://t.example/a?utm_medium=y", Title: "Flood"},
		{URL: "https://t.example/a?b=utm_1&utm_source=x"},
		{URL: "https://t.example/a?b=utm_1"},
		{URL: "https://t.example/a#x"},
		{URL: "::no url"},
		{Title: "Ebb"},
		{Title: "Ebb"},
		{},
	} {
		s.Add(c)
	}
	want := []codecs.Citation{
		{URL: "https://t.example/a?utm_source=x", Title: "Ebb"},
		{URL: "https://t.example/a?b=utm_1&utm_source=x"},
		{URL: "https://t.example/a#x"},
		{URL: "::no url"},
		{Title: "Ebb"},
	}
	if len(s.List) != len(want) {
		t.Fatalf("%d sources: %+v", len(s.List), s.List)
	}
	for i := range want {
		if s.List[i].URL != want[i].URL || s.List[i].Title != want[i].Title {
			t.Errorf("source %d is %+v, want %+v", i, s.List[i], want[i])
		}
	}
}
