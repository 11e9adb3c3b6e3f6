package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// floatFunctions are the unary operations that are one function of a real,
// computed in float64 and rounded once.
var floatFunctions = [nn.OperationCount]func(float64) float64{
	nn.OpAbs:   math.Abs,
	nn.OpNeg:   func(x float64) float64 { return -x },
	nn.OpExp:   exp,
	nn.OpLog:   math.Log,
	nn.OpSin:   math.Sin,
	nn.OpSqrt:  math.Sqrt,
	nn.OpRsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
	nn.OpFloor: math.Floor,
}

// prepareMath is the operations of floatFunctions; ABS and NEG also take
// TENSOR_INT32.
func prepareMath(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	if u.Type == nn.TensorInt32 {
		return func(x *run) error {
			out := x.int32s(u.Output)
			for i, a := range x.int32s(u.Input) {
				if op.Type == nn.OpNeg || a < 0 {
					a = -a
				}
				out[i] = a
			}
			return nil
		}, nil
	}
	f := floatFunctions[op.Type]
	if u.Type.IsQuant8() { // RSQRT of feature level 7: as on reals
		t, err := u.RsqrtTable(v)
		if err != nil {
			return nil, err
		}
		return unaryTable(u, t), nil
	}
	return unaryFloat(u, func(x float32) float32 { return float32(f(float64(x))) }), nil
}

// prepareTanh is TANH.
func prepareTanh(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	if isFloat(u.Type) {
		return unaryFloat(u, func(x float32) float32 { return float32(math.Tanh(float64(x))) }), nil
	}
	t, err := u.TanhTable(v)
	if err != nil {
		return nil, err
	}
	return unaryTable(u, t), nil
}

// prepareHardSwish is HARD_SWISH: x * relu6(x + 3) / 6.
func prepareHardSwish(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	if isFloat(u.Type) {
		return unaryFloat(u, func(x float32) float32 { return x * clampF(x+3, 0, 6) / 6 }), nil
	}
	t, err := u.HardSwishTable(v)
	if err != nil {
		return nil, err
	}
	return unaryTable(u, t), nil
}

// prepareElu is ELU: alpha * (exp(x) - 1) below 0.
func prepareElu(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	a, err := v.Bind(op)
	if err != nil {
		return nil, err
	}
	alpha, err := a.Float("alpha")
	if err != nil {
		return nil, err
	}
	return unaryFloat(u, func(x float32) float32 {
		if x >= 0 {
			return x
		}
		return alpha * float32(math.Expm1(float64(x)))
	}), nil
}

// prepareNot is LOGICAL_NOT.
func prepareNot(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		out := x.bytes(u.Output)
		for i, b := range truths(x.bytes(u.Input)) {
			out[i] = 1 - b
		}
		return nil
	}, nil
}

// prepareCast is CAST: values convert without quantization; floats truncate to
// integers, and 8-bit results saturate at 0 and 255.
func prepareCast(v opspec.View, op *nn.Operation) (kern, error) {
	u, err := v.Unary(op)
	if err != nil {
		return nil, err
	}
	from, to := v.Operands[u.Input].Type, v.Operands[u.Output].Type
	if from == to {
		return func(x *run) error {
			copy(x.bytes(u.Output), x.bytes(u.Input))
			return nil
		}, nil
	}
	return func(x *run) error {
		var in []float64
		switch {
		case isFloat(from):
			for _, f := range x.floats(u.Input, &x.shared) {
				in = append(in, float64(f))
			}
		case from == nn.TensorInt32:
			for _, i := range x.int32s(u.Input) {
				in = append(in, float64(i))
			}
		default:
			for _, b := range x.bytes(u.Input) {
				in = append(in, float64(b))
			}
		}
		switch {
		case isFloat(to):
			out, done := x.floatsOut(u.Output, &x.shared)
			for i, f := range in {
				out[i] = float32(f)
			}
			done()
		case to == nn.TensorInt32:
			out := x.int32s(u.Output)
			for i, f := range in {
				out[i] = int32(min(max(f, math.MinInt32), math.MaxInt32))
			}
		default:
			out := x.bytes(u.Output)
			for i, f := range in {
				out[i] = byte(min(max(f, 0), 255))
			}
		}
		return nil
	}, nil
}

// prepareLogSoftmax is LOG_SOFTMAX.
func prepareLogSoftmax(v opspec.View, op *nn.Operation) (kern, error) {
	s, err := v.Softmax(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		in := x.floats(s.Input, &x.shared)
		out, done := x.floatsOut(s.Output, &x.shared)
		for r := range s.Outer * s.Inner {
			at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
			top, total := -inf32, 0.
			for i := range s.Depth {
				top = max(top, in[at+i*s.Inner])
			}
			for i := range s.Depth {
				total += exp(float64((in[at+i*s.Inner] - top) * s.Beta))
			}
			for i := range s.Depth {
				out[at+i*s.Inner] = float32(float64((in[at+i*s.Inner]-top)*s.Beta) - math.Log(total))
			}
		}
		done()
		return nil
	}, nil
}
