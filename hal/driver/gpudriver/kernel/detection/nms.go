package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Nms is the arithmetic of a BOX_WITH_NMS_LIMIT and the tensors that its launches share.
type Nms struct {
	Boxes, Classes        int // class 0 is the background
	AtLeast               float32
	Limit                 int32 // detections of an image; negative is all
	Kernel                int32 // opspec.NmsHard and so on
	Overlap, Sigma, Least float32

	Scores, Regions, Batches *layout.Tensor // Scores change
	List                     *layout.Tensor // scores of candidates by element, of a list's first image box on
	Found, Kept, First       *layout.Tensor // per list: survivors, those within the limit, the first in the output
	Partial                  *layout.Tensor // of the scan, a word per lane
	Count, Fault             *layout.Tensor
	OutScores, OutRegions    *layout.Tensor
	OutClasses, OutBatches   *layout.Tensor
}

// lists are the lists of candidates: one for each box that begins an image - whose number of
// the batch is not that of the box before - and each class but the first.
func (s *Nms) lists() int { return s.Boxes * (s.Classes - 1) }

// The launches, in their order.
type (
	Suppress struct{ *Nms } // each list by itself
	Limit    struct{ *Nms } // the best of all lists of an image
	Scan     struct{ *Nms } // places in the output
	Collect  struct{ *Nms } // the output
)

type nmsGenerator struct {
	*rdna.Builder
	k *Nms
}

// list is a lane's list: its box, its class, the box behind the image's last, and its first
// entry. begins is the mask of boxes that begin an image.
func (g *nmsGenerator) list() (lane, start, class, end, first, begins codegen.Reg) {
	k := g.k
	lane = g.Lane(kernel.FlatGroup)
	start, class = g.DivConstV(lane, k.Classes-1, "box")
	batch := g.Element(k.Batches, start)
	before := g.Element(k.Batches, g.Greatest(g.Less(start, 1), 0))
	begins = g.Any(g.Where(rdna2.V_CMP_EQ_U32_E64, 0, start), g.Where(rdna2.V_CMP_NE_U32_E64, batch, before))
	end = g.Variable(g.Sum(start, 1))
	g.While("image", k.Boxes/2, func() codegen.Reg {
		more := g.Inside(end, k.Boxes)
		next := g.Element(k.Batches, g.Least(end, k.Boxes-1))
		return g.Both(g.Both(more, begins), g.Where(rdna2.V_CMP_EQ_U32_E64, batch, next))
	}, func() { g.Increase(end, 1) })
	first = g.Sum(g.Times(start, k.Classes-1), g.Times(class, g.Less(end, start)))
	return lane, start, g.Sum(class, 1), end, first, begins
}

