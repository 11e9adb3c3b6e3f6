package convolution

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxConvPositions bounds the positions of a block.
const maxConvPositions = 8

// maxFlat is how many vrmpy a chunk may have that is written without a loop.
const maxFlat = 200

// maxNear bounds the distance of positions that share an address: the last ones
// of a row may read that far behind it.
const maxNear = 1024

// WindowDependence says which input rows each of count rows of a result needs that windows compute.
func WindowDependence(w *opspec.Window, count int) step.RowDependence {
	return step.RowDependence{Count: count, Stride: w.StrideH, Above: w.Top, Reach: (w.KH-1)*w.DilationH + 1}
}

// Conv is a convolution, with memory for window sums when the filter has a zero point.
type Conv struct {
	*Convolution
	Scratch *layout.Tensor
	Window  *layout.Tensor // for inputs of the Z window; nil where no kernel uses it
}

// Share implements step.SharedWork.
func (w Conv) Share(l *step.Launcher) step.Work {
	return shareGEMM(l, w)
}

// Launch implements step.Work.
func (w Conv) Launch(l *step.Launcher, r step.Rows) { step.LaunchShared(l, w, r) }

// GEMMPlan is the shape of a convolution's kernel before its block is chosen.
type GEMMPlan struct {
	C            conv.GEMM
	Full, PerRun int // full chunks, taps of a run
}

// PlanGEMM is the shape of a convolution's kernel.
func PlanGEMM(l *step.Object, g *Convolution) GEMMPlan {
	k := g.Filter.K
	words, perRun := g.runWords()
	c := conv.GEMM{Words: words, Runs: g.Filter.KH * g.Filter.KW / perRun, Rq: g.Rq.Kind(), ZeroPoint: g.Filter.Zero != 0, PerVector: g.Out.PerVec()}
	c.Pitch = g.Out.Pitch
	full, rest := k/128, k%128
	if c.PerVector > 1 {
		full, c.Tail = 0, g.Out.Pitch/32
	} else if c.Tail = layout.CeilDiv(rest, 32); c.Tail == 4 {
		full, c.Tail = full+1, 0
	}
	c.Full = full > 0
	c.OneChunk = full == 0 || full == 1 && c.Tail == 0
	// Runs of pairs start on 8 bytes everywhere.
	c.WordPairs = g.In.Pitch%8 == 0 || g.In.Pitch == 4 && g.StrideW%2 == 0 && g.Left%2 == 0 && perRun > 1
	return GEMMPlan{c, full, perRun}
}

func shareGEMM(l *step.Launcher, w Conv) step.Work {
	g := w.Convolution
	if g.Spatial != nil {
		return choose(l, [][]conv.Spatial{{*g.Spatial}}, func(l *step.Launcher, d conv.Spatial) run { return beginSpatial(l, g, d) })
	}
	p := PlanGEMM(l.Object, g)
	own := *g // as the spatial kernel has it
	own.Rq.UseByteFactor(g.MaxSum())
	return choose(l, convCandidates(l, &w, &own, &p), func(l *step.Launcher, k hvx.Kernel) run {
		if d, spatial := k.(conv.Spatial); spatial {
			return beginSpatial(l, &own, d)
		}
		return beginGEMM(l, &w, &p, k.(conv.GEMM))
	})
}

// beginGEMM prepares a convolution with a GEMM kernel.
func beginGEMM(l *step.Launcher, w *Conv, p *GEMMPlan, c conv.GEMM) *gemmRun {
	g := w.Convolution
	e := &gemmRun{l: l, g: g, full: p.Full, parts: map[[2]int]uint32{}}
	if w.Scratch != nil {
		e.scratch = w.Scratch.Addr
	}
	if w.Window != nil {
		e.window = w.Window.Addr
	}
	e.prepare(c, p.PerRun)
	e.kernel = l.Kernel(e.c.Key())
	e.bumps = l.Words(e.steps)
	e.params = l.Words(g.Rq.Params())
	return e
}

