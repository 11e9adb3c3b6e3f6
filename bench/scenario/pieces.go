package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// aloneParts is how many inferences the costs of parts are the medians of.
const aloneParts = 5

// options returns the options with which a network is compiled each time.
func (r *Runner) options(network int) nnrt.CompileOptions {
	priorities := []hal.Priority{hal.PriorityLow, hal.PriorityMedium, hal.PriorityHigh}
	priority := priorities[slices.Index(Priorities, r.Scenario.Networks[network].Priority)]
	return nnrt.CompileOptions{Preference: nnrt.Prefer(r.Preference), Priority: nnrt.Rank(priority)}
}

// keep returns the compilation of a key, which is made once.
func (r *Runner) keep(key compilation, compile func() (*nnrt.Compilation, error)) (*nnrt.Compilation, error) {
	if c := r.compiled[key]; c != nil {
		return c, nil
	}
	c, err := compile()
	if err != nil {
		return nil, err
	}
	if r.compiled == nil {
		r.compiled = map[compilation]*nnrt.Compilation{}
	}
	r.compiled[key] = c
	return c, nil
}

// compileRoute prepares a network for a route.
func (r *Runner) compileRoute(p *Problem, network int, route Route) (*nnrt.Compilation, error) {
	return r.keep(compilation{network: network, route: fmt.Sprint(route)}, func() (*nnrt.Compilation, error) {
		if r.outlined {
			return r.outlineRoute(p, network, route)
		}
		name, o := nnrt.ByStrategy, r.options(network)
		switch {
		case !route.whole():
			o.Strategy = &byParts{p.Parts[network], route}
		case route[0] != Divided:
			name = p.Devices[route[0]]
		}
		return nnrt.Compile(r.Registry, r.Workloads[network].Model, name, o)
	})
}

// byParts is a route as a strategy of partitioning.
type byParts struct {
	parts []Part
	route Route
}

// Name implements partition.Strategy.
func (*byParts) Name() string { return "route" }

// Plan implements partition.Strategy.
func (b *byParts) Plan(p *partition.Problem) (partition.Plan, error) {
	plan := partition.Plan{Device: make([]int, len(p.Graph.Operations))}
	for k := range b.parts {
		for _, i := range b.parts[k].Operations {
			plan.Device[i] = b.route[k]
		}
	}
	return plan, nil
}

// extract is the model of some parts of a network.
func (r *Runner) extract(parts []Part, x piece) *partition.Part {
	if e := r.pieces[x]; e != nil {
		return e
	}
	var operations []int
	for _, part := range parts[x.from:x.to] {
		operations = append(operations, part.Operations...)
	}
	e := partition.Extract(r.Workloads[x.network].Model, operations)
	if r.pieces == nil {
		r.pieces = map[piece]*partition.Part{}
	}
	r.pieces[x] = &e
	return &e
}

// compilePiece prepares some parts of a network, by themselves, for a device.
func (r *Runner) compilePiece(p *Problem, parts []Part, x piece, device int) (*nnrt.Compilation, error) {
	return r.keep(compilation{network: x.network, device: device, piece: x}, func() (*nnrt.Compilation, error) {
		if r.outlined {
			return r.outlinePiece(p, parts, x, device)
		}
		return nnrt.Compile(r.Registry, r.extract(parts, x).Model, p.Devices[device], r.options(x.network))
	})
}

