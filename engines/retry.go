package engines

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
)

// retry tells whether an answer, or its absence, is worth another try and how
// long to wait before it.
func (c *Client) retry(try int, resp *loop.Response, refusal []byte, err error) (time.Duration, bool) {
	most := c.MaxRetries
	if most == 0 {
		most = 2
	}
	if try >= most {
		return 0, false
	}
	limit := c.MaxWait
	if limit <= 0 {
		limit = time.Minute
	}
	wait := time.Second << min(try, 6)
	if err != nil {
		return min(wait, limit), reset(err)
	}
	status, header := resp.Status, resp.Header
	if status < 400 {
		return 0, false
	}
	again := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == 529
	after := wire.HeaderValue(header, "Retry-After")
	if c.Codec != nil {
		pe := c.Codec.Error(status, header, refusal)
		switch pe.Kind {
		case codecs.ErrOverload:
			again = true
		case codecs.ErrRate:
		default:
			again = false // a quota that is used up, or a refusal in the clothes of a 429
		}
		if after == "" {
			after = pe.RetryAfter
		}
	}
	if d, ok := parseAfter(after); ok {
		wait = d
	}
	return min(wait, limit), again
}

// parseAfter reads a Retry-After value: seconds, a duration with a unit (the
// body form of some providers) or an HTTP date.
func parseAfter(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return between(n)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return between(d.Seconds())
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(t)), true
	}
	return 0, false
}

// between bounds seconds, so that no figure overflows a Duration.
func between(seconds float64) (time.Duration, bool) {
	if !(seconds >= 0) {
		return 0, false
	}
	return time.Duration(min(seconds, 86400) * float64(time.Second)), true
}

// sleep pauses before a retry.
func (x *exchange) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-x.ctx.Done():
		return x.ctx.Err()
	case <-t.C:
		return nil
	}
}
