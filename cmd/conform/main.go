// Command conform proves that an LLM engine and a client library complete a tool
// loop together. See `conform help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

// roomier is how much the heap may grow between two collections, in percent of
// what lives: a run makes much that lives for one exchange only.
const roomier = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(roomier)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// The first interrupt asks the command to stop, a second one ends the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv})
	stop()
	os.Exit(code)
}
