package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of an nmsKernel.
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
	nmsFrame = 16
)

// generate writes the kernel. Arguments: block, frame.
func (k *nmsKernel) generate(a *asm) {
	in := a.args("block", "frame")
	block, f := in[0], frame{a, in[1]}
	done := a.f.Label("done")
	scores := a.add(f.base, 4*nmsFrame)
	list := a.add(scores, roundUp(4*k.boxes*k.classes, 8))
	f.put(nmsScore, scores)
	f.put(nmsEnd, list)
	k.load(a, block, scores, done)
	first := a.copyOf(a.imm(0))
	boxes := a.imm(k.boxes)
	a.while(func() codegen.Reg { return a.test(hexagon.C2_cmpgt, boxes, first) }, func(codegen.Label) {
		f.put(nmsFirst, first)
		f.put(nmsBehind, k.imageEnd(a, block, first))
		f.put(nmsGroup, f.get(nmsEnd))
		class := a.copyOf(a.imm(1)) // class 0 is the background
		a.each(class, a.imm(k.classes), func(codegen.Label) {
			k.collect(a, f, class)
			k.suppress(a, f, block)
		})
		if k.limit >= 0 {
			k.cut(a, f)
		}
	}, func() { a.set(first, f.get(nmsBehind)) })
	k.report(a, f, block, list)
	a.f.Bind(done)
	a.ret()
}

// load makes floats of all scores and checks all boxes.
func (k *nmsKernel) load(a *asm, block, scores codegen.Reg, done codegen.Label) {
	from, to, box := a.word(block, nmsScores, "scores"), a.copyOf(scores), a.word(block, nmsBoxes, "boxes")
	n := a.imm(k.boxes * k.classes)
	a.repeat(n, func() {
		a.op(hexagon.S2_storeri_pi, to, 4, a.byteReal(from, a.imm(0), a.word(block, nmsReals, "reals"))).Stores(aliasScratch)
		a.checkRegion(a.corners(box, k.in), codegen.Reg{}, 0, a.word(block, nmsBad, "bad"), done)
		a.bump(from, 1)
		a.bump(box, 8)
	})
}

// imageEnd is the box behind the last that belongs to the image of the first.
func (k *nmsKernel) imageEnd(a *asm, block, first codegen.Reg) codegen.Reg {
	images := a.word(block, nmsImages, "images")
	at := func(i codegen.Reg) codegen.Reg {
		r := a.r("image")
		a.op(hexagon.L4_loadri_rr, r, images, i, 2).Loads(aliasIn)
		return r
	}
	image, i, n := at(first), a.add(first, 1), a.imm(k.boxes)
	out := a.f.Label("next image")
	a.each(i, n, func(codegen.Label) {
		a.op(hexagon.J2_jumpf, a.test(hexagon.C2_cmpeq, at(i), image), out)
	})
	a.f.Bind(out)
	return i
}

// collect appends the boxes of an image whose score for a class is high enough.
func (k *nmsKernel) collect(a *asm, f frame, class codegen.Reg) {
	to, i, behind := f.get(nmsEnd), f.get(nmsFirst), f.get(nmsBehind)
	f.put(nmsStart, to)
	index := a.into(hexagon.A2_add, a.into(hexagon.M2_mpyi, i, a.imm(k.classes)), class)
	scores, least := f.get(nmsScore), a.real(k.atLeast)
	a.each(i, behind, func(codegen.Label) {
		a.when(a.fless(least, a.scoreOf(scores, index)), func() {
			a.op(hexagon.S2_storeri_io, to, 0, index).Stores(aliasScratch)
			a.op(hexagon.S2_storeri_io, to, 4, class).Stores(aliasScratch)
			a.bump(to, 8)
		})
		a.bump(index, k.classes)
	})
	f.put(nmsEnd, to)
}

// scoreOf is the current score of an index.
func (a *asm) scoreOf(scores, index codegen.Reg) codegen.Reg {
	r := a.r("score")
	a.op(hexagon.L4_loadri_rr, r, scores, index, 2).Loads(aliasScratch)
	return r
}

