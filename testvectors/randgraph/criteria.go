package randgraph

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// Class is how exact the results of an operation or a graph must be.
type Class uint8

// Classes of CTS, from exact to loose.
const (
	Strict  Class = iota // data movement, comparison, logic
	Medium               // simple arithmetic
	Relaxed              // transcendental functions, pooling, normalisation, reduction
	Conv                 // convolutions
	SmallGraph
	LargeGraph
)

// Criterion bounds the difference of a tensor from the expected one: of an
// element |a - e| <= Element + Element*|e| for floats, <= Element otherwise;
// of the mean of the differences and of the mean of their squares. The
// differences of floats in means are divided by max(1, |e|). Means count only
// with at least 10 compared elements.
type Criterion struct{ Element, Bias, MSE float64 }

// criteria of CTS: for float32, float16 and 8- and 16-bit quantized results.
var criteria = [...][3]Criterion{
	Strict:     {{1e-6, 1e-7, 1e-10}, {1e-3, 1e-4, 1e-8}, {1, 0.1, 0.1}},
	Medium:     {{1e-5, 1e-6, 1e-8}, {1e-2, 1e-3, 1e-5}, {2, 1.2, 1.2}},
	Relaxed:    {{1e-3, 3e-5, 1e-6}, {1, 5e-3, 1e-3}, {10, 1.5, 1.5}},
	Conv:       {{2e-2, 4e-4, 1e-5}, {1, 5e-2, 1e-2}, {10, 1.5, 1.5}},
	SmallGraph: {{1e-2, 4e-4, 1e-5}, {1, 5e-2, 1e-2}, {12, 2, 2}},
	LargeGraph: {{1e-1, 1e-2, 1e-4}, {1, 1e-1, 5e-2}, {12, 2, 2}},
}

const (
	minCompared = 10  // elements for a mean
	huge        = 1e3 // float32 results beyond are not compared
	boolPercent = 10  // wrong booleans allowed, rounded up
)

// Difference is how a result violates a criterion.
type Difference struct {
	Output           int
	Index            int // the worst element, row-major; -1 for a mean
	Expected, Actual float64
	Limit            float64
	what             string
}

// Error implements error.
func (d *Difference) Error() string {
	if d.Index < 0 {
		return fmt.Sprintf("output %d: %s is %.4g, at most %.4g", d.Output, d.what, d.Actual, d.Limit)
	}
	return fmt.Sprintf("output %d: element %d is %v, expected %v within %.4g%s", d.Output, d.Index, d.Actual, d.Expected, d.Limit, d.what)
}

// check compares output number i of type t. exact also requires equal
// integers, booleans and quantized values.
func check(c Class, i int, t nn.OperandType, expected, actual []byte, exact bool) error {
	if len(expected) != len(actual) {
		return fmt.Errorf("output %d: %d bytes, expected %d", i, len(actual), len(expected))
	}
	size := t.ElementBytes()
	n := len(expected) / size
	crit := Criterion{Element: 1, Bias: math.Inf(1), MSE: math.Inf(1)} // integers
	float := false
	switch t {
	case nn.TensorFloat32:
		crit, float = criteria[c][0], true
	case nn.TensorFloat16:
		crit, float = criteria[c][1], true
	case nn.TensorBool8:
		return checkBools(i, expected, actual, exact)
	case nn.TensorInt32, nn.Int32:
	default:
		crit = criteria[c][2]
	}
	if exact && !float {
		crit.Element = 0
	}
	compared, sum, squares := 0, 0., 0.
	var worst *Difference
	over := 0.
	for k := range n {
		e, a := element(t, expected[k*size:]), element(t, actual[k*size:])
		if float && (math.IsNaN(e) || math.Abs(e) > huge) {
			continue
		}
		d := a - e
		limit := crit.Element
		if float {
			limit += crit.Element * math.Abs(e)
		}
		if x := math.Abs(d) / max(limit, 1e-300); !(math.Abs(d) <= limit) && (worst == nil || x > over || math.IsNaN(x)) {
			over = x
			worst = &Difference{Output: i, Index: k, Expected: e, Actual: a, Limit: limit}
		}
		compared++
		if float {
			d /= max(1, math.Abs(e))
		}
		sum += d
		squares += d * d
	}
	if worst != nil {
		return worst
	}
	if compared < minCompared {
		return nil
	}
	m := float64(compared)
	if b := math.Abs(sum) / m; b > crit.Bias {
		return &Difference{Output: i, Index: -1, Actual: b, Limit: crit.Bias, what: "mean error"}
	}
	if s := squares / m; s > crit.MSE {
		return &Difference{Output: i, Index: -1, Actual: s, Limit: crit.MSE, what: "mean squared error"}
	}
	return nil
}

func checkBools(i int, expected, actual []byte, exact bool) error {
	wrong, at := 0, 0
	for k := range expected {
		if (expected[k] != 0) != (actual[k] != 0) {
			if wrong == 0 {
				at = k
			}
			wrong++
		}
	}
	limit := (len(expected)*boolPercent + 99) / 100
	if exact {
		limit = 0
	}
	if wrong <= limit {
		return nil
	}
	return &Difference{Output: i, Index: at, Expected: element(nn.TensorBool8, expected[at:]), Actual: element(nn.TensorBool8, actual[at:]),
		what: fmt.Sprintf(" (%d of %d differ, at most %d)", wrong, len(expected), limit)}
}

// element reads one element as float64; booleans are 0 or 1.
func element(t nn.OperandType, b []byte) float64 {
	switch t {
	case nn.TensorFloat32, nn.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case nn.TensorFloat16, nn.Float16:
		return float64(opspec.Float16ToFloat32(binary.LittleEndian.Uint16(b)))
	case nn.TensorInt32, nn.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case nn.TensorQuant8Asymm:
		return float64(b[0])
	case nn.TensorQuant16Asymm:
		return float64(binary.LittleEndian.Uint16(b))
	case nn.TensorQuant16Symm:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case nn.TensorBool8, nn.Bool:
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	return float64(int8(b[0]))
}
