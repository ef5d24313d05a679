//go:build !unix

package procs

import "os/exec"

// Own gives a command that is not started yet a process group of its own. Here
// there are none.
func Own(*exec.Cmd) {}

// Kill ends the process of a command at once. It fits exec.Cmd.Cancel.
func Kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func terminate(*exec.Cmd) {} // there is no such signal

func alive(cmd *exec.Cmd) bool { return cmd.ProcessState == nil }
