package cpudriver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// Pricer tells what executions on the CPU cost from models alone. It may be used from
// several goroutines.
type Pricer struct{ *compiler }

// NewPricer returns the pricer of a device.
func NewPricer(cfg Config) *Pricer { return &Pricer{newCompiler(cfg)} }

// Price is the work of a model.
type Price struct {
	pricer *Pricer
	works  []opspec.Work
}

// Price prices a model. One whose work follows from values is an error: with IF or WHILE, or
// with shapes that only an execution tells.
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
			return nil, fmt.Errorf("cpu: price: operation %d: %v runs what its values say", i, op.Type)
		}
		w, err := v.Work(op)
		if err != nil {
			return nil, fmt.Errorf("cpu: price: operation %d: %w", i, err)
		}
		x.works = append(x.works, w)
	}
	return x, nil
}

// At is what an execution alone costs at the points of the CPU's clusters, as Place has them.
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
