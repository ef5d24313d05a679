package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
)

// CaseTarget resolves the codec and the profile of a case: the engine's profile
// for the model, then the fields that the case sets itself.
func CaseTarget(c fixtures.Case, catalog *engines.Catalog) (codecs.Full, codecs.Profile, error) {
	codec, err := all.For(codecs.Dialect(c.Dialect))
	if err != nil {
		return nil, codecs.Profile{}, fmt.Errorf("%s: %w", c.ID, err)
	}
	var profile codecs.Profile
	if c.Engine != "" {
		en, err := catalog.Lookup(c.Engine)
		if err != nil {
			return nil, profile, fmt.Errorf("%s: %w", c.ID, err)
		}
		profile = en.Resolve(c.Model).Profile
	}
	if len(c.Profile) > 0 {
		// Strictly: a misspelt field would test nothing.
		dec := json.NewDecoder(bytes.NewReader(c.Profile))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&profile); err != nil {
			return nil, profile, fmt.Errorf("%s: profile: %w", c.ID, err)
		}
	}
	return codec, profile, nil
}

// RunCase runs a case against the reference and compares the output with what
// it wants. No mismatch means that the reference meets the case.
func RunCase(c fixtures.Case, catalog *engines.Catalog) (OpResult, []fixtures.Mismatch, error) {
	codec, profile, err := CaseTarget(c, catalog)
	if err != nil {
		return OpResult{}, nil, err
	}
	got, err := RunOp(codec, c.Op, profile, c.Input)
	if err != nil {
		return OpResult{}, nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	return got, fixtures.Match(c.Want, output(got, c.Want)), nil
}

// output is the result in the form that the matching rules compare. The message
// of a provider's error is the provider's own; a case may also want the whole
// error text, with the words that the source documents put before it.
func output(r OpResult, want fixtures.Want) fixtures.Output {
	out := fixtures.Output{Value: r.Value, Warnings: []string{}}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, w.Code)
	}
	if r.Err != nil {
		out.Error = &fixtures.OutputError{Kind: codecs.ErrorKindOf(r.Err), Message: r.Err.Error()}
		var pe *codecs.ProviderError
		if errors.As(r.Err, &pe) && want.Error.Message != r.Err.Error() {
			out.Error.Message = pe.Message
		}
	}
	return out
}
