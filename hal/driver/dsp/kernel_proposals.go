package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a proposalsKernel.
const (
	proposalScores = iota
	proposalDeltas
	proposalAnchors
	proposalImages
	proposalReals
	proposalMoves
	proposalExps
	proposalCount
	proposalOutScores
	proposalOutBoxes
	proposalOutImages
)

// Words of its frame. Behind them are where anchors of each score go next, the
// anchors by score, and the boxes kept.
const (
	proposalImage = iota // image and its sizes
	proposalHeight
	proposalWidth
	proposalScoresAt // scores and deltas of the image
	proposalDeltasAt
	proposalNext // next output
	proposalAt   // next anchor in order, and the end
	proposalEnd
	proposalKept  // behind the last box kept
	proposalBox   // the box in question: four words
	proposalFrame = 16
)

// generate writes the kernel. Arguments: block, frame.
func (k *proposalsKernel) generate(a *asm) {
	in := a.args("block", "frame")
	block, f := in[0], frame{a, in[1]}
	f.put(proposalNext, a.imm(0))
	image := a.copyOf(a.imm(0))
	a.each(image, a.imm(k.batches), func(codegen.Label) {
		f.put(proposalImage, image)
		size := a.indexed(a.word(block, proposalImages, "images"), image, 4)
		f.put(proposalHeight, a.halfReal(size, 0, k.image, aliasIn))
		f.put(proposalWidth, a.halfReal(size, 2, k.image, aliasIn))
		f.put(proposalScoresAt, a.indexed(a.word(block, proposalScores, "scores"), image, k.all()))
		f.put(proposalDeltasAt, a.indexed(a.word(block, proposalDeltas, "deltas"), image, 4*k.all()))
		k.order(a, f)
		k.choose(a, f, block)
	})
	a.op(hexagon.S2_storeri_io, a.word(block, proposalCount, "count"), 0, f.get(proposalNext)).Stores(aliasOut)
	a.ret()
}

// buckets, ordered and kept are the parts of the scratch memory.
func (k *proposalsKernel) buckets(a *asm, f frame) codegen.Reg { return a.add(f.base, 4*proposalFrame) }
func (k *proposalsKernel) ordered(a *asm, f frame) codegen.Reg {
	return a.add(f.base, 4*(proposalFrame+256))
}
func (k *proposalsKernel) kept(a *asm, f frame) codegen.Reg {
	return a.add(f.base, 4*(proposalFrame+256+k.all()))
}

// order sorts the anchors of an image by their scores, best first, equal ones
// in their order: stored bytes are counted, then each knows its place.
func (k *proposalsKernel) order(a *asm, f frame) {
	buckets, zero := k.buckets(a, f), a.imm(0)
	at := a.copyOf(buckets)
	a.loop0(256, func() { a.op(hexagon.S2_storeri_pi, at, 4, zero).Stores(aliasScratch) })
	bucket := func(v codegen.Reg) codegen.Reg {
		n := a.r("count")
		a.op(hexagon.L4_loadri_rr, n, buckets, v, 2).Loads(aliasScratch)
		return n
	}
	scores := func(body func(v codegen.Reg)) {
		from := f.get(proposalScoresAt)
		a.loop0(k.all(), func() {
			v := a.r("score")
			a.op(hexagon.L2_loadrub_pi, v, from, 1).Loads(aliasIn)
			body(v)
		})
	}
	scores(func(v codegen.Reg) {
		a.op(hexagon.S4_storeri_rr, buckets, v, 2, a.add(bucket(v), 1)).Stores(aliasScratch)
	})
	at, next := a.add(buckets, 4*255), a.copyOf(k.ordered(a, f))
	a.loop0(256, func() { // a count becomes the address of the first
		n := a.r("count")
		a.op(hexagon.L2_loadri_io, n, at, 0).Loads(aliasScratch)
		a.op(hexagon.S2_storeri_pi, at, -4, next).Stores(aliasScratch)
		a.set(next, a.into(hexagon.S2_addasl_rrri, next, n, 2))
	})
	i := a.copyOf(zero)
	scores(func(v codegen.Reg) {
		to := bucket(v)
		a.op(hexagon.S2_storeri_io, to, 0, i).Stores(aliasScratch)
		a.op(hexagon.S4_storeri_rr, buckets, v, 2, a.add(to, 4)).Stores(aliasScratch)
		a.bump(i, 1)
	})
}

