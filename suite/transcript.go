package suite

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/replay"
)

// JSON is the transcript of the cell as a document: every request and reply, side
// requests, tool calls, the end, and the checks. docs/results.md has its form.
// Keys do not stand in it: headers are those that a tape keeps, and what the
// request itself carries as a key is taken out wherever it stands.
func (p Played) JSON() (codecs.Raw, error) {
	t := p.Transcript
	exchanges, err := p.exchanges(t.Exchanges)
	if err != nil {
		return nil, err
	}
	side, err := p.exchanges(t.Side)
	if err != nil {
		return nil, err
	}
	var calls []codecs.Raw
	for _, c := range t.Calls {
		var f jsonx.Fields
		f.Str("server", c.Server).Str("name", c.Name).Set("arguments", c.Arguments)
		if c.Error != "" {
			f.Str("error", c.Error)
		} else {
			f.Set("result", c.Result)
		}
		calls = append(calls, f.Raw())
	}
	var end, failure jsonx.Fields
	if t.End.Kind != "" {
		end.Set("error", failure.Str("kind", t.End.Kind).Str("message", t.End.Message).Raw())
	} else {
		end.Str("text", t.End.Text)
	}
	checks, err := jsonx.Marshal(p.Cell.All)
	if err != nil {
		return nil, err
	}
	var client, f jsonx.Fields
	client.Str("name", p.Client.Name).Str("version", p.Client.Version).Str("library", p.Client.Library)
	f.Int("version", 1).Set("client", client.Raw()).Str("engine", p.Engine).Str("dialect", string(p.Dialect)).Str("model", p.Model)
	f.Str("scenario", p.Cell.Scenario).Bool("stream", p.Cell.Stream).Str("origin", string(p.Cell.Origin)).Str("tape", p.Cell.Tape)
	f.Str("verdict", string(p.Cell.Verdict)).Str("reason", p.Cell.Reason)
	f.Set("exchanges", jsonx.List(exchanges...)).Set("side", jsonx.List(side...)).Set("tool_calls", jsonx.List(calls...))
	return f.Set("end", end.Raw()).Set("checks", checks).Raw(), nil
}

func (p Played) exchanges(list []replay.Exchange) ([]codecs.Raw, error) {
	var out []codecs.Raw
	for _, x := range list {
		address := url.URL{Path: x.In.Path, RawQuery: x.In.Query.Encode()}
		if plain, err := url.PathUnescape(x.In.Path); err == nil {
			address.Path, address.RawPath = plain, x.In.Path
		}
		clean, err := cassettes.Scrub(cassettes.Exchange{
			Request:  cassettes.Request{Method: x.In.Method, URL: address.String(), Header: canonical(x.In.Header), Body: x.In.Body},
			Response: cassettes.Response{Status: x.Out.Status, Header: canonical(x.Out.Header), Body: x.Out.Body},
		}, p.Key)
		if err != nil {
			return nil, err
		}
		var request, reply, f jsonx.Fields
		request.Str("method", clean.Request.Method).Str("url", clean.Request.URL).Set("headers", headers(clean.Request.Header))
		addBody(&request, clean.Request.Body)
		reply.Int("status", int64(clean.Response.Status)).Set("headers", headers(clean.Response.Header))
		addBody(&reply, clean.Response.Body)
		out = append(out, f.Set("request", request.Raw()).Set("reply", reply.Raw()).Raw())
	}
	return out, nil
}

func canonical(h map[string][]string) http.Header {
	out := http.Header{}
	for name, values := range h {
		for _, v := range values {
			out.Add(name, v)
		}
	}
	return out
}

func headers(h http.Header) codecs.Raw {
	out, err := jsonx.Marshal(h)
	if err != nil {
		return codecs.Raw("{}") // a map of texts has a JSON form
	}
	return out
}

// addBody adds a body as it is: as JSON, as a text, or in base64.
func addBody(f *jsonx.Fields, body []byte) {
	switch {
	case len(body) == 0:
	case jsonx.Check(body) == nil:
		f.Set("body", body)
	case utf8.Valid(body):
		f.Str("body_text", string(body))
	default:
		f.Str("body_base64", base64.StdEncoding.EncodeToString(body))
	}
}
