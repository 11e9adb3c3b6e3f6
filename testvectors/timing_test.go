package testvectors

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/refcpu/timing"
)

// cortexA76 is one core at 2.42 GHz, as the preset pixel4 has three.
func cortexA76() *timing.CPUSpec {
	cache := func(kib int64, ways int, hit float64, mshrs int) timing.CacheSpec {
		return timing.CacheSpec{Bytes: kib << 10, LineBytes: 64, Ways: ways, HitCycles: hit, BytesPerCycle: 32, MSHRs: mshrs}
	}
	s := &timing.CPUSpec{Threads: 1, ParallelEfficiency: 0.9, DRAMPerSecond: 15e9, DRAMSeconds: 110e-9, DRAMLineSeconds: 10e-9, OperationSeconds: 3e-6,
		L3: cache(2048, 16, 31, 128),
		Cores: []timing.CoreSpec{{Cores: 1, ClockHz: 2419e6, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32,
			PowerUW: 369, L1: cache(64, 4, 4, 20), L2: cache(256, 8, 9, 46)}}}
	for c, e := range []float64{opspec.KernelConv: 0.46, opspec.KernelDepthwise: 0.15, opspec.KernelDense: 0.40, opspec.KernelElementwise: 0.5} {
		for p := range s.Efficiency[c] {
			s.Efficiency[c][p] = e
		}
	}
	return s
}

// TestCPUTimingMobileNet holds the timing model to the latency that nn-Meter
// published for MobileNetV1 1.0 224 float on one Cortex-A76 at 2.42 GHz.
func TestCPUTimingMobileNet(t *testing.T) {
	const published, tolerance = 67.5, 0.10 // ms
	n := loadNetwork(t, "mobilenet_v1_1.0_224_float_dq")
	r, err := cortexA76().Estimate(nil, n.model)
	if err != nil {
		t.Fatal(err)
	}
	ms := float64(r.TimeFs) * 1e-12
	t.Logf("%.1f ms, %v cycles by reason, published %v ms", ms, r.Reasons, published)
	if ms < published*(1-tolerance) || ms > published*(1+tolerance) {
		t.Errorf("%.1f ms, published %v ms", ms, published)
	}
}
