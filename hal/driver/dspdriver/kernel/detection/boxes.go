package detection

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// anchor is a box by its centre and sizes.
type anchor struct{ x, y, w, h codegen.Reg }

func anchorOf(a *hvx.Builder, b [4]codegen.Reg) anchor {
	half := a.Float(0.5)
	return anchor{a.FMul(a.FAdd(b[0], b[2]), half), a.FMul(a.FAdd(b[1], b[3]), half), a.FSub(b[2], b[0]), a.FSub(b[3], b[1])}
}

// decode moves an anchor by the four bytes at deltas and clips it to an image.
// reals and exps are the values of stored bytes and e to them.
func decode(a *hvx.Builder, n anchor, deltas, reals, exps, width, height codegen.Reg) [4]codegen.Reg {
	var b [4]codegen.Reg
	for i, axis := range [2]struct{ at, size, limit codegen.Reg }{{n.x, n.w, width}, {n.y, n.h, height}} {
		move := byteReal(a, deltas, a.Imm(i), reals)
		scale := byteReal(a, deltas, a.Imm(2+i), exps)
		at := a.FAdd(axis.at, a.FMul(move, axis.size))
		reach := a.FMul(a.FMul(scale, axis.size), a.Float(0.5))
		for k, v := range [2]codegen.Reg{a.FSub(at, reach), a.FAdd(at, reach)} {
			b[i+2*k] = a.FMin(a.FMax(v, a.Float(0)), axis.limit)
		}
	}
	return b
}

// Addresses of the block of a Boxes.
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

// Name implements hvx.Kernel.
func (k Boxes) Name() string { return fmt.Sprintf("boxes_%dx%d", k.Images, k.Classes) }

// Emit writes the kernel. Arguments: block, first region, end, frame.
func (k Boxes) Emit(a *hvx.Builder) {
	in := a.Args("block", "region", "end", "frame")
	block, region, end := in[0], in[1], in[2]
	a.ForEach(region, end, func(next codegen.Label) {
		r := corners(a, hvx.Indexed(a, a.Word(block, boxRegions, "regions"), region, 8), k.Box)
		batch := a.R("batch")
		a.Op(hexagon.L4_loadri_rr, batch, a.Word(block, boxBatches, "batches"), region, 2).Loads(hvx.AliasIn)
		checkRegion(a, r, batch, k.Images, a.Word(block, boxBad, "bad"), next)
		size := hvx.Indexed(a, a.Word(block, boxImages, "images"), batch, 4)
		height, width := halfReal(a, size, 0, k.Image), halfReal(a, size, 2, k.Image)
		n := anchorOf(a, r)
		deltas := hvx.Indexed(a, a.Word(block, boxDeltas, "deltas"), region, 4*k.Classes)
		to := hvx.Indexed(a, a.Word(block, boxOut, "out"), region, 8*k.Classes)
		a.For(k.Classes, func(codegen.Reg) {
			b := decode(a, n, deltas, a.Word(block, boxReals, "reals"), a.Word(block, boxExps, "exps"), width, height)
			for i := range b {
				a.Op(hexagon.S2_storerh_io, to, 2*i, hvxmath.Quantize(a, b[i], k.Out)).Stores(hvx.AliasOut)
			}
			a.Bump(deltas, 4)
			a.Bump(to, 8)
		})
	})
	a.Ret()
}

// Boxes is AXIS_ALIGNED_BBOX_TRANSFORM.
type Boxes struct {
	Classes, Images int
	Box, Image, Out hvxmath.Quant
}
