package detection

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Addresses of the block of a ROI.
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
	RoiFrame
)

// maxSamples bounds the samples of a bin.
const maxSamples = 1 << 16

// Name implements hvx.Kernel.
func (k ROI) Name() string {
	if k.Align {
		return fmt.Sprintf("roi_align_%dx%dx%d", k.OutH, k.OutW, k.C)
	}
	return fmt.Sprintf("roi_pooling_%dx%dx%d", k.OutH, k.OutW, k.C)
}

// Emit writes the kernel. Arguments: block, first region, end, frame.
func (k ROI) Emit(a *hvx.Builder) {
	in := a.Args("block", "region", "end", "frame")
	block, region, end, f := in[0], in[1], in[2], hvx.Frame{B: a, Base: in[3]}
	a.ForEach(region, end, func(next codegen.Label) {
		r := corners(a, hvx.Indexed(a, a.Word(block, roiBoxes, "regions"), region, 8), k.Box)
		batch := a.R("batch")
		a.Op(hexagon.L4_loadri_rr, batch, a.Word(block, roiBatches, "batches"), region, 2).Loads(hvx.AliasIn)
		checkRegion(a, r, batch, k.N, a.Word(block, roiBad, "bad"), next)
		f.Put(roiImage, hvx.Indexed(a, a.Word(block, roiIn, "in"), batch, k.H*k.W*k.C))
		f.Put(roiTo, hvx.Indexed(a, a.Word(block, roiOut, "out"), region, k.OutH*k.OutW*k.C))
		if k.Align {
			k.alignRegion(a, f, block, r, next)
		} else {
			k.poolRegion(a, f, r)
		}
	})
	a.Ret()
}

// alignRegion gives each bin the mean of its samples.
func (k ROI) alignRegion(a *hvx.Builder, f hvx.Frame, block codegen.Reg, r [4]codegen.Reg, next codegen.Label) {
	axis := func(from, to codegen.Reg, stride float32, n, samples, corner, bin, step, count int) codegen.Reg {
		s := a.Float(stride)
		start := a.FDiv(from, s)
		size := a.FDiv(a.FMax(a.FSub(a.FDiv(to, s), start), a.Float(1)), a.Float(float32(n)))
		many := a.Imm(samples)
		if samples == 0 {
			many = a.Into(hexagon.A2_min, a.Ceil(size), a.Imm(maxSamples))
		}
		f.Put(corner, start)
		f.Put(bin, size)
		f.Put(step, a.FDiv(size, a.FloatOf(many)))
		f.Put(count, many)
		return many
	}
	nx := axis(r[0], r[2], k.StrideW, k.OutW, k.SampleW, roiX, roiBinW, roiStepX, roiNX)
	ny := axis(r[1], r[3], k.StrideH, k.OutH, k.SampleH, roiY, roiBinH, roiStepY, roiNY)
	samples := a.RR("samples")
	a.Op(hexagon.M2_dpmpyss_s0, samples, nx, ny)
	limit := a.RR("limit")
	a.Op(hexagon.A2_combineii, limit, 0, 1)
	a.Op(hexagon.S2_asl_i_p, limit, limit, 16)
	a.If(a.Compare(hexagon.C2_cmpgtp, samples, limit), func() {
		hvx.Fail(a, a.Word(block, roiBad, "bad"))
		a.Op(hexagon.J2_jump, next)
	})
	f.Put(roiArea, a.FloatOf(hvx.Lo(samples)))
	a.For(k.OutH, func(oy codegen.Reg) {
		a.For(k.OutW, func(ox codegen.Reg) {
			k.clear(a, f)
			sy := a.CopyOf(a.Imm(0))
			a.ForEach(sy, f.Get(roiNY), func(codegen.Label) {
				y := k.place(a, f, roiY, roiBinH, roiStepY, oy, sy)
				row0, row1, frac := bracket(a, y, k.H)
				f.Put(roiRow0, hvx.Indexed(a, f.Get(roiImage), row0, k.W*k.C))
				f.Put(roiRow1, hvx.Indexed(a, f.Get(roiImage), row1, k.W*k.C))
				f.Put(roiFracY, frac)
				sx := a.CopyOf(a.Imm(0))
				a.ForEach(sx, f.Get(roiNX), func(codegen.Label) {
					k.sample(a, f, block, k.place(a, f, roiX, roiBinW, roiStepX, ox, sx))
				})
			})
			k.finish(a, f)
		})
	})
}