// cut cuts a network into parts and measures each on each engine; nil: it is one part.
func (r *Runner) cut(p *Problem, network int) ([]Part, error) {
	w := &r.Workloads[network]
	if r.MaxParts <= 1 || !p.arrives(network) {
		return nil, nil
	}
	stated := w.Problem
	if !r.outlined {
		var err error
		if stated, err = nnrt.NewProblem(r.Registry, w.Model, r.options(network)); err != nil {
			return nil, fmt.Errorf("scenario: %s: %w", w.Model.Name, err)
		}
	}
	var support [][]hal.Support
	for d := range p.Devices {
		support = append(support, stated.Devices[d].Support)
	}
	parts := cuts(w.Model, support, min(r.MaxParts, MaxParts))
	if len(parts) == 1 {
		return nil, nil
	}
	for k := range parts {
		parts[k].Costs = make([]Cost, len(p.Devices))
	}
	for d := range p.Devices {
		r.say("%s in %d parts on %s", w.Model.Name, len(parts), p.Devices[d])
		if err := r.partsAlone(p, network, parts, d); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// partsAlone measures the parts of a network that a device runs without help, one after the other, the others on the CPU.
func (r *Runner) partsAlone(p *Problem, network int, parts []Part, device int) error {
	on := make([]int, len(parts))
	cpu := r.Registry.CPU().Name()
	for k := range parts {
		c, err := r.compilePiece(p, parts, piece{network, k, k + 1}, device)
		switch {
		case err != nil:
			parts[k].Costs[device].Reason = err.Error()
		case p.Devices[device] != cpu && len(c.Fallbacks) > 0:
			parts[k].Costs[device].Reason = c.Fallbacks[0].Reason
		default:
			on[k] = device
		}
		if on[k] != device {
			on[k] = slices.Index(p.Devices, cpu)
		}
	}
	if err := r.cold(); err != nil {
		return err
	}
	defer r.Machine.Exact()
	latency, energy := make([][]float64, len(parts)), make([][]float64, len(parts))
	_, err := r.Machine.RunConcurrent(func(client *devices.Client) error {
		for i := range p.Jobs {
			if p.Jobs[i].Network != network || len(latency[0]) == aloneParts {
				continue
			}
			client.WaitUntil(p.Jobs[i].ArrivalFs)
			d := Done{}
			for k := range parts {
				res, err := r.piece(p, parts, client, &d, piece{network, k, k + 1}, on[k])
				if err != nil {
					return err
				}
				res.AddShared()
				latency[k], energy[k] = append(latency[k], float64(res.LatencyFs)), append(energy[k], res.EnergyPJ)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scenario: %s in parts on %s: %w", r.Workloads[network].Model.Name, p.Devices[device], err)
	}
	for k := range parts {
		if on[k] == device {
			slices.Sort(latency[k])
			slices.Sort(energy[k])
			parts[k].Costs[device] = Cost{LatencyFs: int64(quantile(latency[k], 0.5)), EnergyPJ: quantile(energy[k], 0.5)}
		}
	}
	return nil
}

// piece executes some parts of a job with the results of those before, and keeps their results.
func (r *Runner) piece(p *Problem, parts []Part, c hal.Client, d *Done, x piece, device int) (*nnrt.Result, error) {
	w := &r.Workloads[x.network]
	if d.data == nil {
		d.data = map[uint32][]byte{}
		for k, operand := range w.Model.Main.Inputs {
			d.data[operand] = w.Inputs[k]
		}
	}
	compiled, err := r.compilePiece(p, parts, x, device)
	if err != nil {
		return nil, err
	}
	e := r.extract(parts, x)
	inputs := make([][]byte, len(e.Inputs))
	for k, operand := range e.Inputs {
		inputs[k] = d.data[operand]
	}
	res, err := compiled.Execute(inputs, nnrt.ExecuteOptions{Client: c})
	if err != nil {
		return nil, err
	}
	for k, operand := range e.Outputs {
		d.data[operand] = slices.Clone(res.Outputs[k])
	}
	return res, nil
}

// result returns the outcome of a job whose last part has run.
func (r *Runner) result(network int, d *Done) *nnrt.Result {
	g := &r.Workloads[network].Model.Main
	res := &nnrt.Result{}
	for _, operand := range g.Outputs {
		res.Outputs = append(res.Outputs, d.data[operand])
		res.Dimensions = append(res.Dimensions, g.Operands[operand].Dimensions)
	}
	return res
}

// serveJob runs parts of a job that a scheduler has given an engine.
func (x *execution) serveJob(c hal.Client, job int, of piece, device int) error {
	p, d := x.problem, &x.run.Jobs[job]
	if of.from == 0 && of.to == p.parts(of.network) {
		return x.follow(c, job, Route{device})
	}
	if of.from == 0 {
		d.StartFs, d.Device = c.NowFs(), p.Devices[device]
	} else {
		d.QueueFs += c.NowFs() - d.EndFs
		d.Device += "+" + p.Devices[device]
	}
	res, err := x.piece(p, p.Parts[of.network], c, d, of, device)
	if err != nil {
		return x.fail(job, err)
	}
	own := p.simulated().Cost(of.network, of.from, of.to, device)
	d.note(x.run, res, c.NowFs(), own.LatencyFs)
	if of.to == p.parts(of.network) {
		x.finish(job, x.result(of.network, d))
	}
	return nil
}

// cold makes the phone as it is when the scenario begins. What ran beside each other before is forgotten, so that a run
// does not depend on others.
func (r *Runner) cold() error {
	r.Machine.Reset()
	r.Machine.Forget()
	if c := r.Scenario.StartC; c != 0 {
		if err := r.Machine.SoC().Heat(c); err != nil {
			return fmt.Errorf("scenario: start_c = %v: %w", c, err)
		}
	}
	return nil
}

// pair is a network on an engine beside another on another.
type pair struct{ network, device, other, on int }

// Measurement of slow-downs: executions back to back, and how much slower than on its fastest engine a network may be on
// one whose slow-down is measured.
const (
	besideJobs = 4
	farSlower  = 4
)

// slowdown is the factor on the latency of a network on an engine back to back beside another network back to back on
// another engine. It is 1 where either runs much slower than on another engine, so that no good plan has it there.
func (r *Runner) slowdown(p *Problem, network, device, other, on int) float64 {
	key := pair{network, device, other, on}
	if f, ok := r.slow[key]; ok {
		return f
	}
	if r.slow == nil {
		r.slow = map[pair]float64{}
	}
	r.slow[key] = 1
	if device == on || !p.worthwhile(network, device) || !p.worthwhile(other, on) {
		return 1
	}
	r.say("%s on %s beside %s on %s", r.Workloads[network].Model.Name, p.Devices[device], r.Workloads[other].Model.Name, p.Devices[on])
	own, err := r.backToBack(p, pair{network, device, -1, -1})
	if err != nil {
		return 1
	}
	beside, err := r.backToBack(p, key)
	if err != nil || own <= 0 {
		return 1
	}
	r.slow[key] = beside / own
	return r.slow[key]
}

// worthwhile reports whether an engine runs a network, not much slower than the fastest.
func (p *Problem) worthwhile(network, device int) bool {
	c, best := p.Costs[network][device], p.Costs[network][p.fastest(network)]
	return c.Runs() && c.LatencyFs <= farSlower*best.LatencyFs
}

// backToBack is the median latency of a network in a loop beside a loop of the other, alone where that is -1.
func (r *Runner) backToBack(p *Problem, x pair) (float64, error) {
	if err := r.cold(); err != nil {
		return 0, err
	}
	defer r.Machine.Exact()
	var latency []float64
	loop := func(network, device int, more func(res *nnrt.Result) bool) func(*devices.Client) error {
		return func(client *devices.Client) error {
			c, err := r.compileRoute(p, network, Route{device})
			for err == nil {
				var res *nnrt.Result
				if res, err = c.Execute(r.Workloads[network].Inputs, nnrt.ExecuteOptions{Client: client}); err == nil && !more(res) {
					return nil
				}
			}
			return err
		}
	}
	ended := false
	clients := []func(*devices.Client) error{loop(x.network, x.device, func(res *nnrt.Result) bool {
		latency = append(latency, float64(res.LatencyFs))
		ended = len(latency) == besideJobs
		return !ended
	})}
	if x.other >= 0 {
		clients = append(clients, loop(x.other, x.on, func(*nnrt.Result) bool { return !ended }))
	}
	if _, err := r.Machine.RunConcurrent(clients...); err != nil {
		return 0, err
	}
	latency = latency[1:] // the first finds the phone cold
	slices.SortFunc(latency, cmp.Compare)
	return quantile(latency, 0.5), nil
}
