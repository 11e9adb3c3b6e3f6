package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Workload is a network of a scenario, ready to run.
type Workload struct {
	Model  *nn.Model
	Inputs [][]byte // in the order of the model's inputs
	// Check counts the elements of a result that differ from the reference; nil checks nothing.
	Check func(*nnrt.Result) int
}

// Runner runs a scenario on a machine. It is not safe for concurrent use.
type Runner struct {
	Machine    *devices.Machine
	Registry   *registry.Registry // of the machine's devices
	Preference hal.Preference
	Scenario   *Scenario
	Workloads  []Workload // by network of the scenario
	// Progress is told what runs; nil is none.
	Progress func(format string, args ...any)

	compiled map[[2]int]*nnrt.Compilation // by network and device
}

// Run is a simulated scenario.
type Run struct {
	Jobs       []Done // by job
	SpanFs     int64  // from the beginning to the end of the last job
	EngineFs   map[string]int64
	Mismatches int
}

// Done is a job that has run.
type Done struct {
	Device   string // "auto" where the runtime divided it
	StartFs  int64
	EndFs    int64
	EnergyPJ float64

	shared hal.Account
}

// say reports progress.
func (r *Runner) say(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(format, args...)
	}
}

// Measure runs each network alone on each engine, warm, and returns the problem of the strategies.
func (r *Runner) Measure() (*Problem, error) {
	p := &Problem{Scenario: r.Scenario, Jobs: r.Scenario.Jobs()}
	if len(p.Jobs) == 0 {
		return nil, fmt.Errorf("scenario: %s: no network arrives", r.Scenario.Name)
	}
	for _, d := range r.Registry.Devices() {
		p.Devices = append(p.Devices, d.Name())
	}
	for i := range r.Workloads {
		row := make([]Cost, len(p.Devices))
		runs := false
		for d := range p.Devices {
			r.say("%s alone on %s", r.Workloads[i].Model.Name, p.Devices[d])
			c, err := r.alone(p, i, d)
			if err != nil {
				return nil, err
			}
			row[d] = c
			runs = runs || c.Runs()
		}
		if arrives := slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Network == i }); !runs && arrives {
			return nil, fmt.Errorf("scenario: no engine runs %s: %s", r.Workloads[i].Model.Name, row[len(row)-1].Reason)
		}
		p.Costs = append(p.Costs, row)
	}
	return p, nil
}

// alone is the median cost of a network that has the phone for itself and arrives as in the scenario, but for one
// inference after the other: what it costs to be woken for each is in it, waiting for itself is not.
func (r *Runner) alone(p *Problem, network, device int) (Cost, error) {
	c, err := r.compile(p, network, device)
	if err != nil {
		return Cost{Reason: err.Error()}, nil
	}
	cpu := r.Registry.CPU().Name()
	if p.Devices[device] != cpu && c.Accelerated(cpu) == 0 {
		return Cost{Reason: c.Fallbacks[0].Reason}, nil
	}
	r.Machine.Reset()
	defer r.Machine.Exact()
	w := &r.Workloads[network]
	var latency, energy []float64
	_, err = r.Machine.RunConcurrent(func(client *devices.Client) error {
		for i := range p.Jobs {
			if p.Jobs[i].Network != network || len(latency) == aloneJobs {
				continue
			}
			client.WaitUntil(p.Jobs[i].ArrivalFs)
			res, err := c.Execute(w.Inputs, nnrt.ExecuteOptions{Client: client})
			if err != nil {
				return err
			}
			res.AddShared()
			latency, energy = append(latency, float64(res.LatencyFs)), append(energy, res.EnergyPJ)
		}
		return nil
	})
	if err != nil {
		return Cost{}, fmt.Errorf("scenario: %s on %s: %w", w.Model.Name, p.Devices[device], err)
	}
	if len(latency) == 0 {
		return Cost{Reason: "it does not arrive"}, nil
	}
	slices.Sort(latency)
	slices.Sort(energy)
	return Cost{LatencyFs: int64(quantile(latency, 0.5)), EnergyPJ: quantile(energy, 0.5)}, nil
}

// aloneJobs is how many inferences the cost of a network alone is the median of.
const aloneJobs = 25

// compile prepares a network for a device, or for all by AOSP's rule.
func (r *Runner) compile(p *Problem, network, device int) (*nnrt.Compilation, error) {
	key := [2]int{network, device}
	if c := r.compiled[key]; c != nil {
		return c, nil
	}
	name := nnrt.Auto
	if device != Divided {
		name = p.Devices[device]
	}
	priorities := []hal.Priority{hal.PriorityLow, hal.PriorityMedium, hal.PriorityHigh}
	priority := priorities[slices.Index(Priorities, r.Scenario.Networks[network].Priority)]
	c, err := nnrt.Compile(r.Registry, r.Workloads[network].Model, name, nnrt.CompileOptions{Preference: nnrt.Prefer(r.Preference), Priority: nnrt.Rank(priority)})
	if err != nil {
		return nil, err
	}
	if r.compiled == nil {
		r.compiled = map[[2]int]*nnrt.Compilation{}
	}
	r.compiled[key] = c
	return c, nil
}

