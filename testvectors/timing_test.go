package testvectors

import (
	"testing"

	"github.com/nnsoc/nnsoc/refcpu"
)

// TestCPUTimingMobileNet holds the timing model to the latency that nn-Meter
// published for MobileNetV1 1.0 224 float on one Cortex-A76 at 2.42 GHz.
func TestCPUTimingMobileNet(t *testing.T) {
	const published, tolerance = 67.5, 0.10 // ms
	n := loadNetwork(t, "mobilenet_v1_1.0_224_float_dq")
	s := &refcpu.CPUSpec{Threads: 1, ParallelEfficiency: 0.9, L3Bytes: 2 << 20, DRAMPerSecond: 15e9, OperationSeconds: 3e-6,
		Cores: []refcpu.CoreSpec{{Cores: 1, ClockHz: 2419e6, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32,
			PowerUW: 369, L1Bytes: 64 << 10, L2Bytes: 256 << 10, L2PerCycle: 32}}}
	for c, e := range []float64{refcpu.ClassConv: 0.46, refcpu.ClassDepthwise: 0.15, refcpu.ClassDense: 0.40, refcpu.ClassElementwise: 0.5} {
		for p := range s.Efficiency[c] {
			s.Efficiency[c][p] = e
		}
	}
	r, err := s.Time(n.model)
	if err != nil {
		t.Fatal(err)
	}
	ms := float64(r.LatencyFs()) * 1e-12
	t.Logf("%.1f ms, %v cycles by reason, published %v ms", ms, r.Reasons, published)
	if ms < published*(1-tolerance) || ms > published*(1+tolerance) {
		t.Errorf("%.1f ms, published %v ms", ms, published)
	}
}
