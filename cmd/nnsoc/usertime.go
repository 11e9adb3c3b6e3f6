package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// userTime is the user CPU time of this process so far, all threads together.
func userTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}
