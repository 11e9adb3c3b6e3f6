package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// products adds all products of the block's inputs and the chunk's weights.
func (e *convCode) products(b *convChunk, rec build.Reg) {
	a := e.a
	a.phase(phaseProducts)
	w := a.add(rec, e.header(b.groups)*vecBytes)
	switch {
	case e.flat:
		e.flatProducts(b, w)
	case e.pairs:
		e.pairProducts(b, w)
	default:
		e.wordProducts(b, w)
	}
	a.phase(phaseOther)
}

// eachRun calls run for every run and moves the pointers to the next one; each
// run leaves them where the driver's table of steps expects them. Without a loop
// the steps are single loads.
func (e *convCode) eachRun(ptr []build.Reg, loop bool, extra int, run func()) {
	a := e.a
	move := func(step build.Reg) {
		for _, p := range ptr {
			a.op(hexagon.A2_add, p, p, step)
			a.bump(p, extra)
		}
	}
	if e.runs == 1 {
		run()
		return
	}
	bumps := a.word(e.args, convBumps, "bumps")
	if !loop {
		for r := range e.runs {
			if r > 0 {
				move(a.word(bumps, r-1, "step"))
			}
			run()
		}
		return
	}
	a.loop1(e.runs, func() {
		run()
		step := a.r("step")
		a.op(hexagon.L2_loadri_pi, step, bumps, 4).Loads(aliasConst)
		move(step)
	})
}

// flatProducts writes every product. There are registers for pairs of up to five
// positions.
func (e *convCode) flatProducts(b *convChunk, w build.Reg) {
	a := e.a
	pairs := e.pairs && e.positions <= 5
	e.eachRun(b.ptr, false, 0, func() {
		x := make([]build.Reg, e.positions)
		for k := range e.words {
			for p := range x {
				in := b.in[p]
				switch {
				case pairs && k%2 == 0 && k+1 < e.words:
					x[p] = a.rr("x")
					a.op(hexagon.L2_loadrd_io, x[p], in.ptr, in.off+4*k).Loads(aliasIn)
				case !pairs || k%2 == 0:
					x[p] = a.r("x")
					a.op(hexagon.L2_loadri_io, x[p], in.ptr, in.off+4*k).Loads(aliasIn)
				}
			}
			for j := range b.groups {
				wv := a.v("w")
				a.op(hexagon.V6_vL32b_pi, wv, w, 1).Loads(aliasConst)
				for p := range x {
					xw := x[p]
					if xw.Class() == clsRR {
						xw = half(xw, k%2)
					}
					a.op(hexagon.V6_vrmpyub_acc, b.acc[p][j], wv, xw)
				}
			}
		}
	})
}

// wordProducts loops over single words.
func (e *convCode) wordProducts(b *convChunk, w build.Reg) {
	a := e.a
	step := func(n int) {
		for k := range n {
			wv := make([]build.Reg, b.groups)
			for j := range wv {
				wv[j] = a.v("w")
				a.op(hexagon.V6_vL32b_pi, wv[j], w, 1).Loads(aliasConst)
			}
			for p, in := range b.in {
				x := a.r("x")
				a.op(hexagon.L2_loadri_io, x, in.ptr, in.off+4*k).Loads(aliasIn)
				for j := range wv {
					a.op(hexagon.V6_vrmpyub_acc, b.acc[p][j], wv[j], x)
				}
			}
		}
		for p := range b.ptr {
			a.bump(b.ptr[p], 4*n)
		}
	}
	e.eachRun(b.ptr, true, 0, func() {
		if e.words <= 8 {
			step(e.words)
			return
		}
		for k := 4; k > 0; k /= 2 {
			if e.words%k == 0 {
				a.loop0(e.words/k, func() { step(k) })
				return
			}
		}
	})
}

// pairProducts loops over pairs of words. The vectors of the first word and the
// pairs are loaded for the next round as soon as their last use is over. What the
// last round loads lies behind the run; the records and regions have room for that.
func (e *convCode) pairProducts(b *convChunk, w build.Reg) {
	a, n := e.a, b.groups
	first := make([]build.Reg, n)
	for j := range first {
		first[j] = a.vload(w, j*vecBytes, aliasConst, "w")
	}
	a.bump(w, 2*n*vecBytes)
	x := make([]build.Reg, e.positions)
	for p := range x {
		x[p] = a.rr("x")
	}
	load := func(p int) { a.op(hexagon.L2_loadrd_pi, x[p], b.ptr[p], 8).Loads(aliasIn) }
	e.eachRun(b.ptr, true, 0, func() {
		for p := range x {
			load(p)
		}
		a.loop0(e.words/2, func() {
			second := make([]build.Reg, n)
			for j := range second {
				second[j] = a.vload(w, (j-n)*vecBytes, aliasConst, "w")
			}
			for j := range first {
				for p := range x {
					a.op(hexagon.V6_vrmpyub_acc, b.acc[p][j], first[j], lo(x[p]))
				}
				a.vloadTo(first[j], w, j*vecBytes, aliasConst)
			}
			for j := range second {
				for p := range x {
					a.op(hexagon.V6_vrmpyub_acc, b.acc[p][j], second[j], hi(x[p]))
					if j == n-1 {
						load(p)
					}
				}
			}
			a.bump(w, 2*n*vecBytes)
		})
	})
}

