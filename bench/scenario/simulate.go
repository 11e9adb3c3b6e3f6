package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Workload is a network of a scenario, ready to run.
type Workload struct {
	Model  *nn.Model
	Inputs [][]byte // in the order of the model's inputs
	// Check counts the elements of a result that differ from the reference; nil checks nothing.
	Check func(*nnrt.Result) int
	// Problem and Loads are what the network's operations cost on each device, for Runner.Outline.
	Problem *partition.Problem
	Loads   *cost.Loads
}

// Runner runs a scenario on a machine. It is not safe for concurrent use.
type Runner struct {
	Machine    *devices.Machine
	Registry   *registry.Registry // of the machine's devices
	Preference hal.Preference
	Scenario   *Scenario
	Workloads  []Workload // by network of the scenario
	MaxParts   int        // that networks are cut into at most; 0 and 1: they are whole
	// Progress is told what runs; nil is none.
	Progress func(format string, args ...any)
	// Mismatches are elements that differed from the reference when the costs of networks were measured.
	Mismatches int

	compiled map[compilation]*nnrt.Compilation
	pieces   map[piece]*partition.Part
	slow     map[pair]float64
	outlined bool
	pending  []cost.Load // of the programs that are prepared next on an outline
}

// compilation identifies a compilation: of a whole network for a device or Divided, by a route, or of some of its parts
// alone.
type compilation struct {
	network, device int
	route           string
	piece           piece
}

// piece is some parts of a network, one after the other.
type piece struct{ network, from, to int }

// Run is a simulated scenario.
type Run struct {
	Jobs       []Done // by job
	SpanFs     int64  // from the beginning to the end of the last job
	EngineFs   map[string]int64
	Mismatches int
}

// Done is a job that has run.
type Done struct {
	Device   string // "aosp" where the runtime divided it; several in the order of its parts, joined by +
	StartFs  int64
	EndFs    int64
	EnergyPJ float64
	QueueFs  int64 // for which it waited in the queues of drivers, or between its parts
	AloneFs  int64 // what its parts cost alone
	Spans    []Span

	shared []hal.Account
	data   map[uint32][]byte // results of parts, by operand of the model
}

// Span is the work of an engine for a job.
type Span struct {
	Device         string
	StartFs, EndFs int64
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
			row[d] = c.Cost
			runs = runs || c.Runs()
		}
		if arrives := slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.Network == i }); !runs && arrives {
			return nil, fmt.Errorf("scenario: no engine runs %s: %s", r.Workloads[i].Model.Name, row[len(row)-1].Reason)
		}
		p.Costs = append(p.Costs, row)
		r.say("%s alone, divided by the runtime", r.Workloads[i].Model.Name)
		divided, err := r.alone(p, i, Divided)
		if err != nil {
			return nil, err
		}
		p.Whole = append(p.Whole, divided)
		parts, err := r.cut(p, i)
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, parts)
		p.Quantized = append(p.Quantized, quantized(r.Workloads[i].Model))
	}
	p.Slowdown = func(network, device, other, on int) float64 { return r.slowdown(p, network, device, other, on) }
	return p, nil
}

// quantized reports whether the first input of a model, or what an operation makes of it, has 8 bits.
func quantized(m *nn.Model) bool {
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Outputs {
			if t := m.Main.Operands[x].Type; t == nn.TensorQuant8Asymm || t == nn.TensorQuant8AsymmSigned {
				return true
			}
		}
	}
	return false
}

// alone is the median cost of a network on an engine, or divided by the runtime, that has the phone for itself and arrives as
// in the scenario, but for one inference after the other: what it costs to be woken for each is in it, waiting for itself is not.
func (r *Runner) alone(p *Problem, network, device int) (DividedCost, error) {
	refused := func(why string) (DividedCost, error) { return DividedCost{Cost: Cost{Reason: why}}, nil }
	c, err := r.compileRoute(p, network, Route{device})
	if err != nil {
		return refused(err.Error())
	}
	cpu := r.Registry.CPU().Name()
	if device != Divided && p.Devices[device] != cpu && c.Accelerated(cpu) == 0 { // never on an outline, where that is an error
		return refused(c.Fallbacks[0].Reason)
	}
	if err := r.cold(); err != nil {
		return DividedCost{}, err
	}
	defer r.Machine.Exact()
	w := &r.Workloads[network]
	var latency, energy []float64
	lead := int64(0)
	busy := make([]int64, len(p.Devices))
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
			latency, energy, lead = append(latency, float64(res.LatencyFs)), append(energy, res.EnergyPJ), leadFs(res)
			for k := range res.Parts {
				if d := slices.Index(p.Devices, res.Parts[k].Device); d >= 0 {
					busy[d] += res.Parts[k].EngineFs
				}
			}
		}
		return nil
	})
	if err != nil {
		return DividedCost{}, fmt.Errorf("scenario: %s on %s: %w", w.Model.Name, p.names(Route{device}), err)
	}
	if len(latency) == 0 {
		return refused("it does not arrive")
	}
	first := latency[0]
	slices.Sort(latency)
	slices.Sort(energy)
	median := quantile(latency, 0.5)
	return DividedCost{Cost{LatencyFs: int64(median), EnergyPJ: quantile(energy, 0.5), WakeFs: max(0, int64(first-median)), LeadFs: lead}, slices.Index(busy, slices.Max(busy))}, nil
}

