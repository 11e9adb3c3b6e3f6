//go:build !unix

package child

import "os/exec"

// Group leaves a command as it is: what it starts is not ended with it.
func Group(c *exec.Cmd) (end func()) {
	return func() { _ = c.Process.Kill() }
}
