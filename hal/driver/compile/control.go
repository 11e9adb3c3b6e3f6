package compile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// IF and WHILE are stages of their own, in which the driver runs the programs of subgraphs one after
// the other and reads conditions between them. Every device has them whose lowering accepts all
// operations of the subgraphs.

// maxNesting bounds how deep subgraphs call subgraphs.
const maxNesting = 32

// subgraphs are the subgraphs that IF or WHILE calls, in the order of its operands.
func subgraphs(m *nn.Model, g *graph.Graph, op *nn.Operation) (list []uint32, err error) {
	for _, x := range op.Inputs {
		if o := &g.Operands[x]; o.Type == nn.SubgraphRef {
			k, ok := o.Subgraph()
			if !ok || uint64(k) >= uint64(len(m.Referenced)) {
				return nil, fmt.Errorf("%s: operand %d is none of %d subgraphs", op.Type, x, len(m.Referenced))
			}
			list = append(list, k)
		}
	}
	return list, nil
}

// called is a subgraph as a model of its own.
func (c compiler) called(m *nn.Model, k uint32) *nn.Model {
	s := &m.Referenced[k]
	if r, err := c.table.Resolve(s); err == nil {
		s = r
	}
	return &nn.Model{Name: m.Name, Main: *s, Referenced: m.Referenced, Relaxed: m.Relaxed}
}

// controls returns why the device does not accept an IF or WHILE: what in its subgraphs it does not.
func (c compiler) controls(m *nn.Model, g *graph.Graph, op *nn.Operation) error {
	list, err := subgraphs(m, g, op)
	if err != nil {
		return err
	}
	if c.nesting >= maxNesting {
		return fmt.Errorf("%s: subgraphs nest more than %d deep", op.Type, maxNesting)
	}
	c.nesting++
	for _, k := range list {
		reason, asked := c.known.refusals[k]
		if !asked {
			if reason, err = c.refusal(m, k); err != nil {
				return err
			}
			c.known.refusals[k] = reason
		}
		if reason != "" {
			return fmt.Errorf("%s: subgraph %d; %s", op.Type, k, reason)
		}
	}
	return nil
}

// refusal is why the device does not accept a subgraph, "" where it does.
func (c compiler) refusal(m *nn.Model, k uint32) (string, error) {
	answers, err := c.Supports(c.called(m, k))
	if err != nil {
		return "", err
	}
	for i, a := range answers {
		if !a.OK {
			return fmt.Sprintf("operation %d: %s", i, a.Reason), nil
		}
	}
	return "", nil
}

// known is what has been found of subgraphs, which many operations may call: why they are refused,
// and their programs.
type known struct {
	refusals map[uint32]string
	programs map[uint32]*staged
}

// begin makes what is known of a model's subgraphs, unless c is at one of them.
func (c *compiler) begin() {
	if c.known == nil {
		c.known = &known{map[uint32]string{}, map[uint32]*staged{}}
	}
}

// control runs an IF or WHILE of a program.
type control struct {
	*staged
	stage   *stage
	request *hal.Buffers
	at      base.Place
	startFs int64
	stats   hal.Stats // of the calls so far, once one has begun
	begun   bool
	calls   int
}

// value is a tensor between subgraphs.
type value struct {
	data []byte
	dims []uint32
}

// controlled is a finished IF or WHILE. It implements Run.
type controlled struct {
	values []value
	stats  hal.Stats
}

// Output implements Run.
func (r *controlled) Output(i int) ([]byte, []uint32) { return r.values[i].data, r.values[i].dims }

// Stats implements Run.
func (r *controlled) Stats() hal.Stats { return r.stats }

// Release implements Run.
func (r *controlled) Release() {}

// runControl runs the IF or WHILE that is a stage.
func (p *staged) runControl(s *stage, r *hal.Buffers, at base.Place, startFs int64, values [][]byte, dims [][]uint32) (Run, hal.Stats, error) {
	op, v := &s.Graph.Operations[0], s.Graph.View()
	list, err := subgraphs(p.model, s.Graph, op)
	if err != nil {
		return nil, hal.Stats{}, err
	}
	c := &control{staged: p, stage: s, request: r, at: at, startFs: startFs}
	read := func(operands []uint32) ([]value, error) {
		given := make([]value, len(operands))
		for i, x := range operands {
			o := &s.Graph.Operands[x]
			if given[i] = (value{values[x], dims[x]}); o.IsConst() {
				data, err := v.Data(x)
				if err != nil {
					return nil, err
				}
				given[i] = value{data, o.Dimensions}
			}
		}
		return given, nil
	}
	var out []value
	if op.Type == nn.OpIf {
		out, err = c.branch(v, op, list, read)
	} else {
		out, err = c.loop(v, op, list, read)
	}
	if err != nil {
		return nil, hal.Stats{}, fmt.Errorf("operation %d: %w", s.Graph.Origin[0], err)
	}
	// In the order of the stage's outputs, which are those of the operation that somebody reads.
	of := map[uint32]value{}
	for i, x := range op.Outputs {
		if i >= len(out) { // in the contents of a cache
			return nil, hal.Stats{}, hal.Errorf(hal.GeneralFailure, "%s: %d results for %d outputs", op.Type, len(out), len(op.Outputs))
		}
		of[x] = out[i]
	}
	done := &controlled{stats: c.stats}
	for _, x := range s.Graph.Outputs {
		done.values = append(done.values, of[x])
	}
	return done, c.stats, nil
}

