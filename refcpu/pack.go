package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// preparePack is PACK: inputs side by side along a new axis.
func preparePack(v opspec.View, op *nn.Operation) (kern, error) {
	c, err := v.Pack(op)
	if err != nil {
		return nil, err
	}
	return join(v, &c), nil
}
