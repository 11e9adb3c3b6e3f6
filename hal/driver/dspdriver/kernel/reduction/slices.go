package reduction

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A reduction sees a value as slices: one slice for each index along the reduced axes, with
// the elements of all rows; a lane is a row. A slice is a whole number of vectors.

// Function reduces the slices of a vector of rows. Its type must be comparable: it is
// part of the key of Slices.
type Function interface {
	Name() string
	// Form is how many arguments Emit gets as vectors, and how many vectors of results
	// there are per vector of rows.
	Form() (words, out int)
	Emit(b *hvx.Builder, s *Walk, c []codegen.Reg)
}

// Slices is the kernel whose entries each reduce the slices of one vector of rows.
type Slices struct{ F Function }

// Name implements hvx.Kernel.
func (k Slices) Name() string { return "reduce_" + k.F.Name() }

// Words of a slice entry: the vector in the first slice and in the result, the
// number of slices and their distance, and the box of all for l2fetch.
const (
	entryIn = iota
	reductionOut
	reductionCount
	reductionStep
	reductionBox // two words on eight bytes
	EntryWords   = reductionBox + 2
)

// Walk is the walk of a kernel.
type Walk struct {
	in, out, count, step codegen.Reg
}

// Emit implements hvx.Kernel. Arguments: table, entries, words.
func (k Slices) Emit(a *hvx.Builder) {
	words, _ := k.F.Form()
	in := a.Args([]string{"table", "entries", "c0", "c1"}[:2+words]...)
	table, entries := in[0], in[1]
	var c []codegen.Reg
	for _, r := range in[2:] {
		c = append(c, a.Splat(r, "constant"))
	}
	a.Repeat(entries, func() {
		s := &Walk{a.Word(table, entryIn, "in"), a.Word(table, reductionOut, "out"), a.Word(table, reductionCount, "slices"), a.Word(table, reductionStep, "step")}
		box := a.RR("box")
		a.Op(hexagon.L2_loadrd_io, box, table, 4*reductionBox).Loads(hvx.AliasConst)
		a.Op(hexagon.Y5_l2fetch, s.in, box)
		a.Bump(table, 4*EntryWords)
		k.F.Emit(a, s, c)
	})
	a.Ret()
}

// each visits the vectors of all slices; from is advanced.
func (s *Walk) each(a *hvx.Builder, from codegen.Reg, visit func(x codegen.Reg)) {
	a.Loop0(s.count, func() {
		visit(a.Load(from, 0, hvx.AliasIn, "x"))
		a.Op(hexagon.A2_add, from, from, s.step)
	})
}

// Fold reduces with one instruction and bounds the result of bytes by the constant.
type Fold struct{ Op hexagon.Op }

func (f Fold) Name() string         { return "fold_" + f.Op.String() }
func (Fold) Form() (words, out int) { return 1, 1 }

func (f Fold) Emit(a *hvx.Builder, s *Walk, c []codegen.Reg) {
	v := a.V("result")
	a.LoadTo(v, s.in, 0, hvx.AliasIn)
	s.each(a, s.in, func(x codegen.Reg) { a.Op(f.Op, v, v, x) })
	a.Op(hexagon.V6_vminub, v, v, c[0])
	a.Store(s.out, 0, v, hvx.AliasOut)
}

// Arg is ARGMAX or ARGMIN of words: the index of the first of the greatest, or of the
// least. The constant is 1.
type Arg struct{ Least bool }

func (f Arg) Name() string         { return "arg" + hvx.Flag(f.Least, "_least") }
func (Arg) Form() (words, out int) { return 1, 1 }

func (f Arg) Emit(a *hvx.Builder, s *Walk, c []codegen.Reg) {
	best, index, at := a.V("best"), a.V("index"), a.V("at")
	a.LoadTo(best, s.in, 0, hvx.AliasIn)
	a.Op(hexagon.V6_vxor, index, best, best)
	a.Op(hexagon.V6_vxor, at, best, best)
	s.each(a, s.in, func(x codegen.Reg) {
		q := a.Q("better")
		if f.Least {
			a.Op(hexagon.V6_vgtw, q, best, x)
		} else {
			a.Op(hexagon.V6_vgtw, q, x, best)
		}
		a.Op(hexagon.V6_vmux, best, q, x, best)
		a.Op(hexagon.V6_vmux, index, q, at, index)
		a.Op(hexagon.V6_vaddw, at, at, c[0])
	})
	a.Store(s.out, 0, index, hvx.AliasOut)
}
