package validate

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// quantRange is what the quantization parameters of a type may be.
type quantRange struct {
	scale  bool // must be positive; otherwise 0
	any    bool // the scale may also be 0
	lo, hi int32
}

var quantRanges = [...]quantRange{
	nn.TensorInt32:             {scale: true, any: true},
	nn.TensorQuant8Asymm:       {scale: true, hi: 255},
	nn.TensorQuant8AsymmSigned: {scale: true, lo: -128, hi: 127},
	nn.TensorQuant8Symm:        {scale: true},
	nn.TensorQuant16Symm:       {scale: true},
	nn.TensorQuant16Asymm:      {scale: true, hi: 65535},
	nn.SubgraphRef:             {},
}

// quantization checks scale, zero point and channel parameters of an operand.
func (c *checker) quantization(o *nn.Operand) error {
	if nn.IsExtensionOperandType(o.Type) {
		if o.Scale != 0 || o.ZeroPoint != 0 || o.Channel != nil {
			return c.errorf("%s with scale %v, zero point %d or scales by channel: a type of an extension has extension data alone", o.Type, o.Scale, o.ZeroPoint)
		}
		return nil
	}
	if len(o.Extension) > 0 {
		return c.errorf("%s with %d bytes of extension data", o.Type, len(o.Extension))
	}
	if nn.IsOEM(o.Type) {
		if o.Channel != nil {
			return c.errorf("%s with channel quantization", o.Type)
		}
		return nil // scale and zero point are the driver's
	}
	r := quantRanges[o.Type]
	s := float64(o.Scale)
	switch {
	case math.IsNaN(s) || math.IsInf(s, 0) || s < 0,
		r.scale && !r.any && s == 0,
		!r.scale && s != 0:
		return c.errorf("%s with scale %v", o.Type, o.Scale)
	case o.ZeroPoint < r.lo || o.ZeroPoint > r.hi:
		return c.errorf("%s with zero point %d", o.Type, o.ZeroPoint)
	}
	if o.Type != nn.TensorQuant8SymmPerChannel {
		if o.Channel != nil {
			return c.errorf("%s with channel quantization", o.Type)
		}
		return nil
	}
	q := o.Channel
	if q == nil {
		return c.errorf("%s without channel quantization", o.Type)
	}
	if int64(q.Dim) >= int64(len(o.Dimensions)) {
		return c.errorf("channel dimension %d of a tensor of rank %d", q.Dim, len(o.Dimensions))
	}
	if d := o.Dimensions[q.Dim]; d == 0 || int64(d) != int64(len(q.Scales)) {
		return c.errorf("%d channel scales for dimension %d of %v", len(q.Scales), q.Dim, o.Dimensions)
	}
	for i, s := range q.Scales {
		if !(s > 0) || math.IsInf(float64(s), 0) {
			return c.errorf("channel %d has scale %v", i, s)
		}
	}
	return nil
}
