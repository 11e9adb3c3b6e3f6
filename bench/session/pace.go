package session

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
)

// Pace is how the invocations of a run follow one another: back to back on a phone that is warm, unless it says
// otherwise. The zero value is DefaultPace's.
type Pace struct {
	Invocations int     // that are measured; 0 is DefaultInvocations
	IntervalUS  float64 // simulated time from the start of an invocation to the next, without a warm-up; 0: back to back
	Cold        bool    // makes the machine cold before each invocation
	Burst       bool    // executes through burst objects
	// Duration, where it is above 0, is the simulated time for which invocations continue, however many they are.
	Duration time.Duration
	// Longest ends the loop early, once it has lasted so long, but for cycles of governors; 0 does not.
	Longest sim.Time
	// Approximate executes each program twice and repeats its costs: enough to choose among plans.
	Approximate bool
	// Progress is called with the share that is done; nil: never.
	Progress func(share float64) `json:"-"`
}

// PlanPace is the pace by which plans are compared while others are pending.
func PlanPace() Pace { return Pace{Invocations: DefaultInvocations, Longest: governorsTime} }

// governorsTime is long enough for the governors of an engine, of memory and of the CPU to have changed the clocks of a
// loop that keeps them busy in part. The clock of a GPU that is busy for half of the time rises after 50 ms of work,
// once in up to 100 ms, and falls again for as long as the loop lasts; a loop of two such cycles is representative of
// many. It does not depend on which part of it the host has to simulate, so that predictions can end with the same
// invocation.
const governorsTime = 200 * sim.Millisecond

const (
	DefaultInvocations = 50        // as many as TensorFlow Lite's benchmark_model measures
	MaxInvocations     = 1_000_000 // bounds the record of one run
	MaxIntervalUS      = 1e9
)

// Check refuses values that no run can have.
func (p *Pace) Check() error {
	if p.Invocations < 0 || p.Invocations > MaxInvocations {
		return fmt.Errorf("invocations %d, want 1 to %d", p.Invocations, MaxInvocations)
	}
	if !(p.IntervalUS >= 0 && p.IntervalUS <= MaxIntervalUS) {
		return fmt.Errorf("interval-us %v, want 0 to 1e9", p.IntervalUS)
	}
	if p.Cold && p.IntervalUS > 0 {
		return errors.New("interval-us does nothing with a cold machine")
	}
	if p.Duration != 0 && (p.Duration < time.Millisecond || p.Duration > MaxDuration) {
		return fmt.Errorf("duration %v, want %v to %v", p.Duration, time.Millisecond, MaxDuration)
	}
	if all := float64(p.invocations()+warmups) * p.IntervalUS; p.Duration == 0 && all > MaxDuration.Seconds()*1e6 {
		return fmt.Errorf("interval-us %v: %d invocations take %.4g s, at most %v", p.IntervalUS, p.invocations(), all/1e6, MaxDuration)
	}
	return nil
}

func (p *Pace) invocations() int { return cmp.Or(p.Invocations, DefaultInvocations) }

// Once is one invocation on a cold machine.
func (p Pace) Once() Pace {
	return Pace{Invocations: 1, Cold: true, Burst: p.Burst, Longest: p.Longest}
}

// BackToBack reports whether invocations follow one another on a phone that is warm.
func (p *Pace) BackToBack() bool { return !p.Cold && p.IntervalUS == 0 }

// warmups are the invocations of a paced run that are not measured: parts that slept when the machine was switched on
// sleep as long as between two of them after that.
const warmups = 3

// Invoke runs a compilation as often as requested and returns the last result, with
// the latencies of all.
func (p *Pace) Invoke(m *Phone, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (*nnrt.Result, *Invocations, error) {
	if o.Functional {
		r, err := c.Execute(inputs, o)
		return r, nil, err
	}
	if p.Duration > 0 {
		return p.endure(m, c, inputs, o)
	}
	var last *nnrt.Result
	inv := NewInvocations()
	err := p.Loop(m, c, inputs, o, func(r *nnrt.Result) {
		inv.Add(r)
		last = r
	})
	if err != nil {
		return nil, nil, err
	}
	inv.Finish()
	return last, inv, nil
}

// Loop runs a compilation as often as requested, on a machine that begins cold.
func (p *Pace) Loop(m *Phone, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions, each func(*nnrt.Result)) error {
	once, pause, err := p.begin(m, c, inputs, o)
	if err != nil {
		return err
	}
	defer m.Live.Exact()
	t := invocationLoop{soc: m.Live.SoC(), governed: m.Config.Governed, pace: p}
	for i := 0; !t.longEnough(i); i++ {
		if p.Cold {
			m.Live.Reset()
		}
		r, err := once(i == 0)
		if err != nil {
			return err
		}
		if p.Longest == 0 {
			each(r)
		} else {
			t.add(r)
		}
		pause()
		if n := p.invocations(); p.Progress != nil && (i+1)*10/n > i*10/n {
			p.Progress(min(1, float64(i+1)/float64(n)))
		}
	}
	for _, r := range t.counted() {
		each(r)
	}
	return nil
}

// begin makes the machine cold and runs the unmeasured invocations. once is an invocation, traced and profiled or not;
// pause waits until the next.
func (p *Pace) begin(m *Phone, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (once func(traced bool) (*nnrt.Result, error), pause func(), err error) {
	o.Burst = p.Burst
	once = func(traced bool) (*nnrt.Result, error) {
		o := o
		if !traced {
			o.Trace, o.Profile = nil, nil
		}
		if t, ok := o.Trace.(*Tracer); ok {
			defer t.Observe(m.Live.SoC())()
		}
		return c.Execute(inputs, o)
	}
	m.Live.Reset()
	var start sim.Time
	pause = func() {
		start += sim.Time(p.IntervalUS * float64(sim.Microsecond))
		m.Live.SoC().Sleep(start)
	}
	switch {
	case p.Cold:
	case p.IntervalUS > 0:
		for range warmups {
			if _, err := once(false); err != nil {
				return nil, nil, err
			}
			pause()
		}
	case p.Approximate:
		err = m.Live.Approximate(func() error { _, err := once(false); return err })
	default:
		err = m.Live.Warm(func() error { _, err := once(false); return err })
	}
	return once, pause, err
}

// microseconds converts femtoseconds.
func microseconds(fs int64) float64 { return float64(fs) / 1e9 }
