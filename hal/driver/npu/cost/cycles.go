package cost

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// Parts are what a kernel takes of each unit, in cycles of the NPU. The units work beside
// each other.
type Parts struct {
	Array  float64 // MAC array
	Output float64 // output unit
	Memory float64 // activations on chip
	Far    float64 // activations off chip
	Fetch  float64 // packed weights and records from off-chip memory
	Fixed  float64 // until the first and behind the last block: latencies
}

// Cycles is the time of a kernel whose neighbours keep the copy engine busy meanwhile.
func (p Parts) Cycles() int64 {
	return int64(max(p.Array, p.Output, p.Memory, p.Far, p.Fetch) + p.Fixed)
}

// Working is the time of a kernel whose weights are there.
func (p Parts) Working() float64 { return max(p.Array, p.Output, p.Memory, p.Far) + p.Fixed }

// Planes is how many blocks of pixels a kernel's output has: it reads its weights for each.
func Planes(k *kernel.Kernel) float64 {
	return float64(divideUp(k.OFM.H, k.Block.H) * divideUp(k.OFM.W, k.Block.W))
}

// Estimate is what a kernel or copy takes.
func Estimate(s *core.Spec, k *kernel.Kernel) Parts {
	chip := &s.Memories[s.RegionMemory[s.OnChipRegion()]]
	far := &s.Memories[s.RegionMemory[layout.RegionConst]]
	ofm := &k.OFM.FeatureMap
	if k.Kind == kernel.Copy {
		n := float64(layout.Align(k.IFM.H * k.IFM.W * k.IFM.C * k.IFM.Bytes))
		return Parts{Fetch: n / min(chip.BytesPerCycle, far.BytesPerCycle), Fixed: float64(s.DMASetup + far.ReadLatency)}
	}
	p := Parts{Fixed: float64(chip.ReadLatency + chip.WriteLatency)}
	blocks := float64(divideUp(ofm.H, k.Block.H)*divideUp(ofm.W, k.Block.W)) * float64(divideUp(ofm.C, k.Block.D))
	elements := float64(ofm.H*ofm.W) * float64(ofm.C)
	p.Output = elements * elementCycles(s, k)
	if k.Kind != kernel.Elementwise {
		p.Array = arrayCycles(s, k)
		if s.PackTaps {
			p.Fixed += float64(s.UBlock.IFM + s.UBlock.D)
		}
		p.Fixed += p.Output / blocks // behind the last block of the array
	}
	bytes, depth := inputBlock(s, k, min(k.Block.H, ofm.H), min(k.Block.W, ofm.W), min(k.Block.D, ofm.C))
	input := float64(bytes) * blocks
	if k.Reduces() { // the first channels, then all others at once
		input *= float64(k.IFM.C) / float64(min(depth, k.IFM.C))
		depth = max(depth, k.IFM.C-depth)
	}
	stored := func(r *layout.Ref) bool {
		return r.Value == layout.Placed && r.Region == layout.RegionConst && far != chip
	}
	if stored(&k.IFM) || k.IFM2 != nil && stored(k.IFM2) {
		p.Fixed += float64(far.ReadLatency - chip.ReadLatency)
	}
	move := func(r *layout.Ref, bytes float64, channels, width, latency int) {
		f := &r.FeatureMap
		if f.Far || stored(r) {
			// Two blocks are on their way; the first of constants is waited for behind the kernel in front.
			waits := blocks
			if !f.Far {
				waits--
			}
			p.Far += max(bytes/rate(far, f, channels, width), waits*float64(latency)/2)
			return
		}
		p.Memory += bytes / rate(chip, f, channels, width)
	}
	move(&k.IFM, input, depth, (k.Block.W-1)*max(k.SX, 1)+1, far.ReadLatency)
	if k.IFM2 != nil {
		move(k.IFM2, float64(k.IFM2.H*k.IFM2.W*k.IFM2.C*k.IFM2.Bytes), k.Block.D, k.Block.W, far.ReadLatency)
	}
	move(&k.OFM, elements*float64(ofm.Bytes), k.Block.D, k.Block.W, far.WriteLatency)
	if w := k.Weights; w != nil {
		buffers := chip
		planes := Planes(k) // weights are read again for each
		packed := float64(w.Outputs*w.Taps*w.PerInput())*w.Bits/8 + float64(w.Outputs*ethosu.ScaleRecordSize)
		again := planes * packed / buffers.BytesPerCycle
		p.Memory += again
		p.Fetch = max(packed/far.BytesPerCycle, again)
		if k.Direct {
			p.Fetch = planes * packed / far.BytesPerCycle
		}
		if far == chip { // one port for both
			p.Memory += packed / far.BytesPerCycle
		}
		p.Output = max(p.Output, float64(w.Outputs*ethosu.ScaleRecordSize*buffers.ReadLatency)/256*planes)
	}
	if k.Table != nil {
		p.Fixed += float64(s.DMASetup+far.ReadLatency) + float64(len(k.Table))/far.BytesPerCycle
	}
	return p
}

