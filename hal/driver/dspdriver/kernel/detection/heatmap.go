package detection

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a Heatmap.
const (
	heatIn = iota
	heatBoxes
	heatScores
	heatPoints
	heatBad
	heatReals
)

// Words of its frame.
const (
	heatX = iota // corner and size of the box
	heatY
	heatW
	heatH
	heatColumn // position of the maximum
	heatRow
	HeatFrame
)

// Name implements hvx.Kernel.
func (k Heatmap) Name() string { return fmt.Sprintf("heatmap_%dx%d", k.Size, k.Points) }

// Emit writes the kernel. Arguments: block, first box, end, frame.
func (k Heatmap) Emit(a *hvx.Builder) {
	in := a.Args("block", "box", "end", "frame")
	block, box, end, f := in[0], in[1], in[2], hvx.Frame{B: a, Base: in[3]}
	a.ForEach(box, end, func(next codegen.Label) {
		r := corners(a, hvx.Indexed(a, a.Word(block, heatBoxes, "boxes"), box, 8), k.Box)
		checkRegion(a, r, codegen.Reg{}, 0, a.Word(block, heatBad, "bad"), next)
		f.Put(heatX, r[0])
		f.Put(heatY, r[1])
		f.Put(heatW, a.FSub(r[2], r[0]))
		f.Put(heatH, a.FSub(r[3], r[1]))
		maps := hvx.Indexed(a, a.Word(block, heatIn, "maps"), box, k.Size*k.Size*k.Points)
		score := hvx.Indexed(a, a.Word(block, heatScores, "scores"), box, k.Points)
		point := hvx.Indexed(a, a.Word(block, heatPoints, "points"), box, 4*k.Points)
		a.For(k.Points, func(codegen.Reg) {
			g := k.neighbours(a, f, block, maps)
			dx, dy, top := k.refine(a, g)
			a.Op(hexagon.S2_storerb_io, score, 0, hvxmath.Quantize(a, top, k.Score)).Stores(hvx.AliasOut)
			for i, d := range [2]codegen.Reg{dx, dy} {
				at := a.FAdd(a.FAdd(a.FloatOf(f.Get(heatColumn+i)), d), a.Float(0.5))
				at = a.FMul(a.FDiv(at, a.Float(float32(k.Size))), f.Get(heatW+i))
				at = a.FAdd(f.Get(heatX+i), at)
				a.Op(hexagon.S2_storerh_io, point, 2*i, hvxmath.Quantize(a, at, k.At)).Stores(hvx.AliasOut)
			}
			a.Bump(maps, 1)
			a.Bump(score, 1)
			a.Bump(point, 4)
		})
	})
	a.Ret()
}

// neighbours are the values around the first maximum of a map, mirrored at its
// edges.
func (k Heatmap) neighbours(a *hvx.Builder, f hvx.Frame, block, maps codegen.Reg) (g [3][3]codegen.Reg) {
	best, where, i, at := a.CopyOf(a.Imm(-1)), a.CopyOf(a.Imm(0)), a.CopyOf(a.Imm(0)), a.CopyOf(maps)
	a.Loop0(k.Size*k.Size, func() {
		v := a.R("stored")
		a.Op(hexagon.L2_loadrub_io, v, at, 0).Loads(hvx.AliasIn)
		above := a.Compare(hexagon.C2_cmpgt, v, best)
		a.Move(best, a.Into(hexagon.A2_max, best, v))
		a.Move(where, a.Into(hexagon.C2_mux, above, i, where))
		a.Bump(i, 1)
		a.Bump(at, k.Points)
	})
	row := a.Floor(a.FDiv(a.FloatOf(where), a.Float(float32(k.Size))))
	column := a.Into(hexagon.A2_sub, where, a.Into(hexagon.M2_mpyi, row, a.Imm(k.Size)))
	f.Put(heatRow, row)
	f.Put(heatColumn, column)
	around := func(i codegen.Reg, pitch int) (offset [3]codegen.Reg) {
		before := a.Into(hexagon.C2_muxir, a.Compare(hexagon.C2_cmpgti, i, 0), a.Add(i, -1), 1)
		last := a.Compare(hexagon.C2_cmpgt, i, a.Imm(k.Size-2))
		after := a.Into(hexagon.C2_mux, last, a.Imm(k.Size-2), a.Add(i, 1))
		for n, r := range [3]codegen.Reg{before, i, after} {
			offset[n] = a.Into(hexagon.M2_mpyi, r, a.Imm(pitch))
		}
		return offset
	}
	rows, columns := around(row, k.Size*k.Points), around(column, k.Points)
	for y := range g {
		base := a.Into(hexagon.A2_add, maps, rows[y])
		for x := range g[y] {
			g[y][x] = byteReal(a, base, columns[x], a.Word(block, heatReals, "reals"))
		}
	}
	return g
}

