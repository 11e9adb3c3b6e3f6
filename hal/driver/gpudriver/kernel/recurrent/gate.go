// Package recurrent has the parts of recurrent cells: sums of products of inputs, states and
// weights, normalization of gates, and the update of cell states. Lanes are values of a batch
// of cells, but for long products, which the lanes of a wave share; everything is computed in
// float32.
package recurrent

import (
	"fmt"

	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Rows are rows of a tensor, one for each element of a batch: the element of the first, and
// the distance of the next.
type Rows struct {
	T          *layout.Tensor // nil where there is none
	At, Stride int
}

// String tells the places; which tensor it is says the step.
func (r Rows) String() string {
	if r.T == nil {
		return "none"
	}
	return fmt.Sprintf("%d+%d", r.At, r.Stride)
}

// index is that of value i of row b.
func (r Rows) index(a *rdna.Builder, b, i codegen.Reg) codegen.Reg {
	return a.Sum(a.Sum(a.Times(b, r.Stride), r.At), i)
}

// Term is a product of rows of N values with a matrix [Units][N].
type Term struct {
	X Rows
	W *layout.Tensor
	N int
}

// Act is the function of a cell: opspec.CellTanh, opspec.CellSigmoid, or of any other code
// bounds.
type Act struct {
	Code   int32
	Lo, Hi float32
}

// Linear is no function.
var Linear = Act{Lo: float32(math.Inf(-1)), Hi: float32(math.Inf(1))}

// apply is the function of x.
func (f Act) apply(a *rdna.Builder, x codegen.Reg) codegen.Reg {
	switch f.Code {
	case opspec.CellTanh:
		return a.Tanh(x)
	case opspec.CellSigmoid:
		return sigmoid(a, x)
	}
	return a.Clamp(x, f.Lo, f.Hi)
}

func sigmoid(a *rdna.Builder, x codegen.Reg) codegen.Reg { return a.Logistic(x, -math.Log2E) }

// clip bounds x on both sides; 0 is no bound.
func clip(a *rdna.Builder, x codegen.Reg, by float32) codegen.Reg {
	if by <= 0 {
		return x
	}
	return a.Clamp(x, -by, by)
}

// store writes a value to all places that it has.
func store(a *rdna.Builder, out [2]Rows, b, u, x codegen.Reg) {
	for _, o := range out {
		if o.T != nil {
			a.SetElement(o.T, o.index(a, b, u), x)
		}
	}
}
