package wire_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

func TestErrorAnswer(t *testing.T) {
	for delay, want := range map[string]string{
		"": "", "7": "7", "7s": "7", "1.5s": "2", "-1": "", "NaN": "", "1e300": "",
		"Wed, 21 Oct 2026 07:28:00 GMT": "Wed, 21 Oct 2026 07:28:00 GMT", "x\r\nSet-Cookie: a": "xSet-Cookie: a",
	} {
		got := wire.ErrorAnswer(&codecs.ProviderError{RetryAfter: delay}, 429, codecs.Raw("{}"))
		if h := wire.HeaderValue(got.Header, "retry-after"); h != want || got.Status != 429 {
			t.Errorf("delay %q: Retry-After %q, want %q", delay, h, want)
		}
	}
}
