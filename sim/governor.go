package sim

import "math"

// Load is the input of a governor's decision on its domain, and the state that it keeps.
type Load struct {
	OPPs      []OPP
	Point     int  // the present one
	Low, High int  // the points it may choose between: the preference's and the heat's limit
	Busy      Time // working time since the last decision
	Span      Time // all time since then
	Since     Time // how long the present point has been chosen
	// Util is the share of the highest point's cycles that the work used, an average that halves every 32 ms: the
	// utilization of Linux's scheduler.
	Util float64
	// Streak is the governor's own memory: working time since the load was last low.
	Streak Time

	bandwidth bandwidthMemory // of BandwidthMonitor
}

// Governor chooses the operating point of a clock domain. It is stateless: its state is in Load, so that a domain can
// be copied.
type Governor interface {
	// Interval is the time from one decision to the next, more than 0.
	Interval() Time
	// Decide returns the point from now on, between l.Low and l.High. It may update its state in l. It returns false if
	// the interval is too short: Busy and Span keep accumulating.
	Decide(l *Load) (point int, decided bool)
}

// Fixed holds the highest allowed point: a clock that a driver votes for and that is
// set when the vote returns, as HAP_power_set of a Hexagon DSP does.
type Fixed struct{}

// Interval implements Governor.
func (Fixed) Interval() Time { return 10 * Millisecond }

// Decide implements Governor.
func (Fixed) Decide(l *Load) (int, bool) { return l.High, true }

// Schedutil is Linux's governor of CPU clocks: 1.25 times the utilization, no sooner
// than Up after the last change when it rises and Down when it falls.
type Schedutil struct {
	Up, Down Time
}

// Interval implements Governor.
func (g Schedutil) Interval() Time { return max(g.Up, 50*Microsecond) }

// Decide implements Governor.
func (g Schedutil) Decide(l *Load) (int, bool) {
	const margin = 1.25
	need := margin * l.Util * float64(l.OPPs[len(l.OPPs)-1].Hz)
	p := l.Low
	for p < l.High && float64(l.OPPs[p].Hz) < need {
		p++
	}
	if p > l.Point && l.Since < g.Up || p < l.Point && l.Since < g.Down {
		return l.Point, true
	}
	return p, true
}

// AdrenoTZ is the governor of Adreno GPUs. It decides at most every Sample and only after MinBusy of work; after
// Ceiling of work without a low load it selects the highest point, else it steps one point up above the load UpShare
// and one down below DownShare. The two shares model the part of the algorithm that runs in TrustZone and is not
// public.
type AdrenoTZ struct {
	Sample, MinBusy, Ceiling Time
	UpShare, DownShare       float64
}

// Interval implements Governor.
func (g AdrenoTZ) Interval() Time { return g.Sample }

// Decide implements Governor.
func (g AdrenoTZ) Decide(l *Load) (int, bool) {
	if l.Busy < g.MinBusy {
		return l.Point, false
	}
	share := float64(l.Busy) / float64(l.Span)
	l.Streak += l.Busy
	switch {
	case share < g.DownShare:
		l.Streak = 0
		return max(l.Point-1, l.Low), true
	case l.Streak > g.Ceiling:
		return l.High, true
	case share >= g.UpShare:
		return min(l.Point+1, l.High), true
	}
	return l.Point, true
}

// halfLife is how long Load.Util takes to forget half: PELT_HALFLIFE of Linux.
const halfLife = 32 * Millisecond

// decay is the share of Util that is left after a span.
func decay(span Time) float64 { return math.Exp2(-float64(span) / float64(halfLife)) }
