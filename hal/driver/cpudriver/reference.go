package cpudriver

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// Reference runs a model once, without timing, and returns its outputs. Inputs
// are dense buffers in model order.
func Reference(m *nn.Model, inputs [][]byte) ([][]byte, error) {
	values, err := ReferenceTensors(m, inputs)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(values))
	for i := range values {
		out[i] = values[i].Data
	}
	return out, nil
}

// ReferenceTensors is Reference with the types and shapes of the outputs, in the form
// of package compare.
func ReferenceTensors(m *nn.Model, inputs [][]byte) ([]compare.Tensor, error) {
	p, err := refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()})
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	in := make([]refcpu.Tensor, len(inputs))
	for i := range in {
		in[i].Data = inputs[i]
	}
	values, err := p.Execute(in, refcpu.Options{})
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	out := make([]compare.Tensor, len(values))
	for i, x := range m.Main.Outputs {
		out[i] = compare.Tensor{Type: m.Main.Operands[x].Type, Dimensions: values[i].Dimensions, Data: values[i].Data}
	}
	return out, nil
}

// Unpriced reports whether an operation is one outside NNAPI whose time the CPU model does not know: see hostop.Unpriced.
func Unpriced(op nn.OperationType) bool { return hostop.Unpriced(op) }
