package cost

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Capabilities are costs as AOSP's runtime sees them: what an operation costs on
// the CPU, measured, times the ratios that devices promise for its type. Neither
// launches nor transfers cost anything.
func (m *Measurer) Capabilities(p *partition.Problem) (partition.Costs, error) {
	cpu := *p
	cpu.Devices, cpu.Control, cpu.Subgraphs = p.Devices[:1], nil, nil
	c, err := m.Measured(&cpu)
	if err != nil {
		return c, err
	}
	c = partition.Costs{
		Operation: c.Operation,
		Fixed:     make([]partition.Cost, len(p.Devices)), PerByte: make([]partition.Cost, len(p.Devices)),
	}
	for d := range p.Devices[1:] {
		caps := &p.Devices[1+d].Capabilities
		row := make([]partition.Cost, len(p.Graph.Operations))
		for i := range row {
			base := c.Operation[0][i]
			time := base.TimeFs * float64(partition.Performance(caps, p.Model, &p.Model.Main, i, hal.FastSingleAnswer))
			row[i] = partition.Cost{
				TimeFs: time, EngineFs: time,
				EnergyPJ: base.EnergyPJ * float64(partition.Performance(caps, p.Model, &p.Model.Main, i, hal.LowPower)),
			}
			if row[i].TimeFs > partition.Never.TimeFs || row[i].EnergyPJ > partition.Never.EnergyPJ {
				row[i] = partition.Never
			}
		}
		c.Operation = append(c.Operation, row)
	}
	for k, sub := range p.Subgraphs {
		costs, err := m.Capabilities(sub)
		if err != nil {
			return c, err
		}
		setSubgraph(&c, k, costs)
	}
	predictControl(p, &c)
	return c, nil
}

func setSubgraph(c *partition.Costs, k uint32, costs partition.Costs) {
	if c.Subgraphs == nil {
		c.Subgraphs = map[uint32]partition.Costs{}
	}
	c.Subgraphs[k] = costs
}

// predictControl replaces the costs of control flow as a whole, which depend on how often it
// runs its subgraphs, by sums of these, as they are known of interpreted control flow.
func predictControl(p *partition.Problem, c *partition.Costs) {
	with := *p
	with.Costs = *c
	for i := range p.Control {
		op := p.Control[i].Operation
		for d := range p.Devices {
			if cost, ok := with.Inside(&p.Control[i], d); ok && p.Devices[d].Support[op].OK {
				c.Operation[d][op] = cost
			}
		}
	}
}
