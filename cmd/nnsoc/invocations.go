package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim"
)

// pace is how the invocations of a run follow one another.
type pace struct {
	invocations int
	intervalUs  float64
	cold        bool
	burst       bool
	// precision ends the loop while executions still differ, which takes the host long:
	// once the standard error of the mean latency is below this share of it, or after
	// maxSimulations. 0 does not.
	precision float64
	endurance
}

// planPace is the pace by which plans are compared while others are still to come.
func planPace() pace { return pace{invocations: defaultInvocations, precision: 0.0025} }

// Bounds of a loop that ends by its precision.
const (
	minInvocations = 3
	maxSimulations = 16 // executions on engines, once there were fewInvocations
	fewInvocations = 8
)

// defaultInvocations is how many benchmark_model measures.
const defaultInvocations = 50

// maxInvocations bounds what one run keeps.
const maxInvocations = 1_000_000

func (p *pace) add(fl *pflag.FlagSet) {
	fl.IntVar(&p.invocations, "invocations", defaultInvocations, fmt.Sprintf("invocations that are measured; the latency is their mean (with --concurrent %d unless given)", concurrentInvocations))
	fl.Float64Var(&p.intervalUs, "interval-us", 0, "simulated time from the start of an invocation to the next, without a warm-up (default: back to back, after a warm-up)")
	fl.BoolVar(&p.cold, "cold", false, "make the machine cold before each invocation")
	fl.BoolVar(&p.burst, "burst", false, "execute through burst objects")
}

func (p *pace) check() error {
	if p.invocations < 1 || p.invocations > maxInvocations {
		return usage(fmt.Errorf("--invocations %d, want 1 to %d", p.invocations, maxInvocations))
	}
	if !(p.intervalUs >= 0 && p.intervalUs <= 1e9) {
		return usage(fmt.Errorf("--interval-us %v, want 0 to 1e9", p.intervalUs))
	}
	if p.cold && p.intervalUs > 0 {
		return usage(fmt.Errorf("--interval-us does nothing with --cold"))
	}
	if all := float64(p.invocations+warmups) * p.intervalUs; p.duration == 0 && all > maxDuration.Seconds()*1e6 {
		return usage(fmt.Errorf("%d invocations every %v us take %.4g s, at most %v", p.invocations, p.intervalUs, all/1e6, maxDuration))
	}
	return p.endurance.check()
}

// warmups are the invocations of a paced run that are not measured: what slept when
// the machine was switched on sleeps as long as between two of them after that.
const warmups = 3

