package opspec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// gemmOperands are the operands of an operation that sums products into 32 bits, and
// its requantization. channels is the number of output channels; stride and inner say
// where the weights of a channel lie: element i belongs to channel i/inner%channels.
type gemmOperands struct {
	input, filter, bias uint32
	channels, inner     int
	quant               GEMMQuant
}

func (v View) gemmOperands(op *nn.Operation) (o gemmOperands, ok bool, err error) {
	dense := func(c *Conv, q GEMMQuant) gemmOperands {
		per := 1
		if f := v.Operands[c.Filter].Elements(); !c.Depthwise && c.K > 0 {
			per = int(f) / c.K
		}
		return gemmOperands{c.Input, c.Filter, c.Bias, c.K, per, q}
	}
	switch op.Type {
	case nn.OpConv2D, nn.OpDepthwiseConv2D:
		c, err := v.Conv(op)
		if err != nil || !c.Type.IsQuant8() {
			return o, false, err
		}
		q, err := c.Quant(v)
		return dense(&c, q), err == nil, err
	case nn.OpGroupedConv2D:
		c, err := v.GroupedConv(op)
		if err != nil || !c.Type.IsQuant8() {
			return o, false, err
		}
		q, err := c.Quant(v)
		return dense(&c.Conv, q), err == nil, err
	case nn.OpTransposeConv2D:
		c, err := v.TransposeConv(op)
		if err != nil || !c.Type.IsQuant8() {
			return o, false, err
		}
		q, err := c.Quant(v)
		return dense(&c.Conv, q), err == nil, err
	case nn.OpFullyConnected:
		f, err := v.FullyConnected(op)
		if err != nil || !f.Type.IsQuant8() {
			return o, false, err
		}
		q, err := f.Quant(v)
		return gemmOperands{f.Input, f.Weights, f.Bias, f.Units, f.Depth, q}, err == nil, err
	}
	return o, false, nil
}

// SumsFit returns an error when the 32-bit sums of a quantized convolution or
// FULLY_CONNECTED with constant weights and biases could overflow for some input, or
// be shifted out of 32 bits by a multiplier above 1. The reference wraps then; engines
// saturate or wrap elsewhere, so that a device which promises exact results must
// decline. The bound is sum |w - zero| * max |x - zero| + |bias|, per output channel.
func (v View) SumsFit(op *nn.Operation) error {
	o, ok, err := v.gemmOperands(op)
	if err != nil || !ok {
		return nil // what is wrong with it is said elsewhere
	}
	weights, err := v.Data(o.filter)
	if err != nil {
		return nil // weights that an execution brings
	}
	biases, err := v.Data(o.bias)
	if err != nil || len(biases) != 4*o.channels {
		return nil
	}
	lo, hi := QuantLimits(v.Operands[o.input].Type)
	most := int64(max(hi-o.quant.InZero, o.quant.InZero-lo))
	sums := make([]int64, o.channels)
	signed := v.Operands[o.filter].Type != nn.TensorQuant8Asymm
	for i, b := range weights {
		w := int64(b)
		if signed {
			w = int64(int8(b))
		}
		if w -= int64(o.quant.FilterZero); w < 0 {
			w = -w
		}
		sums[i/o.inner%o.channels] += w
	}
	for c, s := range sums {
		bias := int64(int32(binary.LittleEndian.Uint32(biases[4*c:])))
		bound := s*most + max(bias, -bias)
		m := o.quant.Mult[min(c, len(o.quant.Mult)-1)]
		if shift := max(m.Shift, 0); bound > math.MaxInt32>>min(shift, 31) {
			return fmt.Errorf("%s: sums of output channel %d may reach %d (bias %d), shifted left by %d for the output scale; 32 bits hold %d",
				op.Type, c, bound, bias, shift, math.MaxInt32)
		}
	}
	return nil
}

// OutputShift is by how much the 32-bit sums of a quantized convolution or
// FULLY_CONNECTED are shifted left for the output scale: 0 for multipliers up to 1, and
// for other operations.
func (v View) OutputShift(op *nn.Operation) int {
	o, ok, err := v.gemmOperands(op)
	if err != nil || !ok {
		return 0
	}
	shift := 0
	for _, m := range o.quant.Mult {
		shift = max(shift, m.Shift)
	}
	return shift
}