// leadFs is the time of an execution's software before it queues for an engine. Its binder part is the call and the answer,
// which are as long for every job.
func leadFs(res *nnrt.Result) (fs int64) {
	for i := range res.Chain {
		if slices.Contains(chainLead[:], res.Chain[i].Name) {
			fs += res.Chain[i].TimeFs
		}
	}
	return fs
}

// aloneJobs is how many inferences the cost of a network alone is the median of.
const aloneJobs = 25

// Simulate runs a plan on the machine, from a cold phone on, until the last job has ended.
func (r *Runner) Simulate(p *Problem, plan Plan) (*Run, error) {
	if err := p.Check(plan); err != nil {
		return nil, err
	}
	x := &execution{Runner: r, problem: p, run: &Run{Jobs: make([]Done, len(p.Jobs)), EngineFs: map[string]int64{}}}
	if err := r.cold(); err != nil {
		return nil, err
	}
	defer r.Machine.Exact()
	end := func() error { return nil }
	if s, ok := plan.Scheduler.(perRun); ok {
		run, stop, err := s.begin()
		if err != nil {
			return nil, err
		}
		plan.Scheduler, end = run, stop
	}
	var clients []func(*devices.Client) error
	if plan.Scheduler == nil {
		for i := range p.Costs {
			clients = append(clients, func(c *devices.Client) error { return x.arrive(c, i, plan.Routes[i]) })
		}
	} else {
		q := &queue{State: State{Problem: p, FreeFs: make([]int64, len(p.Devices)), Asleep: asleep(len(p.Devices))}, scheduler: plan.Scheduler, busy: make([]bool, len(p.Devices))}
		clients = append(clients, func(c *devices.Client) error { return x.schedule(c, q) })
	}
	_, err := r.Machine.RunConcurrent(clients...)
	if e := end(); e != nil { // why the scheduler left engines idle
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	for i := range x.run.Jobs {
		j := &x.run.Jobs[i]
		if j.EndFs == 0 {
			return nil, fmt.Errorf("scenario: the scheduler gave no engine %s of %v ms", r.Workloads[p.Jobs[i].Network].Model.Name, float64(p.Jobs[i].ArrivalFs)/femtoseconds)
		}
		for _, s := range j.shared {
			for _, c := range s.Components() {
				j.EnergyPJ += c.EnergyPJ
			}
		}
		x.run.SpanFs = max(x.run.SpanFs, j.EndFs)
	}
	x.run.Mismatches += r.Mismatches
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
func (x *execution) arrive(c *devices.Client, network int, route Route) error {
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
		client, err := c.Go(func(c hal.Client) error { return x.follow(c, i, route) })
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

// follow runs a job by its route.
func (x *execution) follow(c hal.Client, job int, route Route) error {
	j, d := &x.problem.Jobs[job], &x.run.Jobs[job]
	d.StartFs = c.NowFs()
	d.Device = x.problem.names(route)
	compiled, err := x.compileRoute(x.problem, j.Network, route)
	if err == nil {
		var res *nnrt.Result
		if res, err = compiled.Execute(x.Workloads[j.Network].Inputs, nnrt.ExecuteOptions{Client: c}); err == nil {
			own := x.problem.simulated().alone(j.Network, route)
			d.note(x.run, res, c.NowFs(), own.LatencyFs)
			x.finish(job, res)
			return nil
		}
	}
	return x.fail(job, err)
}

// fail ends the simulation.
func (x *execution) fail(job int, err error) error {
	x.failed = true
	return fmt.Errorf("scenario: %s on %s: %w", x.Workloads[x.problem.Jobs[job].Network].Model.Name, x.run.Jobs[job].Device, err)
}

// note adds an execution of a job that ends now.
func (d *Done) note(run *Run, res *nnrt.Result, nowFs, aloneFs int64) {
	d.EndFs, d.AloneFs = nowFs, d.AloneFs+aloneFs
	d.EnergyPJ += res.EnergyPJ
	if res.Shared != nil {
		d.shared = append(d.shared, res.Shared)
	}
	begin := nowFs - res.LatencyFs
	for i := range res.Parts {
		p := &res.Parts[i]
		run.EngineFs[p.Device] += p.EngineFs
		d.Spans = append(d.Spans, Span{p.Device, begin + p.StartFs, begin + p.EndFs})
	}
	for _, p := range res.Chain {
		if p.Name == chainQueue {
			d.QueueFs += p.TimeFs
		}
	}
}

// chainQueue is the name of the wait for an engine in a chain, chainLead are those of the software before it.
const chainQueue = "queue"

var chainLead = [...]string{"runtime", "binder", "burst", "map", "clean", "rpc"}

// finish checks the result of a job.
func (x *execution) finish(job int, res *nnrt.Result) {
	if check := x.Workloads[x.problem.Jobs[job].Network].Check; check != nil && !x.outlined {
		x.run.Mismatches += check(res)
	}
	x.run.Jobs[job].data = nil
	x.finished++
	if all := len(x.problem.Jobs); x.finished == all || x.finished*10/all > (x.finished-1)*10/all {
		x.say("%d of %d jobs", x.finished, all)
	}
}

// names are the engines of a route, each run of parts once; nnrt.ByStrategy where the runtime divides.
func (p *Problem) names(r Route) string {
	if r[0] == Divided {
		return nnrt.ByStrategy
	}
	var names []string
	for k, d := range r {
		if k == 0 || r[k-1] != d {
			names = append(names, p.Devices[d])
		}
	}
	return strings.Join(names, "+")
}

// queue is the jobs that wait for a scheduler, and the engines.
type queue struct {
	State
	scheduler Scheduler
	indices   []int  // of Waiting, in Problem.Jobs
	busy      []bool // by device
	started   []hal.Client
}

// schedule asks the scheduler whenever a job arrives and whenever an engine becomes idle, until all jobs have ended.
func (x *execution) schedule(c *devices.Client, q *queue) error {
	var err error
	for arrived := 0; arrived < len(q.Jobs) && !x.failed && err == nil; {
		c.WaitUntil(q.Jobs[arrived].ArrivalFs)
		c.AwaitTurn()
		for ; arrived < len(q.Jobs) && q.Jobs[arrived].ArrivalFs <= c.NowFs(); arrived++ {
			q.Waiting, q.indices = append(q.Waiting, q.Jobs[arrived]), append(q.indices, arrived)
		}
		err = x.dispatch(c, q)
	}
	errs := []error{err}
	for i := 0; i < len(q.started); i++ { // those that end start others
		errs = append(errs, c.Join(q.started[i]))
	}
	if n := len(q.Waiting); n > 0 && !x.failed {
		errs = append(errs, fmt.Errorf("scenario: the scheduler leaves %d jobs waiting while every engine is idle", n))
	}
	return errors.Join(errs...)
}

// dispatch gives idle engines jobs.
func (x *execution) dispatch(c *devices.Client, q *queue) error {
	q.NowFs = c.NowFs()
	for device := range q.Devices {
		if q.busy[device] || len(q.Waiting) == 0 || x.failed {
			continue
		}
		next := q.scheduler.Next(&q.State, device)
		if next.Job >= len(q.Waiting) || next.Job >= 0 && !q.runs(next, device) {
			x.failed = true
			return fmt.Errorf("scenario: the scheduler gives %s job %d of %d waiting, which it does not run", q.Devices[device], next.Job, len(q.Waiting))
		}
		if next.Job < 0 {
			continue
		}
		job, j := q.indices[next.Job], q.Waiting[next.Job]
		q.Waiting, q.indices = slices.Delete(q.Waiting, next.Job, next.Job+1), slices.Delete(q.indices, next.Job, next.Job+1)
		of := piece{j.Network, j.Part, j.end(q.Problem, next.Parts)}
		cost := q.Now(of.network, of.from, of.to, device)
		q.Asleep[device] = false
		q.FreeFs[device], q.busy[device] = q.NowFs+cost.LatencyFs, true
		client, err := c.Go(func(c hal.Client) error { return x.serve(c.(*devices.Client), q, job, of, device) })
		if err != nil {
			return err
		}
		q.started = append(q.started, client)
	}
	return nil
}

// serve runs parts of a job on an engine, and gives idle engines jobs when they have ended.
func (x *execution) serve(c *devices.Client, q *queue, job int, of piece, device int) error {
	if err := x.serveJob(c, job, of, device); err != nil {
		return err
	}
	c.AwaitTurn()
	q.busy[device], q.FreeFs[device] = false, c.NowFs()
	if of.to < q.parts(of.network) {
		j := q.Jobs[job]
		j.Part = of.to
		q.Waiting, q.indices = append(q.Waiting, j), append(q.indices, job)
	}
	return x.dispatch(c, q)
}

// runs reports whether an engine runs a choice.
func (q *queue) runs(x Choice, device int) bool {
	j := &q.Waiting[x.Job]
	c := q.Cost(j.Network, j.Part, j.end(q.Problem, x.Parts), device)
	return c.Runs()
}
