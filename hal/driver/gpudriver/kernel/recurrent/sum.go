package recurrent

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Sum is, for each unit, the function of the sum of its bias, of the products of all terms,
// and of the cell state times a peephole weight:
//
//	out[b][u] = act(bias[u] + sum over terms, n of x[b][n] * w[u][n] + peephole[u] * cell[b][u])
//
// A wave computes one unit: its lanes share the products, so that neighbouring lanes read
// neighbouring weights, and fold their sums.
type Sum struct {
	Batch, Units   int
	Terms          []Term
	Bias, Peephole *layout.Tensor // nil where there is none
	Cell           *layout.Tensor // [Batch][Units], with Peephole
	Act            Act
	Clip           float32
	Out            [2]Rows // the second may have no tensor
}

// lanes is the number of lanes of a wave.
const lanes = 32

// Emit implements kernel.Kernel.
func (k *Sum) Emit(a *rdna.Builder) kernel.Grid {
	batch, unit := a.DivConst(a.Workgroup(0), k.Units, "batch")
	sum := a.Variable(0)
	for _, t := range k.Terms {
		if t.X.T != nil {
			t.products(a, batch, unit, sum)
		}
	}
	total := a.AcrossLanes(rdna2.V_ADD_F32_E32, sum)
	a.Masked(a.Inside(a.WorkItem(0), 1), func() { k.finish(a, a.Constant(batch), a.Constant(unit), a.Variable(total)) })
	return kernel.Waves("cell_sum", k.Batch*k.Units)
}

// finish adds what is no product to a sum and stores the function of it.
func (k *Sum) finish(a *rdna.Builder, b, u, sum codegen.Reg) {
	if k.Bias != nil {
		a.Set(sum, a.AddF(sum, a.Element(k.Bias, u)))
	}
	if k.Peephole != nil {
		a.Set(sum, a.AddF(sum, a.MulF(a.Element(k.Peephole, u), a.Element(k.Cell, Rows{k.Cell, 0, k.Units}.index(a, b, u)))))
	}
	store(a, k.Out, b, u, clip(a, k.Act.apply(a, sum), k.Clip))
}

// unroll is how many blocks of a term have their loads under way together: as far as the
// immediate offset of a load reaches, with four float32 to a lane.
const unroll = 4

// products adds the products of one row of weights to the sums of the lanes, in blocks of four
// neighbouring elements to a lane, the rest element by element.
func (t *Term) products(a *rdna.Builder, batch, unit, sum codegen.Reg) {
	at := a.Op2(rdna2.S_ADD_I32, a.S("first"), a.MulConst(batch, t.X.Stride, "row"), t.X.At)
	row := a.MulConst(unit, t.N, "weights")
	xs, ws := t.X.T.Elem, t.W.Elem
	xp, wp := a.Pointer(t.X.T.Region, t.X.T.Off, "x"), a.Pointer(t.W.Region, t.W.Off, "w")
	offset := func(lane, first codegen.Reg, e layout.Element) codegen.Reg {
		return a.Variable(a.ShiftLeft(a.Sum(lane, first), e.Shift(), "offset"))
	}
	// Four neighbouring elements can be loaded together: words lie where they may, halves must begin at even places
	// of rows of a multiple of four.
	block, full := 4*lanes, 0
	whole := t.N%4 == 0 && t.X.At%4 == 0 && t.X.Stride%4 == 0
	if whole || xs.Bytes() == 4 && ws.Bytes() == 4 {
		full = t.N / block
	}
	if full > 0 {
		four := a.ShiftLeft(a.WorkItem(0), 2, "lane")
		x, w := offset(four, at, xs), offset(four, row, ws)
		blocks := func(n int) {
			var loaded [unroll][2]codegen.Reg
			for i := range n {
				loaded[i] = [2]codegen.Reg{a.LoadQuad(xs, xp, x, i*block*xs.Bytes()), a.LoadQuad(ws, wp, w, i*block*ws.Bytes())}
			}
			for i := range n {
				xe, we := a.Elements(xs, loaded[i][0], 4), a.Elements(ws, loaded[i][1], 4)
				for j := range xe {
					a.Emit(rdna2.V_FMAC_F32_E32, sum, xe[j], we[j])
				}
			}
			a.Increase(x, n*block*xs.Bytes())
			a.Increase(w, n*block*ws.Bytes())
		}
		if rounds := full / unroll; rounds > 0 {
			a.For(rounds, "products", func(codegen.Reg) { blocks(unroll) })
		}
		if n := full % unroll; n > 0 {
			blocks(n)
		}
	}
	rest := t.N - full*block
	if rest == 0 {
		return
	}
	first := full * block
	lane := a.Sum(a.WorkItem(0), first)
	x, w := offset(lane, at, xs), offset(lane, row, ws)
	one := func() {
		a.Emit(rdna2.V_FMAC_F32_E32, sum, a.Widen(xs, a.Load(xs, xp, x, 0, "x")), a.Widen(ws, a.Load(ws, wp, w, 0, "w")))
	}
	if n := rest / lanes; n > 0 {
		a.For(n, "rest", func(codegen.Reg) {
			one()
			a.Increase(x, lanes*xs.Bytes())
			a.Increase(w, lanes*ws.Bytes())
		})
	}
	if n := rest % lanes; n > 0 {
		a.Masked(a.Inside(a.WorkItem(0), n), one)
	}
}
