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
			got, mismatches, err := suite.RunCase(c, catalog)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range mismatches {
				t.Error(m)
			}
			if t.Failed() {
				t.Logf("value: %s\nerror: %v\nwarnings: %v", got.Value, got.Err, got.Warnings)
			}
		})
	}
}
