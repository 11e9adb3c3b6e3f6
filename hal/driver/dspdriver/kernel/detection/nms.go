package detection

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of an NMS.
const (
	nmsScores = iota
	nmsBoxes
	nmsImages
	nmsBad
	nmsReals
	nmsReciprocals
	nmsCount
	nmsOutScores
	nmsOutBoxes
	nmsOutClasses
	nmsOutImages
)

// Words of its frame. Behind them are the current scores, one float per box and
// class, and a list of candidates: pairs of an index into the scores and a class.
const (
	nmsFirst = iota // boxes of an image: from first up to behind
	nmsBehind
	nmsGroup // list of the image, of a class, its end
	nmsStart
	nmsEnd
	nmsScore // address of the scores
	nmsBest  // the best box: four words
	NmsFrame = 16
)

// Name implements hvx.Kernel.
func (k NMS) Name() string { return fmt.Sprintf("nms_%dx%d", k.Boxes, k.Classes) }

// Emit writes the kernel. Arguments: block, frame.
func (k NMS) Emit(a *hvx.Builder) {
	in := a.Args("block", "frame")
	block, f := in[0], hvx.Frame{B: a, Base: in[1]}
	done := a.Func.Label("done")
	scores := a.Add(f.Base, 4*NmsFrame)
	list := a.Add(scores, hvx.RoundUp(4*k.Boxes*k.Classes, 8))
	f.Put(nmsScore, scores)
	f.Put(nmsEnd, list)
	k.load(a, block, scores, done)
	first := a.CopyOf(a.Imm(0))
	boxes := a.Imm(k.Boxes)
	a.While(func() codegen.Reg { return a.Compare(hexagon.C2_cmpgt, boxes, first) }, func(codegen.Label) {
		f.Put(nmsFirst, first)
		f.Put(nmsBehind, k.imageEnd(a, block, first))
		f.Put(nmsGroup, f.Get(nmsEnd))
		class := a.CopyOf(a.Imm(1)) // class 0 is the background
		a.ForEach(class, a.Imm(k.Classes), func(codegen.Label) {
			k.collect(a, f, class)
			k.suppress(a, f, block)
		})
		if k.Limit >= 0 {
			k.cut(a, f)
		}
	}, func() { a.Move(first, f.Get(nmsBehind)) })
	k.report(a, f, block, list)
	a.Func.Bind(done)
	a.Ret()
}

// load makes floats of all scores and checks all boxes.
func (k NMS) load(a *hvx.Builder, block, scores codegen.Reg, done codegen.Label) {
	from, to, box := a.Word(block, nmsScores, "scores"), a.CopyOf(scores), a.Word(block, nmsBoxes, "boxes")
	n := a.Imm(k.Boxes * k.Classes)
	a.Repeat(n, func() {
		a.Op(hexagon.S2_storeri_pi, to, 4, byteReal(a, from, a.Imm(0), a.Word(block, nmsReals, "reals"))).Stores(hvx.AliasScratch)
		checkRegion(a, corners(a, box, k.In), codegen.Reg{}, 0, a.Word(block, nmsBad, "bad"), done)
		a.Bump(from, 1)
		a.Bump(box, 8)
	})
}

// imageEnd is the box behind the last that belongs to the image of the first.
func (k NMS) imageEnd(a *hvx.Builder, block, first codegen.Reg) codegen.Reg {
	images := a.Word(block, nmsImages, "images")
	at := func(i codegen.Reg) codegen.Reg {
		r := a.R("image")
		a.Op(hexagon.L4_loadri_rr, r, images, i, 2).Loads(hvx.AliasIn)
		return r
	}
	image, i, n := at(first), a.Add(first, 1), a.Imm(k.Boxes)
	out := a.Func.Label("next image")
	a.ForEach(i, n, func(codegen.Label) {
		a.Op(hexagon.J2_jumpf, a.Compare(hexagon.C2_cmpeq, at(i), image), out)
	})
	a.Func.Bind(out)
	return i
}

// collect appends the boxes of an image whose score for a class is high enough.
func (k NMS) collect(a *hvx.Builder, f hvx.Frame, class codegen.Reg) {
	to, i, behind := f.Get(nmsEnd), f.Get(nmsFirst), f.Get(nmsBehind)
	f.Put(nmsStart, to)
	index := a.Into(hexagon.A2_add, a.Into(hexagon.M2_mpyi, i, a.Imm(k.Classes)), class)
	scores, least := f.Get(nmsScore), a.Float(k.AtLeast)
	a.ForEach(i, behind, func(codegen.Label) {
		a.If(a.FLess(least, scoreOf(a, scores, index)), func() {
			a.Op(hexagon.S2_storeri_io, to, 0, index).Stores(hvx.AliasScratch)
			a.Op(hexagon.S2_storeri_io, to, 4, class).Stores(hvx.AliasScratch)
			a.Bump(to, 8)
		})
		a.Bump(index, k.Classes)
	})
	f.Put(nmsEnd, to)
}

