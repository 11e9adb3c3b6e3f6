package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Instruction is one instruction on two vectors.
type Instruction struct{ Op hexagon.Op }

func (f Instruction) Name() string { return f.Op.String() }
func (Instruction) Form() Form     { return simple(2, 0) }

func (f Instruction) Emit(b *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	b.Op(f.Op, out, x[0][0], x[1][0])
	return []codegen.Reg{out}
}

// Truth is an instruction on two operands that are brought to 0 and 1 first; the
// constant is 1 in every byte.
type Truth struct{ Op hexagon.Op }

func (f Truth) Name() string { return "truth_" + f.Op.String() }
func (Truth) Form() Form     { return simple(2, 1) }

func (f Truth) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	out, p, q := b.V("out"), b.V("p"), b.V("q")
	b.Op(hexagon.V6_vminub, p, x[0][0], c[0])
	b.Op(hexagon.V6_vminub, q, x[1][0], c[0])
	b.Op(f.Op, out, p, q)
	return []codegen.Reg{out}
}

// Not is LOGICAL_NOT of bytes; the constant is 1 in every byte.
type Not struct{}

func (Not) Name() string { return "not" }
func (Not) Form() Form   { return simple(1, 1) }

func (Not) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	out, t := b.V("out"), b.V("truth")
	b.Op(hexagon.V6_vminub, t, x[0][0], c[0])
	b.Op(hexagon.V6_vxor, out, t, c[0])
	return []codegen.Reg{out}
}

// Interval is 1 where the first operand is between the others, inclusive, or where
// it is not; the constants are 1 and 0 in every byte.
type Interval struct{ Outside bool }

func (f Interval) Name() string { return "interval" + hvx.Flag(f.Outside, "_not") }
func (Interval) Form() Form     { return simple(3, 2) }

func (f Interval) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	out, below, above, q := b.V("out"), b.Q("below"), b.Q("above"), b.Q("outside")
	b.Op(hexagon.V6_vgtub, below, x[1][0], x[0][0])
	b.Op(hexagon.V6_vgtub, above, x[0][0], x[2][0])
	b.Op(hexagon.V6_pred_or, q, below, above)
	if f.Outside {
		b.Op(hexagon.V6_vmux, out, q, c[0], c[1])
	} else {
		b.Op(hexagon.V6_vmux, out, q, c[1], c[0])
	}
	return []codegen.Reg{out}
}

// SelectAbove selects the second operand where the first is greater than the
// constant, the third elsewhere, by bytes.
type SelectAbove struct{}

func (SelectAbove) Name() string { return "above" }
func (SelectAbove) Form() Form   { return simple(3, 1) }

func (SelectAbove) Emit(b *hvx.Builder, x [][]codegen.Reg, c []codegen.Reg) []codegen.Reg {
	out, q := b.V("out"), b.Q("above")
	b.Op(hexagon.V6_vgtub, q, x[0][0], c[0])
	b.Op(hexagon.V6_vmux, out, q, x[1][0], x[2][0])
	return []codegen.Reg{out}
}
