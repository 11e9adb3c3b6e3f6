package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
)

const (
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
			if c.Depthwise && (c.Multiplier > 1 || c.KH*c.KW > depthwise.MaxTaps || c.StrideW > 2 || !l.packable(c.Filter, c.Bias) || !l.takenNarrow(c.Output)) {
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
func (l *object) spatialKernelOf(g *gemm) (d conv.Spatial, ok bool) {
	f, per := &g.Filter, g.StrideW*g.in.pitch
	d = conv.Spatial{KH: f.KH, KW: f.KW, Stride: g.StrideW, Dilation: g.DilationW, Pitch: g.in.pitch, Out: g.out.pitch,
		Words: ceilDiv(f.C, 4), Outputs: f.K, Rq: g.Rq.Kind()}
	if g.runtimeWeights != nil || d.Out > vecBytes/4 || per > maxSpatialBytes || g.StrideW&(g.StrideW-1) != 0 || d.Planes()*f.K > conv.MaxSpatialWords || g.recounts() {
		return d, false
	}
	at := func(y, x int) uint32 { return g.in.at(0, y, x*g.StrideW-g.Left) - g.in.addr }
	d.Aligned = at(0, 0)%vecBytes == 0 && at(0, d.Granule())%vecBytes == 0
	seconds := 0
	for ch := range f.K {
		for n := range d.Planes() {
			if len(conv.SpatialWord(&g.Conv, &d, ch, n, 1)) > 0 {
				d.Second[(ch*d.Planes()+n)/64] |= 1 << ((ch*d.Planes() + n) % 64)
				seconds++
			}
		}
	}
	if seconds > d.Planes()+f.K/2 {
		d.Unsigned, d.Second = true, [len(d.Second)]uint64{}
	}
	return d, true
}

// chooseSpatial decides how planes and results wait; ok reports that there are registers.
func (l *object) chooseSpatial(d conv.Spatial) (_ conv.Spatial, ok bool) {
	first := d.Planes()+d.Stride*d.Pitch/4 > residentVectors // planes, and the vectors that are dealt to them
	for _, streamed := range [...]bool{first, !first} {
		if !streamed && d.Planes() > residentPlanes || streamed && d.Outputs > narrowOutputs {
			continue
		}
		for _, carried := range [...]bool{true, false} {
			if carried && !d.Rq.Halfword && (streamed || d.Quads() == 1) { // sums of two blocks are too many
				continue
			}
			d.Streamed, d.Carried = streamed, carried
			if l.fits(d) {
				return d, true
			}
		}
	}
	return d, false
}

// spatialEmitter launches the jobs of such a convolution.
type spatialEmitter struct {
	l                *launcher
	g                *gemm
	d                conv.Spatial
	kernel           *hvx.Linked
	records, weights uint32
	bytes            int
}

// emitSpatial begins the convolution.
func (l *launcher) emitSpatial(g *gemm, d conv.Spatial) (work, error) {
	e := &spatialEmitter{l: l, g: g, d: d}
	var err error
	if e.kernel, err = l.linked(e.d); err != nil {
		return nil, err
	}
	var records []byte
	for q := range d.Quads() {
		var lane []int
		for j := range 4 {
			for range conv.SpatialPositions {
				lane = append(lane, d.Channel(q, j))
			}
		}
		records = g.PackHeader(records, d.Rq, lane)
	}
	var weights []byte
	planes, quads := d.Passes()
	for i := range planes {
		d.Order(planes[i], quads[i], func(ch, n, part int) { weights = append(weights, conv.SpatialWord(&g.Conv, &d, ch, n, part)...) })
	}
	e.bytes = len(records)
	e.records = l.constant(records)
	e.weights = l.constant(append(weights, make([]byte, 4)...)) // they are loaded in pairs
	return e, nil
}

// launch emits some rows of the result.
func (e *spatialEmitter) Launch(l *launcher, r rowRange) error {
	g, d := e.g, &e.d
	rec := e.records
	if e.bytes <= l.Room() {
		var err error
		if rec, err = l.Resident(rec, e.bytes); err != nil {
			return err
		}
	}
	table := g.spatialTable(d, r.from, r.to)
	words := d.EntryWords()
	entries := len(table) / words
	params := g.Rq.Params()
	params[hvx.ParRowStep] = uint32(g.DilationH * g.in.rowBytes())
	at, paramsAt := l.constWords(padTable(table, words, 1)), l.constWords(params)
	stream := l.Streams(g.in)
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
	job := l.launch(e.kernel, args)
	if !stream {
		job.prefetchArg = conv.SpatialPrefetch
	}
	job.packets = ceilDiv(entries, l.threads) * spatialCost(d).Packets()
	return nil
}

// spatialEntries is the number of blocks.
func (g *gemm) spatialEntries(d *conv.Spatial) int {
	o := g.out.shape
	return ceilDiv(o.n*o.h*ceilDiv(o.w, d.Granule()), d.Granules())
}

// spatialTable lists the blocks of some rows. Granules that are missing in the last block
// repeat the one before.
func (g *gemm) spatialTable(d *conv.Spatial, from, to int) []uint32 {
	o := g.out.shape
	var table, ins, outs []uint32
	granule := d.Granule()
	add := func(n, y, x int) {
		first := g.out.at(n, y, x)
		ins = append(ins, g.in.at(n, y*g.StrideH-g.Top, x*g.StrideW-g.Left))
		for v := 0; v < granule*d.Out; v += vecBytes {
			at := first
			if (o.w-x)*d.Out > v {
				at += uint32(v)
			}
			outs = append(outs, at)
		}
		if len(ins) == d.Granules() {
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
