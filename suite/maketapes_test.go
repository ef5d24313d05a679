package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// tapeSpec is one tape to make.
type tapeSpec struct {
	Engine    string            `json:"engine"`
	Scenario  string            `json:"scenario"`
	Model     string            `json:"model"`
	Recording string            `json:"recording"` // path of a local recording, or
	Replies   []json.RawMessage `json:"replies"`   // bodies that a document shows
	Origin    cassettes.Origin  `json:"origin"`
	MaxTokens int               `json:"max_tokens"`
	Extra     json.RawMessage   `json:"extra"`
	Expect    json.RawMessage   `json:"expect"`
	Note      string            `json:"note"`
}

// tapesSpec names a file of specs for TestMakeTapes.
var tapesSpec = flag.String("tapes", "", "JSON list of tapes to make")

// TestMakeTapes makes the tapes of -tapes FILE: from local recordings (the
// responses are the recorded ones, and each recorded request must say the same as
// ours) or from replies that a provider's documentation shows.
func TestMakeTapes(t *testing.T) {
	if *tapesSpec == "" {
		t.Skip("no -tapes FILE: nothing to make")
	}
	if err := writeTapes(*tapesSpec, tapesDir); err != nil {
		t.Error(err)
	}
}

// writeTapes makes the tapes of a file of specs. Without one it writes the
// requests of every tape anew, as the reference sends them today, and keeps the
// responses.
func writeTapes(file, dir string) error {
	catalog, err := engines.Load()
	if err != nil {
		return err
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		return err
	}
	runner := Runner{Catalog: catalog, Scenarios: scenarios}
	ix, err := cassettes.LoadIndex(os.DirFS(dir))
	if err != nil {
		return err
	}
	var faults []error
	if file == "" {
		for _, e := range ix.Tapes {
			tape, err := cassettes.Read(os.DirFS(dir), e.Tape)
			if err == nil {
				err = writeTape(runner, dir, tape, e)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", e.Tape, err))
			}
		}
		return errors.Join(faults...)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var specs []tapeSpec
	if err := json.Unmarshal(data, &specs); err != nil {
		return err
	}
	for _, s := range specs {
		entry, tape, recorded, err := s.tape(catalog)
		if err == nil {
			err = writeTape(runner, dir, tape, entry)
		}
		if err == nil && recorded != nil {
			err = sameRequests(dir, entry, catalog, recorded)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", s.Engine, s.Scenario, err))
			continue
		}
		ix.Tapes = slices.DeleteFunc(ix.Tapes, func(e cassettes.Entry) bool { return e.Tape == entry.Tape })
		ix.Tapes = append(ix.Tapes, entry)
	}
	slices.SortFunc(ix.Tapes, func(a, b cassettes.Entry) int { return bytes.Compare([]byte(a.Tape), []byte(b.Tape)) })
	raw, err := jsonx.Marshal(ix)
	if err != nil {
		return err
	}
	if raw, err = jsonx.Indent(raw); err != nil {
		return err
	}
	faults = append(faults, os.WriteFile(filepath.Join(dir, "index.json"), append(raw, '\n'), 0o644))
	return errors.Join(faults...)
}

// tape makes the entry and the responses. recorded are the requests of a local
// recording, nil for a documented tape.
func (s tapeSpec) tape(catalog *engines.Catalog) (e cassettes.Entry, t cassettes.Tape, recorded [][]byte, err error) {
	e = cassettes.Entry{
		Tape: s.Engine + "/" + s.Scenario, Engine: s.Engine, Scenario: s.Scenario, Origin: s.Origin, Model: s.Model,
		MaxTokens: s.MaxTokens, Extra: s.Extra, Expect: s.Expect, Requests: cassettes.RespelledRequest, Note: s.Note,
	}
	if s.Recording == "" {
		for _, r := range s.Replies {
			body, err := jsonx.Compact(r)
			if err != nil {
				return e, t, nil, err
			}
			t.Exchanges = append(t.Exchanges, cassettes.Exchange{Response: cassettes.Response{
				Status: http.StatusOK,
				Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
			}})
		}
		return e, t, nil, nil
	}
	data, err := os.ReadFile(s.Recording)
	if err != nil {
		return e, t, nil, err
	}
	rec, err := cassettes.Import(data)
	if err != nil {
		return e, t, nil, err
	}
	t = rec.Tape
	for _, x := range t.Exchanges {
		recorded = append(recorded, x.Request.Body)
	}
	e.Model = rec.Model
	engine, err := catalog.Lookup(s.Engine)
	if err != nil {
		return e, t, nil, err
	}
	res := engine.Resolve(e.Model)
	codec, err := all.For(res.Dialect)
	if err != nil {
		return e, t, nil, err
	}
	first, _, err := codec.ParseRequest(codecs.In{Body: recorded[0]}, res.Profile)
	if err != nil {
		return e, t, nil, err
	}
	e.MaxTokens, e.Extra = first.MaxTokens, first.Extra
	return e, t, recorded, nil
}

// writeTape writes the requests of a tape as the reference sends them. A run that is
// not judged a pass is an error: the tape would not prove anything. One to which
// the scenario does not apply, such as a call that the engine swallowed, is
// evidence of that.
func writeTape(runner Runner, dir string, tape cassettes.Tape, e cassettes.Entry) error {
	tape, cell, err := runner.respell(context.Background(), tape, e)
	if err != nil {
		return err
	}
	if !slices.Contains([]results.Verdict{results.Pass, results.Degraded, results.NA}, cell.Verdict) {
		return fmt.Errorf("%s: %s", cell.Verdict, cell.Reason)
	}
	var b bytes.Buffer
	if err := cassettes.Write(&b, tape); err != nil {
		return err
	}
	path := filepath.Join(dir, "tapes", filepath.FromSlash(e.Tape)+".yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// sameRequests holds the requests of a tape against the recorded ones: read by
// the server half, both must say the same.
func sameRequests(dir string, e cassettes.Entry, catalog *engines.Catalog, recorded [][]byte) error {
	tape, err := cassettes.Read(os.DirFS(dir), e.Tape)
	if err != nil {
		return err
	}
	engine, err := catalog.Lookup(e.Engine)
	if err != nil {
		return err
	}
	res := engine.Resolve(e.Model)
	codec, err := all.For(res.Dialect)
	if err != nil {
		return err
	}
	for i, x := range tape.Exchanges {
		want, err := neutralRequest(codec, res.Profile, recorded[i])
		if err != nil {
			return fmt.Errorf("recorded request %d: %w", i, err)
		}
		got, err := neutralRequest(codec, res.Profile, x.Request.Body)
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		if diff, err := jsonx.Diff(want, got); err != nil || len(diff) > 0 {
			return fmt.Errorf("request %d does not say what was recorded: %v %v", i, diff, err)
		}
	}
	return nil
}
