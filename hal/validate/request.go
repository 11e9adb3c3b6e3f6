package validate

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Request checks a request against the main subgraph of its model: as many
// buffers as inputs and outputs, inputs of exactly the operand's size where the
// shape is known (an input of no bytes is an optional one left out), outputs of
// at least that size. An output that is too short has status
// OUTPUT_INSUFFICIENT_SIZE, everything else INVALID_ARGUMENT.
func Request(m *nn.Model, r *hal.Request) error {
	if m == nil || r == nil {
		return invalid(fmt.Errorf("validate: request: nothing given"))
	}
	g := &m.Main
	if len(r.Inputs) != len(g.Inputs) || len(r.Outputs) != len(g.Outputs) {
		return invalid(fmt.Errorf("validate: request: %d inputs and %d outputs, the model has %d and %d",
			len(r.Inputs), len(r.Outputs), len(g.Inputs), len(g.Outputs)))
	}
	for i, b := range r.Inputs {
		o := &g.Operands[g.Inputs[i]]
		if !o.Known() {
			if n := o.Type.ElementBytes(); n > 0 && len(b)%n != 0 {
				return invalid(fmt.Errorf("validate: request: input %d has %d bytes, no whole number of %s", i, len(b), o.Type))
			}
			continue
		}
		if int64(len(b)) != o.Bytes() && len(b) != 0 {
			return invalid(fmt.Errorf("validate: request: input %d has %d bytes, %s %v has %d", i, len(b), o.Type, o.Dimensions, o.Bytes()))
		}
	}
	for i, b := range r.Outputs {
		o := &g.Operands[g.Outputs[i]]
		if o.Known() && int64(len(b)) < o.Bytes() {
			return hal.Errorf(hal.OutputInsufficientSize, "validate: request: output %d has %d bytes, %s %v needs %d",
				i, len(b), o.Type, o.Dimensions, o.Bytes())
		}
	}
	return nil
}
