//go:build unix

package files_test

import (
	"syscall"
	"testing"
)

// fifo makes a pipe that nobody writes to.
func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
}
