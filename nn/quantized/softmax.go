package quantized

import (
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Softmax is the arithmetic of a quantized SOFTMAX along one row:
//
//	diff = q - max(q); entries with diff < DiffMin give 0
//	e    = ExpNegative(SRDHM(diff << Mult.Shift, Mult.M), 5)   Q0.31, see Exp
//	sum  = sum of RDPOT(e, 12)                                 Q12.19
//	scale, shift = SoftmaxScale(sum)
//	out  = clamp(RDPOT(SRDHM(scale, e), shift) + Lo, Lo, Hi)
type Softmax struct {
	Mult    fixedpoint.Multiplier
	DiffMin int32
	Lo, Hi  int32
}

// Exp is exp of a difference to the maximum (0 to -255) in Q0.31, 0 below DiffMin.
func (q *Softmax) Exp(diff int32) int32 {
	if diff < q.DiffMin {
		return 0
	}
	return fixedpoint.ExpNegative(fixedpoint.SRDHM(diff<<uint(q.Mult.Shift), q.Mult.M), 5)
}

// ExpTable is Exp for differences 0 to -255, by their absolute value.
func (q *Softmax) ExpTable() *[256]int32 {
	t := new([256]int32)
	for i := range t {
		t[i] = q.Exp(int32(-i))
	}
	return t
}

// SoftmaxSumTerm is what an exponential adds to the sum.
func SoftmaxSumTerm(e int32) int32 { return fixedpoint.RDPOT(e, 12) }

// SoftmaxScale is the reciprocal of a row's sum (Q12.19, not 0) as a Q0.31
// factor and the right shift from factor times exponential to units of 1/256.
func SoftmaxScale(sum int32) (scale int32, shift int) {
	scale, over := fixedpoint.ReciprocalOfSum(sum)
	return scale, over + 31 - 8
}

// Finish converts an exponential to the output value of its row.
func (q *Softmax) Finish(e, scale int32, shift int) int32 {
	return min(max(fixedpoint.RDPOT(fixedpoint.SRDHM(scale, e), shift)+q.Lo, q.Lo), q.Hi)
}
