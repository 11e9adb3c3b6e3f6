package run

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// classEntry is a class of an output that is a vector of scores.
type classEntry struct {
	Class int     `json:"class"`
	Score float64 `json:"score"` // the element, dequantized
	Label string  `json:"label,omitempty"`
}

func (c *classEntry) text() string {
	if c.Label == "" {
		return fmt.Sprintf("%d (%.4g)", c.Class, c.Score)
	}
	return fmt.Sprintf("%d, %s (%.4g)", c.Class, c.Label, c.Score)
}

// topClasses are the five highest elements of a vector, the first of equals
// first; NaN is lower than any number. A label belongs to each class or to none.
func topClasses(o *nn.Operand, data []byte, labels []string) []classEntry {
	size := o.Type.ElementBytes()
	all := make([]classEntry, len(data)/size)
	scale, zero := 1.0, 0.0
	if o.Scale > 0 {
		scale, zero = float64(o.Scale), float64(o.ZeroPoint)
	}
	for i := range all {
		all[i] = classEntry{Class: i, Score: (opspec.Element(o.Type, data[i*size:]) - zero) * scale}
		if len(labels) == len(all) {
			all[i].Label = labels[i]
		}
	}
	slices.SortStableFunc(all, func(a, b classEntry) int {
		return cmp.Compare(b.Score, a.Score) // orders NaN lowest
	})
	return all[:min(5, len(all))]
}
