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
	cpu.Devices = p.Devices[:1]
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
			if row[i].TimeFs > never.TimeFs || row[i].EnergyPJ > never.EnergyPJ {
				row[i] = never
			}
		}
		c.Operation = append(c.Operation, row)
	}
	return c, nil
}
