package detection

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a Proposals.
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
	ProposalFrame = 16
)

// Name implements hvx.Kernel.
func (k Proposals) Name() string { return fmt.Sprintf("proposals_%dx%dx%d", k.H, k.W, k.Anchors) }

// Emit writes the kernel. Arguments: block, frame.
func (k Proposals) Emit(a *hvx.Builder) {
	in := a.Args("block", "frame")
	block, f := in[0], hvx.Frame{B: a, Base: in[1]}
	f.Put(proposalNext, a.Imm(0))
	image := a.CopyOf(a.Imm(0))
	a.ForEach(image, a.Imm(k.Batches), func(codegen.Label) {
		f.Put(proposalImage, image)
		size := hvx.Indexed(a, a.Word(block, proposalImages, "images"), image, 4)
		f.Put(proposalHeight, halfReal(a, size, 0, k.Image))
		f.Put(proposalWidth, halfReal(a, size, 2, k.Image))
		f.Put(proposalScoresAt, hvx.Indexed(a, a.Word(block, proposalScores, "scores"), image, k.All()))
		f.Put(proposalDeltasAt, hvx.Indexed(a, a.Word(block, proposalDeltas, "deltas"), image, 4*k.All()))
		k.order(a, f)
		k.choose(a, f, block)
	})
	a.Op(hexagon.S2_storeri_io, a.Word(block, proposalCount, "count"), 0, f.Get(proposalNext)).Stores(hvx.AliasOut)
	a.Ret()
}

// buckets, ordered and kept are the parts of the scratch memory.
func (k Proposals) buckets(a *hvx.Builder, f hvx.Frame) codegen.Reg {
	return a.Add(f.Base, 4*ProposalFrame)
}
func (k Proposals) ordered(a *hvx.Builder, f hvx.Frame) codegen.Reg {
	return a.Add(f.Base, 4*(ProposalFrame+256))
}
func (k Proposals) kept(a *hvx.Builder, f hvx.Frame) codegen.Reg {
	return a.Add(f.Base, 4*(ProposalFrame+256+k.All()))
}

// order sorts the anchors of an image by their scores, best first, equal ones
// in their order: stored bytes are counted, then each knows its place.
func (k Proposals) order(a *hvx.Builder, f hvx.Frame) {
	buckets, zero := k.buckets(a, f), a.Imm(0)
	at := a.CopyOf(buckets)
	a.Loop0(256, func() { a.Op(hexagon.S2_storeri_pi, at, 4, zero).Stores(hvx.AliasScratch) })
	bucket := func(v codegen.Reg) codegen.Reg {
		n := a.R("count")
		a.Op(hexagon.L4_loadri_rr, n, buckets, v, 2).Loads(hvx.AliasScratch)
		return n
	}
	scores := func(body func(v codegen.Reg)) {
		from := f.Get(proposalScoresAt)
		a.Loop0(k.All(), func() {
			v := a.R("score")
			a.Op(hexagon.L2_loadrub_pi, v, from, 1).Loads(hvx.AliasIn)
			body(v)
		})
	}
	scores(func(v codegen.Reg) {
		a.Op(hexagon.S4_storeri_rr, buckets, v, 2, a.Add(bucket(v), 1)).Stores(hvx.AliasScratch)
	})
	at, next := a.Add(buckets, 4*255), a.CopyOf(k.ordered(a, f))
	a.Loop0(256, func() { // a count becomes the address of the first
		n := a.R("count")
		a.Op(hexagon.L2_loadri_io, n, at, 0).Loads(hvx.AliasScratch)
		a.Op(hexagon.S2_storeri_pi, at, -4, next).Stores(hvx.AliasScratch)
		a.Move(next, a.Into(hexagon.S2_addasl_rrri, next, n, 2))
	})
	i := a.CopyOf(zero)
	scores(func(v codegen.Reg) {
		to := bucket(v)
		a.Op(hexagon.S2_storeri_io, to, 0, i).Stores(hvx.AliasScratch)
		a.Op(hexagon.S4_storeri_rr, buckets, v, 2, a.Add(to, 4)).Stores(hvx.AliasScratch)
		a.Bump(i, 1)
	})
}

