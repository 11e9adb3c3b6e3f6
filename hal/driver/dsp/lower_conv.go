package dsp

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// filter gives the weights of a convolution in one form: unsigned, with an
// unsigned zero point, addressed by output channel and tap.
type filter struct {
	data   []byte
	flip   byte // 0x80 when the stored values are signed
	zero   int32
	k      int // output channels
	kh, kw int
	c      int // input channels
	// depthwise filters are [kh][kw][k]; channel k reads input k / mult only.
	depthwise bool
	mult      int
}

func (l *lowering) newFilter(operand uint32, k, kh, kw, c int, depthwise bool, mult int) (filter, error) {
	o := &l.graph.Operands[operand]
	data, err := l.view.Data(operand)
	if err != nil {
		return filter{}, err
	}
	f := filter{data: data, k: k, kh: kh, kw: kw, c: c, depthwise: depthwise, mult: mult, zero: o.ZeroPoint}
	if o.Type != nn.TensorQuant8Asymm {
		f.flip = 0x80
		f.zero += 128
	}
	return f, nil
}

// at is the unsigned weight of output channel k for tap (y, x), input c.
func (f *filter) at(k, y, x, c int) byte {
	if f.depthwise {
		if k/f.mult != c {
			return byte(f.zero)
		}
		return f.data[(y*f.kw+x)*f.k+k] ^ f.flip
	}
	return f.data[((k*f.kh+y)*f.kw+x)*f.c+c] ^ f.flip
}

// gemm is a convolution ready for the conv kernel.
type gemm struct {
	opspec.Window
	in, out *tensor
	filter  filter
	bias    []byte // int32 per output channel
	quant   opspec.GEMMQuant
	rq      requant
	inZero  int32
}

// convOf reads the parts that CONV_2D and FULLY_CONNECTED share.
func (l *lowering) newGemm(w opspec.Window, in *tensor, out, bias uint32, f filter, q opspec.GEMMQuant) (gemm, error) {
	b, err := l.view.Data(bias)
	if err != nil {
		return gemm{}, err
	}
	if n := f.kh * f.kw * f.c; n > maxDepth {
		return gemm{}, fmt.Errorf("filter of %d inputs per output, at most %d", n, maxDepth)
	}
	sign := unsignedBias(l.graph.Operands[out].Type)
	return gemm{Window: w, in: in, filter: f, bias: b, quant: q, inZero: int32(in.zero),
		rq: newRequant(q.Mult, q.OutZero, q.Lo, q.Hi, sign)}, nil
}

func lowerConv(l *lowering, op *nn.Operation) error {
	c, err := l.view.Conv(op)
	if err != nil {
		return err
	}
	in, err := l.imageValue(c.Input, c.NCHW)
	if err != nil {
		return err
	}
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	f, err := l.newFilter(c.Filter, c.K, c.KH, c.KW, c.C, c.Depthwise, c.Multiplier)
	if err != nil {
		return err
	}
	g, err := l.newGemm(c.Window, in, c.Output, c.Bias, f, q)
	if err != nil {
		return err
	}
	if err := in.needHalo(&c.Window); err != nil {
		return err
	}
	out, done := l.imageResult(c.Output, shape{c.N, c.OutH, c.OutW, c.K}, 0, c.NCHW)
	g.out = out
	if c.Depthwise && c.Multiplier == 1 && c.KH*c.KW <= maxTaps {
		if err := l.depthwise(&g); err != nil {
			return err
		}
	} else {
		l.gemm(&g)
	}
	done()
	return nil
}

// needHalo makes room for the padding that a window reads.
func (t *tensor) needHalo(w *opspec.Window) error {
	if n := max(w.Top, w.Bottom, w.Left, w.Right); n > maxPadding {
		return fmt.Errorf("padding of %d, at most %d", n, maxPadding)
	}
	t.top = max(t.top, w.Top)
	t.left = max(t.left, w.Left)
	t.bottom = max(t.bottom, (w.OutH-1)*w.StrideH+(w.KH-1)*w.DilationH+1-w.Top-w.H)
	t.right = max(t.right, (w.OutW-1)*w.StrideW+(w.KW-1)*w.DilationW+1-w.Left-w.W)
	return nil
}

