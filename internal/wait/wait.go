// Package wait runs what belongs to others without being held up by it.
package wait

import (
	"context"
	"fmt"
	"time"
)

// For runs f and returns when it ends, or settle after the context does, even if f
// pays no heed to it. Then f is left to itself: what it still gives is not used. A
// panic of f is an error.
func For[T any](ctx context.Context, settle time.Duration, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("panic: %v", p)
			}
			done <- o
		}()
		o.value, o.err = f()
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	late := time.NewTimer(settle)
	defer late.Stop()
	select {
	case o := <-done: // both were ready: what came counts
		return o.value, o.err
	default:
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-late.C:
		var none T
		return none, ctx.Err()
	}
}
