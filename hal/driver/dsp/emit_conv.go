package dsp

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// maxConvPositions bounds the positions of a block.
const maxConvPositions = 8

// maxFlat is how many vrmpy a chunk may have that is written without a loop.
const maxFlat = 200

// maxNear bounds the distance of positions that share an address: the last ones
// of a row may read that far behind it.
const maxNear = 1024

// gemm lowers a convolution to the conv kernel.
func (l *lowering) gemm(g *gemm) {
	writes := []*tensor{g.out}
	var scratch *tensor
	if g.Filter.Zero != 0 && g.spatial == nil {
		scratch = l.newTensor("scratch", shape{1, 1, 1, l.threads * (conv.PipelinedAside + g.windowSumBytes())}, 1, 0)
		scratch.dense = true
		writes = append(writes, scratch)
	}
	reads := []*tensor{g.in}
	if g.runtimeWeights != nil {
		reads = append(reads, g.runtimeWeights)
	}
	l.addRows("conv", reads, writes, windowDependence(&g.Window, g.out.shape.n*g.out.shape.h), convWork{g, scratch})
	if g.recounts() || g.runtimeWeights != nil {
		l.list.steps[len(l.list.steps)-1].rows = nil
	}
}

// windowDependence is that of a result of count rows by windows.
func windowDependence(w *opspec.Window, count int) rowDependence {
	return rowDependence{count: count, stride: w.StrideH, above: w.Top, reach: (w.KH-1)*w.DilationH + 1}
}

// convWork is a convolution, with memory for window sums when the filter has a zero point.
type convWork struct {
	*gemm
	scratch *tensor
}

func (w convWork) Share(l *launcher) (work, error) { return l.emitGemm(w.gemm, w.scratch) }

func (w convWork) Launch(l *launcher, r rowRange) error { return launchShared(l, w, r) }

// convPlan is the shape of a convolution's kernel before its block is chosen.
type convPlan struct {
	c            conv.GEMM
	full, perRun int // full chunks, taps of a run
}

func (l *object) planGemm(g *gemm) convPlan {
	k := g.Filter.K
	words, perRun := g.runWords()
	c := conv.GEMM{Words: words, Runs: g.Filter.KH * g.Filter.KW / perRun, Rq: g.Rq.Kind(), ZeroPoint: g.Filter.Zero != 0, PerVector: g.out.perVec()}
	c.Pitch = g.out.pitch
	full, rest := k/128, k%128
	if c.PerVector > 1 {
		full, c.Tail = 0, g.out.pitch/32
	} else if c.Tail = ceilDiv(rest, 32); c.Tail == 4 {
		full, c.Tail = full+1, 0
	}
	c.Full = full > 0
	c.OneChunk = full == 0 || full == 1 && c.Tail == 0
	// Runs of pairs start on 8 bytes everywhere.
	c.WordPairs = g.in.pitch%8 == 0 || g.in.pitch == 4 && g.StrideW%2 == 0 && g.Left%2 == 0 && perRun > 1
	return convPlan{c, full, perRun}
}

