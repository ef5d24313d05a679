package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// cpu is the processor time of this process so far, collector included. Ratios
// of it hold on a machine that others use too.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// variant is one way to do the work of a comparison. The first one is ours.
type variant struct {
	name string
	run  func() error
}

// comparison is one row of the table.
type comparison struct {
	name     string
	bytes    int // of input, or of output where something is encoded
	events   int // of a stream
	goal     goal
	variants []variant
}

// goal is what is asked of a comparison: how many times our time the first and the
// second variant beside ours must need, and how many allocations ours may, of a
// whole run or of each event. Zero asks nothing.
type goal struct{ ratio, bare, allocs, eventAllocs float64 }

// figure is what one variant costs an operation, in processor time. Ratio is its time over ours:
// the median over the rounds, each of which runs every variant in turn.
type figure struct {
	ns, bytes, allocs, ratio float64
}

// measure runs the variants of a case in turn, rounds times, about window
// each time.
func measure(c comparison, rounds int, window time.Duration) ([]figure, error) {
	out := make([]figure, len(c.variants))
	n := make([]int, len(c.variants))
	ns := make([][]float64, len(c.variants))
	for i, v := range c.variants {
		if err := v.run(); err != nil { // warm, and prove that it works
			return nil, fmt.Errorf("%s %s: %w", c.name, v.name, err)
		}
		start := cpu()
		k := 0
		for cpu()-start < window/2 {
			if err := v.run(); err != nil {
				return nil, err
			}
			k++
		}
		n[i] = max(1, int(float64(k)*float64(window)/float64(cpu()-start)))
		var a, b runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&a)
		for range min(n[i], 100) {
			_ = v.run()
		}
		runtime.ReadMemStats(&b)
		m := float64(min(n[i], 100))
		out[i].bytes, out[i].allocs = float64(b.TotalAlloc-a.TotalAlloc)/m, float64(b.Mallocs-a.Mallocs)/m
	}
	for range rounds {
		for i, v := range c.variants {
			runtime.GC()
			start := cpu()
			for range n[i] {
				_ = v.run()
			}
			ns[i] = append(ns[i], float64(cpu()-start)/float64(n[i]))
		}
	}
	for i := range out {
		out[i].ns = median(ns[i])
		var r []float64
		for k := range ns[i] {
			r = append(r, ns[i][k]/ns[0][k])
		}
		out[i].ratio = median(r)
	}
	return out, nil
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