// scoreOf is the current score of an index.
func scoreOf(a *hvx.Builder, scores, index codegen.Reg) codegen.Reg {
	r := a.R("score")
	a.Op(hexagon.L4_loadri_rr, r, scores, index, 2).Loads(hvx.AliasScratch)
	return r
}

// indexAt is the index of a list entry.
func indexAt(a *hvx.Builder, entry codegen.Reg) codegen.Reg {
	r := a.R("index")
	a.Op(hexagon.L2_loadri_io, r, entry, 0).Loads(hvx.AliasScratch)
	return r
}

func loadEntry(a *hvx.Builder, at codegen.Reg, off int) codegen.Reg {
	r := a.RR("entry")
	a.Op(hexagon.L2_loadrd_io, r, at, off).Loads(hvx.AliasScratch)
	return r
}

func setEntry(a *hvx.Builder, at, e codegen.Reg) {
	a.Op(hexagon.S2_storerd_io, at, 0, e).Stores(hvx.AliasScratch)
}

// swap exchanges two list entries.
func swap(a *hvx.Builder, x, y codegen.Reg) {
	p, q := loadEntry(a, x, 0), loadEntry(a, y, 0)
	setEntry(a, x, q)
	setEntry(a, y, p)
}

// below tests the order of two addresses; all are below 2^31.
func below(a *hvx.Builder, x, y codegen.Reg) codegen.Reg { return a.Compare(hexagon.C2_cmpgt, y, x) }

// suppress puts the best candidate of the class first, rescales the scores of
// the others by their overlap with it, drops those that fall too low, and goes
// on with the rest.
func (k NMS) suppress(a *hvx.Builder, f hvx.Frame, block codegen.Reg) {
	i, end, scores := f.Get(nmsStart), f.Get(nmsEnd), f.Get(nmsScore)
	boxAt := func(index codegen.Reg) [4]codegen.Reg {
		return corners(a, hvx.Indexed(a, a.Word(block, nmsBoxes, "boxes"), index, 8), k.In)
	}
	a.While(func() codegen.Reg { return below(a, i, end) }, func(codegen.Label) {
		best, top, j := a.CopyOf(i), a.CopyOf(scoreOf(a, scores, indexAt(a, i))), a.Add(i, 8)
		a.While(func() codegen.Reg { return below(a, j, end) }, func(codegen.Label) {
			s := scoreOf(a, scores, indexAt(a, j))
			above := a.FLess(top, s)
			a.Move(top, a.Into(hexagon.C2_mux, above, s, top))
			a.Move(best, a.Into(hexagon.C2_mux, above, j, best))
		}, func() { a.Bump(j, 8) })
		swap(a, i, best)
		for n, c := range boxAt(indexAt(a, i)) {
			f.Put(nmsBest+n, c)
		}
		a.Move(j, a.Add(i, 8))
		a.While(func() codegen.Reg { return below(a, j, end) }, func(next codegen.Label) {
			index := indexAt(a, j)
			var b [4]codegen.Reg
			for n := range b {
				b[n] = f.Get(nmsBest + n)
			}
			overlap := boxOverlap(a, b, boxAt(index))
			s := a.FMul(scoreOf(a, scores, index), k.factor(a, overlap, block))
			a.Op(hexagon.S4_storeri_rr, scores, index, 2, s).Stores(hvx.AliasScratch)
			a.Unless(a.FAtLeast(s, a.Float(k.Least)), func() {
				a.Bump(end, -8)
				swap(a, j, end)
				a.Bump(j, -8)
			})
		}, func() { a.Bump(j, 8) })
	}, func() { a.Bump(i, 8) })
	f.Put(nmsEnd, end)
}

// boxOverlap is intersection over union.
func boxOverlap(a *hvx.Builder, x, y [4]codegen.Reg) codegen.Reg {
	zero := a.Float(0)
	result := a.CopyOf(zero)
	var side [2]codegen.Reg
	for i := range side {
		side[i] = a.FSub(a.FMin(x[2+i], y[2+i]), a.FMax(x[i], y[i]))
	}
	a.If(a.FLess(zero, a.FMin(side[0], side[1])), func() {
		area := func(b [4]codegen.Reg) codegen.Reg { return a.FMul(a.FSub(b[2], b[0]), a.FSub(b[3], b[1])) }
		both := a.FMul(side[0], side[1])
		a.Move(result, a.FDiv(both, a.FSub(a.FAdd(area(x), area(y)), both)))
	})
	return result
}

