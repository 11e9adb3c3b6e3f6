package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Heatmap finds the maximum of each map of [Boxes][Size][Size][Points], refines it by the
// quadratic through its neighbours, and gives its place in its box. Lanes are maps. Fault, a
// word of 0, is set where a box is upside down.
type Heatmap struct {
	Boxes, Size, Points               int
	Heat, Regions, Scores, Out, Fault *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Heatmap) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	b, point := a.DivConstV(lane, k.Points, "box")
	region := loadBox(a, k.Regions, a.ShiftLeft(b, 2, "box"))
	a.Fault(k.Fault, region.upright(a))
	first, step := a.Sum(a.Times(b, k.Size*k.Size*k.Points), point), k.Points
	at := func(y, x codegen.Reg) codegen.Reg {
		return a.Element(k.Heat, a.Sum(first, a.Times(a.Sum(a.Times(y, k.Size), x), step)))
	}
	zero := a.Constant(0)
	best, place := a.Variable(at(zero, zero)), a.Variable(0)
	next := a.Variable(first)
	a.For(k.Size*k.Size, "pixel", func(i codegen.Reg) {
		v := a.Element(k.Heat, next)
		m := a.Where(rdna2.V_CMP_GT_F32_E64, v, best)
		a.Set(best, a.Choose(best, v, m))
		a.Set(place, a.Choose(place, a.Constant(i), m))
		a.Increase(next, step)
	})
	my, mx := a.DivConstV(place, k.Size, "y")
	dx, dy, score := k.refine(a, at, my, mx)
	a.SetElement(k.Scores, lane, score)
	coordinate := func(i int, m, d, from, to codegen.Reg) {
		p := a.AddF(float32(0.5), a.AddF(a.ToFloat(m), d))
		p = a.MulF(a.Quotient(p, a.Constant(float32(k.Size))), a.SubF(to, from))
		a.SetElement(k.Out, a.Sum(a.ShiftLeft(lane, 1, "point"), i), a.AddF(from, p))
	}
	coordinate(0, mx, dx, region[0], region[2])
	coordinate(1, my, dy, region[1], region[3])
	return kernel.Flat("heatmap", k.Boxes*k.Points)
}

// refine is the maximum of the second-order expansion around (my, mx), as an offset of at
// most 1.5, and its value. Neighbours outside are mirrored.
func (k *Heatmap) refine(a *rdna.Builder, at func(y, x codegen.Reg) codegen.Reg, my, mx codegen.Reg) (dx, dy, score codegen.Reg) {
	around := func(m codegen.Reg) [3]codegen.Reg {
		low := a.Choose(a.Less(m, 1), 1, a.Where(rdna2.V_CMP_EQ_U32_E64, 0, m))
		high := a.Choose(a.Sum(m, 1), a.Constant(uint32(k.Size-2)), a.Where(rdna2.V_CMP_EQ_U32_E64, k.Size-1, m))
		return [3]codegen.Reg{low, m, high}
	}
	var g [3][3]codegen.Reg
	ys, xs := around(my), around(mx)
	for j, y := range ys {
		for i, x := range xs {
			g[j][i] = at(y, x)
		}
	}
	half := float32(0.5)
	bx, by := a.MulF(half, a.SubF(g[1][0], g[1][2])), a.MulF(half, a.SubF(g[0][1], g[2][1]))
	twice := a.AddF(g[1][1], g[1][1])
	xx, yy := a.AddF(a.SubF(g[1][0], twice), g[1][2]), a.AddF(a.SubF(g[0][1], twice), g[2][1])
	xy := a.MulF(float32(0.25), a.AddF(a.SubF(a.SubF(g[2][2], g[2][0]), g[0][2]), g[0][0]))
	size := func(x codegen.Reg) codegen.Reg {
		return a.Op2(rdna2.V_AND_B32_E32, a.V("size"), uint32(1<<31-1), x)
	}
	product := a.MulF(xx, yy)
	det := a.SubF(product, a.MulF(xy, xy))
	regular := a.Both(a.Where(rdna2.V_CMP_GE_F32_E64, size(det), a.MulF(float32(1e-6), size(product))), a.Where(rdna2.V_CMP_NEQ_F32_E64, 0, det))
	dx = a.Choose(0, a.Quotient(a.SubF(a.MulF(yy, bx), a.MulF(xy, by)), det), regular)
	dy = a.Choose(0, a.Quotient(a.SubF(a.MulF(xx, by), a.MulF(xy, bx)), det), regular)
	const reach = float32(1.5)
	far := a.MaxF(size(dx), size(dy))
	beyond := a.Where(rdna2.V_CMP_LT_F32_E64, reach, far)
	near := func(d codegen.Reg) codegen.Reg { return a.Choose(d, a.Quotient(a.MulF(reach, d), far), beyond) }
	dx, dy = near(dx), near(dy)
	score = a.SubF(a.SubF(g[1][1], a.MulF(bx, dx)), a.MulF(by, dy))
	curve := a.AddF(a.MulF(a.AddF(a.MulF(xx, dx), a.MulF(xy, dy)), dx), a.MulF(a.AddF(a.MulF(xy, dx), a.MulF(yy, dy)), dy))
	return dx, dy, a.AddF(score, a.MulF(half, curve))
}
