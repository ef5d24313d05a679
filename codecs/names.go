package codecs

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// NameRule is what a wire takes as the name of a tool. The zero rule takes any.
type NameRule struct {
	Max    int    // bytes: the smallest limit that a host of the dialect enforces
	Other  string // allowed beside ASCII letters and digits
	Letter bool   // the first character is a letter or _
}

// Rename gives tools whose names the wire refuses a name that it takes. An MCP
// server may name a tool as it likes. Names that fit stay; a made name depends
// on the name alone unless another tool has it, so the same tools get the same
// names in every request. original maps made names back, nil when all names
// stay. Source: the wire facts on tool names of the source documents.
func (r NameRule) Rename(tools []Tool) (out []Tool, original map[string]string, warnings []Warning) {
	if r.Max == 0 {
		return tools, nil, nil
	}
	taken := map[string]bool{}
	for _, t := range tools {
		if r.takes(t.Name) {
			taken[t.Name] = true
		}
	}
	for i, t := range tools {
		if r.takes(t.Name) {
			continue
		}
		if original == nil {
			out, original = append([]Tool(nil), tools...), map[string]string{}
		}
		made := r.fit(t.Name)
		for n := 0; taken[made]; n++ {
			made = r.hashed(made, fmt.Sprintf("%s/%d", t.Name, n))
		}
		taken[made], original[made] = true, t.Name
		out[i].Name = made
		warnings = append(warnings, Warnf(WarnToolRenamed, "", "the wire takes no tool named %q: it goes out as %s", t.Name, made))
	}
	if original == nil {
		return tools, nil, nil
	}
	return out, original, warnings
}

// RenameRequest does as Rename for the tools of a request, and gives the choice
// and the history the same names.
func (r NameRule) RenameRequest(req Request) (out Request, original map[string]string, warnings []Warning) {
	req.Tools, original, warnings = r.Rename(req.Tools)
	if original == nil {
		return req, nil, nil
	}
	wire := map[string]string{}
	for made, own := range original {
		wire[own] = made
	}
	if made := wire[req.Choice.Name]; made != "" {
		req.Choice.Name = made
	}
	messages := make([]Message, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = m
		messages[i].Parts = nil
		for _, p := range m.Parts {
			switch {
			case p.Call != nil && wire[p.Call.Name] != "":
				c := *p.Call
				c.Name = wire[c.Name]
				p.Call = &c
			case p.Result != nil && wire[p.Result.Name] != "":
				res := *p.Result
				res.Name = wire[res.Name]
				p.Result = &res
			}
			messages[i].Parts = append(messages[i].Parts, p)
		}
	}
	req.Messages = messages
	return req, original, warnings
}

func (r NameRule) char(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(r.Other, c)
}

func (r NameRule) first(c byte) bool {
	return !r.Letter || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (r NameRule) takes(name string) bool {
	if name == "" || len(name) > r.Max || !r.first(name[0]) {
		return false
	}
	for _, c := range name {
		if !r.char(c) {
			return false
		}
	}
	return true
}

// fit puts _ for what the wire refuses; a name that is too long ends in a hash
// of the whole, since two long names often differ in their ends only.
func (r NameRule) fit(name string) string {
	made := strings.Map(func(c rune) rune {
		if r.char(c) {
			return c
		}
		return '_'
	}, name)
	if made == "" || !r.first(made[0]) {
		made = "_" + made
	}
	if len(made) > r.Max {
		return r.hashed(made, name)
	}
	return made
}

func (r NameRule) hashed(made, seed string) string {
	h := fnv.New32a()
	h.Write([]byte(seed))
	tail := fmt.Sprintf("_%08x", h.Sum32())
	return made[:min(len(made), r.Max-len(tail))] + tail
}
