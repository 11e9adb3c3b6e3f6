package opspec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// FloatActRange is the clamp of a fused activation on a float output.
func FloatActRange(act nn.FusedActivation) (lo, hi float32) {
	inf := float32(math.Inf(1))
	switch act {
	case nn.ActRelu:
		return 0, inf
	case nn.ActRelu6:
		return 0, 6
	case nn.ActRelu1:
		return -1, 1
	}
	return -inf, inf
}

// quantScale returns the scale of a quantized operand after checking it.
func (v View) quantScale(i uint32) (float64, error) {
	if uint64(i) >= uint64(len(v.Operands)) {
		return 0, fmt.Errorf("operand %d of %d does not exist", i, len(v.Operands))
	}
	s := v.Operands[i].Scale
	if !(s > 0) || math.IsInf(float64(s), 0) {
		return 0, fmt.Errorf("operand %d has scale %v", i, s)
	}
	return float64(s), nil
}

func (v View) scale2(a, b uint32) (sa, sb float64, err error) {
	if sa, err = v.quantScale(a); err == nil {
		sb, err = v.quantScale(b)
	}
	return
}

func (v View) scales(a, b, out uint32) (sa, sb, so float64, err error) {
	if sa, err = v.quantScale(a); err != nil {
		return
	}
	if sb, err = v.quantScale(b); err != nil {
		return
	}
	so, err = v.quantScale(out)
	return
}

// checkFixedQuant checks an output whose quantization the operation fixes.
func (v View) checkFixedQuant(i uint32, f outQuant) error {
	o := &v.Operands[i]
	scale, zero := fixedQuant(f, o.Type)
	if f != quantNone && (o.Scale != scale || o.ZeroPoint != zero) {
		return fmt.Errorf("operand %d has scale %v and zero point %d, the operation gives %v and %d",
			i, o.Scale, o.ZeroPoint, scale, zero)
	}
	return nil
}

func fixedQuant(f outQuant, t nn.OperandType) (scale float32, zero int32) {
	lo, _ := quantized.Limits(t)
	if f == quant128 {
		return 1. / 128, lo + 128
	}
	return 1. / 256, lo
}

// FixedOutQuant is the scale and zero point that the output of an operation
// must have when its type is t; ok is false when the operation fixes none.
func (r *Row) FixedOutQuant(t nn.OperandType) (scale float32, zero int32, ok bool) {
	if r.Out == quantNone || !t.IsQuant8() {
		return 0, 0, false
	}
	scale, zero = fixedQuant(r.Out, t)
	return scale, zero, true
}

func (v View) gemmQuant(in, filter, bias, out uint32, act nn.FusedActivation, k int, dim uint32) (quantized.GEMM, error) {
	q := quantized.GEMM{}
	if _, err := v.quantScale(in); err != nil {
		return q, err
	}
	so, err := v.quantScale(out)
	if err != nil {
		return q, err
	}
	oi, of, oo := &v.Operands[in], &v.Operands[filter], &v.Operands[out]
	q.InZero, q.FilterZero, q.OutZero = oi.ZeroPoint, of.ZeroPoint, oo.ZeroPoint
	q.Lo, q.Hi = quantized.ActRange(act, oo.Type, oo.Scale, oo.ZeroPoint)
	if of.Type == nn.TensorQuant8SymmPerChannel {
		q.FilterZero = 0
		if of.Channel == nil || len(of.Channel.Scales) != k {
			return q, fmt.Errorf("operand %d needs %d channel scales", filter, k)
		}
		if of.Channel.Dim != dim {
			return q, fmt.Errorf("operand %d has channel dimension %d, %d needed", filter, of.Channel.Dim, dim)
		}
		q.Mult = make([]fixedpoint.Multiplier, k)
		for c, s := range of.Channel.Scales {
			q.Mult[c] = fixedpoint.QuantizeMultiplier(float64(oi.Scale*s) / so)
		}
		return q, nil
	}
	if _, err := v.quantScale(filter); err != nil {
		return q, err
	}
	product := float64(oi.Scale * of.Scale)
	sb := float64(v.Operands[bias].Scale)
	if !(math.Abs(product-sb) <= 1e-6*min(product, sb)) {
		return q, fmt.Errorf("operand %d (bias) has scale %v, input times filter is %v", bias, sb, product)
	}
	q.Mult = []fixedpoint.Multiplier{fixedpoint.QuantizeMultiplier(product / so)}
	return q, nil
}

