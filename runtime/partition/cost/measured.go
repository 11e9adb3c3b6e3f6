package cost

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Measurer measures plans.
type Measurer struct {
	Store   *Store // where answers are kept
	Options hal.PrepareOptions
	// Inputs are what the model is given; nil makes some up.
	Inputs   [][]byte
	Progress func(format string, args ...any) // nil is silent
	// PlanName names a plan that is not one of a single device when it is about to run; nil: "a plan".
	PlanName func() string
	// Loop executes a plan in a loop, on a machine that nothing else uses and that may have clocks
	// held, and reports each result. Results must depend only on the arguments: they
	// are cached.
	Loop func(p *partition.Problem, plan partition.Plan, held Clock, inputs [][]byte, each func(*nnrt.Result)) error
	// Outline simulates a loop of a plan whose steps occupy their engines for the given loads, in the
	// order in which they are prepared, without running them, and reports each result. With objective throughput it
	// returns the time between results of a stream, else 0. nil: there is no outline.
	Outline func(p *partition.Problem, plan partition.Plan, inputs [][]byte, steps []Load, each func(*nnrt.Result)) (intervalFs float64, err error)
	// SystemCache is how many bytes a device may keep in the system-level cache, and the cache's
	// rate; nil, and 0, is nothing.
	SystemCache func(device string) (bytes int64, bytesPerSecond float64)
	// CopyRate is the bytes per cycle at which a device's programs copy their inputs and outputs from and to
	// a memory of the device; nil, and 0, means no such copies.
	CopyRate func(device string) float64
	// Governed reports whether a governor moves the clock of a device's engine by load; nil is none.
	Governed func(device string) bool
	// Clocks are the lowest and the highest clock of such an engine, at which operations are measured if needed;
	// nil: only at those of a device's loop. MemoryClocks returns the DRAM's clocks at a clock of the engine.
	Clocks       func(device string) (lowest, highest int64)
	MemoryClocks func(device string, hz int64) (lowest, highest int64)
	// Limit bounds the loops, 0 is DefaultLimit; beyond, costs are predicted.
	Limit int
}

// Clock is the clock of a device, and that of the DRAM, that are held through a loop; the zero
// Clock holds none.
type Clock struct {
	Device       string
	Hz, MemoryHz int64
}

// DefaultLimit is enough for every strategy to plan anew as often as it may.
const DefaultLimit = 300

// Measured returns the costs of a problem. Each device runs all that it supports in a
// loop, the CPU the rest; the rows of these executions are the costs of operations,
// launches and transfers. Plans of a strategy run in a loop of their own
// when partition.Solve requests it.
func (m *Measurer) Measured(p *partition.Problem) (partition.Costs, error) {
	c, _, err := m.measured(p)
	return c, err
}

func (m *Measurer) measured(p *partition.Problem) (partition.Costs, *loads, error) {
	n := len(p.Graph.Operations)
	c := partition.Costs{
		Operation: make([][]partition.Cost, len(p.Devices)),
		Fixed:     make([]partition.Cost, len(p.Devices)), PerByte: make([]partition.Cost, len(p.Devices)),
	}
	run := &run{Measurer: m, problem: p, left: m.Limit}
	run.left = cmp.Or(run.left, DefaultLimit)
	loads := newLoads(p)
	loads.subgraphs = m.subgraphs(p, &c)
	alone := map[int]partition.Plan{} // of devices that support any operation
	for d := range p.Devices {
		c.Operation[d] = slices.Repeat([]partition.Cost{partition.Never}, n)
		plan, err := partition.Single(d).Plan(p)
		if err != nil {
			return c, nil, err
		}
		if plan = p.Canonical(plan); d == 0 || slices.Contains(plan.Device, d) {
			alone[d] = plan
		}
	}
	for i, d := range slices.Sorted(maps.Keys(alone)) {
		plan := alone[d]
		r, err := run.measure(plan, Clock{}, func() string { return fmt.Sprintf("plan %d of %d", i+1, len(alone)) })
		if err != nil {
			return c, nil, err
		}
		c.SetRun(plan, r.run(p, plan))
		count, name := float64(r.Executions), p.Devices[d].Name
		for _, s := range r.Steps {
			for _, i := range s.Operations {
				if s.Device == name {
					c.Operation[d][i] = r.Operations[i].over(count)
				}
			}
		}
		o := r.Overheads[name]
		c.Fixed[d], c.PerByte[d] = o.Launch.over(o.Parts), o.Transfer.over(o.Bytes)
		loads.measured(d, r, m)
		if m.Governed != nil && m.Governed(name) {
			x := &loads.devices[d]
			if x.moves = true; m.Clocks != nil {
				x.pinned = func(k clocks) (*LoopRecord, error) {
					return run.measure(plan, Clock{name, k.hz, k.memoryHz}, func() string {
						return fmt.Sprintf("%s at %d MHz, the DRAM at %d", name, k.hz/1e6, k.memoryHz/1e6)
					})
				}
				x.ends[0], x.ends[1] = m.Clocks(name)
				x.memory = func(hz int64) (lowest, highest int64) { return m.MemoryClocks(name, hz) }
			}
		}
	}
	if m.Outline != nil {
		c.Predict = func(plan partition.Plan) (*partition.Run, error) { return run.predict(loads, plan) }
	}
	if err := run.rounds(&c); err != nil {
		return c, nil, err
	}
	c.Measure = func(plan partition.Plan) (*partition.Run, error) {
		if run.left <= 0 {
			return predicted(p, plan)
		}
		r, err := run.measure(plan, Clock{}, m.PlanName)
		if err != nil {
			return nil, err
		}
		return r.run(p, plan), nil
	}
	return c, loads, nil
}

