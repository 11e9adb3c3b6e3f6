package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Centre is x minus a zero point.
func (a *Builder) Centre(x codegen.Reg, zero int32) codegen.Reg {
	if zero == 0 {
		return x
	}
	return a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("centred"), uint32(-zero), x)
}

// DoublingHigh is fixedpoint.SRDHM of x and a factor that is not the least int32:
// (x*m + 2^30) >> 31.
func (a *Builder) DoublingHigh(x, m any) codegen.Reg {
	half := a.Reg(rdna2.S2, "half")
	a.Emit(rdna2.S_MOV_B32, lo(half), 1<<30)
	a.Emit(rdna2.S_MOV_B32, hi(half), 0)
	p := a.Reg(rdna2.V2, "product")
	a.Emit(rdna2.V_MAD_I64_I32, p, a.S("overflow"), x, m, half)
	return a.Op3(rdna2.V_ALIGNBIT_B32, a.V("high"), At(p, 1), At(p, 0), 31)
}

// RoundingShift is fixedpoint.RDPOT: x / 2^n, halves away from zero, n below 32.
func (a *Builder) RoundingShift(x codegen.Reg, n int) codegen.Reg {
	if n == 0 {
		return x
	}
	mask := uint32(1)<<n - 1
	return a.roundingShift(x, n, mask, mask>>1)
}

// roundingShift is RoundingShift with its mask 2^n - 1 and half of that:
//
//	(x >> n) + (x & mask > half + (x < 0))
func (a *Builder) roundingShift(x codegen.Reg, n, mask, half any) codegen.Reg {
	rest := a.Op2(rdna2.V_AND_B32_E32, a.V("rest"), mask, x)
	limit := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("limit"), half, a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("negative"), 31, x))
	shifted := a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("shifted"), n, x)
	return a.Less(shifted, a.sign(a.Less(limit, rest))) // both are below 2^31: -1 where it rounds up
}

// Rescale is fixedpoint.Multiplier.Apply.
func (a *Builder) Rescale(x codegen.Reg, m fixedpoint.Multiplier) codegen.Reg {
	if m.Shift > 31 { // no bit of x is left
		return a.Constant(0)
	}
	if m.Shift > 0 {
		x = a.ShiftLeft(x, m.Shift, "shifted")
		return a.DoublingHigh(x, uint32(m.M))
	}
	return a.RoundingShift(a.DoublingHigh(x, uint32(m.M)), -m.Shift)
}

// RescaleLanes is Rescale by the multiplier of each lane, four registers of Records.
func (a *Builder) RescaleLanes(x codegen.Reg, m codegen.Reg) codegen.Reg {
	x = a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("shifted"), At(m, 1), x)
	x = a.DoublingHigh(x, At(m, 0))
	half := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, At(m, 3))
	return a.roundingShift(x, At(m, 2), At(m, 3), half)
}

// Saturate adds a zero point and bounds the sum.
func (a *Builder) Saturate(x codegen.Reg, zero, lo, hi int32) codegen.Reg {
	if zero != 0 {
		x = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("shifted"), uint32(zero), x)
	}
	x = a.Op2(rdna2.V_MAX_I32_E32, a.V("bounded"), uint32(lo), x)
	return a.Op2(rdna2.V_MIN_I32_E32, a.V("bounded"), uint32(hi), x)
}

// RoundingShiftLanes is RoundingShift by a number of bits of each lane, below 32.
func (a *Builder) RoundingShiftLanes(x, n codegen.Reg) codegen.Reg {
	mask := a.Less(a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("unit"), n, a.Constant(1)), 1)
	return a.roundingShift(x, n, mask, a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, mask))
}

// SaturatingShift is x << n, or the extreme of its sign where that does not fit.
func (a *Builder) SaturatingShift(x codegen.Reg, n int) codegen.Reg {
	y := a.ShiftLeft(x, n, "shifted")
	back := a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("back"), n, y)
	extreme := a.Op2(rdna2.V_XOR_B32_E32, a.V("extreme"), uint32(math.MaxInt32), a.sign(x))
	return a.Choose(extreme, y, a.Where(rdna2.V_CMP_EQ_U32_E64, back, x))
}

// LeadingZeros counts the zeros above the first one of a number that is not 0.
func (a *Builder) LeadingZeros(x codegen.Reg) codegen.Reg {
	return a.Op1(rdna2.V_FFBH_U32_E32, a.V("zeros"), x)
}

