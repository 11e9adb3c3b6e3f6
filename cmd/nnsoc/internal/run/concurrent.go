package run

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// starvation is how many times as often as requested a network runs before the run ends
// although another has not: one of low priority may never get an engine that others of
// high priority keep busy.
const starvation = 20

// maxConcurrent bounds the networks of one run.
const maxConcurrent = 16

func severalModels(args []string) error {
	if len(args) < 2 || len(args) > maxConcurrent {
		return cli.Usage(fmt.Errorf("--concurrent needs 2 to %d MODELs, got %d", maxConcurrent, len(args)))
	}
	return nil
}

var priorities = map[string]hal.Priority{"low": hal.PriorityLow, "medium": hal.PriorityMedium, "high": hal.PriorityHigh}

// contender is a network that shares the phone with others.
type contender struct {
	*input.Form
	device   string
	priority string
	compiled *nnrt.Compilation
}

// contention runs contenders on one machine.
type contention struct {
	machine    *machine.Machine
	contenders []*contender
	count      int // invocations
	burst      bool
}

func runConcurrent(a *cli.App, f *runFlags, args []string) (err error) {
	defer try.Catch(&err)
	m, pref := try.V2(runMachine(a, f))
	x := &contention{machine: m, count: f.pace.Invocations, burst: f.pace.Burst}
	p := a.Progress()
	defer p.Done()
	try.E(x.add(a, f, pref, args, p))
	timeline := try.V(f.trace.Open())
	defer timeline.Discard()
	r := &ConcurrentReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, PeakGBps: peakGBps(m.Config)}
	for i, c := range x.contenders {
		p.Part(i, len(x.contenders)+1)
		p.Update("%s: alone", c.Model.Name)
		alone, _ := try.V2(x.measure([]*contender{c}, nil))
		r.Networks = append(r.Networks, newContenderEntry(c, &alone[0]))
	}
	p.Part(len(x.contenders), len(x.contenders)+1)
	p.Update("together")
	together, span := try.V2(x.measure(x.contenders, timeline))
	p.Done()
	r.TogetherUS = cli.Microseconds(span)
	for i := range together {
		r.Networks[i].join(&together[i])
		r.DRAMGBps += r.Networks[i].Together.DRAMGBps
	}
	try.E(timeline.Commit())
	if a.JSON {
		err = cli.PrintJSON(a.Out, r)
	} else {
		err = r.print(a.Out)
	}
	if err != nil {
		return err
	}
	return r.verdict()
}

// add reads, compiles and computes the reference of each network.
func (x *contention) add(a *cli.App, f *runFlags, pref hal.Preference, args []string, p *cli.Progress) (err error) {
	defer try.Catch(&err)
	if n := len(f.devices); n > 0 && n != len(args) {
		return cli.Usage(fmt.Errorf("--device names %s for %d networks; want one for each, in their order, such as npu,dsp", cli.Count(n, "device"), len(args)))
	}
	if n := len(f.priorities); n > 0 && n != len(args) {
		return cli.Usage(fmt.Errorf("--priority names %d priorities for %d networks", n, len(args)))
	}
	choices := try.V(f.Choice.ParseEach(len(args)))
	for i, name := range args {
		c := &contender{priority: "medium"}
		if len(f.priorities) > 0 {
			c.priority = f.priorities[i]
		}
		priority, ok := priorities[c.priority]
		if !ok {
			return cli.Usage(fmt.Errorf("unknown priority %q; there are low, medium, high", c.priority))
		}
		model := try.V(input.ReadModel(a, name, choices[i]))
		c.Form = try.V(input.NewForm(model, &f.Flags))
		if len(f.devices) > 0 {
			c.device = f.devices[i]
			try.V(x.machine.Choose([]string{c.device}))
		} else if c.device, err = x.freeDevice(model); err != nil {
			return err
		}
		p.Update("%s: reference", model.Name)
		try.E(input.Reference(c.Form))
		p.Update("%s: compile for %s", model.Name, c.device)
		o := nnrt.CompileOptions{Preference: nnrt.Prefer(pref), Priority: nnrt.Rank(priority)}
		c.compiled, err = x.machine.Compile(c.Form, c.device, o)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", model.Name, c.device, err)
		}
		cpu := x.machine.Registry.CPU().Name()
		if c.device != cpu && !session.Divides(c.device) && c.compiled.Accelerated(cpu) == 0 {
			return cli.Usage(fmt.Errorf("%s runs none of %s: %s", c.device, model.Name, c.compiled.Fallbacks[0].Reason))
		}
		x.contenders = append(x.contenders, c)
	}
	return nil
}

// freeDevice is the last device of the SoC that runs all of a network and that no other
// network has.
func (x *contention) freeDevice(m *nn.Model) (string, error) {
	for _, d := range slices.Backward(x.machine.Registry.Devices()) {
		taken := slices.ContainsFunc(x.contenders, func(c *contender) bool { return c.device == d.Name() })
		if n, err := input.Supported(d, m); err == nil && !taken && n == len(m.Main.Operations) {
			return d.Name(), nil
		}
	}
	return "", cli.Usage(fmt.Errorf("no device that is free runs all of %s: --device sets which networks share one", m.Name))
}

