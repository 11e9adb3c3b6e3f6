package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
)

const (
	// maxSpatialWords bounds the weight words of a spatial kernel: all
	// are code.
	maxSpatialWords = 640
	// maxSpatialBytes bounds the neighbouring positions that are dealt to planes together.
	maxSpatialBytes = 64
	// narrowOutputs are as many as leave half of the lanes of channels idle.
	narrowOutputs = 16
	// residentPlanes is how many planes may wait in registers.
	residentPlanes = 16
	// residentVectors is how many vectors of inputs leave registers for the sums.
	residentVectors = 24
)

// narrowPitch is the pitch of a value of c channels all of whose readers take a small
// one, 0 for the usual one.
func (l *lowering) narrowPitch(i uint32, c int) int {
	if c > narrowOutputs || !l.takenNarrow(i) {
		return 0
	}
	return shape{c: c}.smallPitch()
}

// takenNarrow reports whether all readers of an operand take positions of few bytes:
// convolutions, and depthwise ones whose own results may have such.
func (l *lowering) takenNarrow(i uint32) bool {
	taken, known := l.narrow[i]
	if known || !l.final() {
		return taken
	}
	l.narrow[i] = false
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for n, in := range op.Inputs {
			if in != i {
				continue
			}
			if n != 0 || op.Type != nn.OpConv2D && op.Type != nn.OpDepthwiseConv2D {
				return false
			}
			c, err := l.view.Conv(op)
			if err != nil || c.NCHW {
				return false
			}
			if c.Depthwise && (c.Multiplier > 1 || c.KH*c.KW > maxTaps || c.StrideW > 2 || !l.packable(c.Filter, c.Bias) || !l.takenNarrow(c.Output)) {
				return false
			}
			taken = true
		}
	}
	for _, o := range l.graph.Outputs {
		taken = taken && o != i
	}
	l.narrow[i] = taken
	return taken
}

// spatialKernelOf returns the spatial kernel of a convolution, except for the fields that depend on
// where tensors lie and how things wait; ok reports that it may have one.
func (l *lowering) spatialKernelOf(g *gemm) (d spatialKernel, ok bool) {
	f, per := &g.filter, g.StrideW*g.in.pitch
	d = spatialKernel{kh: f.kh, kw: f.kw, stride: g.StrideW, dilation: g.DilationW, pitch: g.in.pitch, out: g.out.pitch,
		words: ceilDiv(f.c, 4), k: f.k, rq: g.rq.Kind()}
	if g.runtimeWeights != nil || d.out > vecBytes/4 || per > maxSpatialBytes || g.StrideW&(g.StrideW-1) != 0 || d.planes()*f.k > maxSpatialWords || g.recounts() {
		return d, false
	}
	at := func(y, x int) uint32 { return g.in.at(0, y, x*g.StrideW-g.Left) - g.in.addr }
	d.aligned = at(0, 0)%vecBytes == 0 && at(0, d.granule())%vecBytes == 0
	d.second = make([]uint64, ceilDiv(f.k*d.planes(), 64))
	seconds := 0
	for ch := range f.k {
		for n := range d.planes() {
			if len(g.spatialWord(&d, ch, n, 1)) > 0 {
				d.second[(ch*d.planes()+n)/64] |= 1 << ((ch*d.planes() + n) % 64)
				seconds++
			}
		}
	}
	if seconds > d.planes()+f.k/2 {
		d.zeroPoint, d.second = true, nil
	}
	return d, true
}

// chooseSpatial decides how planes and results wait; ok reports that there are registers.
func (l *lowering) chooseSpatial(d spatialKernel) (_ spatialKernel, ok bool) {
	first := d.planes()+d.stride*d.pitch/4 > residentVectors // planes, and the vectors that are dealt to them
	for _, streamed := range [...]bool{first, !first} {
		if !streamed && d.planes() > residentPlanes || streamed && d.k > narrowOutputs {
			continue
		}
		for _, carried := range [...]bool{true, false} {
			if carried && !d.rq.Halfword && (streamed || d.quads() == 1) { // sums of two blocks are too many
				continue
			}
			d.streamed, d.carried = streamed, carried
			if l.fits(d.name(), d.generate) {
				return d, true
			}
		}
	}
	return d, false
}

