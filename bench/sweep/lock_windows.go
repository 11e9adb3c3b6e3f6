package sweep

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks a file for this process alone until it is closed; without wait a file locked by another one is an error.
// Windows denies others the locked bytes, so the lock is behind the contents of the file.
func flock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
}