func (l *launcher) emitGemm(g *gemm, scratch *tensor) (work, error) {
	if g.spatial != nil {
		return l.emitSpatial(g, *g.spatial)
	}
	p := l.planGemm(g)
	c, full := p.c, p.full
	e := &gemmEmitter{l: l, g: g, full: full, parts: map[[2]int]uint32{}}
	if scratch != nil {
		e.scratch = scratch.addr
	}
	var taps [][4]conv.Tap
	var err error
	for _, pipelined := range [...]bool{true, false} {
		c := c
		if pipelined && (g.runtimeWeights != nil || !l.pipeline(&c, full, g.out.shape.positions())) {
			continue
		}
		if taps, err = e.prepare(c, p.perRun); err != nil {
			return nil, err
		}
		if emit, ok, err := e.orSpatial(); ok || err != nil {
			return emit, err
		}
		if e.kernel, err = l.linked(e.c.Key()); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	e.bumps = l.constWords(e.steps)
	e.params = l.constWords(g.Rq.Params())
	if g.runtimeWeights != nil {
		return e, nil
	}
	e.records = conv.PackChunks(&g.Conv, e.c, taps, 0, full, 4, true)
	if c.Tail > 0 {
		e.records = append(e.records, conv.PackChunks(&g.Conv, e.c, taps, full*128, 1, c.Tail, false)...)
	}
	return e, nil
}

// prepare says what the kernel is.
func (e *gemmEmitter) prepare(c conv.GEMM, perRun int) ([][4]conv.Tap, error) {
	l, g := e.l, e.g
	if !c.Pipelined {
		l.shapeBlock(&c, g.out.shape.positions())
	}
	shareAddresses(&c, g)
	c.PerRow, c.Across, c.Down = g.Filter.KW/perRun, g.DilationW*g.in.pitch, g.DilationH*g.in.rowBytes()
	taps, bumps := g.inputRuns(&c, perRun)
	c.Stream = l.Streams(g.in)
	if n := int64(e.full)*int64(c.Record(4)) + int64(c.Record(max(c.Tail, 1))); n > maxConst {
		return nil, fmt.Errorf("%d bytes of packed weights, at most %d", n, maxConst)
	}
	e.c = &c
	e.block(0, g.out.shape.n*g.out.shape.h)
	if c.ZeroPoint {
		c.Correction = e.strips.kernel(l.spread(e.blocks))
	}
	e.steps = bumps
	return taps, nil
}

// orSpatial begins the convolution with the spatial kernel (lane = position) instead if that
// takes fewer packets.
func (e *gemmEmitter) orSpatial() (work, bool, error) {
	g := *e.g
	if g.Filter.K > vecBytes/4 || g.runtimeWeights != nil {
		return nil, false, nil
	}
	g.Rq.UseByteFactor(g.MaxSum())
	d, ok := e.l.spatialKernelOf(&g)
	if !ok || spatialCost(&d).Packets()*g.spatialEntries(&d) >= gemmCost(e.c).Packets()*e.blocks {
		return nil, false, nil
	}
	if d, ok = e.l.chooseSpatial(d); !ok {
		return nil, false, nil
	}
	emit, err := e.l.emitSpatial(&g, d)
	return emit, true, err
}

// block divides rows of the result into blocks and strips.
func (e *gemmEmitter) block(from, to int) {
	if e.strips != nil && e.strips.c == e.c && e.from == from && e.to == to {
		return
	}
	e.from, e.to = from, to
	e.entries = e.g.blockTable(e.c, from, to)
	e.blocks = len(e.entries) / e.c.EntryWords()
	e.strips = newStrips(e.g, e.c, e.entries)
}

// launch emits some rows of the result.
func (e *gemmEmitter) Launch(l *launcher, r rowRange) error {
	c := e.c
	e.block(r.from, r.to)
	e.table = l.constWords(append(e.entries, e.entries[len(e.entries)-c.EntryWords():]...)) // begun in vain
	if c.ZeroPoint {
		e.zeroPointArgs = e.g.zeroPointArgs(l, &c.Correction)
	}
	return e.launchChunks()
}

// maxPipelinedProducts is how many vrmpy a block of a software-pipelined kernel may have, maxPipelinedChunks
// if it has several chunks: its unrolled code must come from DRAM, too.
const (
	maxPipelinedProducts = 300
	maxPipelinedChunks   = 400
)

// pipeline chooses the software-pipelined kernel if a block has few products and there
// are enough blocks for the threads.
func (l *launcher) pipeline(c *conv.GEMM, full, positions int) bool {
	vrmpy, most := (4*full+c.Tail)*c.Words*c.Runs, maxPipelinedProducts
	c.Positions = max(c.PerVector, 4)
	switch several := full > 1 || full == 1 && c.Tail > 0; {
	case c.PerVector == 4 && 8*vrmpy <= most:
		c.Positions = 8
	case several && (c.Tail != 1 || 4*vrmpy > most):
		c.Positions, most = 2, maxPipelinedChunks
	}
	size := c.Record(4)*full + c.Record(max(c.Tail, 1)) + 2*4*vecBytes
	if c.Positions*vrmpy > most || size > l.Room() || positions < 2*l.threads*c.Positions {
		return false
	}
	c.Pipelined, c.Unrolled, c.Chunks = true, true, full
	return true
}

// shapeBlock chooses the positions of a block, and whether its products are
// written without a loop. Vector registers allow sixteen to twenty accumulators.
// Larger blocks cost less per position but may leave threads without work at the
// end.
func (l *object) shapeBlock(c *conv.GEMM, positions int) {
	groups := max(c.Tail, 1)
	if c.Full {
		groups = 4
	}
	vrmpy := func(n int) int { return n * groups * c.Words * c.Runs }
	c.Positions = max(c.PerVector, 4)
	if c.PerVector == 4 && vrmpy(8) <= maxFlat {
		c.Positions = 8
	}
	if c.PerVector == 1 {
		least := math.MaxInt
		for n := min(positions, 4); n <= min(positions, 5); n++ {
			if n == 5 && (c.Rq.PerChannel || c.Rq.Clamp || !c.WordPairs || c.OneChunk) {
				break
			}
			block := cost.GEMM{Products: vrmpy(n), Positions: n, PerVector: 1}
			if k := ceilDiv(ceilDiv(positions, n), l.threads) * block.Packets(); k < least {
				c.Positions, least = n, k
			}
		}
	}
	c.Unrolled = vrmpy(c.Positions) <= maxFlat
	if !c.Unrolled && c.Words <= 4 {
		c.WordPairs = false
	}
	if !c.Unrolled && c.WordPairs {
		c.Words = roundUp(c.Words, 2)
	}
}

// maxOnce is how many bytes of weights that are used once a job goes through, unless
// each thread has only one chunk.
const maxOnce = 256 << 10

// gemmEmitter launches the jobs of one convolution.
type gemmEmitter struct {
	l                             *launcher
	g                             *gemm
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
	records                       []byte
	parts                         map[[2]int]uint32 // where the records of chunks lie
}

// part places the records of chunks where they are used.
func (e *gemmEmitter) part(from, to int) uint32 {
	if e.g.runtimeWeights != nil {
		return e.g.runtimeWeights.addr + e.g.runtimeWeightsAt + uint32(e.size(0, from))
	}
	at, ok := e.parts[[2]int{from, to}]
	if !ok {
		at = e.l.constant(e.records[e.size(0, from):e.size(0, to)])
		e.parts[[2]int{from, to}] = at
	}
	return at
}

// size is that of the records of chunks from to to-1.
func (e *gemmEmitter) size(from, to int) int {
	n := (min(to, e.full) - min(from, e.full)) * e.c.Record(4)
	if to > e.full {
		n += e.c.Record(e.c.Tail)
	}
	return n
}

// launchChunks emits the convolution: with records where they lie, or from VTCM in as
// many parts as that takes, when weights are used often enough to pay for the way
// there.
func (e *gemmEmitter) launchChunks() error {
	c, l := e.c, e.l
	chunks := e.full
	if c.Tail > 0 {
		chunks++
	}
	const ahead = 2 * 4 * vecBytes // the kernel reads ahead of the last record
	if e.blocks < 3 {
		// Weights that are used once come from DRAM in order: threads go through
		// them together, a few chunks each at a time.
		step := max(l.threads, maxOnce/e.size(0, 1)/l.threads*l.threads)
		for from := 0; from < chunks; from += step {
			to := min(from+step, chunks)
			e.job(e.part(from, to), from, to).prefetchArg = conv.PrefetchArg
		}
		return nil
	}
	// Weights that the program packs are not there yet when an engine fetches ahead.
	if e.size(0, 1)+ahead > l.Room() || e.g.runtimeWeights != nil && l.DMA() { // every block reads all weights of a job from L2
		for n := range chunks {
			part := e.part(n, n+1)
			if err := l.warm(part, e.size(n, n+1)); err != nil {
				return err
			}
			job := e.job(part, n, n+1)
			job.traffic.reads += e.size(n, n+1) * 5 / 4
			e.prefetches(job)
		}
		return nil
	}
	if e.g.runtimeWeights != nil {
		l.Seal()
	}
	for from := 0; from < chunks; {
		to := from + 1
		for to < chunks && e.size(from, to+1)+ahead <= l.Room() {
			to++
		}
		in, err := l.Resident(e.part(from, to), e.size(from, to)+ahead)
		if err != nil {
			return err
		}
		e.prefetches(e.job(in, from, to))
		from = to
	}
	return nil
}

// prefetches lets the threads of the job launched last fetch the inputs of their
// first strips, when the kernel itself fetches those of the others, or else what
// later jobs need.
func (e *gemmEmitter) prefetches(j *job) {
	if !e.c.Stream {
		j.prefetchArg = conv.PrefetchArg
		return
	}
	for t, args := range j.args {
		args[conv.PrefetchArg], args[conv.PrefetchArg+1] = e.strips.prefetch(e.shares[t][0], e.shares[t][1])
	}
}

// job launches chunks [from, to), whose records are at the given address.
// Threads share the blocks, or the chunks when there are few blocks.
func (e *gemmEmitter) job(at uint32, from, to int) *job {
	c, l := e.c, e.l
	chunks := to - from
	byBlock := ceilDiv(e.blocks, l.threads) * chunks
	byChunk := e.blocks * ceilDiv(chunks, l.threads)
	items := e.blocks
	byChunks := byChunk < byBlock && !c.Pipelined
	if byChunks {
		items = chunks
	}
	var args [][]uint32
	e.shares = e.shares[:0]
	for t, r := range l.spread(items) {
		b, n := [2]int{0, e.blocks}, [2]int{from, to}
		if byChunks {
			n = [2]int{from + r[0], from + r[1]}
		} else {
			b = r
		}
		block := make([]uint32, conv.Args)
		block[conv.ArgBumps] = e.bumps
		block[conv.ArgFull] = at + uint32((n[0]-from)*c.Record(4))
		block[conv.ArgChunks] = uint32(min(n[1], e.full) - min(n[0], e.full))
		block[conv.ArgOffset] = uint32(n[0] * vecBytes)
		if n[1] > e.full {
			block[conv.ArgTail] = at + uint32((e.full-from)*c.Record(4))
		}
		block[conv.ArgTailOffset] = uint32(e.full * vecBytes)
		if c.ZeroPoint {
			copy(block[conv.ArgZeroPoint:], e.zeroPointArgs[:])
			block[conv.ArgZeroPoint+conv.ZeroPointScratch] = e.scratch + uint32(t*(conv.PipelinedAside+e.g.windowSumBytes())+conv.PipelinedAside)
		}
		e.shares = append(e.shares, b)
		strips, count := e.strips.table(l, b[0], b[1])
		args = append(args, []uint32{e.table + uint32(4*c.EntryWords()*b[0]), strips, uint32(count), l.constWords(block), e.params, 0, 0, vecBytes})
	}
	j := l.launch(e.kernel, args)
	j.packets = min(byBlock, byChunk) * gemmCost(c).Packets()
	return j
}

// shareAddresses lets the positions of a cluster, or of a block, that lie at one
// distance have one address.
func shareAddresses(c *conv.GEMM, g *gemm) {
	c.PerAddress = c.PerVector
	switch near := g.StrideW * g.in.pitch; {
	case !c.Unrolled || g.recounts():
	case c.Pipelined && g.out.shape.w%c.Positions == 0 && near*c.Positions <= conv.MaxLoadDistance:
		c.InStep, c.SumStep, c.PerAddress = near, g.StrideW, c.Positions
	case c.PerVector > 1 && near <= maxNear:
		c.InStep, c.SumStep = near, g.StrideW
	}
}

// recounts reports whether positions are counted differently on both sides, as
// FULLY_CONNECTED may.
func (g *gemm) recounts() bool {
	s, o := g.in.shape, g.out.shape
	return o.positions() == s.positions() && (o.h != g.OutH || o.w != g.OutW)
}

// blockTable lists the blocks of some rows: whole clusters of positions in row order. What
// is missing at the end of a row or of the last block repeats a neighbour.
func (g *gemm) blockTable(c *conv.GEMM, from, to int) []uint32 {
	type cluster struct {
		in  [maxConvPositions]uint32
		out uint32
	}
	var all []cluster
	s, o := g.in.shape, g.out.shape
	flat := g.recounts()
	for row := from; row < to; row++ {
		n, y := row/o.h, row%o.h
		for x := 0; x < o.w; x += c.PerAddress {
			k := cluster{out: g.out.at(n, y, x)}
			for i := range c.PerAddress {
				xi := min(x+i, o.w-1)
				if flat {
					p := (n*o.h+y)*o.w + xi
					k.in[i] = g.in.at(p/(s.h*s.w), p/s.w%s.h, p%s.w)
					continue
				}
				k.in[i] = g.in.at(n, y*g.StrideH-g.Top, xi*g.StrideW-g.Left)
			}
			all = append(all, k)
		}
	}
	per := c.Outputs()
	table := make([]uint32, 0, ceilDiv(len(all), per)*c.EntryWords())
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
