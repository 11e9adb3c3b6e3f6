package nnrt

import (
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Validate checks a model against the rules of the HAL. The error, with status
// InvalidArgument, names the operation or operand and the rule.
func Validate(m *nn.Model) error {
	if err := validate.Model(m); err != nil {
		return hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	return nil
}

// NewProblem queries the devices for the operations of a model and states the
// partitioning problem, without costs. A device whose support query fails
// supports nothing. A model that breaks a rule of the HAL, or that the CPU does
// not run, is an error with status INVALID_ARGUMENT.
func NewProblem(r *registry.Registry, m *nn.Model, o CompileOptions) (*partition.Problem, error) {
	if err := r.CheckRules(m); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	p, err := withSubgraphs(r, m, o, true, map[uint32]stated{})
	return p.Problem, err
}

// maxInterpreted bounds the operations that IF and WHILE of a model add to the list that the runtime
// interprets, where a subgraph counts as often as it is called (assumed,
// D-1900).
const maxInterpreted = 1 << 12

// stated is a problem and the operations in it and in the subgraphs that it calls.
type stated struct {
	*partition.Problem
	operations int
}

// withSubgraphs states the problem of a model and those of the subgraphs that the runtime can
// execute step by step. main says that the model is no such subgraph itself; known are those stated already, empty where that
// failed.
func withSubgraphs(r *registry.Registry, m *nn.Model, o CompileOptions, main bool, known map[uint32]stated) (stated, error) {
	p, err := newProblem(r, m, o, main, true, func(int) bool { return true })
	if err != nil || len(r.Devices()) == 1 {
		return stated{Problem: p}, err
	}
	s := stated{p, len(m.Main.Operations)}
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		if op.Type != nn.OpIf && op.Type != nn.OpWhile || !knownControlFlow(m, op) {
			continue
		}
		c := partition.Control{Operation: i, Subgraphs: partition.Calls(&m.Main, op)}
		for _, k := range c.Subgraphs {
			if _, ok := known[k]; !ok {
				known[k] = stated{} // what fails leaves control flow to the CPU
				if sub, err := withSubgraphs(r, subgraphOf(m, k), o, false, known); err == nil {
					known[k] = sub
				}
			}
		}
		first, second := known[c.Subgraphs[0]], known[c.Subgraphs[1]]
		added := first.operations + second.operations
		if first.Problem != nil && second.Problem != nil && s.operations+added <= maxInterpreted {
			s.operations += added
			p.Control = append(p.Control, c)
		}
	}
	for _, c := range p.Control {
		for _, k := range c.Subgraphs {
			if p.Subgraphs == nil {
				p.Subgraphs = map[uint32]*partition.Problem{}
			}
			p.Subgraphs[k] = known[k].Problem
		}
	}
	return s, nil
}

// newProblem queries the CPU, the devices that ask selects and those that operations are given to. It reads their
// capabilities, which may be slow to measure, only for planned devices. main is as in withSubgraphs.
func newProblem(r *registry.Registry, m *nn.Model, o CompileOptions, main, planned bool, ask func(device int) bool) (_ *partition.Problem, err error) {
	if err := Validate(m); err != nil {
		return nil, err
	}
	if err := o.prepare().Validate(); err != nil {
		return nil, err
	}
	m = opspec.Standard().Localize(m) // costs and shapes are looked up by code
	n := len(m.Main.Operations)
	p := &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main), Preference: o.Preference.HAL(), Placed: r.Placed(&m.Main, main)}
	given := map[int]bool{} // devices
	for _, device := range p.Placed {
		given[device] = true
	}
	for i, d := range r.Devices() {
		x := partition.Device{Name: d.Name(), Driver: d, Support: make([]hal.Support, n)}
		if i == 0 || ask(i) || given[i] {
			if planned {
				x.Capabilities = d.Capabilities()
			}
			if err := r.CheckSlice(d, m); err != nil {
				return nil, err
			}
			support, err := guarded.SupportedOperations(d, m)
			switch {
			case err == nil:
				x.Support = r.Force(&m.Main, main, d.Name(), support)
				if i > 0 {
					openControlFlowOnCPU(m, x.Support)
				}
			case i == 0:
				return nil, err
			default:
				for k := range x.Support {
					x.Support[k].Reason = "its support query failed: " + err.Error()
				}
			}
		}
		p.Devices = append(p.Devices, x)
	}
	for i, s := range p.Devices[0].Support {
		if !s.OK {
			return nil, hal.Errorf(hal.InvalidArgument, "operation %d (%v): %s", i, m.Main.Operations[i].Type, s.Reason)
		}
	}
	return p, applyPlaces(p)
}