// pack implements run.
func (e *gemmRun) pack() {
	if e.g.RuntimeWeights != nil {
		return
	}
	e.records = conv.PackChunks(&e.g.Conv, e.c, e.taps, 0, e.full, 4, true)
	if e.c.Slice {
		for n := range e.chunks() {
			e.records = append(e.records, conv.PackChunks(&e.g.Conv, e.c, e.taps, n*e.sliceChannels(), 1, e.c.Tail, false)...)
		}
		return
	}
	if e.c.Tail > 0 {
		e.records = append(e.records, conv.PackChunks(&e.g.Conv, e.c, e.taps, e.full*128, 1, e.c.Tail, false)...)
	}
}

// convCandidates are the kernels of a convolution: software-pipelined, with or without, in tiles of
// some positions, or spatial.
func convCandidates(l *step.Launcher, w *Conv, spatial *Convolution, p *GEMMPlan) (list [][]hvx.Kernel) {
	g := w.Convolution
	positions := g.Out.Shape.Positions()
	if w.Window != nil {
		for _, c := range windowKernels(l.Object, g) {
			list = append(list, []hvx.Kernel{c})
		}
	}
	if g.RuntimeWeights == nil {
		for _, c := range pipelined(l, p.C, p.Full, positions) {
			list = append(list, []hvx.Kernel{c})
		}
	}
	for _, n := range gemmTiles(&p.C, positions) {
		c := p.C
		c.Positions = n
		unroll(&c)
		list = append(list, []hvx.Kernel{c})
		if g.RuntimeWeights != nil { // the records have been laid out for the first one
			return list
		}
	}
	list = append(list, sliced(l, &p.C, positions)...)
	if g.Filter.K > layout.VectorBytes/4 {
		return list
	}
	if d, ok := SpatialKernelOf(l.Object, spatial); ok {
		var forms []hvx.Kernel
		for _, d := range spatialForms(d) {
			forms = append(forms, d)
		}
		list = append(list, forms)
	}
	return list
}

// slicePositions is how many positions a block of a slice has; there are no address registers for more.
const slicePositions = 4

// sliced are the kernels that go through 32 or 64 channels at a time, for weights of 128
// that VTCM does not hold: each block reads them all from L2, and from DRAM what L2 does not hold either.
func sliced(l *step.Launcher, c *conv.GEMM, positions int) (list [][]hvx.Kernel) {
	if c.PerVector > 1 || positions < 3*slicePositions || c.Record(4)+readAhead <= l.VTCM {
		return nil
	}
	for _, groups := range []int{2, 1} {
		s := *c
		s.Positions, s.Tail, s.Full, s.OneChunk, s.Slice = slicePositions, groups, false, true, true
		unroll(&s)
		list = append(list, []hvx.Kernel{s})
	}
	return list
}

// prepare determines the kernel.
func (e *gemmRun) prepare(c conv.GEMM, perRun int) {
	l, g := e.l, e.g
	shareAddresses(&c, g)
	c.PerRow, c.Across, c.Down = g.Filter.KW/perRun, g.DilationW*g.In.Pitch, g.DilationH*g.In.RowBytes()
	e.taps, e.steps = g.inputRuns(&c, perRun)
	c.Stream = l.Streams(g.In)
	e.c = &c
	if c.Slice {
		e.full = 0
	}
	if n := int64(e.full)*int64(c.Record(4)) + int64(e.tails())*int64(c.Record(max(c.Tail, 1))); n > layout.MaxConst {
		l.Fail(fmt.Errorf("%d bytes of packed weights, at most %d", n, layout.MaxConst))
	}
	rows := g.Out.Shape.N * g.Out.Shape.H
	if l.IsTrial {
		rows = l.Sample.To
	}
	e.block(0, rows)
	if c.ZeroPoint {
		c.Correction = e.strips.kernel(l.Spread(e.blocks))
	}
}

// block divides rows of the result into blocks and strips.
func (e *gemmRun) block(from, to int) {
	if e.strips != nil && e.strips.c == e.c && e.from == from && e.to == to {
		return
	}
	e.from, e.to = from, to
	e.entries = e.g.blockTable(e.c, from, to)
	e.blocks = len(e.entries) / e.c.EntryWords()
	e.strips = newStrips(e.g, e.c, e.entries)
}