// maxFlatSums is how many pairs of words are added up without a loop.
const maxFlatSums = 40

// sums is -zw * (sum of the inputs) of each position; it moves the pointers. Two
// positions at a time, there are not registers for all at once.
func (e *convCode) sums(in []convInput) []build.Reg {
	e.a.phase(phaseSums)
	defer e.a.phase(phaseOther)
	var sums []build.Reg
	for i := 0; i < len(in); i += 2 {
		s := e.newSums(in[i:min(i+2, len(in))])
		if e.runs*ceilDiv(e.words, 2) <= maxFlatSums {
			s.flat()
		} else {
			s.loop()
		}
		sums = append(sums, s.negatives()...)
	}
	return sums
}

// flat writes every addition.
func (s *convSums) flat() {
	extra := 0 // the way from run to run when the products do not loop
	if !s.convCode.flat {
		extra = s.consumed()
	}
	s.eachRun(s.ptr, false, extra, func() {
		for k := 0; k < s.words; k += 2 {
			s.add(k, k+1 == s.words)
		}
	})
}

// loop loops over the runs and the pairs of words.
func (s *convSums) loop() {
	a := s.a
	for _, t := range s.total {
		a.op(hexagon.A2_combineii, t, 0, 0)
	}
	s.begun = true
	move := func(n int) {
		for _, p := range s.ptr {
			a.bump(p, n)
		}
	}
	pairs, unroll := s.words/2, 12
	for pairs%unroll != 0 {
		unroll--
	}
	s.eachRun(s.ptr, true, s.consumed()-4*s.words, func() {
		if pairs > 0 {
			a.loop0(pairs/unroll, func() {
				for k := range unroll {
					s.add(2*k, false)
				}
				move(8 * unroll)
			})
		}
		if s.words%2 == 1 {
			s.add(0, true)
			move(4)
		}
	})
}

// convSums adds up inputs.
type convSums struct {
	*convCode
	ptr   []build.Reg // of the inputs, each once
	in    []convInput
	total []build.Reg // pairs, one per input
	masks build.Reg
	begun bool // totals hold something
}

func (e *convCode) newSums(in []convInput) *convSums {
	s := &convSums{convCode: e, in: in}
	for _, x := range in {
		if len(s.ptr) == 0 || s.ptr[len(s.ptr)-1] != x.ptr {
			s.ptr = append(s.ptr, x.ptr)
		}
	}
	if !e.even {
		s.masks = e.a.word(e.args, convMasks, "masks")
	}
	for range in {
		s.total = append(s.total, e.a.rr("total"))
	}
	return s
}

// add adds the words k and k+1 behind the pointers, or the last word of a run.
func (s *convSums) add(k int, odd bool) {
	a, mask := s.a, s.zero
	if !s.even {
		mask = a.rr("mask")
		a.op(hexagon.L2_loadrd_pi, mask, s.masks, 8).Loads(aliasConst)
	}
	op := hexagon.M5_vrmpybuu
	if s.begun {
		op = hexagon.M5_vrmacbuu
	}
	s.begun = true
	for p, in := range s.in {
		x := a.rr("x")
		switch {
		case s.pairs && (!odd || !s.even):
			a.op(hexagon.L2_loadrd_io, x, in.ptr, in.off+4*k).Loads(aliasIn)
		case odd:
			a.op(hexagon.L2_loadri_io, lo(x), in.ptr, in.off+4*k).Loads(aliasIn)
			a.op(hexagon.A2_tfrsi, hi(x), 0)
		default:
			a.op(hexagon.L2_loadri_io, lo(x), in.ptr, in.off+4*k).Loads(aliasIn)
			a.op(hexagon.L2_loadri_io, hi(x), in.ptr, in.off+4*k+4).Loads(aliasIn)
		}
		a.op(op, s.total[p], x, mask)
	}
}

// negatives are the totals of the positions, negative.
func (s *convSums) negatives() []build.Reg {
	a := s.a
	sums := make([]build.Reg, len(s.in))
	for p := range sums {
		t := a.r("minus")
		sums[p] = a.r("sum")
		a.op(hexagon.A2_subri, t, 0, hi(s.total[p]))
		a.op(hexagon.A2_sub, sums[p], t, lo(s.total[p]))
	}
	return sums
}
