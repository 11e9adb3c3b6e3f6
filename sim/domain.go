package sim

import (
	"errors"
	"fmt"
)

// OPP is one operating point of a clock domain.
type OPP struct {
	Hz    int64
	Volts float64
}

// Preference is what a user asked of an execution; it steers the governor.
type Preference uint8

// Preferences, in the order of NNAPI's ExecutionPreference.
const (
	LowPower Preference = iota
	FastSingleAnswer
	SustainedSpeed
	NumPreferences
)

// DomainConfig describes a clock domain.
type DomainConfig struct {
	Name      string
	OPPs      []OPP // rising in Hz
	Ramp      Time  // changing the point; the clock stands meanwhile
	IdleAfter Time  // idle span after which the domain sleeps
	IdleExit  Time  // waking up
	Governor  [NumPreferences]int
}

// Validate reports every value that is out of range.
func (c *DomainConfig) Validate() error {
	var errs []error
	fail := func(format string, a ...any) {
		errs = append(errs, fmt.Errorf("sim: clock %s: %s", c.Name, fmt.Sprintf(format, a...)))
	}
	if len(c.OPPs) == 0 {
		fail("no operating point")
	}
	for i, o := range c.OPPs {
		if o.Hz < 1000 || o.Hz > 1e11 {
			fail("point %d: %d Hz, want 1e3..1e11", i, o.Hz)
		}
		if !(o.Volts > 0 && o.Volts < 10) {
			fail("point %d: %v V", i, o.Volts)
		}
		if i > 0 && o.Hz <= c.OPPs[i-1].Hz {
			fail("point %d: %d Hz is not above the one before", i, o.Hz)
		}
	}
	for p, i := range c.Governor {
		if i < 0 || i >= len(c.OPPs) {
			fail("governor: preference %d names point %d of %d", p, i, len(c.OPPs))
		}
	}
	for _, t := range []Time{c.Ramp, c.IdleAfter, c.IdleExit} {
		if t < 0 {
			fail("negative span %d fs", int64(t))
		}
	}
	return errors.Join(errs...)
}

// Domain is a clock domain in time. Its cycles are numbered through frequency
// changes: cycle numbers never go back and a ramp has none.
type Domain struct {
	cfg   DomainConfig
	clock Clock
	base  int64 // cycles before the clock's origin
	opp   int
	idle  Time // when it last became idle; Never while it works
}

// NewDomain builds a domain that runs at its lowest point from time 0, asleep.
func NewDomain(cfg DomainConfig) (*Domain, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &Domain{cfg: cfg}
	d.Reset()
	return d, nil
}

// Reset returns to the lowest point at time 0, asleep.
func (d *Domain) Reset() {
	d.base, d.opp = 0, 0
	d.clock = Clock{Hz: d.cfg.OPPs[0].Hz}
	d.idle = -d.cfg.IdleAfter
}

// OPP is the current operating point.
func (d *Domain) OPP() OPP { return d.cfg.OPPs[d.opp] }

// At is the instant at which cycle k begins, k not before the last change.
func (d *Domain) At(k int64) Time { return d.clock.At(k - d.base) }

// Cycle is the first cycle that begins at or after t.
func (d *Domain) Cycle(t Time) int64 { return d.base + d.clock.Cycle(t) }

// Select moves the domain to the governor's point for p at t and answers when
// the clock runs there.
func (d *Domain) Select(t Time, p Preference) Time {
	return d.SetOPP(t, d.cfg.Governor[p])
}

// SetOPP moves the domain to point i at t and answers when the clock runs
// there: at once when it already does, else after the cycle under way and the
// ramp.
func (d *Domain) SetOPP(t Time, i int) Time {
	if i == d.opp {
		return t
	}
	k := d.Cycle(t)
	start := d.At(k) + d.cfg.Ramp
	d.base, d.opp = k, i
	d.clock = Clock{Origin: start, Hz: d.cfg.OPPs[i].Hz}
	return start
}

// Wake makes the domain work from t and answers when it does: after the idle
// exit latency when it slept.
func (d *Domain) Wake(t Time) Time {
	if d.idle != Never && t-d.idle >= d.cfg.IdleAfter {
		t += d.cfg.IdleExit
	}
	d.idle = Never
	return t
}

// Sleep says that the domain has no work from t on.
func (d *Domain) Sleep(t Time) { d.idle = t }
