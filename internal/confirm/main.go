// Command confirm counts in a folder of recordings how many public exchanges show
// each fact of the catalogue, and writes the figures into its entries: figures,
// repository, path and commit, no bodies.
package main

import (
	"fmt"
	"os"

	"github.com/toolconform/conform/engines"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/confirm RECORDINGS   (from the root of the project)")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "confirm:", err)
		os.Exit(1)
	}
}

func run(recordings string) error {
	catalog, err := engines.Load()
	if err != nil {
		return err
	}
	counted, err := count(os.DirFS(recordings), catalog)
	if err != nil {
		return err
	}
	changed, err := write("engines/catalogue", counted)
	if err != nil {
		return err
	}
	fmt.Printf("%d entries changed\n", len(changed))
	return nil
}
