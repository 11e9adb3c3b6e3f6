package gelu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// GPU is GELU of TENSOR_FLOAT32 on the GPU.
var GPU = compile.Operation[*lower.Lowering]{Row: Row, Lowering: onGPU{}}

type onGPU struct{}

func (onGPU) Identity() string { return Extension + "/gelu-1" }

func (onGPU) Check(v opspec.View, op *nn.Operation) error {
	return supports(v, op, nn.TensorFloat32, "GPU")
}

// supports returns why an operation is not GELU of a type.
func supports(v opspec.View, op *nn.Operation, t nn.OperandType, engine string) error {
	if op.Type != Op {
		return fmt.Errorf("%s is not GELU", op.Type)
	}
	if x := v.Operands[op.Outputs[0]].Type; x != t {
		return fmt.Errorf("GELU of %s, the %s has it for %s", x, engine, t)
	}
	return nil
}

func (onGPU) Lower(l *lower.Lowering, op *nn.Operation) error {
	g, err := opspec.Read[arguments](l.View(), op)
	if err != nil {
		return err
	}
	in, out, err := l.Pair(g.Input, g.Output)
	if err != nil {
		return err
	}
	l.Add(gpuKernel{in, out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}

// gpuKernel computes an element per lane.
type gpuKernel struct{ in, out *layout.Tensor }

// Emit computes x / (1 + 2^(-1.702 x log2 e)).
func (k gpuKernel) Emit(b *rdna.Builder) kernel.Grid {
	const log2E = 1.4426950408889634
	off := b.ShiftLeft(b.Lane(kernel.FlatGroup), k.in.Elem.Shift(), "offset")
	x := b.Widen(k.in.Elem, b.Load(k.in.Elem, b.Pointer(k.in.Region, k.in.Off, "in"), off, 0, "x"))
	e := b.Op2(rdna2.V_MUL_F32_E32, b.V("exponent"), float32(-slope*log2E), x)
	e = b.Op1(rdna2.V_EXP_F32_E32, b.V("power"), e)
	e = b.Op2(rdna2.V_ADD_F32_E32, b.V("divisor"), float32(1), e)
	e = b.Op1(rdna2.V_RCP_F32_E32, b.V("sigmoid"), e)
	y := b.Op2(rdna2.V_MUL_F32_E32, b.V("y"), x, e)
	b.Store(k.out.Elem, b.Pointer(layout.Arena, k.out.Off, "out"), off, b.Narrow(k.out.Elem, y), 0)
	return kernel.Flat("gelu", k.in.N)
}
