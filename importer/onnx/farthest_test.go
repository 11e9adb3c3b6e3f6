package onnx

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// Farthest is the greatest and the average difference of elements, infinite for a NaN, and
// the largest of the second list.
func Farthest(t nn.OperandType, a, b []byte) (far, average, scale float64) {
	if len(a) != len(b) || len(a) == 0 {
		return math.Inf(1), math.Inf(1), 0
	}
	x, y := numbersOf(t, a), numbersOf(t, b)
	for i := range x {
		d := math.Abs(x[i] - y[i])
		if d != d {
			d = math.Inf(1)
		}
		far, average, scale = max(far, d), average+d/float64(len(x)), max(scale, math.Abs(y[i]))
	}
	return far, average, scale
}