// spatialWord is the signed weights of a plane for a channel, nothing for a second part
// that is not there.
func (g *gemm) spatialWord(d *spatialKernel, ch, plane, part int) []byte {
	w, has := make([]byte, 4), false
	tap, first := plane/d.words, plane%d.words*4
	for i := range w {
		c := first + i
		if c >= g.filter.c {
			break
		}
		b := g.filter.at(max(ch, 0), tap/d.kw, tap%d.kw, c)
		switch {
		case ch < 0:
			w[i], has = byte(g.filter.zero), true
		case d.zeroPoint:
			w[i], has = b, true
		default:
			if parts := splitWeight(int32(b) - g.filter.zero); part < len(parts) {
				w[i], has = byte(parts[part]), true
			}
		}
	}
	if !has {
		return nil
	}
	return w
}

// spatialEmitter launches the jobs of such a convolution.
type spatialEmitter struct {
	l                *lowering
	g                *gemm
	s                *step
	d                spatialKernel
	kernel           *hvx.Linked
	records, weights uint32
	bytes            int
}

// emitSpatial begins the convolution.
func (l *lowering) emitSpatial(g *gemm, s *step, d spatialKernel) (work, error) {
	e := &spatialEmitter{l: l, g: g, s: s, d: d}
	var err error
	if e.kernel, err = l.kernel(e.d.name(), e.d.generate); err != nil {
		return nil, err
	}
	var records []byte
	for q := range d.quads() {
		var lane []int
		for j := range 4 {
			for range spatialPositions {
				lane = append(lane, d.channel(q, j))
			}
		}
		records = g.packHeader(records, d.rq, lane)
	}
	var weights []byte
	planes, quads := d.passes()
	for i := range planes {
		d.order(planes[i], quads[i], func(ch, n, part int) { weights = append(weights, g.spatialWord(&d, ch, n, part)...) })
	}
	e.bytes = len(records)
	e.records = l.constant(records)
	e.weights = l.constant(append(weights, make([]byte, 4)...)) // they are loaded in pairs
	return e, nil
}

// launch emits some rows of the result.
func (e *spatialEmitter) launch(l *lowering, s *step, r rowRange) error {
	g, d := e.g, &e.d
	rec := e.records
	if e.bytes <= l.vtcm.room() {
		var err error
		if rec, err = l.resident(e.s, rec, e.bytes); err != nil {
			return err
		}
	}
	table := g.spatialTable(d, r.from, r.to)
	words := d.entryWords()
	entries := len(table) / words
	params := g.rq.Params()
	params[hvx.ParRowStep] = uint32(g.DilationH * g.in.rowBytes())
	at, paramsAt := l.constWords(padTable(table, words, 1)), l.constWords(params)
	stream := l.streams(g.in)
	var args [][]uint32
	for _, r := range l.spread(entries) {
		var src, box uint32
		if stream {
			first, last := table[words*r[0]], table[words*(r[1]-1)]
			src = first
			box = boxOf(min(last+uint32(g.KH*g.DilationH*g.in.rowBytes())-first, prefetchLimit))
		}
		args = append(args, []uint32{at + uint32(4*words*r[0]), uint32(r[1] - r[0]), paramsAt, rec, e.weights, src, box, vecBytes})
	}
	l.launch(e.s, e.kernel, args)
	if !stream {
		l.canPrefetch(spatialPrefetch)
	}
	l.takes(ceilDiv(entries, l.threads) * d.cost().Packets())
	return nil
}

// cost is what a block takes.
func (d *spatialKernel) cost() cost.Spatial {
	return cost.Spatial{Planes: d.planes(), Outputs: d.k, Requant: d.rq}
}

// spatialEntries is the number of blocks.
func (g *gemm) spatialEntries(d *spatialKernel) int {
	o := g.out.shape
	return ceilDiv(o.n*o.h*ceilDiv(o.w, d.granule()), d.granules())
}

// spatialTable lists the blocks of some rows. Granules that are missing in the last block
// repeat the one before.
func (g *gemm) spatialTable(d *spatialKernel, from, to int) []uint32 {
	o := g.out.shape
	var table, ins, outs []uint32
	granule := d.granule()
	add := func(n, y, x int) {
		first := g.out.at(n, y, x)
		ins = append(ins, g.in.at(n, y*g.StrideH-g.Top, x*g.StrideW-g.Left))
		for v := 0; v < granule*d.out; v += vecBytes {
			at := first
			if (o.w-x)*d.out > v {
				at += uint32(v)
			}
			outs = append(outs, at)
		}
		if len(ins) == d.granules() {
			table = append(append(table, ins...), outs...)
			ins, outs = ins[:0], outs[:0]
		}
	}
	for row := from; row < to; row++ {
		for x := 0; x < o.w; x += granule {
			add(row/o.h, row%o.h, x)
		}
	}
	for len(ins) > 0 {
		last := to - 1
		add(last/o.h, last%o.h, (o.w-1)/granule*granule)
	}
	return table
}
