//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Group makes a command that was not started yet the leader of a process group. Returned is
// what ends all of the group.
func Group(c *exec.Cmd) (end func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
