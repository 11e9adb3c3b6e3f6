package dsp

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
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

func (w depthwiseWork) launch(l *planner, s *step, r rowRange) error {
	return launchShared(l, s, w, r)
}

// depthwiseRun is a depthwise convolution whose kernel is chosen.
type depthwiseRun struct {
	*gemm
	kernel  depthwiseKernel
	chunks  int    // of 128 channels, or one of several positions
	records []byte // of the chunks
	at      uint32 // where those are
}

func (w depthwiseWork) share(l *planner, s *step) (work, error) {
	g := w.gemm
	f, pitch := &g.Filter, g.in.pitch
	g.Rq.UseByteFactor(g.MaxSum())
	d := depthwiseKernel{kh: f.KH, kw: f.KW, rowStep: g.DilationH * g.in.rowBytes(), stride: g.StrideW, dilation: g.DilationW,
		pitch: pitch, cells: g.in.perVec(), rq: g.Rq.Kind()}
	d.steps = ceilDiv(g.out.shape.w, d.cells)
	if d.cells > 1 {
		d.skew = -g.Left * pitch & (vecBytes - 1)
	}
	chunks := ceilDiv(f.K, vecBytes)
	g.fetchAhead(l, &d, chunks)
	d.chooseForm(&g.Conv)
	l.chooseDepthwise(&d)
	records := d.pack(&g.Conv, chunks)
	return depthwiseRun{g, d, chunks, records, l.constant(records)}, nil
}

// fetchAhead has a kernel of so many chunks fetch the rows that the next output row reads and
// this one does not, if the input comes from DRAM and the window moves by one.
func (g *gemm) fetchAhead(l *planner, d *depthwiseKernel, chunks int) {
	if l.streams(g.in) && g.StrideH*g.StrideW == 1 {
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		d.lookahead, d.lookaheadOff = chunks, ((g.KH-1)*g.DilationH+1-rows)*g.in.rowBytes()
	}
}

// channelAt is the channel of byte i of a vector, -1 for none.
func channelAt(g *filter.Conv, d *depthwiseKernel, chunk, i int) int {
	if d.cells > 1 {
		i %= d.pitch
	}
	if i += chunk * vecBytes; i >= g.Filter.K {
		return -1
	}
	return i
}

// chooseForm chooses how weights become signed bytes, and the taps of the 3x3 kernel where
// that can compute the convolution.
func (d *depthwiseKernel) chooseForm(g *filter.Conv) {
	shape := d.slidingShape()
	d.twice, d.parts = signedParts(&g.Filter, d.sets(), shape.units(1))
	if d.fits3x3() {
		d.dw3x3 = chooseTaps(g)
	}
}

// pack packs the records of chunks: headers and weights.
func (d *depthwiseKernel) pack(g *filter.Conv, chunks int) []byte {
	f, records := &g.Filter, make([]byte, 0, chunks*d.record())
	for chunk := range chunks {
		channel := func(i int) int { return channelAt(g, d, chunk, i) }
		lane := make([]int, 0, vecBytes)
		for j := range 4 {
			for i := range 32 {
				lane = append(lane, channel(4*i+hvx.LanePhase[j]))
			}
		}
		records = g.PackHeader(records, d.rq, lane)
		if d.dw3x3.on() {
			records = pack3x3(g, records, &d.dw3x3, lane, channel)
			continue
		}
		for i, parts := range d.parts {
			x, set := i/d.sets(), i%d.sets()
			for part := range slices.Max(parts[:]) {
				for k, ch := range lane {
					if parts[k/32] <= part {
						continue
					}
					var rows [rowSet][]int8
					for r := 0; ch >= 0 && r < min(rowSet, f.KH-set*rowSet); r++ {
						rows[r] = filter.SignedBytes(f.Centred(ch, set*rowSet+r, x))
					}
					for _, w := range packTaps(rows, d.twice[set], part, k/32) {
						records = append(records, byte(w))
					}
				}
			}
		}
	}
	return records
}

