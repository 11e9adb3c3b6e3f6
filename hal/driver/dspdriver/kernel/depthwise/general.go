package depthwise

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// rowSet is how many rows of the window share a word.
const rowSet = 3

// sets is the number of sets of rows.
func (d *Kernel) sets() int { return hvx.CeilDiv(d.KH, rowSet) }

// weight is the number of a weight vector.
func (d *Kernel) weight(i, part, j int) int {
	n := 0
	for k := range i {
		p := d.Parts.at(k)
		n += p[0] + p[1] + p[2] + p[3]
	}
	for q := range part + 1 {
		for l, parts := range d.Parts.at(i) {
			if parts > q && (q < part || l < j) {
				n++
			}
		}
	}
	return n
}

// header is the number of vectors before a record's weights.
func (d *Kernel) header() int {
	return 4 * (1 + d.Rq.Vectors())
}

// weights is the number of weight vectors.
func (d *Kernel) weights() int {
	if d.Direct3x3.on() {
		return d.Direct3x3.vectors()
	}
	n := 0
	for i := range d.Parts.len() {
		p := d.Parts.at(i)
		n += p[0] + p[1] + p[2] + p[3]
	}
	return n
}

func (d *Kernel) Record() int { return (d.header() + d.weights()) * hvx.VectorBytes }

// outStep is the distance of output vectors.
func (d *Kernel) outStep() int { return d.Pitch * d.PerVector }

// quad is a vector for each j of LanePhase, as two pairs.
type quad [2]codegen.Reg

func newQuad(a *hvx.Builder, name string) quad { return quad{a.VV(name), a.VV(name)} }

// at is vector j.
func (q quad) at(j int) codegen.Reg { return hvx.Half(q[j/2], j%2) }

func (q quad) all() [4]codegen.Reg { return [4]codegen.Reg{q.at(0), q.at(1), q.at(2), q.at(3)} }

// loadResident loads the first weights into registers.
func (e *kernelCode) loadResident(n int) {
	e.kept = nil
	for i := range min(e.weights(), n) {
		e.kept = append(e.kept, e.a.V("w"))
		e.w.Load(e.kept[i], e.header()+i)
	}
}

// windowWeights is how many weight vectors stay in registers.
const windowWeights = 4

// window makes one output vector from all columns of its window.
func (e *kernelCode) window(src, dst codegen.Reg) {
	e.a.SetPhase(hvx.PhaseProducts)
	sum := newQuad(e.a, "sum")
	for col := range e.KW {
		for set := range e.sets() {
			x := newQuad(e.a, "words")
			e.words(x, set, func(row int) codegen.Reg {
				return e.input(src, row*e.RowStep+col*e.Dilation*e.Pitch)
			}, nil)
			e.multiply(sum, x, col, set, col+set == 0)
		}
	}
	e.store(e.ready(sum, nil), dst, 0)
}