// indexAt is the index of a list entry.
func (a *asm) indexAt(entry codegen.Reg) codegen.Reg {
	r := a.r("index")
	a.op(hexagon.L2_loadri_io, r, entry, 0).Loads(aliasScratch)
	return r
}

func (a *asm) entry(at codegen.Reg, off int) codegen.Reg {
	r := a.rr("entry")
	a.op(hexagon.L2_loadrd_io, r, at, off).Loads(aliasScratch)
	return r
}

func (a *asm) setEntry(at codegen.Reg, off int, e codegen.Reg) {
	a.op(hexagon.S2_storerd_io, at, off, e).Stores(aliasScratch)
}

// swap exchanges two list entries.
func (a *asm) swap(x, y codegen.Reg) {
	p, q := a.entry(x, 0), a.entry(y, 0)
	a.setEntry(x, 0, q)
	a.setEntry(y, 0, p)
}

// below tests the order of two addresses; all are below 2^31.
func (a *asm) below(x, y codegen.Reg) codegen.Reg { return a.test(hexagon.C2_cmpgt, y, x) }

// suppress puts the best candidate of the class first, rescales the scores of
// the others by their overlap with it, drops those that fall too low, and goes
// on with the rest.
func (k *nmsKernel) suppress(a *asm, f frame, block codegen.Reg) {
	i, end, scores := f.get(nmsStart), f.get(nmsEnd), f.get(nmsScore)
	boxAt := func(index codegen.Reg) [4]codegen.Reg {
		return a.corners(a.indexed(a.word(block, nmsBoxes, "boxes"), index, 8), k.in)
	}
	a.while(func() codegen.Reg { return a.below(i, end) }, func(codegen.Label) {
		best, top, j := a.copyOf(i), a.copyOf(a.scoreOf(scores, a.indexAt(i))), a.add(i, 8)
		a.while(func() codegen.Reg { return a.below(j, end) }, func(codegen.Label) {
			s := a.scoreOf(scores, a.indexAt(j))
			above := a.fless(top, s)
			a.set(top, a.into(hexagon.C2_mux, above, s, top))
			a.set(best, a.into(hexagon.C2_mux, above, j, best))
		}, func() { a.bump(j, 8) })
		a.swap(i, best)
		for n, c := range boxAt(a.indexAt(i)) {
			f.put(nmsBest+n, c)
		}
		a.set(j, a.add(i, 8))
		a.while(func() codegen.Reg { return a.below(j, end) }, func(next codegen.Label) {
			index := a.indexAt(j)
			var b [4]codegen.Reg
			for n := range b {
				b[n] = f.get(nmsBest + n)
			}
			overlap := a.overlap(b, boxAt(index))
			s := a.fmul(a.scoreOf(scores, index), k.factor(a, overlap, block))
			a.op(hexagon.S4_storeri_rr, scores, index, 2, s).Stores(aliasScratch)
			a.unless(a.fatLeast(s, a.real(k.least)), func() {
				a.bump(end, -8)
				a.swap(j, end)
				a.bump(j, -8)
			})
		}, func() { a.bump(j, 8) })
	}, func() { a.bump(i, 8) })
	f.put(nmsEnd, end)
}

// overlap is intersection over union.
func (a *asm) overlap(x, y [4]codegen.Reg) codegen.Reg {
	zero := a.real(0)
	result := a.copyOf(zero)
	var side [2]codegen.Reg
	for i := range side {
		side[i] = a.fsub(a.fmin(x[2+i], y[2+i]), a.fmax(x[i], y[i]))
	}
	a.when(a.fless(zero, a.fmin(side[0], side[1])), func() {
		area := func(b [4]codegen.Reg) codegen.Reg { return a.fmul(a.fsub(b[2], b[0]), a.fsub(b[3], b[1])) }
		both := a.fmul(side[0], side[1])
		a.set(result, a.fdiv(both, a.fsub(a.fadd(area(x), area(y)), both)))
	})
	return result
}

