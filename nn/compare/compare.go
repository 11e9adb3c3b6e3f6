package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Tensor is a value to compare: dense, row-major, little-endian.
type Tensor struct {
	Type       nn.OperandType
	Dimensions []uint32 // nil when not known, and of a scalar
	Data       []byte
	// Rounding is how far the last bits of the network's numbers move an expected output; 0 where
	// nobody has looked.
	Rounding float64
}

// Result relates an output to the expected one.
type Result struct {
	Elements int // of the expected output
	// Mismatches counts elements outside the tolerance and elements that only
	// one side has. It is above 0 exactly when First is not nil; all elements of
	// a wrong shape or type count.
	Mismatches int
	// MaxAbsDiff is the largest difference of two elements, in steps of a
	// quantized output; infinite where only one is a NaN or an infinity.
	MaxAbsDiff float64
	Top1       int         // index of the largest actual element, the first of equals
	First      *Difference // nil when the output matches
}

// Err is the first difference as an error, nil without one.
func (r *Result) Err() error {
	if r.First == nil {
		return nil
	}
	return r.First
}

// Outputs compares the outputs of a model in order. There is a result for each
// output of either side.
func Outputs(expected, actual []Tensor, rule Rule) []Result {
	list := make([]Result, max(len(expected), len(actual)))
	for i := range list {
		r := &list[i]
		switch {
		case i >= len(actual):
			r.Elements = elements(&expected[i])
			r.fail(MissingOutput, max(r.Elements, 1), "missing, %d outputs of %d", len(actual), len(expected))
		case i >= len(expected):
			r.fail(ExtraOutput, max(elements(&actual[i]), 1), "not expected, %d outputs of %d", len(actual), len(expected))
		default:
			*r = Tensors(expected[i], actual[i], rule(expected[i].Type))
		}
		if r.First != nil {
			r.First.Output = i
		}
	}
	return list
}

// Err is the first difference of several results, nil without one.
func Err(results []Result) error {
	for i := range results {
		if err := results[i].Err(); err != nil {
			return err
		}
	}
	return nil
}

// Tensors compares one output. Dimensions are compared when both sides know
// them.
func Tensors(expected, actual Tensor, c Criterion) Result {
	r := Result{Elements: elements(&expected)}
	size := expected.Type.ElementBytes()
	have := elements(&actual)
	all := max(r.Elements, have, 1)
	if expected.Type != actual.Type || size == 0 {
		r.fail(WrongType, all, "type %v, expected %v", actual.Type, expected.Type)
		return r
	}
	n := min(len(expected.Data), len(actual.Data)) / size
	c.Element.Abs += c.widening(&expected)
	scan := newScan(&r, &expected, &actual, c)
	for i := range n {
		scan.element(i)
	}
	switch {
	case expected.Dimensions != nil && actual.Dimensions != nil && !slices.Equal(expected.Dimensions, actual.Dimensions):
		r.fail(WrongShape, all, "shape %v, expected %v", actual.Dimensions, expected.Dimensions)
	case len(actual.Data) != len(expected.Data):
		kind, off := MissingElements, r.Elements-n
		if len(actual.Data) > len(expected.Data) {
			kind, off = ExtraElements, have-n
		}
		r.fail(kind, r.Mismatches+off, "%d bytes, expected %d", len(actual.Data), len(expected.Data))
	case r.Mismatches > 0 && r.Mismatches > (n*c.WrongPercent+99)/100:
		scan.wrongElement()
	default:
		r.Mismatches = 0
		scan.means(n)
	}
	return r
}

// largest is the largest finite magnitude of a tensor.
func largest(t *Tensor) (m float64) {
	size := t.Type.ElementBytes()
	for i := range len(t.Data) / size {
		if v := math.Abs(opspec.Element(t.Type, t.Data[i*size:])); v > m && !math.IsInf(v, 0) {
			m = v
		}
	}
	return m
}

// elements counts the elements of a tensor, an incomplete last one too.
func elements(t *Tensor) int {
	size := max(t.Type.ElementBytes(), 1)
	return (len(t.Data) + size - 1) / size
}

func (r *Result) fail(k Kind, mismatches int, format string, args ...any) {
	r.Mismatches = mismatches
	r.First = &Difference{Kind: k, Count: mismatches, text: fmt.Sprintf(format, args...)}
}

// scan walks over the elements that both sides have.
type scan struct {
	r                *Result
	expected, actual *Tensor
	c                Criterion
	float            bool
	size             int
	best             float64 // largest actual element
	first            int     // index of the first wrong element
	sum, squares     float64 // of the differences
}

func newScan(r *Result, expected, actual *Tensor, c Criterion) *scan {
	s := &scan{r: r, expected: expected, actual: actual, c: c, best: math.Inf(-1), size: expected.Type.ElementBytes()}
	switch expected.Type {
	case nn.TensorFloat32, nn.Float32, nn.TensorFloat16, nn.Float16:
		s.float = true
	}
	return s
}

func (s *scan) at(i int) (expected, actual float64) {
	return opspec.Element(s.expected.Type, s.expected.Data[i*s.size:]), opspec.Element(s.actual.Type, s.actual.Data[i*s.size:])
}

func (s *scan) element(i int) {
	e, a := s.at(i)
	if a > s.best {
		s.best, s.r.Top1 = a, i
	}
	if a == e || math.IsNaN(a) && math.IsNaN(e) {
		return
	}
	d := math.Abs(a - e)
	if math.IsNaN(d) {
		d = math.Inf(1)
	}
	s.r.MaxAbsDiff = max(s.r.MaxAbsDiff, d)
	if !s.c.Element.Accepts(e, a) {
		if s.r.Mismatches == 0 {
			s.first = i
		}
		s.r.Mismatches++
		return
	}
	d = a - e
	if s.float {
		d /= max(1, math.Abs(e))
	}
	s.sum += d
	s.squares += d * d
}

// wrongElement reports the first wrong element with its neighbours.
func (s *scan) wrongElement() {
	i := s.first
	e, a := s.at(i)
	d := &Difference{
		Kind: WrongElement, Index: i, Coordinates: coordinates(i, s.expected.Dimensions), Expected: e, Actual: a,
		Limit: s.c.Element.Limit(e), Count: s.r.Mismatches, From: max(i-8, 0),
	}
	n := len(s.expected.Data) / s.size
	for k := d.From; k < min(i+9, n); k++ {
		e, a := s.at(k)
		d.Around = append(d.Around, Pair{e, a, !s.c.Element.Accepts(e, a)})
	}
	d.text = fmt.Sprintf("element %v is %v, expected %v within %v + %v relative (%d of %d elements differ)",
		d.Coordinates, a, e, s.c.Element.Abs, s.c.Element.Rel, d.Count, n)
	s.r.First = d
}

// means compares the means of the differences of n elements.
func (s *scan) means(n int) {
	if n < minMean {
		return
	}
	for _, m := range []struct {
		what         string
		value, limit float64
	}{
		{"mean error", math.Abs(s.sum) / float64(n), s.c.MeanError},
		{"mean squared error", s.squares / float64(n), s.c.MeanSquare},
	} {
		if m.limit > 0 && !(m.value <= m.limit) {
			s.r.fail(WrongMean, n, "%s is %.4g, at most %.4g", m.what, m.value, m.limit)
			s.r.First.Actual, s.r.First.Limit = m.value, m.limit
			return
		}
	}
}
