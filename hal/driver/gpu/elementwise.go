package gpu

import (
	"fmt"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// binaries are the operations of two tensors, in float32.
var binaries = map[nn.OperationType]func(a *asm, x, y codegen.Reg) codegen.Reg{
	nn.OpAdd:     two(rdna2.V_ADD_F32_E32),
	nn.OpSub:     two(rdna2.V_SUB_F32_E32),
	nn.OpMul:     two(rdna2.V_MUL_F32_E32),
	nn.OpMaximum: two(rdna2.V_MAX_F32_E32),
	nn.OpMinimum: two(rdna2.V_MIN_F32_E32),
	nn.OpDiv:     (*asm).divide,
	nn.OpPrelu: func(a *asm, x, y codegen.Reg) codegen.Reg {
		m := a.s("negative")
		a.Emit(rdna2.V_CMP_GT_F32_E64, m, 0, x)
		return a.op3(rdna2.V_CNDMASK_B32_E64, a.v("y"), x, a.op2(rdna2.V_MUL_F32_E32, a.v("slope"), x, y), m)
	},
}

func two(op rdna2.Op) func(a *asm, x, y codegen.Reg) codegen.Reg {
	return func(a *asm, x, y codegen.Reg) codegen.Reg { return a.op2(op, a.v("y"), x, y) }
}

// binary lowers ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM and PRELU.
func (l *lowering) binary(op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(e.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	x, err := l.value(e.A)
	if err != nil {
		return err
	}
	y, out, err := l.pair(e.B, e.Output)
	if err != nil {
		return err
	}
	lo, hi := opspec.FloatActRange(e.Act)
	f := binaries[op.Type]
	l.flat(&flat{name: strings.ToLower(op.Type.String()), dims: ints(e.Dims), strides: [][]int{e.StridesA, e.StridesB}, in: []*tensor{x, y}, out: out,
		f: func(a *asm, x []codegen.Reg) codegen.Reg { return a.clamp(f(a, x[0], x[1]), lo, hi) }})
	return nil
}

// unaries are the functions of one tensor, in float32.
var unaries = map[nn.OperationType]func(a *asm, x codegen.Reg) codegen.Reg{
	nn.OpRelu:     rectify(nn.OpRelu),
	nn.OpRelu1:    rectify(nn.OpRelu1),
	nn.OpRelu6:    rectify(nn.OpRelu6),
	nn.OpLogistic: func(a *asm, x codegen.Reg) codegen.Reg { return a.logistic(x, -math.Log2E) },
	nn.OpTanh: func(a *asm, x codegen.Reg) codegen.Reg { // 2*logistic(2x) - 1
		return a.op3(rdna2.V_FMA_F32, a.v("y"), float32(2), a.logistic(x, -2*math.Log2E), float32(-1))
	},
	nn.OpAbs:   one(rdna2.V_MAX_F32_E64, rdna2.Mods{Neg: 2}), // max(x, -x)
	nn.OpNeg:   one(rdna2.V_MUL_F32_E64, rdna2.Mods{}, float32(-1)),
	nn.OpFloor: one(rdna2.V_FLOOR_F32_E32, rdna2.Mods{}),
	nn.OpSqrt:  one(rdna2.V_SQRT_F32_E32, rdna2.Mods{}),
	nn.OpRsqrt: one(rdna2.V_RSQ_F32_E32, rdna2.Mods{}),
	nn.OpLog: func(a *asm, x codegen.Reg) codegen.Reg {
		return a.op2(rdna2.V_MUL_F32_E32, a.v("y"), float32(math.Ln2), a.op1(rdna2.V_LOG_F32_E32, a.v("log2"), x))
	},
	nn.OpHardSwish: func(a *asm, x codegen.Reg) codegen.Reg { // x * min(max(x + 3, 0), 6) / 6
		t := a.clamp(a.op2(rdna2.V_ADD_F32_E32, a.v("shifted"), float32(3), x), 0, 6)
		t = a.op2(rdna2.V_MUL_F32_E32, a.v("sixth"), float32(1.0/6), t)
		return a.op2(rdna2.V_MUL_F32_E32, a.v("y"), x, t)
	},
}

// one is an instruction on x, and on a constant or x again when it has two
// sources.
func one(op rdna2.Op, m rdna2.Mods, constant ...any) func(a *asm, x codegen.Reg) codegen.Reg {
	return func(a *asm, x codegen.Reg) codegen.Reg {
		d := a.v("y")
		args := []any{d, x}
		if op.Form().NumOps == 3 {
			args = append(args, append(constant, x)[0])
		}
		m.With(a.Emit(op, args...))
		return d
	}
}

func rectify(op nn.OperationType) func(a *asm, x codegen.Reg) codegen.Reg {
	lo, hi := opspec.FloatActRange(opspec.UnaryActivation(op))
	return func(a *asm, x codegen.Reg) codegen.Reg { return a.clamp(x, lo, hi) }
}

// unary lowers the functions of one tensor.
func (l *lowering) unary(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(u.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	x, out, err := l.pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	f := unaries[op.Type]
	l.flat(&flat{name: strings.ToLower(op.Type.String()), dims: ints(u.Dims), in: []*tensor{x}, out: out,
		f: func(a *asm, x []codegen.Reg) codegen.Reg { return f(a, x[0]) }})
	return nil
}

// logistic is 1 / (1 + 2^(x*scale)).
func (a *asm) logistic(x codegen.Reg, scale float64) codegen.Reg {
	t := a.op2(rdna2.V_MUL_F32_E32, a.v("scaled"), float32(scale), x)
	e := a.op1(rdna2.V_EXP_F32_E32, a.v("exp"), t)
	d := a.op2(rdna2.V_ADD_F32_E32, a.v("one more"), float32(1), e)
	return a.op1(rdna2.V_RCP_F32_E32, a.v("y"), d)
}
