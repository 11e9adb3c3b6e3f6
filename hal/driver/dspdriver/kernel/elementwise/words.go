package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// SelectWords is SelectAbove for words, with a byte for each as the first operand.
type SelectWords struct{}

func (SelectWords) Name() string { return "select_words" }
func (SelectWords) Form() Form   { return Form{In: []int{1, 4, 4}, Out: 4, Constants: 1} }

func (SelectWords) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	var out []codegen.Reg
	for i, w := range b.WidenBytes(x[0][0]) {
		q, r := b.Q("above"), b.V("selected")
		b.Op(hexagon.V6_vgtw, q, w, c[0])
		b.Op(hexagon.V6_vmux, r, q, x[1][i], x[2][i])
		out = append(out, r)
	}
	return out
}

// MulWords is the low word of 32-bit products.
type MulWords struct{}

func (MulWords) Name() string { return "mul_words" }
func (MulWords) Form() Form   { return simple(2, 0) }

func (MulWords) Emit(b *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	b.Op(hexagon.V6_vassign, out, b.MulWords(x[0][0], x[1][0]))
	return []codegen.Reg{out}
}

// AbsWords is the magnitude of words.
type AbsWords struct{}

func (AbsWords) Name() string { return "abs_words" }
func (AbsWords) Form() Form   { return simple(1, 0) }

func (AbsWords) Emit(b *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	b.Op(hexagon.V6_vabsw, out, x[0][0])
	return []codegen.Reg{out}
}

// NegWords is the constant, which is 0, minus words.
type NegWords struct{}

func (NegWords) Name() string { return "neg_words" }
func (NegWords) Form() Form   { return simple(1, 1) }

func (NegWords) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	b.Op(hexagon.V6_vsubw, out, c[0], x[0][0])
	return []codegen.Reg{out}
}

// CompareWords compares words: whether they are equal, else whether the first, or
// with Swap the second, is greater; Not is the contrary. The constants are 1 and 0
// in every word, the results bytes.
type CompareWords struct{ Equal, Swap, Not bool }

func (f CompareWords) Name() string {
	return "compare_" + hvx.Flag(f.Equal, "e") + hvx.Flag(f.Swap, "s") + hvx.Flag(f.Not, "n")
}
func (CompareWords) Form() Form { return Form{In: []int{4, 4}, Out: 1, Constants: 2} }

func (f CompareWords) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	var w [4]codegen.Reg
	for i := range w {
		p, q := x[0][i], x[1][i]
		if f.Swap {
			p, q = q, p
		}
		holds := b.Q("holds")
		w[i] = b.V("truth")
		if f.Equal {
			b.Op(hexagon.V6_veqw, holds, p, q)
		} else {
			b.Op(hexagon.V6_vgtw, holds, p, q)
		}
		if f.Not {
			b.Op(hexagon.V6_vmux, w[i], holds, c[1], c[0])
		} else {
			b.Op(hexagon.V6_vmux, w[i], holds, c[0], c[1])
		}
	}
	return []codegen.Reg{b.NarrowWords(w)}
}

// WidenWords makes words from unsigned bytes and subtracts the constant.
type WidenWords struct{}

func (WidenWords) Name() string { return "widen" }
func (WidenWords) Form() Form   { return Form{In: []int{1}, Out: 4, Constants: 1} }

func (WidenWords) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	var out []codegen.Reg
	for _, w := range b.WidenBytes(x[0][0]) {
		r := b.V("word")
		b.Op(hexagon.V6_vsubw, r, w, c[0])
		out = append(out, r)
	}
	return out
}

// NarrowWords adds the constant to words and makes unsigned bytes of them,
// saturating.
type NarrowWords struct{}

func (NarrowWords) Name() string { return "narrow" }
func (NarrowWords) Form() Form   { return Form{In: []int{4}, Out: 1, Constants: 1} }

func (NarrowWords) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	var w [4]codegen.Reg
	for i := range w {
		w[i] = b.V("sum")
		b.Op(hexagon.V6_vaddw, w[i], x[0][i], c[0])
	}
	return []codegen.Reg{b.NarrowWords(w)}
}
