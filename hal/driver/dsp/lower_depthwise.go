package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// depthwise lowers a depthwise convolution with one output channel per input
// channel.
func (l *lowering) depthwise(g *gemm) error {
	// Vectors hold whole positions on both sides alike.
	if g.in.pitch != g.out.pitch {
		g.in = l.withPitch(g.in, g.out.pitch)
		if err := g.in.needHalo(&g.Window); err != nil {
			return err
		}
	}
	rows := windowDependence(&g.Window, g.out.shape.n*g.out.shape.h)
	l.addRows("depthwise", []*tensor{g.in}, []*tensor{g.out}, rows, depthwiseWork{g})
	return nil
}

// withPitch copies a value into a tensor of another pitch.
func (l *lowering) withPitch(t *tensor, pitch int) *tensor {
	dst := l.newTensor(t.name+" repitched", t.shape, pitch, int32(t.zero))
	l.copyTensor(dst, t)
	return dst
}

// depthwiseWork is a depthwise convolution.
type depthwiseWork struct{ *gemm }

func (w depthwiseWork) Launch(l *launcher, r rowRange) error {
	return launchShared(l, w, r)
}

// depthwiseRun is a depthwise convolution whose kernel is chosen.
type depthwiseRun struct {
	*gemm
	kernel  depthwise.Kernel
	chunks  int    // of 128 channels, or one of several positions
	records []byte // of the chunks
	at      uint32 // where those are
}

func (w depthwiseWork) Share(l *launcher) (work, error) {
	g := w.gemm
	f, pitch := &g.Filter, g.in.pitch
	g.Rq.UseByteFactor(g.MaxSum())
	d := depthwise.Kernel{KH: f.KH, KW: f.KW, RowStep: g.DilationH * g.in.rowBytes(), Stride: g.StrideW, Dilation: g.DilationW,
		Pitch: pitch, PerVector: g.in.perVec(), Rq: g.Rq.Kind()}
	d.Outputs = ceilDiv(g.out.shape.w, d.PerVector)
	if d.PerVector > 1 {
		d.Skew = -g.Left * pitch & (vecBytes - 1)
	}
	chunks := ceilDiv(f.K, vecBytes)
	g.fetchAhead(l, &d, chunks)
	d.ChooseForm(&g.Conv)
	l.chooseDepthwise(&d)
	records := d.Pack(&g.Conv, chunks)
	return depthwiseRun{g, d, chunks, records, l.constant(records)}, nil
}

// fetchAhead has a kernel of so many chunks fetch the rows that the next output row reads and
// this one does not, if the input comes from DRAM and the window moves by one.
func (g *gemm) fetchAhead(l *launcher, d *depthwise.Kernel, chunks int) {
	if l.Streams(g.in) && g.StrideH*g.StrideW == 1 {
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		d.Lookahead, d.LookaheadOff = chunks, ((g.KH-1)*g.DilationH+1-rows)*g.in.rowBytes()
	}
}

// launch emits some rows of the result.
func (w depthwiseRun) Launch(l *launcher, r rowRange) error {
	g, d, rec, pitch, first, last := w.gemm, w.kernel, w.at, w.in.pitch, r.from, r.to
	if bytes := len(w.records); bytes <= l.Room() {
		var err error
		if rec, err = l.Resident(rec, bytes); err != nil {
			return err
		}
	}
	params := g.Rq.Params()
	// A large input comes from DRAM. Where the window moves by one the
	// multiplications take longer than that, so rows are fetched just ahead of
	// their use. Where it moves further they wait for DRAM anyway, and a thread
	// asks for all its rows at once.
	large := l.Streams(g.in)
	wait := large && d.Lookahead == 0
	if d.Lookahead > 0 {
		// The rows that the next output row reads and this one does not.
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		params[hvx.ParBox], params[hvx.ParStride] = rowBox(g.in.shape.w*pitch, rows, g.in.rowBytes())
	}
	kern, err := l.linked(d.Key())
	if err != nil {
		return err
	}
	var table []uint32
	o := g.out.shape
	entry := func(row, i int) {
		n, y, at := row/o.h, row%o.h, uint32(i*vecBytes)
		table = append(table, g.in.at(n, y*g.StrideH-g.Top, -g.Left)-uint32(d.Skew)+at, g.out.at(n, y, 0)+at, rec+uint32(i*d.Record()))
	}
	if large { // a row is asked for with all its chunks
		for row := first; row < last; row++ {
			for i := range w.chunks {
				entry(row, i)
			}
		}
	} else { // constants stay in registers from row to row
		for i := range w.chunks {
			for row := first; row < last; row++ {
				entry(row, i)
			}
		}
	}
	entries := len(table) / 3
	at := l.constWords(padTable(table, 3, max(d.Lookahead, 1))) // one entry behind the last is looked at
	var args [][]uint32
	paramsAt := l.constWords(params)
	for _, r := range l.spread(entries) {
		var from, box uint32
		if wait {
			from = table[3*r[0]]
			box = boxOf(min(table[3*(r[1]-1)]+uint32(g.in.rowBytes())-from, prefetchLimit))
		}
		args = append(args, []uint32{at + uint32(12*r[0]), uint32(r[1] - r[0]), paramsAt, from, box, vecBytes})
	}
	job := l.launch(kern, args)
	if !wait {
		job.prefetchArg = depthwise.PrefetchArg
		perRow := g.out.shape.w * min(pitch, vecBytes) / vecBytes
		job.packets = ceilDiv(entries, l.threads) * perRow * cost.Depthwise{KH: g.KH, KW: g.KW}.Packets()
	}
	return nil
}

// chooseDepthwise chooses among the kernels of the family: the 3x3 kernel where d has taps for
// it, else the sliding window, else the general one. Of either of the first two it keeps as
// many constants in registers as there are registers for. A sliding-window kernel's rows
// begin on a vector, skew bytes before their first window.
func (l *object) chooseDepthwise(d *depthwise.Kernel) {
	if d.Direct3x3.Parts[0][0] > 0 {
		for _, d.Direct3x3.Kept = range d.Keeps() {
			if l.fits(d.Key()) {
				return
			}
		}
		d.Direct3x3.Kept = 0
	}
	for _, d.Sliding = range d.SlidingForms() {
		if l.fits(d.Key()) {
			return
		}
	}
	d.Skew, d.Sliding = 0, depthwise.Sliding{}
}
