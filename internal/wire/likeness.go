package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// NoID in place of the form of an id is none.
const NoID = "none"

// Alike is r as an engine with that likeness says it: with its ids, signatures,
// reasoning and words. A reply that is so already comes back as it is.
func Alike(r codecs.Reply, l codecs.Likeness) codecs.Reply {
	if raw := l.Finishes[r.Finish]; raw != "" && r.RawFinish == "" {
		r.RawFinish = raw
	}
	if len(l.IDs) == 0 && l.Reasoning == "" && l.Signatures == "" {
		return r
	}
	r.Parts = reasoned(slices.Clone(r.Parts), l)
	seed := sha256.New()
	calls := 0
	signed := false
	for i := range r.Parts {
		p := &r.Parts[i]
		fmt.Fprintf(seed, "%s %s %s;", p.Kind, p.ID, p.Text)
		switch p.Kind {
		case codecs.KindReasoning:
			switch l.Signatures {
			case codecs.SignsFirstCall, codecs.SignsNothing:
				p.Signature = ""
			case codecs.SignsReasoning:
				if p.Signature == "" {
					p.Signature = madeSignature(seed.Sum(nil))
				}
			}
			p.ID = formed(l.IDs["reasoning"], p.ID, seed.Sum(nil), 0, "")
		case codecs.KindText:
			p.ID = formed(l.IDs["message"], p.ID, seed.Sum(nil), 0, "")
		case codecs.KindCall:
			if p.Call == nil {
				continue
			}
			c := *p.Call
			fmt.Fprintf(seed, "%s %s %d;", c.Name, c.ArgumentsText, calls)
			own := seed.Sum(nil)
			if c.ID != "" { // the same id stays the same, another another
				sum := sha256.Sum256([]byte(c.ID))
				own = sum[:]
			}
			c.ID = formed(l.IDs["call"], c.ID, own, calls, c.Name)
			c.ItemID = formed(l.IDs["function_call"], c.ItemID, append(own, 'i'), calls, c.Name)
			switch {
			case l.Signatures == codecs.SignsNothing, l.Signatures == codecs.SignsFirstCall && signed, l.Signatures == codecs.SignsReasoning:
				c.Signature = ""
			case l.Signatures == codecs.SignsFirstCall && c.Signature == "":
				c.Signature = madeSignature(own)
			}
			signed = true
			calls++
			p.Call = &c
		}
	}
	r.ID = formed(l.IDs["reply"], r.ID, seed.Sum(nil), 0, "")
	return r
}

// reasoned takes reasoning out, or puts some in front of the calls.
func reasoned(parts []codecs.Part, l codecs.Likeness) []codecs.Part {
	is := func(k codecs.Kind) func(codecs.Part) bool {
		return func(p codecs.Part) bool { return p.Kind == k }
	}
	switch l.Reasoning {
	case codecs.ReasonsNever:
		return slices.DeleteFunc(parts, is(codecs.KindReasoning))
	case codecs.ReasonsAlways, codecs.ReasonsHidden:
		if slices.ContainsFunc(parts, is(codecs.KindCall)) && !slices.ContainsFunc(parts, is(codecs.KindReasoning)) {
			made := codecs.Part{Kind: codecs.KindReasoning}
			if l.Reasoning == codecs.ReasonsAlways {
				made.Text = "A tool is needed here."
			}
			return slices.Insert(parts, 0, made)
		}
	}
	return parts
}