// place is the coordinate of a sample.
func (k ROI) place(a *hvx.Builder, f hvx.Frame, corner, bin, step int, out, sample codegen.Reg) codegen.Reg {
	v := a.FAdd(f.Get(corner), a.FMul(f.Get(bin), a.FloatOf(out)))
	return a.FAdd(v, a.FMul(f.Get(step), a.FAdd(a.FloatOf(sample), a.Float(0.5))))
}

// bracket finds the neighbours of a coordinate on an axis of n and the weight
// of the second, the edges continued.
func bracket(a *hvx.Builder, v codegen.Reg, n int) (first, second, frac codegen.Reg) {
	i := a.Floor(v)
	inside := a.Compare(hexagon.C2_cmpgtu, a.Imm(n-1), i)
	frac = a.Into(hexagon.C2_muxir, inside, a.FSub(v, a.FloatOf(i)), 0)
	first = a.Into(hexagon.A2_max, a.Into(hexagon.A2_min, i, a.Imm(n-1)), a.Imm(0))
	second = a.Into(hexagon.A2_add, first, a.Into(hexagon.C2_muxii, inside, 1, 0))
	return first, second, frac
}

// clear zeroes the sums.
func (k ROI) clear(a *hvx.Builder, f hvx.Frame) {
	sums, zero := a.Add(f.Base, 4*RoiFrame), a.Imm(0)
	a.Loop0(k.C, func() { a.Op(hexagon.S2_storeri_pi, sums, 4, zero).Stores(hvx.AliasScratch) })
}

// sample adds the bilinear value of every channel at column x of the rows in the frame.
func (k ROI) sample(a *hvx.Builder, f hvx.Frame, block, x codegen.Reg) {
	left, right, fx := bracket(a, x, k.W)
	fy, one := f.Get(roiFracY), a.Float(1)
	gx, gy := a.FSub(one, fx), a.FSub(one, fy)
	weights := [4]codegen.Reg{a.FMul(gx, gy), a.FMul(fx, gy), a.FMul(gx, fy), a.FMul(fx, fy)}
	var at [4]codegen.Reg
	for i := range at {
		at[i] = hvx.Indexed(a, f.Get([2]int{roiRow0, roiRow1}[i/2]), [2]codegen.Reg{left, right}[i%2], k.C)
	}
	sums, reals := a.Add(f.Base, 4*RoiFrame), a.Word(block, roiReals, "reals")
	a.Loop0(k.C, func() {
		var sum codegen.Reg
		for i := range at {
			v, r := a.R("stored"), a.R("real")
			a.Op(hexagon.L2_loadrub_pi, v, at[i], 1).Loads(hvx.AliasIn)
			a.Op(hexagon.L4_loadri_rr, r, reals, v, 2).Loads(hvx.AliasConst)
			if r = a.FMul(r, weights[i]); i == 0 {
				sum = r
			} else {
				sum = a.FAdd(sum, r)
			}
		}
		old := a.R("sum")
		a.Op(hexagon.L2_loadri_io, old, sums, 0).Loads(hvx.AliasScratch)
		a.Op(hexagon.S2_storeri_pi, sums, 4, a.FAdd(old, sum)).Stores(hvx.AliasScratch)
	})
}

// finish stores the means of a bin.
func (k ROI) finish(a *hvx.Builder, f hvx.Frame) {
	sums, to, area := a.Add(f.Base, 4*RoiFrame), f.Get(roiTo), f.Get(roiArea)
	a.Loop0(k.C, func() {
		v := a.R("sum")
		a.Op(hexagon.L2_loadri_pi, v, sums, 4).Loads(hvx.AliasScratch)
		a.Op(hexagon.S2_storerb_pi, to, 1, hvxmath.Quantize(a, a.FDiv(v, area), k.Out)).Stores(hvx.AliasOut)
	})
	f.Put(roiTo, to)
}

