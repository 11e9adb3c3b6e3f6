package gpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// requantize lowers REQUANTIZE: every lane reads its byte's entry of a table of
// 256 constants.
func (l *lowering) requantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	t := u.RequantizeTable(l.view)
	table := l.consts.reserve(len(t))
	copy(l.consts.data[table:], t[:])
	l.flat(&flat{name: "requantize", dims: ints(u.Dims), in: []*tensor{x}, out: out, f: func(a *asm, x []codegen.Reg) codegen.Reg {
		index := a.op2(rdna2.V_AND_B32_E32, a.v("index"), 255, x[0]) // a signed byte is sign-extended
		return a.load(u8, a.pointer(consts, table, "table"), index, 0, "entry")
	}})
	return nil
}
