package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Auto is the device name of a plan by prediction: see Planner. AOSP's rule, by what drivers promise, is nnrt.ByStrategy.
const Auto = "auto"

// Divides reports whether a device name stands for all devices: Auto, or nnrt.ByStrategy.
func Divides(device string) bool { return device == Auto || device == nnrt.ByStrategy }

// RunOptions are how a network runs. Without a device it runs by Auto.
type RunOptions struct {
	Device      string
	Pace        Pace
	Candidates  map[int]string // kernels to use, by operation: see nnrt.CompileOptions
	Functional  bool           // computes the tensors only: no cycles, no energy
	Sampled     bool           // simulates some executions at the same clocks for the others
	Exact       bool           // simulates each execution that begins in another state, also where three have been alike
	CheckLayers bool           // compares the output of every operation
	FirstUse    bool           // measures the first use of the network too, where the pace is back to back
	Labels      []string       // names of classes
	Profile     nnrt.Profiler  // nil: none
	// Trace returns what draws a run that the devices take part in; nil: none.
	Trace func(devices []string) nnrt.Tracer
	// Compiled is called before the network runs; nil: never.
	Compiled func(*nnrt.Compilation)
	// Progress is called with what is being done; nil: never.
	Progress func(format string, args ...any)
}

func (o *RunOptions) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

// Statuses of a run.
const (
	StatusOK          = "ok"
	StatusMismatch    = "mismatch"
	StatusUnsupported = "unsupported"
	StatusFailed      = "failed" // the device's driver is gone, or one from outside failed
)

// Run runs a network on a device and compares its outputs with the reference. A device that supports none of the network
// is no error: the run has StatusUnsupported.
func (p *Phone) Run(n *Network, o RunOptions) (*Run, error) {
	if o.Device == "" {
		o.Device = Auto
	}
	if err := o.Pace.Check(); err != nil {
		return nil, err
	}
	if err := n.Reference(); err != nil {
		return nil, err
	}
	o.progress("%s: compile", o.Device)
	start := cputime.User()
	c, err := p.compile(n, &o)
	if err != nil {
		return nil, err
	}
	r := &Run{
		Device: o.Device, Status: StatusOK, PredictedUS: c.PredictedUS, Operations: []Operation{}, Outputs: []Output{},
		burst: o.Pace.Burst, Compilation: c.Compilation, Host: &RunTime{HostTime: HostTime{Prepare: (cputime.User() - start).Seconds()}},
	}
	if r.outside(p); r.Status == StatusFailed {
		return r, nil
	}
	cpu := c.Phone.Registry.CPU().Name()
	if o.Device != cpu && !Divides(o.Device) && c.Accelerated(cpu) == 0 {
		r.Status, r.Host = StatusUnsupported, nil
		r.fallbacks(n.Model)
		return r, nil
	}
	if err := r.execute(c, n, &o); err != nil {
		return nil, err
	}
	r.fallbacks(n.Model)
	r.costs(n.Model)
	if o.CheckLayers {
		o.progress("%s: check layers", o.Device)
		if r.Layers, err = checkLayers(p, n, o.Device); err != nil {
			return nil, err
		}
		if r.Layers.First != nil {
			r.Status = StatusMismatch
		}
	}
	r.compare(n, o.Labels)
	return r, nil
}

// alike is how far executions of a program may lie from each other, in latency and energy, for one of them to stand for
// further ones: less than half of a percent of the mean, by which no decision about a driver or a machine is taken.
const alike = 0.005

// Compile compiles a network for a device of this phone, for Auto by the plan of the best prediction for a loop.
func (p *Phone) Compile(n *Network, device string, o nnrt.CompileOptions) (*nnrt.Compilation, error) {
	if device != Auto {
		return nnrt.Compile(p.Registry, n.Model, device, o)
	}
	planned := p
	if p.Live == nil { // predictions are of devices that share a machine
		var err error
		if planned, err = p.another(); err != nil {
			return nil, err
		}
	}
	problem, plan, err := NewPlanner(planned, o, PlanPace()).choose(n)
	if err != nil {
		return nil, err
	}
	c, err := nnrt.CompilePlan(p.Registry, problem, plan, o)
	if err == nil {
		c.Device = Auto
	}
	return c, err
}

func (p *Phone) compile(n *Network, o *RunOptions) (*Choice, error) {
	options := nnrt.CompileOptions{Preference: nnrt.Prefer(p.Preference()), Candidates: o.Candidates}
	if o.Device == Auto {
		x := NewPlanner(p, options, o.Pace)
		x.Progress = o.Progress
		return x.Compile(n)
	}
	c, err := nnrt.Compile(p.Registry, n.Model, o.Device, options)
	return &Choice{Compilation: c, Phone: p}, err
}