// poolRegion gives each bin the maximum of its positions, channels in vectors.
func (k ROI) poolRegion(a *hvx.Builder, f hvx.Frame, r [4]codegen.Reg) {
	axis := func(from, to codegen.Reg, stride float32, n, corner, step int) {
		s := a.Float(stride)
		start := a.Round(a.FDiv(from, s))
		size := a.Into(hexagon.A2_sub, a.Add(a.Round(a.FDiv(to, s)), 1), start)
		size = a.Into(hexagon.A2_max, size, a.Imm(1))
		f.Put(corner, start)
		f.Put(step, a.FDiv(a.FloatOf(size), a.Float(float32(n))))
	}
	axis(r[0], r[2], k.StrideW, k.OutW, roiX, roiBinW)
	axis(r[1], r[3], k.StrideH, k.OutH, roiY, roiBinH)
	a.For(k.OutH, func(oy codegen.Reg) {
		top, bottom := k.bin(a, f, oy, roiY, roiBinH, k.H)
		f.Put(roiRow0, top)
		f.Put(roiRow1, bottom)
		a.For(k.OutW, func(ox codegen.Reg) {
			left, right := k.bin(a, f, ox, roiX, roiBinW, k.W)
			k.largest(a, f, left, right)
		})
	})
}

// bin is the range of input positions of bin i.
func (k ROI) bin(a *hvx.Builder, f hvx.Frame, i codegen.Reg, corner, step, limit int) (from, to codegen.Reg) {
	edge := func(v codegen.Reg) codegen.Reg {
		v = a.Into(hexagon.A2_addsat, v, f.Get(corner))
		return a.Into(hexagon.A2_min, a.Into(hexagon.A2_max, v, a.Imm(0)), a.Imm(limit))
	}
	from = edge(a.Floor(a.FMul(f.Get(step), a.FloatOf(i))))
	return from, edge(a.Ceil(a.FMul(f.Get(step), a.FloatOf(a.Add(i, 1)))))
}

// largest stores the maximum over the rows in the frame and columns left to
// right-1; zero where there are none.
func (k ROI) largest(a *hvx.Builder, f hvx.Frame, left, right codegen.Reg) {
	to := f.Get(roiTo)
	for c := 0; c < k.C; c += hvx.VectorBytes {
		best := a.V("best")
		a.Op(hexagon.V6_vassign, best, a.Zero())
		some := a.CopyOf(a.Imm(0))
		y := f.Get(roiRow0)
		a.ForEach(y, f.Get(roiRow1), func(codegen.Label) {
			x := a.CopyOf(left)
			at := hvx.Indexed(a, hvx.Indexed(a, f.Get(roiImage), y, k.W*k.C), x, k.C)
			a.ForEach(x, right, func(codegen.Label) {
				a.Op(hexagon.V6_vmaxub, best, best, a.LoadUnaligned(at, c, hvx.AliasIn, "pixel"))
				a.Bump(at, k.C)
				a.Move(some, a.Imm(1))
			})
		})
		a.If(a.Compare(hexagon.C2_cmpeqi, some, 0), func() {
			zero := a.Splat(a.Imm(int(k.Out.Zero&0xff)*hvx.Ones), "zero point")
			a.Op(hexagon.V6_vassign, best, zero)
		})
		if rest := k.C - c; rest < hvx.VectorBytes {
			a.StoreBytes(a.Add(to, c), best, a.Imm(rest))
		} else {
			a.Op(hexagon.V6_vS32Ub_ai, a.Add(to, c), 0, best).Stores(hvx.AliasOut)
		}
	}
	f.Put(roiTo, a.Add(to, k.C))
}

// MinNormal is the least float with all its bits.
const MinNormal = 0x1p-126

// ROI is ROI_ALIGN or ROI_POOLING on an image in NHWC order.
type ROI struct {
	Align            bool // ROI_ALIGN, else ROI_POOLING
	N, H, W, C       int  // of the input
	OutH, OutW       int
	StrideH, StrideW float32 // of the regions' coordinates to the input's
	SampleH, SampleW int     // ROI_ALIGN: samples per bin, 0 adapts
	Box, Out         hvxmath.Quant
}
