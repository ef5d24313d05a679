package all_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
)

// TestMatchSeesTheMethod: a chat request is a POST; a reader who does not know
// the method says "".
func TestMatchSeesTheMethod(t *testing.T) {
	for _, c := range all.Codecs() {
		for _, stream := range []bool{false, true} {
			in := codecs.Post("/v1"+c.Endpoint("m", stream), nil)
			for method, want := range map[string]bool{"POST": true, "post": true, "": true, "GET": false, "DELETE": false, "OPTIONS": false} {
				in.Method = method
				if _, _, ok := c.Match(in); ok != want {
					t.Errorf("%s: %q %s is a chat request: %v, want %v", c.Dialect(), method, in.Path, ok, want)
				}
			}
		}
	}
}

func TestPost(t *testing.T) {
	in := codecs.Post("/v1beta/models/a%3Fb:streamGenerateContent?alt=sse&x#f", []byte("{}"))
	if in.Path != "/v1beta/models/a%3Fb:streamGenerateContent" || in.Query.Get("alt") != "sse" || !in.Query.Has("x") || in.Method != "POST" || string(in.Body) != "{}" {
		t.Errorf("%+v", in)
	}
}
