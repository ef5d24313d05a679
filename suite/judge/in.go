package judge

import "net/url"

// In is a request as a server sees it.
type In struct {
	Method string
	Path   string
	Query  url.Values
	Header map[string][]string
	Body   []byte
}

// Answer is what a server sends.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}