// Simulate runs a plan on the machine, from a cold phone on, until the last job has ended.
func (r *Runner) Simulate(p *Problem, plan Plan) (*Run, error) {
	x := &execution{Runner: r, problem: p, run: &Run{Jobs: make([]Done, len(p.Jobs)), EngineFs: map[string]int64{}}}
	r.Machine.Reset()
	defer r.Machine.Exact()
	var clients []func(*devices.Client) error
	if plan.Scheduler == nil {
		for i := range p.Costs {
			clients = append(clients, func(c *devices.Client) error { return x.arrive(c, i, plan.Device[i]) })
		}
	} else {
		q := &queue{State: State{Problem: p, FreeFs: make([]int64, len(p.Devices))}, scheduler: plan.Scheduler, busy: make([]bool, len(p.Devices))}
		for d := range p.Devices {
			clients = append(clients, func(c *devices.Client) error { return x.serve(c, q, d) })
		}
	}
	if _, err := r.Machine.RunConcurrent(clients...); err != nil {
		return nil, err
	}
	for i := range x.run.Jobs {
		j := &x.run.Jobs[i]
		if j.EndFs == 0 {
			return nil, fmt.Errorf("scenario: the scheduler gave no engine %s of %v ms", r.Workloads[p.Jobs[i].Network].Model.Name, float64(p.Jobs[i].ArrivalFs)/femtoseconds)
		}
		if j.shared != nil {
			for _, c := range j.shared.Components() {
				j.EnergyPJ += c.EnergyPJ
			}
		}
		x.run.SpanFs = max(x.run.SpanFs, j.EndFs)
	}
	return x.run, nil
}

// execution is a simulation under way.
type execution struct {
	*Runner
	problem  *Problem
	run      *Run
	failed   bool // no client waits for this one any more
	finished int
}

// arrive starts each job of a network when it arrives, as a thread of its own.
func (x *execution) arrive(c *devices.Client, network, device int) error {
	var started []hal.Client
	var errs []error
	for i := range x.problem.Jobs {
		j := &x.problem.Jobs[i]
		if j.Network != network || x.failed {
			continue
		}
		if j.ArrivalFs > c.NowFs() {
			c.WaitUntil(j.ArrivalFs)
		}
		client, err := c.Go(func(c hal.Client) error { return x.execute(c, i, device) })
		if err != nil {
			return err
		}
		started = append(started, client)
	}
	for _, s := range started {
		errs = append(errs, c.Join(s))
	}
	return errors.Join(errs...)
}

// execute runs a job.
func (x *execution) execute(c hal.Client, job, device int) error {
	j := &x.problem.Jobs[job]
	w := &x.Workloads[j.Network]
	d := &x.run.Jobs[job]
	d.Device, d.StartFs = nnrt.Auto, c.NowFs()
	if device != Divided {
		d.Device = x.problem.Devices[device]
	}
	compiled, err := x.compile(x.problem, j.Network, device)
	var res *nnrt.Result
	if err == nil {
		res, err = compiled.Execute(w.Inputs, nnrt.ExecuteOptions{Client: c})
	}
	if err != nil {
		x.failed = true
		return fmt.Errorf("scenario: %s on %s: %w", w.Model.Name, d.Device, err)
	}
	d.EndFs, d.EnergyPJ, d.shared = c.NowFs(), res.EnergyPJ, res.Shared
	for i := range res.Parts {
		x.run.EngineFs[res.Parts[i].Device] += res.Parts[i].EngineFs
	}
	if w.Check != nil {
		x.run.Mismatches += w.Check(res)
	}
	x.finished++
	x.say("%d of %d jobs", x.finished, len(x.problem.Jobs))
	return nil
}

// queue is the jobs that wait for a scheduler.
type queue struct {
	State
	scheduler Scheduler
	indices   []int // of Waiting, in Problem.Jobs
	arrived   int
	busy      []bool // by device
	declined  int    // answers in a row that left a device idle with nothing else to come
}

// pollFs is how long an engine that has declined all jobs waits before it is asked again, where nothing else is known
// to happen before: a job ran longer than its cost alone.
const pollFs = femtoseconds / 10

// serve asks the scheduler for a job whenever a device is idle, until all have been started.
func (x *execution) serve(c *devices.Client, q *queue, device int) error {
	for !x.failed {
		c.AwaitTurn()
		q.NowFs = c.NowFs()
		for ; q.arrived < len(q.Jobs) && q.Jobs[q.arrived].ArrivalFs <= q.NowFs; q.arrived++ {
			q.Waiting, q.indices = append(q.Waiting, q.Jobs[q.arrived]), append(q.indices, q.arrived)
		}
		if len(q.Waiting) == 0 && q.arrived == len(q.Jobs) {
			return nil
		}
		next := -1
		if len(q.Waiting) > 0 {
			next = q.scheduler.Next(&q.State, device)
		}
		if next >= len(q.Waiting) || next >= 0 && !q.Costs[q.Waiting[next].Network][device].Runs() {
			x.failed = true
			return fmt.Errorf("scenario: the scheduler gives %s job %d of %d waiting, which it does not run", q.Devices[device], next, len(q.Waiting))
		}
		if next < 0 {
			at := q.nextEvent(q.arrived)
			if at <= q.NowFs {
				if q.declined++; q.declined > 2*len(q.Devices) && !slices.Contains(q.busy, true) {
					x.failed = true
					return fmt.Errorf("scenario: the scheduler leaves %d jobs waiting while every engine is idle", len(q.Waiting))
				}
				at = q.NowFs + pollFs
			}
			c.WaitUntil(at)
			continue
		}
		job := q.indices[next]
		q.FreeFs[device] = q.NowFs + q.Costs[q.Waiting[next].Network][device].LatencyFs
		q.Waiting, q.indices = slices.Delete(q.Waiting, next, next+1), slices.Delete(q.indices, next, next+1)
		q.busy[device], q.declined = true, 0
		err := x.execute(c, job, device)
		q.busy[device], q.FreeFs[device] = false, c.NowFs()
		if err != nil {
			return err
		}
	}
	return nil
}
