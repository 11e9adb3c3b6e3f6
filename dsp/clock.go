package dsp

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// ticker is a sim.Clock that converts cycles near the last ones without a division: floor(k*S/hz) is exact from the
// quotient and remainder at a base cycle and a table of both for small distances.
type ticker struct {
	sim.Clock
	base int64
	time sim.Time
	rem  int64
	left int64 // Hz - 1 - rem
	step [tickerSpan]struct {
		time sim.Time
		rem  int64
	}
}

const tickerSpan = 512

func (c *ticker) init(hz int64) {
	*c = ticker{Clock: sim.Clock{Hz: hz}, left: hz - 1}
	for d := range c.step {
		c.step[d].time, c.step[d].rem = c.divide(int64(d))
	}
}

// divide is the instant of cycle k and the remainder of the division.
func (c *ticker) divide(k int64) (sim.Time, int64) {
	hi, lo := bits.Mul64(uint64(k), uint64(sim.Second))
	q, r := bits.Div64(hi, lo, uint64(c.Hz))
	return sim.Time(q), int64(r)
}

// at is Clock.At(k).
func (c *ticker) at(k int64) sim.Time {
	if d := uint64(k - c.base); d < tickerSpan {
		s := &c.step[d]
		// One more when the remainders add up to a whole: the sign of the rest.
		return c.time + s.time + sim.Time(uint64(c.left-s.rem)>>63)
	}
	return c.rebase(k)
}

// rebase is at for a cycle that the next ones are near to.
//
//go:noinline
func (c *ticker) rebase(k int64) sim.Time {
	c.base = k
	c.time, c.rem = c.divide(k)
	c.left = c.Hz - 1 - c.rem
	return c.time
}

// until is the number of cycles from the beginning of cycle k to the first that
// begins at or after end: Clock.Cycle(end) - k, at least 0.
func (c *ticker) until(k int64, end sim.Time) int64 {
	d := k - c.base
	if uint64(d) >= tickerSpan {
		c.at(k)
		d = 0
	}
	s := &c.step[d]
	t, rem := c.time+s.time, c.rem+s.rem
	if rem >= c.Hz {
		t, rem = t+1, rem-c.Hz
	}
	span := end - t
	if span <= 0 {
		return 0
	}
	if span >= untilSpan {
		return c.Cycle(end) - k
	}
	// floor((rem + n*S)/hz) >= span  <=>  n >= (span*hz - rem)/S
	return int64((uint64(span)*uint64(c.Hz) - uint64(rem) + uint64(sim.Second) - 1) / uint64(sim.Second))
}

// untilSpan bounds the spans whose product with a frequency of up to 10 GHz
// does not overflow.
const untilSpan = sim.Microsecond
