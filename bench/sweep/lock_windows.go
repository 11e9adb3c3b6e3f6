package sweep

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// flock takes a file for this process alone until it is closed; without wait a
// file that another one has is an error. Windows keeps others from the bytes it
// locks, so the lock lies behind all that a file holds.
func flock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
}
