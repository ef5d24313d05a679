package openai

import "testing"

// RN09 and spec 1.4, PDF filename.
func TestPDFName(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///log/pier%201.pdf":        "pier 1.pdf",
		"https://tides.example/a/b.PDF?x": "b.PDF",
		"https://tides.example/report#p2": "report.pdf",
		"https://tides.example":           "document.pdf",
		"https://tides.example/":          "document.pdf",
		"report":                          "report.pdf",
		"logs/report.pdf":                 "report.pdf",
		"urn:isbn:1":                      "document.pdf",
		"data:application/pdf;base64,AA":  "document.pdf",
		"foo:bar/baz.pdf":                 "document.pdf",
		"":                                "document.pdf",
	} {
		if got := pdfName(uri); got != want {
			t.Errorf("pdfName(%q) = %q, want %q", uri, got, want)
		}
	}
}

func TestMediaOf(t *testing.T) {
	for _, c := range []struct{ in, mime, uri, data string }{
		{"data:image/png;base64,QQ==", "image/png", "", "QQ=="},
		{"data:;base64,QQ==", "image/*", "", "QQ=="},
		{"https://tides.example/a.JPG?w=1", "image/jpeg", "https://tides.example/a.JPG?w=1", ""},
		{"https://tides.example/a", "image/*", "https://tides.example/a", ""},
		{"data:text/plain,ebb", "image/*", "data:text/plain,ebb", ""},
	} {
		if m := mediaOf(c.in, "image/*"); m.MIME != c.mime || m.URI != c.uri || m.Data != c.data {
			t.Errorf("mediaOf(%q) = %+v", c.in, m)
		}
	}
}

// SV14: parameters that only track do not make another source.
func TestDedupKey(t *testing.T) {
	for in, want := range map[string]string{
		"https://t.example/a?utm_source=x&b=1": "https://t.example/a?b=1",
		"https://t.example/a?utm_source=x":     "https://t.example/a",
		"https://t.example/a?b=utm_1":          "https://t.example/a?b=utm_1",
		"::no url":                             "::no url",
	} {
		if got := dedupKey(in); got != want {
			t.Errorf("dedupKey(%q) = %q, want %q", in, got, want)
		}
	}
}
