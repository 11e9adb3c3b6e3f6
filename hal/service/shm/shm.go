// Package shm is memory that two processes share: anonymous files that are sealed
// against shrinking, so that the other end cannot remove mapped pages, and a ring of
// burst datums in such memory with futexes to wait on.
package shm

import "errors"

// MaxBytes bounds one region.
const MaxBytes = 1 << 31

// MaxRing bounds the datums of a ring.
const MaxRing = 1 << 16

// ErrUnsupported is the error of every call on systems without memfd and futexes.
var ErrUnsupported = errors.New("shm: needs Linux")
