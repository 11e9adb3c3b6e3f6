package dsp

import (
	"fmt"
	"math"
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
	// Weights that VTCM cannot hold at once take several jobs; the sums of the
	// inputs are then kept for all positions.
	bytes := l.threads * maxConvPositions * 4
	f := &g.filter
	g.keepSums = f.zero != 0 && f.k*f.kh*f.kw*roundUp(f.c, 4) > l.vtcm.room()*9/10
	if g.keepSums {
		bytes = (g.out.shape.positions() + maxConvPositions) * 4
	}
	scratch := l.newTensor("scratch", shape{1, 1, 1, bytes}, 1, 0)
	scratch.dense = true
	l.addStep("conv", []*tensor{g.in}, []*tensor{g.out, scratch}, func(l *lowering, s *step) error {
		return l.emitGemm(g, s, scratch)
	})
}

// splatHalf is v in both halves of a word.
func splatHalf(v int32) uint32 { return uint32(uint16(v)) * 0x10001 }

func (l *lowering) emitGemm(g *gemm, s *step, scratch *tensor) error {
	k := g.filter.k
	words, perRun := g.runWords()
	c := convKernel{words: words, runs: g.filter.kh * g.filter.kw / perRun, rq: g.rq.kind(), sum: g.filter.zero != 0, cluster: g.out.perVec()}
	full, rest := k/128, k%128
	if c.cluster > 1 {
		full, c.tail = 0, g.out.pitch/32
	} else if c.tail = ceilDiv(rest, 32); c.tail == 4 {
		full, c.tail = full+1, 0
	}
	c.full = full > 0
	c.single = full == 0 || full == 1 && c.tail == 0
	c.keep = g.keepSums && !c.single
	// Runs of pairs start on 8 bytes everywhere.
	c.pairs = g.in.pitch%8 == 0 || g.in.pitch == 4 && g.StrideW%2 == 0 && g.Left%2 == 0 && perRun > 1
	l.shapeBlock(&c, g.out.shape.positions())
	if near := g.StrideW * g.in.pitch; c.cluster > 1 && c.flat && !g.recounts() && near <= maxNear {
		c.near = near
	}
	taps, bumps := g.inputRuns(&c, perRun)
	mask, even := commonMask(taps)
	c.even = even
	c.stream = g.in.bytes() >= streamBytes
	if n := int64(full)*int64(c.record(4)) + int64(c.record(max(c.tail, 1))); n > maxConst {
		return fmt.Errorf("%d bytes of packed weights, at most %d", n, maxConst)
	}
	e := gemmEmitter{l: l, g: g, s: s, c: &c, full: full, scratch: scratch.addr}
	if c.sum && !c.even {
		e.masks = l.constant(packMasks(taps, c.words, byte(g.filter.zero)))
	}
	e.bumps = l.constWords(bumps)
	params := g.rq.params()
	params[parFilterZero] = uint32(g.filter.zero) * ones & mask
	params[parBox], params[parStride] = rowBox(((c.positions-1)*g.StrideW+g.KW)*g.in.pitch, g.KH, g.in.rowBytes())
	e.params = l.constWords(params)
	e.entries = g.blockTable(&c, scratch.addr)
	e.blocks = len(e.entries) / c.entryWords()
	e.table = l.constWords(padTable(e.entries, c.entryWords(), convAhead))
	var err error
	if e.kernel, err = l.kernel(c.name(), c.generate); err != nil {
		return err
	}
	records := g.packChunks(&c, taps, 0, full, 4, true)
	if c.tail > 0 {
		records = append(records, g.packChunks(&c, taps, full*128, 1, c.tail, false)...)
	}
	at := l.constant(records)
	l.constant(make([]byte, 2*4*vecBytes)) // read ahead of the last record
	return e.launch(at)
}

