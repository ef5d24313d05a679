package main

import (
	"testing"
	"time"
)

// TestGoals: our allocations stay below their goals, and a ratio that is asked for
// is met by half at least, which the noise of a machine does not take away.
func TestGoals(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	for _, c := range allOf(nil) {
		if c.events > 10_000 { // costs much, says the same
			continue
		}
		f, err := measure(c, 3, 20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		g := c.goal
		if f[1].ratio < g.ratio/2 || g.bare > 0 && f[2].ratio < g.bare/2 {
			t.Errorf("%s: the others need %.1f of our time, asked are %g and %g, and half of it here", c.name, f[1].ratio, g.ratio, g.bare)
		}
		if g.allocs > 0 && f[0].allocs > g.allocs || g.eventAllocs > 0 && f[0].allocs > g.eventAllocs*float64(c.events) {
			t.Errorf("%s: %.0f allocations, at most %g, or %g an event", c.name, f[0].allocs, g.allocs, g.eventAllocs)
		}
	}
}

// TestStreamsHold: what is measured reads text, a call and its arguments on both
// sides, however long the stream.
func TestStreamsHold(t *testing.T) {
	for _, c := range streams() {
		for _, v := range c.variants {
			if err := v.run(); err != nil {
				t.Errorf("%s, %s: %v", c.name, v.name, err)
			}
		}
	}
}
