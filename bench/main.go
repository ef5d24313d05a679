// Command bench measures the codecs side by side with the official Go SDKs. Every
// variant of a comparison works on the same bytes, in turn, in one process, and
// processor time is compared, so that the ratios hold on a machine that others use
// too. It prints a table and, for each goal, whether it is met.
//
//	go run . [-run REGEXP] [-rounds N] [-window D] [-recordings DIR]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	run := flag.String("run", ".", "regexp of the names to measure, such as ^decode/openai")
	rounds := flag.Int("rounds", 7, "rounds; every variant runs once in each")
	window := flag.Duration("window", 40*time.Millisecond, "processor time of a variant in a round")
	recordings := flag.String("recordings", "", "folder of recordings, to decode their replies too")
	flag.Parse()
	if err := bench(os.Stdout, *run, *rounds, *window, *recordings); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(w io.Writer, run string, rounds int, window time.Duration, recordings string) error {
	fits, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	var recorded []comparison
	if recordings != "" {
		if recorded, err = corpus(recordings); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "| what | bytes | beside | its time / ours | its allocations / ours | our allocations | goal |")
	fmt.Fprintln(w, "|---|--:|---|--:|--:|--:|---|")
	var missed []string
	for _, c := range allOf(recorded) {
		if !fits.MatchString(c.name) {
			continue
		}
		f, err := measure(c, rounds, window)
		if err != nil {
			return err
		}
		for i, v := range c.variants[1:] {
			goals := c.verdicts(f, i+1)
			name, size, allocs := c.name, fmt.Sprint(c.bytes), fmt.Sprintf("%.0f", f[0].allocs)
			if i > 0 {
				name, size, allocs = "", "", ""
			} else if c.events > 0 {
				allocs = fmt.Sprintf("%.2f an event", f[0].allocs/float64(c.events))
			}
			fmt.Fprintf(w, "| %s | %s | %s | %.1f | %.1f | %s | %s |\n", name, size, v.name, f[i+1].ratio, f[i+1].allocs/f[0].allocs, allocs, strings.Join(goals, ", "))
			for _, g := range goals {
				if strings.HasPrefix(g, "MISSED") {
					missed = append(missed, c.name+": "+g)
				}
			}
		}
	}
	fmt.Fprintf(w, "\n%d goals missed\n", len(missed))
	for _, m := range missed {
		fmt.Fprintln(w, "-", m)
	}
	return nil
}

// verdicts says for variant i which goals hold.
func (c comparison) verdicts(f []figure, i int) (out []string) {
	say := func(want float64, met bool, what string) {
		if want > 0 && met {
			out = append(out, fmt.Sprintf("met: %s %g", what, want))
		} else if want > 0 {
			out = append(out, fmt.Sprintf("MISSED: %s %g", what, want))
		}
	}
	switch i {
	case 1:
		say(c.goal.ratio, f[1].ratio >= c.goal.ratio, "at least")
		say(c.goal.allocs, f[0].allocs <= c.goal.allocs, "allocations at most")
		say(c.goal.eventAllocs, f[0].allocs <= c.goal.eventAllocs*float64(c.events), "allocations an event at most")
	case 2:
		say(c.goal.bare, f[2].ratio >= c.goal.bare, "at least")
	}
	return out
}

// allOf lists every comparison, the recorded ones first.
func allOf(recorded []comparison) []comparison {
	return slices.Concat(recorded, decodes(), encodes(), streams())
}
