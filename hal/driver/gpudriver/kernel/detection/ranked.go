package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// RankedShape is the size of a suppression: Rows lists of N boxes, best first, of Groups sets
// of Boxes boxes.
type RankedShape struct {
	Rows, N, Groups, Boxes int
	Limit                  int // survivors of a row
	Overlap                float32
	Bounded                bool // scores up to AtLeast are not looked at
	AtLeast                float32
}

// Ranked keeps of each row the boxes that overlap no better one. A wave processes a row; its lanes
// share the boxes kept so far. Boxes whose first coordinate is not a number are left out.
type Ranked struct {
	RankedShape
	Order, Scores, Boxes2D *layout.Tensor // [Rows][N] boxes and scores, [Groups][Boxes][4]
	Kept, Count            *layout.Tensor // [Rows][Limit] ranks, [Rows]
}

// Emit implements kernel.Kernel.
func (k *Ranked) Emit(a *rdna.Builder) kernel.Grid {
	const lanes = 32
	row := a.Constant(a.Workgroup(0))
	group, _ := a.DivConstV(row, k.Rows/k.Groups, "group")
	boxes, list, kept := a.Times(group, k.Boxes), a.Times(row, k.N), a.Times(row, k.Limit)
	at := func(rank codegen.Reg) box {
		return loadBox(a, k.Boxes2D, a.ShiftLeft(a.Sum(boxes, a.Element(k.Order, a.Sum(list, rank))), 2, "box"))
	}
	n, rank := a.Variable(0), a.Variable(0)
	looks := func() codegen.Reg {
		m := a.Both(a.Where(rdna2.V_CMP_GT_I32_E64, k.N, rank), a.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, n))
		if k.Bounded {
			score := a.Element(k.Scores, a.Sum(list, a.Least(rank, k.N-1)))
			m = a.Both(m, a.Where(rdna2.V_CMP_LT_F32_E64, k.AtLeast, score))
		}
		return m
	}
	a.While("rank", k.N/2, looks, func() {
		b := at(rank)
		j, covered := a.Variable(a.WorkItem(0)), a.Variable(0)
		a.While("kept", 1+min(k.Limit, k.N/4)/64, func() codegen.Reg { return a.Where(rdna2.V_CMP_LT_I32_E64, j, n) }, func() {
			o := overlap(a, b, at(a.Load32(k.Kept, a.Sum(kept, j))))
			a.Set(covered, a.Choose(covered, 1, a.Where(rdna2.V_CMP_LE_F32_E64, k.Overlap, o)))
			a.Increase(j, lanes)
		})
		free := a.Both(a.Everywhere(a.Where(rdna2.V_CMP_EQ_U32_E64, 0, covered)), a.Where(rdna2.V_CMP_EQ_F32_E64, b[0], b[0]))
		a.Masked(free, func() { a.Store32(k.Kept, a.Sum(kept, n), rank) })
		a.Set(n, a.Choose(n, a.Sum(n, 1), free))
		a.Increase(rank, 1)
	})
	a.SetElement(k.Count, row, n)
	return kernel.Waves("suppress_ranked", k.Rows)
}

// Proposed are the boxes of all anchors, moved by their deltas and clipped; those that are too
// small, or whose centre is outside, are not numbers. Lanes are anchors.
type Proposed struct {
	Batches, H, W, Anchors int
	StrideH, StrideW       float32
	Least                  float32 // no side of a box is below it

	Deltas, AnchorBoxes, Images, Out *layout.Tensor
}

// notANumber is in place of the first coordinate of a box that does not count.
const notANumber = uint32(0x7fc00000)

// Emit implements kernel.Kernel.
func (k *Proposed) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	position, anchor := a.DivConstV(lane, k.Anchors, "position")
	line, x := a.DivConstV(position, k.W, "line")
	image, y := a.DivConstV(line, k.H, "image")
	b := loadBox(a, k.AnchorBoxes, a.ShiftLeft(anchor, 2, "anchor"))
	sx, sy := a.MulF(k.StrideW, a.ToFloat(x)), a.MulF(k.StrideH, a.ToFloat(y))
	b = box{a.AddF(b[0], sx), a.AddF(b[1], sy), a.AddF(b[2], sx), a.AddF(b[3], sy)}
	size := a.ShiftLeft(image, 1, "size")
	height, width := a.Element(k.Images, size), a.Element(k.Images, a.Sum(size, 1))
	at := a.ShiftLeft(lane, 2, "box")
	b = b.moved(a, loadBox(a, k.Deltas, at)).clip(a, height, width)
	counts := a.Active()
	for axis, limit := range []codegen.Reg{width, height} {
		lo, hi := b[axis], b[axis+2]
		counts = a.Both(counts, a.Where(rdna2.V_CMP_LT_F32_E64, max(k.Least, 1), a.SubF(hi, lo)))
		counts = a.Both(counts, a.Where(rdna2.V_CMP_LT_F32_E64, a.MulF(float32(0.5), a.AddF(lo, hi)), limit))
	}
	b[0] = a.Choose(a.Constant(notANumber), b[0], counts)
	storeBox(a, k.Out, at, b)
	return kernel.Flat("proposed_boxes", k.Batches*k.H*k.W*k.Anchors)
}

// Chosen writes what suppression keeps of each row to the outputs, one row behind the other.
// Lanes are rows and places in them.
type Chosen struct {
	RankedShape
	Order, Scores, Boxes2D, Kept, Counts        *layout.Tensor
	OutScores, OutRegions, OutBatches, OutCount *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Chosen) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	row, i := a.DivConstV(lane, k.Limit, "row")
	before, all := a.Variable(0), a.Variable(0)
	a.For(k.Rows, "row", func(j codegen.Reg) {
		n := a.Element(k.Counts, a.Constant(j))
		a.Set(before, a.Choose(before, a.Sum(before, n), a.Where(rdna2.V_CMP_LT_U32_E64, j, row)))
		a.Set(all, a.Sum(all, n))
	})
	a.Masked(a.Where(rdna2.V_CMP_EQ_U32_E64, 0, lane), func() { a.SetElement(k.OutCount, a.Constant(0), all) })
	a.Masked(a.Where(rdna2.V_CMP_LT_I32_E64, i, a.Element(k.Counts, row)), func() {
		to := a.Sum(before, i)
		entry := a.Sum(a.Times(row, k.N), a.Element(k.Kept, lane))
		group, _ := a.DivConstV(row, k.Rows/k.Groups, "group")
		a.SetElement(k.OutScores, to, a.Element(k.Scores, entry))
		from := a.Sum(a.Times(group, k.Boxes), a.Element(k.Order, entry))
		storeBox(a, k.OutRegions, a.ShiftLeft(to, 2, "box"), loadBox(a, k.Boxes2D, a.ShiftLeft(from, 2, "box")))
		a.SetElement(k.OutBatches, to, group)
	})
	return kernel.Flat("collect_ranked", k.Rows*k.Limit)
}
