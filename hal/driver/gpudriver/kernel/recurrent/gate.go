// Package recurrent has the parts of recurrent cells: sums of products of inputs, states and
// weights, and the update of cell states. Lanes are values of a batch of cells, but for products
// of floats, which the lanes of a wave share; these are computed in float32.
package recurrent

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Rows are rows of a tensor, one for each element of a batch: the element of the first, and
// the distance of the next.
type Rows struct {
	T          *layout.Tensor // nil where there is none
	At, Stride int
}

// String prints the places; the step names the tensor.
func (r Rows) String() string {
	if r.T == nil {
		return "none"
	}
	return fmt.Sprintf("%d+%d", r.At, r.Stride)
}

// index is the index of value i of row b.
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

// State is the new state of LSTM cells: the old one times the forget gate plus the function
// of the cell gate times the input gate. Without In the input gate is 1 minus the forget
// gate.
type State struct {
	N                     int
	Forget, In, Gate, Old *layout.Tensor
	Out                   *layout.Tensor
	Act                   Act
	Clip                  float32
}

// Emit implements kernel.Kernel.
func (k *State) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	forget := sigmoid(a, a.Element(k.Forget, lane))
	admit := a.SubF(float32(1), forget)
	if k.In != nil {
		admit = sigmoid(a, a.Element(k.In, lane))
	}
	c := a.AddF(a.MulF(forget, a.Element(k.Old, lane)), a.MulF(admit, k.Act.apply(a, a.Element(k.Gate, lane))))
	a.SetElement(k.Out, lane, clip(a, c, k.Clip))
	return kernel.Flat("cell_state", k.N)
}

// Hidden is the output of LSTM cells: the function of the state times the output gate.
type Hidden struct {
	Batch, Units int
	Gate, Cell   *layout.Tensor
	Act          Act
	Out          [2]Rows
}

// Emit implements kernel.Kernel.
func (k *Hidden) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	b, u := a.DivConstV(lane, k.Units, "batch")
	h := a.MulF(sigmoid(a, a.Element(k.Gate, lane)), k.Act.apply(a, a.Element(k.Cell, lane)))
	store(a, k.Out, b, u, h)
	return kernel.Flat("cell_hidden", k.Batch*k.Units)
}

// Svdf is the output of an SVDF: for each unit the function of its bias and of the sum over
// its filters of their memory, with the newest feature last, weighted by time.
type Svdf struct {
	Batch, Filters, Memory, Rank int
	State, Newest, Time, Bias    *layout.Tensor // Bias may be nil
	Out                          *layout.Tensor
	Act                          Act
}

// Emit implements kernel.Kernel.
func (k *Svdf) Emit(a *rdna.Builder) kernel.Grid {
	units := k.Filters / k.Rank
	lane := a.Lane(kernel.FlatGroup)
	b, u := a.DivConstV(lane, units, "batch")
	sum := a.Variable(0)
	if k.Bias != nil {
		sum = a.Variable(a.Element(k.Bias, u))
	}
	filter := a.Variable(a.Times(u, k.Rank))
	a.For(k.Rank, "filter", func(codegen.Reg) {
		row := a.Sum(a.Times(b, k.Filters), filter)
		state, time := a.Variable(a.Times(row, k.Memory)), a.Variable(a.Times(filter, k.Memory))
		if k.Memory > 1 {
			a.For(k.Memory-1, "memory", func(codegen.Reg) {
				a.Emit(rdna2.V_FMAC_F32_E32, sum, a.Element(k.State, state), a.Element(k.Time, time))
				a.Increase(state, 1)
				a.Increase(time, 1)
			})
		}
		a.Emit(rdna2.V_FMAC_F32_E32, sum, a.Element(k.Newest, row), a.Element(k.Time, time))
		a.Increase(filter, 1)
	})
	a.SetElement(k.Out, lane, k.Act.apply(a, sum))
	return kernel.Flat("svdf", k.Batch*units)
}
