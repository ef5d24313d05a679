package suite

import (
	"slices"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

// CaseReport says how the cases of a suite went, law and policy counted apart.
type CaseReport struct {
	Version string        `json:"suite_version"`
	Cases   int           `json:"cases"`
	Law     CaseCount     `json:"law"`
	Policy  CaseCount     `json:"policy"`
	Failed  []CaseFailure `json:"failed"`
}

// CaseCount counts the cases that ask for something and those where it is not
// met.
type CaseCount struct {
	Cases  int `json:"cases"`
	Failed int `json:"failed"`
}

// CaseFailure is one case that is not met.
type CaseFailure struct {
	ID     string              `json:"id"`
	File   string              `json:"file"`
	Rule   string              `json:"rule"`
	Level  results.Level       `json:"level"` // at the engine of the case
	Law    []fixtures.Mismatch `json:"law,omitempty"`
	Policy []fixtures.Mismatch `json:"policy,omitempty"`
	Fault  string              `json:"fault,omitempty"` // the case could not be run at all
}

// Broken tells whether a case could not be run.
func (r CaseReport) Broken() bool {
	return slices.ContainsFunc(r.Failed, func(f CaseFailure) bool { return f.Fault != "" })
}

// FailedAt tells whether a case of the level or above it is not met.
func (r CaseReport) FailedAt(level results.Level) bool {
	order := []results.Level{results.Must, results.Should, results.Info}
	return slices.ContainsFunc(r.Failed, func(f CaseFailure) bool { return slices.Index(order, f.Level) <= slices.Index(order, level) })
}

// RunCases runs cases against the reference, which law and policy both bind.
func RunCases(cases []fixtures.Case, catalog *engines.Catalog) CaseReport {
	report := CaseReport{Version: Version, Cases: len(cases), Failed: []CaseFailure{}}
	for _, c := range cases {
		r, err := RunCase(c, catalog)
		f := CaseFailure{ID: c.ID, File: c.File, Rule: c.Rule, Level: results.Level(c.LevelAt(c.Engine)), Law: r.Law, Policy: r.Policy}
		if err != nil {
			f.Fault = err.Error()
		}
		report.Law.add(!c.Want.IsZero(), len(r.Law) > 0)
		report.Policy.add(!c.Reference.IsZero(), len(r.Policy) > 0)
		if len(f.Law)+len(f.Policy) > 0 || f.Fault != "" {
			report.Failed = append(report.Failed, f)
		}
	}
	return report
}

func (n *CaseCount) add(asked, failed bool) {
	if asked {
		n.Cases++
	}
	if failed {
		n.Failed++
	}
}
