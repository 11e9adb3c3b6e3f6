package recurrent

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Norm brings rows to a mean of 0 and a deviation of 1, scales and shifts them. Lanes are
// rows.
type Norm struct {
	Batch, Units     int
	In, Scale, Shift *layout.Tensor
	Out              *layout.Tensor
}

// normEpsilon is added to the variance.
const normEpsilon = 1e-8

// Emit implements kernel.Kernel.
func (k *Norm) Emit(a *rdna.Builder) kernel.Grid {
	first := a.Times(a.Lane(kernel.FlatGroup), k.Units)
	sum, squares := a.Variable(0), a.Variable(0)
	a.For(k.Units, "moments", func(i codegen.Reg) {
		x := a.Element(k.In, a.Sum(first, i))
		a.Set(sum, a.AddF(sum, x))
		a.Emit(rdna2.V_FMAC_F32_E32, squares, x, x)
	})
	n := a.Constant(float32(k.Units))
	mean := a.Divide(sum, n)
	variance := a.SubF(a.Divide(squares, n), a.MulF(mean, mean))
	inverse := a.Divide(a.Constant(float32(1)), a.Op1(rdna2.V_SQRT_F32_E32, a.V("deviation"), a.AddF(variance, float32(normEpsilon))))
	a.For(k.Units, "result", func(i codegen.Reg) {
		at, u := a.Sum(first, i), a.Constant(i)
		y := a.MulF(a.MulF(a.SubF(a.Element(k.In, at), mean), inverse), a.Element(k.Scale, u))
		a.SetElement(k.Out, at, a.AddF(y, a.Element(k.Shift, u)))
	})
	return kernel.Flat("cell_norm", k.Batch)
}

// State is the new state of LSTM cells: what the forget gate leaves of the old one, and what
// the input gate admits of the function of the cell gate. Without In the input gate admits
// what the forget gate does not leave.
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

// Hidden is the output of LSTM cells: the function of the state that the output gate lets out.
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
