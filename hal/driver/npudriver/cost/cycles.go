package cost

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// Parts are the cycles of a kernel on each unit of the NPU. The units work
// concurrently.
type Parts struct {
	Array   float64 // MAC array
	Output  float64 // output unit
	Memory  float64 // activations on chip
	OffChip float64 // activations off chip
	Fetch   float64 // packed weights and records from off-chip memory
	Fixed   float64 // until the first and behind the last block: latencies
}

// Cycles is the time of a kernel whose neighbours keep the copy engine busy meanwhile.
func (p Parts) Cycles() int64 {
	return int64(max(p.Array, p.Output, p.Memory, p.OffChip, p.Fetch) + p.Fixed)
}

// Working is the time of a kernel whose weights are there.
func (p Parts) Working() float64 { return max(p.Array, p.Output, p.Memory, p.OffChip) + p.Fixed }

// Operations adds up estimates of kernels in the order in which they run.
type Operations struct {
	Spec *npu.Spec
	last int // operation of the kernel before, from 1
}

// Begin is the extra cycles of a kernel that is the first of an operation.
func (o *Operations) Begin(op int, k *kernel.Kernel) int64 {
	if k.Kind == kernel.Copy || o.last == op+1 {
		return 0
	}
	o.last = op + 1
	return int64(o.Spec.OperationCycles)
}

// Planes is how many blocks of pixels a kernel's output has: it reads its weights for each.
func Planes(k *kernel.Kernel) float64 {
	return float64(divideUp(k.OFM.H, k.Block.H) * divideUp(k.OFM.W, k.Block.W))
}

// Estimate estimates a kernel or copy.
func Estimate(s *npu.Spec, k *kernel.Kernel) Parts {
	chip := &s.Memories[s.RegionMemory[s.OnChipRegion()]]
	far := &s.Memories[s.RegionMemory[layout.RegionConst]]
	if k.Kind == kernel.Copy {
		n := float64(layout.Align(k.IFM.H * k.IFM.W * k.IFM.C * k.IFM.Bytes))
		return Parts{Fetch: n / min(chip.BytesPerCycle, far.BytesPerCycle), Fixed: float64(s.DMASetup + far.ReadLatency)}
	}
	e := newEstimator(s, k)
	row, column, depth := e.row(k.Block.H), e.column(k.Block.W), e.depth(k.Block.D)
	w := e.deep(&column, &depth)
	return w.at(&row, &column)
}

// estimator estimates a kernel for any block.
type estimator struct {
	s                        *npu.Spec
	k                        *kernel.Kernel
	onChip, offChip          *npu.MemorySpec
	elements, output, packed float64 // of the output, cycles for them, bytes of weights and records
	array                    float64 // cycles of the array where its blocks do not matter
	pixels                   int     // micro-blocks of a plane
}

func newEstimator(s *npu.Spec, k *kernel.Kernel) estimator {
	ofm := &k.OFM.FeatureMap
	e := estimator{s: s, k: k, onChip: &s.Memories[s.RegionMemory[s.OnChipRegion()]], offChip: &s.Memories[s.RegionMemory[layout.RegionConst]]}
	e.elements = float64(ofm.H*ofm.W) * float64(ofm.C)
	e.output = e.elements * elementCycles(s, k)
	e.pixels = divideUp(ofm.H, s.UBlock.H) * divideUp(ofm.W, s.UBlock.W)
	if k.Kind != kernel.Elementwise && !e.keepsWeights() {
		e.array = float64(e.pixels*divideUp(divideUp(ofm.C, s.Cores), s.UBlock.D)) * steps(s, k)
	}
	if w := k.Weights; w != nil {
		e.packed = float64(w.Outputs*w.Taps*w.PerInput())*w.Bits/8 + float64(w.Outputs*ethosu.ScaleRecordSize)
	}
	return e
}

// side is a side of a block: its size, how many there are along the output, and how many elements of the input it
// needs, with the parts beyond the output and without.
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

// keepsWeights reports whether the array keeps tiles of weights, or of a pool of ones, for the kernel.
func (e *estimator) keepsWeights() bool {
	return e.s.PackTaps && e.k.Kind != kernel.Elementwise
}