// shapeBlock chooses the positions of a block, and whether its products are
// written without a loop. Vector registers allow sixteen to twenty accumulators.
// Larger blocks cost less per position but may leave threads without work at the
// end.
func (l *lowering) shapeBlock(c *convKernel, positions int) {
	groups := max(c.tail, 1)
	if c.full {
		groups = 4
	}
	vrmpy := func(n int) int { return n * groups * c.words * c.runs }
	c.positions = max(c.cluster, 4)
	if c.cluster == 4 && vrmpy(8) <= maxFlat {
		c.positions = 8
	}
	if c.cluster == 1 {
		cost := math.MaxInt
		for n := min(positions, 4); n <= min(positions, 5); n++ {
			if n == 5 && (c.rq.perChannel || c.rq.clamp || !c.pairs || c.single) {
				break
			}
			if k := ceilDiv(ceilDiv(positions, n), l.threads) * (vrmpy(n)/2 + 9*n + 12); k < cost {
				c.positions, cost = n, k
			}
		}
	}
	c.flat = vrmpy(c.positions) <= maxFlat
	if !c.flat && c.words <= 4 {
		c.pairs = false
	}
	if !c.flat && c.pairs {
		c.words = roundUp(c.words, 2)
	}
}

// commonMask selects the bytes of every word that are taps, if these are the same
// in all words.
func commonMask(taps [][4]tap) (uint32, bool) {
	var mask uint32
	for i, word := range taps {
		m := uint32(0)
		for b, t := range word {
			if t.y >= 0 {
				m |= 0xff << (8 * b)
			}
		}
		if i > 0 && m != mask {
			return 0, false
		}
		mask = m
	}
	return mask, true
}

// gemmEmitter launches the jobs of one convolution.
type gemmEmitter struct {
	l                                    *lowering
	g                                    *gemm
	s                                    *step
	c                                    *convKernel
	kernel                               *kernel
	full                                 int // full chunks; a tail chunk follows when c.tail > 0
	blocks                               int
	entries                              []uint32 // the block table
	table, masks, bumps, params, scratch uint32
}

// launch emits the convolution with its records at the given address: directly,
// or from VTCM in as many parts as that takes, when weights are used often
// enough to pay for the way there.
func (e *gemmEmitter) launch(at uint32) error {
	c, l := e.c, e.l
	chunks := e.full
	if c.tail > 0 {
		chunks++
	}
	size := func(from, to int) int {
		n := (min(to, e.full) - min(from, e.full)) * c.record(4)
		if to > e.full {
			n += c.record(c.tail)
		}
		return n
	}
	const ahead = 2 * 4 * vecBytes // the kernel reads ahead of the last record
	if e.blocks < 3 {
		e.job(at, 0, chunks)
		e.prefetchOwn(at, size(0, chunks))
		return nil
	}
	if size(0, 1)+ahead > l.vtcm.room() { // every block reads all weights of a job: no more of them than stay in L2
		for from, to := 0, 0; from < chunks; from = to {
			for to = from + 1; to < chunks && size(from, to+1) <= prefetchLimit; {
				to++
			}
			part := at + uint32(size(0, from))
			if err := l.warm(e.s, part, size(from, to)); err != nil {
				return err
			}
			e.job(part, from, to)
		}
		return nil
	}
	for from := 0; from < chunks; {
		to := from + 1
		for to < chunks && size(from, to+1)+ahead <= l.vtcm.room() {
			to++
		}
		in, err := l.resident(e.s, at+uint32(size(0, from)), size(from, to)+ahead)
		if err != nil {
			return err
		}
		e.job(in, from, to)
		if c.stream {
			e.prefetchFirst()
		} else {
			l.canPrefetch(convPrefetch)
		}
		from = to
	}
	return nil
}

