// Package cputime measures the processor time of the simulator itself.
package cputime

import "time"

// Resolution is the resolution of User: the kernel divides the time of a process into user and system time by ticks of
// 1/100 s or less.
const Resolution = 10 * time.Millisecond

// User is the user CPU time of this process so far, all threads together.
func User() time.Duration { return user() }

// Thread is the CPU time of the calling thread so far, which must be locked to it; where the system does not support
// that, the time of day.
func Thread() time.Duration { return thread() }
