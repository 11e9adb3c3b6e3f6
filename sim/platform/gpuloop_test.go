package platform_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// worked is the time of so many cycles at the points of an engine.
func worked(points []sim.Change, cycles float64) sim.Time {
	for i, p := range points {
		if i+1 == len(points) || cycles <= (points[i+1].At-p.At).Seconds()*float64(p.OPP.Hz) {
			return p.At + sim.Time(cycles/float64(p.OPP.Hz)*float64(sim.Second))
		}
		cycles -= (points[i+1].At - p.At).Seconds() * float64(p.OPP.Hz)
	}
	return 0
}

// TestLoopsOnGPU: the time around the kernels of networks, and the clock that the governor selects, in a loop of
// float16 networks on a Pixel 4's GPU with TensorFlow Lite 2.10: qed-usc/mobile-ml-benchmark, which has the sum of the
// kernels and the latency of each. The kernels of MobileNets were measured at the top clock, so a governor that left it
// at their share of the time would show, and so would a latency that depends on how often a network has run.
func TestLoopsOnGPU(t *testing.T) {
	const top = 585e6
	worst := 0.0
	for _, x := range []struct {
		network          string
		kernels, latency float64 // ms
	}{
		{"mobilenet_wd4", 0.7543, 1.733}, {"mobilenet_wd2", 1.604, 2.711}, {"mobilenet_w1", 4.807, 6.004},
		{"mobilenetv2_wd2", 2.027, 3.131}, {"mobilenetv2_w3d4", 3.352, 4.554}, {"mnasnet_b1", 4.966, 6.154}, {"spnasnet", 5.26, 6.346},
		{"squeezenet_v1_1", 4.373, 5.57}, {"regnetx008", 7.056, 8.542}, {"resnet12", 10.7, 12.52}, {"resnet18", 18.04, 20.02},
	} {
		m := machine(t, "pixel4", nil)
		r := platform.Request{Engine: soc.EngineGPU, Preference: sim.FastSingleAnswer, Buffers: 2, In: 224 * 224 * 3 * 4, Out: 4000}
		var hz int64
		after := map[int]sim.Time{}
		for i := 1; i <= 200; i++ {
			e, err := m.Execute(r, func(k platform.Conditions) (platform.Outcome, error) {
				hz = k.Points[0].OPP.Hz
				return platform.Outcome{Time: worked(k.Points, x.kernels*top/1e3), Launches: 1}, nil
			})
			require.NoError(t, err)
			after[i] = e.Latency
		}
		within(t, x.network, after[200], 1e3*x.latency, 0.1)
		if hz != top {
			t.Errorf("%s: %.0f MHz in a loop", x.network, float64(hz)/1e6)
		}
		for i := 60; i < 200; i++ {
			if after[i] != after[200] {
				t.Errorf("%s: %v the %dth time, %v the 200th", x.network, after[i], i, after[200])
			}
		}
		worst = max(worst, math.Abs(after[200].Seconds()*1e3/x.latency-1))
	}
	documented(t, "11 float16 networks in a loop on a Pixel 4's GPU", fmt.Sprintf("at most %.0f %% off, at the top clock", 100*worst))
}
