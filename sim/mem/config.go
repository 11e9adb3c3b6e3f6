package mem

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// period is the length of n cycles at hz, rounded down to a femtosecond: the
// sum of rounded spans never passes the instant at which the cycle begins.
func period(n int, hz int64) sim.Time {
	return sim.Clock{Hz: hz}.At(int64(n))
}

// checks collects what is wrong with a configuration.
type checks struct {
	what string
	errs []error
}

func (c *checks) fail(format string, a ...any) {
	c.errs = append(c.errs, fmt.Errorf("mem: %s: %s", c.what, fmt.Sprintf(format, a...)))
}

// pow2 demands a power of two in [lo, hi].
func (c *checks) pow2(name string, v, lo, hi int) {
	if v < lo || v > hi || v&(v-1) != 0 {
		c.fail("%s = %d, want a power of two in %d..%d", name, v, lo, hi)
	}
}

// in demands a value in [lo, hi].
func (c *checks) in(name string, v, lo, hi int64) {
	if v < lo || v > hi {
		c.fail("%s = %d, want %d..%d", name, v, lo, hi)
	}
}

func (c *checks) span(name string, v sim.Time) {
	if v < 0 || v > sim.Second {
		c.fail("%s = %d fs, want 0..1 s", name, int64(v))
	}
}

func (c *checks) hz(v int64) { c.in("Hz", v, 1e3, 1e11) }

func (c *checks) err() error { return errors.Join(c.errs...) }

func log2(v int) uint { return uint(bits.TrailingZeros(uint(v))) }

// Sizes no configuration exceeds: state is allocated in proportion to them.
const (
	maxCacheBytes = 1 << 28
	maxEntries    = 1 << 12
)
