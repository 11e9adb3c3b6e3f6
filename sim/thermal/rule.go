package thermal

import "github.com/nnsoc/nnsoc/sim"

// Rule lowers a clock while a sensor is hot, as the thermal daemon of a phone does: it
// reads the sensor periodically, and moves one step up or down each time where needed.
type Rule struct {
	Sensor int // a node
	Minus  int // a node whose temperature is subtracted, None: none
	Gate   int // a node that must be above GateCelsius for a step to begin, None: none
	// GateCelsius is the threshold that the gate's sensor must exceed.
	GateCelsius float64
	Every       sim.Time // from one look to the next
	Steps       []Step   // rising in Reach
}

// None means no node.
const None = -1

// Step is in force from the look that finds Reach or more to the one that finds Clear or
// less.
type Step struct {
	Reach, Clear float64
	Hz           int64 // highest clock
}

// Limiter is a rule in time. It is a value: a copy runs ahead without the original.
type Limiter struct {
	rule   *Rule
	active int // steps in force
}

// NewLimiter is a rule without a step in force.
func NewLimiter(r *Rule) Limiter { return Limiter{rule: r} }

// Next is when the rule samples its sensors next, after an instant.
func (l *Limiter) Next(t sim.Time) sim.Time { return (t/l.rule.Every + 1) * l.rule.Every }

// Update activates and clears steps by the sampled temperatures.
func (l *Limiter) Update(celsius []float64) {
	r := l.rule
	x := celsius[r.Sensor]
	if r.Minus != None {
		x -= celsius[r.Minus]
	}
	for l.active > 0 && x <= r.Steps[l.active-1].Clear {
		l.active--
	}
	if r.Gate != None && !(celsius[r.Gate] > r.GateCelsius) {
		return
	}
	for l.active < len(r.Steps) && x >= r.Steps[l.active].Reach {
		l.active++
	}
}

// Active is the number of steps in force.
func (l *Limiter) Active() int { return l.active }

// Hz is the highest clock now, 0 without a limit.
func (l *Limiter) Hz() int64 {
	if l.active == 0 {
		return 0
	}
	return l.rule.Steps[l.active-1].Hz
}
