package opspec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Version is a HAL version or feature level in which something first appears.
type Version int8

// HAL versions.
const (
	V10 Version = iota
	V11
	V12
	V13
	// Feature levels of the AIDL HAL, above 1.3.
	FL5
	FL6
	FL7
	FL8
	// Experimental is above every feature level.
	Experimental
	// Extension is any extension: what HAL 1.2 and later can say where a model declares it.
	Extension
)

var versionNames = [...]string{"1.0", "1.1", "1.2", "1.3", "FL5", "FL6", "FL7", "FL8", "experimental", "extension"}

// String returns the version as "1.2", a feature level as "FL6", and
// "experimental" or "extension".
func (v Version) String() string {
	if v >= 0 && int(v) < len(versionNames) {
		return versionNames[v]
	}
	return fmt.Sprintf("Version(%d)", int8(v))
}

func parseVersion(s string) (Version, bool) {
	for v, n := range versionNames {
		if n == s {
			return Version(v), true
		}
	}
	return 0, false
}

// ranksUntil12 demands one of the ranks of input 0, as far as it is known.
func ranksUntil12(ranks ...int) func(*Args) error {
	return func(a *Args) error {
		r := len(a.View.Operands[a.Op.Inputs[0]].Dimensions)
		if r == 0 || slices.Contains(ranks, r) {
			return nil
		}
		return fmt.Errorf("%s: rank %d of the input needs HAL 1.2", a.Op.Type, r)
	}
}

// productScaleUntil12 demands that the scale of a quantized output is above the scale of
// the products of input and filter.
func productScaleUntil12(a *Args) error {
	x, w, y := a.quantOf(a.Op.Inputs[0]), a.quantOf(a.Op.Inputs[1]), a.quantOf(a.Op.Outputs[0])
	if a.Key != nn.TensorQuant8Asymm || y.Scale > x.Scale*w.Scale {
		return nil
	}
	return fmt.Errorf("%s: output scale %g at most %g x %g needs HAL 1.2", a.Op.Type, y.Scale, x.Scale, w.Scale)
}

// oneQuantUntil12 demands that all quantized inputs that repeat have the quantization of
// the output.
func oneQuantUntil12(a *Args) error {
	if a.Key != nn.TensorQuant8Asymm {
		return nil
	}
	y := a.quantOf(a.Op.Outputs[0])
	for i, x := range a.Variadic() {
		if q := a.quantOf(x); q.Scale != y.Scale || q.ZeroPoint != y.ZeroPoint {
			return fmt.Errorf("%s: input %d has another quantization than the output, which needs HAL 1.2", a.Op.Type, i)
		}
	}
	return nil
}

// zeroPoint0Until12 demands that what a quantized operation pads with is 0.
func zeroPoint0Until12(a *Args) error {
	if z := a.quantOf(a.Op.Inputs[0]).ZeroPoint; a.Key == nn.TensorQuant8Asymm && z != 0 {
		return fmt.Errorf("%s: zero point %d of the input needs HAL 1.2", a.Op.Type, z)
	}
	return nil
}

func (a *Args) quantOf(x uint32) *nn.Operand { return &a.View.Operands[x] }

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
