package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a roiKernel.
const (
	roiIn = iota
	roiBoxes
	roiBatches
	roiOut
	roiBad
	roiReals
)

// Words of its frame; behind them a sum for each channel.
const (
	roiImage = iota // address of the region's image
	roiTo           // address of the next output
	roiX            // corner, size of a bin and distance of samples, in the input
	roiY
	roiBinW
	roiBinH
	roiStepX
	roiStepY
	roiNX // samples of a bin
	roiNY
	roiArea
	roiRow0 // rows of the sample, or of the bin
	roiRow1
	roiFracY
	roiFrame
)

// maxSamples bounds the samples of a bin.
const maxSamples = 1 << 16

// generate writes the kernel. Arguments: block, first region, end, frame.
func (k *roiKernel) generate(a *asm) {
	in := a.args("block", "region", "end", "frame")
	block, region, end, f := in[0], in[1], in[2], frame{a, in[3]}
	a.each(region, end, func(next codegen.Label) {
		r := a.corners(a.indexed(a.word(block, roiBoxes, "regions"), region, 8), k.box)
		batch := a.r("batch")
		a.op(hexagon.L4_loadri_rr, batch, a.word(block, roiBatches, "batches"), region, 2).Loads(aliasIn)
		a.checkRegion(r, batch, k.N, a.word(block, roiBad, "bad"), next)
		f.put(roiImage, a.indexed(a.word(block, roiIn, "in"), batch, k.H*k.W*k.C))
		f.put(roiTo, a.indexed(a.word(block, roiOut, "out"), region, k.OutH*k.OutW*k.C))
		if k.align {
			k.alignRegion(a, f, block, r, next)
		} else {
			k.poolRegion(a, f, r)
		}
	})
	a.ret()
}

// alignRegion gives each bin the mean of its samples.
func (k *roiKernel) alignRegion(a *asm, f frame, block codegen.Reg, r [4]codegen.Reg, next codegen.Label) {
	axis := func(from, to codegen.Reg, stride float32, n, samples, corner, bin, step, count int) codegen.Reg {
		s := a.real(stride)
		start := a.fdiv(from, s)
		size := a.fdiv(a.fmax(a.fsub(a.fdiv(to, s), start), a.real(1)), a.real(float32(n)))
		many := a.imm(samples)
		if samples == 0 {
			many = a.into(hexagon.A2_min, a.ceil(size), a.imm(maxSamples))
		}
		f.put(corner, start)
		f.put(bin, size)
		f.put(step, a.fdiv(size, a.ofInt(many)))
		f.put(count, many)
		return many
	}
	nx := axis(r[0], r[2], k.StrideW, k.OutW, k.SampleW, roiX, roiBinW, roiStepX, roiNX)
	ny := axis(r[1], r[3], k.StrideH, k.OutH, k.SampleH, roiY, roiBinH, roiStepY, roiNY)
	samples := a.rr("samples")
	a.op(hexagon.M2_dpmpyss_s0, samples, nx, ny)
	limit := a.rr("limit")
	a.op(hexagon.A2_combineii, limit, 0, 1)
	a.op(hexagon.S2_asl_i_p, limit, limit, 16)
	a.when(a.test(hexagon.C2_cmpgtp, samples, limit), func() {
		a.fail(a.word(block, roiBad, "bad"))
		a.op(hexagon.J2_jump, next)
	})
	f.put(roiArea, a.ofInt(lo(samples)))
	a.upTo(k.OutH, func(oy codegen.Reg) {
		a.upTo(k.OutW, func(ox codegen.Reg) {
			k.clear(a, f)
			sy := a.copyOf(a.imm(0))
			a.each(sy, f.get(roiNY), func(codegen.Label) {
				y := k.place(a, f, roiY, roiBinH, roiStepY, oy, sy)
				row0, row1, frac := a.bracket(y, k.H)
				f.put(roiRow0, a.indexed(f.get(roiImage), row0, k.W*k.C))
				f.put(roiRow1, a.indexed(f.get(roiImage), row1, k.W*k.C))
				f.put(roiFracY, frac)
				sx := a.copyOf(a.imm(0))
				a.each(sx, f.get(roiNX), func(codegen.Label) {
					k.sample(a, f, block, k.place(a, f, roiX, roiBinW, roiStepX, ox, sx))
				})
			})
			k.finish(a, f)
		})
	})
}

// place is the coordinate of a sample.
func (k *roiKernel) place(a *asm, f frame, corner, bin, step int, out, sample codegen.Reg) codegen.Reg {
	v := a.fadd(f.get(corner), a.fmul(f.get(bin), a.ofInt(out)))
	return a.fadd(v, a.fmul(f.get(step), a.fadd(a.ofInt(sample), a.real(0.5))))
}

// bracket finds the neighbours of a coordinate on an axis of n and the weight
// of the second, the edges continued.
func (a *asm) bracket(v codegen.Reg, n int) (first, second, frac codegen.Reg) {
	i := a.floor(v)
	inside := a.test(hexagon.C2_cmpgtu, a.imm(n-1), i)
	frac = a.into(hexagon.C2_muxir, inside, a.fsub(v, a.ofInt(i)), 0)
	first = a.into(hexagon.A2_max, a.into(hexagon.A2_min, i, a.imm(n-1)), a.imm(0))
	second = a.into(hexagon.A2_add, first, a.into(hexagon.C2_muxii, inside, 1, 0))
	return first, second, frac
}

// clear zeroes the sums.
func (k *roiKernel) clear(a *asm, f frame) {
	sums, zero := a.add(f.base, 4*roiFrame), a.imm(0)
	a.loop0(k.C, func() { a.op(hexagon.S2_storeri_pi, sums, 4, zero).Stores(aliasScratch) })
}

