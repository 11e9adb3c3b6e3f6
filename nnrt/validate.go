package nnrt

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// Validate checks a model against the rules of the HAL. The error, with status
// InvalidArgument, names the operation or operand and the rule.
func Validate(m *nn.Model) error {
	if err := validate.Model(m); err != nil {
		return hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	return nil
}
