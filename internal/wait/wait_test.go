package wait_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolconform/conform/internal/wait"
)

func TestFor(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	forever := func() (int, error) { select {} }
	if _, err := wait.For(ended, 0, forever); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if n, err := wait.For(context.Background(), 0, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := wait.For(context.Background(), 0, func() (int, error) { panic("ebb") }); err == nil || !strings.Contains(err.Error(), "panic: ebb") {
		t.Errorf("err = %v", err)
	}
	// What ends in order after the context counts.
	n, err := wait.For(ended, time.Hour, func() (int, error) { <-ended.Done(); return 8, nil })
	if n != 8 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
