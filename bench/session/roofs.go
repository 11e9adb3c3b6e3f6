package session

import (
	"slices"

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
// or of float32, and the bytes that each level of its memory can deliver.
func Roofs(c *soc.Config, eightBits bool) map[string]report.Roof {
	d := c.DRAM.Config()
	bytes := d.PeakBytesPerSecond()
	m := map[string]report.Roof{}
	add := func(e soc.Engine, macs float64, near []report.Level) {
		if macs <= 0 {
			return
		}
		if _, rate := c.Share(e); rate > 0 {
			near = append(near, report.Level{Name: "system_cache", BytesPerS: rate})
		}
		m[e.String()] = report.Roof{MACsPerS: macs, BytesPerS: bytes, Levels: append(near, report.Level{Name: "dram", BytesPerS: bytes})}
	}
	if x := c.CPU; x != nil {
		macs := x.Peak()
		if eightBits && x.Clusters[0].MACF32 > 0 {
			macs *= x.Clusters[0].MACI8 / x.Clusters[0].MACF32
		}
		add(soc.EngineCPU, macs, cpuLevels(x))
	}
	if x := c.GPU; x != nil {
		macs := float64(x.Clusters*x.CUsPerCluster*x.SIMDsPerCU*x.Lanes) * hertz(&x.Clock)
		if eightBits {
			macs *= dotProducts
		}
		add(soc.EngineGPU, macs, gpuLevels(x))
	}
	if x := c.DSP; x != nil && eightBits {
		add(soc.EngineDSP, float64(x.Contexts*vectorWords*dotProducts)*hertz(&x.Clock), dspLevels(x))
	}
	if x := c.NPU; x != nil && eightBits {
		add(soc.EngineNPU, float64(x.Cores*x.Ublock[0]*x.Ublock[1]*x.Ublock[2]*x.IFMDepth)*hertz(&x.Clock), npuLevels(x))
	}
	return m
}

// hertz is the clock of an engine for an application that wants its answer fast.
func hertz(k *soc.Clock) float64 { return float64(k.At(sim.FastSingleAnswer).Hz) }

// levels makes the list of a machine's levels from names and bytes per second; one that the machine does not have is left out.
func levels(list ...report.Level) []report.Level {
	return slices.DeleteFunc(list, func(l report.Level) bool { return l.BytesPerS <= 0 })
}

// cpuLevels are the caches of the cores that an inference's threads run on, and L3, which has the clock of the first cluster.
func cpuLevels(x *soc.CPU) []report.Level {
	left, l1, l2 := x.Threads, 0.0, 0.0
	for i := range x.Clusters {
		k := &x.Clusters[i]
		n := min(left, k.Cores)
		left -= n
		l1 += float64(n*k.L1D.BytesPerCycle) * hertz(&k.Clock)
		l2 += float64(n*k.L2.BytesPerCycle) * hertz(&k.Clock)
	}
	return levels(report.Level{Name: "l1d", BytesPerS: l1}, report.Level{Name: "l2", BytesPerS: l2},
		report.Level{Name: "l3", BytesPerS: float64(x.L3.BytesPerCycle) * hertz(&x.Clusters[0].Clock)})
}

// gpuLevels are LDS, the vector caches of all compute units, and L2.
func gpuLevels(x *soc.GPU) []report.Level {
	units, hz := x.Clusters*x.CUsPerCluster, hertz(&x.Clock)
	locals := units
	if x.LDSPerCluster {
		locals = x.Clusters
	}
	return levels(report.Level{Name: "lds", BytesPerS: float64(locals*x.LDSBytesPerCycle) * hz},
		report.Level{Name: "l0", BytesPerS: float64(units*x.L0.BytesPerCycle) * hz}, report.Level{Name: "l2", BytesPerS: float64(x.L2.BytesPerCycle) * hz})
}

// vtcmVectors are a packet's vector load and its vector store, for both of which VTCM has the bandwidth.
const vtcmVectors = 2

// dspLevels are VTCM and L2, between which vectors choose; L1 has scalars alone.
func dspLevels(x *soc.DSP) []report.Level {
	hz, vtcm := hertz(&x.Clock), 0.0
	if x.VTCMKiB > 0 {
		vtcm = float64(x.Contexts*vtcmVectors*vectorWords*4) * hz
	}
	return levels(report.Level{Name: "vtcm", BytesPerS: vtcm}, report.Level{Name: "l2", BytesPerS: float64(x.L2.BytesPerCycle) * hz})
}

// npuLevels are the memories behind the NPU's ports but for the SoC's DRAM.
func npuLevels(x *soc.NPU) (list []report.Level) {
	for i := range x.Memories {
		if k := &x.Memories[i]; !k.IsDRAM() {
			rate := k.BytesPerCycle * hertz(&x.Clock)
			if k.Duplex {
				rate *= 2
			}
			list = append(list, report.Level{Name: k.Name, BytesPerS: rate})
		}
	}
	return levels(list...)
}
