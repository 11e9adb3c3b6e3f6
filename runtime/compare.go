package nnrt

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// Comparison relates an output to the reference.
type Comparison struct {
	Elements int
	// Mismatches counts elements outside the type's tolerance: none for
	// integers (bit-exact), the CTS rule for floats.
	Mismatches int
	MaxAbsDiff float64 // in LSB for quantized outputs; NaN counts as infinite
	Top1       int     // index of the largest element of the output, the first of equals
}

// Tolerance is a bound |actual-expected| <= Abs + Rel*|expected|.
type Tolerance struct{ Abs, Rel float64 }

// CTS tolerances of the NNAPI generated tests.
var (
	float32Tolerance = Tolerance{1e-5, 5.0 / (1 << 23)}
	float16Tolerance = Tolerance{5.0 / (1 << 10), 5.0 / (1 << 10)}
)

// ToleranceOf is the CTS tolerance for outputs of type t of m; integers must
// be exact, since all engines implement the same arithmetic.
func ToleranceOf(m *nn.Model, t nn.OperandType) Tolerance {
	switch {
	case t == nn.TensorFloat16, t == nn.TensorFloat32 && m.Relaxed:
		return float16Tolerance
	case t == nn.TensorFloat32:
		for i := range m.Main.Operands {
			if m.Main.Operands[i].Type == nn.TensorFloat16 {
				return float16Tolerance
			}
		}
		return float32Tolerance
	}
	return Tolerance{}
}

// Compare relates one output buffer to the reference's. Both hold elements of
// type t; elements that only one of them has are mismatches.
func Compare(t nn.OperandType, tol Tolerance, actual, expected []byte) Comparison {
	size := t.ElementBytes()
	c := Comparison{Elements: len(expected) / size}
	if n := len(actual) / size; n != c.Elements {
		c.Mismatches = max(n, c.Elements) - min(n, c.Elements)
	}
	best := math.Inf(-1)
	for i := range min(c.Elements, len(actual)/size) {
		a, e := opspec.Element(t, actual[i*size:]), opspec.Element(t, expected[i*size:])
		if a > best {
			best, c.Top1 = a, i
		}
		d := math.Abs(a - e)
		switch {
		case a == e: // equal infinities too
			continue
		case math.IsNaN(d):
			d = math.Inf(1)
		}
		c.MaxAbsDiff = max(c.MaxAbsDiff, d)
		if d > tol.Abs+tol.Rel*math.Abs(e) {
			c.Mismatches++
		}
	}
	return c
}
