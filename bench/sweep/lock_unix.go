//go:build unix

package sweep

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock takes a file for this process alone until it is closed; without wait a
// file that another one has is an error.
func flock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return unix.Flock(int(f.Fd()), how)
}
