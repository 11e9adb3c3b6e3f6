package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Decoded are boxes (y1, x1, y2, x2) of anchors and deltas, both (centre y, centre x, height,
// width). A delta has Encoding values; four are used. Lanes are boxes.
type Decoded struct {
	Batches, Boxes, Encoding int
	Scale                    [4]float32 // of the deltas
	Deltas, Anchors, Out     *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Decoded) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	_, i := a.DivConstV(lane, k.Boxes, "batch")
	d, anchor := loadBox(a, k.Deltas, a.Times(lane, k.Encoding)), loadBox(a, k.Anchors, a.ShiftLeft(i, 2, "anchor"))
	for j, s := range k.Scale {
		d[j] = a.Quotient(d[j], a.Constant(s))
	}
	half := float32(0.5)
	var b box
	for axis := range 2 {
		centre := a.AddF(a.MulF(d[axis], anchor[axis+2]), anchor[axis])
		size := a.MulF(half, a.MulF(a.Exp(d[axis+2]), anchor[axis+2]))
		b[axis], b[axis+2] = a.SubF(centre, size), a.AddF(centre, size)
	}
	storeBox(a, k.Out, a.ShiftLeft(lane, 2, "box"), b)
	return kernel.Flat("decode_boxes", k.Batches*k.Boxes)
}

// Detections writes the best boxes that suppression keeps. With PerClass there is a list for each
// class, and lanes are its survivors; else one list for each image, and lanes are survivors and
// their best classes: Classes2D and ClassScores are [Batches][Boxes][Ranked].
type Detections struct {
	Batches, Boxes, Classes int // without the background
	Survivors               int // of a list of suppression
	Ranked                  int // classes of a box, where boxes are suppressed by their best
	PerClass                bool
	Limit                   int // detections of an image
	Label                   int // of the first class behind the background

	Order, Scores, Boxes2D, Kept, Counts        *layout.Tensor
	Classes2D, ClassScores                      *layout.Tensor // nil with PerClass
	OutScores, OutRegions, OutClasses, OutCount *layout.Tensor
}

// lists are the lists of survivors of an image, and the lanes that share one.
func (s *Detections) lists() (lists, lanes int) {
	if s.PerClass {
		return s.Classes, s.Survivors
	}
	return 1, s.Survivors * s.Ranked
}

// Emit implements kernel.Kernel.
func (k *Detections) Emit(a *rdna.Builder) kernel.Grid {
	lists, lanes := k.lists()
	list, i := a.DivConstV(a.Lane(kernel.FlatGroup), lanes, "list")
	batch, class := a.DivConstV(list, lists, "batch")
	if k.PerClass {
		k.perClass(a, list, i, batch, class)
	} else {
		k.perBox(a, batch, i)
	}
	return kernel.Flat("detections", k.Batches*lists*lanes)
}

// write puts detection number at of an image in its place.
func (k *Detections) write(a *rdna.Builder, batch, at, score, from, class codegen.Reg) {
	to := a.Sum(a.Times(batch, k.Limit), at)
	a.SetElement(k.OutScores, to, score)
	storeBox(a, k.OutRegions, a.ShiftLeft(to, 2, "box"), loadBox(a, k.Boxes2D, a.ShiftLeft(a.Sum(a.Times(batch, k.Boxes), from), 2, "from")))
	a.SetElement(k.OutClasses, to, a.Sum(class, k.Label))
}

// perClass counts for each survivor those before it in all lists of its image.
func (k *Detections) perClass(a *rdna.Builder, list, i, batch, class codegen.Reg) {
	entry := func(list, i codegen.Reg) codegen.Reg {
		return a.Sum(a.Times(list, k.Boxes), a.Element(k.Kept, a.Sum(a.Times(list, k.Survivors), i)))
	}
	mine := a.Element(k.Counts, list)
	exists := a.Where(rdna2.V_CMP_LT_I32_E64, i, mine)
	place := entry(list, a.Choose(0, i, exists))
	place = a.Choose(0, place, exists)
	score := a.Element(k.Scores, place)
	before, all, other := a.Variable(0), a.Variable(0), a.Variable(a.Times(batch, k.Classes))
	a.For(k.Classes, "class", func(c codegen.Reg) {
		n := a.Element(k.Counts, other)
		a.Set(all, a.Sum(all, n))
		j := a.Variable(0)
		earlier := a.Where(rdna2.V_CMP_LT_U32_E64, c, class)
		same := a.Where(rdna2.V_CMP_EQ_U32_E64, c, class)
		a.While("better", 1, func() codegen.Reg {
			inside := a.Where(rdna2.V_CMP_LT_I32_E64, j, n)
			s := a.Element(k.Scores, a.Choose(0, entry(other, a.Choose(0, j, inside)), inside))
			first := a.Any(earlier, a.Both(same, a.Where(rdna2.V_CMP_LT_I32_E64, j, i)))
			ahead := a.Any(a.Where(rdna2.V_CMP_GT_F32_E64, s, score), a.Both(first, a.Where(rdna2.V_CMP_EQ_F32_E64, s, score)))
			return a.Both(inside, ahead)
		}, func() { a.Increase(j, 1) })
		a.Set(before, a.Sum(before, j))
		a.Increase(other, 1)
	})
	a.Masked(a.Both(exists, a.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, before)), func() {
		k.write(a, batch, before, score, a.Element(k.Order, place), class)
	})
	a.SetElement(k.OutCount, batch, a.Least(all, k.Limit))
}

// perBox writes the best classes of each survivor.
func (k *Detections) perBox(a *rdna.Builder, batch, i codegen.Reg) {
	n := a.Element(k.Counts, batch)
	survivor, j := a.DivConstV(i, k.Ranked, "survivor")
	exists := a.Both(a.Where(rdna2.V_CMP_LT_I32_E64, survivor, n), a.Where(rdna2.V_CMP_GT_I32_E64, k.Limit, i))
	a.Masked(exists, func() {
		rank := a.Element(k.Kept, a.Sum(a.Times(batch, k.Survivors), survivor))
		from := a.Element(k.Order, a.Sum(a.Times(batch, k.Boxes), rank))
		ranked := a.Sum(a.Times(a.Sum(a.Times(batch, k.Boxes), from), k.Ranked), j)
		k.write(a, batch, i, a.Element(k.ClassScores, ranked), from, a.Element(k.Classes2D, ranked))
	})
	a.SetElement(k.OutCount, batch, a.Least(a.Times(n, k.Ranked), k.Limit))
}