func lowerFullyConnected(l *lowering, op *nn.Operation) error {
	c, err := l.view.FullyConnected(op)
	if err != nil {
		return err
	}
	in, err := l.value(c.Input)
	if err != nil {
		return err
	}
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	if in.shape.positions() != c.Batch || in.shape.c != c.Depth {
		in = l.withShape(in, shape{1, 1, c.Batch, c.Depth}, "flattened")
	}
	f, err := l.newFilter(c.Weights, c.Units, 1, 1, c.Depth, false, 0)
	if err != nil {
		return err
	}
	s := in.shape
	w := opspec.Window{H: s.h, W: s.w, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: s.h, OutW: s.w}
	g, err := l.newGemm(w, in, c.Output, c.Bias, f, q)
	if err != nil {
		return err
	}
	// The output has as many positions as the input, only counted in one dimension.
	g.out = l.result(c.Output, 0)
	if g.out.shape.positions() != s.positions() || g.out.shape.c != c.Units {
		return fmt.Errorf("output shape %v for a batch of %d", l.graph.Operands[c.Output].Dimensions, c.Batch)
	}
	l.gemm(&g)
	return nil
}

// inputRuns works out the runs of a window over the input: for every word of
// every run which filter weights its four bytes meet, and the address steps
// between runs.
func (g *gemm) inputRuns() (c convKernel, taps [][4]tap, bumps []uint32) {
	f, pitch := &g.filter, g.in.pitch
	words := ceilDiv(f.c, 4)
	runs, perRun := f.kh*f.kw, 1
	if g.DilationW == 1 && words*4 == pitch || f.kw == 1 {
		runs, perRun = f.kh, f.kw
		words += (f.kw - 1) * pitch / 4
	}
	c = convKernel{words: words, runs: runs}
	if pitch%8 == 0 && words > 4 {
		c.wide = true
		c.words = roundUp(words, 2)
	}
	consumed := 4 * c.words
	if c.wide {
		consumed += 8
	}
	start := func(r int) int { // of a run, relative to the first
		y, x := r, 0
		if perRun == 1 {
			y, x = r/f.kw, r%f.kw
		}
		return y*g.DilationH*g.in.rowBytes() + x*g.DilationW*pitch
	}
	for r := range runs {
		y, x0 := r, 0
		if perRun == 1 {
			y, x0 = r/f.kw, r%f.kw
		}
		for w := range c.words {
			var word [4]tap
			for b := range word {
				at := 4*w + b
				x, ch := x0, at
				if perRun > 1 {
					x, ch = at/pitch, at%pitch
				}
				if word[b] = (tap{-1, 0, 0}); x < f.kw && ch < f.c {
					word[b] = tap{y, x, ch}
				}
			}
			taps = append(taps, word)
		}
		if r+1 < runs {
			bumps = append(bumps, uint32(start(r+1)-start(r)-consumed))
		} else {
			bumps = append(bumps, 0)
		}
	}
	return c, taps, bumps
}

// tap is a filter element without its output channel; y < 0 is none.
type tap struct{ y, x, c int }

// maxConvPositions is the most positions of a block whose sums go to scratch memory.
const maxConvPositions = 6

// gemm lowers a convolution to the conv kernel.
func (l *lowering) gemm(g *gemm) {
	scratch := l.newTensor("scratch", shape{1, 1, 1, l.threads * maxConvPositions * vecBytes}, 1, 0)
	scratch.dense = true
	l.addStep("conv", []*tensor{g.in}, []*tensor{g.out, scratch}, func(l *lowering, s *step) error {
		return l.emitGemm(g, s, scratch)
	})
}