// Launch emits some rows of the result.
func (e *gemmRun) Launch(l *step.Launcher, r step.Rows) {
	c := e.c
	e.block(r.From, r.To)
	e.table = l.Words(append(e.entries, e.entries[len(e.entries)-c.EntryWords():]...)) // begun in vain
	if c.ZeroPoint {
		e.zeroPointArgs = e.g.zeroPointArgs(l, c)
	}
	e.launchChunks()
}

// maxPipelinedProducts is how many vrmpy a block of a software-pipelined kernel may have, all of
// which are unrolled code. More would save cycles in few networks, and cost time to prepare.
const maxPipelinedProducts = 1200

// pipelined are the software-pipelined kernels of a convolution, in blocks of some positions: none
// where there are too few blocks for the threads, or records do not fit in VTCM.
func pipelined(l *step.Launcher, c conv.GEMM, full, positions int) (list []conv.GEMM) {
	c.Pipelined, c.Unrolled, c.Chunks = true, true, full
	size := c.Record(4)*full + c.Record(max(c.Tail, 1)) + 2*4*layout.VectorBytes
	for _, c.Positions = range c.Blocks() {
		vrmpy := c.Positions * (4*full + c.Tail) * c.Words * c.Runs
		if vrmpy <= maxPipelinedProducts && size <= l.VTCM && positions >= 2*l.Threads*c.Positions {
			list = append(list, c)
		}
	}
	return list
}

// gemmTiles are how many positions a block of a GEMM kernel may have. Vector registers allow
// sixteen to twenty accumulators.
func gemmTiles(c *conv.GEMM, positions int) []int {
	groups := max(c.Tail, 1)
	if c.Full {
		groups = 4
	}
	switch {
	case c.PerVector == 4 && 8*groups*c.Words*c.Runs <= maxFlat:
		return []int{8}
	case c.PerVector > 1:
		return []int{max(c.PerVector, 4)}
	case c.Rq.PerChannel || c.Rq.Clamp || !c.WordPairs || c.OneChunk || positions <= 4:
		return []int{min(positions, 4)}
	}
	// Five positions of four groups leave registers for the plainest requantization only.
	return []int{4, 5}
}

// ShapeBlock gives a kernel of runtime weights its block.
func ShapeBlock(c *conv.GEMM, positions int) {
	c.Positions = gemmTiles(c, positions)[0]
	unroll(c)
}

// unroll decides whether the products of a block are written without a loop.
func unroll(c *conv.GEMM) {
	groups := max(c.Tail, 1)
	if c.Full {
		groups = 4
	}
	c.Unrolled = c.Positions*groups*c.Words*c.Runs <= maxFlat
	if !c.Unrolled && c.Words <= 4 {
		c.WordPairs = false
	}
	if !c.Unrolled && c.WordPairs {
		c.Words = layout.RoundUp(c.Words, 2)
	}
}

// readAhead is how far a kernel reads behind the last record.
const readAhead = 2 * 4 * layout.VectorBytes

// maxOnce is how many bytes of weights that are used once a job goes through, unless
// each thread has only one chunk.
const maxOnce = 256 << 10

// gemmRun launches the jobs of one convolution.
type gemmRun struct {
	l                             *step.Launcher
	g                             *Convolution
	c                             *conv.GEMM
	kernel                        *hvx.Linked
	full                          int // full chunks; a tail chunk follows when c.tail > 0
	blocks                        int
	from, to                      int      // rows that they make
	entries                       []uint32 // the block table
	strips                        *strips
	shares                        [][2]int                   // blocks of the threads of the last job
	zeroPointArgs                 [conv.ZeroPointArgs]uint32 // but for the scratch
	steps                         []uint32                   // from run to run
	table, bumps, params, scratch uint32
	window                        uint32
	taps                          [][4]conv.Tap     // of each word of a run
	records                       []byte            // nil until they are packed
	parts                         map[[2]int]uint32 // where the records of chunks lie
}

