package measure

import (
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Pace is how the invocations of a run follow one another.
type Pace struct {
	Invocations int
	intervalUs  float64
	cold        bool
	Burst       bool
	// Longest ends the loop early, once it has lasted so long, but for cycles of governors; 0 does not.
	Longest sim.Time
	// Approximate executes each program twice and repeats its costs: enough to choose among plans.
	Approximate bool
	Endurance
}

// PlanPace is the pace by which plans are compared while others are pending.
func PlanPace() Pace { return Pace{Invocations: defaultInvocations, Longest: governorsTime} }

// governorsTime is long enough for the governors of an engine, of memory and of the CPU to have changed the clocks of a
// loop that keeps them busy in part. The clock of a GPU that is busy for half of the time rises after 50 ms of work,
// once in up to 100 ms, and falls again for as long as the loop lasts; a loop of two such cycles is representative of
// many. It does not depend on which part of it the host has to simulate, so that predictions can end with the same
// invocation.
const governorsTime = 200 * sim.Millisecond

// defaultInvocations is how many benchmark_model measures.
const defaultInvocations = 50

// maxInvocations bounds the record of one run.
const maxInvocations = 1_000_000

// Add adds the flags.
func (p *Pace) Add(fl *pflag.FlagSet) {
	fl.IntVar(&p.Invocations, "invocations", defaultInvocations, "invocations that are measured; the latency is their mean")
	fl.Float64Var(&p.intervalUs, "interval-us", 0, "simulated time from the start of an invocation to the next, without a warm-up (default: back to back, after a warm-up)")
	fl.BoolVar(&p.cold, "cold", false, "make the machine cold before each invocation")
	fl.BoolVar(&p.Burst, "burst", false, "execute through burst objects")
}

// Check refuses values that no run can have.
func (p *Pace) Check() error {
	if p.Invocations < 1 || p.Invocations > maxInvocations {
		return cli.Usage(fmt.Errorf("--invocations %d, want 1 to %d", p.Invocations, maxInvocations))
	}
	if !(p.intervalUs >= 0 && p.intervalUs <= 1e9) {
		return cli.Usage(fmt.Errorf("--interval-us %v, want 0 to 1e9", p.intervalUs))
	}
	if p.cold && p.intervalUs > 0 {
		return cli.Usage(fmt.Errorf("--interval-us does nothing with --cold"))
	}
	if all := float64(p.Invocations+warmups) * p.intervalUs; p.Duration == 0 && all > maxDuration.Seconds()*1e6 {
		return cli.Usage(fmt.Errorf("%d invocations every %v us take %.4g s, at most %v", p.Invocations, p.intervalUs, all/1e6, maxDuration))
	}
	return nil
}

// Once is one invocation on a cold machine.
func (p Pace) Once() Pace {
	return Pace{Invocations: 1, cold: true, Burst: p.Burst, Longest: p.Longest}
}

// BackToBack reports whether invocations follow one another on a phone that is warm.
func (p *Pace) BackToBack() bool { return !p.cold && p.intervalUs == 0 }

// warmups are the invocations of a paced run that are not measured: parts that slept when the machine was switched on
// sleep as long as between two of them after that.
const warmups = 3

// Invoke runs a compilation as often as requested and returns the last result, with
// the latencies of all.
func (p *Pace) Invoke(m *machine.Machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (*nnrt.Result, *Invocations, error) {
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
func (p *Pace) Loop(m *machine.Machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions, each func(*nnrt.Result)) error {
	once, pause, err := p.begin(m, c, inputs, o)
	if err != nil {
		return err
	}
	defer m.Live.Exact()
	t := invocationLoop{soc: m.Live.SoC(), governed: m.Config.Governed, pace: p}
	for i := 0; !t.longEnough(i); i++ {
		if p.cold {
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
	}
	for _, r := range t.counted() {
		each(r)
	}
	return nil
}

// begin makes the machine cold and runs the unmeasured invocations. once is an invocation, traced and profiled or not;
// pause waits until the next.
func (p *Pace) begin(m *machine.Machine, c *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (once func(traced bool) (*nnrt.Result, error), pause func(), err error) {
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
		start += sim.Time(p.intervalUs * float64(sim.Microsecond))
		m.Live.SoC().Sleep(start)
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
	case p.Approximate:
		err = m.Live.Approximate(func() error { _, err := once(false); return err })
	default:
		err = m.Live.Warm(func() error { _, err := once(false); return err })
	}
	return once, pause, err
}

// Invocations are the measured invocations of a run.
type Invocations struct {
	Count   int     `json:"count"`
	FirstUS float64 `json:"first_us"`
	MeanUS  float64 `json:"mean_us"`
	MinUS   float64 `json:"min_us"`
	MaxUS   float64 `json:"max_us"`
	StdUS   float64 `json:"std_us"`
	Course  *Course `json:"course,omitempty"` // with --duration

	sum, squares    float64            // of the differences to the first
	Energy          float64            `json:"-"`
	Parts, Energies map[string]float64 `json:"-"` // sums, then means
	Components      map[string]float64 `json:"-"` // of the phone, by which Energy is divided

	shared []hal.Account // pending
}

// NewInvocations returns none yet.
func NewInvocations() *Invocations {
	return &Invocations{Parts: map[string]float64{}, Energies: map[string]float64{}, Components: map[string]float64{}}
}

// Add adds a result. Energy divided among it and others is complete by Finish.
func (x *Invocations) Add(r *nnrt.Result) {
	if r.Shared != nil {
		x.shared = append(x.shared, r.Shared)
	}
	x.components(r.Components)
	x.add(r.LatencyFs, r.EnergyPJ)
	left := r.LatencyFs
	for _, p := range r.Chain {
		left -= x.part(p.Name, p.TimeFs, p.EnergyPJ)
	}
	x.overlap(left)
}

func (x *Invocations) components(list []hal.ComponentEnergy) (pj float64) {
	for _, c := range list {
		x.Components[c.Name] += c.EnergyPJ / 1e6
		pj += c.EnergyPJ
	}
	return pj
}

// repeated adds an iteration of a loop.
func (x *Invocations) repeated(v *devices.Invocation) {
	x.add(int64(v.Latency), v.EnergyPJ)
	for r, pj := range v.Rails {
		if pj != 0 {
			x.Components[soc.Rail(r).String()] += pj / 1e6
		}
	}
	left := int64(v.Latency)
	for _, p := range v.Parts {
		left -= x.part(p.Name, int64(p.Time), p.EnergyPJ)
	}
	x.overlap(left)
}

func (x *Invocations) add(fs int64, pj float64) {
	us := cli.Microseconds(fs)
	if x.Count == 0 {
		x.FirstUS, x.MinUS, x.MaxUS = us, us, us
	}
	x.Count++
	x.MinUS, x.MaxUS = min(x.MinUS, us), max(x.MaxUS, us)
	d := us - x.FirstUS
	x.sum += d
	x.squares += d * d
	x.Energy += pj / 1e6
}

func (x *Invocations) part(name string, fs int64, pj float64) int64 {
	x.Parts[name] += cli.Microseconds(fs)
	x.Energies[name] += pj / 1e6
	return fs
}

// overlap is the time of devices that work at the same time.
func (x *Invocations) overlap(fs int64) {
	if fs != 0 {
		x.Parts["overlap"] += cli.Microseconds(fs)
	}
}

// Finish works out means once all invocations were added.
func (x *Invocations) Finish() {
	for _, s := range x.shared {
		if pj := x.components(s.Components()); pj > 0 {
			x.Energy += pj / 1e6
			x.part(nnrt.PartShared, 0, pj)
		}
	}
	x.shared = nil
	n := float64(x.Count)
	mean := x.sum / n
	x.MeanUS = x.FirstUS + mean
	x.StdUS = math.Sqrt(max(0, x.squares/n-mean*mean))
	x.Energy /= n
	for k := range x.Parts {
		x.Parts[k] /= n
	}
	for k := range x.Energies {
		x.Energies[k] /= n
	}
	for k := range x.Components {
		x.Components[k] /= n
	}
}

// ConcurrentInvocations is the default of --invocations for each network. All of them are simulated: beside others, no
// two are the same.
const ConcurrentInvocations = 5