// branch runs one of two subgraphs on the inputs.
func (c *control) branch(v opspec.View, op *nn.Operation, list []uint32, read func([]uint32) ([]value, error)) ([]value, error) {
	o, err := opspec.Read[opspec.If](v, op)
	if err != nil {
		return nil, err
	}
	condition, err := read([]uint32{o.Condition})
	if err != nil {
		return nil, err
	}
	yes, err := truth(condition)
	if err != nil {
		return nil, err
	}
	in, err := read(o.Inputs)
	if err != nil {
		return nil, err
	}
	k := list[1]
	if yes {
		k = list[0]
	}
	return c.call(k, in)
}

// loop runs a body on its own results while a condition is true of them.
func (c *control) loop(v opspec.View, op *nn.Operation, list []uint32, read func([]uint32) ([]value, error)) ([]value, error) {
	o, err := opspec.Read[opspec.While](v, op)
	if err != nil {
		return nil, err
	}
	state, err := read(o.Inputs)
	if err != nil {
		return nil, err
	}
	limit := c.request.LoopLimit()
	end := sim.Time(c.startFs) + sim.Time(limit)*sim.Nanosecond
	c.at.Until = min(cmp.Or(c.at.Until, end), end)
	endless := func(late *sim.Late) error {
		return hal.Errorf(hal.MissedDeadlineTransient, "%s has not ended within %v of simulated time: %w", op.Type, limit, late)
	}
	called := func(err error) error {
		if late := (*sim.Late)(nil); errors.As(err, &late) && late.At >= end && c.at.Until == end {
			return endless(late)
		}
		return err
	}
	for {
		condition, err := c.call(list[0], state)
		if err != nil {
			return nil, called(err)
		}
		if yes, err := truth(condition); err != nil || !yes {
			return state, err
		}
		if c.elapsed() >= limit {
			return nil, endless(&sim.Late{At: sim.Time(c.startFs + c.stats.LatencyFs)})
		}
		next, err := c.call(list[1], state)
		if err != nil {
			return nil, called(err)
		}
		if len(next) > len(state) {
			return nil, hal.Errorf(hal.GeneralFailure, "%s: the body gives %d values for a state of %d", op.Type, len(next), len(state))
		}
		copy(state, next)
	}
}

// leastCall is what a call of a subgraph counts towards the limit of a loop where time is not
// simulated, so that such a loop ends as well (assumed, D-591).
const leastCall = 100 * time.Microsecond

// elapsed is how long the operation has run.
func (c *control) elapsed() time.Duration {
	if c.stats.LatencyFs != 0 {
		return time.Duration(c.stats.LatencyFs / 1e6)
	}
	return time.Duration(c.calls) * leastCall
}

// call runs a subgraph on values, and keeps its costs as those of the operation.
func (c *control) call(k uint32, in []value) ([]value, error) {
	p := c.children[k]
	g := p.graph
	if len(in) != len(g.Inputs) {
		return nil, hal.Errorf(hal.GeneralFailure, "subgraph %d has %d inputs, not %d", k, len(g.Inputs), len(in))
	}
	c.calls++
	data, dims := make([][]byte, len(in)), make([][]uint32, len(in))
	for i := range in {
		data[i], dims[i] = in[i].data, in[i].dims
	}
	a, err := p.call(data, dims, c.request, c.at, c.startFs+c.stats.LatencyFs)
	if err != nil {
		return nil, fmt.Errorf("subgraph %d: %w", k, err)
	}
	defer a.release()
	out := make([]value, len(g.Outputs))
	for i, x := range g.Outputs {
		out[i] = value{append([]byte(nil), a.values[x]...), a.dims[x]}
	}
	if c.begun {
		statistics.Append(&c.stats, &a.stats)
	} else {
		c.stats, c.begun = a.stats, true
	}
	statistics.Join(&c.stats, c.stage.Graph.Origin[0])
	return out, nil
}

// truth reads a condition: one TENSOR_BOOL8 element.
func truth(v []value) (bool, error) {
	if len(v) != 1 || len(v[0].data) != 1 {
		return false, hal.Errorf(hal.GeneralFailure, "a condition is one element, not %d values", len(v))
	}
	return v[0].data[0] != 0, nil
}
