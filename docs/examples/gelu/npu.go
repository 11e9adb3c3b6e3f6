package gelu

import (
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// NPU is GELU of TENSOR_QUANT8_ASYMM on the NPU.
var NPU = compile.Operation[*lower.Lowering]{Row: Row, Lowering: onNPU{}}

type onNPU struct{}

func (onNPU) Identity() string { return Extension + "/gelu-1" }

func (onNPU) Check(v opspec.View, op *nn.Operation) error {
	return supports(v, op, nn.TensorQuant8Asymm, "NPU")
}

// Lower is a pool of one element whose output goes through a lookup table.
func (onNPU) Lower(l *lower.Lowering, op *nn.Operation) error {
	g, err := opspec.Read[arguments](l.View(), op)
	if err != nil {
		return err
	}
	n := int(nn.Elements(g.Dims))
	in := l.In(g.Input, 1, 1, n)
	out := l.Out(g.Output, 1, 1, n)
	t := table(l.Operand(g.Input), l.Operand(g.Output))
	l.Add(kernel.Kernel{
		Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: 0, Hi: 255},
		IFM:   in, OFM: out, Table: t[:],
	})
	return nil
}
