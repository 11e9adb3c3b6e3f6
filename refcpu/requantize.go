package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareRequantize is REQUANTIZE: (x - zero point) * scale / scale of the
// output + its zero point, in fixed point.
func prepareRequantize(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	return unaryTable(u, u.RequantizeTable(v)), nil
}
