package dsp

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// quotient are the constants with which the window kernel divides sums of n
// bytes: floor((sum + add) / n), add being more where sum > above, else less.
//
// It computes w = 2 (sum + add) + 1, so that w / 2n is never an integer, and
// SRDHM(w << up, m) >> down with m / 2^31 = 2^(k-1) / n, 2^k the power of two
// from n on: the product is w / 2n in units of 2^-down. It is off by less than
// one unit, w / 2n is at least 1 / 2n = 2^(down-k) / 2n * 2^k units away from an
// integer, which is two or more.
type quotient struct {
	above, more, less int32
	up, down          int
	mult              int32
}

// maxQuotient bounds n so that the error bound above holds.
const maxQuotient = 1 << 18

func newQuotient(n int, above, more, less int32) (quotient, error) {
	if n < 1 || n > maxQuotient {
		return quotient{}, fmt.Errorf("window of %d elements, at most %d", n, maxQuotient)
	}
	q := quotient{above: above, more: more, less: less}
	k := bits.Len(uint(n - 1)) // 2^k >= n
	m := (int64(1)<<(30+k) + int64(n)/2) / int64(n)
	q.mult = int32(min(m, 1<<31-1))
	// w is below 2^9 (n + 1); shifted it stays below 2^30.
	up := 30 - bits.Len(uint(n+1)<<9)
	q.up, q.down = up+1, k+up
	return q, nil
}

// words of a table entry from winAbove on.
func (q *quotient) words() []uint32 {
	return []uint32{uint32(q.above), uint32(q.more), uint32(q.less), uint32(q.up), 1 << (q.up - 1), uint32(q.mult), uint32(q.down)}
}

// maxHalves is up to how many elements halfWords divide by.
const maxHalves = 64

// halfWords are the words for a quotient of n up to maxHalves in 16 bits: with
// x = sum + add below 256 n and m = ceil(2^k / n), k = 15 + b, 2^b the power of two
// from n on, x m / 2^k is above x / n by less than 256 n / 2^k, which is below 1 / n.
// The product is one of 4x, of which the high halves are shifted by the rest.
func (q *quotient) halfWords(n int) []uint32 {
	b := bits.Len(uint(n - 1))
	m := ceilDiv(1<<(15+b), n)
	return []uint32{hvx.SplatHalfword(q.above), hvx.SplatHalfword(q.more), hvx.SplatHalfword(q.less), 2, 0, hvx.SplatHalfword(int32(m)), uint32(b + 1)}
}

// averageQuotient rounds half away from zero: in the signed domain that is up
// for positive sums and down for others, and sums here have 128 n added.
func averageQuotient(n int, signed bool) (quotient, error) {
	h := int32(n / 2)
	if !signed {
		return newQuotient(n, -1, h, h)
	}
	return newQuotient(n, 128*int32(n), h, int32(n-1)-h)
}

// meanQuotient truncates toward zero.
func meanQuotient(n int, signed bool) (quotient, error) {
	if !signed {
		return newQuotient(n, -1, 0, 0)
	}
	return newQuotient(n, 128*int32(n)-1, 0, int32(n-1))
}

// window is one reduction: rows x cols positions of the input.
type window struct {
	in         uint32
	out        uint32
	rows, cols int
}

// windowShares is how many entries a thread has at least, so that threads get
// about equal numbers of windows.
const windowShares = 4

const (
	// maxShapes is how many kinds of windows, at the edges of an image, have code of
	// their own, maxUnrolled how many elements these have.
	maxShapes   = 4
	maxUnrolled = 9
)

// byShape divides windows by rows and columns, largest first.
func byShape(windows []window) (parts [][]window) {
	at := map[[2]int]int{}
	for _, w := range windows {
		s := [2]int{w.rows, w.cols}
		i, ok := at[s]
		if !ok {
			i = len(parts)
			at[s] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], w)
	}
	slices.SortStableFunc(parts, func(a, b []window) int { return b[0].rows*b[0].cols - a[0].rows*a[0].cols })
	return parts
}

