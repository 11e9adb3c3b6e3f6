package nnrt

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/refcpu"
)

// Validate checks a model against the rules of the HAL. The error, with status
// InvalidArgument, names the operation or operand and the rule.
func Validate(m *nn.Model) error {
	if err := validate.Model(m); err != nil {
		return hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	return nil
}

// Reference runs a model on the reference CPU, without timing.
func Reference(m *nn.Model, inputs [][]byte) ([][]byte, error) {
	if err := CheckInputs(m, inputs); err != nil {
		return nil, err
	}
	p, err := refcpu.Compile(m)
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
	out := make([][]byte, len(values))
	for i := range values {
		out[i] = values[i].Data
	}
	return out, nil
}
