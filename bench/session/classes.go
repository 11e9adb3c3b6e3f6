package session

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Class is a class of an output that is a vector of scores.
type Class struct {
	Class int     `json:"class"`
	Score float64 `json:"score"` // the element, dequantized
	Label string  `json:"label,omitempty"`
}

// String is the class, its label and its score.
func (c *Class) String() string {
	if c.Label == "" {
		return fmt.Sprintf("%d (%.4g)", c.Class, c.Score)
	}
	return fmt.Sprintf("%d, %s (%.4g)", c.Class, c.Label, c.Score)
}

// topClasses are the five highest elements of a vector, the first of equals
// first; NaN is lower than any number. A label belongs to each class or to none.
func topClasses(o *nn.Operand, data []byte, labels []string) []Class {
	size := o.Type.ElementBytes()
	all := make([]Class, len(data)/size)
	scale, zero := 1.0, 0.0
	if o.Scale > 0 {
		scale, zero = float64(o.Scale), float64(o.ZeroPoint)
	}
	for i := range all {
		all[i] = Class{Class: i, Score: (opspec.Element(o.Type, data[i*size:]) - zero) * scale}
		if len(labels) == len(all) {
			all[i].Label = labels[i]
		}
	}
	slices.SortStableFunc(all, func(a, b Class) int {
		return cmp.Compare(b.Score, a.Score) // orders NaN lowest
	})
	return all[:min(5, len(all))]
}

// IsScores reports whether an output of some shape is one vector of at least two scores.
func IsScores(o *nn.Operand, shape []uint32) bool {
	n := len(shape)
	real := o.Type == nn.TensorFloat32 || o.Type == nn.TensorFloat16 || o.Scale > 0
	return real && n > 0 && shape[n-1] > 1 && nn.Elements(shape) == int64(shape[n-1])
}
