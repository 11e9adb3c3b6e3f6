package builder

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// Spread estimates the values of an activation: mean and standard deviation
// over all elements, in real units. Layers predict the spread of their output
// from those of their inputs, assuming that values before an activation are
// normally distributed.
type Spread struct{ Mean, Deviation float64 }

// SpreadOf returns the estimate for t.
func (b *Builder) SpreadOf(t Tensor) Spread {
	b.operand(t)
	if int(t) >= len(b.spread) {
		return Spread{}
	}
	return b.spread[t]
}

// SetSpread replaces the estimate for t, where the caller knows better.
func (b *Builder) SetSpread(t Tensor, s Spread) {
	if b.operand(t); int(t) < len(b.spread) {
		b.spread[t] = s
	}
}

// Ranges of quantized activations reach this many deviations from the mean
// (assumed, D-365).
const rangeDeviations = 3

// quantRange is the interval of real values that a quantized tensor represents.
type quantRange struct{ low, high float64 }

// preActivation is the range of values without an activation.
func (s Spread) preActivation() quantRange {
	return quantRange{
		min(0, s.Mean-rangeDeviations*s.Deviation),
		max(0, s.Mean+rangeDeviations*s.Deviation),
	}
}

// quant maps the range to the 256 values of the builder's format; float
// formats have none. Zero is always represented exactly.
func (b *Builder) quant(r quantRange) Quant {
	if b.Type() == nn.TensorFloat32 {
		return Quant{}
	}
	width := r.high - r.low
	if !(width > 0) {
		b.fail("an activation with the range %g..%g cannot be quantized", r.low, r.high)
		return Quant{Scale: 1}
	}
	q := Quant{float32(width / 255), int32(math.Round(-r.low / (width / 255)))}
	return b.shift(q)
}

// shift converts an unsigned zero point to one of the builder's format.
func (b *Builder) shift(q Quant) Quant {
	switch {
	case b.Type() == nn.TensorFloat32:
		return Quant{}
	case b.Format == Quant8Signed:
		q.ZeroPoint -= 128
	}
	return q
}

// quantOf is the quantization that a tensor has.
func (b *Builder) quantOf(t Tensor) Quant {
	o := b.operand(t)
	return Quant{o.Scale, o.ZeroPoint}
}

// rangeOf is the interval that a quantized tensor represents. In float
// networks it is the interval that the quantized form would have.
func (b *Builder) rangeOf(t Tensor) quantRange {
	o := b.operand(t)
	if o.Scale == 0 {
		return b.SpreadOf(t).preActivation()
	}
	low := int32(0)
	if o.Type == nn.TensorQuant8AsymmSigned {
		low = -128
	}
	return quantRange{float64(o.Scale) * float64(low-o.ZeroPoint), float64(o.Scale) * float64(low+255-o.ZeroPoint)}
}

// Activation is a function of each element of a layer's output.
type Activation uint8

// Activations. ReLU and ReLU6 are fused into the layer; the others are
// operations of their own.
const (
	NoActivation Activation = iota
	ReLU
	ReLU6
	HardSwish
	Sigmoid
	Tanh
	// Logits is NoActivation with a quantized range wide enough for the largest of
	// thousands of classes: softmax needs it.
	Logits
)

// fused is the activation code that the layer's operation carries.
func (a Activation) fused() nn.FusedActivation {
	switch a {
	case ReLU:
		return nn.ActRelu
	case ReLU6:
		return nn.ActRelu6
	}
	return nn.ActNone
}

// after predicts the spread behind an activation, and the range of its values.
func (a Activation) after(s Spread) (Spread, quantRange) {
	r := s.preActivation()
	switch a {
	case ReLU, ReLU6:
		r.low, r.high = 0, max(r.high, s.Deviation)
		if a == ReLU6 {
			r.high = 6
		}
		return s.rectified(), r
	case HardSwish:
		// Numerically: x*relu6(x+3)/6 has no handy moments. Its minimum is -3/8.
		r.low, r.high = -0.375, max(r.high, 0.375)
		return s.through(func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 }), r
	case Sigmoid:
		return s.through(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }), quantRange{0, 1}
	case Tanh:
		return s.through(math.Tanh), quantRange{-1, 1}
	case Logits:
		return s, quantRange{-6.25 * s.Deviation, 9.6875 * s.Deviation}
	}
	return s, r
}

// rectified is the spread of max(x, 0) of a normal x.
func (s Spread) rectified() Spread {
	if s.Mean == 0 {
		return Spread{s.Deviation / math.Sqrt(2*math.Pi), s.Deviation * math.Sqrt(0.5-1/(2*math.Pi))}
	}
	if s.Deviation == 0 {
		return Spread{max(s.Mean, 0), 0}
	}
	z := s.Mean / s.Deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	below := 0.5 * math.Erfc(-z/math.Sqrt2)
	mean := s.Mean*below + s.Deviation*density
	square := (s.Mean*s.Mean+s.Deviation*s.Deviation)*below + s.Mean*s.Deviation*density
	return Spread{mean, math.Sqrt(max(square-mean*mean, 0))}
}

// through integrates f over a normal distribution with 64 steps in +-4 deviations.
func (s Spread) through(f func(float64) float64) Spread {
	var weight, mean, square float64
	for i := range 65 {
		z := float64(i-32) / 8
		w := math.Exp(-z * z / 2)
		y := f(s.Mean + z*s.Deviation)
		weight += w
		mean += w * y
		square += w * y * y
	}
	mean /= weight
	return Spread{mean, math.Sqrt(max(square/weight-mean*mean, 0))}
}

// sum is the spread of the sum of two independent activations.
func sum(x, y Spread) Spread {
	return Spread{x.Mean + y.Mean, math.Hypot(x.Deviation, y.Deviation)}
}
