package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Map computes vectors of a result from vectors at the same place of its
// operands. Operand i takes in[i] vectors per step, the result out.
type Map struct {
	Label string
	In    []int
	Out   int
	// splats are how many words of arguments the body gets as vectors.
	Splats int
	Stream bool // the operands are likely not in L2: bring them there entry by entry
	Body   func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg
}

// Emit writes the kernel. Arguments: table of (operands, result, steps),
// entries, words.
func (k *Map) Emit(a *hvx.Builder) {
	names := []string{"table", "entries", "c0", "c1", "c2"}
	in := a.Args(names[:2+k.Splats]...)
	table, entries := in[0], in[1]
	var c []codegen.Reg
	for _, r := range in[2:] {
		c = append(c, a.Splat(r, "constant"))
	}
	a.Repeat(entries, func() {
		var ptr []codegen.Reg
		for i := range len(k.In) + 1 {
			ptr = append(ptr, a.Word(table, i, "at"))
		}
		steps := a.Word(table, len(ptr), "steps")
		a.Bump(table, 4*(len(ptr)+1))
		dst := ptr[len(k.In)]
		for i, n := range k.In {
			if k.Stream {
				lines := a.R("lines")
				a.Op(hexagon.M2_mpyi, lines, steps, a.Imm(n))
				a.Bring(ptr[i], lines)
			}
		}
		a.Loop0(steps, func() {
			var x [][]codegen.Reg
			for i, n := range k.In {
				var v []codegen.Reg
				for range n {
					r := a.V("x")
					a.Op(hexagon.V6_vL32b_pi, r, ptr[i], 1).Loads(hvx.AliasIn)
					v = append(v, r)
				}
				x = append(x, v)
			}
			for _, r := range k.Body(a, x, c) {
				a.Op(hexagon.V6_vS32b_pi, dst, 1, r).Stores(hvx.AliasOut)
			}
		})
	})
	a.Ret()
}

// Function makes a kernel of vectors of one size whose body is one or a few
// operations.
func Function(name string, inputs, splats int, f func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg)) *Map {
	k := &Map{Label: "flat_" + name, Out: 1, Splats: splats}
	for range inputs {
		k.In = append(k.In, 1)
	}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var v []codegen.Reg
		for _, r := range x {
			v = append(v, r[0])
		}
		out := a.V("out")
		f(a, out, v, c)
		return []codegen.Reg{out}
	}
	return k
}

// Instruction is one instruction on two operands.
func Instruction(name string, op hexagon.Op) *Map {
	return Function(name, 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) { a.Op(op, out, x[0], x[1]) })
}

// TruthKernel is op on operands that are brought to 0 and 1 first; the constant
// is 1 in every byte.
func TruthKernel(name string, op hexagon.Op) *Map {
	return Function(name, 2, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		p, q := a.V("p"), a.V("q")
		a.Op(hexagon.V6_vminub, p, x[0], c[0])
		a.Op(hexagon.V6_vminub, q, x[1], c[0])
		a.Op(op, out, p, q)
	})
}

// NotKernel is LOGICAL_NOT of bytes.
func NotKernel() *Map {
	return Function("not", 1, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		t := a.V("truth")
		a.Op(hexagon.V6_vminub, t, x[0], c[0])
		a.Op(hexagon.V6_vxor, out, t, c[0])
	})
}

// IntervalKernel is 1 where the first operand is between the others, inclusive,
// or where it is not; constants 1 and 0 in every byte.
func IntervalKernel(outside bool) *Map {
	return Function("interval"+hvx.Flag(outside, "_not"), 3, 2, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		below, above := a.Q("below"), a.Q("above")
		a.Op(hexagon.V6_vgtub, below, x[1], x[0])
		a.Op(hexagon.V6_vgtub, above, x[0], x[2])
		q := a.Q("outside")
		a.Op(hexagon.V6_pred_or, q, below, above)
		if outside {
			a.Op(hexagon.V6_vmux, out, q, c[0], c[1])
		} else {
			a.Op(hexagon.V6_vmux, out, q, c[1], c[0])
		}
	})
}

// AboveKernel takes the second operand where the first is greater than the
// constant, the third elsewhere: bytes.
func AboveKernel() *Map {
	return Function("above", 3, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		q := a.Q("above")
		a.Op(hexagon.V6_vgtub, q, x[0], c[0])
		a.Op(hexagon.V6_vmux, out, q, x[1], x[2])
	})
}

// SelectWordsKernel is AboveKernel for words, with a byte for each as the first
// operand.
func SelectWordsKernel() *Map {
	k := &Map{Label: "flat_select_words", In: []int{1, 4, 4}, Out: 4, Splats: 1}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var out []codegen.Reg
		for i, w := range a.WidenBytes(x[0][0]) {
			q, r := a.Q("above"), a.V("selected")
			a.Op(hexagon.V6_vgtw, q, w, c[0])
			a.Op(hexagon.V6_vmux, r, q, x[1][i], x[2][i])
			out = append(out, r)
		}
		return out
	}
	return k
}

// WordMulKernel is the low half of 32-bit products.
func WordMulKernel() *Map {
	return Function("mul_words", 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		a.Op(hexagon.V6_vassign, out, a.MulWords(x[0], x[1]))
	})
}

// CompareWordsKernel compares words; the constants are 1 and 0 in every word.
func CompareWordsKernel(equal, swap, not bool) *Map {
	k := &Map{Label: "flat_compare_" + hvx.Flag(equal, "e") + hvx.Flag(swap, "s") + hvx.Flag(not, "n"), In: []int{4, 4}, Out: 1, Splats: 2}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var w [4]codegen.Reg
		for i := range w {
			p, q := x[0][i], x[1][i]
			if swap {
				p, q = q, p
			}
			holds := a.Q("holds")
			w[i] = a.V("truth")
			if equal {
				a.Op(hexagon.V6_veqw, holds, p, q)
			} else {
				a.Op(hexagon.V6_vgtw, holds, p, q)
			}
			if not {
				a.Op(hexagon.V6_vmux, w[i], holds, c[1], c[0])
			} else {
				a.Op(hexagon.V6_vmux, w[i], holds, c[0], c[1])
			}
		}
		return []codegen.Reg{a.NarrowWords(w)}
	}
	return k
}

// WidenWordsKernel makes words from unsigned bytes and subtracts the constant.
func WidenWordsKernel() *Map {
	k := &Map{Label: "flat_widen", In: []int{1}, Out: 4, Splats: 1}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var out []codegen.Reg
		for _, w := range a.WidenBytes(x[0][0]) {
			r := a.V("word")
			a.Op(hexagon.V6_vsubw, r, w, c[0])
			out = append(out, r)
		}
		return out
	}
	return k
}

// NarrowWordsKernel adds the constant to words and makes unsigned bytes of
// them, saturating.
func NarrowWordsKernel() *Map {
	k := &Map{Label: "flat_narrow", In: []int{4}, Out: 1, Splats: 1}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var w [4]codegen.Reg
		for i := range w {
			w[i] = a.V("sum")
			a.Op(hexagon.V6_vaddw, w[i], x[0][i], c[0])
		}
		return []codegen.Reg{a.NarrowWords(w)}
	}
	return k
}