func (l *lowering) emitGemm(g *gemm, s *step, scratch *tensor) error {
	c, taps, bumps := g.inputRuns()
	k := g.filter.k
	c.rq = g.rq.kind()
	c.sum = g.filter.zero != 0
	c.cluster = g.out.perVec()
	c.positions = max(c.cluster, 4)
	if c.cluster == 1 {
		c.positions = l.blockSize(g.out.shape.positions(), &c)
	}
	full, rest := k/128, k%128
	if c.cluster > 1 {
		full, rest, c.tail = 0, k, g.out.pitch/32
	} else if c.tail = ceilDiv(rest, 32); c.tail == 4 {
		full, c.tail = full+1, 0
	}
	c.full = full > 0
	c.merged = c.sum && !c.full
	if c.cluster == 4 && !c.wide {
		c.positions = 8
	}

	c.even = evenTaps(taps)
	c.stream = g.in.bytes() >= streamBytes
	if n := int64(full)*int64(c.record(4)) + int64(c.record(max(c.tail, 1))); n > maxConst {
		return fmt.Errorf("%d bytes of packed weights, at most %d", n, maxConst)
	}
	e := gemmEmitter{l: l, g: g, s: s, c: &c, full: full, scratch: l.scratch(scratch)}
	if c.sum && !c.merged && !c.even {
		e.ones = l.constant(packOnes(taps))
	}
	e.bumps = l.constWords(bumps)
	params := g.rq.params()
	params[parNegZero] = splatHalf(-g.filter.zero)
	params[parBox], params[parStride] = rowBox(((c.positions-1)*g.StrideW+g.KW)*g.in.pitch, g.KH, g.in.rowBytes())
	e.params = l.constWords(params)
	table := g.blockTable(&c)
	e.blocks = len(table) / c.entryWords()
	e.table = l.constWords(padTable(table, c.entryWords(), convAhead))
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

// blockSize chooses the positions of a block. Vector registers allow four, five
// when one multiplier serves all channels, six when the result is not clamped
// either. Larger blocks cost less per position but may leave threads without
// work at the end.
func (l *lowering) blockSize(positions int, c *convKernel) int {
	most := 4
	if c.wide && !c.rq.perChannel {
		if most = 5; !c.rq.clamp && !c.rq.left && !c.rq.far {
			most = 6
		}
	}
	best, cost := min(positions, 4), math.MaxInt
	for n := best; n <= min(most, positions); n++ {
		if k := ceilDiv(ceilDiv(positions, n), l.threads) * (2*n + 1); k <= cost {
			best, cost = n, k
		}
	}
	return best
}

// evenTaps reports whether every byte of every word is a tap.
func evenTaps(taps [][4]tap) bool {
	for _, word := range taps {
		for _, t := range word {
			if t.y < 0 {
				return false
			}
		}
	}
	return true
}

// gemmEmitter launches the jobs of one convolution.
type gemmEmitter struct {
	l                                   *lowering
	g                                   *gemm
	s                                   *step
	c                                   *convKernel
	kernel                              *kernel
	full                                int // full chunks; a tail chunk follows when c.tail > 0
	blocks                              int
	table, ones, bumps, params, scratch uint32
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
	if e.blocks < 3 || size(0, 1)+ahead > l.vtcm.room() {
		e.job(at, 0, chunks)
		e.prefetchOwn(at, size(0, chunks))
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
		l.canPrefetch(convPrefetch)
		from = to
	}
	return nil
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
		block[convOnes] = e.ones
		block[convScratch] = e.scratch + uint32(t*maxConvPositions*vecBytes)
		block[convFull] = at + uint32((n[0]-from)*c.record(4))
		block[convChunks] = uint32(min(n[1], e.full) - min(n[0], e.full))
		block[convOffset] = uint32(n[0] * vecBytes)
		if n[1] > e.full {
			block[convTail] = at + uint32((e.full-from)*c.record(4))
		}
		block[convTailOffset] = uint32(e.full * vecBytes)
		args = append(args, []uint32{e.table + uint32(4*c.entryWords()*b[0]), uint32(b[1] - b[0]), l.constWords(block), e.params, 0, 0})
	}
	l.launch(e.s, e.kernel, args)
}

