package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// anchor is a box by its centre and sizes.
type anchor struct{ x, y, w, h codegen.Reg }

func (a *asm) anchorOf(b [4]codegen.Reg) anchor {
	half := a.real(0.5)
	return anchor{a.fmul(a.fadd(b[0], b[2]), half), a.fmul(a.fadd(b[1], b[3]), half), a.fsub(b[2], b[0]), a.fsub(b[3], b[1])}
}

// decode moves an anchor by the four bytes at deltas and clips it to an image.
// reals and exps are the values of stored bytes and e to them.
func (a *asm) decode(n anchor, deltas, reals, exps, width, height codegen.Reg) [4]codegen.Reg {
	var b [4]codegen.Reg
	for i, axis := range [2]struct{ at, size, limit codegen.Reg }{{n.x, n.w, width}, {n.y, n.h, height}} {
		move := a.byteReal(deltas, a.imm(i), reals)
		scale := a.byteReal(deltas, a.imm(2+i), exps)
		at := a.fadd(axis.at, a.fmul(move, axis.size))
		reach := a.fmul(a.fmul(scale, axis.size), a.real(0.5))
		for k, v := range [2]codegen.Reg{a.fsub(at, reach), a.fadd(at, reach)} {
			b[i+2*k] = a.fmin(a.fmax(v, a.real(0)), axis.limit)
		}
	}
	return b
}

// Addresses of the block of a boxKernel.
const (
	boxRegions = iota
	boxDeltas
	boxBatches
	boxImages
	boxOut
	boxBad
	boxReals
	boxExps
)

// generate writes the kernel. Arguments: block, first region, end, frame.
func (k *boxKernel) generate(a *asm) {
	in := a.args("block", "region", "end", "frame")
	block, region, end := in[0], in[1], in[2]
	a.each(region, end, func(next codegen.Label) {
		r := a.corners(a.indexed(a.word(block, boxRegions, "regions"), region, 8), k.box)
		batch := a.r("batch")
		a.op(hexagon.L4_loadri_rr, batch, a.word(block, boxBatches, "batches"), region, 2).Loads(aliasIn)
		a.checkRegion(r, batch, k.images, a.word(block, boxBad, "bad"), next)
		size := a.indexed(a.word(block, boxImages, "images"), batch, 4)
		height, width := a.halfReal(size, 0, k.image, aliasIn), a.halfReal(size, 2, k.image, aliasIn)
		n := a.anchorOf(r)
		deltas := a.indexed(a.word(block, boxDeltas, "deltas"), region, 4*k.classes)
		to := a.indexed(a.word(block, boxOut, "out"), region, 8*k.classes)
		a.upTo(k.classes, func(codegen.Reg) {
			b := a.decode(n, deltas, a.word(block, boxReals, "reals"), a.word(block, boxExps, "exps"), width, height)
			for i := range b {
				a.op(hexagon.S2_storerh_io, to, 2*i, a.quantize(b[i], k.out)).Stores(aliasOut)
			}
			a.bump(deltas, 4)
			a.bump(to, 8)
		})
	})
	a.ret()
}