// Emit implements kernel.Kernel: it makes the list of each image and class, best first, and lets each member weaken
// those that overlap it.
func (k Suppress) Emit(a *rdna.Builder) kernel.Grid {
	g := nmsGenerator{a, k.Nms}
	lane, start, class, end, first, begins := g.list()
	for _, c := range []any{class, 0} {
		g.Fault(k.Fault, g.boxOf(g.Sum(g.Times(start, k.Classes), c)).upright(g.Builder))
	}
	n, i := g.Variable(0), g.Variable(start)
	g.While("candidates", k.Boxes/2, func() codegen.Reg { return g.Both(begins, g.Where(rdna2.V_CMP_LT_I32_E64, i, end)) }, func() {
		e := g.Sum(g.Times(i, k.Classes), class)
		m := g.Where(rdna2.V_CMP_LT_F32_E64, k.AtLeast, g.Load32(k.Scores, e))
		g.Masked(m, func() { g.Store32(k.List, g.Sum(first, n), e) })
		g.Set(n, g.Choose(n, g.Sum(n, 1), m))
		g.Increase(i, 1)
	})
	g.Set(i, 0)
	g.While("survivors", k.Boxes/4, func() codegen.Reg { return g.Where(rdna2.V_CMP_LT_I32_E64, i, n) }, func() {
		at := g.Sum(first, i)
		own := g.Load32(k.List, at)
		best, top, j := g.Variable(i), g.Variable(g.Load32(k.Scores, own)), g.Variable(g.Sum(i, 1))
		g.While("best", k.Boxes/8, func() codegen.Reg { return g.Where(rdna2.V_CMP_LT_I32_E64, j, n) }, func() {
			s := g.Load32(k.Scores, g.Load32(k.List, g.Sum(first, j)))
			m := g.Where(rdna2.V_CMP_GT_F32_E64, s, top)
			g.Set(best, g.Choose(best, j, m))
			g.Set(top, g.Choose(top, s, m))
			g.Increase(j, 1)
		})
		chosen := g.Load32(k.List, g.Sum(first, best))
		g.Store32(k.List, g.Sum(first, best), own)
		g.Store32(k.List, at, chosen)
		b := g.boxOf(chosen)
		g.Set(j, g.Sum(i, 1))
		g.While("others", k.Boxes/8, func() codegen.Reg { return g.Where(rdna2.V_CMP_LT_I32_E64, j, n) }, func() {
			other := g.Load32(k.List, g.Sum(first, j))
			s := g.MulF(g.Load32(k.Scores, other), g.factor(overlap(g.Builder, b, g.boxOf(other))))
			g.Store32(k.Scores, other, s)
			stays := g.Where(rdna2.V_CMP_LE_F32_E64, k.Least, s)
			last := g.Less(n, 1)
			lastOne := g.Load32(k.List, g.Sum(first, last))
			g.Masked(g.Without(g.Active(), stays), func() {
				g.Store32(k.List, g.Sum(first, j), lastOne)
				g.Store32(k.List, g.Sum(first, last), other)
			})
			g.Set(n, g.Choose(last, n, stays))
			g.Set(j, g.Choose(j, g.Sum(j, 1), stays))
		})
		g.Increase(i, 1)
	})
	g.SetElement(k.Found, lane, n)
	return kernel.Flat("nms_suppress", k.lists())
}

// boxOf is the box of an element of the scores.
func (g *nmsGenerator) boxOf(e codegen.Reg) box {
	return loadBox(g.Builder, g.k.Regions, g.ShiftLeft(e, 2, "box"))
}

// factor is what an overlap leaves of a score.
func (g *nmsGenerator) factor(o codegen.Reg) codegen.Reg {
	k := g.k
	if k.Kernel == opspec.NmsGaussian {
		square := g.MulF(g.SubF(float32(0), o), o)
		return g.Exp(g.Quotient(square, g.Constant(k.Sigma)))
	}
	rest := g.Constant(0)
	if k.Kernel == opspec.NmsLinear {
		rest = g.SubF(float32(1), o)
	}
	return g.Choose(rest, g.Constant(float32(1)), g.Where(rdna2.V_CMP_GT_F32_E64, k.Overlap, o))
}

