package devices_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
)

// TestTolerance: executions that lie within the tolerance of each other are not simulated again, in all they cost what a
// machine without it says to within twice the tolerance, and other inputs are simulated for themselves.
func TestTolerance(t *testing.T) {
	const turns = 30
	var us, pj [2]float64
	var outputs [2][][]byte
	var simulated [2]int
	for i, tolerance := range []float64{0, 0.005} {
		m := phone(t)
		m.Tolerance = tolerance
		c := newClient(t, m, "gpu", convolution(nn.TensorFloat32), hal.PriorityMedium)
		d := newClient(t, m, "gpu", fullyConnected(nn.TensorFloat32, 512), hal.PriorityMedium)
		for k := range 2 * turns {
			if k == turns {
				c.buffers.Inputs[0] = bytes.Clone(c.buffers.Inputs[0])
				for x := 3; x < len(c.buffers.Inputs[0]); x += 4 {
					c.buffers.Inputs[0][x] ^= 0x80 // the sign
				}
			}
			m.SoC().Sleep(m.SoC().Now() + 2*sim.Millisecond) // so that the governor has something to do
			require.NoError(t, d.execute())
			res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
			us[i] += float64(res.Stats.LatencyFs) / 1e9
			pj[i] += res.Stats.EnergyPJ
			if k%turns == turns-1 {
				outputs[i] = append(outputs[i], bytes.Clone(c.buffers.Outputs[0]))
			}
		}
		simulated[i] = m.Simulated()
		r := m.CollectRepeated()
		require.Check(t, tolerance > 0 || r.Executions == 0, "without a tolerance %+v", r)
		require.Check(t, tolerance == 0 || r.Simulated == simulated[i] && r.Simulated < r.Executions && r.Spread <= tolerance, "%+v of %d", r, simulated[i])
	}
	t.Logf("%d executions simulated, %d with a tolerance", simulated[0], simulated[1])
	require.Check(t, simulated[1] >= 6 && simulated[1] < simulated[0], "%d executions simulated, %d with a tolerance", simulated[0], simulated[1])
	require.Check(t, math.Abs(us[1]/us[0]-1) < 0.01, "%.1f us, %.1f with a tolerance", us[0], us[1])
	require.Check(t, math.Abs(pj[1]/pj[0]-1) < 0.01, "%.0f pJ, %.0f with a tolerance", pj[0], pj[1])
	require.Equal(t, outputs[0], outputs[1])
	require.Check(t, !bytes.Equal(outputs[1][0], outputs[1][1]), "other inputs had the same outputs")
}
