package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// maxIndex is how many slices of bytes two bytes can number.
const maxIndex = 1 << 16

// indexedBytes are bytes and numbers of slices in two bytes.
type indexedBytes struct{ value, low, high codegen.Reg }

// sliceNumbers is the number of a slice in every byte.
func (a *asm) sliceNumbers(n codegen.Reg) indexedBytes {
	at, upper := indexedBytes{low: a.v("low"), high: a.v("high")}, a.r("upper")
	a.op(hexagon.V6_lvsplatb, at.low, n)
	a.op(hexagon.S2_lsr_i_r, upper, n, 8)
	a.op(hexagon.V6_lvsplatb, at.high, upper)
	return at
}

// storeIndexes stores numbers as four vectors of words.
func (a *asm) storeIndexes(at codegen.Reg, x indexedBytes) {
	low, high := a.widenBytes(x.low), a.widenBytes(x.high)
	eight := a.imm(8)
	for i := range low {
		w := a.v("index")
		a.op(hexagon.V6_vaslw, w, high[i], eight)
		a.op(hexagon.V6_vor, w, w, low[i])
		a.vstore(at, i*vecBytes, w, aliasOut)
	}
}

// argBytesKernel is argKernel for unsigned bytes, at most maxIndex slices. The
// constant is 1 in every byte.
func argBytesKernel(least bool) *reductionKernel {
	return &reductionKernel{name: "arg_bytes" + flag(least, "_least"), words: 1, wide: 4, body: func(a *asm, s *reductionWalk, c []codegen.Reg) {
		best, at := indexedBytes{a.v("best"), a.v("low"), a.v("high")}, a.sliceNumbers(a.imm(0))
		a.vloadTo(best.value, s.in, 0, aliasIn)
		a.op(hexagon.V6_vxor, best.low, c[0], c[0])
		a.op(hexagon.V6_vxor, best.high, c[0], c[0])
		blocks, n := a.r("blocks"), a.r("slices")
		a.op(hexagon.A2_addi, blocks, s.count, 255)
		a.op(hexagon.S2_lsr_i_r, blocks, blocks, 8)
		a.repeat(blocks, func() {
			a.op(hexagon.A2_min, n, s.count, a.imm(256))
			a.bump(s.count, -256)
			a.loop0(n, func() {
				x, q := a.vload(s.in, 0, aliasIn, "x"), a.q("better")
				a.op(hexagon.A2_add, s.in, s.in, s.step)
				if least {
					a.op(hexagon.V6_vgtub, q, best.value, x)
				} else {
					a.op(hexagon.V6_vgtub, q, x, best.value)
				}
				a.op(hexagon.V6_vmux, best.value, q, x, best.value)
				a.op(hexagon.V6_vmux, best.low, q, at.low, best.low)
				a.op(hexagon.V6_vmux, best.high, q, at.high, best.high)
				a.op(hexagon.V6_vaddb, at.low, at.low, c[0])
			})
			a.op(hexagon.V6_vaddb, at.high, at.high, c[0])
		})
		a.storeIndexes(s.out, best)
	}}
}

// normKernel is L2_NORMALIZATION of unsigned bytes in slices to bytes in slices.
// The constants are the zero points of the values, as halves, and of the results.
func normKernel() *reductionKernel {
	return &reductionKernel{name: "norm", words: 2, body: func(a *asm, s *reductionWalk, c []codegen.Reg) {
		zero := a.zero()
		sums := [2]codegen.Reg{a.vv("sums"), a.vv("sums")} // of even and odd lanes of each half
		for _, v := range sums {
			a.op(hexagon.V6_vcombine, v, zero, zero)
		}
		s.each(a, a.copyOf(s.in), func(x codegen.Reg) {
			for i, h := range a.centredHalves(x, c[0]) {
				a.op(hexagon.V6_vmpyhv_acc, sums[i], h, h)
			}
		})
		var scales [4]rowScale
		for i := range scales {
			scales[i] = a.rowScale(half(sums[i/2], i%2))
		}
		sixteen, nine, seven := a.imm(16), a.imm(9), a.imm(7)
		a.loop0(s.count, func() {
			var out [2]codegen.Reg
			for i, h := range a.centredHalves(a.vload(s.in, 0, aliasIn, "x"), c[0]) {
				even, odd := a.v("even"), a.v("odd")
				a.op(hexagon.V6_vaslw, even, h, sixteen)
				a.op(hexagon.V6_vasrw, even, even, nine)
				a.op(hexagon.V6_vasrw, odd, h, sixteen)
				a.op(hexagon.V6_vaslw, odd, odd, seven)
				out[i] = a.v("result")
				a.op(hexagon.V6_vshufeh, out[i], scales[2*i+1].apply(a, odd), scales[2*i].apply(a, even))
				a.op(hexagon.V6_vaddh, out[i], out[i], c[1])
			}
			y := a.v("bytes")
			a.op(hexagon.V6_vpackhub_sat, y, out[1], out[0])
			a.vstore(s.out, 0, y, aliasOut)
			a.op(hexagon.A2_add, s.in, s.in, s.step)
			a.op(hexagon.A2_add, s.out, s.out, s.step)
		})
	}}
}

// centredHalves are bytes less a zero point, as halves in order.
func (a *asm) centredHalves(x, zero codegen.Reg) [2]codegen.Reg {
	h, y := a.vv("halves"), [2]codegen.Reg{a.v("centred"), a.v("centred")}
	a.op(hexagon.V6_vunpackub, h, x)
	for i := range y {
		a.op(hexagon.V6_vsubh, y[i], half(h, i), zero)
	}
	return y
}

// rowScale is the inverse root of rows of words: a factor, a right shift, and what
// rounding adds to that - half of the divisor, and the sign where something is
// shifted out, because halves round away from zero.
type rowScale struct{ factor, right, half, some codegen.Reg }

func (a *asm) rowScale(sum codegen.Reg) rowScale {
	var r rowScale
	r.factor, r.right = a.inverseRoot(sum)
	one, zero, q := a.splat(a.imm(1), "one"), a.zero(), a.q("shifts")
	r.half, r.some = a.v("half"), a.v("some")
	a.op(hexagon.V6_vaslwv, r.half, one, r.right)
	a.op(hexagon.V6_vlsrw, r.half, r.half, a.imm(1))
	a.op(hexagon.V6_vgtw, q, r.right, zero)
	a.op(hexagon.V6_vmux, r.some, q, a.splat(a.imm(-1), "all"), zero)
	return r
}

// apply scales words.
func (r *rowScale) apply(a *asm, x codegen.Reg) codegen.Reg {
	z := a.mulHigh(x, r.factor)
	y, sign := a.v("y"), a.v("sign")
	a.op(hexagon.V6_vasrw, sign, z, a.imm(31))
	a.op(hexagon.V6_vand, sign, sign, r.some)
	a.op(hexagon.V6_vaddw, y, z, r.half)
	a.op(hexagon.V6_vaddw, y, y, sign)
	a.op(hexagon.V6_vasrwv, y, y, r.right)
	return y
}
