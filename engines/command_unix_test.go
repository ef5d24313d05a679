//go:build unix

package engines_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A key command that is a shell ends with what the shell started.
func TestKeyCommandEndsWhole(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cl := client(t, "openai", "")
	cl.Key, cl.Command = "", []string{sh, "-c", `exec 9>"$0"; sleep 1000; true`, pipe}
	done := make(chan error, 1)
	go func() { _, _, err := send(ctx, cl, `{}`); done <- err }()
	held, err := os.Open(pipe) // waits for the shell
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if _, err := io.ReadAll(held); err != nil { // until the last one has ended
		t.Error(err)
	}
}