// rate is the bytes per cycle of a memory for the runs of a feature map, so many
// channels and columns at a time: a run shorter than a burst takes a burst, and bricks come whole.
func rate(m *core.MemorySpec, f *layout.FeatureMap, channels, width int) float64 {
	run, used := f.C*f.W*f.Bytes, 1.0
	switch {
	case f.StrideC > 0:
		run = min(width, f.W) * f.StrideX
		used = float64(f.C) / float64(roundUp(f.C, layout.BrickDepth))
	case channels < f.C:
		run = channels * f.Bytes
	}
	return m.BytesPerCycle * used * min(1, float64(run)/float64(m.BurstBytes))
}

// arrayCycles is the work of the MAC array: on a weight-stationary array tiles of weights
// times pixels or the load of a tile, on Arm's micro-blocks times the steps of the
// reduction.
func arrayCycles(s *core.Spec, k *kernel.Kernel) float64 {
	u, ofm := s.UBlock, &k.OFM.FeatureMap
	pixels := divideUp(ofm.H, u.H) * divideUp(ofm.W, u.W)
	groups := divideUp(divideUp(ofm.C, s.Cores), u.D)
	taps := k.KH * k.KW
	if s.PackTaps && (k.Reduces() || k.Kind == kernel.Depthwise) {
		xy := divideUp(ofm.H, k.Block.H) * divideUp(ofm.W, k.Block.W)
		tiles := divideUp(taps*k.IFM.C, u.IFM) * groups
		if k.Kind == kernel.Depthwise {
			tiles = divideUp(ofm.C, max(1, min(u.IFM/taps, u.D, k.Block.D))) * divideUp(taps, u.IFM)
		}
		load := divideUp(u.IFM*u.D, s.WeightsPerCycle)
		return float64(tiles) * float64(xy) * math.Max(float64(pixels)/float64(xy), float64(load))
	}
	const step = 4 // cycles of 32 products of an element of a micro-block
	steps := taps
	switch {
	case k.Kind == kernel.Pool && !k.Reduces():
		return float64(max(step, taps)) * float64(pixels*groups)
	case k.Kind == kernel.Depthwise:
		steps = divideUp(taps, s.DepthwiseTaps)
	case k.PartKernel:
		steps = divideUp(taps, 4) * divideUp(k.IFM.C, 8)
	default:
		steps *= divideUp(k.IFM.C, max(32, u.IFM))
	}
	return float64(step) * float64(pixels*groups) * float64(steps)
}

// elementCycles is the rate of the output unit.
func elementCycles(s *core.Spec, k *kernel.Kernel) float64 {
	class := core.OutOther
	switch {
	case k.Kind == kernel.Elementwise && k.IFM.Bytes == 4 && k.IFM2 == nil:
		class = core.OutUnary32
	case k.Kind == kernel.Elementwise && k.IFM.Bytes == 4:
		class = core.OutBinary32
	case k.Kind == kernel.Elementwise && k.Mode == ethosu.EltMul:
		class = core.OutMul
	case k.Kind == kernel.Elementwise && (k.Mode == ethosu.EltAdd || k.Mode == ethosu.EltSub):
		class = core.OutAdd
	case k.Kind == kernel.Pool && k.Mode == ethosu.PoolMax:
		class = core.OutMaxPool
	}
	if k.Table != nil {
		return max(s.OutputCycles[class], s.TableCycles)
	}
	return s.OutputCycles[class]
}
