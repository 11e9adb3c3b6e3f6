package partition

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Interpreter is the name of the runtime in plans: it executes an IF or WHILE step by step,
// and devices what the subgraphs hold. In Plan.Device it has the number after the last device.
const Interpreter = "runtime"

// Control is an IF or WHILE that the runtime can execute, with its subgraphs: then and
// else, or condition and body.
type Control struct {
	Operation int
	Subgraphs [2]uint32
}

// Calls are the subgraphs that an IF or WHILE of a valid model names: then and else, or
// condition and body.
func Calls(g *nn.Subgraph, op *nn.Operation) (k [2]uint32) {
	v := opspec.ModelView(g)
	var refers [2]uint32
	if op.Type == nn.OpIf {
		o, _ := opspec.Read[opspec.If](v, op)
		refers = [2]uint32{o.Then, o.Else}
	} else {
		o, _ := opspec.Read[opspec.While](v, op)
		refers = [2]uint32{o.Condition, o.Body}
	}
	for i, x := range refers {
		k[i], _ = g.Operands[x].Subgraph()
	}
	return k
}

// drivers is the number of devices, and that of the interpreter.
func (p *Problem) drivers() int {
	if n := len(p.Devices); n > 0 && p.Devices[n-1].interprets {
		return n - 1
	}
	return len(p.Devices)
}

// DeviceName is what a device of a plan is called.
func (p *Problem) DeviceName(d int) string {
	if d == p.drivers() {
		return Interpreter
	}
	return p.Devices[d].Name
}

// Steps are the steps of a plan.
func (p *Problem) Steps(plan Plan) []Step { return stepsOf(p.Graph, plan, p.drivers()) }

// control is what the runtime can execute of an operation, nil for others.
func (p *Problem) control(op int) *Control {
	for i := range p.Control {
		if p.Control[i].Operation == op {
			return &p.Control[i]
		}
	}
	return nil
}

// interprets reports whether a plan leaves control flow to the runtime.
func (p *Problem) interprets(plan Plan) bool {
	for i, d := range plan.Device {
		if d == p.drivers() && p.control(i) != nil {
			return true
		}
	}
	return false
}

// subgraph is the problem of a subgraph with its costs; ok is false without costs.
func (p *Problem) subgraph(k uint32) (s *Problem, ok bool) {
	own := *p.Subgraphs[k]
	own.Objective, own.Expression = p.Objective, p.Expression
	own.Costs, ok = p.Costs.Subgraphs[k]
	return &own, ok
}

// complete adds the plans of subgraphs to a plan with interpreted control flow, those
// under way if it has none, and removes them from other plans.
func (p *Problem) complete(plan Plan) Plan {
	switch {
	case !p.interprets(plan):
		plan.Subgraphs = nil
	case plan.Subgraphs == nil:
		plan.Subgraphs = p.planned
	}
	return plan
}

// Make lets a strategy plan a problem: first the subgraphs of its control flow, then the
// model, with the runtime as an additional device with the costs of these plans. An IF or
// WHILE with a subgraph whose costs are not known is not interpreted.
func Make(p *Problem, s Strategy) (Plan, error) {
	if len(p.Control) == 0 {
		plan, err := s.Plan(p)
		return p.place(plan), asStrategyError(err)
	}
	q := *p
	q.planned = map[uint32]Plan{}
	for _, k := range slices.Sorted(maps.Keys(p.Subgraphs)) {
		sub, known := p.subgraph(k)
		if !known && p.Costs.Operation != nil {
			continue
		}
		plan, err := planned(sub, s)
		var own *strategyError
		if errors.As(err, &own) {
			return Plan{}, fmt.Errorf("subgraph %d: %w", k, err)
		}
		if err == nil { // else it cannot be measured, and what calls it stays with the CPU
			plan.Proven = false // of the whole
			q.planned[k] = plan
		}
	}
	if err := q.addInterpreter(); err != nil {
		return Plan{}, err
	}
	plan, err := s.Plan(&q)
	return p.place(q.complete(plan)), asStrategyError(err)
}

// obeyed reports whether a plan has all operations where they are placed.
func (p *Problem) obeyed(plan Plan) bool {
	for i, d := range p.Placed {
		if plan.Device[i] != d {
			return false
		}
	}
	return true
}

