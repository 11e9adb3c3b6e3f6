package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A reduction sees a value as slices: one slice for each index along the reduced axes, with
// the elements of all rows; a lane is a row. A slice is a whole number of vectors.

// reductionKernel is a kernel whose entries each reduce the slices of one vector of rows.
type reductionKernel struct {
	name  string
	words int // arguments that the body gets as vectors
	wide  int // vectors of the result per vector of rows; 0 is 1
	body  func(a *hvx.Builder, s *reductionWalk, c []codegen.Reg)
}

// Words of a slice entry: the vector in the first slice and in the result, the
// number of slices and their distance, and the box of all for l2fetch.
const (
	reductionIn = iota
	reductionOut
	reductionCount
	reductionStep
	reductionBox   // two words on eight bytes
	reductionWords = reductionBox + 2
)

// reductionWalk is the walk of a kernel.
type reductionWalk struct {
	in, out, count, step codegen.Reg
}

// generate writes the kernel. Arguments: table, entries, words.
func (k *reductionKernel) generate(a *hvx.Builder) {
	in := a.Args([]string{"table", "entries", "c0", "c1"}[:2+k.words]...)
	table, entries := in[0], in[1]
	var c []codegen.Reg
	for _, r := range in[2:] {
		c = append(c, a.Splat(r, "constant"))
	}
	a.Repeat(entries, func() {
		s := &reductionWalk{a.Word(table, reductionIn, "in"), a.Word(table, reductionOut, "out"), a.Word(table, reductionCount, "slices"), a.Word(table, reductionStep, "step")}
		box := a.RR("box")
		a.Op(hexagon.L2_loadrd_io, box, table, 4*reductionBox).Loads(hvx.AliasConst)
		a.Op(hexagon.Y5_l2fetch, s.in, box)
		a.Bump(table, 4*reductionWords)
		k.body(a, s, c)
	})
	a.Ret()
}

// each visits the vectors of all slices; from is advanced.
func (s *reductionWalk) each(a *hvx.Builder, from codegen.Reg, visit func(x codegen.Reg)) {
	a.Loop0(s.count, func() {
		visit(a.Load(from, 0, hvx.AliasIn, "x"))
		a.Op(hexagon.A2_add, from, from, s.step)
	})
}

// foldKernel reduces with one instruction and bounds the result of bytes by
// the constant.
func foldKernel(op hexagon.Op) *reductionKernel {
	return &reductionKernel{name: "fold_" + op.Form().Name, words: 1, body: func(a *hvx.Builder, s *reductionWalk, c []codegen.Reg) {
		v := a.V("result")
		a.LoadTo(v, s.in, 0, hvx.AliasIn)
		s.each(a, s.in, func(x codegen.Reg) { a.Op(op, v, v, x) })
		a.Op(hexagon.V6_vminub, v, v, c[0])
		a.Store(s.out, 0, v, hvx.AliasOut)
	}}
}

// argKernel is ARGMAX or ARGMIN of words: the index of the first of the
// greatest. The constant is 1.
func argKernel(least bool) *reductionKernel {
	return &reductionKernel{name: "arg" + hvx.Flag(least, "_least"), words: 1, body: func(a *hvx.Builder, s *reductionWalk, c []codegen.Reg) {
		best, index, at := a.V("best"), a.V("index"), a.V("at")
		a.LoadTo(best, s.in, 0, hvx.AliasIn)
		a.Op(hexagon.V6_vxor, index, best, best)
		a.Op(hexagon.V6_vxor, at, best, best)
		s.each(a, s.in, func(x codegen.Reg) {
			q := a.Q("better")
			if least {
				a.Op(hexagon.V6_vgtw, q, best, x)
			} else {
				a.Op(hexagon.V6_vgtw, q, x, best)
			}
			a.Op(hexagon.V6_vmux, best, q, x, best)
			a.Op(hexagon.V6_vmux, index, q, at, index)
			a.Op(hexagon.V6_vaddw, at, at, c[0])
		})
		a.Store(s.out, 0, index, hvx.AliasOut)
	}}
}

