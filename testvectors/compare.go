package testvectors

import (
	"fmt"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/importer/vectors"
)

// Tolerance is the permitted difference of one element:
// |actual - expected| <= Abs + Rel * |expected|.
type Tolerance struct{ Abs, Rel float64 }

// half is the tolerance of float16 arithmetic: 5 ulp.
const half = 5. / 1024

// ToleranceOf is the tolerance for outputs of type t of a case.
func ToleranceOf(c *vectors.Case, t nn.OperandType) (Tolerance, error) {
	switch t {
	case nn.TensorFloat32:
		if c.Relaxed || hasFloat16(c.Model) {
			return Tolerance{half, half}, nil
		}
		return Tolerance{1e-5, 5. / (1 << 23)}, nil
	case nn.TensorFloat16:
		return Tolerance{half, half}, nil
	case nn.TensorInt32, nn.Int32, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm,
		nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		return Tolerance{Abs: 1}, nil
	case nn.TensorBool8:
		return Tolerance{}, nil
	}
	return Tolerance{}, fmt.Errorf("%s cannot be an output", t)
}

func hasFloat16(m *nn.Model) bool {
	if m == nil {
		return false
	}
	any := func(g *nn.Subgraph) bool {
		for i := range g.Operands {
			if g.Operands[i].Type == nn.TensorFloat16 {
				return true
			}
		}
		return false
	}
	for i := range m.Referenced {
		if any(&m.Referenced[i]) {
			return true
		}
	}
	return any(&m.Main)
}

// Mismatch is the first element outside its tolerance.
type Mismatch struct {
	Output           int
	Index            int // element, row-major
	Coordinates      []int
	Expected, Actual float64
	Tolerance        Tolerance
	Count            int // elements outside their tolerance
	// Around are the elements from Index-8 to Index+8 that exist, expected and
	// actual, starting at element From.
	From   int
	Around [][2]float64
}

// Neighbourhood lists the elements around the wrong one, a line each.
func (m *Mismatch) Neighbourhood() string {
	var b strings.Builder
	for i, v := range m.Around {
		mark := " "
		if d := math.Abs(v[1] - v[0]); !(d <= m.Tolerance.Abs+m.Tolerance.Rel*math.Abs(v[0])) {
			mark = "*"
		}
		fmt.Fprintf(&b, "  %s [%d] expected %v, actual %v\n", mark, m.From+i, v[0], v[1])
	}
	return b.String()
}

// Error implements error.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("output %d: element %v is %v, expected %v within %v + %v relative (%d elements differ)",
		m.Output, m.Coordinates, m.Actual, m.Expected, m.Tolerance.Abs, m.Tolerance.Rel, m.Count)
}

// Compare judges an output of a case. Shape and length must be the expected
// ones; the error of a wrong element is a *Mismatch.
func Compare(c *vectors.Case, output int, dims []uint32, data []byte) error {
	want := &c.Outputs[output]
	if want.Ignored {
		return nil
	}
	if dims != nil && !equalDims(dims, want.Dimensions) {
		return fmt.Errorf("output %d: shape %v, expected %v", output, dims, want.Dimensions)
	}
	if len(data) != len(want.Data) {
		return fmt.Errorf("output %d: %d bytes, expected %d", output, len(data), len(want.Data))
	}
	tol, err := ToleranceOf(c, want.Type)
	if err != nil {
		return fmt.Errorf("output %d: %w", output, err)
	}
	var first *Mismatch
	size := want.Type.ElementBytes()
	for i := 0; i+size <= len(data); i += size {
		e, a := opspec.Element(want.Type, want.Data[i:]), opspec.Element(want.Type, data[i:])
		if math.Abs(a-e) <= tol.Abs+tol.Rel*math.Abs(e) || a == e && math.IsInf(e, 0) {
			continue
		}
		if first == nil {
			first = &Mismatch{Output: output, Index: i / size, Coordinates: coordinates(i/size, want.Dimensions),
				Expected: e, Actual: a, Tolerance: tol, From: max(i/size-8, 0)}
			for k := first.From; k <= i/size+8 && (k+1)*size <= len(data); k++ {
				first.Around = append(first.Around, [2]float64{opspec.Element(want.Type, want.Data[k*size:]), opspec.Element(want.Type, data[k*size:])})
			}
		}
		first.Count++
	}
	if first != nil {
		return first
	}
	return nil
}

// Check judges all outputs of a case. dims may be nil when shapes are known.
func Check(c *vectors.Case, dims [][]uint32, outputs [][]byte) error {
	if len(outputs) != len(c.Outputs) {
		return fmt.Errorf("%d outputs, expected %d", len(outputs), len(c.Outputs))
	}
	if c.Multinomial > 0 {
		return checkMultinomial(c, outputs)
	}
	for i, b := range outputs {
		var d []uint32
		if dims != nil {
			d = dims[i]
		}
		if err := Compare(c, i, d, b); err != nil {
			return err
		}
	}
	return nil
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
			if d := math.Abs(count[k]/float64(samples) - p[k]/sum); d > float64(c.Multinomial) {
				return fmt.Errorf("output 0: batch %d class %d: frequency off by %v, %v permitted", b, k, d, c.Multinomial)
			}
		}
	}
	return nil
}

func coordinates(i int, dims []uint32) []int {
	c := make([]int, len(dims))
	for d := len(dims) - 1; d >= 0; d-- {
		if dims[d] > 0 {
			c[d] = i % int(dims[d])
			i /= int(dims[d])
		}
	}
	return c
}

func equalDims(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
