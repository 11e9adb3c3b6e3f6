package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// Elsewhere is what networks of a scenario cost as measured elsewhere. Strategies plan, and predictions are made, by these costs; the
// simulation is that of the machine.
type Elsewhere struct {
	table    *cost.Table
	networks []elsewhere // by network
}

// elsewhere is what a file of costs says of a network.
type elsewhere struct {
	name     string
	problem  *partition.Problem // with costs of operations; nil: the file has none
	coverage []cost.Coverage
}

// NetworkCoverage is what a file of costs says of a network.
type NetworkCoverage struct {
	Network  string          `json:"model"`
	Whole    []string        `json:"whole"`             // devices with a row of the network as a whole
	Coverage []cost.Coverage `json:"devices,omitempty"` // rows about operations
}

// Elsewhere reads the rows of a file that are about the networks. simulated are the costs of a network's operations by the simulator, for
// those without a row. A file that says nothing of any network is an error.
func (r *Runner) Elsewhere(t *cost.Table, simulated func(network int) (partition.Costs, error)) (*Elsewhere, error) {
	e := &Elsewhere{table: t}
	found := false
	var none error
	for i := range r.Workloads {
		w := &r.Workloads[i]
		x := elsewhere{name: w.Model.Name}
		p := w.Problem
		if p == nil {
			var err error
			if p, err = nnrt.NewProblem(r.Registry, w.Model, r.options(i)); err != nil {
				return nil, err
			}
		}
		q := *p
		c, cover, err := t.Costs(&q, func() (partition.Costs, error) { return simulated(i) })
		switch {
		case errors.Is(err, cost.ErrNoRow):
			none = err
		case err != nil && len(r.Workloads) > 1 && len(t.Networks()) == 0:
			return nil, fmt.Errorf("%w; column network says which network a row is about", err)
		case err != nil:
			return nil, err
		default:
			q.Costs, x.problem, x.coverage, found = c, &q, cover, true
		}
		e.networks = append(e.networks, x)
		for _, d := range r.Registry.Devices() {
			_, _, ok := t.Whole(x.name, d.Name())
			found = found || ok
		}
	}
	if !found {
		return nil, none
	}
	return e, nil
}

// Coverage is what the file says, by network.
func (e *Elsewhere) Coverage(p *Problem) (list []NetworkCoverage) {
	for i := range e.networks {
		x := NetworkCoverage{Network: e.networks[i].name, Whole: []string{}, Coverage: e.networks[i].coverage}
		for _, d := range p.Devices {
			if _, _, ok := e.table.Whole(x.Network, d); ok {
				x.Whole = append(x.Whole, d)
			}
		}
		list = append(list, x)
	}
	return list
}

// Replace puts the costs into a problem with those of the simulator. A network as a whole costs what its row says and its parts as much
// more or less than before; without that row it costs the sum of its operations, and so do its parts.
func (e *Elsewhere) Replace(p *Problem) error {
	own := *p
	own.ranges = nil
	p.own, p.ranges = &own, nil
	p.Costs, p.Parts, p.Whole = slices.Clone(p.Costs), slices.Clone(p.Parts), slices.Clone(p.Whole)
	for i := range e.networks {
		p.Costs[i], p.Parts[i] = slices.Clone(p.Costs[i]), slices.Clone(p.Parts[i])
		for k := range p.Parts[i] {
			p.Parts[i][k].Costs = slices.Clone(p.Parts[i][k].Costs)
		}
		for d := range p.Devices {
			if err := e.replace(p, i, d); err != nil {
				return fmt.Errorf("costs: %s: %w", e.table.Name, err)
			}
		}
		if x := &e.networks[i]; x.problem != nil && i < len(p.Whole) && p.Whole[i].Runs() {
			if plan, err := partition.Make(x.problem, partition.AOSP{}); err == nil && x.has(plan) {
				p.Whole[i].Cost = x.sum(plan, p.Whole[i].Cost)
			}
		}
	}
	return nil
}

// replace puts the costs of a network on a device into a problem.
func (e *Elsewhere) replace(p *Problem, network, device int) error {
	x, c := &e.networks[network], &p.Costs[network][device]
	if whole, at, ok := e.table.Whole(x.name, p.Devices[device]); ok {
		if !c.Runs() {
			return fmt.Errorf("%s: %s does not run %s: %s", at, p.Devices[device], x.name, c.Reason)
		}
		ratio := math.Max(whole.TimeFs, 1) / float64(c.LatencyFs)
		c.set(whole)
		for k := range p.Parts[network] {
			if y := &p.Parts[network][k].Costs[device]; y.Runs() {
				y.LatencyFs = max(1, int64(float64(y.LatencyFs)*ratio))
			}
		}
		return nil
	}
	if x.problem == nil || !c.Runs() {
		return nil
	}
	plan, err := partition.Make(x.problem, partition.Single(device))
	if err != nil || !x.has(plan) {
		return nil
	}
	*c = x.sum(plan, *c)
	before := int64(0)
	for k := range p.Parts[network] {
		part := &p.Parts[network][k]
		if y := &part.Costs[device]; y.Runs() {
			costs := &x.problem.Costs
			sum := costs.Fixed[device]
			for _, o := range part.Operations {
				sum = sum.Plus(costs.Operation[device][o])
			}
			y.set(sum.Plus(costs.PerByte[device].Times(float64(before + part.Bytes))))
		}
		before = part.Bytes
	}
	return nil
}

// has reports whether the file says something of the devices of a plan.
func (x *elsewhere) has(plan partition.Plan) bool {
	return slices.ContainsFunc(plan.Device, func(d int) bool { return d < len(x.coverage) && (x.coverage[d].Times > 0 || x.coverage[d].Segment) })
}

// sum is a cost with the latency and the energy of a plan by the file.
func (x *elsewhere) sum(plan partition.Plan, c Cost) Cost {
	e, err := x.problem.Evaluate(plan)
	if err != nil || e.Never {
		return c
	}
	c.set(partition.Cost{TimeFs: e.LatencyFs, EnergyPJ: e.EnergyPJ})
	return c
}

// set takes over a latency, and an energy if there is one.
func (c *Cost) set(x partition.Cost) {
	if x.TimeFs >= partition.Never.TimeFs {
		return
	}
	c.LatencyFs = max(1, int64(x.TimeFs))
	c.LeadFs = min(c.LeadFs, c.LatencyFs)
	if !math.IsNaN(x.EnergyPJ) {
		c.EnergyPJ = x.EnergyPJ
	}
}