// invoke runs a compilation as often as asked for and returns the last result, with
// the latencies of all.
func (p *pace) invoke(m *machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (*nnrt.Result, *invocations, error) {
	if o.Functional {
		r, err := c.Execute(inputs, o)
		return r, nil, err
	}
	if p.duration > 0 {
		return p.endure(m, c, inputs, o)
	}
	var last *nnrt.Result
	inv := newInvocations()
	err := p.loop(m, c, inputs, o, func(r *nnrt.Result) {
		inv.add(r)
		last = r
	})
	if err != nil {
		return nil, nil, err
	}
	inv.finish()
	return last, inv, nil
}

// loop runs a compilation as often as asked for, on a machine that begins cold.
func (p *pace) loop(m *machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions, each func(*nnrt.Result)) error {
	before := m.live.Simulated()
	last, mean := before, newInvocations()
	once, pause, err := p.begin(m, c, inputs, o)
	if err != nil {
		return err
	}
	for i := range p.invocations {
		if p.cold {
			m.live.Reset()
		}
		r, err := once(i == 0)
		if err != nil {
			return err
		}
		each(r)
		pause()
		mean.took(r.LatencyFs, r.EnergyPJ)
		now := m.live.Simulated()
		if p.precision > 0 && now > last && (mean.within(p.precision) || i+1 >= fewInvocations && now-before > maxSimulations) {
			break
		}
		last = now
	}
	return nil
}

// begin makes the machine cold and passes what is not measured. once is an invocation,
// traced or not; pause waits until the next.
func (p *pace) begin(m *machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (once func(traced bool) (*nnrt.Result, error), pause func(), err error) {
	o.Burst = p.burst
	once = func(traced bool) (*nnrt.Result, error) {
		o := o
		if !traced {
			o.Trace = nil
		}
		if t, ok := o.Trace.(*runTracer); ok {
			defer t.observe(m.live.SoC())()
		}
		return c.Execute(inputs, o)
	}
	m.live.Reset()
	var start sim.Time
	pause = func() {
		start += sim.Time(p.intervalUs * float64(sim.Microsecond))
		m.live.SoC().Sleep(start)
	}
	switch {
	case p.cold:
	case p.intervalUs > 0:
		for range warmups {
			if _, err := once(false); err != nil {
				return nil, nil, err
			}
			pause()
		}
	default:
		err = m.live.Warm(func() error { _, err := once(false); return err })
	}
	return once, pause, err
}

// invocations are the measured invocations of a run.
type invocations struct {
	Count   int     `json:"count"`
	FirstUS float64 `json:"first_us"`
	MeanUS  float64 `json:"mean_us"`
	MinUS   float64 `json:"min_us"`
	MaxUS   float64 `json:"max_us"`
	StdUS   float64 `json:"std_us"`
	Course  *course `json:"course,omitempty"` // with --duration

	sum, squares    float64 // of the differences to the first
	energy          float64
	parts, energies map[string]float64 // sums, then means
}

func newInvocations() *invocations {
	return &invocations{parts: map[string]float64{}, energies: map[string]float64{}}
}

// add adds a result.
func (x *invocations) add(r *nnrt.Result) {
	x.took(r.LatencyFs, r.EnergyPJ)
	left := r.LatencyFs
	for _, p := range r.Chain {
		left -= x.part(p.Name, p.TimeFs, p.EnergyPJ)
	}
	x.overlap(left)
}

// repeated adds a turn of a loop.
func (x *invocations) repeated(v *devices.Invocation) {
	x.took(int64(v.Latency), v.EnergyPJ)
	left := int64(v.Latency)
	for _, p := range v.Parts {
		left -= x.part(p.Name, int64(p.Time), p.EnergyPJ)
	}
	x.overlap(left)
}

func (x *invocations) took(fs int64, pj float64) {
	us := microseconds(fs)
	if x.Count == 0 {
		x.FirstUS, x.MinUS, x.MaxUS = us, us, us
	}
	x.Count++
	x.MinUS, x.MaxUS = min(x.MinUS, us), max(x.MaxUS, us)
	d := us - x.FirstUS
	x.sum += d
	x.squares += d * d
	x.energy += pj / 1e6
}

func (x *invocations) part(name string, fs int64, pj float64) int64 {
	x.parts[name] += microseconds(fs)
	x.energies[name] += pj / 1e6
	return fs
}

// overlap is the time of devices that work at the same time.
func (x *invocations) overlap(fs int64) {
	if fs != 0 {
		x.parts["overlap"] += microseconds(fs)
	}
}

// within reports whether the standard error of the mean latency is below a share of it.
func (x *invocations) within(share float64) bool {
	n := float64(x.Count)
	mean := x.sum / n
	return x.Count >= minInvocations && max(0, x.squares/n-mean*mean)/(n-1) < share*share*(x.FirstUS+mean)*(x.FirstUS+mean)
}

func (x *invocations) finish() {
	n := float64(x.Count)
	mean := x.sum / n
	x.MeanUS = x.FirstUS + mean
	x.StdUS = math.Sqrt(max(0, x.squares/n-mean*mean))
	x.energy /= n
	for k := range x.parts {
		x.parts[k] /= n
	}
	for k := range x.energies {
		x.energies[k] /= n
	}
}

// spread writes how invocations that differ are spread.
func (r *report) spread(w io.Writer) {
	for i := range r.data.Runs {
		if x := r.data.Runs[i].Invocations; x != nil && x.MaxUS-x.MinUS > 0.0005*x.MeanUS {
			fmt.Fprintf(w, "%s: %d invocations, first %.1f us, min %.1f, max %.1f, standard deviation %.1f\n", r.data.Runs[i].Device, x.Count, x.FirstUS, x.MinUS, x.MaxUS, x.StdUS)
		}
	}
}

// live builds the devices of one machine that keeps its state from execution to
// execution.
func (a *app) live(pref hal.Preference) (*machine, error) {
	a.persistent = true
	defer func() { a.persistent = false }()
	return a.machine(pref)
}
