package hostop

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// mathOperators compute functions of reals. Two inputs broadcast.
var mathOperators = []operator{
	{op: nn.OpHostAtan2, steps: 16, run: atan2}, // y, x: the angle of (x, y)
}

func atan2(c *call) []tensor {
	a, b := c.tensor(0), c.tensor(1)
	dims := broadcast(a.dims, b.dims)
	y := c.make(a, dims)
	from, to := aligned(a.dims, dims), aligned(b.dims, dims)
	each(dims, func(i int, at []int) {
		y.putNumber(i, math.Atan2(a.number(offset(at, from)), b.number(offset(at, to))))
	})
	return []tensor{y}
}
