package dsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// depthwiseKernel are the parameters that the code of a depthwise convolution
// depends on. A vector holds 128 channels of one position or, with a small
// pitch, all channels of several positions; each entry of the table is one
// row (and one chunk of channels).
//
// Up to three rows of a column of the window are interleaved to words, one per
// channel, so that one vrmpy multiplies them with the weights of 32 channels
// (filter zero point already out) and adds the products.
type depthwiseKernel struct {
	kh, kw   int
	rowStep  int           // bytes between the window's rows
	stride   int           // positions between neighbouring windows
	dilation int           // positions between the window's columns
	pitch    int           // bytes between positions
	twice    []int         // of each set: row that its words have twice, -1 none
	parts    []weightParts // of each column and set
	steps    int           // vectors made per entry
	cells    int           // positions per vector
	skew     int           // bytes of a row's first vector before its first window
	form     slidingForm   // zero: not the sliding-window kernel
	dw3x3    dw3x3Taps     // if on, this is the 3x3 kernel, whatever form says
	rq       hvx.RequantKind
	// lookahead, when the input is likely not in L2: how many entries ahead inputs are
	// fetched, and how far behind that entry's address the new ones begin.
	lookahead    int
	lookaheadOff int
}

// maxTaps bounds the window of the depthwise kernel, whose taps are unrolled.
const maxTaps = 128

// rowSet is how many rows of the window share a word.
const rowSet = 3

// sets is the number of sets of rows.
func (d *depthwiseKernel) sets() int { return ceilDiv(d.kh, rowSet) }

// depthwisePrefetch is the index of the prefetch arguments.
const depthwisePrefetch = 3

func (d *depthwiseKernel) name() string {
	if d.dw3x3.on() {
		return d.dw3x3Name()
	}
	return fmt.Sprintf("dw_%dx%d_r%d_s%d_d%d_p%d_n%d_c%d+%d_f%d.%d_%s_a%d+%d_%s", d.kh, d.kw, d.rowStep, d.stride, d.dilation, d.pitch,
		d.steps, d.cells, d.skew, d.form.steps, d.form.kept, d.rq.Tag(), d.lookahead, d.lookaheadOff, strings.Trim(strings.ReplaceAll(fmt.Sprint(d.twice, d.parts), " ", "."), "[]"))
}

// weightParts is how many signed bytes the weights need, for each of the four vectors of
// words.
type weightParts [4]int

// has reports which vectors of pair k have a part.
func (p weightParts) has(k, part int) (first, second bool) { return p[2*k] > part, p[2*k+1] > part }

// weight is the number of a weight vector.
func (d *depthwiseKernel) weight(i, part, j int) int {
	n := 0
	for _, p := range d.parts[:i] {
		n += p[0] + p[1] + p[2] + p[3]
	}
	for q := range part + 1 {
		for l, parts := range d.parts[i] {
			if parts > q && (q < part || l < j) {
				n++
			}
		}
	}
	return n
}

// header is the number of vectors before a record's weights.
func (d *depthwiseKernel) header() int {
	return 4 * (1 + d.rq.Vectors())
}

// weights is the number of weight vectors.
func (d *depthwiseKernel) weights() int {
	if d.dw3x3.on() {
		return d.dw3x3.vectors()
	}
	n := 0
	for _, p := range d.parts {
		n += p[0] + p[1] + p[2] + p[3]
	}
	return n
}

func (d *depthwiseKernel) record() int { return (d.header() + d.weights()) * vecBytes }

// outStep is the distance of output vectors.
func (d *depthwiseKernel) outStep() int { return d.pitch * d.cells }

// quad is a vector for each j of LanePhase, as two pairs.
type quad [2]codegen.Reg

func newQuad(a *hvx.Builder, name string) quad { return quad{a.VV(name), a.VV(name)} }

// at is vector j.
func (q quad) at(j int) codegen.Reg { return hvx.Half(q[j/2], j%2) }

func (q quad) all() [4]codegen.Reg { return [4]codegen.Reg{q.at(0), q.at(1), q.at(2), q.at(3)} }

// depthwiseCode is the state of the generator of a depthwise kernel.
type depthwiseCode struct {
	*depthwiseKernel
	a     *hvx.Builder
	rq    *hvx.Requantizer
	w     hvx.Record
	kept  []codegen.Reg // the weights that do
	below []codegen.Reg
}

