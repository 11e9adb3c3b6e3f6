package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// products adds all products of the block's inputs and the chunk's weights.
func (e *convCode) products(b *convChunk, rec codegen.Reg) {
	a := e.a
	a.SetPhase(hvx.PhaseProducts)
	w := a.Add(rec, e.Header(b.groups)*hvx.VectorBytes)
	switch {
	case e.Window:
		e.windowProducts(b, w)
	case e.Unrolled:
		e.flatProducts(b, w)
	case e.WordPairs:
		e.pairProducts(b, w)
	default:
		e.wordProducts(b, w)
	}
	a.SetPhase(hvx.PhaseNone)
}

// eachRun calls run for every run and moves the pointers to the next one; each
// run leaves them where the driver's table of steps expects them. Without a loop
// the steps are single loads.
func (e *convCode) eachRun(ptr []codegen.Reg, loop bool, run func()) {
	a := e.a
	move := func(step codegen.Reg) {
		for _, p := range ptr {
			a.Op(hexagon.A2_add, p, p, step)
		}
	}
	if e.Runs == 1 {
		run()
		return
	}
	bumps := a.Word(e.args, ArgBumps, "bumps")
	if !loop {
		for r := range e.Runs {
			if r > 0 {
				move(a.Word(bumps, r-1, "step"))
			}
			run()
		}
		return
	}
	a.Loop1(e.Runs, func() {
		run()
		step := a.R("step")
		a.Op(hexagon.L2_loadri_pi, step, bumps, 4).Loads(hvx.AliasConst)
		move(step)
	})
}

// flatProducts writes every product. There are registers for pairs of up to five
// positions.
func (e *convCode) flatProducts(b *convChunk, w codegen.Reg) {
	a := e.a
	pairs := e.WordPairs && e.Positions <= 5
	e.eachRun(b.ptr, false, func() {
		x := make([]codegen.Reg, e.Positions)
		for k := range e.Words {
			for p := range x {
				in := b.in[p]
				switch {
				case pairs && k%2 == 0 && k+1 < e.Words:
					x[p] = a.RR("x")
					a.Op(hexagon.L2_loadrd_io, x[p], in.ptr, in.off+4*k).Loads(hvx.AliasIn)
				case !pairs || k%2 == 0:
					x[p] = a.R("x")
					a.Op(hexagon.L2_loadri_io, x[p], in.ptr, in.off+4*k).Loads(hvx.AliasIn)
				}
			}
			for j := range b.groups {
				wv := a.V("w")
				a.Op(hexagon.V6_vL32b_pi, wv, w, 1).Loads(hvx.AliasConst)
				for p := range x {
					xw := x[p]
					if xw.Class() == hvx.ClassRR {
						xw = hvx.Half(xw, k%2)
					}
					a.Op(hexagon.V6_vrmpyub_acc, b.acc[p][j], wv, xw)
				}
			}
		}
	})
}

// wordProducts loops over single words.
func (e *convCode) wordProducts(b *convChunk, w codegen.Reg) {
	a := e.a
	step := func(n int) {
		for k := range n {
			wv := make([]codegen.Reg, b.groups)
			for j := range wv {
				wv[j] = a.V("w")
				a.Op(hexagon.V6_vL32b_pi, wv[j], w, 1).Loads(hvx.AliasConst)
			}
			for p, in := range b.in {
				x := a.R("x")
				a.Op(hexagon.L2_loadri_io, x, in.ptr, in.off+4*k).Loads(hvx.AliasIn)
				for j := range wv {
					a.Op(hexagon.V6_vrmpyub_acc, b.acc[p][j], wv[j], x)
				}
			}
		}
		for p := range b.ptr {
			a.Bump(b.ptr[p], 4*n)
		}
	}
	e.eachRun(b.ptr, true, func() {
		if e.Words <= 8 {
			step(e.Words)
			return
		}
		for k := 4; k > 0; k /= 2 {
			if e.Words%k == 0 {
				a.Loop0(e.Words/k, func() { step(k) })
				return
			}
		}
	})
}

// pairProducts loops over pairs of words. The vectors of the first word and the
// pairs are loaded for the next round as soon as their last use is over. What the
// last round loads is past the run; the records and regions have padding for that.
func (e *convCode) pairProducts(b *convChunk, w codegen.Reg) {
	a, n := e.a, b.groups
	first := make([]codegen.Reg, n)
	for j := range first {
		first[j] = a.Load(w, j*hvx.VectorBytes, hvx.AliasConst, "w")
	}
	a.Bump(w, 2*n*hvx.VectorBytes)
	x := make([]codegen.Reg, e.Positions)
	for p := range x {
		x[p] = a.RR("x")
	}
	load := func(p int) { a.Op(hexagon.L2_loadrd_pi, x[p], b.ptr[p], 8).Loads(hvx.AliasIn) }
	// With few groups the slots for requesting the next line of L1D are those of
	// several rounds.
	rounds := 1
	if _, all := e.inputLines(); all {
		rounds = 0
	} else {
		for rounds*n < 4 && e.Words%(4*rounds) == 0 {
			rounds *= 2
		}
	}
	e.eachRun(b.ptr, true, func() {
		for p := range x {
			load(p)
		}
		a.Loop0(e.Words/2/max(rounds, 1), func() {
			for r := range max(rounds, 1) {
				second := make([]codegen.Reg, n)
				for j := range second {
					second[j] = a.Load(w, (j-n)*hvx.VectorBytes, hvx.AliasConst, "w")
				}
				for j := range first {
					for p := range x {
						a.Op(hexagon.V6_vrmpyub_acc, b.acc[p][j], first[j], hvx.Lo(x[p]))
					}
					a.LoadTo(first[j], w, j*hvx.VectorBytes, hvx.AliasConst)
				}
				for j := range second {
					for p := range x {
						a.Op(hexagon.V6_vrmpyub_acc, b.acc[p][j], second[j], hvx.Hi(x[p]))
						if j == 0 && rounds*n > 2 && p%rounds == r {
							a.Op(hexagon.Y2_dcfetchbo, b.ptr[p], 64)
						}
						if j == n-1 {
							load(p)
						}
					}
				}
				a.Bump(w, 2*n*hvx.VectorBytes)
			}
		})
	})
}