// applyPlaces withdraws all devices but the CPU and its own from an operation that is given to one. A device that does not support
// what it is given is an error.
func applyPlaces(p *partition.Problem) error {
	for _, i := range slices.Sorted(maps.Keys(p.Placed)) {
		own := p.Placed[i]
		if s := p.Devices[own].Support[i]; !s.OK {
			kind := p.Model.Main.Operations[i].Type.String()
			return hal.Errorf(hal.InvalidArgument, "operation %d (%s) is placed on %s, which does not support it: %s; it runs on %s",
				i, kind, p.Devices[own].Name, strings.TrimPrefix(s.Reason, kind+": "), strings.Join(supporting(p, i), ", "))
		}
		for d := 1; d < len(p.Devices); d++ {
			if d != own {
				p.Devices[d].Support[i] = hal.Support{Reason: "it is placed on " + p.Devices[own].Name}
			}
		}
	}
	return nil
}

// supporting names the devices that support an operation.
func supporting(p *partition.Problem, op int) (names []string) {
	for _, d := range p.Devices {
		if support, err := guarded.SupportedOperations(d.Driver, p.Model); err == nil && support[op].OK {
			names = append(names, d.Name)
		}
	}
	return names
}

// openControlFlowOnCPU assigns an IF or WHILE with operands of unknown size to the CPU,
// whatever a driver answers, as AOSP's runtime does.
func openControlFlowOnCPU(m *nn.Model, support []hal.Support) {
	for i := range support {
		op := &m.Main.Operations[i]
		if (op.Type == nn.OpIf || op.Type == nn.OpWhile) && support[i].OK && !knownControlFlow(m, op) {
			support[i] = hal.Support{Reason: op.Type.String() + " with operands of unknown size is the CPU's"}
		}
	}
}

// knownControlFlow reports whether the shapes of an IF or WHILE, and those of what goes
// in and out of its subgraphs, are known.
func knownControlFlow(m *nn.Model, op *nn.Operation) bool {
	if !known(&m.Main, op.Inputs) || !known(&m.Main, op.Outputs) {
		return false
	}
	for _, k := range partition.Calls(&m.Main, op) {
		if s := &m.Referenced[k]; !known(s, s.Inputs) || !known(s, s.Outputs) {
			return false
		}
	}
	return true
}

// assignment is which device runs which operation, and why not another.
type assignment struct {
	problem   *partition.Problem
	plan      partition.Plan
	preferred []int    // the choice if every device supported everything
	failed    []string // why a device was withdrawn later
	named     bool     // one device was requested by name

	subgraphs map[uint32]*assignment // of control flow that the runtime executes
}

// moveToCPU withdraws devices from operations.
func (a *assignment) moveToCPU(operations []int, reason string) {
	for _, i := range operations {
		if a.plan.Device[i] != 0 {
			a.plan.Device[i], a.failed[i] = 0, reason
		}
	}
}

// allOnCPU withdraws all devices, as AOSP's runtime does when one of them fails
// to prepare its part.
func (a *assignment) allOnCPU(failed *partError) {
	reason := "preparing its part of the model: " + failed.Error()
	for i := range a.plan.Device {
		why := "another part of the model failed: " + reason
		if failed.of == a && slices.Contains(failed.operations, i) {
			why = reason
		}
		if a.plan.Device[i] != 0 {
			a.plan.Device[i], a.failed[i] = 0, why
		}
	}
}