// execute runs what was compiled, on the phone that it is compiled for.
func (r *Run) execute(c *Choice, n *Network, o *RunOptions) (err error) {
	if o.Compiled != nil {
		o.Compiled(c.Compilation)
	}
	x := nnrt.ExecuteOptions{Functional: o.Functional, Profile: o.Profile}
	if o.Trace != nil {
		x.Trace = o.Trace(c.Devices())
	}
	o.progress("%s: run", o.Device)
	live := c.Phone.Live
	live.CollectBounded()
	live.Sampled = o.Sampled
	live.CollectSampling()
	live.CollectRepeated()
	live.Tolerance = alike
	if o.Exact || o.Pace.Duration > 0 { // a loop over a duration repeats by itself
		live.Tolerance = 0
	}
	begin := cputime.User()
	if o.FirstUse && !o.Functional && o.Pace.BackToBack() {
		if r.FirstUse, err = measureFirst(c.Phone, c.Compilation, n); err != nil {
			return err
		}
	}
	pace := o.Pace
	if pace.Progress == nil {
		pace.Progress = o.share(&pace)
	}
	start, before := cputime.User(), live.Simulated()
	if r.Result, r.Invocations, err = pace.Invoke(c.Phone, c.Compilation, n.Inputs, x); err != nil {
		return err
	}
	took := cputime.User() - start
	r.Host.Run = (cputime.User() - begin).Seconds()
	if o.Sampled {
		s := live.CollectSampling()
		r.Sampled = &s
	}
	if b := live.CollectBounded(); b.Simulated < b.Executions {
		r.Bounded = &b
	}
	if x := live.CollectRepeated(); x.Simulated < x.Executions {
		r.Repeated = &x
	}
	parts := 0
	for _, d := range r.Result.Devices {
		parts += d.Parts
	}
	if s := live.Simulated() - before; s > parts {
		took = took * time.Duration(parts) / time.Duration(s)
	} else if s < parts && c.ExecuteUser > 0 { // the rest is remembered
		took = c.ExecuteUser
	}
	r.Host.Execute = took.Seconds()
	return nil
}

// share reports how much of a run is done: of a duration each tenth, of invocations those tenths that take a while.
func (o *RunOptions) share(p *Pace) func(float64) {
	const aWhile = time.Second
	last := time.Now()
	return func(share float64) {
		switch {
		case p.Duration > 0:
			o.progress("%s: %.0f %% of %v", o.Device, 100*share, p.Duration)
		case time.Since(last) >= aWhile:
			o.progress("%s: %.0f %% of %d invocations", o.Device, 100*share, p.invocations())
			last = time.Now()
		}
	}
}

// outside notes the engine that a driver from outside replaces. One that was gone before it accepted anything has
// failed.
func (r *Run) outside(p *Phone) {
	d, err := p.Registry.Find(r.Device)
	if err != nil {
		return
	}
	if at, ok := devices.Outside(d); ok {
		r.Outside = at.String()
	}
	if moved := r.Compilation.Fallbacks; d.Status() == hal.DeviceOffline && len(moved) > 0 && r.Compilation.Accelerated(p.Registry.CPU().Name()) == 0 {
		*r = *FailedRun(r.Device, errors.New(moved[0].Reason))
	}
}

// FailedRun is the run of a device whose driver ended or failed while it ran the network.
func FailedRun(device string, cause error) *Run {
	return &Run{Device: device, Status: StatusFailed, Error: cause.Error(), Operations: []Operation{}, Outputs: []Output{}}
}

// Lost reports whether an error is a driver's end, or the failure of one from outside.
func (p *Phone) Lost(device string, err error) bool {
	d, _ := p.Registry.Find(device)
	_, outside := devices.Outside(d)
	var returned service.DriverError
	return errors.As(err, &returned) || hal.StatusOf(err) == hal.DeviceUnavailable || outside && hal.StatusOf(err) == hal.GeneralFailure
}

// fallbacks lists the operations that moved to the CPU.
func (r *Run) fallbacks(m *nn.Model) {
	moved := r.Compilation.Fallbacks
	if r.Result != nil {
		moved = append(moved[:len(moved):len(moved)], r.Result.Fallbacks...)
	}
	r.Fallback, r.Fallbacks = len(moved), FallbackEntries(m, moved)
}

// compare judges the outputs.
func (r *Run) compare(n *Network, labels []string) {
	for i, c := range n.Compare(r.Result) {
		out := Output{Elements: c.Elements, Mismatches: c.Mismatches, MaxAbsDiff: c.MaxAbsDiff, Top1: c.Top1}
		if i < len(n.Model.Main.Outputs) && i < len(r.Result.Outputs) {
			o := &n.Model.Main.Operands[n.Model.Main.Outputs[i]]
			out.of(o, i, o.Unmerge(r.Result.Dimensions[i]), r.Result.Outputs[i], labels)
		}
		if c.First != nil {
			r.Status, out.Difference = StatusMismatch, c.First.Error()
		}
		r.Outputs = append(r.Outputs, out)
	}
}

// Failed is an error when a result differs from the reference, a device has failed, or none supports any of the network.
func (r *Report) Failed() error {
	var all []error
	var bad []string
	none := len(r.Runs) > 0
	for _, e := range r.Runs {
		switch e.Status {
		case StatusMismatch:
			bad = append(bad, e.Device)
		case StatusFailed:
			all = append(all, fmt.Errorf("%s: %s", e.Device, e.Error))
		}
		none = none && e.Status == StatusUnsupported
	}
	if none {
		return errors.New("no requested device supports any operation of the network")
	}
	if len(bad) > 0 {
		all = append(all, fmt.Errorf("results of %s differ from the reference", strings.Join(bad, ", ")))
	}
	return errors.Join(all...)
}