// refine is the maximum of the second-order expansion around g[1][1], as an
// offset of at most 1.5, and its value.
func (k Heatmap) refine(a *hvx.Builder, g [3][3]codegen.Reg) (dx, dy, score codegen.Reg) {
	half := a.Float(0.5)
	slope := func(before, after codegen.Reg) codegen.Reg { return a.FNeg(a.FMul(a.FSub(after, before), half)) }
	bend := func(before, after codegen.Reg) codegen.Reg {
		return a.FAdd(a.FSub(before, a.FAdd(g[1][1], g[1][1])), after)
	}
	bx, by := slope(g[1][0], g[1][2]), slope(g[0][1], g[2][1])
	xx, yy := bend(g[1][0], g[1][2]), bend(g[0][1], g[2][1])
	xy := a.FMul(a.FAdd(a.FSub(a.FSub(g[2][2], g[2][0]), g[0][2]), g[0][0]), a.Float(0.25))
	product := a.FMul(xx, yy)
	det := a.FSub(product, a.FMul(xy, xy))
	dx, dy = a.CopyOf(a.Imm(0)), a.CopyOf(a.Imm(0))
	a.Unless(singular(a, det, product), func() {
		a.Move(dx, a.FDiv(a.FSub(a.FMul(yy, bx), a.FMul(xy, by)), det))
		a.Move(dy, a.FDiv(a.FSub(a.FMul(xx, by), a.FMul(xy, bx)), det))
	})
	far := a.FMax(a.FAbs(dx), a.FAbs(dy))
	most := a.Float(1.5)
	a.If(a.FLess(most, far), func() {
		a.Move(dx, a.FDiv(a.FMul(dx, most), far))
		a.Move(dy, a.FDiv(a.FMul(dy, most), far))
	})
	score = a.FSub(a.FSub(g[1][1], a.FMul(bx, dx)), a.FMul(by, dy))
	alongX := a.FMul(a.FAdd(a.FMul(xx, dx), a.FMul(xy, dy)), dx)
	alongY := a.FMul(a.FAdd(a.FMul(xy, dx), a.FMul(yy, dy)), dy)
	return dx, dy, a.FAdd(score, a.FMul(a.FAdd(alongX, alongY), half))
}

// singular is the predicate |det| < 1e-6 |product|, to more bits than a float has, or
// det = 0.
func singular(a *hvx.Builder, det, product codegen.Reg) codegen.Reg {
	const factor = 1e-6
	head := float32(factor)
	tail := float32(factor - float64(head))
	size := a.FAbs(product)
	miss := a.FNeg(a.FAbs(det))
	a.Op(hexagon.F2_sffma, miss, a.Float(head), size)
	a.Op(hexagon.F2_sffma, miss, a.Float(tail), size)
	zero, flat, bad := a.Float(0), a.P("zero"), a.P("singular")
	a.Op(hexagon.F2_sfcmpeq, flat, det, zero)
	a.Op(hexagon.C2_or, bad, flat, a.FLess(zero, miss))
	return bad
}

// Heatmap is HEATMAP_MAX_KEYPOINT on maps in NHWC order.
type Heatmap struct {
	Size, Points   int
	Box, Score, At hvxmath.Quant
}