// emitWindows launches the window kernel over the given windows.
func (l *lowering) emitWindows(s *step, k windowKernel, in *tensor, windows []window, channels int, lo, hi int32,
	divide func(n int) (quotient, error)) error {
	if parts := byShape(windows); k.rows == 0 && len(windows) >= 8*l.threads && len(parts) <= maxShapes && parts[0][0].rows*parts[0][0].cols <= maxUnrolled {
		for _, part := range parts {
			k.rows, k.cols = part[0].rows, part[0].cols
			if err := l.emitWindows(s, k, in, part, channels, lo, hi, divide); err != nil {
				return err
			}
		}
		return nil
	}
	k.clamp = lo > 0 || hi < 255
	k.halves = !k.max && !slices.ContainsFunc(windows, func(w window) bool { return w.rows*w.cols > maxHalves })
	kern, err := l.kernel(k.name(), k.generate)
	if err != nil {
		return err
	}
	var table []uint32
	longest := ceilDiv(len(windows)*ceilDiv(channels, vecBytes), windowShares*l.threads)
	for len(windows) > 0 {
		w, n, inStep, outStep := windows[0], 1, uint32(0), uint32(0)
		for n < min(len(windows), longest) {
			last, next := windows[n-1], windows[n]
			if n == 1 {
				inStep, outStep = next.in-last.in, next.out-last.out
			}
			if next != (window{last.in + inStep, last.out + outStep, w.rows, w.cols}) {
				break
			}
			n++
		}
		windows = windows[n:]
		var q []uint32
		if !k.max {
			d, err := divide(w.rows * w.cols)
			if err != nil {
				return err
			}
			if q = d.words(); k.halves {
				q = d.halfWords(w.rows * w.cols)
			}
		}
		for c := 0; c < channels; c += vecBytes {
			table = append(table, w.in+uint32(c), w.out+uint32(c), uint32(w.rows), uint32(w.cols), uint32(n), inStep, outStep)
			table = append(table, q...)
		}
	}
	l.launchTable(s, kern, table, k.entryWords(), uint32(lo)*0x01010101, uint32(hi)*0x01010101, 0, 0, vecBytes)
	l.canPrefetch(winPrefetch)
	if !l.streams(in) {
		return nil
	}
	words := k.entryWords()
	for t, r := range l.spread(len(table) / words) { // each thread its own rows
		first, last := table[words*r[0]:], table[words*(r[1]-1):]
		from, to := first[winIn], last[winIn]+(last[winRows]-1)*uint32(k.rowStep)+last[winCols]*uint32(k.colStep)+(last[winCount]-1)*last[winInStep]
		l.fetchFirst(winPrefetch, t, from, max(from, to))
	}
	return nil
}

// lowerPool lowers AVERAGE_POOL_2D and MAX_POOL_2D.
func lowerPool(l *lowering, op *nn.Operation) error {
	p, err := l.view.Pool(op)
	if err != nil {
		return err
	}
	isMax := op.Type == nn.OpMaxPool2D
	if err := poolLimits(&p, isMax); err != nil {
		return err
	}
	in, err := l.imageValue(p.Input, p.NCHW)
	if err != nil {
		return err
	}
	o := &l.graph.Operands[p.Output]
	bias := unsignedBias(o.Type)
	lo, hi := opspec.ActRange(p.Act, o.Type, o.Scale, o.ZeroPoint)
	shaped := shape{p.N, p.OutH, p.OutW, p.C}
	out, done := l.imageResult(p.Output, shaped, max(shaped.pitch(), vecBytes), p.NCHW)
	emit := func(l *lowering, s *step, from, to int) error {
		k := windowKernel{max: isMax, rowStep: in.rowBytes(), colStep: in.pitch, unalign: in.pitch < vecBytes}
		var windows []window
		for row := from; row < to; row++ {
			n, y := row/p.OutH, row%p.OutH
			y0 := max(y*p.StrideH-p.Top, 0)
			y1 := min(y*p.StrideH-p.Top+p.KH, p.H)
			for x := range p.OutW {
				x0 := max(x*p.StrideW-p.Left, 0)
				x1 := min(x*p.StrideW-p.Left+p.KW, p.W)
				windows = append(windows, window{in.at(n, y0, x0), out.at(n, y, x), y1 - y0, x1 - x0})
			}
		}
		return l.emitWindows(s, k, in, windows, p.C, lo+bias, hi+bias,
			func(n int) (quotient, error) { return averageQuotient(n, bias != 0) })
	}
	l.addRows("pool", []*tensor{in}, []*tensor{out}, rowWork{count: p.N * p.OutH,
		needs:  func(rows int) int { return windowRows(&p.Window, rows) },
		starts: func(row int) int { return row*p.StrideH - p.Top },
		begin: func(l *lowering, s *step) (func(from, to int) error, error) {
			return func(from, to int) error { return emit(l, s, from, to) }, nil
		}})
	done()
	return nil
}

