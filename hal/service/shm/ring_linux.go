package shm

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nnsoc/nnsoc/hal/burst"
)

// The layout of a ring in shared memory: a header of 32-bit words, then the datums. The counts
// only grow, modulo 2^32; their difference is the number of datums that wait. Whatever
// the other process writes there, this one reads and writes only inside the ring.
const (
	wordRead    = iota // datums read
	wordWritten        // datums appended
	wordClosed         // 1 when the ring is no longer valid
	_
	headerWords

	headerBytes = 4 * headerWords
)

// sleep bounds one wait, so that a peer that died without a word is noticed by whoever
// invalidates the ring on this side.
const sleep = 100 * time.Millisecond

// RingBytes is the bytes of a ring of n datums.
func RingBytes(n int) int { return headerBytes + n*burst.DatumBytes }

// Ring is a burst.Channel in shared memory.
type Ring struct {
	words  *[headerWords]atomic.Uint32
	datums []burst.Datum
	dead   atomic.Bool // invalidated on this side
}

// NewRing is the ring of n datums, a power of two, at the beginning of data, which both
// ends see. The memory of a new ring is zero.
func NewRing(data []byte, n int) (*Ring, error) {
	if n <= 0 || n > MaxRing || n&(n-1) != 0 || len(data) < RingBytes(n) || uintptr(unsafe.Pointer(&data[0]))%4 != 0 {
		return nil, fmt.Errorf("shm: a ring of %d datums in %d bytes, want a power of two up to %d", n, len(data), MaxRing)
	}
	return &Ring{
		words:  (*[headerWords]atomic.Uint32)(unsafe.Pointer(&data[0])),
		datums: unsafe.Slice((*burst.Datum)(unsafe.Pointer(&data[headerBytes])), n),
	}, nil
}

// NewRings are the rings of a burst: that of requests at the beginning of data, that of
// results behind it.
func NewRings(data []byte, requests, results int) (in, out *Ring, err error) {
	if in, err = NewRing(data, requests); err != nil {
		return nil, nil, err
	}
	if out, err = NewRing(data[RingBytes(requests):], results); err != nil {
		return nil, nil, err
	}
	return in, out, nil
}

// Len implements burst.Channel.
func (r *Ring) Len() int { return len(r.datums) }

// Valid implements burst.Channel.
func (r *Ring) Valid() bool { return !r.dead.Load() && r.words[wordClosed].Load() == 0 }

// Invalidate implements burst.Channel.
func (r *Ring) Invalidate() {
	r.dead.Store(true)
	r.words[wordClosed].Store(1)
	wake(&r.words[wordRead])
	wake(&r.words[wordWritten])
}

// waiting is the number of datums that wait; more than there can be ends the ring.
func (r *Ring) waiting() (n int, err error) {
	u := r.words[wordWritten].Load() - r.words[wordRead].Load()
	if u > uint32(len(r.datums)) {
		r.Invalidate()
		return 0, fmt.Errorf("%w: %d datums wait in a ring of %d", burst.ErrInvalid, u, len(r.datums))
	}
	return int(u), nil
}

// Write implements burst.Channel.
func (r *Ring) Write(packet []burst.Datum) error {
	if len(packet) > len(r.datums) {
		return fmt.Errorf("%w: %d datums for %d", burst.ErrTooLarge, len(packet), len(r.datums))
	}
	for {
		if !r.Valid() {
			return burst.ErrInvalid
		}
		read := r.words[wordRead].Load()
		n, err := r.waiting()
		if err != nil {
			return err
		}
		if len(r.datums)-n >= len(packet) {
			break
		}
		wait(&r.words[wordRead], read)
	}
	at := r.words[wordWritten].Load()
	mask := uint32(len(r.datums) - 1)
	for i := range packet {
		r.datums[(at+uint32(i))&mask] = packet[i]
	}
	r.words[wordWritten].Store(at + uint32(len(packet)))
	wake(&r.words[wordWritten])
	return nil
}

// Read implements burst.Channel.
func (r *Ring) Read(poll time.Duration) ([]burst.Datum, error) {
	var end time.Time
	if poll > 0 {
		end = time.Now().Add(poll)
	}
	for {
		if !r.Valid() {
			return nil, burst.ErrInvalid
		}
		written := r.words[wordWritten].Load()
		n, err := r.waiting()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return r.pop(n), nil
		}
		if poll > 0 && time.Now().Before(end) {
			runtime.Gosched()
			continue
		}
		wait(&r.words[wordWritten], written)
	}
}

// pop removes n datums, copied so that the other process cannot change them during parsing.
func (r *Ring) pop(n int) []burst.Datum {
	at := r.words[wordRead].Load()
	mask := uint32(len(r.datums) - 1)
	packet := make([]burst.Datum, n)
	for i := range packet {
		packet[i] = r.datums[(at+uint32(i))&mask]
	}
	r.words[wordRead].Store(at + uint32(n))
	wake(&r.words[wordRead])
	return packet
}

// Operations of the futex call.
const (
	futexWait = 0
	futexWake = 1
)

// wait sleeps while the word has a value, at most for a while.
func wait(word *atomic.Uint32, value uint32) {
	t := unix.NsecToTimespec(sleep.Nanoseconds())
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(&t)), 0, 0)
}

// wake ends the sleep of all who wait for the word to change.
func wake(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}