// launch emits some rows of the result.
func (w depthwiseRun) launch(l *planner, s *step, r rowRange) error {
	g, d, rec, pitch, first, last := w.gemm, w.kernel, w.at, w.in.pitch, r.from, r.to
	if bytes := len(w.records); bytes <= l.vtcm.room() {
		var err error
		if rec, err = l.resident(s, rec, bytes); err != nil {
			return err
		}
	}
	params := g.Rq.Params()
	// A large input comes from DRAM. Where the window moves by one the
	// multiplications take longer than that, so rows are fetched just ahead of
	// their use. Where it moves further they wait for DRAM anyway, and a thread
	// asks for all its rows at once.
	large := l.streams(g.in)
	wait := large && d.lookahead == 0
	if d.lookahead > 0 {
		// The rows that the next output row reads and this one does not.
		rows := min(g.StrideH, (g.KH-1)*g.DilationH+1)
		params[hvx.ParBox], params[hvx.ParStride] = rowBox(g.in.shape.w*pitch, rows, g.in.rowBytes())
	}
	kern, err := l.kernel(d.name(), d.generate)
	if err != nil {
		return err
	}
	var table []uint32
	o := g.out.shape
	entry := func(row, i int) {
		n, y, at := row/o.h, row%o.h, uint32(i*vecBytes)
		table = append(table, g.in.at(n, y*g.StrideH-g.Top, -g.Left)-uint32(d.skew)+at, g.out.at(n, y, 0)+at, rec+uint32(i*d.record()))
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
	at := l.constWords(padTable(table, 3, max(d.lookahead, 1))) // one entry behind the last is looked at
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
	l.launch(s, kern, args)
	if !wait {
		l.canPrefetch(depthwisePrefetch)
		perRow := g.out.shape.w * min(pitch, vecBytes) / vecBytes
		l.takes(ceilDiv(entries, l.threads) * perRow * cost.Depthwise{KH: g.KH, KW: g.KW}.Packets())
	}
	return nil
}

// chooseDepthwise chooses among the kernels of the family: the 3x3 kernel where d has taps for
// it, else the sliding window, else the general one. Of either of the first two it keeps as
// many constants in registers as there are registers for. A sliding-window kernel's rows
// begin on a vector, skew bytes before their first window.
func (l *object) chooseDepthwise(d *depthwiseKernel) {
	if d.dw3x3.parts[0][0] > 0 {
		for _, d.dw3x3.kept = range d.keeps() {
			if l.generatedFits(d.name(), d.generate) {
				return
			}
		}
		d.dw3x3.kept = 0
	}
	for _, d.form = range d.slidingForms() {
		if l.generatedFits(d.name(), d.generate) {
			return
		}
	}
	d.skew, d.form = 0, slidingForm{}
}

// signedParts is how many signed bytes the weights need, the same for all channels of a
// vector of words. Of each set, words have one row twice, or none, whichever takes
// fewer instructions: two to interleave it in each of a step's units of words, two
// to multiply with one more part.
func signedParts(f *filter.Filter, sets, units int) (twice []int, parts []weightParts) {
	need := make([]weightParts, f.KH*f.KW)
	for y := range f.KH {
		for x := range f.KW {
			for ch := range f.K {
				n := &need[y*f.KW+x][slices.Index(hvx.LanePhase[:], ch%4)]
				*n = max(*n, len(filter.SignedBytes(f.Centred(ch, y, x))))
			}
		}
	}
	parts = make([]weightParts, sets*f.KW)
	for set := range sets {
		from, to := set*rowSet, min((set+1)*rowSet, f.KH)
		best, least := -1, 0
		for row := from - 1; row < to; row++ { // from - 1: none
			cost := 0
			if row >= from {
				cost = units
			}
			for x := range f.KW {
				for _, n := range partsWith(f, need, row, from, to, x) {
					cost += n - 1
				}
			}
			if row < from || cost < least || cost == least && best < 0 {
				best, least = row-from, cost
			}
		}
		twice = append(twice, best)
		for x := range f.KW {
			parts[x*sets+set] = partsWith(f, need, best+from, from, to, x)
		}
	}
	return twice, parts
}

// partsWith is the parts of a column of rows from to to-1, one of which is there
// twice.
func partsWith(f *filter.Filter, need []weightParts, twice, from, to, x int) weightParts {
	all := weightParts{1, 1, 1, 1}
	for y := from; y < to; y++ {
		for j, n := range need[y*f.KW+x] {
			if y == twice {
				n = ceilDiv(n, 2)
			}
			all[j] = max(all[j], n)
		}
	}
	return all
}
