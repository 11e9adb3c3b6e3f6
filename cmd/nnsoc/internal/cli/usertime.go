package cli

import (
	"time"

	"golang.org/x/sys/unix"
)

// UserTimeResolution is what UserTime tells apart at least: the kernel divides
// the time of a process into user and system time by ticks of 1/100 s or less.
const UserTimeResolution = 10 * time.Millisecond

// UserTime is the user CPU time of this process so far, all threads together.
func UserTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}
