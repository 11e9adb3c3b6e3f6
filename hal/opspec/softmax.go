package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// softmaxRows are the normalized exponentials.
var softmaxRows = []Row{
	{Op: nn.OpSoftmax, Since: V10, Types: floatQuant10, Out: quant256, MaxRank: 4, Args: softmaxArgs, Until12: ranksUntil12(2, 4),
		Quant: fits(readSoftmax, (*Softmax).Quant),
		Work:  WorkRule{Float: stepsSoftmax, Quant: 80},
		Forms: []Form{
			{V10, "input:T beta:S [1.2 axis:int32=-1]", "output:T"},
		}},
	{Op: nn.OpLogSoftmax, Since: V12, Types: float12, Args: softmaxArgs, Work: WorkRule{Float: stepsSoftmax, Quant: 80}, Forms: []Form{
		{V12, "input:T beta:S axis:int32", "output:T"},
	}},
}

var softmaxArgs = Arguments[Softmax]{Read: readSoftmax, Shapes: one(func(s *Softmax) []uint32 { return s.Dims })}

// Softmax is a SOFTMAX, seen as [Outer, Depth, Inner] with the softmax along
// Depth.
type Softmax struct {
	Input, Output       uint32 // operand indexes
	Type                nn.OperandType
	Dims                []uint32
	Beta                float32
	Axis                int
	Outer, Depth, Inner int
}

// Softmax reads a SOFTMAX.
func (v View) Softmax(op *nn.Operation) (Softmax, error) { return Read[Softmax](v, op) }

func readSoftmax(a *Args) (Softmax, error) {
	s := Softmax{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	if s.Dims, err = a.Dims("input"); err != nil {
		return s, err
	}
	if r := a.Row.MaxRank; len(s.Dims) == 0 || r > 0 && len(s.Dims) > r {
		return s, a.errorf("input", "rank %d, 1 to %d needed", len(s.Dims), r)
	}
	if s.Beta, err = a.Float("beta"); err != nil {
		return s, err
	}
	if !(s.Beta > 0) {
		return s, a.errorf("beta", "%v is not positive", s.Beta)
	}
	ax, err := a.Int32("axis")
	if err != nil {
		return s, err
	}
	if s.Axis, err = axis(ax, len(s.Dims)); err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	s.Outer, s.Depth, s.Inner = splitAt(s.Dims, s.Axis)
	return s, nil
}

// splitAt views a shape as [outer, dims[axis], inner].
func splitAt(dims []uint32, axis int) (outer, depth, inner int) {
	return int(nn.Elements(dims[:axis])), int(dims[axis]), int(nn.Elements(dims[axis+1:]))
}

// SoftmaxQuant is the arithmetic of a quantized SOFTMAX along one row:
//
//	diff = q - max(q); entries with diff < DiffMin give 0
//	e    = ExpNegative(SRDHM(diff << Mult.Shift, Mult.M), 5)   Q0.31, see Exp
//	sum  = sum of RDPOT(e, 12)                                 Q12.19
//	scale, shift = SoftmaxScale(sum)
//	out  = clamp(RDPOT(SRDHM(scale, e), shift) + Lo, Lo, Hi)
type SoftmaxQuant struct {
	Mult    Multiplier
	DiffMin int32
	Lo, Hi  int32
}

// Quant returns the arithmetic of a quantized SOFTMAX.
func (s *Softmax) Quant(v View) (SoftmaxQuant, error) {
	q := SoftmaxQuant{}
	scale, err := v.quantScale(s.Input)
	if err != nil {
		return q, err
	}
	if err := v.checkFixedQuant(s.Output, quant256); err != nil {
		return q, err
	}
	real := min(float64(s.Beta)*scale*(1<<26), 1<<31-1)
	if q.Mult, err = greaterThanOne("softmax: beta times scale", real); err != nil {
		return q, err
	}
	q.DiffMin = -inputRadius(5, q.Mult.Shift)
	q.Lo, q.Hi = QuantLimits(v.Operands[s.Output].Type)
	return q, nil
}

// Exp is exp of a difference to the maximum (0 to -255) in Q0.31, 0 below DiffMin.
func (q *SoftmaxQuant) Exp(diff int32) int32 {
	if diff < q.DiffMin {
		return 0
	}
	return ExpNegative(SRDHM(diff<<uint(q.Mult.Shift), q.Mult.M), 5)
}

// ExpTable is Exp for differences 0 to -255, by their absolute value.
func (q *SoftmaxQuant) ExpTable() *[256]int32 {
	t := new([256]int32)
	for i := range t {
		t[i] = q.Exp(int32(-i))
	}
	return t
}

// SoftmaxSumTerm is what an exponential adds to the sum.
func SoftmaxSumTerm(e int32) int32 { return RDPOT(e, 12) }

// SoftmaxScale is the reciprocal of a row's sum (Q12.19, not 0) as a Q0.31
// factor and the right shift that turns factor times exponential into 1/256 units.
func SoftmaxScale(sum int32) (scale int32, shift int) {
	scale, over := reciprocalOfSum(sum)
	return scale, over + 31 - 8
}

// Finish turns an exponential into the output value of its row.
func (q *SoftmaxQuant) Finish(e, scale int32, shift int) int32 {
	return min(max(RDPOT(SRDHM(scale, e), shift)+q.Lo, q.Lo), q.Hi)
}
