//go:build !linux

package cputime

import "time"

var started = time.Now()

func thread() time.Duration { return time.Since(started) }