// place is a plan with the operations that are given to a device on it.
func (p *Problem) place(plan Plan) Plan {
	if len(p.Placed) == 0 || len(plan.Device) != len(p.Graph.Operations) {
		return plan
	}
	plan.Device = slices.Clone(plan.Device)
	for i, d := range p.Placed {
		plan.Proven = plan.Proven && plan.Device[i] == d
		plan.Device[i] = d
	}
	return plan
}

// strategyError is the error of a strategy from Plan.
type strategyError struct{ err error }

// Error implements error.
func (e *strategyError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *strategyError) Unwrap() error { return e.err }

// asStrategyError marks the error of a strategy.
func asStrategyError(err error) error {
	if err == nil {
		return nil
	}
	return &strategyError{err}
}

// planned is the plan of a subgraph, measured where that is possible.
func planned(p *Problem, s Strategy) (Plan, error) {
	if p.Costs.Measure == nil {
		return Make(p, s)
	}
	plan, _, err := Solve(p, s)
	return plan, err
}

// addInterpreter makes the runtime the last device, for control flow whose subgraphs are
// planned.
func (p *Problem) addInterpreter() error {
	n, d := len(p.Graph.Operations), len(p.Devices)
	x := Device{Name: Interpreter, interprets: true, Support: slices.Repeat([]hal.Support{{Reason: "no control flow that the runtime can execute"}}, n)}
	row := make([]Cost, n)
	for i := range p.Control {
		c := &p.Control[i]
		if _, ok := p.planned[c.Subgraphs[0]]; !ok {
			continue
		}
		if _, ok := p.planned[c.Subgraphs[1]]; !ok {
			continue
		}
		x.Support[c.Operation].OK = true
		if p.Costs.Operation == nil {
			continue
		}
		cost, load, err := p.interpreted(c, p.planned)
		if err != nil {
			return err
		}
		// No engine is held for less than the mean of all.
		for _, l := range load {
			cost.EngineFs += l / float64(d)
		}
		row[c.Operation] = cost
	}
	p.Devices = append(slices.Clip(p.Devices), x)
	if p.Costs.Operation != nil {
		p.Costs.Operation = append(slices.Clip(p.Costs.Operation), row)
		p.Costs.Fixed, p.Costs.PerByte = append(slices.Clip(p.Costs.Fixed), Cost{}), append(slices.Clip(p.Costs.PerByte), Cost{})
	}
	return nil
}

// rounds are how often an IF or WHILE runs its subgraphs: as measured, else what AOSP's
// rule for capabilities assumes, either branch as often and one round.
func (p *Problem) rounds(c *Control) [2]float64 {
	if r, ok := p.Costs.Rounds[c.Operation]; ok {
		return r
	}
	if p.Graph.Operations[c.Operation].Type == nn.OpIf.String() {
		return [2]float64{0.5, 0.5}
	}
	return [2]float64{1, 1}
}

// interpreted predicts what control flow costs in the runtime, and for how long it holds
// each device.
func (p *Problem) interpreted(c *Control, plans map[uint32]Plan) (cost Cost, load []float64, err error) {
	load = make([]float64, p.drivers())
	rounds := p.rounds(c)
	for n, k := range c.Subgraphs {
		sub, _ := p.subgraph(k)
		e, err := sub.Evaluate(plans[k])
		if err != nil {
			return cost, load, fmt.Errorf("subgraph %d: %w", k, err)
		}
		cost.TimeFs += rounds[n] * e.LatencyFs
		cost.EnergyPJ += rounds[n] * e.EnergyPJ
		for d, l := range e.load {
			load[d] += rounds[n] * l
		}
	}
	if known, ok := p.Costs.interpreted[controlKey(c, plans)]; ok {
		cost = known
	}
	return cost, load, nil
}

// Inside is what control flow costs on a device that executes its subgraphs as well: the
// sum of their operations. ok is false without costs of the subgraphs there.
func (p *Problem) Inside(c *Control, device int) (cost Cost, ok bool) {
	rounds := p.rounds(c)
	for n, k := range c.Subgraphs {
		sub, known := p.subgraph(k)
		if !known {
			return cost, false
		}
		for i := range sub.Graph.Operations {
			if !sub.supports(device, i) {
				return cost, false
			}
			cost = cost.Plus(sub.Costs.Operation[device][i].Times(rounds[n]))
		}
	}
	return cost, true
}

// controlKey identifies interpreted control flow under plans of its subgraphs.
func controlKey(c *Control, plans map[uint32]Plan) string {
	key := fmt.Sprint(c.Operation)
	for _, k := range c.Subgraphs {
		key += " " + planKey(plans[k])
	}
	return key
}