// predict goes through a plan; nil: it has operations that were not measured.
func (r *run) predict(l *loads, plan partition.Plan) (*partition.Run, error) {
	steps, ok := l.of(plan)
	if !ok {
		return nil, nil
	}
	rec := &LoopRecord{}
	interval, err := r.Outline(r.problem, plan, r.inputs(), steps, rec.add)
	if err != nil {
		return nil, err
	}
	x := rec.run(r.problem, plan)
	x.IntervalFs, x.Predicted = interval, true
	return x, nil
}

// subgraphs measures those that the runtime can execute step by step, with inputs that are
// made up. One that fails is none.
func (m *Measurer) subgraphs(p *partition.Problem, c *partition.Costs) map[uint32]*loads {
	all := map[uint32]*loads{}
	own := *m
	own.Inputs = nil
	for _, k := range slices.Sorted(maps.Keys(p.Subgraphs)) {
		costs, l, err := own.measured(p.Subgraphs[k])
		if err != nil {
			if m.Progress != nil {
				m.Progress("subgraph %d stays with the CPU: %v", k, err)
			}
			continue
		}
		setSubgraph(c, k, costs)
		all[k] = l
	}
	return all
}

// rounds measures how often control flow runs its subgraphs: all of them on the CPU, but
// interpreted.
func (r *run) rounds(c *partition.Costs) error {
	if len(c.Subgraphs) == 0 {
		return nil
	}
	with := *r.problem
	with.Costs = *c
	plan, err := partition.Make(&with, partition.Interpreted{})
	if err != nil || len(plan.Subgraphs) == 0 {
		return err
	}
	plan = with.Canonical(plan)
	rec, err := r.measure(plan, Clock{}, func() string { return "rounds of control flow" })
	if err != nil {
		return err
	}
	c.Rounds = map[int][2]float64{}
	for op, n := range rec.Rounds {
		c.Rounds[op] = [2]float64{n[0] / float64(rec.Executions), n[1] / float64(rec.Executions)}
	}
	with.Costs = *c
	if _, err := with.Predict(plan); err != nil { // before the run is known
		return err
	}
	*c = with.Costs
	c.SetRun(plan, rec.run(r.problem, plan))
	return nil
}

// predicted stands for the run of a plan beyond the limit.
func predicted(p *partition.Problem, plan partition.Plan) (*partition.Run, error) {
	e, err := p.Predict(plan)
	if err != nil {
		return nil, err
	}
	return &partition.Run{LatencyFs: e.LatencyFs, EnergyPJ: e.EnergyPJ, Predicted: true}, nil
}

// run is a Measurer at work on a problem.
type run struct {
	*Measurer
	problem *partition.Problem
	left    int
}

// inputs returns what the model is given, made up where there is nothing.
func (r *run) inputs() [][]byte {
	g := &r.problem.Model.Main
	inputs := make([][]byte, len(g.Inputs))
	for k, x := range g.Inputs {
		if k < len(r.Inputs) {
			inputs[k] = r.Inputs[k]
		} else {
			inputs[k] = Noise(&g.Operands[x])
		}
	}
	return inputs
}