// deep is the part of an estimate that depends only on the depth of blocks, and on their width where a map
// is in bricks.
type deep struct {
	*estimator
	depth        *side
	fixed        float64 // latencies of every block
	channel      int     // bytes of an input element's channels that a block reads first
	rereads      float64 // times the input's channels that it reads in all
	in, in2, out flow
	tiles, load  float64 // of a weight-stationary array: its tiles of weights, and cycles to load one
	drain        float64 // cycles behind the last kernel's work: of its table
}

// flow is how a map moves.
type flow struct {
	offChip bool
	bytes   float64 // of the whole map
	rate    float64 // bytes per cycle
	drain   float64 // blocks that nothing waits for
	latency float64
}

// add adds the move of so many bytes in so many blocks.
func (m *flow) add(p *Parts, bytes, blocks float64) {
	if m.offChip { // two blocks are on their way
		p.OffChip += max(bytes/m.rate, (blocks-m.drain)*m.latency/2)
		return
	}
	p.Memory += bytes / m.rate
}

// stored reports whether a map is a constant in memory of its own.
func (e *estimator) stored(r *layout.Ref) bool {
	return r.Value == layout.Placed && r.Region == layout.RegionConst && e.offChip != e.onChip
}

// flow is how a map moves so many channels and columns at a time.
func (e *estimator) flow(r *layout.Ref, channels, width, latency int) flow {
	f := &r.FeatureMap
	m := flow{bytes: float64(f.H*f.W*f.C) * float64(f.Bytes), latency: float64(latency)}
	if m.offChip = f.OffChip || e.stored(r); m.offChip {
		m.rate = rate(e.offChip, f, channels, width)
		if !f.OffChip { // the first block of constants is waited for behind the kernel in front
			m.drain = 1
			if channels >= f.C { // they lie one behind the other
				m.rate = e.offChip.BytesPerCycle
			}
		}
	} else {
		m.rate = rate(e.onChip, f, channels, width)
	}
	return m
}

// bricks reports whether a map is in bricks.
func (e *estimator) bricks() bool {
	return e.k.IFM.StrideC > 0 || e.k.OFM.StrideC > 0 || e.k.IFM2 != nil && e.k.IFM2.StrideC > 0
}

// deep is the estimate for blocks of a width and depth.
func (e *estimator) deep(column, d *side) deep {
	s, k := e.s, e.k
	w := deep{estimator: e, depth: d, fixed: float64(e.onChip.ReadLatency + e.onChip.WriteLatency), rereads: 1}
	if k.Kind != kernel.Elementwise && s.PackTaps {
		w.fixed += float64(s.UBlock.IFM + s.UBlock.D)
	}
	if e.keepsWeights() {
		w.tiles, w.load = e.countTiles(d.size)
	}
	depth := d.inside
	w.channel = roundUp(depth*k.IFM.Bytes, 8)
	if k.Reduces() { // the first channels, then all others at once
		w.rereads = float64(k.IFM.C) / float64(min(depth, k.IFM.C))
		depth = max(depth, k.IFM.C-depth)
	}
	w.in = e.flow(&k.IFM, depth, (column.size-1)*max(k.SX, 1)+1, e.offChip.ReadLatency)
	if k.IFM2 != nil {
		w.in2 = e.flow(k.IFM2, d.size, column.size, e.offChip.ReadLatency)
	}
	w.out = e.flow(&k.OFM, d.size, column.size, e.offChip.WriteLatency)
	if k.Table != nil {
		w.drain = float64(s.DMASetup+e.offChip.ReadLatency) + float64(len(k.Table))/e.offChip.BytesPerCycle
	}
	return w
}

// work is the cycles of the array for so many planes.
func (e *deep) work(planes int) float64 {
	if !e.keepsWeights() {
		return e.array
	}
	return e.tiles * float64(planes) * max(float64(e.pixels)/float64(planes), e.load)
}

