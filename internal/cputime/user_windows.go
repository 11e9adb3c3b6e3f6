package cputime

import (
	"time"

	"golang.org/x/sys/windows"
)

func user() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	// Intervals of 100 ns; Nanoseconds of a Filetime would interpret it as a date.
	return time.Duration(int64(user.HighDateTime)<<32|int64(user.LowDateTime)) * 100
}
