package mlts

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/sim"
)

// Span is the duration of the app's loops, in simulated time.
type Span struct {
	WarmUp, Run sim.Time
	// Iterations ends a loop earlier; 0 does not.
	Iterations int
	// Steady is how long times must repeat before the rest of a loop is taken for the same: until then a governor may still
	// change a clock.
	Steady sim.Time
}

// Spans of the app: the usual one and its short form.
var (
	Long      = Span{WarmUp: 2 * sim.Second, Run: 10 * sim.Second, Steady: devices.SteadySpan}
	ShortSpan = Span{WarmUp: 300 * sim.Millisecond, Run: sim.Second, Steady: devices.SteadySpan}
)

// maxIterations bounds a loop of iterations of next to no time.
const maxIterations = 10_000_000

// Of a loop with recurring times: how many iterations make a period, by the number of alternating inputs, and how many
// equal periods are believed. The machine repeats the last four executions cyclically once their clocks are steady (D-720).
const (
	periodIterations = 4
	periods          = 3
)

// repeat calls next for a span: first as a warm-up, then for the summary. inputs is the number of different inputs that
// alternate. When the times repeat exactly, the rest of the span is filled with such periods.
func (s Span) repeat(inputs int, next func() (sim.Time, error)) (l *Latency, early bool, err error) {
	if _, _, err := s.phase(s.WarmUp, inputs, next); err != nil {
		return nil, false, err
	}
	return s.phase(s.Run, inputs, next)
}

func (s Span) phase(span sim.Time, inputs int, next func() (sim.Time, error)) (*Latency, bool, error) {
	var list []spell
	var times []sim.Time // of every iteration
	var took sim.Time
	limit := maxIterations
	if s.Iterations > 0 {
		limit = min(limit, s.Iterations)
	}
	period := periodIterations * inputs
	equal, steady := 0, sim.Time(0) // iterations that repeat those of a period before, and their time
	for took < span && len(times) < limit {
		t, err := next()
		if err != nil {
			return nil, false, err
		}
		if t <= 0 {
			return nil, false, fmt.Errorf("an iteration took no simulated time")
		}
		if n := len(times); n >= period && times[n-period] == t {
			equal++
			steady += t
		} else {
			equal, steady = 0, 0
		}
		times = append(times, t)
		took += t
		list = append(list, spell{t.Seconds(), 1})
		if equal >= periods*period && steady >= s.Steady {
			n := fill(times[len(times)-period:], span-took, limit-len(times))
			for i, k := range n {
				list = append(list, spell{times[len(times)-period+i].Seconds(), k})
			}
			return newLatency(list), true, nil
		}
	}
	if len(list) == 0 {
		return nil, false, nil // no warm-up
	}
	return newLatency(list), false, nil
}

// fill is how often each time of a period occurs until a span is over, at most limit in all.
func fill(period []sim.Time, span sim.Time, limit int) []int {
	n := make([]int, len(period))
	if span <= 0 || limit <= 0 {
		return n
	}
	var once sim.Time
	for _, t := range period {
		once += t
	}
	whole := min(int(span/once), limit/len(period))
	left, room := span-sim.Time(whole)*once, limit-whole*len(period)
	for i, t := range period {
		n[i] = whole
		if left > 0 && room > 0 {
			n[i]++
			left -= t
			room--
		}
	}
	return n
}
