package suite_test

import (
	"testing"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite"
)

// TestCases holds the reference to every case of the suite.
func TestCases(t *testing.T) {
	cases, err := fixtures.LoadCases(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			r, err := suite.RunCase(c, catalog)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Law {
				t.Errorf("law: %s", m)
			}
			for _, m := range r.Policy {
				t.Errorf("policy: %s", m)
			}
			if t.Failed() {
				t.Logf("value: %s\nerror: %v\nwarnings: %v", r.Got.Value, r.Got.Err, r.Got.Warnings)
			}
		})
	}
}

// TestLint: the suite is in order, also where only the reference can tell.
func TestLint(t *testing.T) {
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range suite.Lint(fixtures.FS(), catalog) {
		t.Error(p)
	}
}
