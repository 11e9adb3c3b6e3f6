package cpudriver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// Pricer computes the costs of executions on the CPU from models alone. It may be used from
// several goroutines.
type Pricer struct{ *compiler }

// NewPricer returns the pricer of a device.
func NewPricer(cfg Config) *Pricer { return &Pricer{newCompiler(cfg)} }

// Price is the work of a model.
type Price struct {
	pricer *Pricer
	works  []opspec.Work
}

// Price prices a model. It is an error for a model whose work depends on values: with IF or
// WHILE, or with shapes that are known only after an execution.
func (p *Pricer) Price(m *nn.Model) (*Price, error) {
	table := p.cfg.Operations.Spec()
	g, err := table.Resolve(&m.Main)
	if err != nil {
		return nil, fmt.Errorf("cpu: price: %w", err)
	}
	x := &Price{pricer: p}
	v := table.ModelView(g)
	for i := range g.Operations {
		op := &g.Operations[i]
		if opspec.Calls(op.Type) {
			return nil, fmt.Errorf("cpu: price: operation %d: the subgraphs that %v runs depend on values", i, op.Type)
		}
		w, err := v.Work(op)
		if err != nil {
			return nil, fmt.Errorf("cpu: price: operation %d: %w", i, err)
		}
		x.works = append(x.works, w)
	}
	return x, nil
}

// At returns the costs of an execution by itself at points of the CPU's clusters as in base.Place.
func (x *Price) At(points []sim.Change) (hal.Stats, error) {
	p := x.pricer
	meter, err := p.cfg.Spec.NewMeter(len(x.works))
	if err == nil {
		err = p.specs.clocks(meter, points)
	}
	if err != nil {
		return hal.Stats{}, fmt.Errorf("cpu: price: %w", err)
	}
	for i := range x.works {
		meter.Add(i, &x.works[i])
	}
	return p.cfg.stats(meter.Timing()), nil
}
