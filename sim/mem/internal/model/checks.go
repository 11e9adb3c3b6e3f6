package model

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// Period is the length of n cycles at hz, rounded down to a femtosecond: the
// sum of rounded spans never passes the instant at which the cycle begins.
func Period(n int, hz int64) sim.Time {
	return sim.Clock{Hz: hz}.At(int64(n))
}

// Checks collects the errors of a configuration.
type Checks struct {
	What string // is configured
	errs []error
}

// Fail records an error.
func (c *Checks) Fail(format string, a ...any) {
	c.errs = append(c.errs, fmt.Errorf("mem: %s: %s", c.What, fmt.Sprintf(format, a...)))
}

// Pow2 demands a power of two in [lo, hi].
func (c *Checks) Pow2(name string, v, lo, hi int) {
	if v < lo || v > hi || v&(v-1) != 0 {
		c.Fail("%s = %d, want a power of two in %d..%d", name, v, lo, hi)
	}
}

// In demands a value in [lo, hi].
func (c *Checks) In(name string, v, lo, hi int64) {
	if v < lo || v > hi {
		c.Fail("%s = %d, want %d..%d", name, v, lo, hi)
	}
}

// Span demands at most a second.
func (c *Checks) Span(name string, v sim.Time) {
	if v < 0 || v > sim.Second {
		c.Fail("%s = %d fs, want 0..1 s", name, int64(v))
	}
}

// Hz demands the frequency of a clock.
func (c *Checks) Hz(v int64) { c.In("Hz", v, 1e3, 1e11) }

// OK reports whether nothing was wrong so far.
func (c *Checks) OK() bool { return len(c.errs) == 0 }

// Err is all that was wrong, nil if nothing was.
func (c *Checks) Err() error { return errors.Join(c.errs...) }

// Log2 is the exponent of a power of two.
func Log2(v int) uint { return uint(bits.TrailingZeros(uint(v))) }

// Sizes no configuration exceeds: state is allocated in proportion to them.
const (
	MaxCacheBytes = 1 << 28
	MaxEntries    = 1 << 12
)