// words interleaves the rows of a set: word i of vector j has the bytes of
// channel 4i + LanePhase[j]. With a place to load from, a row that one instruction
// reads is not loaded into a register.
func (e *kernelCode) words(x quad, set int, load func(row int) codegen.Reg, place func(row int) (codegen.Reg, int)) {
	a, n, from := e.a, min(rowSet, e.KH-set*rowSet), set*rowSet
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
		if once >= n || rows[once].Valid() || place == nil || e.Duplicate.at(set) == once {
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
	if r := e.Duplicate.at(set); r >= 0 {
		h := bytes(r, 2, 2)
		high = [2]codegen.Reg{hvx.Lo(h), hvx.Hi(h)}
	} else {
		high = [2]codegen.Reg{row(2), row(2)}
	}
	for k := range x {
		a.Op(hexagon.V6_vshufoeh, x[k], high[k], hvx.Half(low, k))
	}
}

// multiply adds the products of a column to sums, which begin as the biases.
func (e *kernelCode) multiply(sum, x quad, col, set int, begin bool) {
	a, i := e.a, col*e.sets()+set
	parts := e.Parts.at(i)
	for part := range slices.Max(parts[:]) {
		for k := range x {
			t := a.VV("products")
			for j := range 2 {
				if parts[2*k+j] > part {
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
func (e *kernelCode) addTo(sum, t codegen.Reg, i, k, part int) {
	switch first, second := e.Parts.at(i).has(k, part); {
	case first && second:
		e.a.Op(hexagon.V6_vaddw_dv, sum, sum, t)
	case first:
		e.a.Op(hexagon.V6_vaddw, hvx.Lo(sum), hvx.Lo(sum), hvx.Lo(t))
	case second:
		e.a.Op(hexagon.V6_vaddw, hvx.Hi(sum), hvx.Hi(sum), hvx.Hi(t))
	}
}

// product multiplies with weight vector i.
func (e *kernelCode) product(to, x codegen.Reg, i int) {
	if i < len(e.kept) {
		e.a.Op(hexagon.V6_vrmpybusv, to, x, e.kept[i])
		return
	}
	base, off := e.w.At(e.header() + i)
	e.a.OpLoading(hvx.AliasConst, 2, base, off, hexagon.V6_vrmpybusv, to, x, e.a.V("w"))
}

// ready makes halves of the sums where halves are multiplied, in the given
// registers if there are any.
func (e *kernelCode) ready(sum quad, to []codegen.Reg) []codegen.Reg {
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
func (e *kernelCode) store(ready []codegen.Reg, dst codegen.Reg, off int) {
	a := e.a
	a.SetPhase(hvx.PhaseRequantize)
	if e.rq.ByteFactor {
		base, n := a.SplitOffset(dst, off)
		e.rq.StoreBytes([2]codegen.Reg(ready), base, n)
		a.SetPhase(hvx.PhaseNone)
		return
	}
	var v codegen.Reg
	if e.rq.Halfword {
		v = e.rq.ScaleHalfwords(ready, true)
	} else {
		v = e.rq.Pack([4]codegen.Reg(ready), e.channelVectors, true)
	}
	a.Store(dst, off, v, hvx.AliasOut)
	a.SetPhase(hvx.PhaseNone)
}

func (e *kernelCode) channelVectors(j int) hvx.ChannelVectors {
	if !e.Kernel.Rq.PerChannel {
		return hvx.ChannelVectors{}
	}
	l := hvx.ChannelVectors{Mult: e.a.V("mult")}
	e.w.Load(l.Mult, 4+j)
	if e.Kernel.Rq.Unshifted || !e.Kernel.Direct3x3.on() {
		l.Shift = e.a.V("shift")
		e.w.Load(l.Shift, 8+j)
	} else {
		l.ShiftAt, l.ShiftOff = e.w.At(8 + j)
	}
	if e.Kernel.Rq.Left {
		l.Left = e.a.V("left")
		e.w.Load(l.Left, 12+j)
	}
	return l
}

// manyPositions are more than there are predicates.
const manyPositions = 4

// positionMasks are the predicates that select the lanes before each cell, where
// cells must be gathered one by one.
func (e *kernelCode) positionMasks() {
	if e.PerVector == 1 || e.Stride == 1 || e.PerVector > manyPositions {
		return
	}
	e.below = make([]codegen.Reg, e.PerVector)
	for i := 1; i < e.PerVector; i++ {
		e.below[i] = e.a.Q("below")
		e.a.Op(hexagon.V6_pred_scalar2, e.below[i], e.a.Imm(i*e.Pitch))
	}
}

// input loads the vector of inputs that begins off behind src.
func (e *kernelCode) input(src codegen.Reg, off int) codegen.Reg {
	a := e.a
	if e.PerVector == 1 {
		return a.Load(src, off, hvx.AliasIn, "x")
	}
	x := a.LoadUnaligned(src, off, hvx.AliasIn, "x")
	for i := 1; i < e.PerVector && e.Stride > 1; i++ {
		y := a.LoadUnaligned(src, off+i*(e.Stride-1)*e.Pitch, hvx.AliasIn, "y")
		var below codegen.Reg
		if e.PerVector <= manyPositions {
			below = e.below[i]
		} else {
			below = a.Q("below")
			a.Op(hexagon.V6_pred_scalar2, below, a.Imm(i*e.Pitch))
		}
		z := a.V("x")
		a.Op(hexagon.V6_vmux, z, below, x, y)
		x = z
	}
	return x
}