// part places the records of chunks where they are used.
func (e *gemmRun) part(from, to int) uint32 {
	if e.g.RuntimeWeights != nil {
		return e.g.RuntimeWeights.Addr + e.g.RuntimeWeightsAt + uint32(e.size(0, from))
	}
	if e.records == nil {
		return layout.ConstBase
	}
	at, ok := e.parts[[2]int{from, to}]
	if !ok {
		at = e.l.Constant(e.records[e.size(0, from):e.size(0, to)])
		e.parts[[2]int{from, to}] = at
	}
	return at
}

// tails is how many chunks of e.c.Tail groups there are.
func (e *gemmRun) tails() int {
	switch {
	case e.c.Slice:
		return layout.CeilDiv(e.g.Filter.K, e.sliceChannels())
	case e.c.Tail > 0:
		return 1
	}
	return 0
}

// sliceChannels are the output channels of a slice.
func (e *gemmRun) sliceChannels() int { return 32 * e.c.Tail }

// chunks is the number of all chunks.
func (e *gemmRun) chunks() int { return e.full + e.tails() }

// size returns the bytes of the records of chunks from to to-1.
func (e *gemmRun) size(from, to int) int {
	if e.c.Slice {
		return (to - from) * e.c.Record(e.c.Tail)
	}
	n := (min(to, e.full) - min(from, e.full)) * e.c.Record(4)
	if to > e.full {
		n += e.c.Record(e.c.Tail)
	}
	return n
}

// launchChunks emits the convolution: with records in place, or from VTCM in as many
// parts as needed, when weights are used often enough to amortize the copy.
func (e *gemmRun) launchChunks() {
	c, l := e.c, e.l
	chunks := e.chunks()
	if e.blocks < 3 && !c.Slice && !c.Window {
		// Weights that are used once come from DRAM in order: threads go through
		// them together, a few chunks each at a time.
		step := max(l.Threads, maxOnce/e.size(0, 1)/l.Threads*l.Threads)
		for from := 0; from < chunks; from += step {
			to := min(from+step, chunks)
			e.job(e.part(from, to), from, to).PrefetchArg = conv.PrefetchArg
		}
		return
	}
	// Weights that the program packs are not there yet when an engine fetches ahead.
	if e.size(0, 1)+readAhead > l.VTCM || e.g.RuntimeWeights != nil && l.DMA { // every block reads all weights of a job from L2
		for n := range chunks {
			part := e.part(n, n+1)
			warm(l, part, e.size(n, n+1))
			job := e.job(part, n, n+1)
			job.Traffic.Reads += e.size(n, n+1) * 5 / 4
			job.Cost.Missed += l.Machine.Again(e.size(n, n+1), e.windows(), layout.CeilDiv(e.blocks, l.Threads))
			e.prefetches(job)
		}
		return
	}
	if e.g.RuntimeWeights != nil {
		l.Seal()
	}
	for from := 0; from < chunks; {
		to := from + 1
		for to < chunks && !c.Slice && e.size(from, to+1)+readAhead <= l.VTCM {
			to++
		}
		in := l.Resident(e.part(from, to), e.size(from, to)+readAhead)
		e.prefetches(e.job(in, from, to))
		from = to
	}
}

// windows are the bytes of the rows that the threads read at a time.
func (e *gemmRun) windows() int {
	in := e.g.In
	return min(in.Bytes(), e.l.Threads*e.g.Filter.KH*in.RowBytes())
}

// prefetches lets the threads of the job launched last fetch the inputs of their
// first strips, when the kernel itself fetches those of the others, or else what
// later jobs need.
func (e *gemmRun) prefetches(j *step.Job) {
	if !e.c.Stream {
		j.PrefetchArg = conv.PrefetchArg
		return
	}
	for t, args := range j.Args {
		args[conv.PrefetchArg], args[conv.PrefetchArg+1] = e.strips.prefetch(e.shares[t][0], e.shares[t][1])
	}
}

