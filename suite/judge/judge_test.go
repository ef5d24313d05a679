package judge

import (
	"testing"

	"github.com/toolconform/conform/fixtures"
)

// TestRules holds each check to a rule of the list.
func TestRules(t *testing.T) {
	for _, k := range checks() {
		if _, ok := fixtures.RuleByID(k.rule); !ok {
			t.Errorf("%s is no rule", k.rule)
		}
	}
}
