package devices_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestClock: the devices of a machine have one clock, which each execution advances by its
// time.
func TestClock(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	open := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	machine := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	samples := require.V(devices.Samples(c, hal.FastSingleAnswer))(t)
	for name, list := range map[string][]hal.Device{"open": open, "machine": machine.Devices(), "samples": samples} {
		ran := 0
		for _, d := range list {
			for _, f := range []builder.Format{builder.Quant8, builder.Float32} {
				b := builder.New(builder.Config{Format: f})
				x := b.Values("x", 1, 8)
				b.Output(b.Add(x, x, builder.ReLU), "y")
				m := require.V(b.Model("add"))(t)
				if s, err := d.SupportedOperations(m); err != nil || !s[0].OK {
					continue
				}
				p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
				n := m.Main.Operands[m.Main.Inputs[0]].Bytes()
				before := d.Now()
				res := require.V(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}}))(t)
				ran++
				took := hal.TimePoint(res.Stats.LatencyFs / 1e6)
				for _, other := range list {
					if moved := other.Now() - before; moved < took || moved > took+1 {
						t.Errorf("%s: %s executed for %d ns, the clock of %s moved by %d", name, d.Name(), took, other.Name(), moved)
					}
				}
			}
		}
		require.Check(t, ran >= len(list), "%s: %d executions on %d devices", name, ran, len(list))
	}
}
