package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
)

// Depthwise is a depthwise convolution.
type Depthwise struct{ *Convolution }

// Launch implements step.Work.
func (w Depthwise) Launch(l *step.Launcher, r step.Rows) error {
	return step.LaunchShared(l, w, r)
}

// depthwiseRun is a depthwise convolution whose kernel is chosen.
type depthwiseRun struct {
	*Convolution
	kernel  depthwise.Kernel
	chunks  int    // of 128 channels, or one of several positions
	records []byte // of the chunks
	at      uint32 // where those are
}

// Share implements step.SharedWork.
func (w Depthwise) Share(l *step.Launcher) (step.Work, error) {
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
	d = chooseDepthwise(l, d)
	records := d.Pack(&g.Conv, chunks)
	return depthwiseRun{g, d, chunks, records, l.Constant(records)}, nil
}

// fetchAhead has a kernel of so many chunks fetch the rows that the next output row reads and
// this one does not, if the input comes from DRAM and the window moves by one.
func (g *Convolution) fetchAhead(l *step.Launcher, d *depthwise.Kernel, chunks int) {
	if l.Streams(g.In) && g.StrideH*g.StrideW == 1 {
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		d.Lookahead, d.LookaheadOff = chunks, ((g.KH-1)*g.DilationH+1-rows)*g.In.RowBytes()
	}
}

// launch emits some rows of the result.
func (w depthwiseRun) Launch(l *step.Launcher, r step.Rows) error {
	g, d, rec, first, last := w.Convolution, w.kernel, w.at, r.From, r.To
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
	large := l.Streams(g.In)
	wait := large && d.Lookahead == 0
	if d.Lookahead > 0 {
		// The rows that the next output row reads and this one does not.
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		params[hvx.ParBox], params[hvx.ParStride] = step.RowBox(g.In.Shape.W*g.In.Pitch, rows, g.In.RowBytes())
	}
	kern, err := l.Kernel(d.Key())
	if err != nil {
		return err
	}
	var table []uint32
	o := g.Out.Shape
	entry := func(row, i int) {
		n, y, at := row/o.H, row%o.H, uint32(i*layout.VectorBytes)
		table = append(table, g.In.At(n, y*g.StrideH-g.Top, -g.Left)-uint32(d.Skew)+at, g.Out.At(n, y, 0)+at, rec+uint32(i*d.Record()))
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
	job := l.Launch(kern, args)
	if !wait {
		job.PrefetchArg = depthwise.PrefetchArg
	}
	return nil
}

// chooseDepthwise chooses among the kernels of the family: the 3x3 kernel where d has taps for
// it, else the sliding window, else the general one. Of either of the first two it keeps as
// many constants in registers as there are registers for. A sliding-window kernel's rows
// begin on a vector, skew bytes before their first window.
func chooseDepthwise(l *step.Launcher, d depthwise.Kernel) depthwise.Kernel {
	var list []candidate[depthwise.Kernel]
	add := func(d depthwise.Kernel) { list = append(list, candidate[depthwise.Kernel]{kernel: d}) }
	if d.Direct3x3.Parts[0][0] > 0 {
		for _, kept := range d.Keeps() {
			direct := d
			direct.Direct3x3.Kept = kept
			add(direct)
		}
	}
	d.Direct3x3.Kept = 0
	for _, form := range d.SlidingForms() {
		sliding := d
		sliding.Sliding = form
		add(sliding)
	}
	d.Skew, d.Sliding = 0, depthwise.Sliding{}
	add(d)
	chosen, compared, ok := choose(list, func(d depthwise.Kernel) bool { return l.Fits(d.Key()) })
	l.Step.Choices = compared
	if !ok {
		return d // its code is an error
	}
	return chosen
}
