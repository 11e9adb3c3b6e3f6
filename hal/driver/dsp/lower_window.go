package dsp

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/pool"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

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
func (l *launcher) emitWindows(k pool.Window, in *tensor, windows []window, channels int, lo, hi int32,
	divide func(n int) (pool.Quotient, error)) error {
	if parts := byShape(windows); k.Rows == 0 && len(windows) >= 8*l.threads && len(parts) <= maxShapes && parts[0][0].rows*parts[0][0].cols <= maxUnrolled {
		for _, part := range parts {
			k.Rows, k.Cols = part[0].rows, part[0].cols
			if err := l.emitWindows(k, in, part, channels, lo, hi, divide); err != nil {
				return err
			}
		}
		return nil
	}
	k.Clamp = lo > 0 || hi < 255
	k.Halfwords = !k.Max && !slices.ContainsFunc(windows, func(w window) bool { return w.rows*w.cols > pool.MaxHalfwords })
	kern, err := l.linked(k)
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
		if !k.Max {
			d, err := divide(w.rows * w.cols)
			if err != nil {
				return err
			}
			if q = d.Constants(); k.Halfwords {
				q = d.HalfwordConstants(w.rows * w.cols)
			}
		}
		for c := 0; c < channels; c += vecBytes {
			table = append(table, w.in+uint32(c), w.out+uint32(c), uint32(w.rows), uint32(w.cols), uint32(n), inStep, outStep)
			table = append(table, q...)
		}
	}
	job := l.launchTable(kern, table, k.EntryWords(), uint32(lo)*0x01010101, uint32(hi)*0x01010101, 0, 0, vecBytes)
	if job == nil {
		return nil
	}
	job.prefetchArg = pool.WinPrefetch
	if !l.Streams(in) {
		return nil
	}
	words := k.EntryWords()
	for t, r := range l.spread(len(table) / words) { // each thread its own rows
		first, last := table[words*r[0]:], table[words*(r[1]-1):]
		from, to := first[pool.WinIn], last[pool.WinIn]+(last[pool.WinRows]-1)*uint32(k.RowStep)+last[pool.WinCols]*uint32(k.ColStep)+(last[pool.WinCount]-1)*last[pool.WinInStep]
		job.fetchFirst(pool.WinPrefetch, t, from, max(from, to))
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
	l.addRows("pool", []*tensor{in}, []*tensor{out}, windowDependence(&p.Window, p.N*p.OutH), poolWork{p, in, out, lo + bias, hi + bias, isMax, bias != 0})
	done()
	return nil
}

// poolWork reduces windows of an image to their maxima or averages.
type poolWork struct {
	opspec.Pool
	in, out *tensor
	lo, hi  int32
	isMax   bool
	signed  bool // the client's values are
}

func (w poolWork) Launch(l *launcher, r rowRange) error {
	k := pool.Window{Max: w.isMax, RowStep: w.in.rowBytes(), ColStep: w.in.pitch, Unalign: w.in.pitch < vecBytes}
	var windows []window
	for row := r.from; row < r.to; row++ {
		n, y := row/w.OutH, row%w.OutH
		y0 := max(y*w.StrideH-w.Top, 0)
		y1 := min(y*w.StrideH-w.Top+w.KH, w.H)
		for x := range w.OutW {
			x0 := max(x*w.StrideW-w.Left, 0)
			x1 := min(x*w.StrideW-w.Left+w.KW, w.W)
			windows = append(windows, window{w.in.at(n, y0, x0), w.out.at(n, y, x), y1 - y0, x1 - x0})
		}
	}
	return l.emitWindows(k, w.in, windows, w.C, w.lo, w.hi, func(n int) (pool.Quotient, error) { return pool.AverageQuotient(n, w.signed) })
}

// poolLimits are the windows that the kernel cannot do.
func poolLimits(p *opspec.Pool, isMax bool) error {
	if !isMax && min(p.KW, p.W) > pool.MaxWindowCols {
		return fmt.Errorf("averages at most %d columns, the window has %d", pool.MaxWindowCols, p.KW)
	}
	if n := min(p.KH, p.H) * min(p.KW, p.W); !isMax && n > pool.MaxQuotient {
		return fmt.Errorf("averages at most %d elements, the window has %d", pool.MaxQuotient, n)
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
	if _, err := pool.MeanQuotient(m.Count, bias != 0); err != nil {
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
	if len(m.In) == 4 && m.Reduce[1] && m.Reduce[2] && !m.Reduce[0] && !m.Reduce[3] && s.w <= pool.MaxWindowCols {
		w, rows, cols = in, s.h, s.w // the image itself is the window
	} else {
		w = l.newTensor("windows", shape{outer, rows, cols, channels}, 0, int32(in.zero))
		l.addStep("gather", []*tensor{in}, []*tensor{w}, gatherWindowsWork{&m, in, w})
	}
	sums := l.newTensor("means", shape{1, 1, outer, channels}, roundUp(channels, vecBytes), int32(in.zero))
	l.addStep("mean", []*tensor{w}, []*tensor{sums}, meanWork{w, sums, rows, cols, bias != 0})
	// The result may count its positions in several dimensions.
	if s := shapeOf(m.Dims); s == sums.shape {
		l.values[m.Output] = sums
	} else {
		l.reshape(l.result(m.Output, 0), sums)
	}
	return nil
}

// meanWork reduces each image of a tensor, rows x cols positions, to its mean.
type meanWork struct {
	in, out    *tensor
	rows, cols int
	signed     bool // the client's values are
}

func (w meanWork) Launch(l *launcher, _ rowRange) error {
	k := pool.Window{RowStep: w.in.rowBytes(), ColStep: w.in.pitch, Unalign: w.in.pitch < vecBytes}
	var windows []window
	for i := range w.out.shape.w {
		windows = append(windows, window{w.in.at(i, 0, 0), w.out.at(0, 0, i), w.rows, w.cols})
	}
	return l.emitWindows(k, w.in, windows, w.out.shape.c, 0, 255, func(n int) (pool.Quotient, error) { return pool.MeanQuotient(n, w.signed) })
}

// meanWindow factors the number of reduced elements into rows and columns.
func meanWindow(m *opspec.Mean) (rows, cols int) {
	for cols = min(m.Count, pool.MaxWindowCols); m.Count%cols != 0; cols-- {
	}
	return m.Count / cols, cols
}

// gatherWindowsWork copies a value so that the elements of each window are contiguous
// positions, in order.
type gatherWindowsWork struct {
	mean    *opspec.Mean
	in, out *tensor
}

func (g gatherWindowsWork) Launch(l *launcher, _ rowRange) error {
	m, in, w := g.mean, g.in, g.out
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
	return r.launch(l, false)
}