// generate writes the kernel. Arguments: table of (input, output, record),
// entries, parameter block, prefetch.
func (d *depthwiseKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries", "params", "address", "box", "stride")
	table, entries, params := in[0], in[1], in[2]
	a.Prefetch(in[depthwisePrefetch:])
	e := &depthwiseCode{depthwiseKernel: d, a: a, rq: a.RequantSetup(d.rq, params)}
	var carry *slidingCarry
	if (d.dw3x3.on() || d.form.steps > 0) && e.rq.Halfword && !e.rq.ByteFactor {
		e.rq.Fifteen = a.Imm8(15)
	}
	switch {
	case d.dw3x3.on():
		e.loop3x3(table, entries, params)
		a.Ret()
		return
	case d.form.steps == 0:
		e.cellMasks()
	default:
		a.Func.Refined()
		carry = e.newCarry(a.Word(table, 1, "first out"))
	}
	a.Repeat(entries, func() {
		if d.lookahead > 0 {
			a.Op(hexagon.Y5_l2fetch, a.Add(a.Word(table, 3*d.lookahead, "ahead"), d.lookaheadOff), hvx.PrefetchBox(a, params))
		}
		src, dst, rec := a.Word(table, 0, "in"), a.Word(table, 1, "out"), a.Word(table, 2, "record")
		a.Bump(table, 12)
		e.w = hvx.NewRecord(a, rec, d.record())
		if d.form.steps > 0 {
			e.sliding(src, dst, carry)
			return
		}
		e.keep(windowWeights)
		a.Loop0(d.steps, func() {
			e.window(src, dst)
			a.Bump(src, d.stride*d.pitch*d.cells)
			a.Bump(dst, d.outStep())
		})
	})
	if carry != nil {
		e.finish(carry)
	}
	a.Ret()
}

// keep loads the first weights into registers.
func (e *depthwiseCode) keep(n int) {
	e.kept = nil
	for i := range min(e.weights(), n) {
		e.kept = append(e.kept, e.a.V("w"))
		e.w.Load(e.kept[i], e.header()+i)
	}
}

// windowWeights is how many weight vectors stay in registers.
const windowWeights = 4

// window makes one output vector from all columns of its window.
func (e *depthwiseCode) window(src, dst codegen.Reg) {
	e.a.SetPhase(hvx.PhaseProducts)
	sum := newQuad(e.a, "sum")
	for col := range e.kw {
		for set := range e.sets() {
			x := newQuad(e.a, "words")
			e.words(x, set, func(row int) codegen.Reg {
				return e.input(src, row*e.rowStep+col*e.dilation*e.pitch)
			}, nil)
			e.multiply(sum, x, col, set, col+set == 0)
		}
	}
	e.store(e.ready(sum, nil), dst, 0)
}

// words interleaves the rows of a set: word i of vector j has the bytes of
// channel 4i + LanePhase[j]. With a place to load from, a row that one instruction
// reads is not loaded into a register.
func (e *depthwiseCode) words(x quad, set int, load func(row int) codegen.Reg, place func(row int) (codegen.Reg, int)) {
	a, n, from := e.a, min(rowSet, e.kh-set*rowSet), set*rowSet
	var rows [rowSet]codegen.Reg
	row := func(r int) codegen.Reg { // rows that are not there repeat the first one
		if r >= n {
			r = 0
		}
		if !rows[r].Valid() {
			rows[r] = load(from + r)
		}
		return rows[r]
	}
	// bytes interleaves two rows: their even bytes, then their odd ones. Row once, if
	// it is not loaded yet, is read by nothing else.
	bytes := func(odd, even, once int) codegen.Reg {
		to := a.VV("bytes")
		if once >= n || rows[once].Valid() || place == nil || e.twice[set] == once {
			a.Op(hexagon.V6_vshufoeb, to, row(odd), row(even))
			return to
		}
		v := a.V("row")
		u, w, arg := v, v, 1
		if once == odd {
			w = row(even)
		} else {
			u, arg = row(odd), 2
		}
		base, off := place(from + once)
		a.OpLoading(hvx.AliasIn, arg, base, off, hexagon.V6_vshufoeb, to, u, w)
		return to
	}
	low := bytes(1, 0, 1)
	high := [2]codegen.Reg{}
	if r := e.twice[set]; r >= 0 {
		h := bytes(r, 2, 2)
		high = [2]codegen.Reg{hvx.Lo(h), hvx.Hi(h)}
	} else {
		high = [2]codegen.Reg{row(2), row(2)}
	}
	for k := range x {
		a.Op(hexagon.V6_vshufoeh, x[k], high[k], hvx.Half(low, k))
	}
}

// packTaps packs the weights of the rows of a set for channel vector j: one part of
// each. The third row comes with its neighbour, of which odd channels are the
// second, unless the fourth byte is for the second part of a row.
func packTaps(rows [rowSet][]int8, twice, part, j int) (w [4]int8) {
	for r, parts := range rows {
		if r == twice {
			for n, at := range [2]int{r, 3} {
				if k := 2*part + n; k < len(parts) {
					w[at] = parts[k]
				}
			}
			continue
		}
		at := r
		if r == 2 && twice < 0 && hvx.LanePhase[j]%2 == 1 {
			at = 3
		}
		if part < len(parts) {
			w[at] = parts[part]
		}
	}
	return w
}

// multiply adds the products of a column to sums, which begin as the biases.
func (e *depthwiseCode) multiply(sum, x quad, col, set int, begin bool) {
	a, i := e.a, col*e.sets()+set
	for part := range slices.Max(e.parts[i][:]) {
		for k := range x {
			t := a.VV("products")
			for j := range 2 {
				if e.parts[i][2*k+j] > part {
					e.product(hvx.Half(t, j), hvx.Half(x[k], j), e.weight(i, part, 2*k+j))
				}
			}
			if !begin || part > 0 {
				e.addTo(sum[k], t, i, k, part)
				continue
			}
			for j := range 2 {
				base, off := e.w.At(2*k + j)
				a.OpLoading(hvx.AliasConst, 2, base, off, hexagon.V6_vaddw, hvx.Half(sum[k], j), hvx.Half(t, j), a.V("bias"))
			}
		}
	}
}

