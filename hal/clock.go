package hal

import (
	"math"
	"sync"
	"time"
)

// TimePoint is an instant of a machine's steady clock: nanoseconds since it started.
type TimePoint uint64

// MaxTimePoint is later than every instant of a run.
const MaxTimePoint = TimePoint(math.MaxUint64)

// Add is the instant d later; it saturates.
func (t TimePoint) Add(d time.Duration) TimePoint {
	if d < 0 {
		if n := TimePoint(-d); n < t {
			return t - n
		}
		return 0
	}
	if n := t + TimePoint(d); n >= t {
		return n
	}
	return MaxTimePoint
}

// MakeDeadline is the instant d from now on a device's clock.
func MakeDeadline(d Device, from time.Duration) *TimePoint {
	t := d.Now().Add(from)
	return &t
}

// Clock is the steady clock of a machine. It advances only with
// the simulated time of executions and of idle spans. Several
// devices may share one.
type Clock struct {
	mu      sync.Mutex
	fs      int64 // saturates
	waiters map[chan struct{}]TimePoint
}

// NewClock returns a clock at 0.
func NewClock() *Clock { return &Clock{} }

// Now is the instant that the clock shows.
func (c *Clock) Now() TimePoint { return TimePoint(c.NowFs() / 1e6) }

// NowFs is the same in femtoseconds.
func (c *Clock) NowFs() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fs
}

// AdvanceTo moves the clock forward to an instant in femtoseconds; it never goes back.
func (c *Clock) AdvanceTo(fs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fs <= c.fs {
		return
	}
	c.fs = fs
	now := TimePoint(fs / 1e6)
	for ch, at := range c.waiters {
		if at <= now {
			delete(c.waiters, ch)
			close(ch)
		}
	}
}

// Advance moves the clock forward by d.
func (c *Clock) Advance(d time.Duration) {
	now := c.NowFs()
	if d > 0 && int64(d) > (math.MaxInt64-now)/1e6 {
		c.AdvanceTo(math.MaxInt64)
		return
	}
	c.AdvanceTo(now + int64(d)*1e6)
}

// Reached returns a channel that is closed when the clock shows t, and a function that
// gives up waiting.
func (c *Clock) Reached(t TimePoint) (reached <-chan struct{}, stop func()) {
	ch := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if TimePoint(c.fs/1e6) >= t {
		close(ch)
		return ch, func() {}
	}
	if c.waiters == nil {
		c.waiters = map[chan struct{}]TimePoint{}
	}
	c.waiters[ch] = t
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiters, ch)
	}
}

// Timing is the duration of an execution, in microseconds of simulated time.
type Timing struct {
	// OnDevice excludes the driver's own work on the host, InDriver includes it; both
	// exclude the runtime. OnDevice <= InDriver.
	OnDevice, InDriver uint64
}

// NoTime is a time that is not known.
const NoTime = uint64(math.MaxUint64)

// NoTiming is the timing of an execution that was not measured or failed.
var NoTiming = Timing{NoTime, NoTime}
