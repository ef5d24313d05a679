package openai

import (
	"testing"
)

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
