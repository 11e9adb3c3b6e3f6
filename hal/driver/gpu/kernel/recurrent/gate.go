// Package recurrent has the parts of recurrent cells: sums of products of inputs, states and
// weights, normalization of gates, and the update of cell states. Lanes are values of a batch
// of cells; everything is computed in float32.
package recurrent

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
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

// RowsPlace is what code depends on.
type RowsPlace struct {
	Valid      bool
	Place      layout.Place
	At, Stride int
}

func (r Rows) place() (p RowsPlace) {
	if r.T != nil {
		p = RowsPlace{true, r.T.Place(), r.At, r.Stride}
	}
	return p
}

func (p RowsPlace) index(a *rdna.Builder, b, i codegen.Reg) codegen.Reg {
	return a.Sum(a.Sum(a.Times(b, p.Stride), p.At), i)
}

// Term is a product of rows of N values with a matrix [Units][N].
type Term struct {
	X Rows
	W *layout.Tensor
	N int
}

// maxTerms are the input, the auxiliary input and the state of a cell.
const maxTerms = 3

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

// Sum is, for each unit, the function of the sum of its bias, of the products of all terms,
// and of the cell state times a peephole weight.
type Sum struct {
	Batch, Units   int
	Terms          []Term
	Bias, Peephole *layout.Tensor // nil where there is none
	Cell           *layout.Tensor // [Batch][Units], with Peephole
	Act            Act
	Clip           float32
	Out            [2]Rows // the second may have no tensor
}

// SumKey is what the code depends on.
type SumKey struct {
	Batch, Units         int
	Terms                [maxTerms]TermKey
	Bias, Peephole, Cell RowsPlace
	Act                  Act
	Clip                 float32
	Out                  [2]RowsPlace
}

// TermKey is what the code depends on.
type TermKey struct {
	X RowsPlace
	W layout.Place
	N int
}

// Name implements kernel.Key.
func (SumKey) Name() string { return "cell_sum" }

// Pack implements kernel.Kernel.
func (k *Sum) Pack(*kernel.Memory) kernel.Key {
	key := SumKey{Batch: k.Batch, Units: k.Units, Bias: Rows{T: k.Bias}.place(), Peephole: Rows{T: k.Peephole}.place(),
		Cell: Rows{T: k.Cell, Stride: k.Units}.place(), Act: k.Act, Clip: k.Clip, Out: [2]RowsPlace{k.Out[0].place(), k.Out[1].place()}}
	for i, t := range k.Terms {
		key.Terms[i] = TermKey{t.X.place(), t.W.Place(), t.N}
	}
	return key
}

// Work implements kernel.Kernel.
func (k *Sum) Work() kernel.Work {
	waves := (k.Batch*k.Units + 31) / 32
	w := kernel.Work{Waves: waves, WriteBytes: int64(k.Batch * k.Units * 4)}
	for _, t := range k.Terms {
		w.Chain += t.N
		w.ReadBytes += int64(t.W.Bytes())
	}
	w.Instructions, w.Loads = int64(waves)*int64(20+6*w.Chain), int64(waves)*int64(2*w.Chain)
	return w
}

// Emit implements kernel.Key.
func (k SumKey) Emit(a *rdna.Builder) kernel.Grid {
	b, u := a.DivConstV(a.Lane(kernel.FlatGroup), k.Units, "batch")
	sum := a.Variable(0)
	if k.Bias.Valid {
		sum = a.Variable(a.Element(k.Bias.Place, u))
	}
	for _, t := range k.Terms {
		if !t.X.Valid {
			continue
		}
		product := a.Variable(0)
		x, w := a.Variable(t.X.index(a, b, a.Constant(0))), a.Variable(a.Times(u, t.N))
		a.For(t.N, "product", func(codegen.Reg) {
			a.Emit(rdna2.V_FMAC_F32_E32, product, a.Element(t.X.Place, x), a.Element(t.W, w))
			a.Increase(x, 1)
			a.Increase(w, 1)
		})
		a.Set(sum, a.AddF(sum, product))
	}
	if k.Peephole.Valid {
		a.Set(sum, a.AddF(sum, a.MulF(a.Element(k.Peephole.Place, u), a.Element(k.Cell.Place, k.Cell.index(a, b, u)))))
	}
	store(a, k.Out, b, u, clip(a, k.Act.apply(a, sum), k.Clip))
	return kernel.Flat(k.Batch * k.Units)
}

// store writes a value to all places that it has.
func store(a *rdna.Builder, out [2]RowsPlace, b, u, x codegen.Reg) {
	for _, o := range out {
		if o.Valid {
			a.SetElement(o.Place, o.index(a, b, u), x)
		}
	}
}