// at estimates the kernel with blocks of a height and width.
func (e *deep) at(row, column *side) Parts {
	k, chip, far := e.k, e.onChip, e.offChip
	p := Parts{Fixed: e.fixed, Output: e.output}
	planes := row.blocks * column.blocks
	blocks := float64(planes) * float64(e.depth.blocks)
	if k.Kind != kernel.Elementwise {
		p.Array = e.work(planes)
		p.Fixed += p.Output / blocks // behind the last block of the array
	}
	if e.stored(&k.IFM) || k.IFM2 != nil && e.stored(k.IFM2) {
		p.Fixed += float64(far.ReadLatency - chip.ReadLatency)
	}
	e.in.add(&p, float64(row.inside*column.inside*e.channel)*blocks*e.rereads, blocks)
	if k.IFM2 != nil {
		e.in2.add(&p, e.in2.bytes, blocks)
	}
	e.out.add(&p, e.out.bytes, blocks)
	if w := k.Weights; w != nil {
		again := float64(planes) * e.packed / chip.BytesPerCycle // weights are read again for each plane
		p.Memory += again
		p.Fetch = max(e.packed/far.BytesPerCycle, again)
		if k.Direct {
			p.Fetch = float64(planes) * e.packed / far.BytesPerCycle
		}
		if far == chip { // one port for both
			p.Memory += e.packed / far.BytesPerCycle
		}
		p.Output = max(p.Output, float64(w.Outputs*ethosu.ScaleRecordSize*chip.ReadLatency)/256*float64(planes))
	}
	if k.Table != nil {
		p.Fixed += e.drain
	}
	return p
}

// rate is the bytes per cycle of a memory for the runs of a feature map, so many
// channels and columns at a time: a run shorter than a burst costs a burst, and bricks are read whole.
// Pixels that do not touch are runs of their own.
func rate(m *npu.MemorySpec, f *layout.FeatureMap, channels, width int) float64 {
	run, used := f.C*f.W*f.Bytes, 1.0
	switch {
	case f.StrideC > 0:
		run = min(width, f.W) * f.StrideX
		used = float64(f.C) / float64(roundUp(f.C, layout.BrickDepth))
	case channels < f.C || f.StrideX != f.C*f.Bytes:
		run = min(channels, f.C) * f.Bytes
	}
	return m.BytesPerCycle * used * min(1, float64(run)/float64(m.BurstBytes))
}

// countTiles is the tiles of weights of a weight-stationary array for blocks of a depth, and the cycles to load
// one; 0 of a kernel that multiplies no weights.
func (e *estimator) countTiles(depth int) (tiles, load float64) {
	s, k, u := e.s, e.k, e.s.UBlock
	groups, taps := divideUp(divideUp(k.OFM.C, s.Cores), u.D), k.KH*k.KW
	block := func(d int) int { return max(divideUp(taps*d, u.IFM), divideUp(d, u.D)) }
	n := k.OFM.C/depth*block(depth) + block(k.OFM.C%depth)
	if k.Reduces() {
		n = divideUp(taps*k.IFM.C, u.IFM) * groups
	}
	if k.Kind == kernel.Conv || k.Kind == kernel.Depthwise {
		load = float64(divideUp(u.IFM*u.D, s.WeightsPerCycle))
	}
	return float64(n), load
}

// steps is the cycles of Arm's array for the reduction of a micro-block.
func steps(s *npu.Spec, k *kernel.Kernel) float64 {
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
func elementCycles(s *npu.Spec, k *kernel.Kernel) float64 {
	class := npu.OutOther
	switch {
	case k.Kind == kernel.Elementwise && k.IFM.Bytes == 4 && k.IFM2 == nil:
		class = npu.OutUnary32
	case k.Kind == kernel.Elementwise && k.IFM.Bytes == 4:
		class = npu.OutBinary32
	case k.Kind == kernel.Elementwise && k.Mode == ethosu.EltMul:
		class = npu.OutMul
	case k.Kind == kernel.Elementwise && (k.Mode == ethosu.EltAdd || k.Mode == ethosu.EltSub):
		class = npu.OutAdd
	case k.Kind == kernel.Pool && k.Mode == ethosu.PoolMax:
		class = npu.OutMaxPool
	}
	if k.Table != nil {
		return max(s.OutputCycles[class], s.TableCycles)
	}
	return s.OutputCycles[class]
}
