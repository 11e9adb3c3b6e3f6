package convolution

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

const (
	// maxSpatialBytes bounds the neighbouring positions that are de-interleaved into planes together.
	maxSpatialBytes = 64
	// residentPlanes is how many planes may wait in registers.
	residentPlanes = 16
	// residentVectors is how many vectors of inputs leave registers for the sums.
	residentVectors = 24
)

// SpatialKernelOf returns the spatial kernel of a convolution, except for the fields that depend on the
// placement of tensors and the order of waits; ok reports that it may have one.
func SpatialKernelOf(l *step.Object, g *Convolution) (d conv.Spatial, ok bool) {
	f, per := &g.Filter, g.StrideW*g.In.Pitch
	d = conv.Spatial{KH: f.KH, KW: f.KW, Stride: g.StrideW, Dilation: g.DilationW, Pitch: g.In.Pitch, Out: g.Out.Pitch,
		Words: layout.CeilDiv(f.C, 4), Outputs: f.K, Rq: g.Rq.Kind()}
	if g.RuntimeWeights != nil || d.Out > layout.VectorBytes/4 || per > maxSpatialBytes || g.StrideW&(g.StrideW-1) != 0 || d.Planes()*f.K > conv.MaxSpatialWords || g.Recounts() {
		return d, false
	}
	at := func(y, x int) uint32 { return g.In.At(0, y, x*g.StrideW-g.Left) - g.In.Addr }
	d.Aligned = at(0, 0)%layout.VectorBytes == 0 && at(0, d.Granule())%layout.VectorBytes == 0
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

// ChooseSpatial decides how planes and results wait; ok reports that there are registers.
func ChooseSpatial(l *step.Object, d conv.Spatial) (_ conv.Spatial, ok bool) {
	for _, d := range spatialForms(d) {
		if l.Fits(d) {
			return d, true
		}
	}
	return d, false
}

// spatialForms lists how planes and results may wait, best for the next block: forms of one kernel
// that differ in the registers that they need.
func spatialForms(d conv.Spatial) (forms []conv.Spatial) {
	first := d.Planes()+d.Stride*d.Pitch/4 > residentVectors // planes, and the vectors that are de-interleaved into them
	for _, streamed := range [...]bool{first, !first} {
		if !streamed && d.Planes() > residentPlanes || streamed && d.Outputs > conv.NarrowOutputs {
			continue
		}
		for _, carried := range [...]bool{true, false} {
			if carried && !d.Rq.Halfword && (streamed || d.Quads() == 1) { // sums of two blocks are too many
				continue
			}
			d.Streamed, d.Carried = streamed, carried
			forms = append(forms, d)
		}
	}
	return forms
}

// spatialRun launches the jobs of such a convolution.
type spatialRun struct {
	l                *step.Launcher
	g                *Convolution
	d                conv.Spatial
	kernel           *hvx.Linked
	records, weights uint32
	bytes            int
}

// beginSpatial prepares a convolution with a spatial kernel.
func beginSpatial(l *step.Launcher, g *Convolution, d conv.Spatial) *spatialRun {
	kernel := l.Kernel(d)
	return &spatialRun{l: l, g: g, d: d, kernel: kernel}
}

// pack implements run.
func (e *spatialRun) pack() {
	g, d := e.g, &e.d
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
		d.Order(planes[i], quads[i], func(ch, n, part int) { weights = append(weights, conv.SpatialWord(&g.Conv, d, ch, n, part)...) })
	}
	e.bytes = len(records)
	e.records = e.l.Constant(records)
	e.weights = e.l.Constant(append(weights, make([]byte, 4)...)) // they are loaded in pairs
}

// Launch emits some rows of the result.
func (e *spatialRun) Launch(l *step.Launcher, r step.Rows) {
	g, d := e.g, &e.d
	rec := e.records
	if e.bytes <= l.VTCM {
		rec = l.Resident(rec, e.bytes)
	}
	table := g.spatialTable(d, r.From, r.To)
	words := d.EntryWords()
	entries := len(table) / words
	params := g.Rq.Params()
	params[hvx.ParRowStep] = uint32(g.DilationH * g.In.RowBytes())
	at, paramsAt := l.Words(padTable(table, words, 1)), l.Words(params)
	stream := l.Streams(g.In)
	var args [][]uint32
	for _, r := range l.Spread(entries) {
		var src, box uint32
		if stream {
			first, last := table[words*r[0]], table[words*(r[1]-1)]
			src = first
			box = step.Box(min(last+uint32(g.KH*g.DilationH*g.In.RowBytes())-first, step.PrefetchLimit))
		}
		args = append(args, []uint32{at + uint32(4*words*r[0]), uint32(r[1] - r[0]), paramsAt, rec, e.weights, src, box, layout.VectorBytes})
	}
	job := l.Launch(e.kernel, args)
	if !stream {
		job.PrefetchArg = conv.SpatialPrefetch
	}
}

// spatialTable lists the blocks of some rows. Granules that are missing in the last block
// repeat the one before.
func (g *Convolution) spatialTable(d *conv.Spatial, from, to int) []uint32 {
	o := g.Out.Shape
	var table, ins, outs []uint32
	granule := d.Granule()
	add := func(n, y, x int) {
		first := g.Out.At(n, y, x)
		ins = append(ins, g.In.At(n, y*g.StrideH-g.Top, x*g.StrideW-g.Left))
		for v := 0; v < granule*d.Out; v += layout.VectorBytes {
			at := first
			if (o.W-x)*d.Out > v {
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
		for x := 0; x < o.W; x += granule {
			add(row/o.H, row%o.H, x)
		}
	}
	for len(ins) > 0 {
		last := to - 1
		add(last/o.H, last%o.H, (o.W-1)/granule*granule)
	}
	return table
}
