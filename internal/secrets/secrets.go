// Package secrets finds and removes what must not be published in a fixture or
// a tape: API keys and tokens by their shape, known secrets in every spelling
// that a body may give them, and paths of somebody's machine.
package secrets

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Redacted stands where a secret was.
const Redacted = "REDACTED"

// A Finding is one suspicious text.
type Finding struct {
	Offset int
	What   string
}

// shape is the form of one kind of secret. The forms are those that the
// providers document for their keys; a word boundary before them keeps them out
// of the middle of base64 text.
type shape struct {
	what string
	re   *regexp.Regexp
	real func(match []byte) bool // nil: every match; prose may have the form
}

var run = regexp.MustCompile(`[A-Za-z0-9]{10,}`)

// random tells whether a match has a run of letters and digits as no word has.
func random(match []byte) bool {
	for _, r := range run.FindAll(match, -1) {
		if len(r) >= 20 || bytes.ContainsAny(r, "0123456789") && bytes.ContainsFunc(r, unicode.IsLetter) {
			return true
		}
	}
	return false
}

// mixed tells whether a match has digits, or letters of both cases inside it.
func mixed(match []byte) bool {
	_, token, _ := bytes.Cut(match, []byte(" "))
	return random(token) || bytes.ContainsAny(token, "0123456789") || bytes.ContainsFunc(token[1:], unicode.IsUpper) && bytes.ContainsFunc(token, unicode.IsLower)
}

var shapes = []shape{
	{"an API key (sk-...)", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`), random},
	{"an AWS access key id", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), nil},
	{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`), nil},
	{"a Groq API key", regexp.MustCompile(`\bgsk_[A-Za-z0-9]{20,}`), nil},
	{"an xAI API key", regexp.MustCompile(`\bxai-[A-Za-z0-9]{20,}`), nil},
	{"a Hugging Face token", regexp.MustCompile(`\bhf_[A-Za-z0-9]{20,}`), nil},
	{"a GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`), nil},
	{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}`), nil},
	{"a bearer token", regexp.MustCompile(`(?i)\bbearer +[A-Za-z0-9._~+/-]{16,}=*`), mixed},
	{"a JSON web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`), nil},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`), nil},
}

// Find lists the texts that look like a secret.
func Find(text []byte) []Finding {
	var out []Finding
	for _, s := range shapes {
		for _, at := range s.re.FindAllIndex(text, -1) {
			if s.real == nil || s.real(text[at[0]:at[1]]) {
				out = append(out, Finding{at[0], s.what})
			}
		}
	}
	return out
}

// localPath is an absolute path below a folder that only exists on the machine
// of the person who recorded or wrote the file.
var localPath = regexp.MustCompile(`(?:^|[\s"'=(,:;\[]|file://)(?:/(?:home|root|work|Users)/[A-Za-z0-9._-]|[A-Z]:(?:\\+|/)Users(?:\\+|/))`)

// FindPaths lists the local paths in a text.
func FindPaths(text []byte) []Finding {
	var out []Finding
	for _, at := range localPath.FindAllIndex(text, -1) {
		out = append(out, Finding{at[0], "a path of a local machine"})
	}
	return out
}

// RedactShapes replaces everything that Find finds.
func RedactShapes(text []byte) []byte {
	for _, s := range shapes {
		text = s.re.ReplaceAllFunc(text, func(match []byte) []byte {
			if s.real == nil || s.real(match) {
				return []byte(Redacted)
			}
			return match
		})
	}
	return text
}

// Spellings returns an expression for one known secret: literal, with any of
// its characters escaped for JSON (also JSON inside JSON) or for a URL, and in
// base64 at any alignment. An empty secret is an error, since it would match
// everywhere, and so is a very short one.
func Spellings(secret string) (*regexp.Regexp, error) {
	if len(secret) < 4 {
		return nil, fmt.Errorf("a secret of %d characters is too short to be removed without damage; want at least 4", len(secret))
	}
	var b strings.Builder
	for _, r := range secret {
		b.WriteString(`(?:\\*` + regexp.QuoteMeta(string(r)))
		if r < 0x10000 {
			fmt.Fprintf(&b, `|\\+u(?i:%04x)`, r)
		} else { // JSON has two escapes for one character beyond the basic plane
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `|\\+u(?i:%04x)\\+u(?i:%04x)`, high, low)
		}
		var percent strings.Builder
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&percent, `%%(?i:%02x)`, c)
		}
		b.WriteString("|" + percent.String())
		if r == ' ' {
			b.WriteString(`|\+`)
		}
		b.WriteString(")")
	}
	if len(secret) >= 8 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 {
				b.WriteString("|" + regexp.QuoteMeta(inBase64(encoding, secret, shift)))
			}
		}
	}
	return regexp.Compile(b.String())
}

// inBase64 is the part of the encoded secret that does not depend on what
// stands before and after it, when it starts shift bytes into a group.
func inBase64(encoding *base64.Encoding, secret string, shift int) string {
	text := encoding.EncodeToString(append(make([]byte, shift), secret...))
	from := (shift*8 + 5) / 6
	to := (shift + len(secret)) * 8 / 6
	return text[from:to]
}

// keyName tells of a name whether what it names is a key.
var keyName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth|cookie|signature`)

// KeyName tells whether a header or a variable of that name carries a key.
func KeyName(name string) bool { return keyName.MatchString(name) }

// Carried lists the secrets of a request: the values of headers and of query
// parameters that carry a key, without their scheme, and a password in the
// address.
func Carried(address string, header map[string][]string) []string {
	var out []string
	for name, values := range header {
		for _, value := range values {
			if !KeyName(name) {
				continue
			}
			if scheme, token, ok := strings.Cut(value, " "); ok && slices.Contains([]string{"bearer", "basic", "token", "key"}, strings.ToLower(scheme)) {
				value = strings.TrimSpace(token)
			}
			out = append(out, value)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return out
	}
	for name, values := range u.Query() {
		if Parameter(name) {
			out = append(out, values...)
		}
	}
	if password, ok := u.User.Password(); ok {
		out = append(out, password)
	}
	return out
}

// Parameter tells whether a query parameter, or a member of a request body,
// carries a key or a signature.
func Parameter(name string) bool {
	switch name = strings.ToLower(name); name {
	case "key", "api_key", "apikey", "api-key", "x-api-key", "access_token", "token", "auth", "sig", "signature",
		"subscription-key", "password", "secret", "client_secret":
		return true
	}
	return strings.HasPrefix(name, "x-amz-")
}

// Literals are the ways in which a text is likely to show a key, the longest
// first.
func Literals(key string) []string {
	if key == "" {
		return nil
	}
	quoted := strconv.Quote(key)
	quoted = quoted[1 : len(quoted)-1]
	out := []string{key, quoted, strings.ReplaceAll(quoted, "/", `\/`), url.QueryEscape(key), url.PathEscape(key), textproto.CanonicalMIMEHeaderKey(key), strings.ToLower(key)}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(out)
}

// Hide puts Redacted where a text shows one of keys.
func Hide(text string, keys ...string) string {
	for _, key := range keys {
		for _, literal := range Literals(key) {
			text = strings.ReplaceAll(text, literal, Redacted)
		}
	}
	return text
}

// HiddenError is an error whose text was cleaned: errors.Is finds its cause, and
// nothing shows the cause's own text.
type HiddenError struct {
	Text  string
	Cause error
}

func (e *HiddenError) Error() string { return e.Text }

// Is passes on what the cause is.
func (e *HiddenError) Is(target error) bool { return errors.Is(e.Cause, target) }
