package sim

import (
	"errors"
	"fmt"
	"slices"
)

// OPP is one operating point of a clock domain.
type OPP struct {
	Hz    int64
	Volts float64
}

// Preference is a user's preference for an execution; it limits the governor.
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
	Ramp      Time  // duration of a change of the point: work waits for a voted one, continues at the former one of a governor's
	IdleAfter Time  // idle span after which the domain sleeps
	IdleExit  Time  // waking up
	// Slumber is the idle span after which the domain starts again at its lowest
	// point; 0: it never forgets its point.
	Slumber Time
	// Points are the highest points that the governor may choose, by preference.
	Points   [NumPreferences]int
	Governor Governor // nil: Fixed
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
	for p, i := range c.Points {
		if i < 0 || i >= len(c.OPPs) {
			fail("preference %d names point %d of %d", p, i, len(c.OPPs))
		}
	}
	for _, t := range []Time{c.Ramp, c.IdleAfter, c.IdleExit, c.Slumber} {
		if t < 0 {
			fail("negative span %d fs", int64(t))
		}
	}
	if c.Governor != nil && c.Governor.Interval() <= 0 {
		fail("a governor that decides every %d fs", int64(c.Governor.Interval()))
	}
	return errors.Join(errs...)
}

// Domain is a clock domain in time: its point, the state of its governor, and whether it sleeps.
type Domain struct {
	cfg    *DomainConfig
	load   Load
	limit  int     // the heat's
	pref   int     // the preference's
	floor  int     // a client's lower bound
	pinned int     // the point that Pin has chosen; -1: none
	at     Time    // instant of the state
	next   Time    // of the next decision
	idle   Time    // when the domain became idle; Never while it works
	left   float64 // decay of one interval of the governor

	changed func(Time, OPP) // see Watch
}

// NewDomain builds a domain that is at its lowest point at time 0 and asleep.
func NewDomain(cfg DomainConfig) (*Domain, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Governor == nil {
		cfg.Governor = Fixed{}
	}
	d := &Domain{cfg: &cfg, pinned: -1}
	d.Reset(0)
	return d, nil
}

// Reset makes the domain cold at an instant: at its lowest point, asleep, without
// load in the governor's memory.
func (d *Domain) Reset(t Time) {
	top := len(d.cfg.OPPs) - 1
	*d = Domain{cfg: d.cfg, changed: d.changed, pinned: d.pinned, load: Load{OPPs: d.cfg.OPPs, Since: Second}, limit: top, pref: top, at: t, idle: t - max(d.cfg.IdleAfter, d.cfg.Slumber), left: decay(d.cfg.Governor.Interval())}
	d.next = t + d.cfg.Governor.Interval()
	d.bound()
}

// Config is the configuration of the domain.
func (d *Domain) Config() *DomainConfig { return d.cfg }

// Point is the present operating point and its number.
func (d *Domain) Point() (OPP, int) { return d.cfg.OPPs[d.load.Point], d.load.Point }

// Util is the utilization the governor sees.
func (d *Domain) Util() float64 { return d.load.Util }

// Prefer limits the governor to the points up to the preference's.
func (d *Domain) Prefer(p Preference) { d.pref = d.cfg.Points[p]; d.bound() }

// Release lifts the limit of a preference.
func (d *Domain) Release() { d.pref = len(d.cfg.OPPs) - 1; d.bound() }

// Limit lowers the highest point to that of the frequency: a thermal cap. 0 lifts it.
func (d *Domain) Limit(hz int64) {
	d.limit = len(d.cfg.OPPs) - 1
	for hz > 0 && d.limit > 0 && d.cfg.OPPs[d.limit].Hz > hz {
		d.limit--
	}
	d.bound()
}

// Floor raises the lowest point to one of at least the frequency.
func (d *Domain) Floor(hz int64) {
	d.floor = 0
	for d.floor < len(d.cfg.OPPs)-1 && d.cfg.OPPs[d.floor].Hz < hz {
		d.floor++
	}
	d.bound()
}

// Pin keeps the clock at a frequency of one of its points whatever requests another, also
// through Reset; with 0 governor and limits have it again. It reports whether there is such a
// point.
func (d *Domain) Pin(hz int64) bool {
	d.pinned = slices.IndexFunc(d.cfg.OPPs, func(o OPP) bool { return o.Hz == hz })
	d.bound()
	return d.pinned >= 0 || hz == 0
}

// bound applies the limits at once; the governor moves between them.
func (d *Domain) bound() {
	d.load.High = min(d.limit, d.pref)
	if d.pinned >= 0 {
		d.load.High, d.load.Low = d.pinned, d.pinned
		d.set(d.pinned, d.at)
		return
	}
	d.load.Low = min(d.floor, d.load.High)
	d.set(min(max(d.load.Point, d.load.Low), d.load.High), d.at)
}

