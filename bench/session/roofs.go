package session

import (
	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// quantized reports whether a network has 8-bit tensors.
func quantized(m *nn.Model) bool {
	for i := range m.Main.Operands {
		if t := m.Main.Operands[i].Type; t == nn.TensorQuant8Asymm || t == nn.TensorQuant8AsymmSigned {
			return true
		}
	}
	return false
}

// dotProducts are the 8-bit multiply-accumulates of a lane of the GPU's v_dot4, and of a
// 32-bit word of vrmpy on the DSP.
const dotProducts = 4

// vectorWords are the 32-bit words of an HVX vector.
const vectorWords = 32

// Roofs are the multiply-accumulates of each engine at its highest clock, of 8-bit elements
// or of float32, and the bytes that the memory can deliver.
func Roofs(c *soc.Config, eightBits bool) map[string]report.Roof {
	d := c.DRAM.Config()
	bytes := d.PeakBytesPerSecond()
	hz := func(k *soc.Clock) float64 { return float64(k.At(sim.FastSingleAnswer).Hz) }
	m := map[string]report.Roof{}
	add := func(e soc.Engine, macs float64) {
		if macs > 0 {
			m[e.String()] = report.Roof{MACsPerS: macs, BytesPerS: bytes}
		}
	}
	if x := c.CPU; x != nil {
		macs := x.Peak()
		if eightBits && x.Clusters[0].MACF32 > 0 {
			macs *= x.Clusters[0].MACI8 / x.Clusters[0].MACF32
		}
		add(soc.EngineCPU, macs)
	}
	if x := c.GPU; x != nil {
		macs := float64(x.Clusters*x.CUsPerCluster*x.SIMDsPerCU*x.Lanes) * hz(&x.Clock)
		if eightBits {
			macs *= dotProducts
		}
		add(soc.EngineGPU, macs)
	}
	if x := c.DSP; x != nil && eightBits {
		add(soc.EngineDSP, float64(x.Contexts*vectorWords*dotProducts)*hz(&x.Clock))
	}
	if x := c.NPU; x != nil && eightBits {
		add(soc.EngineNPU, float64(x.Cores*x.Ublock[0]*x.Ublock[1]*x.Ublock[2]*x.IFMDepth)*hz(&x.Clock))
	}
	return m
}