func madeSignature(seed []byte) string {
	sum := sha256.Sum256(seed)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// The alphabets of the forms of ids.
var alphabets = map[byte]string{
	'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'l': "abcdefghijklmnopqrstuvwxyz0123456789",
	'h': "0123456789abcdef",
	'd': "123456789",
}

// formed is an id in a form; one that has it, and any where there is none, stays.
// What the form leaves open follows from seed.
func formed(form, id string, seed []byte, n int, name string) string {
	if form == "" {
		return id
	}
	if form == NoID {
		return ""
	}
	var out strings.Builder
	rest, fits := id, id != ""
	literal := func(s string) {
		out.WriteString(s)
		rest, fits = strings.TrimPrefix(rest, s), fits && strings.HasPrefix(rest, s)
	}
	block := 0
	random := func(alphabet string, count int) {
		for i := range count {
			if block%sha256.Size == 0 {
				sum := sha256.Sum256(append(seed[:len(seed):len(seed)], byte(block/sha256.Size)))
				seed = sum[:]
			}
			out.WriteByte(alphabet[int(seed[block%sha256.Size])%len(alphabet)])
			block++
			fits = fits && i < len(rest) && strings.IndexByte(alphabet, rest[i]) >= 0
		}
		rest = rest[min(count, len(rest)):]
	}
	for form != "" {
		before, after, open := strings.Cut(form, "{")
		literal(before)
		if !open {
			break
		}
		token, tail, _ := strings.Cut(after, "}")
		form = tail
		switch {
		case token == "n":
			literal(strconv.Itoa(n))
		case token == "n2":
			literal(fmt.Sprintf("%02d", n))
		case token == "name":
			literal(name)
		case token == "uuid":
			for i, count := range []int{8, 4, 4, 4, 12} {
				if i > 0 {
					literal("-")
				}
				random(alphabets['h'], count)
			}
		case token != "":
			count, _ := strconv.Atoi(token[1:])
			random(alphabets[token[0]], count)
		}
	}
	if fits && rest == "" {
		return id
	}
	return out.String()
}

// IDForm tells what is wrong with the form of an id, "" when nothing is.
func IDForm(form string) string {
	for rest := form; ; {
		_, after, open := strings.Cut(rest, "{")
		if !open {
			return ""
		}
		token, tail, closed := strings.Cut(after, "}")
		rest = tail
		if slices.Contains([]string{"n", "n2", "name", "uuid"}, token) && closed {
			continue
		}
		if token == "" || !closed || alphabets[token[0]] == "" {
			return fmt.Sprintf("{%s} is none of {a24} and the like with %s, {n}, {n2}, {name}, {uuid}", token, letters())
		}
		if n, err := strconv.Atoi(token[1:]); err != nil || n < 1 || n > 200 {
			return fmt.Sprintf("{%s}: want a length of 1 to 200", token)
		}
	}
}

func letters() string {
	return string(slices.Sorted(maps.Keys(alphabets)))
}

// Shaped gives the objects of a rendered body the members that the likeness
// names. Values of members that stay keep their bytes.
func Shaped(body codecs.Raw, l codecs.Likeness) codecs.Raw {
	if len(l.Keys) == 0 {
		return body
	}
	return shaper(l.Keys).value(jsonx.Of(body), []string{""}, 0)
}

type shaper map[string]codecs.Keys

// value shapes what stands at paths: one place, with and without the types of
// the list entries on the way. n is its ordinal in the list around it.
func (s shaper) value(v jsonx.Value, paths []string, n int) codecs.Raw {
	switch {
	case len(paths) == 0:
	case v.IsArray():
		items := v.Items()
		out := make([]codecs.Raw, len(items))
		for i, item := range items {
			typed := ""
			if t := item.Get("type").Str(); t != "" {
				typed = "[]<" + t + ">"
			}
			out[i] = s.value(item, s.below(paths, "[]", typed), i)
		}
		return jsonx.List(out...)
	case v.IsObject():
		members := v.Members()
		for _, p := range paths {
			if k, ok := s[p]; ok {
				members = shape(k, members, n)
			}
		}
		for i, m := range members {
			step := "." + m.Key
			if slices.Contains(paths, "") {
				step = m.Key
			}
			if below := s.below(paths, step, ""); len(below) > 0 {
				members[i].Value = jsonx.Of(s.value(m.Value, below, n))
			}
		}
		if len(members) == 0 {
			return codecs.Raw("{}")
		}
		return Object(members)
	}
	return v.Raw()
}

// below are the paths one step on, as far as the likeness says something there.
func (s shaper) below(paths []string, step, typed string) []string {
	var out []string
	for _, p := range paths {
		for _, next := range []string{p + step, p + typed} {
			if next != p && !slices.Contains(out, next) && s.leads(next) {
				out = append(out, next)
			}
		}
	}
	return out
}

func (s shaper) leads(path string) bool {
	for p := range s {
		if strings.HasPrefix(p, path) && (len(p) == len(path) || strings.IndexByte(".[", p[len(path)]) >= 0) {
			return true
		}
	}
	return false
}

// ordinal stands in Keys.Always for the ordinal in the list; the name of another
// member in braces for the value of that one.
const ordinal = "{n}"

// shape applies what a likeness says of one kind of object.
func shape(k codecs.Keys, members []jsonx.Member, n int) []jsonx.Member {
	always := jsonx.Of(k.Always)
	members = slices.DeleteFunc(members, func(m jsonx.Member) bool {
		empty := !m.Value.Defined() || m.Value.IsArray() && m.Value.Len() == 0
		return slices.Contains(k.Never, m.Key) || empty && slices.Contains(k.Filled, m.Key)
	})
	for _, m := range always.Members() {
		if word := m.Value.Str(); word == ordinal {
			m.Value = jsonx.Of(strconv.AppendInt(nil, int64(n), 10))
		} else if strings.HasPrefix(word, "{") && strings.HasSuffix(word, "}") {
			at := slices.IndexFunc(members, func(have jsonx.Member) bool { return have.Key == word[1:len(word)-1] })
			if at < 0 {
				continue
			}
			m.Value = members[at].Value
		}
		at := slices.IndexFunc(members, func(have jsonx.Member) bool { return have.Key == m.Key })
		if at < 0 {
			members = append(members, m)
		} else if !members[at].Value.Defined() {
			members[at] = m
		}
	}
	return members
}

// Mirrored is a reply that repeats members of the request it answers.
func Mirrored(body, request []byte, keys []string) []byte {
	req := jsonx.Of(request)
	members := jsonx.Of(body).Members()
	for i, m := range members {
		if v := req.Get(m.Key); v.Exists() && slices.Contains(keys, m.Key) {
			members[i].Value = v
		}
	}
	if len(members) == 0 {
		return body
	}
	return Object(members)
}

// ErrorIn200 is the body of an error inside a 200 as a likeness has it; ok is
// false where it has none of its own.
func ErrorIn200(e *codecs.ProviderError, l codecs.Likeness) (answer codecs.Answer, ok bool) {
	if e.Status != 200 || !jsonx.Of(l.ErrorIn200).IsObject() {
		return codecs.Answer{}, false
	}
	quoted := jsonx.Quote(e.Message)
	body := bytes.ReplaceAll(l.ErrorIn200, []byte("{message}"), quoted[1:len(quoted)-1])
	return codecs.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: body}, true
}
