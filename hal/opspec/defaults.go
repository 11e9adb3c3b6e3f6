package opspec

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// WithoutDefaults returns the inputs of the operation without the trailing groups whose
// operands are all constants of their default value: the earliest HAL version that knows
// the form can then say the operation. A group goes as a whole, as dilations do.
func (a *Args) WithoutDefaults() []uint32 {
	keep := len(a.Op.Inputs)
	if a.varAt >= 0 {
		return a.Op.Inputs
	}
	for e := len(a.ends) - 1; e > 0; e-- {
		if a.ends[e] > keep {
			continue
		}
		for i := a.ends[e-1]; i < keep; i++ {
			if !a.isDefault(i) {
				return a.Op.Inputs[:keep:keep]
			}
		}
		keep = a.ends[e-1]
	}
	return a.Op.Inputs[:keep:keep]
}

// isDefault reports whether input i is a constant of the value that its slot names.
func (a *Args) isDefault(i int) bool {
	o, want := &a.View.Operands[a.Op.Inputs[i]], a.in[i].standard
	switch {
	case want == nil || !o.IsConst():
		return false
	case o.Type == nn.Bool:
		return len(o.Data) == 1 && int32(o.Data[0]) == *want
	}
	return o.Type == nn.Int32 && len(o.Data) == 4 && int32(binary.LittleEndian.Uint32(o.Data)) == *want
}
