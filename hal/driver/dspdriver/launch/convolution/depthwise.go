package convolution

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// Depthwise is a depthwise convolution.
type Depthwise struct{ *Convolution }

// Launch implements step.Work.
func (w Depthwise) Launch(l *step.Launcher, r step.Rows) {
	step.LaunchShared(l, w, r)
}

// depthwiseRun is a depthwise convolution whose kernel is chosen.
type depthwiseRun struct {
	*Convolution
	l       *step.Launcher
	kernel  depthwise.Kernel
	code    *hvx.Linked
	chunks  int    // of 128 channels, or one of several positions
	bytes   int    // of their records
	records uint32 // where those are
}

// pack implements run.
func (w *depthwiseRun) pack() {
	records := w.kernel.Pack(&w.Conv, w.chunks)
	w.bytes, w.records = len(records), w.l.Constant(records)
}

// Share implements step.SharedWork.
func (w Depthwise) Share(l *step.Launcher) step.Work {
	g := w.Convolution
	f, pitch := &g.Filter, g.In.Pitch
	g.Rq.UseByteFactor(g.MaxSum())
	d := depthwise.Kernel{KH: f.KH, KW: f.KW, RowStep: g.DilationH * g.In.RowBytes(), Stride: g.StrideW, Dilation: g.DilationW,
		Pitch: pitch, PerVector: g.In.PerVec(), Rq: g.Rq.Kind()}
	d.Outputs = layout.CeilDiv(g.Out.Shape.W, d.PerVector)
	if d.PerVector > 1 {
		d.Skew = -g.Left * pitch & (layout.VectorBytes - 1)
	}
	chunks := layout.CeilDiv(f.K, layout.VectorBytes)
	g.fetchAhead(l, &d, chunks)
	d.ChooseForm(&g.Conv)
	return choose(l, depthwiseCandidates(d), func(l *step.Launcher, d depthwise.Kernel) run {
		code := l.Kernel(d.Key())
		return &depthwiseRun{l: l, Convolution: g, kernel: d, code: code, chunks: chunks}
	})
}

// fetchAhead has a kernel of so many chunks fetch the rows that the next output row reads and
// this one does not, if the input comes from DRAM and the window moves by one.
func (g *Convolution) fetchAhead(l *step.Launcher, d *depthwise.Kernel, chunks int) {
	if l.Streams(g.In) && g.StrideH*g.StrideW == 1 {
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		d.Lookahead, d.LookaheadOff = chunks, ((g.KH-1)*g.DilationH+1-rows)*g.In.RowBytes()
	}
}

// Launch emits some rows of the result.
func (w *depthwiseRun) Launch(l *step.Launcher, r step.Rows) {
	g, d, rec, first, last := w.Convolution, w.kernel, w.records, r.From, r.To
	if w.bytes <= l.VTCM {
		rec = l.Resident(rec, w.bytes)
	}
	params := g.Rq.Params()
	// A large input comes from DRAM. Where the window moves by one the
	// multiplications are slower than that, so rows are fetched just ahead of
	// their use. Where it moves further they wait for DRAM anyway, and a thread
	// requests all its rows at once.
	large := l.Streams(g.In)
	wait := large && d.Lookahead == 0
	if d.Lookahead > 0 {
		// The rows that the next output row reads and this one does not.
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		params[hvx.ParBox], params[hvx.ParStride] = step.RowBox(g.In.Shape.W*g.In.Pitch, rows, g.In.RowBytes())
	}
	var table []uint32
	o := g.Out.Shape
	entry := func(row, i int) {
		n, y, at := row/o.H, row%o.H, uint32(i*layout.VectorBytes)
		table = append(table, g.In.At(n, y*g.StrideH-g.Top, -g.Left)-uint32(d.Skew)+at, g.Out.At(n, y, 0)+at, rec+uint32(i*d.Record()))
	}
	if large { // a row is requested with all its chunks
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
	at := l.Words(padTable(table, 3, max(d.Lookahead, 1))) // one entry behind the last is looked at
	var args [][]uint32
	paramsAt := l.Words(params)
	for _, r := range l.Spread(entries) {
		var from, box uint32
		if wait {
			from = table[3*r[0]]
			box = step.Box(min(table[3*(r[1]-1)]+uint32(g.In.RowBytes())-from, step.PrefetchLimit))
		}
		args = append(args, []uint32{at + uint32(12*r[0]), uint32(r[1] - r[0]), paramsAt, from, box, layout.VectorBytes})
	}
	job := l.Launch(w.code, args)
	if !wait {
		job.PrefetchArg = depthwise.PrefetchArg
	}
}

// depthwiseCandidates are the kernels of the family: the 3x3 kernel where d has taps for it, the
// sliding window and the general one. How many constants the first two keep in registers decides
// whether there are enough of these, so each is a list of such. A sliding-window kernel's rows
// begin on a vector, skew bytes before their first window.
func depthwiseCandidates(d depthwise.Kernel) (list [][]depthwise.Kernel) {
	var direct, sliding []depthwise.Kernel
	if d.Direct3x3.Parts[0][0] > 0 {
		for _, kept := range d.ResidentCounts() {
			k := d
			k.Direct3x3.Kept = kept
			direct = append(direct, k)
		}
	}
	d.Direct3x3.Kept = 0
	for _, form := range d.SlidingForms() {
		k := d
		k.Sliding = form
		sliding = append(sliding, k)
	}
	d.Skew, d.Sliding = 0, depthwise.Sliding{}
	return [][]depthwise.Kernel{direct, sliding, {d}}
}