// factor is what a score is multiplied by for an overlap with a better box.
func (k NMS) factor(a *hvx.Builder, overlap, block codegen.Reg) codegen.Reg {
	one := a.Float(1)
	if k.Kind == 2 {
		x := a.FDiv(a.FMul(overlap, overlap), a.Float(k.Sigma))
		return ExpMinus(a, x, a.Word(block, nmsReciprocals, "reciprocals"))
	}
	other := a.Imm(0)
	if k.Kind == 1 {
		other = a.FSub(one, overlap)
	}
	return a.Into(hexagon.C2_mux, a.FLess(overlap, a.Float(k.Overlap)), one, other)
}

// cut leaves the best detections of an image, in the order of their classes.
func (k NMS) cut(a *hvx.Builder, f hvx.Frame) {
	group, end := f.Get(nmsGroup), f.Get(nmsEnd)
	limit := a.Add(group, 8*min(int(k.Limit), k.Boxes*k.Classes))
	a.If(below(a, limit, end), func() {
		scores := f.Get(nmsScore)
		sortEntries(a, group, end, func(e codegen.Reg) codegen.Reg { return scoreOf(a, scores, hvx.Lo(e)) }, func(x, y codegen.Reg) codegen.Reg { return a.FLess(y, x) })
		f.Put(nmsEnd, limit)
		sortEntries(a, group, limit, hvx.Hi, func(x, y codegen.Reg) codegen.Reg { return a.Compare(hexagon.C2_cmpgt, y, x) })
	})
}

// sortEntries sorts list entries by insertion: those of equal rank keep their order.
func sortEntries(a *hvx.Builder, from, to codegen.Reg, key func(e codegen.Reg) codegen.Reg, before func(x, y codegen.Reg) codegen.Reg) {
	i := a.Add(from, 8)
	a.While(func() codegen.Reg { return below(a, i, to) }, func(codegen.Label) {
		e := loadEntry(a, i, 0)
		rank, j, found := a.CopyOf(key(e)), a.CopyOf(i), a.Func.Label("found")
		a.While(func() codegen.Reg { return below(a, from, j) }, func(codegen.Label) {
			p := loadEntry(a, j, -8)
			a.Op(hexagon.J2_jumpf, before(rank, key(p)), found)
			setEntry(a, j, p)
		}, func() { a.Bump(j, -8) })
		a.Func.Bind(found)
		setEntry(a, j, e)
	}, func() { a.Bump(i, 8) })
}

// report writes the outputs and their number.
func (k NMS) report(a *hvx.Builder, f hvx.Frame, block, list codegen.Reg) {
	at, end, scores, n := a.CopyOf(list), f.Get(nmsEnd), f.Get(nmsScore), a.CopyOf(a.Imm(0))
	a.While(func() codegen.Reg { return below(a, at, end) }, func(codegen.Label) {
		e := loadEntry(a, at, 0)
		index, class := hvx.Lo(e), hvx.Hi(e)
		s := hvxmath.Quantize(a, scoreOf(a, scores, index), k.OutScore)
		a.Op(hexagon.S4_storerb_rr, a.Word(block, nmsOutScores, "scores"), n, 0, s).Stores(hvx.AliasOut)
		b := corners(a, hvx.Indexed(a, a.Word(block, nmsBoxes, "boxes"), index, 8), k.In)
		to := hvx.Indexed(a, a.Word(block, nmsOutBoxes, "boxes"), n, 8)
		for i := range b {
			a.Op(hexagon.S2_storerh_io, to, 2*i, hvxmath.Quantize(a, b[i], k.OutBox)).Stores(hvx.AliasOut)
		}
		a.Op(hexagon.S4_storeri_rr, a.Word(block, nmsOutClasses, "classes"), n, 2, class).Stores(hvx.AliasOut)
		// Exact: the index is far below 2^24.
		box := a.Floor(a.FDiv(a.FloatOf(index), a.Float(float32(k.Classes))))
		image := a.R("image")
		a.Op(hexagon.L4_loadri_rr, image, a.Word(block, nmsImages, "images"), box, 2).Loads(hvx.AliasIn)
		a.Op(hexagon.S4_storeri_rr, a.Word(block, nmsOutImages, "images"), n, 2, image).Stores(hvx.AliasOut)
		a.Bump(n, 1)
	}, func() { a.Bump(at, 8) })
	a.Op(hexagon.S2_storeri_io, a.Word(block, nmsCount, "count"), 0, n).Stores(hvx.AliasOut)
}

