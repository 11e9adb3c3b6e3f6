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
	if k.Kind == kernel.Copy {
		n := float64(layout.Align(k.IFM.H * k.IFM.W * k.IFM.C * k.IFM.Bytes))
		return Parts{Fetch: n / min(chip.BytesPerCycle, far.BytesPerCycle), Fixed: float64(s.DMASetup + far.ReadLatency)}
	}
	e := newEstimator(s, k)
	return e.at(e.row(k.Block.H), e.column(k.Block.W), e.depth(k.Block.D))
}

// estimator estimates a kernel for any block.
type estimator struct {
	s                        *core.Spec
	k                        *kernel.Kernel
	chip, far                *core.MemorySpec
	elements, output, packed float64 // of the output, cycles for them, bytes of weights and records
	array                    float64 // cycles of the array where its blocks do not matter
	pixels                   int     // micro-blocks of a plane
}

func newEstimator(s *core.Spec, k *kernel.Kernel) estimator {
	ofm := &k.OFM.FeatureMap
	e := estimator{s: s, k: k, chip: &s.Memories[s.RegionMemory[s.OnChipRegion()]], far: &s.Memories[s.RegionMemory[layout.RegionConst]]}
	e.elements = float64(ofm.H*ofm.W) * float64(ofm.C)
	e.output = e.elements * elementCycles(s, k)
	e.pixels = divideUp(ofm.H, s.UBlock.H) * divideUp(ofm.W, s.UBlock.W)
	if k.Kind != kernel.Elementwise && !s.PackTaps {
		e.array = float64(e.pixels*divideUp(divideUp(ofm.C, s.Cores), s.UBlock.D)) * steps(s, k)
	}
	if w := k.Weights; w != nil {
		e.packed = float64(w.Outputs*w.Taps*w.PerInput())*w.Bits/8 + float64(w.Outputs*ethosu.ScaleRecordSize)
	}
	return e
}

// side is a side of a block: its size, how many there are along the output, and how many elements of the input it
// needs, with what lies beyond the output and without.
type side struct{ size, blocks, input, inside int }

func (e *estimator) row(h int) side {
	k := e.k
	return side{h, divideUp(k.OFM.H, h), e.reach(h, k.KH, k.SY, k.DY, e.s.UBlock.H), e.reach(min(h, k.OFM.H), k.KH, k.SY, k.DY, e.s.UBlock.H)}
}

func (e *estimator) column(w int) side {
	k := e.k
	return side{w, divideUp(k.OFM.W, w), e.reach(w, k.KW, k.SX, k.DX, e.s.UBlock.W), e.reach(min(w, k.OFM.W), k.KW, k.SX, k.DX, e.s.UBlock.W)}
}

// reach is the input that n outputs need, in whole micro-blocks.
func (e *estimator) reach(n, taps, stride, dilation, unit int) int {
	if e.k.Kind == kernel.Elementwise {
		return n
	}
	return roundUp((n-1)*stride+min((taps-1)*dilation+1, 8), unit)
}

func (e *estimator) depth(d int) side {
	k := e.k
	s := side{d, divideUp(k.OFM.C, d), d, min(d, k.OFM.C)}
	if k.Reduces() {
		limit := 32
		if k.PartKernel {
			limit = 16
		}
		s.input = min(roundUp(k.IFM.C, 8), max(limit, e.s.UBlock.IFM))
		s.inside = s.input
	}
	return s
}

// inputBytes is the bytes of so many elements of input.
func (e *estimator) inputBytes(h, w, d int) int { return h * w * roundUp(d*e.k.IFM.Bytes, 8) }

// at is what the kernel takes with a block.
func (e *estimator) at(row, column, deep side) Parts {
	s, k, chip, far, ofm := e.s, e.k, e.chip, e.far, &e.k.OFM.FeatureMap
	p := Parts{Fixed: float64(chip.ReadLatency + chip.WriteLatency), Output: e.output}
	planes := row.blocks * column.blocks
	blocks := float64(planes) * float64(deep.blocks)
	if k.Kind != kernel.Elementwise {
		if p.Array = e.array; s.PackTaps {
			p.Array = e.tiles(planes, deep.size)
			p.Fixed += float64(s.UBlock.IFM + s.UBlock.D)
		}
		p.Fixed += p.Output / blocks // behind the last block of the array
	}
	depth := deep.inside
	input := float64(e.inputBytes(row.inside, column.inside, depth)) * blocks
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
	move(&k.IFM, input, depth, (column.size-1)*max(k.SX, 1)+1, far.ReadLatency)
	if k.IFM2 != nil {
		move(k.IFM2, float64(k.IFM2.H*k.IFM2.W*k.IFM2.C*k.IFM2.Bytes), deep.size, column.size, far.ReadLatency)
	}
	move(&k.OFM, e.elements*float64(ofm.Bytes), deep.size, column.size, far.WriteLatency)
	if w := k.Weights; w != nil {
		buffers := chip // weights are read again for each plane
		again := float64(planes) * e.packed / buffers.BytesPerCycle
		p.Memory += again
		p.Fetch = max(e.packed/far.BytesPerCycle, again)
		if k.Direct {
			p.Fetch = float64(planes) * e.packed / far.BytesPerCycle
		}
		if far == chip { // one port for both
			p.Memory += e.packed / far.BytesPerCycle
		}
		p.Output = max(p.Output, float64(w.Outputs*ethosu.ScaleRecordSize*buffers.ReadLatency)/256*float64(planes))
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

// tiles is the work of a weight-stationary array: tiles of weights times the pixels of a plane or the load of a tile.
func (e *estimator) tiles(planes, depth int) float64 {
	s, k, u := e.s, e.k, e.s.UBlock
	groups, taps := divideUp(divideUp(k.OFM.C, s.Cores), u.D), k.KH*k.KW
	tiles := 0
	switch {
	case k.Kind == kernel.Depthwise:
		tiles = divideUp(k.OFM.C, max(1, min(u.IFM/taps, u.D, depth))) * divideUp(taps, u.IFM)
	case k.Reduces():
		tiles = divideUp(taps*k.IFM.C, u.IFM) * groups
	default:
		return float64(e.pixels*groups) * steps(s, k)
	}
	load := divideUp(u.IFM*u.D, s.WeightsPerCycle)
	return float64(tiles) * float64(planes) * math.Max(float64(e.pixels)/float64(planes), float64(load))
}

// steps is the cycles that a micro-block of Arm's array takes for its reduction.
func steps(s *core.Spec, k *kernel.Kernel) float64 {
	const step = 4 // cycles of 32 products of an element of a micro-block
	taps := k.KH * k.KW
	switch {
	case k.Kind == kernel.Pool && !k.Reduces():
		return float64(max(step, taps))
	case k.Kind == kernel.Depthwise:
		taps = divideUp(taps, s.DepthwiseTaps)
	case k.PartKernel:
		taps = divideUp(taps, 4) * divideUp(k.IFM.C, 8)
	default:
		taps *= divideUp(k.IFM.C, max(32, s.UBlock.IFM))
	}
	return float64(step * taps)
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