// measure runs a plan, with clocks held or not, unless the store knows it. Progress calls it by name.
func (r *run) measure(plan partition.Plan, held Clock, name func() string) (*LoopRecord, error) {
	p, inputs := r.problem, r.inputs()
	key := r.Store.planKey(p, plan, held, r.Options, inputs)
	rec := &LoopRecord{}
	if r.Store.get(key, rec) && rec.fits(len(p.Graph.Operations)) {
		return rec, nil
	}
	if held == (Clock{}) { // loops with clocks held are few: at most two per point of an engine
		r.left--
	}
	if name == nil {
		name = func() string { return "a plan" }
	}
	if called := name(); r.Progress != nil {
		r.Progress("measure %s", called)
	}
	rec = &LoopRecord{}
	if err := r.Loop(p, plan, held, inputs, rec.add); err != nil {
		return nil, err
	}
	g := p.Graph
	for k, l := range partition.Link(g, rec.steps()) {
		o := rec.Overheads[rec.Steps[k].Device]
		o.Bytes += float64(rec.Executions) * float64(l.In+l.Out)
		rec.Overheads[rec.Steps[k].Device] = o
	}
	r.Store.put(key, rec)
	return rec, nil
}

// steps are the steps that ran, each as if on a device of its own: what links them is
// all that matters.
func (r *LoopRecord) steps() []partition.Step {
	var l []partition.Step
	for k := range r.Steps {
		l = append(l, partition.Step{Device: k, Operations: r.Steps[k].Operations})
	}
	return l
}

func stepKey(device string, operations []int) string {
	b := []byte(device)
	for _, i := range operations {
		b = strconv.AppendInt(append(b, ' '), int64(i), 10)
	}
	return string(b)
}

// maxUnknownBytes is the size of the buffer for an output whose shape depends on the execution.
const maxUnknownBytes = 16 << 20

// execute prepares and runs a model once.
func execute(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte) (rec Record, err error) {
	defer hal.Contain(&err, d.Name(), "measuring")
	prepared, err := d.PrepareModel(m, o)
	if err != nil {
		return rec, err
	}
	req := hal.Buffers{Inputs: inputs}
	for _, x := range m.Main.Outputs {
		n := m.Main.Operands[x].Bytes()
		if !m.Main.Operands[x].Known() {
			n = maxUnknownBytes
		}
		req.Outputs = append(req.Outputs, make([]byte, max(n, 0)))
	}
	res, err := hal.Execute(prepared, &req)
	if err != nil {
		return rec, err
	}
	rec.TimeFs, rec.EnergyPJ = res.Stats.LatencyFs, res.Stats.EnergyPJ
	rec.Operations = make([]Row, len(m.Main.Operations))
	for i := range res.Stats.Operations {
		op := &res.Stats.Operations[i]
		row := Row{op.TimeFs, op.EnergyPJ}
		switch {
		case op.Index == hal.LaunchIndex:
			rec.Launch = rec.Launch.plus(row)
		case op.Index < 0:
			rec.Transfer = rec.Transfer.plus(row)
		case op.Index < len(rec.Operations):
			rec.Operations[op.Index] = rec.Operations[op.Index].plus(row)
		}
	}
	return rec, nil
}

// Noise is a reproducible value of an operand: numbers within [-1, 1), any
// quantized values, and 0 for integers, which may be indexes.
func Noise(o *nn.Operand) []byte {
	b := make([]byte, max(o.Bytes(), 0))
	x := uint32(0x9E3779B9)
	next := func() uint32 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return x
	}
	switch o.Type {
	case nn.TensorFloat32, nn.Float32:
		for i := 0; i+4 <= len(b); i += 4 {
			v := math.Float32bits(float32(next()>>8)/(1<<23) - 1)
			b[i], b[i+1], b[i+2], b[i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		}
	case nn.TensorFloat16, nn.Float16:
		for i := 0; i+2 <= len(b); i += 2 {
			v := next()
			b[i], b[i+1] = byte(v), byte(v>>8)&0x83|0x38 // sign and mantissa, magnitude within [0.5, 1)
		}
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		for i := range b {
			b[i] = byte(next() >> 24)
		}
	}
	return b
}