func splatHalf(v int32) uint32 { return uint32(uint16(v)) * 0x10001 }

// blockTable lists the blocks: whole clusters of positions in row order. What
// is missing at the end of a row or of the last block repeats a neighbour.
func (g *gemm) blockTable(c *convKernel) []uint32 {
	type cluster struct {
		in  [4]uint32
		out uint32
	}
	var all []cluster
	s, o := g.in.shape, g.out.shape
	// FULLY_CONNECTED counts its positions differently on both sides.
	flat := o.n*o.h*o.w == s.positions() && (o.h != g.OutH || o.w != g.OutW)
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
			table = append(table, all[min(i+j, len(all)-1)].in[:c.cluster]...)
		}
		for j := range per {
			table = append(table, all[min(i+j, len(all)-1)].out)
		}
	}
	return table
}

// packChunks packs chunks of n groups from channel base on: per chunk the
// biases, the per-channel multipliers, and the weights word by word.
func (g *gemm) packChunks(c *convKernel, taps [][4]tap, base, chunks, n int, interleaved bool) []byte {
	f := &g.filter
	out := make([]byte, 0, chunks*c.record(n))
	lane := make([]int, n*32) // channel of each lane, -1 none
	for chunk := range chunks {
		for j := range n {
			for i := range 32 {
				ch := base + chunk*128
				if interleaved {
					ch += 4*i + lanePhase[j]
				} else {
					ch += 32*j + i
				}
				if ch >= f.k {
					ch = -1
				}
				lane[j*32+i] = ch
			}
		}
		out = g.packHeader(out, c.rq, lane)
		for _, word := range taps {
			for _, ch := range lane {
				var b [4]byte
				if ch >= 0 {
					for i, t := range word {
						if t.y >= 0 {
							b[i] = f.at(ch, t.y, t.x, t.c)
						}
					}
				}
				out = append(out, b[:]...)
			}
			if c.merged {
				out = appendOnes(out, word)
			}
		}
	}
	return out
}

// packHeader appends the biases and the per-channel vectors of the lanes.
func (g *gemm) packHeader(out []byte, k requantKind, lane []int) []byte {
	for _, ch := range lane {
		b := int32(0)
		if ch >= 0 {
			b = g.foldedBias(ch)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(b))
	}
	for v := range k.vectors() {
		for _, ch := range lane {
			w := uint32(0)
			if ch >= 0 {
				w = g.rq.channelWords(ch)[v]
			}
			out = binary.LittleEndian.AppendUint32(out, w)
		}
	}
	return out
}

// foldedBias is the bias minus the input zero point times the filter's sum:
// what remains constant when zero points are taken out of the products.
func (g *gemm) foldedBias(ch int) int32 {
	f := &g.filter
	sum := int32(0)
	c0, c1 := 0, f.c
	if f.depthwise {
		c0, c1 = ch/f.mult, ch/f.mult+1
	}
	for y := range f.kh {
		for x := range f.kw {
			for c := c0; c < c1; c++ {
				sum += int32(f.at(ch, y, x, c)) - f.zero
			}
		}
	}
	return int32(binary.LittleEndian.Uint32(g.bias[4*ch:])) - g.inZero*sum
}

// packOnes packs weights that sum the inputs.
func packOnes(taps [][4]tap) []byte {
	out := make([]byte, 0, len(taps)*vecBytes)
	for _, word := range taps {
		out = appendOnes(out, word)
	}
	return out
}

// appendOnes appends a vector of weights for one word: one where a tap exists.
func appendOnes(out []byte, word [4]tap) []byte {
	var b [4]byte
	for i, t := range word {
		if t.y >= 0 {
			b[i] = 1
		}
	}
	for range 32 {
		out = append(out, b[:]...)
	}
	return out
}
