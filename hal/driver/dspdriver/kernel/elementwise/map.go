package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Function computes vectors of a result from vectors at the same place of its
// operands. Its type must be comparable: it is part of the key of a Map.
type Function interface {
	// Name is for the names of kernels.
	Name() string
	// Form is what a step reads and makes.
	Form() Form
	// Emit writes a step: x are the vectors of each operand, c the constants. It
	// returns the vectors of the result.
	Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg
}

// Form is what a step of a function reads and makes.
type Form struct {
	In        []int // vectors of each operand
	Out       int   // vectors of the result
	Constants int   // words of arguments that Emit gets as vectors
}

// simple is the form of functions that make a vector of a vector of each operand.
func simple(operands, constants int) Form {
	f := Form{Out: 1, Constants: constants}
	for range operands {
		f.In = append(f.In, 1)
	}
	return f
}

// Map is the kernel that applies a function to whole operands.
type Map struct {
	F      Function
	Stream bool // the operands are likely not in L2: bring them there entry by entry
}

// Name implements hvx.Kernel.
func (k Map) Name() string { return "map_" + k.F.Name() + hvx.Flag(k.Stream, "_stream") }

// Emit implements hvx.Kernel. Arguments: table of (operands, result, steps),
// entries, words.
func (k Map) Emit(b *hvx.Builder) {
	form := k.F.Form()
	names := []string{"table", "entries", "c0", "c1", "c2"}
	in := b.Args(names[:2+form.Constants]...)
	table, entries := in[0], in[1]
	var c []codegen.Reg
	for _, r := range in[2:] {
		c = append(c, b.Splat(r, "constant"))
	}
	b.Repeat(entries, func() {
		var ptr []codegen.Reg
		for i := range len(form.In) + 1 {
			ptr = append(ptr, b.Word(table, i, "at"))
		}
		steps := b.Word(table, len(ptr), "steps")
		b.Bump(table, 4*(len(ptr)+1))
		dst := ptr[len(form.In)]
		for i, n := range form.In {
			if k.Stream {
				lines := b.R("lines")
				b.Op(hexagon.M2_mpyi, lines, steps, b.Imm(n))
				b.Bring(ptr[i], lines)
			}
		}
		b.Loop0(steps, func() {
			var x [][]codegen.Reg
			for i, n := range form.In {
				var v []codegen.Reg
				for range n {
					r := b.V("x")
					b.Op(hexagon.V6_vL32b_pi, r, ptr[i], 1).Loads(hvx.AliasIn)
					v = append(v, r)
				}
				x = append(x, v)
			}
			for _, r := range k.F.Emit(b, x, c) {
				b.Op(hexagon.V6_vS32b_pi, dst, 1, r).Stores(hvx.AliasOut)
			}
		})
	})
	b.Ret()
}