// addTo adds the products of pair k that a part has.
func (e *depthwiseCode) addTo(sum, t codegen.Reg, i, k, part int) {
	switch first, second := e.parts[i].has(k, part); {
	case first && second:
		e.a.Op(hexagon.V6_vaddw_dv, sum, sum, t)
	case first:
		e.a.Op(hexagon.V6_vaddw, hvx.Lo(sum), hvx.Lo(sum), hvx.Lo(t))
	case second:
		e.a.Op(hexagon.V6_vaddw, hvx.Hi(sum), hvx.Hi(sum), hvx.Hi(t))
	}
}

// product multiplies with weight vector i.
func (e *depthwiseCode) product(to, x codegen.Reg, i int) {
	if i < len(e.kept) {
		e.a.Op(hexagon.V6_vrmpybusv, to, x, e.kept[i])
		return
	}
	base, off := e.w.At(e.header() + i)
	e.a.OpLoading(hvx.AliasConst, 2, base, off, hexagon.V6_vrmpybusv, to, x, e.a.V("w"))
}

// ready makes halves of the sums where halves are multiplied, in the given
// registers if there are any.
func (e *depthwiseCode) ready(sum quad, to []codegen.Reg) []codegen.Reg {
	a := e.a
	if !e.rq.Halfword {
		all := sum.all()
		return all[:]
	}
	a.SetPhase(hvx.PhaseRequantize)
	if to == nil {
		x := newQuad(a, "half")
		to = []codegen.Reg{x.at(0), x.at(2)}
		if e.rq.ByteFactor {
			e.rq.ToHalfwords(sum.all(), to)
			return x[:]
		}
	}
	e.rq.ToHalfwords(sum.all(), to)
	return to
}

// store requantizes and stores what ready made.
func (e *depthwiseCode) store(ready []codegen.Reg, dst codegen.Reg, off int) {
	a := e.a
	a.SetPhase(hvx.PhaseRequantize)
	if e.rq.ByteFactor {
		base, n := a.Near(dst, off)
		e.rq.StoreBytes([2]codegen.Reg(ready), base, n)
		a.SetPhase(hvx.PhaseOther)
		return
	}
	var v codegen.Reg
	if e.rq.Halfword {
		v = e.rq.ScaleHalfwords(ready, true)
	} else {
		v = e.rq.Pack([4]codegen.Reg(ready), e.channelVectors, true)
	}
	a.Store(dst, off, v, hvx.AliasOut)
	a.SetPhase(hvx.PhaseOther)
}

func (e *depthwiseCode) channelVectors(j int) hvx.ChannelVectors {
	if !e.depthwiseKernel.rq.PerChannel {
		return hvx.ChannelVectors{}
	}
	l := hvx.ChannelVectors{Mult: e.a.V("mult")}
	e.w.Load(l.Mult, 4+j)
	if e.depthwiseKernel.rq.Whole || !e.depthwiseKernel.dw3x3.on() {
		l.Shift = e.a.V("shift")
		e.w.Load(l.Shift, 8+j)
	} else {
		l.ShiftAt, l.ShiftOff = e.w.At(8 + j)
	}
	if e.depthwiseKernel.rq.Left {
		l.Left = e.a.V("left")
		e.w.Load(l.Left, 12+j)
	}
	return l
}

// manyCells are more than there are predicates.
const manyCells = 4

// cellMasks are the predicates that select the lanes before each cell, where
// cells must be gathered one by one.
func (e *depthwiseCode) cellMasks() {
	if e.cells == 1 || e.stride == 1 || e.cells > manyCells {
		return
	}
	e.below = make([]codegen.Reg, e.cells)
	for i := 1; i < e.cells; i++ {
		e.below[i] = e.a.Q("below")
		e.a.Op(hexagon.V6_pred_scalar2, e.below[i], e.a.Imm(i*e.pitch))
	}
}

// input loads the vector of inputs that begins off behind src.
func (e *depthwiseCode) input(src codegen.Reg, off int) codegen.Reg {
	a := e.a
	if e.cells == 1 {
		return a.Load(src, off, hvx.AliasIn, "x")
	}
	x := a.LoadUnaligned(src, off, hvx.AliasIn, "x")
	for i := 1; i < e.cells && e.stride > 1; i++ {
		y := a.LoadUnaligned(src, off+i*(e.stride-1)*e.pitch, hvx.AliasIn, "y")
		var below codegen.Reg
		if e.cells <= manyCells {
			below = e.below[i]
		} else {
			below = a.Q("below")
			a.Op(hexagon.V6_pred_scalar2, below, a.Imm(i*e.pitch))
		}
		z := a.V("x")
		a.Op(hexagon.V6_vmux, z, below, x, y)
		x = z
	}
	return x
}
