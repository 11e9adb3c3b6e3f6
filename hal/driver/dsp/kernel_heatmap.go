package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a heatmapKernel.
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
	heatFrame
)

// generate writes the kernel. Arguments: block, first box, end, frame.
func (k *heatmapKernel) generate(a *asm) {
	in := a.args("block", "box", "end", "frame")
	block, box, end, f := in[0], in[1], in[2], frame{a, in[3]}
	a.each(box, end, func(next codegen.Label) {
		r := a.corners(a.indexed(a.word(block, heatBoxes, "boxes"), box, 8), k.box)
		a.checkRegion(r, codegen.Reg{}, 0, a.word(block, heatBad, "bad"), next)
		f.put(heatX, r[0])
		f.put(heatY, r[1])
		f.put(heatW, a.fsub(r[2], r[0]))
		f.put(heatH, a.fsub(r[3], r[1]))
		maps := a.indexed(a.word(block, heatIn, "maps"), box, k.size*k.size*k.points)
		score := a.indexed(a.word(block, heatScores, "scores"), box, k.points)
		point := a.indexed(a.word(block, heatPoints, "points"), box, 4*k.points)
		a.upTo(k.points, func(codegen.Reg) {
			g := k.neighbours(a, f, block, maps)
			dx, dy, top := k.refine(a, g)
			a.op(hexagon.S2_storerb_io, score, 0, a.quantize(top, k.score)).Stores(aliasOut)
			for i, d := range [2]codegen.Reg{dx, dy} {
				at := a.fadd(a.fadd(a.ofInt(f.get(heatColumn+i)), d), a.real(0.5))
				at = a.fmul(a.fdiv(at, a.real(float32(k.size))), f.get(heatW+i))
				at = a.fadd(f.get(heatX+i), at)
				a.op(hexagon.S2_storerh_io, point, 2*i, a.quantize(at, k.at)).Stores(aliasOut)
			}
			a.bump(maps, 1)
			a.bump(score, 1)
			a.bump(point, 4)
		})
	})
	a.ret()
}

// neighbours are the values around the first maximum of a map, mirrored at its
// edges.
func (k *heatmapKernel) neighbours(a *asm, f frame, block, maps codegen.Reg) (g [3][3]codegen.Reg) {
	best, where, i, at := a.copyOf(a.imm(-1)), a.copyOf(a.imm(0)), a.copyOf(a.imm(0)), a.copyOf(maps)
	a.loop0(k.size*k.size, func() {
		v := a.r("stored")
		a.op(hexagon.L2_loadrub_io, v, at, 0).Loads(aliasIn)
		above := a.test(hexagon.C2_cmpgt, v, best)
		a.set(best, a.into(hexagon.A2_max, best, v))
		a.set(where, a.into(hexagon.C2_mux, above, i, where))
		a.bump(i, 1)
		a.bump(at, k.points)
	})
	row := a.floor(a.fdiv(a.ofInt(where), a.real(float32(k.size))))
	column := a.into(hexagon.A2_sub, where, a.into(hexagon.M2_mpyi, row, a.imm(k.size)))
	f.put(heatRow, row)
	f.put(heatColumn, column)
	around := func(i codegen.Reg, pitch int) (offset [3]codegen.Reg) {
		before := a.into(hexagon.C2_muxir, a.test(hexagon.C2_cmpgti, i, 0), a.add(i, -1), 1)
		last := a.test(hexagon.C2_cmpgt, i, a.imm(k.size-2))
		after := a.into(hexagon.C2_mux, last, a.imm(k.size-2), a.add(i, 1))
		for n, r := range [3]codegen.Reg{before, i, after} {
			offset[n] = a.into(hexagon.M2_mpyi, r, a.imm(pitch))
		}
		return offset
	}
	rows, columns := around(row, k.size*k.points), around(column, k.points)
	for y := range g {
		base := a.into(hexagon.A2_add, maps, rows[y])
		for x := range g[y] {
			g[y][x] = a.byteReal(base, columns[x], a.word(block, heatReals, "reals"))
		}
	}
	return g
}

// refine is the maximum of the second-order expansion around g[1][1], as an
// offset of at most 1.5, and its value.
func (k *heatmapKernel) refine(a *asm, g [3][3]codegen.Reg) (dx, dy, score codegen.Reg) {
	half := a.real(0.5)
	slope := func(before, after codegen.Reg) codegen.Reg { return a.fneg(a.fmul(a.fsub(after, before), half)) }
	bend := func(before, after codegen.Reg) codegen.Reg {
		return a.fadd(a.fsub(before, a.fadd(g[1][1], g[1][1])), after)
	}
	bx, by := slope(g[1][0], g[1][2]), slope(g[0][1], g[2][1])
	xx, yy := bend(g[1][0], g[1][2]), bend(g[0][1], g[2][1])
	xy := a.fmul(a.fadd(a.fsub(a.fsub(g[2][2], g[2][0]), g[0][2]), g[0][0]), a.real(0.25))
	product := a.fmul(xx, yy)
	det := a.fsub(product, a.fmul(xy, xy))
	dx, dy = a.copyOf(a.imm(0)), a.copyOf(a.imm(0))
	a.unless(a.singular(det, product), func() {
		a.set(dx, a.fdiv(a.fsub(a.fmul(yy, bx), a.fmul(xy, by)), det))
		a.set(dy, a.fdiv(a.fsub(a.fmul(xx, by), a.fmul(xy, bx)), det))
	})
	far := a.fmax(a.fabs(dx), a.fabs(dy))
	most := a.real(1.5)
	a.when(a.fless(most, far), func() {
		a.set(dx, a.fdiv(a.fmul(dx, most), far))
		a.set(dy, a.fdiv(a.fmul(dy, most), far))
	})
	score = a.fsub(a.fsub(g[1][1], a.fmul(bx, dx)), a.fmul(by, dy))
	alongX := a.fmul(a.fadd(a.fmul(xx, dx), a.fmul(xy, dy)), dx)
	alongY := a.fmul(a.fadd(a.fmul(xy, dx), a.fmul(yy, dy)), dy)
	return dx, dy, a.fadd(score, a.fmul(a.fadd(alongX, alongY), half))
}

func (a *asm) fabs(x codegen.Reg) codegen.Reg { return a.into(hexagon.S2_clrbit_i, x, 31) }

// singular tells that |det| < 1e-6 |product|, to more bits than a float has, or
// that det is 0.
func (a *asm) singular(det, product codegen.Reg) codegen.Reg {
	const factor = 1e-6
	head := float32(factor)
	tail := float32(factor - float64(head))
	size := a.fabs(product)
	miss := a.fneg(a.fabs(det))
	a.op(hexagon.F2_sffma, miss, a.real(head), size)
	a.op(hexagon.F2_sffma, miss, a.real(tail), size)
	zero, flat, bad := a.real(0), a.p("zero"), a.p("singular")
	a.op(hexagon.F2_sfcmpeq, flat, det, zero)
	a.op(hexagon.C2_or, bad, flat, a.fless(zero, miss))
	return bad
}