// InverseSqrt is fixedpoint.InverseSqrt of x >= 0: a factor and the right shift behind it.
func (a *Builder) InverseSqrt(x codegen.Reg) (factor, shift codegen.Reg) {
	const threeHalves, sqrtHalf = 3 << 27, 1518500250
	trivial := a.Where(rdna2.V_CMP_GE_I32_E64, 1, x)
	x = a.Choose(x, a.Constant(2), trivial)
	large := a.Where(rdna2.V_CMP_LE_I32_E64, uint32(1<<29), x)
	x = a.Choose(x, a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("quarter"), 2, x), large)
	pairs := a.Less(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("pairs"), 1, a.Less(a.LeadingZeros(x), 1)), 1)
	shift = a.Less(a.Choose(a.Constant(11), a.Constant(12), large), pairs)
	x = a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("aligned"), a.ShiftLeft(pairs, 1, "bits"), x)
	half := a.RoundingShift(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, x), 1)
	r := a.Variable(1 << 28)
	a.Loop(5, "newton", func() {
		cube := a.SaturatingShift(a.DoublingHigh(a.DoublingHigh(r, r), r), 6)
		a.Set(r, a.SaturatingShift(a.Less(a.DoublingHigh(r, uint32(threeHalves)), a.DoublingHigh(half, cube)), 3))
	})
	factor = a.DoublingHigh(r, uint32(sqrtHalf))
	left := a.Greatest(0, a.Less(0, shift))
	factor = a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("factor"), left, factor)
	shift = a.Greatest(0, shift)
	return a.Choose(factor, a.Constant(uint32(math.MaxInt32)), trivial), a.Choose(shift, 0, trivial)
}

// ReciprocalOfSum is fixedpoint.ReciprocalOfSum of x > 0: a factor, and the right shift behind
// it.
func (a *Builder) ReciprocalOfSum(x codegen.Reg) (factor, shift codegen.Reg) {
	zeros := a.LeadingZeros(x)
	over := a.Op2(rdna2.V_XOR_B32_E32, a.V("over 1"), uint32(1)<<31, a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("aligned"), zeros, x))
	d := a.Sum(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, over), uint32(1<<30))
	r := a.Variable(a.Sum(a.DoublingHigh(d, int32(fixedpoint.Minus32by17)), uint32(fixedpoint.FortyEight17)))
	a.Loop(3, "newton", func() {
		miss := a.Less(uint32(1<<29), a.DoublingHigh(d, r))
		a.Set(r, a.Sum(r, a.SaturatingShift(a.DoublingHigh(r, miss), 2)))
	})
	return a.SaturatingShift(r, 1), a.Less(12, zeros)
}

// Fixed is the arithmetic of sums of products of 8-bit elements: zero points, bounds of the
// result, and its multiplier unless each channel has its own. Pooling only has the bounds.
type Fixed struct {
	InZero, FilterZero, OutZero int32
	Lo, Hi                      int32
	Mult                        fixedpoint.Multiplier // where PerChannel is false
	PerChannel                  bool
}

// NewFixed is the arithmetic of the quantization of a model.
func NewFixed(q *quantized.GEMM) Fixed {
	f := Fixed{InZero: q.InZero, FilterZero: q.FilterZero, OutZero: q.OutZero, Lo: q.Lo, Hi: q.Hi, PerChannel: len(q.Mult) > 1}
	if !f.PerChannel {
		f.Mult = q.Mult[0]
	}
	return f
}

// Records are the multipliers of channels as RescaleLanes reads them: {factor, left shift, right shift, mask of what
// the right shift drops} of each.
func Records(channels []fixedpoint.Multiplier) (words []uint32) {
	for _, m := range channels {
		if m.Shift > 31 {
			m = fixedpoint.Multiplier{}
		}
		left, right := max(m.Shift, 0), max(-m.Shift, 0)
		words = append(words, uint32(m.M), uint32(left), uint32(right), uint32(1)<<right-1)
	}
	return words
}

// Record loads the multiplier of a channel from Records in the constants, none where all share one.
func (a *Builder) Record(f *Fixed, records uint32, ch codegen.Reg) (m codegen.Reg) {
	if f.PerChannel {
		m = a.LoadQuad(layout.F32, a.Pointer(layout.Consts, records, "multipliers"), a.ShiftLeft(ch, 4, "multiplier offset"), 0)
	}
	return m
}

// Requantize is the result of a sum; record is the multiplier of its channel where each has its own.
func (a *Builder) Requantize(sum codegen.Reg, f *Fixed, record codegen.Reg) codegen.Reg {
	if f.PerChannel {
		sum = a.RescaleLanes(sum, record)
	} else {
		sum = a.Rescale(sum, f.Mult)
	}
	return a.Saturate(sum, f.OutZero, f.Lo, f.Hi)
}

// Functions of fractions of 16 bits, which registers hold with their sign extended: those of
// fixedpoint.Q15, equal for every argument.

