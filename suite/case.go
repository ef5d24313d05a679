package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/judge"
)

// target resolves the codec and the profile of a case: the engine's profile for
// the model, then the fields that the case sets itself.
func target(c fixtures.Case, catalog *engines.Catalog) (codecs.Full, codecs.Profile, error) {
	codec, err := all.For(codecs.Dialect(c.Dialect))
	if err != nil {
		return nil, codecs.Profile{}, err
	}
	var profile codecs.Profile
	if c.Engine != "" {
		en, err := catalog.Lookup(c.Engine)
		if err != nil {
			return nil, profile, err
		}
		profile = en.Resolve(c.Model).Profile
	}
	if len(c.Profile) > 0 {
		// Strictly: a misspelt field would test nothing.
		dec := json.NewDecoder(bytes.NewReader(c.Profile))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&profile); err != nil {
			return nil, profile, fmt.Errorf("profile: %w", err)
		}
	}
	return codec, profile, nil
}

// Run gives what the reference does with the operation and the input of a case.
// A case that cannot be run is an error; what the codec says, error included, is
// the result.
func Run(c fixtures.Case, catalog *engines.Catalog) (OpResult, error) {
	codec, profile, err := target(c, catalog)
	if err != nil {
		return OpResult{}, err
	}
	return RunOp(codec, c.Op, profile, codecs.Raw(c.Input))
}

// CaseResult is what an implementation gave for a case, and where that is not
// what the case wants.
type CaseResult struct {
	Got    OpResult
	Law    []fixtures.Mismatch // with the want of the case
	Policy []fixtures.Mismatch // with its reference
}

// RunCase runs a case against the reference. No mismatch means that the
// reference meets it, as it must: law and policy both bind it.
func RunCase(c fixtures.Case, catalog *engines.Catalog) (CaseResult, error) {
	got, err := Run(c, catalog)
	if err != nil {
		return CaseResult{}, fmt.Errorf("%s: %w", c.ID, err)
	}
	out := got.Output()
	r := CaseResult{Got: got, Law: fixtures.Match(c.Want, out)}
	// The message of a provider's error is the provider's own. A reference may
	// also want the whole text, with the words that the source documents put
	// before it.
	if got.Err != nil && c.Reference.Message == got.Err.Error() {
		out.Error.Message = c.Reference.Message
	}
	r.Policy = fixtures.Match(c.Reference, out)
	return r, nil
}

// Output is the result in the form that the matching rules compare.
func (r OpResult) Output() fixtures.Output {
	out := fixtures.Output{Value: fixtures.Raw(r.Value), Warnings: []string{}}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, w.Code)
	}
	if r.Err != nil {
		out.Error = &fixtures.OutputError{Kind: neutral.ErrorKind(r.Err), Message: r.Err.Error()}
		var pe *codecs.ProviderError
		if errors.As(r.Err, &pe) {
			out.Error.Message = pe.Message
		}
	}
	return out
}

// Lint checks a suite: what fixtures.Lint knows of its files, and what only
// the catalogue and the reference can tell.
func Lint(fsys fs.FS, catalog *engines.Catalog) []fixtures.Problem {
	known := fixtures.Known{Warnings: codecs.WarningCodes(), Engines: catalog.Names(), Profile: engines.LintProfile}
	for _, f := range (engines.Facts{}).List() {
		known.Facts = append(known.Facts, f.Name)
	}
	for _, r := range judge.Rules() {
		known.Checks = append(known.Checks, r.ID)
	}
	known.Run = func(c fixtures.Case) (fixtures.Output, error) {
		r, err := Run(c, catalog)
		return r.Output(), err
	}
	return fixtures.Lint(fsys, known)
}