// Emit implements kernel.Kernel: it counts what is kept of each list: of all lists of an image the best, of equals the
// earlier. Lists are ordered, so it is their beginnings.
func (k Limit) Emit(a *rdna.Builder) kernel.Grid {
	g := nmsGenerator{a, k.Nms}
	lane, start, class, end, first, _ := g.list()
	n := g.Element(k.Found, lane)
	if k.Limit < 0 {
		g.SetElement(k.Kept, lane, n)
		return kernel.Flat("nms_limit", k.lists())
	}
	size := g.Less(end, start)
	score := func(entry codegen.Reg) codegen.Reg { return g.Element(k.Scores, g.Element(k.List, entry)) }
	kept, better := g.Variable(0), g.Variable(0)
	within := func() codegen.Reg {
		return g.Both(g.Where(rdna2.V_CMP_LT_I32_E64, kept, n), g.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, better))
	}
	g.While("entry", k.Boxes/4, within, func() {
		own := score(g.Sum(first, kept))
		g.Set(better, kept)
		c, other := g.Variable(1), g.Variable(g.Times(start, k.Classes-1))
		list := g.Variable(other)
		g.While("class", k.Classes, func() codegen.Reg {
			return g.Both(g.Inside(c, k.Classes), g.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, better))
		}, func() {
			m := g.Element(k.Found, list)
			m = g.Choose(m, 0, g.Where(rdna2.V_CMP_EQ_U32_E64, c, class))
			earlier := g.Where(rdna2.V_CMP_LT_I32_E64, c, class)
			j := g.Variable(0)
			g.While("better", 1, func() codegen.Reg {
				inside := g.Where(rdna2.V_CMP_LT_I32_E64, j, m)
				e := g.Element(k.List, g.Sum(other, g.Choose(0, j, inside)))
				s := g.Element(k.Scores, g.Choose(0, e, inside)) // behind a list's end is anything
				ahead := g.Any(g.Where(rdna2.V_CMP_GT_F32_E64, s, own), g.Both(earlier, g.Where(rdna2.V_CMP_EQ_F32_E64, s, own)))
				return g.Both(ahead, inside)
			}, func() { g.Increase(j, 1) })
			g.Set(better, g.Sum(better, j))
			g.Increase(c, 1)
			g.Increase(list, 1)
			g.Set(other, g.Sum(other, size))
		})
		g.Set(kept, g.Choose(kept, g.Sum(kept, 1), g.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, better)))
	})
	g.SetElement(k.Kept, lane, kept)
	return kernel.Flat("nms_limit", k.lists())
}

// Emit implements kernel.Kernel: it adds up what lists keep: each lane its share of the lists, then what lanes before it
// have, then place by place.
func (k Scan) Emit(a *rdna.Builder) kernel.Grid {
	g := nmsGenerator{a, k.Nms}
	const lanes = 32
	share := (k.lists() + lanes - 1) / lanes
	lane := g.WorkItem(0)
	first := g.Times(lane, share)
	each := func(name string, body func(at, kept codegen.Reg)) {
		g.For(share, name, func(i codegen.Reg) {
			at := g.Sum(first, i)
			inside := g.Inside(at, k.lists())
			kept := g.Choose(0, g.Element(k.Kept, g.Least(at, k.lists()-1)), inside)
			body(at, kept)
		})
	}
	sum := g.Variable(0)
	each("share", func(_, kept codegen.Reg) { g.Set(sum, g.Sum(sum, kept)) })
	g.Store32(k.Partial, lane, sum)
	place := g.Variable(0)
	g.For(lanes, "lanes before", func(j codegen.Reg) {
		before := g.Load32(k.Partial, g.Constant(j))
		g.Set(place, g.Choose(place, g.Sum(place, before), g.Where(rdna2.V_CMP_LT_U32_E64, j, lane)))
	})
	each("places", func(at, kept codegen.Reg) {
		g.Masked(g.Inside(at, k.lists()), func() { g.Store32(k.First, at, place) })
		g.Set(place, g.Sum(place, kept))
	})
	g.Masked(g.Where(rdna2.V_CMP_EQ_U32_E64, lanes-1, lane), func() { g.SetElement(k.Count, g.Constant(0), place) })
	return kernel.Waves("nms_scan", 1)
}

// Emit implements kernel.Kernel: it writes what lists keep to its places.
func (k Collect) Emit(a *rdna.Builder) kernel.Grid {
	g := nmsGenerator{a, k.Nms}
	lane, start, class, _, first, _ := g.list()
	n, to := g.Element(k.Kept, lane), g.Variable(g.Element(k.First, lane))
	batch := g.Element(k.Batches, start)
	i := g.Variable(0)
	g.While("entry", k.Boxes/4, func() codegen.Reg { return g.Where(rdna2.V_CMP_LT_I32_E64, i, n) }, func() {
		e := g.Element(k.List, g.Sum(first, i))
		g.SetElement(k.OutScores, to, g.Element(k.Scores, e))
		storeBox(g.Builder, k.OutRegions, g.ShiftLeft(to, 2, "box"), g.boxOf(e))
		g.SetElement(k.OutClasses, to, class)
		g.SetElement(k.OutBatches, to, batch)
		g.Increase(i, 1)
		g.Increase(to, 1)
	})
	return kernel.Flat("nms_collect", k.lists())
}