// choose goes through the best anchors and keeps the boxes that overlap none
// kept before.
func (k *proposalsKernel) choose(a *asm, f frame, block codegen.Reg) {
	kept := k.kept(a, f)
	f.put(proposalKept, kept)
	f.put(proposalAt, k.ordered(a, f))
	f.put(proposalEnd, a.add(k.ordered(a, f), 4*k.before))
	a.while(func() codegen.Reg { return a.below(f.get(proposalAt), f.get(proposalEnd)) }, func(next codegen.Label) {
		i := a.r("anchor")
		a.op(hexagon.L2_loadri_io, i, f.get(proposalAt), 0).Loads(aliasScratch)
		b := k.box4(a, f, block, i)
		k.checkSize(a, f, b, next)
		for n, c := range b {
			f.put(proposalBox+n, c)
		}
		other := k.kept(a, f)
		a.while(func() codegen.Reg { return a.below(other, f.get(proposalKept)) }, func(codegen.Label) {
			var x [4]codegen.Reg
			for n := range x {
				x[n] = frame{a, other}.get(n)
			}
			mine := [4]codegen.Reg{f.get(proposalBox), f.get(proposalBox + 1), f.get(proposalBox + 2), f.get(proposalBox + 3)}
			a.op(hexagon.J2_jumpt, a.fatLeast(a.overlap(mine, x), a.real(k.overlap)), next)
		}, func() { a.bump(other, 16) })
		k.keep(a, f, block)
		full := a.add(k.kept(a, f), 16*k.after)
		a.unless(a.below(f.get(proposalKept), full), func() { f.put(proposalEnd, f.get(proposalAt)) })
	}, func() { f.put(proposalAt, a.add(f.get(proposalAt), 4)) })
}

// box4 is the box of anchor i: moved to its pixel, then by its deltas.
func (k *proposalsKernel) box4(a *asm, f frame, block, i codegen.Reg) [4]codegen.Reg {
	// Exact: i is far below 2^24.
	split := func(i codegen.Reg, n int) (quotient, rest codegen.Reg) {
		quotient = a.floor(a.fdiv(a.ofInt(i), a.real(float32(n))))
		return quotient, a.into(hexagon.A2_sub, i, a.into(hexagon.M2_mpyi, quotient, a.imm(n)))
	}
	pixel, which := split(i, k.anchors)
	y, x := split(pixel, k.w)
	b := a.corners(a.indexed(a.word(block, proposalAnchors, "anchors"), which, 8), k.anchor)
	sx, sy := a.fmul(a.ofInt(x), a.real(k.strideW)), a.fmul(a.ofInt(y), a.real(k.strideH))
	for n, s := range [4]codegen.Reg{sx, sy, sx, sy} {
		b[n] = a.fadd(b[n], s)
	}
	deltas := a.indexed(f.get(proposalDeltasAt), i, 4)
	return a.decode(a.anchorOf(b), deltas, a.word(block, proposalMoves, "moves"), a.word(block, proposalExps, "exps"),
		f.get(proposalWidth), f.get(proposalHeight))
}

// checkSize goes to next for boxes that are too small or centred outside.
func (k *proposalsKernel) checkSize(a *asm, f frame, b [4]codegen.Reg, next codegen.Label) {
	small, half := a.real(max(k.least, 1)), a.real(0.5)
	for i, limit := range [2]int{proposalWidth, proposalHeight} {
		a.op(hexagon.J2_jumpf, a.fless(small, a.fsub(b[2+i], b[i])), next)
		a.op(hexagon.J2_jumpf, a.fless(a.fmul(a.fadd(b[i], b[2+i]), half), f.get(limit)), next)
	}
}

// keep remembers the box in question and reports it.
func (k *proposalsKernel) keep(a *asm, f frame, block codegen.Reg) {
	to, n := f.get(proposalKept), f.get(proposalNext)
	out := a.indexed(a.word(block, proposalOutBoxes, "boxes"), n, 8)
	for i := range 4 {
		c := f.get(proposalBox + i)
		frame{a, to}.put(i, c)
		a.op(hexagon.S2_storerh_io, out, 2*i, a.quantize(c, k.box)).Stores(aliasOut)
	}
	f.put(proposalKept, a.add(to, 16))
	i := a.r("anchor")
	a.op(hexagon.L2_loadri_io, i, f.get(proposalAt), 0).Loads(aliasScratch)
	score := a.quantize(a.byteReal(f.get(proposalScoresAt), i, a.word(block, proposalReals, "reals")), k.outScore)
	a.op(hexagon.S4_storerb_rr, a.word(block, proposalOutScores, "scores"), n, 0, score).Stores(aliasOut)
	a.op(hexagon.S4_storeri_rr, a.word(block, proposalOutImages, "images"), n, 2, f.get(proposalImage)).Stores(aliasOut)
	f.put(proposalNext, a.add(n, 1))
}
