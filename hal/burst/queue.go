package burst

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// ChannelLength is the number of datums of a queue, as in AOSP.
const ChannelLength = 1024

// Errors of a queue.
var (
	ErrTooLarge = errors.New("burst: the packet is larger than the queue")
	ErrInvalid  = errors.New("burst: the queue is no longer valid")
)

// Channel is a fast message queue between two ends, in one process or two.
type Channel interface {
	// Len is the number of datums that the channel holds at most.
	Len() int
	// Write appends a packet as soon as all of it fits.
	Write(packet []Datum) error
	// Read removes all waiting datums. While there are none it polls for a span of host
	// time, then sleeps.
	Read(poll time.Duration) ([]Datum, error)
	// Invalidate ends the channel: pending calls return ErrInvalid, and so do later
	// later.
	Invalidate()
	// Valid reports whether the channel can be used.
	Valid() bool
}

// Queue is a Channel inside a process, with one writer and one reader. A packet is
// written in one piece, so a reader that finds a datum finds its packet whole.
type Queue struct {
	mu      sync.Mutex
	changed sync.Cond
	ring    []Datum
	head    int          // of the next datum to read
	used    atomic.Int64 // datums that wait
	invalid bool
}

// NewQueue returns a queue of n datums, at least 1.
func NewQueue(n int) *Queue {
	q := &Queue{ring: make([]Datum, max(n, 1))}
	q.changed.L = &q.mu
	return q
}

// Len implements Channel.
func (q *Queue) Len() int { return len(q.ring) }

// Write implements Channel.
func (q *Queue) Write(packet []Datum) error {
	if len(packet) > len(q.ring) {
		return fmt.Errorf("%w: %d datums for %d", ErrTooLarge, len(packet), len(q.ring))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.invalid && len(q.ring)-int(q.used.Load()) < len(packet) {
		q.changed.Wait()
	}
	if q.invalid {
		return ErrInvalid
	}
	at := (q.head + int(q.used.Load())) % len(q.ring)
	n := copy(q.ring[at:], packet)
	copy(q.ring, packet[n:])
	q.used.Add(int64(len(packet)))
	q.changed.Broadcast()
	return nil
}

// Read implements Channel.
func (q *Queue) Read(poll time.Duration) ([]Datum, error) {
	if poll > 0 && q.used.Load() == 0 {
		for end := time.Now().Add(poll); q.used.Load() == 0 && time.Now().Before(end); {
			runtime.Gosched()
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.invalid && q.used.Load() == 0 {
		q.changed.Wait()
	}
	if q.invalid {
		return nil, ErrInvalid
	}
	n := int(q.used.Load())
	packet := make([]Datum, 0, n)
	first := min(n, len(q.ring)-q.head)
	packet = append(packet, q.ring[q.head:q.head+first]...)
	packet = append(packet, q.ring[:n-first]...)
	q.head = (q.head + n) % len(q.ring)
	q.used.Store(0)
	q.changed.Broadcast()
	return packet, nil
}

// Invalidate implements Channel.
func (q *Queue) Invalidate() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.invalid = true
	q.changed.Broadcast()
}

// Valid implements Channel.
func (q *Queue) Valid() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.invalid
}
