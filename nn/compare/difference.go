package compare

import (
	"fmt"
	"strings"
)

// Kind is what is wrong with an output.
type Kind uint8

// Kinds of differences.
const (
	WrongElement    Kind = iota + 1 // an element is outside its tolerance
	MissingElements                 // there are fewer elements than expected
	ExtraElements                   // there are more
	WrongShape
	WrongType
	WrongMean // an element bound holds, the bound on a mean does not
	MissingOutput
	ExtraOutput
)

var kindNames = [...]string{
	WrongElement: "wrong element", MissingElements: "missing elements", ExtraElements: "extra elements", WrongShape: "wrong shape",
	WrongType: "wrong type", WrongMean: "wrong mean", MissingOutput: "missing output", ExtraOutput: "extra output",
}

// String returns the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Difference is what is wrong with an output first.
type Difference struct {
	Kind   Kind
	Output int // index into the outputs
	// Of a wrong element: where it is, row-major and by dimension, what it is
	// and how far from Expected it may be. Of a wrong mean: Actual and Limit.
	Index            int
	Coordinates      []int
	Expected, Actual float64
	Limit            float64
	Count            int // elements outside their tolerance
	// Around are the elements from Index-8 to Index+8 that exist, starting at
	// element From.
	From   int
	Around []Pair

	text string // all but the number of the output
}

// Pair is an expected element and the actual one.
type Pair struct {
	Expected, Actual float64
	Wrong            bool
}

// Error implements error.
func (d *Difference) Error() string { return fmt.Sprintf("output %d: %s", d.Output, d.text) }

// Neighbourhood lists the elements around a wrong one, a line each; wrong ones
// are marked.
func (d *Difference) Neighbourhood() string {
	var b strings.Builder
	for i, p := range d.Around {
		mark := " "
		if p.Wrong {
			mark = "*"
		}
		fmt.Fprintf(&b, "  %s [%d] expected %v, actual %v\n", mark, d.From+i, p.Expected, p.Actual)
	}
	return b.String()
}

// coordinates splits a row-major index by the shape of its tensor; without a
// shape it is the only coordinate.
func coordinates(i int, shape []uint32) []int {
	if shape == nil {
		return []int{i}
	}
	c := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		if shape[d] > 0 {
			c[d] = i % int(shape[d])
			i /= int(shape[d])
		}
	}
	return c
}
