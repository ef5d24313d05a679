package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/toolconform/conform/internal/procs"
)

// key finds the key of a request.
func (c *Client) key(ctx context.Context) (string, error) {
	if c.Engine.Auth == "none" {
		return "", nil
	}
	if k := strings.TrimSpace(c.Key); k != "" {
		return k, nil
	}
	command := c.Command
	if len(command) == 0 && c.Engine.Auth == "command" {
		command = c.Engine.Command
	}
	if len(command) > 0 {
		return c.commandKey(ctx, command)
	}
	if c.Engine.KeyOptional {
		return "", nil
	}
	if len(c.Engine.Keys) == 0 {
		return "", fmt.Errorf("engine %s needs a key: set Client.Key or Client.Command", c.Engine.Name)
	}
	return "", fmt.Errorf("engine %s needs a key: take it from %s (Client.Key), or set Client.Command",
		c.Engine.Name, strings.Join(c.Engine.Keys, " or "))
}

// mostKey bounds what a key command may print. Tokens of providers have some
// thousand characters at most.
const mostKey = 64 << 10

// commandKey runs the key command once and keeps what it printed; a failure is
// not kept.
func (c *Client) commandKey(ctx context.Context, command []string) (string, error) {
	c.once.Do(func() { c.turn = make(chan struct{}, 1) })
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", fmt.Errorf("engine %s: waiting for the key command %s: %w", c.Engine.Name, command[0], ctx.Err())
	}
	if c.token != "" {
		return c.token, nil
	}
	token, err := run(ctx, command)
	if err == nil && token == "" {
		err = errors.New("it printed nothing")
	}
	if err != nil {
		remedy := "set another in Client.Command"
		if len(c.Engine.Keys) > 0 {
			remedy += ", or the key itself in " + strings.Join(c.Engine.Keys, " or ")
		}
		return "", fmt.Errorf("engine %s: the key command %s failed: %w; %s", c.Engine.Name, command[0], err, remedy)
	}
	c.token = token
	return token, nil
}

// leftOpen is how long a command that has ended, or was told to, may keep its
// output open: something that it started in the background still holds it.
const leftOpen = 300 * time.Millisecond

// run returns the trimmed output of a command. Neither its output nor what it
// wrote to stderr gets into an error: both may hold secrets.
func run(ctx context.Context, command []string) (string, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := &capped{most: mostKey, full: stop}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout = out
	procs.Own(cmd)
	cmd.Cancel = func() error { return procs.Kill(cmd) } // and what a shell started
	cmd.WaitDelay = leftOpen
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case out.over:
		return "", fmt.Errorf("it printed more than %d KiB, and should print the key alone", mostKey>>10)
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		// The command itself ended well; what it left in the background is not
		// waited for.
		return strings.TrimSpace(out.b.String()), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("it was stopped: %w", ctx.Err())
	case errors.As(err, &exit):
		return "", fmt.Errorf("exit status %d", exit.ExitCode())
	}
	return "", fmt.Errorf("it cannot be run: %w", err)
}

// capped keeps what is written to it up to a limit, and tells when it is full.
type capped struct {
	b    bytes.Buffer
	most int
	over bool
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	if c.b.Len()+len(p) > c.most {
		c.over = true
		c.full()
		return 0, errors.New("too much output")
	}
	return c.b.Write(p)
}