// poolLimits are the windows that the kernel cannot do.
func poolLimits(p *opspec.Pool, isMax bool) error {
	if !isMax && min(p.KW, p.W) > maxWindowCols {
		return fmt.Errorf("averages at most %d columns, the window has %d", maxWindowCols, p.KW)
	}
	if n := min(p.KH, p.H) * min(p.KW, p.W); !isMax && n > maxQuotient {
		return fmt.Errorf("averages at most %d elements, the window has %d", maxQuotient, n)
	}
	return nil
}

// lowerMean lowers MEAN: the reduced axes become rows and columns of windows.
func lowerMean(l *lowering, op *nn.Operation) error {
	m, err := l.view.Mean(op)
	if err != nil {
		return err
	}
	in, err := l.value(m.Input)
	if err != nil {
		return err
	}
	o := &l.graph.Operands[m.Output]
	bias := unsignedBias(o.Type)
	divide := func(n int) (quotient, error) { return meanQuotient(n, bias != 0) }
	if _, err := divide(m.Count); err != nil {
		return err
	}
	rows, cols := meanWindow(&m)
	channels := 1 // kept axes behind all reduced ones
	for d := len(m.In) - 1; d >= 0 && !m.Reduce[d]; d-- {
		channels *= int(m.In[d])
	}
	outer := int(nn.Elements(m.In)) / m.Count / channels
	var w *tensor
	s := in.shape
	if len(m.In) == 4 && m.Reduce[1] && m.Reduce[2] && !m.Reduce[0] && !m.Reduce[3] && s.w <= maxWindowCols {
		w, rows, cols = in, s.h, s.w // the image itself is the window
	} else {
		w = l.newTensor("windows", shape{outer, rows, cols, channels}, 0, int32(in.zero))
		l.addStep("gather", []*tensor{in}, []*tensor{w}, func(l *lowering, s *step) error {
			return l.emitGather(s, &m, in, w)
		})
	}
	sums := l.newTensor("means", shape{1, 1, outer, channels}, roundUp(channels, vecBytes), int32(in.zero))
	l.addStep("mean", []*tensor{w}, []*tensor{sums}, func(l *lowering, s *step) error {
		k := windowKernel{rowStep: w.rowBytes(), colStep: w.pitch, unalign: w.pitch < vecBytes}
		var windows []window
		for i := range outer {
			windows = append(windows, window{w.at(i, 0, 0), sums.at(0, 0, i), rows, cols})
		}
		return l.emitWindows(s, k, w, windows, channels, 0, 255, divide)
	})
	// The result may count its positions in several dimensions.
	if s := shapeOf(m.Dims); s == sums.shape {
		l.values[m.Output] = sums
	} else {
		l.reshape(l.result(m.Output, 0), sums)
	}
	return nil
}

// meanWindow factors the number of reduced elements into rows and columns.
func meanWindow(m *opspec.Mean) (rows, cols int) {
	for cols = min(m.Count, maxWindowCols); m.Count%cols != 0; cols-- {
	}
	return m.Count / cols, cols
}

// emitGather copies a value so that the elements of each window are contiguous
// positions, in order.
func (l *lowering) emitGather(s *step, m *opspec.Mean, in, w *tensor) error {
	rank := len(m.In)
	strides := make([]int, rank) // in elements of [outer, count, channels]
	channels := w.shape.c
	n := 1
	d := rank - 1
	for ; d >= 0 && !m.Reduce[d]; d-- {
		strides[d] = n
		n *= int(m.In[d])
	}
	for _, reduced := range [2]bool{true, false} {
		for i := d; i >= 0; i-- {
			if m.Reduce[i] == reduced {
				strides[i] = n
				n *= int(m.In[i])
			}
		}
	}
	// Contiguous bytes on both sides: the last axis when it is kept.
	step := 1
	if rank > 0 && !m.Reduce[rank-1] {
		step = int(m.In[rank-1])
	}
	r := new(copyRuns)
	src := cursor{t: in}
	index := make([]int, rank)
	for done := 0; done < in.shape.elements(); done += step {
		at := 0
		for i, x := range index {
			at += x * strides[i]
		}
		pos := at / channels
		per := w.shape.h * w.shape.w
		r.add(w.at(pos/per, pos/w.shape.w%w.shape.h, pos%w.shape.w)+uint32(at%channels), src.addr(), step)
		src.advance(step)
		for i, carry := rank-1, step; i >= 0 && carry > 0; i-- {
			if index[i] += carry; index[i] < int(m.In[i]) {
				break
			}
			index[i], carry = 0, 1
		}
	}
	return r.launch(l, s, false)
}
