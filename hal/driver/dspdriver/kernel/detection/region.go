package detection

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// corners loads four values of 16 bits and makes floats of them.
func corners(a *hvx.Builder, at codegen.Reg, q hvxmath.Quant) [4]codegen.Reg {
	var r [4]codegen.Reg
	for i := range r {
		r[i] = halfReal(a, at, 2*i, q)
	}
	return r
}

func halfReal(a *hvx.Builder, at codegen.Reg, off int, q hvxmath.Quant) codegen.Reg {
	v, load := a.R("stored"), hexagon.L2_loadruh_io
	if q.Lo < 0 {
		load = hexagon.L2_loadrh_io
	}
	a.Op(load, v, at, off).Loads(hvx.AliasIn)
	return a.FMul(a.FloatOf(a.Add(v, -int(q.Zero))), a.Float(q.Scale))
}

// byteReal looks up the value of the byte at base + index.
func byteReal(a *hvx.Builder, base, index, table codegen.Reg) codegen.Reg {
	v, f := a.R("stored"), a.R("real")
	a.Op(hexagon.L4_loadrub_rr, v, base, index, 0).Loads(hvx.AliasIn)
	a.Op(hexagon.L4_loadri_rr, f, table, v, 2).Loads(hvx.AliasConst)
	return f
}

// checkRegion goes to next unless a box stands upright within 2^24 and, where
// there are images, belongs to one of them.
func checkRegion(a *hvx.Builder, r [4]codegen.Reg, batch codegen.Reg, images int, bad codegen.Reg, next codegen.Label) {
	ok := a.Into(hexagon.C2_muxii, a.FAtLeast(r[2], r[0]), 1, 0)
	check := func(p codegen.Reg) { ok = a.Into(hexagon.C2_muxri, p, 0, ok) }
	both := func(p codegen.Reg) {
		fails := a.P("fails")
		a.Op(hexagon.C2_not, fails, p)
		check(fails)
	}
	both(a.FAtLeast(r[3], r[1]))
	if images > 0 {
		far, near := a.Float(1<<24), a.Float(-1<<24)
		check(a.FLess(far, r[2]))
		check(a.FLess(far, r[3]))
		check(a.FLess(r[0], near))
		check(a.FLess(r[1], near))
		check(a.Compare(hexagon.C2_cmpgtu, batch, a.Imm(images-1)))
	}
	a.If(a.Compare(hexagon.C2_cmpeqi, ok, 0), func() {
		hvx.Fail(a, bad)
		a.Op(hexagon.J2_jump, next)
	})
}
