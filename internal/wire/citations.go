package wire

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Citations collects the sources that a reply names, each once. Two addresses
// that differ in utm_ parameters only are one source; a source without an
// address counts by its title. Source: row SV14 of the source documents.
type Citations struct {
	List []codecs.Citation
	seen map[string]int
}

// Add adds a source. One that is there already gives its title where the first
// has none; one with neither address nor title is nothing.
func (s *Citations) Add(c codecs.Citation) {
	key := "url " + withoutUTM(c.URL)
	if c.URL == "" {
		key = "title " + c.Title
	}
	if at, ok := s.seen[key]; ok {
		if s.List[at].Title == "" {
			s.List[at].Title = c.Title
		}
		return
	}
	if c.URL == "" && c.Title == "" {
		return
	}
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	s.seen[key] = len(s.List)
	s.List = append(s.List, c)
}

// AddAnnotations adds the url_citation annotations of a list, in the nested form
// of chat completions and in the flat one of Responses.
func (s *Citations) AddAnnotations(annotations jsonx.Value) {
	for _, a := range annotations.Items() {
		if a.Get("type").Str() != "url_citation" {
			continue
		}
		src := a.Get("url_citation")
		if !src.IsObject() {
			src = a
		}
		c := codecs.Citation{URL: src.Get("url").Str(), Title: src.Get("title").Str()}
		if n, ok := src.Get("start_index").Int(); ok {
			c.StartIndex = &n
		}
		if n, ok := src.Get("end_index").Int(); ok {
			c.EndIndex = &n
		}
		if c.URL != "" {
			s.Add(c)
		}
	}
}

// withoutUTM is an URL without its utm_ query parameters, for comparing.
func withoutUTM(u string) string {
	base, fragment, _ := strings.Cut(u, "#")
	base, query, _ := strings.Cut(base, "?")
	var kept []string
	for _, param := range strings.Split(query, "&") {
		if !strings.HasPrefix(param, "utm_") && param != "" {
			kept = append(kept, param)
		}
	}
	if len(kept) > 0 {
		base += "?" + strings.Join(kept, "&")
	}
	return base + "#" + fragment
}
