package reduction

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// MaxIndex is how many slices of bytes two bytes can number.
const MaxIndex = 1 << 16

// indexedBytes are bytes and numbers of slices in two bytes.
type indexedBytes struct{ value, low, high codegen.Reg }

// sliceNumbers is the number of a slice in every byte.
func sliceNumbers(a *hvx.Builder, n codegen.Reg) indexedBytes {
	at, upper := indexedBytes{low: a.V("low"), high: a.V("high")}, a.R("upper")
	a.Op(hexagon.V6_lvsplatb, at.low, n)
	a.Op(hexagon.S2_lsr_i_r, upper, n, 8)
	a.Op(hexagon.V6_lvsplatb, at.high, upper)
	return at
}

// storeIndexes stores numbers as four vectors of words.
func storeIndexes(a *hvx.Builder, at codegen.Reg, x indexedBytes) {
	low, high := a.WidenBytes(x.low), a.WidenBytes(x.high)
	eight := a.Imm(8)
	for i := range low {
		w := a.V("index")
		a.Op(hexagon.V6_vaslw, w, high[i], eight)
		a.Op(hexagon.V6_vor, w, w, low[i])
		a.Store(at, i*hvx.VectorBytes, w, hvx.AliasOut)
	}
}

// ArgBytes is Arg for unsigned bytes, at most MaxIndex slices. The constant is 1 in
// every byte.
type ArgBytes struct{ Least bool }

func (f ArgBytes) Name() string         { return "arg_bytes" + hvx.Flag(f.Least, "_least") }
func (ArgBytes) Form() (words, out int) { return 1, 4 }

func (f ArgBytes) Emit(a *hvx.Builder, s *Walk, c []codegen.Reg) {
	best, at := indexedBytes{a.V("best"), a.V("low"), a.V("high")}, sliceNumbers(a, a.Imm(0))
	a.LoadTo(best.value, s.in, 0, hvx.AliasIn)
	a.Op(hexagon.V6_vxor, best.low, c[0], c[0])
	a.Op(hexagon.V6_vxor, best.high, c[0], c[0])
	blocks, n := a.R("blocks"), a.R("slices")
	a.Op(hexagon.A2_addi, blocks, s.count, 255)
	a.Op(hexagon.S2_lsr_i_r, blocks, blocks, 8)
	a.Repeat(blocks, func() {
		a.Op(hexagon.A2_min, n, s.count, a.Imm(256))
		a.Bump(s.count, -256)
		a.Loop0(n, func() {
			x, q := a.Load(s.in, 0, hvx.AliasIn, "x"), a.Q("better")
			a.Op(hexagon.A2_add, s.in, s.in, s.step)
			if f.Least {
				a.Op(hexagon.V6_vgtub, q, best.value, x)
			} else {
				a.Op(hexagon.V6_vgtub, q, x, best.value)
			}
			a.Op(hexagon.V6_vmux, best.value, q, x, best.value)
			a.Op(hexagon.V6_vmux, best.low, q, at.low, best.low)
			a.Op(hexagon.V6_vmux, best.high, q, at.high, best.high)
			a.Op(hexagon.V6_vaddb, at.low, at.low, c[0])
		})
		a.Op(hexagon.V6_vaddb, at.high, at.high, c[0])
	})
	storeIndexes(a, s.out, best)
}

// Norm is L2_NORMALIZATION of unsigned bytes in slices to bytes in slices. The
// constants are the zero points of the values, as halfwords, and of the results.
type Norm struct{}

func (Norm) Name() string           { return "norm" }
func (Norm) Form() (words, out int) { return 2, 1 }

func (Norm) Emit(a *hvx.Builder, s *Walk, c []codegen.Reg) {
	zero := a.Zero()
	sums := [2]codegen.Reg{a.VV("sums"), a.VV("sums")} // of even and odd lanes of each half
	for _, v := range sums {
		a.Op(hexagon.V6_vcombine, v, zero, zero)
	}
	s.each(a, a.CopyOf(s.in), func(x codegen.Reg) {
		for i, h := range a.CentredHalfwords(x, c[0]) {
			a.Op(hexagon.V6_vmpyhv_acc, sums[i], h, h)
		}
	})
	var scales [4]rowScale
	for i := range scales {
		scales[i] = newRowScale(a, hvx.Half(sums[i/2], i%2))
	}
	sixteen, nine, seven := a.Imm(16), a.Imm(9), a.Imm(7)
	a.Loop0(s.count, func() {
		var out [2]codegen.Reg
		for i, h := range a.CentredHalfwords(a.Load(s.in, 0, hvx.AliasIn, "x"), c[0]) {
			even, odd := a.V("even"), a.V("odd")
			a.Op(hexagon.V6_vaslw, even, h, sixteen)
			a.Op(hexagon.V6_vasrw, even, even, nine)
			a.Op(hexagon.V6_vasrw, odd, h, sixteen)
			a.Op(hexagon.V6_vaslw, odd, odd, seven)
			out[i] = a.V("result")
			a.Op(hexagon.V6_vshufeh, out[i], scales[2*i+1].apply(a, odd), scales[2*i].apply(a, even))
			a.Op(hexagon.V6_vaddh, out[i], out[i], c[1])
		}
		y := a.V("bytes")
		a.Op(hexagon.V6_vpackhub_sat, y, out[1], out[0])
		a.Store(s.out, 0, y, hvx.AliasOut)
		a.Op(hexagon.A2_add, s.in, s.in, s.step)
		a.Op(hexagon.A2_add, s.out, s.out, s.step)
	})
}

// rowScale is the inverse root of rows of words: a factor, a right shift, and what
// rounding adds to that - half of the divisor, and the sign where something is
// shifted out, because halves round away from zero.
type rowScale struct{ factor, right, half, some codegen.Reg }

func newRowScale(a *hvx.Builder, sum codegen.Reg) rowScale {
	var r rowScale
	r.factor, r.right = hvxmath.InverseRoot(a, sum)
	one, zero, q := a.Splat(a.Imm(1), "one"), a.Zero(), a.Q("shifts")
	r.half, r.some = a.V("half"), a.V("some")
	a.Op(hexagon.V6_vaslwv, r.half, one, r.right)
	a.Op(hexagon.V6_vlsrw, r.half, r.half, a.Imm(1))
	a.Op(hexagon.V6_vgtw, q, r.right, zero)
	a.Op(hexagon.V6_vmux, r.some, q, a.Splat(a.Imm(-1), "all"), zero)
	return r
}

// apply scales words.
func (r *rowScale) apply(a *hvx.Builder, x codegen.Reg) codegen.Reg {
	z := a.MulHigh(x, r.factor)
	y, sign := a.V("y"), a.V("sign")
	a.Op(hexagon.V6_vasrw, sign, z, a.Imm(31))
	a.Op(hexagon.V6_vand, sign, sign, r.some)
	a.Op(hexagon.V6_vaddw, y, z, r.half)
	a.Op(hexagon.V6_vaddw, y, y, sign)
	a.Op(hexagon.V6_vasrwv, y, y, r.right)
	return y
}
