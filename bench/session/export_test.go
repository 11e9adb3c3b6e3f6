package session

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestExportPoints: an export has each operation at each clock of the GPU, slower and thriftier at lower ones, and no device that is faster beside another.
func TestExportPoints(t *testing.T) {
	config := require.V(soc.Load("pixel4"))(t)
	phone := require.V(Open(config, Options{Preference: hal.FastSingleAnswer}))(t)
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Conv(b.Values("input", 1, 8, 8, 16), builder.Conv{Out: 16, Kernel: 3, Pad: 1, Act: builder.ReLU})
	b.Output(b.Conv(x, builder.Conv{Out: 8, Kernel: 1}), "output")
	network := require.V(NewNetwork(require.V(b.Model("two"))(t), nil))(t)
	planner := NewPlanner(phone, nnrt.CompileOptions{}, PlanPace())
	e := require.V(planner.Export(network))(t)
	us, clocks := map[float64]float64{}, 0
	for _, p := range e.Points {
		if p.Device == "gpu" && p.Operation != nil && *p.Operation == 0 {
			clocks++
			us[p.ClockMHz] = p.EngineUS
		}
	}
	require.Same(t, len(config.GPU.Clock.OPPs), len(us), "clocks of the GPU")
	require.Check(t, clocks >= len(us) && us[257] > 1.5*us[585] && us[585] > 0, "us by MHz: %v", us)
	require.Same(t, 2, len(e.Contention), "pairs of cpu and gpu")
	for _, c := range e.Contention {
		require.Check(t, c.Slowdown >= 1 && c.Slowdown < 10, "%+v", c)
	}
}
