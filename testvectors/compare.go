package testvectors

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Check judges the outputs of a case by the rule of NNAPI's generated tests.
// dims may be nil when the model fixes the shapes. The error of a difference is
// a *compare.Difference.
func Check(c *vectors.Case, dims [][]uint32, outputs [][]byte) error {
	expected, actual := make([]compare.Tensor, len(c.Outputs)), make([]compare.Tensor, len(outputs))
	for i := range outputs {
		actual[i].Data = outputs[i]
		if i < len(dims) {
			actual[i].Dimensions = dims[i]
		}
	}
	for i := range c.Outputs {
		want := &c.Outputs[i]
		expected[i] = compare.Tensor{Type: want.Type, Dimensions: want.Dimensions, Data: want.Data}
		if want.Type.IsScalar() {
			expected[i].Dimensions = nil
		}
		if i < len(actual) {
			actual[i].Type = want.Type
		}
		if i < len(actual) && want.Ignored { // its place is judged, its value is not
			actual[i] = expected[i]
		}
	}
	if c.Multinomial > 0 && len(outputs) == len(expected) {
		return checkMultinomial(c, outputs)
	}
	return compare.Err(compare.Outputs(expected, actual, compare.GeneratedTests(c.Model)))
}

// checkMultinomial compares how often RANDOM_MULTINOMIAL draws each class with
// the class's probability.
func checkMultinomial(c *vectors.Case, outputs [][]byte) error {
	in, out := &c.Inputs[0], &c.Outputs[0]
	if len(in.Dimensions) != 2 || len(out.Dimensions) != 2 || len(outputs[0]) != len(out.Data) || in.Type.ElementBytes() == 0 {
		return fmt.Errorf("output 0: %d bytes for shape %v", len(outputs[0]), out.Dimensions)
	}
	batches, classes, samples := int(in.Dimensions[0]), int(in.Dimensions[1]), int(out.Dimensions[1])
	if len(in.Data) != batches*classes*in.Type.ElementBytes() || int(out.Dimensions[0]) != batches {
		return fmt.Errorf("input 0: %d bytes for shape %v", len(in.Data), in.Dimensions)
	}
	for b := range batches {
		p, sum := make([]float64, classes), 0.
		for k := range p {
			p[k] = math.Exp(opspec.Element(in.Type, in.Data[(b*classes+k)*in.Type.ElementBytes():]))
			sum += p[k]
		}
		count := make([]float64, classes)
		for s := range samples {
			k := int(opspec.Element(nn.TensorInt32, outputs[0][4*(b*samples+s):]))
			if k < 0 || k >= classes {
				return fmt.Errorf("output 0: class %d of %d", k, classes)
			}
			count[k]++
		}
		for k := range p {
			if d := math.Abs(count[k]/float64(samples) - p[k]/sum); !(d <= float64(c.Multinomial)) {
				return fmt.Errorf("output 0: batch %d class %d: frequency off by %v, %v permitted", b, k, d, c.Multinomial)
			}
		}
	}
	return nil
}
