// Package procs starts commands so that they end whole: with everything that they
// start themselves, as a shell or a package runner does.
package procs

import (
	"os/exec"
	"time"
)

// Terminate asks the processes of a command to end, and makes those end that have
// not after a while. The command must have been started after Own, and waited for
// by somebody.
func Terminate(cmd *exec.Cmd, while time.Duration) {
	terminate(cmd)
	for late := time.Now().Add(while); alive(cmd) && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	_ = Kill(cmd)
}