// prefetchFirst lets the threads of the job just launched fetch the inputs of
// the blocks before those that the kernel itself fetches ahead.
func (e *gemmEmitter) prefetchFirst() {
	n := e.c.entryWords()
	for _, args := range e.l.jobs[len(e.l.jobs)-1].Args {
		first := int(args[0]-e.table) / 4
		last := first + min(convAhead, int(args[1])-1)*n
		from := e.entries[first]
		to := e.entries[last+e.c.inputs()-1] + uint32((e.g.KH-1)*e.g.DilationH*e.g.in.rowBytes()+e.g.KW*e.g.in.pitch)
		if to > from {
			args[convPrefetch], args[convPrefetch+1] = from, boxOf(min(to-from+vecBytes, prefetchLimit))
		}
	}
}

// prefetchOwn lets the job just launched fetch its own weights into L2.
func (e *gemmEmitter) prefetchOwn(at uint32, bytes int) {
	args := e.l.jobs[len(e.l.jobs)-1].Args
	share := uint32(roundUp(ceilDiv(bytes, len(args)), vecBytes))
	for t := range args {
		if off := uint32(t) * share; off < uint32(bytes) {
			args[t][convPrefetch], args[t][convPrefetch+1] = at+off, boxOf(min(share, uint32(bytes)-off)+vecBytes-1)
		}
	}
}

// job launches chunks [from, to), whose records are at the given address.
// Threads share the blocks, or the chunks when there are few blocks.
func (e *gemmEmitter) job(at uint32, from, to int) {
	c, l := e.c, e.l
	chunks := to - from
	byBlock := ceilDiv(e.blocks, l.threads) * chunks
	byChunk := e.blocks * ceilDiv(chunks, l.threads)
	items := e.blocks
	if byChunk < byBlock {
		items = chunks
	}
	var args [][]uint32
	for t, r := range l.spread(items) {
		b, n := [2]int{0, e.blocks}, [2]int{from, to}
		if byChunk < byBlock {
			n = [2]int{from + r[0], from + r[1]}
		} else {
			b = r
		}
		block := make([]uint32, convArgs)
		block[convBumps] = e.bumps
		block[convMasks] = e.masks
		block[convScratch] = e.scratch + uint32(t*maxConvPositions*4)
		block[convFull] = at + uint32((n[0]-from)*c.record(4))
		block[convChunks] = uint32(min(n[1], e.full) - min(n[0], e.full))
		block[convOffset] = uint32(n[0] * vecBytes)
		if n[1] > e.full {
			block[convTail] = at + uint32((e.full-from)*c.record(4))
		}
		block[convTailOffset] = uint32(e.full * vecBytes)
		if from == 0 {
			block[convSum] = 1
		}
		args = append(args, []uint32{e.table + uint32(4*c.entryWords()*b[0]), uint32(b[1] - b[0]), l.constWords(block), e.params, 0, 0})
	}
	l.launch(e.s, e.kernel, args)
}

// recounts reports whether positions are counted differently on both sides, as
// FULLY_CONNECTED may.
func (g *gemm) recounts() bool {
	s, o := g.in.shape, g.out.shape
	return o.positions() == s.positions() && (o.h != g.OutH || o.w != g.OutW)
}

// blockTable lists the blocks: whole clusters of positions in row order. What
// is missing at the end of a row or of the last block repeats a neighbour.
func (g *gemm) blockTable(c *convKernel, sums uint32) []uint32 {
	type cluster struct {
		in  [4]uint32
		out uint32
	}
	var all []cluster
	s, o := g.in.shape, g.out.shape
	flat := g.recounts()
	for n := range o.n {
		for y := range o.h {
			for x := 0; x < o.w; x += c.cluster {
				k := cluster{out: g.out.at(n, y, x)}
				for i := range c.cluster {
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
	}
	per := c.outputs()
	table := make([]uint32, 0, ceilDiv(len(all), per)*c.entryWords())
	for i := 0; i < len(all); i += per {
		for j := range per {
			table = append(table, all[min(i+j, len(all)-1)].in[:c.inputs()/c.outputs()]...)
		}
		for j := range per {
			table = append(table, all[min(i+j, len(all)-1)].out)
		}
		if c.keep {
			table = append(table, sums)
			sums += uint32(c.positions * 4)
		}
	}
	return table
}
