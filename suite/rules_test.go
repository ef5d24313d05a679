package suite

import (
	"testing"

	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/judge"
)

// Every rule of the list is named by a case, a scenario or a check, and every
// check is a rule.
func TestRulesInUse(t *testing.T) {
	cases, err := fixtures.LoadCases(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range judge.Rules() {
		used[r.ID] = true
		if _, ok := fixtures.RuleByID(r.ID); !ok {
			t.Errorf("%s: a check that is no rule of fixtures/rules.json", r.ID)
		}
	}
	for _, c := range cases {
		used[c.Rule] = true
	}
	for _, s := range scenarios {
		for _, id := range append(s.Rules, s.Expect.Checks...) {
			used[id] = true
		}
	}
	for _, r := range fixtures.Rules() {
		if !used[r.ID] {
			t.Errorf("%s: no case, scenario or check names it", r.ID)
		}
	}
}