// Sums is what a quantized operation adds up in 32 bits, and its requantization: the
// products of Input and Filter, and Bias. Element i of the filter belongs to output
// channel i/Inner%Channels.
type Sums struct {
	Input, Filter, Bias uint32 // operand indexes
	Channels, Inner     int
	Quant               quantized.GEMM
}

// sums makes the Sums field of a row.
func sums[T any](read func(*Args) (T, error), of func(*T, View) (Sums, error)) func(*Args) (Sums, error) {
	return func(a *Args) (Sums, error) {
		p, err := reading(read, a)
		if err != nil {
			return Sums{}, err
		}
		return of(&p, a.View)
	}
}

// Sums is what the operation adds up, if it is one that does and is 8-bit quantized.
func (v View) Sums(op *nn.Operation) (s Sums, ok bool) {
	row := v.Table.Lookup(op.Type)
	if row == nil || row.Sums == nil {
		return s, false
	}
	a, err := v.Bind(op)
	if err != nil || !a.Key.IsQuant8() {
		return s, false
	}
	s, err = row.Sums(&a)
	return s, err == nil // other checks report its errors
}

// SumsFit returns an error when the 32-bit sums of a quantized convolution or
// FULLY_CONNECTED with constant weights and biases could overflow for some input, or
// be shifted out of 32 bits by a multiplier above 1. The reference wraps then; engines
// saturate or wrap elsewhere, so that a device which promises exact results must
// decline. The bound is sum |w - zero| * max |x - zero| + |bias|, per output channel.
func (v View) SumsFit(op *nn.Operation) error {
	o, ok := v.Sums(op)
	if !ok {
		return nil
	}
	weights, err := v.Data(o.Filter)
	if err != nil {
		return nil // weights that an execution brings
	}
	biases, err := v.Data(o.Bias)
	if err != nil || len(biases) != 4*o.Channels {
		return nil
	}
	lo, hi := quantized.Limits(v.Operands[o.Input].Type)
	most := int64(max(hi-o.Quant.InZero, o.Quant.InZero-lo))
	signed := v.Operands[o.Filter].Type != nn.TensorQuant8Asymm
	var size [256]int64 // |w - zero| of each byte
	for b := range size {
		w := int64(b)
		if signed {
			w = int64(int8(b))
		}
		w -= int64(o.Quant.FilterZero)
		size[b] = max(w, -w)
	}
	fits := func(c int, sum int64) error {
		bias := int64(int32(binary.LittleEndian.Uint32(biases[4*c:])))
		bound := sum*most + max(bias, -bias)
		m := o.Quant.Mult[min(c, len(o.Quant.Mult)-1)]
		if shift := max(m.Shift, 0); bound > math.MaxInt32>>min(shift, 31) {
			return fmt.Errorf("%s: sums of output channel %d may reach %d (bias %d), shifted left by %d for the output scale; 32 bits hold %d",
				op.Type, c, bound, bias, shift, math.MaxInt32)
		}
		return nil
	}
	// Most sums fit whatever the weights are.
	round := max(o.Inner*o.Channels, 1)
	largest := int64((len(weights)+round-1)/round*o.Inner) * slices.Max(size[:])
	near := false
	for c := 0; c < o.Channels && !near; c++ {
		near = fits(c, largest) != nil
	}
	if !near {
		return nil
	}
	sums := make([]int64, o.Channels)
	for c := 0; len(weights) > 0; c = (c + 1) % o.Channels {
		n := min(o.Inner, len(weights))
		for _, b := range weights[:n] {
			sums[c] += size[b]
		}
		weights = weights[n:]
	}
	for c, s := range sums {
		if err := fits(c, s); err != nil {
			return err
		}
	}
	return nil
}

// OutputShift is by how much the 32-bit sums of a quantized convolution or
// FULLY_CONNECTED are shifted left for the output scale: 0 for multipliers up to 1, and
// for other operations.
func (v View) OutputShift(op *nn.Operation) int {
	o, ok := v.Sums(op)
	if !ok {
		return 0
	}
	shift := 0
	for _, m := range o.Quant.Mult {
		shift = max(shift, m.Shift)
	}
	return shift
}

// productScaleUntil12 demands that the scale of a quantized output is above the scale of
// the products of input and filter.
func productScaleUntil12(a *Args) error {
	x, w, y := a.quantOf(a.Op.Inputs[0]), a.quantOf(a.Op.Inputs[1]), a.quantOf(a.Op.Outputs[0])
	if a.Key != nn.TensorQuant8Asymm || y.Scale > x.Scale*w.Scale {
		return nil
	}
	return fmt.Errorf("%s: output scale %g at most %g x %g needs HAL 1.2", a.Op.Type, y.Scale, x.Scale, w.Scale)
}
