package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// Tolerance bounds the difference of an element:
// |actual - expected| <= Abs + Rel * |expected|, in units of the element
// (steps of a quantized type).
type Tolerance struct{ Abs, Rel float64 }

// Limit is the largest difference from an expected value.
func (t Tolerance) Limit(expected float64) float64 { return t.Abs + t.Rel*math.Abs(expected) }

// Accepts reports whether an element matches.
func (t Tolerance) Accepts(expected, actual float64) bool {
	switch {
	case math.IsNaN(expected) || math.IsNaN(actual):
		return math.IsNaN(expected) && math.IsNaN(actual)
	case math.IsInf(expected, 0) || math.IsInf(actual, 0):
		return actual == expected
	}
	return math.Abs(actual-expected) <= t.Limit(expected)
}

// Criterion bounds the difference of a tensor from the expected one.
type Criterion struct {
	Element Tolerance
	// Range widens Element.Abs by this share of the largest finite magnitude that is
	// expected of the tensor.
	Range float64
	// Grows lets the roundings of a network's numbers (Tensor.Rounding) widen Element.Abs, up to
	// GrowsTo times the largest finite magnitude that is expected.
	Grows   bool
	GrowsTo float64
	// MeanError and MeanSquare bound the mean of the differences and of their
	// squares, 0 not at all. A difference of floats is divided by
	// max(1, |expected|) first. Tensors of fewer than 10 elements have no bound.
	MeanError, MeanSquare float64
	// WrongPercent of the elements, rounded up, may be outside Element.
	WrongPercent int
}

// minMean is the number of elements from which on means are bounded.
const minMean = 10

// Rule gives the criterion of an output by its type.
type Rule func(nn.OperandType) Criterion

// Tolerances of NNAPI's generated tests (TestHarness): float32, and anything
// computed in float16.
var (
	float32Tolerance = Tolerance{1e-5, 5.0 / (1 << 23)}
	float16Tolerance = Tolerance{5.0 / (1 << 10), 5.0 / (1 << 10)}
)

// BitExact is the rule between engines that implement the same arithmetic:
// integers, booleans and quantized values are equal, floats within the
// tolerance of NNAPI's generated tests.
func BitExact(m *nn.Model) Rule {
	float := float32Tolerance
	if Halves(m) {
		float = float16Tolerance
	}
	return func(t nn.OperandType) Criterion {
		switch t {
		case nn.TensorFloat32, nn.Float32:
			return Criterion{Element: float}
		case nn.TensorFloat16, nn.Float16:
			return Criterion{Element: float16Tolerance}
		}
		return Criterion{}
	}
}

// networkRange is what two float implementations of a network differ by, relative to
// the range of an output: builtin kernels and XNNPACK of TensorFlow Lite stay within
// it on public networks. Sums in another order are the reason.
const networkRange = 1e-5

// roundings is how many times as far as flipping all last bits moves an output two
// implementations of a network may be apart, at most roundingRange of the output's range, or
// halfRange where numbers are halves. The GPU's
// outputs of ten synthetic float networks, through which errors grow more than through trained
// ones, are 0.2 to 1.8 times as far from the reference, those of five zoo networks in halves 0.3 to 0.8. The most
// is assumed (D-3000): where flipping last bits moves an output by more, little of it is left to compare. A network that
// sorts its results may have them in another order, which is no rounding.
const (
	roundings     = 4
	roundingRange = 2e-3
	halfRange     = 0.25
)

// widening is what a criterion adds to the tolerance for an expected output.
func (c *Criterion) widening(expected *Tensor) float64 {
	if !c.Grows && c.Range == 0 {
		return 0
	}
	size := largest(expected)
	return max(c.Range*size, min(roundings*expected.Rounding, c.GrowsTo*size))
}

// Network is the rule for whole networks: as BitExact, but where a model has several
// operations, whose rounding errors add up, floats may also differ by a share of the
// output's range, or by the effect of rounding alone if that is known, rounding to halves where
// the model lets devices compute in them. Integers that stand for reals (Rounded) are compared as
// quantized values, that may differ by a step or by the effect of rounding.
func Network(m *nn.Model) Rule {
	exact := BitExact(m)
	if len(m.Main.Operations) < 2 {
		return exact
	}
	return func(t nn.OperandType) Criterion {
		c := exact(t)
		if !Rounded(m, t) {
			return c
		}
		c.Grows, c.GrowsTo = true, roundingRange
		if Halves(m) {
			c.GrowsTo = halfRange
		}
		switch {
		case t == nn.TensorFloat32:
			c.Range = networkRange
		case t != nn.TensorFloat16:
			c.Element.Abs = 1
		}
		return c
	}
}

// Halves reports whether a model lets devices compute its floats in float16.
func Halves(m *nn.Model) bool { return m.Relaxed || usesFloat16(m) }

// Rounded reports whether outputs of a type are results of float arithmetic: floats, and integers
// of 16 bits and more whose steps of a scale a model with floats rounds to. TENSOR_INT32 counts
// where all outputs of that type carry a scale.
func Rounded(m *nn.Model, t nn.OperandType) bool {
	switch t {
	case nn.TensorFloat32, nn.TensorFloat16:
		return true
	case nn.TensorQuant16Symm, nn.TensorQuant16Asymm:
		return usesFloats(m)
	case nn.TensorInt32:
		for _, x := range m.Main.Outputs {
			if o := &m.Main.Operands[x]; o.Type == t && !(o.Scale > 0) {
				return false
			}
		}
		return usesFloats(m)
	}
	return false
}

// GeneratedTests is the rule of NNAPI's generated tests, whose expected values
// other implementations have computed: as BitExact, but integers and quantized
// values may be one step off, quantized values of mobilenet_quantized, whose operations add up
// their roundings, three.
func GeneratedTests(m *nn.Model) Rule {
	exact := BitExact(m)
	steps := 1.
	if strings.HasPrefix(m.Name, "mobilenet_quantized") {
		steps = 3
	}
	return func(t nn.OperandType) Criterion {
		switch c := exact(t); {
		case t == nn.TensorBool8 || t == nn.Bool || c != (Criterion{}):
			return c
		case t.IsQuant8():
			return Criterion{Element: Tolerance{Abs: steps}}
		}
		return Criterion{Element: Tolerance{Abs: 1}}
	}
}

// usesFloat16 reports whether a model has a float16 tensor: an operand of a
// model with float16 parts may have been rounded to 11 bits on its way.
func usesFloat16(m *nn.Model) bool { return uses(m, nn.TensorFloat16) }

// usesFloats reports whether a model has a float tensor.
func usesFloats(m *nn.Model) bool { return uses(m, nn.TensorFloat32, nn.TensorFloat16) }

// uses reports whether a subgraph of a model has a tensor of one of some types.
func uses(m *nn.Model, types ...nn.OperandType) bool {
	has := func(g nn.Subgraph) bool {
		return slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { return slices.Contains(types, o.Type) })
	}
	return has(m.Main) || slices.ContainsFunc(m.Referenced, has)
}