// job launches chunks [from, to), whose records are at the given address.
// Threads share the blocks, or the chunks when there are few blocks.
func (e *gemmRun) job(at uint32, from, to int) *step.Job {
	c, l := e.c, e.l
	chunks := to - from
	byBlock := layout.CeilDiv(e.blocks, l.Threads) * chunks
	byChunk := e.blocks * layout.CeilDiv(chunks, l.Threads)
	items := e.blocks
	byChunks := byChunk < byBlock && !c.Pipelined
	if byChunks {
		items = chunks
	}
	var args [][]uint32
	e.shares = e.shares[:0]
	for t, r := range l.Spread(items) {
		b, n := [2]int{0, e.blocks}, [2]int{from, to}
		if byChunks {
			n = [2]int{from + r[0], from + r[1]}
		} else {
			b = r
		}
		if c.Slice {
			args = append(args, e.threadArgs(t, b, e.sliceBlock(at, from)))
			continue
		}
		block := make([]uint32, conv.Args)
		block[conv.ArgFull] = at + uint32((n[0]-from)*c.Record(4))
		block[conv.ArgChunks] = uint32(min(n[1], e.full) - min(n[0], e.full))
		block[conv.ArgOffset] = uint32(n[0] * layout.VectorBytes)
		if n[1] > e.full {
			block[conv.ArgTail] = at + uint32((e.full-from)*c.Record(4))
		}
		block[conv.ArgTailOffset] = uint32(e.full * layout.VectorBytes)
		args = append(args, e.threadArgs(t, b, block))
	}
	return l.Launch(e.kernel, args)
}

// sliceBlock is the argument block of the threads of slice n, whose record is at the given address.
func (e *gemmRun) sliceBlock(at uint32, n int) []uint32 {
	first := n * e.sliceChannels()
	block := make([]uint32, conv.SliceArgs)
	block[conv.ArgTail] = at
	block[conv.ArgTailOffset] = uint32(first / layout.VectorBytes * layout.VectorBytes)
	block[conv.ArgSliceFrom] = uint32(first % layout.VectorBytes)
	block[conv.ArgSliceTo] = uint32(first%layout.VectorBytes + e.sliceChannels())
	return block
}

// threadArgs are the arguments of thread t, which has these blocks; the argument block lacks what all kinds
// of chunks have.
func (e *gemmRun) threadArgs(t int, blocks [2]int, block []uint32) []uint32 {
	c, l := e.c, e.l
	block[conv.ArgBumps] = e.bumps
	if c.Window {
		block = append(block, make([]uint32, conv.WindowArgs-len(block))...)
		block[conv.ArgWindow] = e.window + uint32(t*c.WindowBytes())
	}
	if c.ZeroPoint {
		copy(block[conv.ArgZeroPoint:], e.zeroPointArgs[:])
		block[conv.ArgZeroPoint+conv.ZeroPointScratch] = e.scratch + uint32(t*(conv.PipelinedSaveBytes+e.g.WindowSumBytes())+conv.PipelinedSaveBytes)
	}
	e.shares = append(e.shares, blocks)
	strips, count := e.strips.table(l, blocks[0], blocks[1])
	return []uint32{e.table + uint32(4*c.EntryWords()*blocks[0]), strips, uint32(count), l.Words(block), e.params, 0, 0, layout.VectorBytes}
}

// shareAddresses lets the positions of a cluster, or of a block, that lie at one
// distance have one address.
func shareAddresses(c *conv.GEMM, g *Convolution) {
	c.PerAddress = c.PerVector
	switch near := g.StrideW * g.In.Pitch; {
	case !c.Unrolled || g.Recounts():
	case c.Pipelined && g.Out.Shape.W%c.Positions == 0 && near*c.Positions <= conv.MaxLoadDistance:
		c.InStep, c.SumStep, c.PerAddress = near, g.StrideW, c.Positions
	case c.PerVector > 1 && near <= maxNear:
		c.InStep, c.SumStep = near, g.StrideW
	}
}

