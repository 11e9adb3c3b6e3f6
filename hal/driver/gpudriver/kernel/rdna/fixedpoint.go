package rdna

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
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
	a.Emit(rdna2.S_MOV_B32, Lo(half), 1<<30)
	a.Emit(rdna2.S_MOV_B32, Hi(half), 0)
	p := a.Reg(rdna2.V2, "product")
	a.Emit(rdna2.V_MAD_I64_I32, p, a.S("overflow"), x, m, half)
	return a.Op3(rdna2.V_ALIGNBIT_B32, a.V("high"), At(p, 1), At(p, 0), 31)
}

// RoundingShift is fixedpoint.RDPOT: x / 2^n, halves away from zero, n below 32.
//
//	mask = 2^n - 1; (x >> n) + (x & mask > mask>>1 + (x < 0))
func (a *Builder) RoundingShift(x codegen.Reg, n int) codegen.Reg {
	if n == 0 {
		return x
	}
	mask := uint32(1)<<n - 1
	rest := a.Op2(rdna2.V_AND_B32_E32, a.V("rest"), mask, x)
	limit := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("limit"), 31, x)
	limit = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("limit"), mask>>1, limit)
	return a.roundUp(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("shifted"), n, x), rest, limit)
}

// roundUp is x, or x + 1 where rest exceeds limit; both are below 2^31.
func (a *Builder) roundUp(x, rest, limit codegen.Reg) codegen.Reg {
	up := a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("up"), limit, rest)
	up = a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("up"), 31, up) // -1 where it rounds up
	return a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("rounded"), x, up)
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

// rescaleWords is the words of a record that RescaleLanes reads: per lane a multiplier, as
// {factor, left shift, right shift, mask of what the right shift drops}.
func rescaleWords(m fixedpoint.Multiplier) [4]uint32 {
	if m.Shift > 31 {
		m = fixedpoint.Multiplier{}
	}
	left, right := max(m.Shift, 0), max(-m.Shift, 0)
	return [4]uint32{uint32(m.M), uint32(left), uint32(right), uint32(1)<<right - 1}
}

// RescaleLanes is Rescale by the multiplier of each lane, four registers of rescaleWords.
func (a *Builder) RescaleLanes(x codegen.Reg, m codegen.Reg) codegen.Reg {
	x = a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("shifted"), At(m, 1), x)
	x = a.DoublingHigh(x, At(m, 0))
	rest := a.Op2(rdna2.V_AND_B32_E32, a.V("rest"), At(m, 3), x)
	limit := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("limit"), 31, x)
	half := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, At(m, 3))
	limit = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("limit"), half, limit)
	return a.roundUp(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("shifted"), At(m, 2), x), rest, limit)
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
	rest := a.Op2(rdna2.V_AND_B32_E32, a.V("rest"), mask, x)
	limit := a.Sum(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("half"), 1, mask), a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("negative"), 31, x))
	return a.roundUp(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("shifted"), n, x), rest, limit)
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