// set chooses a point, which the clock has from an instant on.
func (d *Domain) set(point int, at Time) {
	if point == d.load.Point {
		return
	}
	d.load.Point, d.load.Since = point, 0
	if d.changed != nil {
		d.changed(at, d.cfg.OPPs[point])
	}
}

// Watch calls f at each change of the operating point from now on, with its instant.
func (d *Domain) Watch(f func(at Time, o OPP)) { d.changed = f }

// Lookahead is a copy that runs ahead of the original and is not watched.
func (d *Domain) Lookahead() *Domain {
	a := *d
	a.changed = nil
	return &a
}

// Advance moves the domain to t, working all the while or idle. Its governor decides
// on the way.
func (d *Domain) Advance(t Time, busy bool) {
	share := 0.0
	if busy {
		share = 1
	}
	d.AdvanceLoad(t, share)
}

// AdvanceLoad moves the domain to t with work for a share of the time, spread evenly.
func (d *Domain) AdvanceLoad(t Time, share float64) {
	for d.at < t {
		if share == 0 && d.steady() && t > d.next { // only the last decision is made
			d.next += (t - d.next) / d.cfg.Governor.Interval() * d.cfg.Governor.Interval()
		}
		to := min(t, d.next)
		d.account(to, share)
		if to == d.next {
			d.decide()
		}
	}
}

// steady reports whether more idle time changes nothing that a decision shows.
func (d *Domain) steady() bool {
	const nothing = 1e-6
	return d.load.Point == d.load.Low && d.load.Util < nothing && d.load.Busy == 0 && d.load.Streak == 0
}

// account charges the time up to t.
func (d *Domain) account(t Time, share float64) {
	span := t - d.at
	left := d.left
	if span != d.cfg.Governor.Interval() {
		left = decay(span)
	}
	d.load.Util = d.load.Util*left + (1-left)*share*float64(d.cfg.OPPs[d.load.Point].Hz)/float64(d.cfg.OPPs[len(d.cfg.OPPs)-1].Hz)
	d.load.Busy += Time(share * float64(span))
	d.load.Span += span
	d.load.Since += span
	d.at = t
}

func (d *Domain) decide() {
	d.next = max(d.next, d.at) + d.cfg.Governor.Interval()
	point, decided := d.cfg.Governor.Decide(&d.load)
	if !decided {
		return
	}
	d.load.Busy, d.load.Span = 0, 0
	d.set(min(max(point, d.load.Low), d.load.High), d.at+d.cfg.Ramp)
}

// Saturate puts the domain where its governor has it after work without a pause:
// at its highest point, with a full load in memory.
func (d *Domain) Saturate() {
	d.set(d.load.High, d.at)
	d.load.Since = Second
	d.load.Util = float64(d.cfg.OPPs[d.load.Point].Hz) / float64(d.cfg.OPPs[len(d.cfg.OPPs)-1].Hz)
}

// Wake makes the domain work from t on and returns the delays: wake is the delay of leaving sleep, ramp that of a change of
// the point which the governor's limits force.
func (d *Domain) Wake(t Time) (wake, ramp Time) {
	d.Advance(t, false)
	if d.idle != Never {
		if d.cfg.Slumber > 0 && t-d.idle >= d.cfg.Slumber {
			d.set(d.load.Low, t)
			d.load.Busy, d.load.Span, d.load.Streak, d.load.Util = 0, 0, 0, 0
			d.next = t + d.cfg.Governor.Interval()
		}
		if t-d.idle >= d.cfg.IdleAfter {
			wake = d.cfg.IdleExit
		}
	}
	if _, fixed := d.cfg.Governor.(Fixed); fixed && d.load.Point != d.load.High {
		ramp = d.cfg.Ramp
		d.set(d.load.High, t)
	}
	d.idle = Never
	return wake, ramp
}

// Sleep notes that the domain has no work from t on.
func (d *Domain) Sleep(t Time) { d.idle = t }

// Change is the operating point of a clock from an instant on.
type Change struct {
	At      Time
	OPP     OPP
	Cluster int // whose clock it is, of an engine with several
}

// Plan returns the operating points of the domain if it works from now on, the present one first, up to a horizon;
// times count from now. A point is in effect when the clock has changed, Ramp after the decision. Two decisions for one
// point are one change.
func (d *Domain) Plan(horizon Time) []Change {
	ahead := d.Lookahead()
	opp, last := ahead.Point()
	plan := []Change{{OPP: opp}}
	for ahead.at < d.at+horizon && last < ahead.load.High {
		ahead.Advance(ahead.next, true)
		if opp, point := ahead.Point(); point != last {
			plan, last = append(plan, Change{At: ahead.at - d.at + d.cfg.Ramp, OPP: opp}), point
		}
	}
	return plan
}