// choose goes through the best anchors and keeps the boxes that overlap none
// kept before.
func (k Proposals) choose(a *hvx.Builder, f hvx.Frame, block codegen.Reg) {
	kept := k.kept(a, f)
	f.Put(proposalKept, kept)
	f.Put(proposalAt, k.ordered(a, f))
	f.Put(proposalEnd, a.Add(k.ordered(a, f), 4*k.Before))
	a.While(func() codegen.Reg { return below(a, f.Get(proposalAt), f.Get(proposalEnd)) }, func(next codegen.Label) {
		i := a.R("anchor")
		a.Op(hexagon.L2_loadri_io, i, f.Get(proposalAt), 0).Loads(hvx.AliasScratch)
		b := k.box4(a, f, block, i)
		k.checkSize(a, f, b, next)
		for n, c := range b {
			f.Put(proposalBox+n, c)
		}
		other := k.kept(a, f)
		a.While(func() codegen.Reg { return below(a, other, f.Get(proposalKept)) }, func(codegen.Label) {
			var x [4]codegen.Reg
			for n := range x {
				x[n] = hvx.Frame{B: a, Base: other}.Get(n)
			}
			mine := [4]codegen.Reg{f.Get(proposalBox), f.Get(proposalBox + 1), f.Get(proposalBox + 2), f.Get(proposalBox + 3)}
			a.Op(hexagon.J2_jumpt, a.FAtLeast(boxOverlap(a, mine, x), a.Float(k.Overlap)), next)
		}, func() { a.Bump(other, 16) })
		k.record(a, f, block)
		full := a.Add(k.kept(a, f), 16*k.After)
		a.Unless(below(a, f.Get(proposalKept), full), func() { f.Put(proposalEnd, f.Get(proposalAt)) })
	}, func() { f.Put(proposalAt, a.Add(f.Get(proposalAt), 4)) })
}

// box4 is the box of anchor i: moved to its pixel, then by its deltas.
func (k Proposals) box4(a *hvx.Builder, f hvx.Frame, block, i codegen.Reg) [4]codegen.Reg {
	// Exact: i is far below 2^24.
	split := func(i codegen.Reg, n int) (quotient, rest codegen.Reg) {
		quotient = a.Floor(a.FDiv(a.FloatOf(i), a.Float(float32(n))))
		return quotient, a.Into(hexagon.A2_sub, i, a.Into(hexagon.M2_mpyi, quotient, a.Imm(n)))
	}
	pixel, which := split(i, k.Anchors)
	y, x := split(pixel, k.W)
	b := corners(a, hvx.Indexed(a, a.Word(block, proposalAnchors, "anchors"), which, 8), k.Anchor)
	sx, sy := a.FMul(a.FloatOf(x), a.Float(k.StrideW)), a.FMul(a.FloatOf(y), a.Float(k.StrideH))
	for n, s := range [4]codegen.Reg{sx, sy, sx, sy} {
		b[n] = a.FAdd(b[n], s)
	}
	deltas := hvx.Indexed(a, f.Get(proposalDeltasAt), i, 4)
	return decode(a, anchorOf(a, b), deltas, a.Word(block, proposalMoves, "moves"), a.Word(block, proposalExps, "exps"),
		f.Get(proposalWidth), f.Get(proposalHeight))
}

// checkSize goes to next for boxes that are too small or centred outside.
func (k Proposals) checkSize(a *hvx.Builder, f hvx.Frame, b [4]codegen.Reg, next codegen.Label) {
	small, half := a.Float(max(k.Least, 1)), a.Float(0.5)
	for i, limit := range [2]int{proposalWidth, proposalHeight} {
		a.Op(hexagon.J2_jumpf, a.FLess(small, a.FSub(b[2+i], b[i])), next)
		a.Op(hexagon.J2_jumpf, a.FLess(a.FMul(a.FAdd(b[i], b[2+i]), half), f.Get(limit)), next)
	}
}

// record remembers the box in question and reports it.
func (k Proposals) record(a *hvx.Builder, f hvx.Frame, block codegen.Reg) {
	to, n := f.Get(proposalKept), f.Get(proposalNext)
	out := hvx.Indexed(a, a.Word(block, proposalOutBoxes, "boxes"), n, 8)
	for i := range 4 {
		c := f.Get(proposalBox + i)
		hvx.Frame{B: a, Base: to}.Put(i, c)
		a.Op(hexagon.S2_storerh_io, out, 2*i, hvxmath.Quantize(a, c, k.Box)).Stores(hvx.AliasOut)
	}
	f.Put(proposalKept, a.Add(to, 16))
	i := a.R("anchor")
	a.Op(hexagon.L2_loadri_io, i, f.Get(proposalAt), 0).Loads(hvx.AliasScratch)
	score := hvxmath.Quantize(a, byteReal(a, f.Get(proposalScoresAt), i, a.Word(block, proposalReals, "reals")), k.OutScore)
	a.Op(hexagon.S4_storerb_rr, a.Word(block, proposalOutScores, "scores"), n, 0, score).Stores(hvx.AliasOut)
	a.Op(hexagon.S4_storeri_rr, a.Word(block, proposalOutImages, "images"), n, 2, f.Get(proposalImage)).Stores(hvx.AliasOut)
	f.Put(proposalNext, a.Add(n, 1))
}

// Proposals is GENERATE_PROPOSALS on scores and deltas in NHWC order.
type Proposals struct {
	Batches, H, W, Anchors int
	StrideH, StrideW       float32
	Overlap, Least         float32
	Before, After          int // anchors of an image to look at, and to keep
	Anchor, Image          hvxmath.Quant
	Score, OutScore, Box   hvxmath.Quant
}

// All is the number of anchors of an image.
func (k Proposals) All() int { return k.H * k.W * k.Anchors }