// inverseRoot is 1/sqrt of every word, which is 0 to 2^29-1, as a factor in
// Q0.31 and a right shift: five Newton steps on a value brought into [1/4, 1) in
// Q3.28.
func inverseRoot(a *hvx.Builder, sum codegen.Reg) (factor, right codegen.Reg) {
	one, zero := a.Splat(a.Imm(1), "one"), a.Zero()
	pairs, double, x := a.V("pairs"), a.V("double"), a.V("aligned")
	a.Op(hexagon.V6_vcl0w, pairs, sum)
	a.Op(hexagon.V6_vsubw, pairs, pairs, one)
	a.Op(hexagon.V6_vasrw, pairs, pairs, a.Imm(1))
	a.Op(hexagon.V6_vsubw, pairs, pairs, one)
	a.Op(hexagon.V6_vaslw, double, pairs, a.Imm(1))
	a.Op(hexagon.V6_vaslwv, x, sum, double)
	half := a.V("half")
	a.Op(hexagon.V6_vasrw, half, x, a.Imm(1))
	a.Op(hexagon.V6_vavgwrnd, half, half, zero)
	r := a.Splat(a.Imm(1<<28), "root")
	threeHalves := a.Splat(a.Imm(3<<27), "3/2")
	for range 5 {
		cube := a.Doubled(a.MulHigh(a.MulHigh(r, r), r), 6)
		next := a.V("root")
		a.Op(hexagon.V6_vsubw, next, a.MulHigh(threeHalves, r), a.MulHigh(half, cube))
		r = a.Doubled(next, 3)
	}
	r = a.MulHigh(r, a.Splat(a.Imm(1518500250), "sqrt 1/2"))
	// Right shift 11 - pairs; where that is negative the factor shifts left.
	shift, left := a.V("shift"), a.V("left")
	a.Op(hexagon.V6_vsubw, shift, a.Splat(a.Imm(11), "eleven"), pairs)
	right = a.V("right")
	a.Op(hexagon.V6_vmaxw, right, shift, zero)
	a.Op(hexagon.V6_vsubw, left, right, shift)
	a.Op(hexagon.V6_vaslwv, r, r, left)
	// 0 and 1 have almost 1.
	q := a.Q("more")
	factor = a.V("factor")
	a.Op(hexagon.V6_vgtw, q, sum, one)
	a.Op(hexagon.V6_vmux, factor, q, r, a.Splat(a.Imm(1<<31-1), "almost one"))
	a.Op(hexagon.V6_vmux, right, q, right, zero)
	return factor, right
}

// reductionSlices is a value laid out in slices.
type reductionSlices struct {
	t           *tensor
	count, rows int // slices, elements of a slice that count
	size        int // bytes of an element
	pitch       int // bytes from slice to slice
}

// intoSlices lays out a value seen as dims; reduced dimensions become slices.
func (l *lowering) intoSlices(in *tensor, dims []uint32, reduced []bool, size int) (reductionSlices, error) {
	s := reductionSlices{count: 1, rows: 1, size: size}
	list := make([]moveDim, len(dims))
	n := size
	for i := len(dims) - 1; i >= 0; i-- {
		d := int(dims[i])
		list[i] = moveDim{d, n, size * s.rows}
		if reduced[i] {
			list[i].dst = s.count // slices; their distance is not known yet
			s.count *= d
		} else {
			s.rows *= d
		}
		n *= d
	}
	if s.count == 0 || s.rows == 0 {
		return s, fmt.Errorf("shape %v has no elements", dims)
	}
	s.pitch = roundUp(s.rows*size, vecBytes)
	if int64(s.pitch)*int64(s.count) > maxArena {
		return s, fmt.Errorf("reduction of %d rows by %d needs too much memory", s.rows, s.count)
	}
	for i := range list {
		if reduced[i] {
			list[i].dst *= s.pitch
		}
	}
	s.t = l.newFlat(in.name+" in slices", s.pitch*s.count, 1)
	return s, l.moveFlat("slices", s.t, in, size, list, 0, 0)
}

// reductionStep launches a kernel over all vectors of rows.
func (l *lowering) reductionStep(name string, k *reductionKernel, out *tensor, s reductionSlices, words ...uint32) {
	l.addStep(name, []*tensor{s.t}, []*tensor{out}, func(l *lowering, st *step) error {
		kern, err := l.kernel("reduce_"+k.name, k.generate)
		if err != nil {
			return err
		}
		var table []uint32
		low, high := rowBox(vecBytes, s.count, s.pitch)
		for v := 0; v < s.pitch; v += vecBytes {
			table = append(table, s.t.addr+uint32(v), out.addr+uint32(v*max(k.wide, 1)), uint32(s.count), uint32(s.pitch), low, high)
		}
		l.launchTable(st, kern, table, reductionWords, words...)
		return nil
	})
}