// known reports whether the shapes of operands are known.
func known(g *nn.Subgraph, operands []uint32) bool {
	return !slices.ContainsFunc(operands, func(x uint32) bool { return !g.Operands[x].Known() })
}

// subgraphOf is a referenced subgraph as a model of its own.
func subgraphOf(m *nn.Model, k uint32) *nn.Model {
	return &nn.Model{Name: m.Name, Main: m.Referenced[k], Referenced: m.Referenced, Relaxed: m.Relaxed, Extensions: m.Extensions}
}

// assign lets the strategy that device stands for choose.
func assign(r *registry.Registry, m *nn.Model, device string, o CompileOptions) (_ *assignment, err error) {
	if device == ByStrategy {
		p, err := NewProblem(r, m, o)
		if err != nil {
			return nil, err
		}
		strategy := o.Strategy
		switch {
		case o.Partitioning == WithoutPartitioning:
			strategy = partition.Single(0)
		case strategy == nil:
			strategy = partition.AOSP{}
		}
		plan, err := partition.Make(p, strategy)
		if err != nil {
			return nil, err
		}
		return newAssignment(p, plan)
	}
	target, err := r.Index(device)
	if err != nil {
		return nil, err
	}
	if err := r.CheckRules(m); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	p, err := newProblem(r, m, o, true, false, func(i int) bool { return i == target })
	if err != nil {
		return nil, err
	}
	plan, err := partition.Make(p, partition.Single(target))
	if err != nil {
		return nil, err
	}
	if err := p.CheckPlan(plan); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	a := &assignment{problem: p, plan: plan, failed: make([]string, len(plan.Device)), named: true, preferred: make([]int, len(plan.Device))}
	for i := range a.preferred {
		a.preferred[i] = target
	}
	return a, nil
}

// newAssignment checks a plan; preferred is AOSP's
// answer if every device supported everything.
func newAssignment(p *partition.Problem, plan partition.Plan) (*assignment, error) {
	if err := p.CheckPlan(plan); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	plan.Device = append([]int(nil), plan.Device...)
	a := &assignment{problem: p, plan: plan, failed: make([]string, len(plan.Device)), subgraphs: map[uint32]*assignment{}}
	for k, sub := range plan.Subgraphs {
		if p.Subgraphs[k] == nil {
			continue // nothing that the runtime executes calls it
		}
		inner, err := newAssignment(p.Subgraphs[k], sub)
		if err != nil {
			return nil, err
		}
		a.subgraphs[k] = inner
	}
	all := *p
	all.Devices = append([]partition.Device(nil), p.Devices...)
	for d := range all.Devices {
		all.Devices[d].Support = make([]hal.Support, len(plan.Device))
		for i := range plan.Device {
			all.Devices[d].Support[i].OK = true
		}
	}
	best, err := partition.AOSP{}.Plan(&all)
	a.preferred = best.Device
	return a, err
}

// fallbacks lists the operations that ended on the CPU although a device was
// preferred for them that declined them or could not prepare their part.
func (a *assignment) fallbacks() []Fallback {
	var list []Fallback
	for i, d := range a.plan.Device {
		w := a.preferred[i]
		if d == 0 && (a.failed[i] != "" || w != 0 && !a.problem.Devices[w].Support[i].OK) {
			list = append(list, Fallback{i, a.reason(i)})
		}
	}
	return list
}

// reason is why operation i did not get a device.
func (a *assignment) reason(i int) string {
	if a.failed[i] != "" {
		return a.failed[i]
	}
	if a.named {
		return a.problem.Devices[a.preferred[i]].Support[i].Reason
	}
	var all []string
	for _, d := range a.problem.Devices[1:] {
		if s := d.Support[i]; !s.OK {
			all = append(all, d.Name+": "+s.Reason)
		}
	}
	return strings.Join(all, "; ")
}