// sample adds the bilinear value of every channel at column x of the rows in the frame.
func (k *roiKernel) sample(a *asm, f frame, block, x codegen.Reg) {
	left, right, fx := a.bracket(x, k.W)
	fy, one := f.get(roiFracY), a.real(1)
	gx, gy := a.fsub(one, fx), a.fsub(one, fy)
	weights := [4]codegen.Reg{a.fmul(gx, gy), a.fmul(fx, gy), a.fmul(gx, fy), a.fmul(fx, fy)}
	var at [4]codegen.Reg
	for i := range at {
		at[i] = a.indexed(f.get([2]int{roiRow0, roiRow1}[i/2]), [2]codegen.Reg{left, right}[i%2], k.C)
	}
	sums, reals := a.add(f.base, 4*roiFrame), a.word(block, roiReals, "reals")
	a.loop0(k.C, func() {
		var sum codegen.Reg
		for i := range at {
			v, r := a.r("stored"), a.r("real")
			a.op(hexagon.L2_loadrub_pi, v, at[i], 1).Loads(aliasIn)
			a.op(hexagon.L4_loadri_rr, r, reals, v, 2).Loads(aliasConst)
			if r = a.fmul(r, weights[i]); i == 0 {
				sum = r
			} else {
				sum = a.fadd(sum, r)
			}
		}
		old := a.r("sum")
		a.op(hexagon.L2_loadri_io, old, sums, 0).Loads(aliasScratch)
		a.op(hexagon.S2_storeri_pi, sums, 4, a.fadd(old, sum)).Stores(aliasScratch)
	})
}

// finish stores the means of a bin.
func (k *roiKernel) finish(a *asm, f frame) {
	sums, to, area := a.add(f.base, 4*roiFrame), f.get(roiTo), f.get(roiArea)
	a.loop0(k.C, func() {
		v := a.r("sum")
		a.op(hexagon.L2_loadri_pi, v, sums, 4).Loads(aliasScratch)
		a.op(hexagon.S2_storerb_pi, to, 1, a.quantize(a.fdiv(v, area), k.out)).Stores(aliasOut)
	})
	f.put(roiTo, to)
}

// poolRegion gives each bin the maximum of its positions, channels in vectors.
func (k *roiKernel) poolRegion(a *asm, f frame, r [4]codegen.Reg) {
	axis := func(from, to codegen.Reg, stride float32, n, corner, step int) {
		s := a.real(stride)
		start := a.round(a.fdiv(from, s))
		size := a.into(hexagon.A2_sub, a.add(a.round(a.fdiv(to, s)), 1), start)
		size = a.into(hexagon.A2_max, size, a.imm(1))
		f.put(corner, start)
		f.put(step, a.fdiv(a.ofInt(size), a.real(float32(n))))
	}
	axis(r[0], r[2], k.StrideW, k.OutW, roiX, roiBinW)
	axis(r[1], r[3], k.StrideH, k.OutH, roiY, roiBinH)
	a.upTo(k.OutH, func(oy codegen.Reg) {
		top, bottom := k.bin(a, f, oy, roiY, roiBinH, k.H)
		f.put(roiRow0, top)
		f.put(roiRow1, bottom)
		a.upTo(k.OutW, func(ox codegen.Reg) {
			left, right := k.bin(a, f, ox, roiX, roiBinW, k.W)
			k.largest(a, f, left, right)
		})
	})
}

// bin is the range of input positions of bin i.
func (k *roiKernel) bin(a *asm, f frame, i codegen.Reg, corner, step, limit int) (from, to codegen.Reg) {
	edge := func(v codegen.Reg) codegen.Reg {
		v = a.into(hexagon.A2_addsat, v, f.get(corner))
		return a.into(hexagon.A2_min, a.into(hexagon.A2_max, v, a.imm(0)), a.imm(limit))
	}
	from = edge(a.floor(a.fmul(f.get(step), a.ofInt(i))))
	return from, edge(a.ceil(a.fmul(f.get(step), a.ofInt(a.add(i, 1)))))
}

// largest stores the maximum over the rows in the frame and columns left to
// right-1; zero where there are none.
func (k *roiKernel) largest(a *asm, f frame, left, right codegen.Reg) {
	to := f.get(roiTo)
	for c := 0; c < k.C; c += vecBytes {
		best := a.v("best")
		a.op(hexagon.V6_vassign, best, a.zero())
		some := a.copyOf(a.imm(0))
		y := f.get(roiRow0)
		a.each(y, f.get(roiRow1), func(codegen.Label) {
			x := a.copyOf(left)
			at := a.indexed(a.indexed(f.get(roiImage), y, k.W*k.C), x, k.C)
			a.each(x, right, func(codegen.Label) {
				a.op(hexagon.V6_vmaxub, best, best, a.vloadu(at, c, aliasIn, "pixel"))
				a.bump(at, k.C)
				a.set(some, a.imm(1))
			})
		})
		a.when(a.test(hexagon.C2_cmpeqi, some, 0), func() {
			zero := a.splat(a.imm(int(k.out.zero&0xff)*ones), "zero point")
			a.op(hexagon.V6_vassign, best, zero)
		})
		if rest := k.C - c; rest < vecBytes {
			a.storeBytes(a.add(to, c), best, a.imm(rest))
		} else {
			a.op(hexagon.V6_vS32Ub_ai, a.add(to, c), 0, best).Stores(aliasOut)
		}
	}
	f.put(roiTo, a.add(to, k.C))
}
