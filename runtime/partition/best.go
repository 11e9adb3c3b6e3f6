package partition

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Best is AOSP's rule: each operation goes to the device whose capabilities
// promise the lowest time (the lowest power under LOW_POWER) for the type of
// its first input; the CPU counts 1 and keeps what nobody beats.
type Best struct{}

// Name implements Strategy.
func (Best) Name() string { return "auto" }

// Assign implements Strategy.
func (Best) Assign(m *nn.Model, pref hal.Preference, c []Candidate) []int {
	a := make([]int, len(m.Main.Operations))
	for i := range a {
		best := float32(1)
		for d := 1; d < len(c); d++ {
			if !c[d].Support[i].OK {
				continue
			}
			p := performance(&c[d].Capabilities, m, &m.Main.Operations[i])
			v := p.ExecTime
			if pref == hal.LowPower {
				v = p.PowerUsage
			}
			if v < best {
				best, a[i] = v, d
			}
		}
	}
	return a
}

// performance is what a device promises for an operation: that of the type of
// its first operand, or the relaxed figure for float32 in a relaxed model.
// A type without a promise counts as slower than any CPU.
func performance(c *hal.Capabilities, m *nn.Model, op *nn.Operation) hal.PerformanceInfo {
	unknown := hal.PerformanceInfo{ExecTime: maxFloat, PowerUsage: maxFloat}
	if len(op.Inputs) == 0 {
		return unknown
	}
	t := m.Main.Operands[op.Inputs[0]].Type
	switch {
	case m.Relaxed && t == nn.TensorFloat32:
		return c.RelaxedTensor
	case m.Relaxed && t == nn.Float32:
		return c.RelaxedScalar
	}
	if p, ok := c.Operand[t]; ok {
		return p
	}
	return unknown
}

const maxFloat = 3.4028234663852886e38
