//go:build unix

package sweep

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file for this process alone until it is closed; without wait a file locked by another one is an error.
func flock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return unix.Flock(int(f.Fd()), how)
}
