package gelu

import (
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// DSP is GELU of TENSOR_QUANT8_ASYMM on the DSP.
var DSP = compile.Operation[*lower.Lowering]{Row: Row, Lowering: onDSP{}}

type onDSP struct{}

func (onDSP) Identity() string { return Extension + "/gelu-1" }

func (onDSP) Check(v opspec.View, op *nn.Operation) error {
	return supports(v, op, nn.TensorQuant8Asymm, "DSP")
}

// Lower looks every byte up (vlut32), with the driver's kernel for that.
func (onDSP) Lower(l *lower.Lowering, op *nn.Operation) error {
	g, err := opspec.Read[arguments](l.View(), op)
	if err != nil {
		return err
	}
	in, out := l.FlatPair(g.Input, g.Output)
	t := table(l.Operand(g.Input), l.Operand(g.Output))
	l.Add("gelu", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.Lookup{Out: out, In: in, Table: &t})
	return nil
}