// factor is what a score is multiplied by for an overlap with a better box.
func (k *nmsKernel) factor(a *asm, overlap, block codegen.Reg) codegen.Reg {
	one := a.real(1)
	if k.kind == 2 {
		x := a.fdiv(a.fmul(overlap, overlap), a.real(k.sigma))
		return a.expMinus(x, a.word(block, nmsReciprocals, "reciprocals"))
	}
	other := a.imm(0)
	if k.kind == 1 {
		other = a.fsub(one, overlap)
	}
	return a.into(hexagon.C2_mux, a.fless(overlap, a.real(k.overlap)), one, other)
}

// cut leaves the best detections of an image, in the order of their classes.
func (k *nmsKernel) cut(a *asm, f frame) {
	group, end := f.get(nmsGroup), f.get(nmsEnd)
	limit := a.add(group, 8*min(int(k.limit), k.boxes*k.classes))
	a.when(a.below(limit, end), func() {
		scores := f.get(nmsScore)
		a.sort(group, end, func(e codegen.Reg) codegen.Reg { return a.scoreOf(scores, lo(e)) }, func(x, y codegen.Reg) codegen.Reg { return a.fless(y, x) })
		f.put(nmsEnd, limit)
		a.sort(group, limit, hi, func(x, y codegen.Reg) codegen.Reg { return a.test(hexagon.C2_cmpgt, y, x) })
	})
}

// sort sorts list entries by insertion: those of equal rank keep their order.
func (a *asm) sort(from, to codegen.Reg, key func(e codegen.Reg) codegen.Reg, before func(x, y codegen.Reg) codegen.Reg) {
	i := a.add(from, 8)
	a.while(func() codegen.Reg { return a.below(i, to) }, func(codegen.Label) {
		e := a.entry(i, 0)
		rank, j, found := a.copyOf(key(e)), a.copyOf(i), a.f.Label("found")
		a.while(func() codegen.Reg { return a.below(from, j) }, func(codegen.Label) {
			p := a.entry(j, -8)
			a.op(hexagon.J2_jumpf, before(rank, key(p)), found)
			a.setEntry(j, 0, p)
		}, func() { a.bump(j, -8) })
		a.f.Bind(found)
		a.setEntry(j, 0, e)
	}, func() { a.bump(i, 8) })
}

// report writes the outputs and their number.
func (k *nmsKernel) report(a *asm, f frame, block, list codegen.Reg) {
	at, end, scores, n := a.copyOf(list), f.get(nmsEnd), f.get(nmsScore), a.copyOf(a.imm(0))
	a.while(func() codegen.Reg { return a.below(at, end) }, func(codegen.Label) {
		e := a.entry(at, 0)
		index, class := lo(e), hi(e)
		s := a.quantize(a.scoreOf(scores, index), k.outScore)
		a.op(hexagon.S4_storerb_rr, a.word(block, nmsOutScores, "scores"), n, 0, s).Stores(aliasOut)
		b := a.corners(a.indexed(a.word(block, nmsBoxes, "boxes"), index, 8), k.in)
		to := a.indexed(a.word(block, nmsOutBoxes, "boxes"), n, 8)
		for i := range b {
			a.op(hexagon.S2_storerh_io, to, 2*i, a.quantize(b[i], k.outBox)).Stores(aliasOut)
		}
		a.op(hexagon.S4_storeri_rr, a.word(block, nmsOutClasses, "classes"), n, 2, class).Stores(aliasOut)
		// Exact: the index is far below 2^24.
		box := a.floor(a.fdiv(a.ofInt(index), a.real(float32(k.classes))))
		image := a.r("image")
		a.op(hexagon.L4_loadri_rr, image, a.word(block, nmsImages, "images"), box, 2).Loads(aliasIn)
		a.op(hexagon.S4_storeri_rr, a.word(block, nmsOutImages, "images"), n, 2, image).Stores(aliasOut)
		a.bump(n, 1)
	}, func() { a.bump(at, 8) })
	a.op(hexagon.S2_storeri_io, a.word(block, nmsCount, "count"), 0, n).Stores(aliasOut)
}

