package engines

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// placeholders lists the names in braces, in order. Braces that hold anything
// but a name are plain text.
func placeholders(t string) []string {
	var out []string
	for {
		open := strings.IndexByte(t, '{')
		if open < 0 {
			return out
		}
		t = t[open+1:]
		end := strings.IndexByte(t, '}')
		if end < 0 {
			return out
		}
		if name := t[:end]; isName(name) {
			out = append(out, name)
		}
	}
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// expand replaces the placeholders of a template. Values may hold placeholders
// themselves, as a base URL does for a region; a circle is an error. escape is
// applied to every value but that of base.
func (c *Client) expand(template string, escape func(string) string) (string, error) {
	return c.expandIn(template, escape, nil)
}

func (c *Client) expandIn(template string, escape func(string) string, inside []string) (string, error) {
	var out strings.Builder
	for rest := template; ; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			out.WriteString(rest)
			return out.String(), nil
		}
		out.WriteString(rest[:open])
		rest = rest[open:]
		end := strings.IndexByte(rest, '}')
		if end < 0 || !isName(rest[1:end]) {
			out.WriteByte('{')
			rest = rest[1:]
			continue
		}
		value, err := c.value(rest[1:end], escape, inside)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		rest = rest[end+1:]
	}
}

// value returns what stands for one placeholder. The model is never a template.
func (c *Client) value(name string, escape func(string) string, inside []string) (string, error) {
	if name == "model" {
		return escape(strings.TrimPrefix(c.model(), "models/")), nil
	}
	if slices.Contains(inside, name) {
		return "", fmt.Errorf("engine %s: variable %q is defined by itself", c.Engine.Name, name)
	}
	value, err := c.variable(name)
	if err != nil {
		return "", err
	}
	deeper := append(slices.Clone(inside), name)
	if name == "base" {
		value, err = c.expandIn(value, escape, deeper)
		return strings.TrimRight(value, "/"), err
	}
	value, err = c.expandIn(value, plain, deeper)
	return escape(value), err
}

func plain(s string) string { return s }

// variable returns the value of a variable as it was given.
func (c *Client) variable(name string) (string, error) {
	if name == "base" && c.BaseURL != "" {
		return c.BaseURL, nil
	}
	if v := c.Vars[name]; v != "" {
		return v, nil
	}
	if v := c.Engine.Vars[name]; v != "" {
		return v, nil
	}
	if name == "base" {
		return "", fmt.Errorf("engine %s has no address of its own: set Client.BaseURL", c.Engine.Name)
	}
	return "", fmt.Errorf("engine %s needs the variable %q: set it in Client.Vars", c.Engine.Name, name)
}

func (c *Client) model() string {
	if c.Model != "" {
		return c.Model
	}
	return c.Engine.DefaultModel
}

// URL returns the address of a request, without a key.
func (c *Client) URL(stream bool) (string, error) {
	u, err := c.address(stream)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// Paths are the templates of the engine's request paths, without the base and
// the query: a server in the engine's place takes requests whose path ends in
// what one of them says.
func (e Engine) Paths() []string {
	var out []string
	for _, t := range []string{e.URL, e.StreamURL} {
		t, _, _ = strings.Cut(t, "?")
		if _, path, found := strings.Cut(t, "{base}"); found {
			t = path
		} else if _, rest, found := strings.Cut(t, "://"); found {
			_, path, _ := strings.Cut(rest, "/")
			t = "/" + path
		}
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func (c *Client) address(stream bool) (*url.URL, error) {
	t := c.Engine.URL
	if stream {
		if c.Engine.NoStream != "" {
			return nil, fmt.Errorf("engine %s cannot stream: %s", c.Engine.Name, c.Engine.NoStream)
		}
		if c.Engine.StreamURL != "" {
			t = c.Engine.StreamURL
		}
	}
	// A base URL that ends in the version with which the endpoint begins is what
	// people copy from the configuration of another client.
	base := strings.TrimRight(c.BaseURL, "/")
	for _, version := range []string{"/v1beta", "/v1", "/api"} {
		if rest, ok := strings.CutPrefix(t, "{base}"+version+"/"); ok && strings.HasSuffix(base, version) {
			t = "{base}/" + rest
			break
		}
	}
	text, err := c.expand(t, url.PathEscape)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// The error of url.Parse quotes the URL, which may hold a secret.
		return nil, fmt.Errorf("engine %s: the address made from %s is no http or https URL with a host: check the base URL", c.Engine.Name, t)
	}
	q := u.Query()
	for k, v := range c.Engine.Query {
		if v, err = c.expand(v, plain); err != nil {
			return nil, err
		}
		q.Set(k, v)
	}
	for k, v := range c.Query {
		q.Set(k, v)
	}
	u.RawQuery = q.Encode()
	return u, nil
}