// Recounts reports whether positions are counted differently on both sides, as
// FULLY_CONNECTED may.
func (g *Convolution) Recounts() bool {
	s, o := g.In.Shape, g.Out.Shape
	return o.Positions() == s.Positions() && (o.H != g.OutH || o.W != g.OutW)
}

// blockTable lists the blocks of some rows: whole clusters of positions in row order. What
// is missing at the end of a row or of the last block repeats a neighbour.
func (g *Convolution) blockTable(c *conv.GEMM, from, to int) []uint32 {
	type cluster struct {
		in  [maxConvPositions]uint32
		out uint32
	}
	var all []cluster
	s, o := g.In.Shape, g.Out.Shape
	flat := g.Recounts()
	for row := from; row < to; row++ {
		n, y := row/o.H, row%o.H
		for x := 0; x < o.W; x += c.PerAddress {
			k := cluster{out: g.Out.At(n, y, x)}
			for i := range c.PerAddress {
				xi := min(x+i, o.W-1)
				if flat {
					p := (n*o.H+y)*o.W + xi
					k.in[i] = g.In.At(p/(s.H*s.W), p/s.W%s.H, p%s.W)
					continue
				}
				k.in[i] = g.In.At(n, y*g.StrideH-g.Top, xi*g.StrideW-g.Left)
			}
			all = append(all, k)
		}
	}
	per := c.Outputs()
	table := make([]uint32, 0, layout.CeilDiv(len(all), per)*c.EntryWords())
	for i := 0; i < len(all); i += per {
		for j := range per {
			table = append(table, all[min(i+j, len(all)-1)].in[:c.Inputs()/c.Outputs()]...)
		}
		table = append(table, make([]uint32, c.FirstOutput()-c.Inputs())...) // newStrips fills this in
		for j := range per {
			table = append(table, all[min(i+j, len(all)-1)].out)
		}
	}
	return table
}

// Convolution is a convolution ready for the conv kernel.
type Convolution struct {
	opspec.Window
	In, Out *layout.Tensor
	filter.Conv
	RuntimeWeights   *layout.Tensor // has records that the program packs; nil when the weights are known
	RuntimeWeightsAt uint32         // offset in RuntimeWeights
	Spatial          *conv.Spatial  // the only kernel that writes out's pitch
}

// runWords is the number of words of a run and of the taps that it covers.
func (g *Convolution) runWords() (words, perRun int) {
	f, pitch := &g.Filter, g.In.Pitch
	words = layout.CeilDiv(f.C, 4)
	if g.DilationW == 1 && words*4 == pitch || f.KW == 1 {
		return words + (f.KW-1)*pitch/4, f.KW
	}
	return words, 1
}

// inputRuns works out the runs of a window over the input: for every word of
// every run which filter weights its four bytes meet, and the address steps
// from where the kernel leaves one run to the next.
func (g *Convolution) inputRuns(c *conv.GEMM, perRun int) (taps [][4]conv.Tap, bumps []uint32) {
	f, pitch, runs := &g.Filter, g.In.Pitch, c.Runs
	start := func(r int) int { // of a run, relative to the first
		y, x := r, 0
		if perRun == 1 {
			y, x = r/f.KW, r%f.KW
		}
		return y*g.DilationH*g.In.RowBytes() + x*g.DilationW*pitch
	}
	for r := range runs {
		y, x0 := r, 0
		if perRun == 1 {
			y, x0 = r/f.KW, r%f.KW
		}
		for w := range c.Words {
			var word [4]conv.Tap
			for b := range word {
				at := 4*w + b
				x, ch := x0, at
				if perRun > 1 {
					x, ch = at/pitch, at%pitch
				}
				if word[b] = (conv.Tap{Y: -1, X: 0, C: 0}); x < f.KW && ch < f.C {
					word[b] = conv.Tap{Y: y, X: x, C: ch}
				}
			}
			taps = append(taps, word)
		}
		if r+1 < runs {
			bumps = append(bumps, uint32(start(r+1)-start(r)-c.Consumed()))
		} else {
			bumps = append(bumps, 0)
		}
	}
	return taps, bumps
}
