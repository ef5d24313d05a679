package suite_test

import (
	"context"
	"fmt"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite"
)

// Replay one scenario at two engines with the reference loop. No key is needed
// and no socket is opened.
func ExampleRunner() {
	catalog, err := engines.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		fmt.Println(err)
		return
	}
	tapes, err := suite.LoadTapes(cassettes.FS())
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := suite.Runner{Catalog: catalog, Scenarios: scenarios, Tapes: tapes}
	doc, err := runner.Run(context.Background(), suite.Selection{
		Engines: []string{"anthropic", "deepseek"}, Scenarios: []string{"reasoning/echo", "media/image-in-result"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range doc.Rows {
		for _, c := range row.Cells {
			fmt.Println(row.Name, c.Scenario, c.Verdict, c.Origin)
		}
	}
	fmt.Println(doc.Failed("must"))
	// Output:
	// deepseek media/image-in-result degraded synthetic
	// deepseek reasoning/echo pass documented
	// anthropic media/image-in-result pass synthetic
	// anthropic reasoning/echo pass documented
	// false
}
