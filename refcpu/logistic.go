package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareLogistic is LOGISTIC: 1 / (1 + exp(-x)).
func prepareLogistic(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	if isFloat(u.Type) {
		return unaryFloat(u, func(x float32) float32 {
			return float32(1 / (1 + exp(-float64(x))))
		}), nil
	}
	t, err := u.LogisticTable(v)
	if err != nil {
		return nil, err
	}
	return unaryTable(u, t), nil
}
