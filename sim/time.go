package sim

import (
	"math"
	"math/bits"
)

// Time is an instant or a span of simulated time in femtoseconds.
type Time int64

// Common spans.
const (
	Femtosecond Time = 1
	Picosecond       = 1000 * Femtosecond
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Never is later than every instant of a run.
const Never = Time(1<<63 - 1)

// Microseconds is t in us.
func (t Time) Microseconds() float64 { return float64(t) / float64(Microsecond) }

// Seconds is t in s.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Nanoseconds and Microseconds are a number of them, to the nearest femtosecond.
func Nanoseconds(v float64) Time  { return Time(math.Round(v * 1e6)) }
func Microseconds(v float64) Time { return Time(math.Round(v * 1e9)) }

// Hertz is a frequency in megahertz, to the nearest hertz.
func Hertz(mhz float64) int64 { return int64(math.Round(mhz * 1e6)) }

// Clock converts between cycles and time at one frequency, from one origin.
// Cycle k begins at origin + floor(k * 1e15 / Hz), so ratios never drift.
type Clock struct {
	Origin Time
	Hz     int64
}

const lastCycle = 1<<63 - 1

// At is the instant at which cycle k >= 0 begins; Never if out of range.
func (c Clock) At(k int64) Time {
	hi, lo := bits.Mul64(uint64(k), uint64(Second))
	if hi >= uint64(c.Hz) {
		return Never
	}
	q, _ := bits.Div64(hi, lo, uint64(c.Hz))
	if q > uint64(Never-max(c.Origin, 0)) {
		return Never
	}
	return c.Origin + Time(q)
}

// Cycle is the first cycle that begins at or after t; 0 for t before the origin.
func (c Clock) Cycle(t Time) int64 {
	// floor(k*S/hz) >= d  <=>  k*S >= d*hz  <=>  k >= ceil(d*hz/S)
	hi, lo := bits.Mul64(uint64(max(t, c.Origin)-c.Origin), uint64(c.Hz))
	if hi >= uint64(Second) {
		return lastCycle
	}
	q, r := bits.Div64(hi, lo, uint64(Second))
	if r != 0 {
		q++
	}
	return int64(min(q, lastCycle))
}
