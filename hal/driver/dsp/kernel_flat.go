package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// flatKernel computes vectors of a result from vectors at the same place of its
// operands. Operand i takes in[i] vectors per step, the result out.
type flatKernel struct {
	name string
	in   []int
	out  int
	// splats are how many words of arguments the body gets as vectors.
	splats int
	stream bool // the operands are likely not in L2: bring them there entry by entry
	body   func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg
}

// generate writes the kernel. Arguments: table of (operands, result, steps),
// entries, words.
func (k *flatKernel) generate(a *hvx.Builder) {
	names := []string{"table", "entries", "c0", "c1", "c2"}
	in := a.Args(names[:2+k.splats]...)
	table, entries := in[0], in[1]
	var c []codegen.Reg
	for _, r := range in[2:] {
		c = append(c, a.Splat(r, "constant"))
	}
	a.Repeat(entries, func() {
		var ptr []codegen.Reg
		for i := range len(k.in) + 1 {
			ptr = append(ptr, a.Word(table, i, "at"))
		}
		steps := a.Word(table, len(ptr), "steps")
		a.Bump(table, 4*(len(ptr)+1))
		dst := ptr[len(k.in)]
		for i, n := range k.in {
			if k.stream {
				lines := a.R("lines")
				a.Op(hexagon.M2_mpyi, lines, steps, a.Imm(n))
				a.Bring(ptr[i], lines)
			}
		}
		a.Loop0(steps, func() {
			var x [][]codegen.Reg
			for i, n := range k.in {
				var v []codegen.Reg
				for range n {
					r := a.V("x")
					a.Op(hexagon.V6_vL32b_pi, r, ptr[i], 1).Loads(hvx.AliasIn)
					v = append(v, r)
				}
				x = append(x, v)
			}
			for _, r := range k.body(a, x, c) {
				a.Op(hexagon.V6_vS32b_pi, dst, 1, r).Stores(hvx.AliasOut)
			}
		})
	})
	a.Ret()
}

// flatOp makes a kernel of vectors of one size whose body is one or a few
// operations.
func flatOp(name string, inputs, splats int, f func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg)) *flatKernel {
	k := &flatKernel{name: "flat_" + name, out: 1, splats: splats}
	for range inputs {
		k.in = append(k.in, 1)
	}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
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

// simpleKernel is one instruction on two operands.
func simpleKernel(name string, op hexagon.Op) *flatKernel {
	return flatOp(name, 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) { a.Op(op, out, x[0], x[1]) })
}

// truthKernel is op on operands that are brought to 0 and 1 first; the constant
// is 1 in every byte.
func truthKernel(name string, op hexagon.Op) *flatKernel {
	return flatOp(name, 2, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		p, q := a.V("p"), a.V("q")
		a.Op(hexagon.V6_vminub, p, x[0], c[0])
		a.Op(hexagon.V6_vminub, q, x[1], c[0])
		a.Op(op, out, p, q)
	})
}

// notKernel is LOGICAL_NOT of bytes.
func notKernel() *flatKernel {
	return flatOp("not", 1, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		t := a.V("truth")
		a.Op(hexagon.V6_vminub, t, x[0], c[0])
		a.Op(hexagon.V6_vxor, out, t, c[0])
	})
}

// intervalKernel is 1 where the first operand is between the others, inclusive,
// or where it is not; constants 1 and 0 in every byte.
func intervalKernel(outside bool) *flatKernel {
	return flatOp("interval"+hvx.Flag(outside, "_not"), 3, 2, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
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

// aboveKernel takes the second operand where the first is greater than the
// constant, the third elsewhere: bytes.
func aboveKernel() *flatKernel {
	return flatOp("above", 3, 1, func(a *hvx.Builder, out codegen.Reg, x, c []codegen.Reg) {
		q := a.Q("above")
		a.Op(hexagon.V6_vgtub, q, x[0], c[0])
		a.Op(hexagon.V6_vmux, out, q, x[1], x[2])
	})
}

// selectWordsKernel is aboveKernel for words, with a byte for each as the first
// operand.
func selectWordsKernel() *flatKernel {
	k := &flatKernel{name: "flat_select_words", in: []int{1, 4, 4}, out: 4, splats: 1}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
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

// wordMulKernel is the low half of 32-bit products.
func wordMulKernel() *flatKernel {
	return flatOp("mul_words", 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		a.Op(hexagon.V6_vassign, out, a.MulWords(x[0], x[1]))
	})
}

// compareWordsKernel compares words; the constants are 1 and 0 in every word.
func compareWordsKernel(equal, swap, not bool) *flatKernel {
	k := &flatKernel{name: "flat_compare_" + hvx.Flag(equal, "e") + hvx.Flag(swap, "s") + hvx.Flag(not, "n"), in: []int{4, 4}, out: 1, splats: 2}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
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

// widenWordsKernel makes words from unsigned bytes and subtracts the constant.
func widenWordsKernel() *flatKernel {
	k := &flatKernel{name: "flat_widen", in: []int{1}, out: 4, splats: 1}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
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

// narrowWordsKernel adds the constant to words and makes unsigned bytes of
// them, saturating.
func narrowWordsKernel() *flatKernel {
	k := &flatKernel{name: "flat_narrow", in: []int{4}, out: 1, splats: 1}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
		var w [4]codegen.Reg
		for i := range w {
			w[i] = a.V("sum")
			a.Op(hexagon.V6_vaddw, w[i], x[0][i], c[0])
		}
		return []codegen.Reg{a.NarrowWords(w)}
	}
	return k
}

// flatChunk is how many bytes of operands a thread brings into L2 at a time.
const flatChunk = 16 << 10

// flatStep launches a kernel over whole flat tensors.
func (l *lowering) flatStep(name string, k *flatKernel, out *tensor, in []*tensor, words ...uint32) {
	if len(words) != k.splats {
		panic(fmt.Sprintf("dsp: %s takes %d words, got %d", k.name, k.splats, len(words)))
	}
	l.addStep(name, in, []*tensor{out}, func(l *lowering, s *step) error {
		all := append(append([]*tensor{}, in...), out)
		step := append(append([]int{}, k.in...), k.out)
		steps, perStep := ceilDiv(flatVectors(out), k.out), 0
		for _, n := range k.in {
			perStep += n
		}
		k, name, most := *k, k.name, steps
		cold := 0 // bytes that do not come from L2
		for i, t := range in {
			if l.cold(t) {
				cold += steps * k.in[i] * vecBytes
			}
		}
		if k.stream = cold > 2*flatChunk; k.stream {
			name, most = name+"_stream", max(flatChunk/(perStep*vecBytes), 1)
		}
		kern, err := l.kernel(name, k.generate)
		if err != nil {
			return err
		}
		l.launchTable(s, kern, flatTable(l.parts(steps, most), all, step), len(all)+1, words...)
		return nil
	})
}