// measured are the executions of one contender.
type measured struct {
	*session.Invocations
	startFs, endFs int64 // of the first and the last
	dramBytes      int64
	cycles         int64 // of the engines
	memory         int64 // of the cycles, those that waited for the memory
	mismatches     int   // of all executions, those that warm up too
	difference     string
}

// measure lets contenders run from a cold machine on, each in a loop, until each has run
// as often as requested after it has warmed up, or one starves. Executions count that end
// before that. span is the time from the first that has warmed up on.
func (x *contention) measure(list []*contender, t *measure.Timeline) (all []measured, span int64, err error) {
	x.machine.Live.Reset()
	var observed func()   // ends the phone's part of the timeline, from the first that has warmed up on
	originFs := int64(-1) // when that is: 0 on the timeline, and the earliest that any begins
	if t != nil {
		x.processes(t, list)
	}
	defer func() {
		if observed != nil {
			observed()
		}
	}()
	all = make([]measured, len(list))
	var run []func(*devices.Client) error
	left := len(list) // contenders that have not run as often
	for i, c := range list {
		r := &all[i]
		r.Invocations = session.NewInvocations()
		run = append(run, func(client *devices.Client) (err error) {
			defer func() {
				if err != nil {
					left = 0 // no client waits for this one
					failed := x.machine.Lost(c.device, err)
					if err = fmt.Errorf("%s on %s: %w", c.Model.Name, c.device, err); failed {
						err = &cli.ExitError{Code: cli.ExitMismatch, Err: err}
					}
				}
			}()
			execute := func(warm bool) (*nnrt.Result, error) {
				o := nnrt.ExecuteOptions{Burst: x.burst, Client: client}
				if t != nil && !warm {
					o.Trace = t.Concurrent(c.application(), client.NowFs()-originFs)
				}
				res, err := c.compiled.Execute(c.Inputs, o)
				if err == nil {
					r.compare(c, res)
				}
				return res, err
			}
			if err := client.Warm(func() error { _, err := execute(true); return err }); err != nil {
				return err
			}
			if originFs < 0 {
				originFs = client.NowFs()
			}
			if client.NowFs() < originFs {
				client.WaitUntil(originFs)
			}
			r.startFs = client.NowFs()
			if t != nil && observed == nil {
				observed = (&session.Tracer{Writer: t.Writer, Phone: phoneProcess}).Observe(x.machine.Live.SoC())
			}
			for left > 0 {
				res, err := execute(false)
				if err != nil {
					return err
				}
				if left == 0 {
					return nil
				}
				r.count(res, client.NowFs())
				switch r.Count {
				case x.count:
					left--
				case x.count * starvation:
					left = 0
				}
			}
			return nil
		})
	}
	_, err = x.machine.Live.RunConcurrent(run...)
	return all, finish(all), err
}

// finish ends the counts and returns the time from the first start to the last end.
func finish(all []measured) (span int64) {
	var start, last int64
	for i := range all {
		r := &all[i]
		if r.Count > 0 {
			r.Finish()
		}
		if last = max(last, r.endFs); i == 0 || r.startFs < start {
			start = r.startFs
		}
	}
	return last - start
}

// application is the process of a network in a timeline.
func (c *contender) application() string { return c.Model.Name + " on " + c.device }

// processes introduces those of a timeline: the networks', the engines', the phone's.
func (x *contention) processes(t *measure.Timeline, list []*contender) {
	for _, c := range list {
		t.Writer.Processes(c.application())
	}
	for _, d := range x.machine.Registry.Devices() {
		if slices.ContainsFunc(list, func(c *contender) bool { return slices.Contains(c.compiled.Devices(), d.Name()) }) {
			t.Writer.Processes(d.Name())
		}
	}
	t.Writer.Processes(phoneProcess)
}

// phoneProcess is the process of the machine's measurements beside networks.
const phoneProcess = "phone"

func (r *measured) compare(c *contender, res *nnrt.Result) {
	for _, x := range c.Compare(res) {
		r.mismatches += x.Mismatches
		if x.First != nil && r.difference == "" {
			r.difference = x.First.Error()
		}
	}
}

// count adds an execution that has ended.
func (r *measured) count(res *nnrt.Result, endFs int64) {
	r.Add(res)
	r.endFs = endFs
	for _, d := range res.Devices {
		r.dramBytes += d.Memory.ReadBytes + d.Memory.WriteBytes
		r.cycles += session.EngineCycles(d.Stalls)
		for _, s := range d.Stalls {
			if slices.Contains(memoryStalls, s.Reason) {
				r.memory += s.Cycles
			}
		}
	}
}

// memoryStalls are the reasons that a shared memory makes longer.
var memoryStalls = []string{"system_cache", "dram", "dma"}

// peakGBps is the bandwidth of the DRAM's pins.
func peakGBps(c *soc.Config) float64 {
	d := &c.DRAM
	return d.MTPerS * float64(d.BusBits/8*d.Channels) / 1e3
}