// ExpMinus is e^-x of a float x >= 0, rounded from 60 bits: x = k ln 2 + r in
// fixed point with 56 fraction bits, then the series 1 - r (1 - r/2 (1 - r/3 ...)).
func ExpMinus(a *hvx.Builder, x, reciprocals codegen.Reg) codegen.Reg {
	result := a.CopyOf(a.Imm(0))
	a.If(a.FLess(x, a.Float(104)), func() { // else it is below the least float
		const point = 56
		ln2 := uint64(math.Round(math.Ln2 * (1 << point)))
		fixed := a.RR("x")
		a.Op(hexagon.F2_conv_sf2ud_chop, fixed, a.FMul(x, a.Float(1<<point)))
		k := a.Into(hexagon.F2_conv_sf2w_chop, a.FMul(x, a.Float(math.Log2E)))
		l2 := a.RR("ln2")
		a.Op(hexagon.A2_combinew, l2, a.Imm(int(ln2>>32)), a.Imm(int(uint32(ln2))))
		r := a.RR("rest")
		low, high := wide(a, hexagon.M2_dpmpyuu_s0, k, hvx.Lo(l2)), wide(a, hexagon.M2_dpmpyuu_s0, k, hvx.Hi(l2))
		a.Op(hexagon.S2_asl_i_p, high, high, 32)
		a.Op(hexagon.A2_addp, low, low, high)
		a.Op(hexagon.A2_subp, r, fixed, low)
		zero := wide(a, hexagon.A2_combineii, 0, 0)
		a.If(a.Compare(hexagon.C2_cmpgtp, zero, r), func() { // k was rounded up
			a.Bump(k, -1)
			a.Op(hexagon.A2_addp, r, r, l2)
		})
		a.Op(hexagon.S2_asl_i_p, r, r, 64-point)
		one := a.RR("one")
		a.Op(hexagon.A2_combineii, one, -1, 0)
		a.Op(hexagon.S2_asl_i_p, one, one, 63-32)
		h, term := a.RR("series"), a.CopyOf(reciprocals)
		a.Op(hexagon.A2_combinew, h, hvx.Hi(one), hvx.Lo(one))
		a.Loop0(expTerms-1, func() {
			n := a.RR("1/n")
			a.Op(hexagon.L2_loadrd_pi, n, term, 8).Loads(hvx.AliasConst)
			a.Op(hexagon.A2_subp, h, one, mulHigh64(a, mulHigh64(a, r, n), h))
		})
		a.Op(hexagon.A2_subp, h, one, mulHigh64(a, r, h))
		v := a.FMul(a.Into(hexagon.F2_conv_ud2sf, h), a.Float(0x1p-63))
		power := func(n codegen.Reg) codegen.Reg { // 2^-n
			return a.Into(hexagon.S2_asl_i_r, a.Into(hexagon.A2_subri, 127, n), 23)
		}
		half := a.Into(hexagon.S2_asr_i_r, k, 1)
		v = a.FMul(v, power(half))
		a.Move(result, a.FMul(v, power(a.Into(hexagon.A2_sub, k, half))))
	})
	return result
}

// wide emits an instruction whose result is a pair.
func wide(a *hvx.Builder, op hexagon.Op, args ...any) codegen.Reg {
	r := a.RR(op.String())
	a.Op(op, append([]any{r}, args...)...)
	return r
}

// mulHigh64 is the upper half of the product of unsigned 64-bit numbers, at most 3 too small.
func mulHigh64(a *hvx.Builder, x, y codegen.Reg) codegen.Reg {
	sum := wide(a, hexagon.M2_dpmpyuu_s0, hvx.Hi(x), hvx.Hi(y))
	for _, p := range [2][2]codegen.Reg{{hvx.Hi(x), hvx.Lo(y)}, {hvx.Lo(x), hvx.Hi(y)}} {
		m := wide(a, hexagon.M2_dpmpyuu_s0, p[0], p[1])
		a.Op(hexagon.S2_lsr_i_p, m, m, 32)
		a.Op(hexagon.A2_addp, sum, sum, m)
	}
	return sum
}

// NMS is BOX_WITH_NMS_LIMIT.
type NMS struct {
	Boxes, Classes int
	Limit          int32 // of the detections of an image, below 0 none
	Kind           int32 // 0 hard, 1 linear, 2 Gaussian
	AtLeast        float32
	Overlap, Sigma float32
	Least          float32
	In             hvxmath.Quant // boxes
	OutScore       hvxmath.Quant
	OutBox         hvxmath.Quant
}

// expTerms is where the series of e^-r ends: r is below 0.7.
const expTerms = 20

// Reciprocals are 2^64 / n for n from expTerms down to 2, low words first.
func Reciprocals() []uint32 {
	var w []uint32
	for n := uint64(expTerms); n > 1; n-- {
		v := math.MaxUint64 / n
		w = append(w, uint32(v), uint32(v>>32))
	}
	return w
}
