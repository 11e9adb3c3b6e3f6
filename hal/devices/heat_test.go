package devices_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestEnergyOfLoops: executions of a warm loop have the same time, and the same energy except for the leakage of a warmer engine.
func TestEnergyOfLoops(t *testing.T) {
	for _, device := range []string{"gpu", "dsp", "npu"} {
		grows := func(leak float64) float64 {
			m := phone(t, func(c *soc.Config) { c.Thermal.LeakagePerK = leak })
			c := newClient(t, m, device, convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
			require.NoError(t, m.Warm(c.execute))
			sum := func() (pj float64) {
				for _, x := range m.SoC().Spent() {
					pj += x
				}
				return pj
			}
			var took [2]int64
			var pj [2]float64
			for i := range 20 { // the first of them and the last
				at, before := m.SoC().Now(), sum()
				require.NoError(t, c.execute())
				k := min(i, 1)
				took[k], pj[k] = int64(m.SoC().Now()-at), sum()-before
			}
			require.Check(t, took[0] == took[1], "%s: %d fs, then %d", device, took[0], took[1])
			return pj[1]/pj[0] - 1
		}
		with, without := grows(0.02), grows(0)
		if !(math.Abs(without) <= 1e-9) || with <= 1e-9 || with > 1e-3 {
			t.Errorf("%s: energy grows by %g, without leakage by %g", device, with, without)
		}
	}
}