// oneFraction is the greatest fraction, which stands for 1.
const oneFraction = 1<<15 - 1

// ProductOfFractions is fixedpoint.Q15.Mul: (x*y + 2^14) >> 15, at most the greatest fraction.
func (a *Builder) ProductOfFractions(x codegen.Reg, y any) codegen.Reg {
	p := a.Op3(rdna2.V_MAD_I32_I24, a.V("product"), x, y, a.Constant(1<<14))
	return a.Least(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("high"), 15, p), oneFraction)
}

// fraction rounds a constant of 31 fractional bits to 15.
func fraction(c int32) int32 { return fixedpoint.RDPOT(c, 16) }

// expOfQuarter is exp of a fraction in [-1/4, 0): a Taylor polynomial around -1/8.
func (a *Builder) expOfQuarter(x codegen.Reg) codegen.Reg {
	x = a.Sum(x, 1<<12)
	x2 := a.ProductOfFractions(x, x)
	x3, x4 := a.ProductOfFractions(x2, x), a.ProductOfFractions(x2, x2)
	cubes := a.Sum(a.RoundingShift(x4, 2), x3)
	tail := a.RoundingShift(a.Sum(a.ProductOfFractions(cubes, a.Constant(fraction(fixedpoint.OneThird))), x2), 1)
	e := a.Constant(fraction(fixedpoint.ExpEighth))
	return a.Sum(e, a.ProductOfFractions(a.Sum(x, tail), e))
}

// expNegative is fixedpoint.Q15.ExpNegative of x <= 0 with integer bits.
func (a *Builder) expNegative(x codegen.Reg, integer int) codegen.Reg {
	frac := 15 - integer
	quarter := 1 << (frac - 2)
	part := a.Less(a.Op2(rdna2.V_AND_B32_E32, a.V("part"), quarter-1, x), quarter)
	result := a.expOfQuarter(a.ShiftLeft(part, integer, "fraction"))
	rest := a.Less(part, x) // in quarters
	for i, step := range fixedpoint.ExpSteps {
		if i-2 >= integer {
			break
		}
		bit := a.Op2(rdna2.V_AND_B32_E32, a.V("bit"), 1<<(frac-2+i), rest)
		smaller := a.ProductOfFractions(result, a.Constant(fraction(step)))
		result = a.Choose(result, smaller, a.Where(rdna2.V_CMP_NE_U32_E64, 0, bit))
	}
	return a.Choose(result, a.Constant(oneFraction), a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}

// reciprocalOfOneMore is 2 / (1 + x) of a fraction x >= 0, with 13 fractional bits: three Newton
// steps from 48/17 - 32/17 d, d = (1 + x) / 2.
func (a *Builder) reciprocalOfOneMore(x codegen.Reg) codegen.Reg {
	d := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, a.Sum(x, oneFraction+1))
	r := a.Variable(a.Sum(a.ProductOfFractions(d, a.Constant(fraction(fixedpoint.Minus32by17))), fraction(fixedpoint.FortyEight17)))
	a.Loop(3, "newton", func() {
		miss := a.Less(1<<13, a.ProductOfFractions(d, r))
		a.Set(r, a.Sum(r, a.ShiftLeft(a.ProductOfFractions(r, miss), 2, "step")))
	})
	return r
}

// negativeSize is -|x|.
func (a *Builder) negativeSize(x codegen.Reg) codegen.Reg { return a.Least(x, a.Less(0, x)) }

// LogisticOfFraction is fixedpoint.Q15.Logistic of x with integer bits.
func (a *Builder) LogisticOfFraction(x codegen.Reg, integer int) codegen.Reg {
	r := a.reciprocalOfOneMore(a.expNegative(a.negativeSize(x), integer))
	y := a.Least(a.ShiftLeft(r, 1, "y"), oneFraction)
	y = a.Choose(y, a.Less(oneFraction, y), a.Where(rdna2.V_CMP_GT_I32_E64, 0, x))
	return a.Choose(y, a.Constant(1<<14), a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}

// TanhOfFraction is fixedpoint.Q15.Tanh of x with at most 4 integer bits: (1-e) / (1+e) with
// e = exp(-2|x|).
func (a *Builder) TanhOfFraction(x codegen.Reg, integer int) codegen.Reg {
	r := a.reciprocalOfOneMore(a.expNegative(a.negativeSize(x), integer+1))
	y := a.Least(a.ShiftLeft(a.Less(r, 1<<13), 2, "y"), oneFraction)
	y = a.withSign(y, a.sign(x))
	return a.Choose(y, 0, a.Where(rdna2.V_CMP_EQ_U32_E64, 0, x))
}
