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

// depthwisePart is a part of a depthwise convolution: the chunks of channels that one kernel computes.
type depthwisePart struct {
	depthwiseKernel
	chunks  []int
	records []byte // of the chunks
	at      uint32 // where those are
}

// depthwiseWork is a depthwise convolution.
type depthwiseWork struct{ *gemm }

func (w depthwiseWork) launch(l *lowering, s *step, r rowRange) error {
	return launchShared(l, s, w, r)
}

// depthwiseParts is a depthwise convolution whose kernels are chosen.
type depthwiseParts struct {
	*gemm
	parts []depthwisePart
}

func (w depthwiseParts) launch(l *lowering, s *step, r rowRange) error {
	for i := range w.parts {
		if err := w.depthwiseRows(l, s, &w.parts[i], r.from, r.to); err != nil {
			return err
		}
	}
	return nil
}

func (w depthwiseWork) share(l *lowering, s *step) (work, error) {
	g := w.gemm
	f, pitch := &g.Filter, g.in.pitch
	g.Rq.UseByteFactor(g.MaxSum())
	d := depthwiseKernel{kh: f.KH, kw: f.KW, rowStep: g.DilationH * g.in.rowBytes(), stride: g.StrideW, dilation: g.DilationW,
		pitch: pitch, cells: g.in.perVec(), rq: g.Rq.Kind()}
	d.steps = ceilDiv(g.out.shape.w, d.cells)
	if d.cells > 1 {
		d.skew = -g.Left * pitch & (vecBytes - 1)
	}
	var parts []depthwisePart
	acc16, rest := l.acc16Part(g, d)
	if len(acc16.chunks) > 0 {
		parts = append(parts, acc16)
	}
	if len(rest) > 0 {
		parts = append(parts, l.acc32Part(g, d, rest))
	}
	for i := range parts {
		parts[i].at = l.constant(parts[i].records)
	}
	return depthwiseParts{g, parts}, nil
}

// fetchAhead has a kernel of so many chunks fetch the rows that the next output row reads and
// this one does not, if the input comes from DRAM and the window moves by one.
func (g *gemm) fetchAhead(l *lowering, d *depthwiseKernel, chunks int) {
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

// channelsOf are the channels of chunks.
func channelsOf(g *filter.Conv, chunks []int) (list []int) {
	for _, chunk := range chunks {
		for ch := chunk * vecBytes; ch < min((chunk+1)*vecBytes, g.Filter.K); ch++ {
			list = append(list, ch)
		}
	}
	return list
}

// numbers are 0 to n-1.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// acc32Part returns the part whose chunks need 32-bit accumulators.
func (l *lowering) acc32Part(g *gemm, d depthwiseKernel, chunks []int) depthwisePart {
	f, channels := &g.Filter, channelsOf(&g.Conv, chunks)
	g.fetchAhead(l, &d, len(chunks))
	shape := d.slidingShape()
	d.twice, d.parts = signedParts(f, channels, d.sets(), shape.units(1))
	if d.fits3x3() {
		d.dw3x3 = chooseTaps(&g.Conv, channels)
		l.keepAcc32Constants(&d)
	}
	p := depthwisePart{depthwiseKernel: d, chunks: chunks, records: make([]byte, 0, len(chunks)*d.record())}
	for _, chunk := range chunks {
		channel := func(i int) int { return channelAt(&g.Conv, &d, chunk, i) }
		lane := make([]int, 0, vecBytes)
		for j := range 4 {
			for i := range 32 {
				lane = append(lane, channel(4*i+hvx.LanePhase[j]))
			}
		}
		p.records = g.PackHeader(p.records, d.rq, lane)
		if d.dw3x3.on() {
			p.records = packAcc32(&g.Conv, p.records, &d.dw3x3, lane, channel)
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
						p.records = append(p.records, byte(w))
					}
				}
			}
		}
	}
	return p
}

// depthwiseRows emits some rows of a part of the result.
func (g *gemm) depthwiseRows(l *lowering, s *step, p *depthwisePart, first, last int) error {
	d, rec, pitch := p.depthwiseKernel, p.at, g.in.pitch
	if bytes := len(p.records); bytes <= l.vtcm.room() {
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
	kern, err := l.depthwiseKernel(&d)
	if err != nil {
		return err
	}
	var table []uint32
	o := g.out.shape
	entry := func(row, i int) {
		n, y, at := row/o.h, row%o.h, uint32(p.chunks[i]*vecBytes)
		table = append(table, g.in.at(n, y*g.StrideH-g.Top, -g.Left)-uint32(d.skew)+at, g.out.at(n, y, 0)+at, rec+uint32(i*d.record()))
	}
	if large { // a row is asked for with all its chunks
		for row := first; row < last; row++ {
			for i := range p.chunks {
				entry(row, i)
			}
		}
	} else { // constants stay in registers from row to row
		for i := range p.chunks {
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

// depthwiseKernel returns the 3x3 kernel if d selects it, else the best sliding-window kernel
// whose registers suffice, else the general one. A sliding-window kernel's rows begin on a
// vector, skew bytes before their first window.
func (l *lowering) depthwiseKernel(d *depthwiseKernel) (*hvx.Linked, error) {
	if d.dw3x3.on() {
		return l.kernel(d.name(), d.generate)
	}
	for _, d.form = range d.slidingForms() {
		if l.generatedFits(d.name(), d.generate) {
			return l.kernel(d.name(), d.generate)
		}
	}
	d.skew, d.form = 0, slidingForm{}
	return l.kernel(d.name(), d.generate)
}

// signedParts is how many signed bytes the weights of channels need, the same for all channels of a
// vector of words. Of each set, words have one row twice, or none, whichever takes
// fewer instructions: two to interleave it in each of a step's units of words, two
// to multiply with one more part.
func signedParts(f *filter.Filter, channels []int, sets, units int) (twice []int, parts []weightParts) {
	need := make([]weightParts, f.KH*f.KW)
	for y := range f.KH {
		for x := range f.KW {
			for _, ch := range channels {
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
