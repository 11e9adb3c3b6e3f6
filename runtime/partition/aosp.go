package partition

import (
	"errors"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// AOSP is the rule of Android's runtime (findBestDeviceForEachOperation): each
// operation goes to the device whose capabilities promise the lowest time, or
// the lowest power under LOW_POWER, for the type of its first input. The CPU,
// whose every figure is 1, wins ties; among other devices the first does. Control flow
// that the CPU wins is the runtime's, where it can execute it.
type AOSP struct {
	// WithoutCPU leaves the CPU out, as for a list of devices without it; an
	// operation that no other device supports is an error.
	WithoutCPU bool
}

// Name implements Strategy.
func (AOSP) Name() string { return "aosp" }

// Plan implements Strategy.
func (s AOSP) Plan(p *Problem) (Plan, error) {
	if p.Model == nil {
		return Plan{}, errors.New("partition: aosp needs a model: capabilities are by type of operand")
	}
	plan := Plan{Device: make([]int, len(p.Graph.Operations)), Sequential: true}
	for i := range plan.Device {
		best := float32(math.Inf(1))
		for d := range p.drivers() {
			if d == 0 && s.WithoutCPU || !p.supports(d, i) {
				continue
			}
			if v := Performance(&p.Devices[d].Capabilities, p.Model, &p.Model.Main, i, p.Preference); v < best {
				best, plan.Device[i] = v, d
			}
		}
		if d := p.drivers(); plan.Device[i] == 0 && d < len(p.Devices) && p.supports(d, i) && !s.WithoutCPU {
			plan.Device[i] = d
		}
		if s.WithoutCPU && plan.Device[i] == 0 {
			return plan, hal.Errorf(hal.InvalidArgument, "partition: no device of the list runs operation %d (%s): %s", i, p.Graph.Operations[i].Type, p.refusals(i))
		}
	}
	return plan, nil
}

// refusals are why the devices but the CPU decline an operation.
func (p *Problem) refusals(op int) string {
	var l []string
	for _, d := range p.Devices[1:p.drivers()] {
		l = append(l, d.Name+": "+d.Support[op].Reason)
	}
	return strings.Join(l, ", ")
}

// Performance is what a device promises for operation i of a subgraph of m,
// relative to the CPU: the figure of the type of its first operand, or the
// relaxed figure for float32 in a relaxed model. IF adds the mean of its
// branches, WHILE one round. A type without a promise is as slow as can be.
func Performance(c *hal.Capabilities, m *nn.Model, g *nn.Subgraph, i int, pref hal.Preference) float32 {
	p := promises{Capabilities: c, model: m, pref: pref, bodies: map[uint32]float64{}}
	return float32(min(p.operation(g, &g.Operations[i]), math.MaxFloat32))
}

// promises looks the figures of one device up.
type promises struct {
	*hal.Capabilities
	model  *nn.Model
	pref   hal.Preference
	bodies map[uint32]float64 // sum of each referenced subgraph met so far
}

// pick returns the figure that the preference requests.
func (p *promises) pick(i hal.PerformanceInfo) float64 {
	if p.pref == hal.LowPower {
		return float64(i.PowerUsage)
	}
	return float64(i.ExecTime)
}

// body is the sum over the subgraph that operand x of g names. One that calls
// itself never ends.
func (p *promises) body(g *nn.Subgraph, x uint32) float64 {
	k, ok := g.Operands[x].Subgraph()
	if !ok || int64(k) >= int64(len(p.model.Referenced)) {
		return math.MaxFloat32
	}
	sum, known := p.bodies[k]
	if known {
		return sum
	}
	p.bodies[k] = math.MaxFloat32
	inner := &p.model.Referenced[k]
	for i := range inner.Operations {
		sum += p.operation(inner, &inner.Operations[i])
	}
	p.bodies[k] = sum
	return sum
}

func (p *promises) operation(g *nn.Subgraph, op *nn.Operation) float64 {
	if len(op.Inputs) == 0 {
		return math.MaxFloat32
	}
	switch op.Type {
	case nn.OpIf:
		o, err := opspec.Read[opspec.If](opspec.ModelView(g), op)
		if err != nil {
			return math.MaxFloat32
		}
		return p.pick(p.If) + (p.body(g, o.Then)+p.body(g, o.Else))/2
	case nn.OpWhile:
		o, err := opspec.Read[opspec.While](opspec.ModelView(g), op)
		if err != nil {
			return math.MaxFloat32
		}
		return p.pick(p.While) + p.body(g, o.Condition) + p.body(g, o.Body)
	}
	t := g.Operands[op.Inputs[0]].Type
	switch {
	case p.model.Relaxed && t == nn.TensorFloat32:
		return p.pick(p.RelaxedTensor)
	case p.model.Relaxed && t == nn.Float32:
		return p.pick(p.RelaxedScalar)
	}
	if info, ok := p.Operand[t]; ok {
		return p.pick(info)
	}
	return math.MaxFloat32
}