// expMinus is e^-x of a float x >= 0, rounded from 60 bits: x = k ln 2 + r in
// fixed point with 56 fraction bits, then the series 1 - r (1 - r/2 (1 - r/3 ...)).
func (a *asm) expMinus(x, reciprocals codegen.Reg) codegen.Reg {
	result := a.copyOf(a.imm(0))
	a.when(a.fless(x, a.real(104)), func() { // else it is below the least float
		const point = 56
		ln2 := uint64(math.Round(math.Ln2 * (1 << point)))
		fixed := a.rr("x")
		a.op(hexagon.F2_conv_sf2ud_chop, fixed, a.fmul(x, a.real(1<<point)))
		k := a.into(hexagon.F2_conv_sf2w_chop, a.fmul(x, a.real(math.Log2E)))
		l2 := a.rr("ln2")
		a.op(hexagon.A2_combinew, l2, a.imm(int(ln2>>32)), a.imm(int(uint32(ln2))))
		r := a.rr("rest")
		low, high := a.wide(hexagon.M2_dpmpyuu_s0, k, lo(l2)), a.wide(hexagon.M2_dpmpyuu_s0, k, hi(l2))
		a.op(hexagon.S2_asl_i_p, high, high, 32)
		a.op(hexagon.A2_addp, low, low, high)
		a.op(hexagon.A2_subp, r, fixed, low)
		zero := a.wide(hexagon.A2_combineii, 0, 0)
		a.when(a.test(hexagon.C2_cmpgtp, zero, r), func() { // k was rounded up
			a.bump(k, -1)
			a.op(hexagon.A2_addp, r, r, l2)
		})
		a.op(hexagon.S2_asl_i_p, r, r, 64-point)
		one := a.rr("one")
		a.op(hexagon.A2_combineii, one, -1, 0)
		a.op(hexagon.S2_asl_i_p, one, one, 63-32)
		h, term := a.rr("series"), a.copyOf(reciprocals)
		a.op(hexagon.A2_combinew, h, hi(one), lo(one))
		a.loop0(expTerms-1, func() {
			n := a.rr("1/n")
			a.op(hexagon.L2_loadrd_pi, n, term, 8).Loads(aliasConst)
			a.op(hexagon.A2_subp, h, one, a.mulHigh64(a.mulHigh64(r, n), h))
		})
		a.op(hexagon.A2_subp, h, one, a.mulHigh64(r, h))
		v := a.fmul(a.into(hexagon.F2_conv_ud2sf, h), a.real(0x1p-63))
		power := func(n codegen.Reg) codegen.Reg { // 2^-n
			return a.into(hexagon.S2_asl_i_r, a.into(hexagon.A2_subri, 127, n), 23)
		}
		half := a.into(hexagon.S2_asr_i_r, k, 1)
		v = a.fmul(v, power(half))
		a.set(result, a.fmul(v, power(a.into(hexagon.A2_sub, k, half))))
	})
	return result
}

// wide emits an instruction whose result is a pair.
func (a *asm) wide(op hexagon.Op, args ...any) codegen.Reg {
	r := a.rr(op.String())
	a.op(op, append([]any{r}, args...)...)
	return r
}

// mulHigh64 is the upper half of the product of unsigned 64-bit numbers, at most 3 too small.
func (a *asm) mulHigh64(x, y codegen.Reg) codegen.Reg {
	sum := a.wide(hexagon.M2_dpmpyuu_s0, hi(x), hi(y))
	for _, p := range [2][2]codegen.Reg{{hi(x), lo(y)}, {lo(x), hi(y)}} {
		m := a.wide(hexagon.M2_dpmpyuu_s0, p[0], p[1])
		a.op(hexagon.S2_lsr_i_p, m, m, 32)
		a.op(hexagon.A2_addp, sum, sum, m)
	}
	return sum
}
