package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareSub is SUB: as ADD with the second term negated.
func prepareSub(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a - b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a - b }), nil
	}
	return addQuant(v, &e, -1)
}

// prepareDiv is DIV. Integers round towards minus infinity; division by 0
// gives 0.
func prepareDiv(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a / b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 {
			if b == 0 {
				return 0
			}
			q := int64(a) / int64(b)
			if r := int64(a) % int64(b); r != 0 && (r < 0) != (b < 0) {
				q--
			}
			return int32(q)
		}), nil
	}
	return nil, errType(op.Type, e.Type)
}

// preparePow is POW.
func preparePow(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	return binaryFloat(e, func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) }), nil
}

// prepareMaximum and prepareMinimum bring quantized inputs to the output's
// quantization first.
func prepareMaximum(v opspec.View, op *nn.Operation) (kern, error) {
	return prepareExtreme(v, op, func(a, b float32) float32 { return max(a, b) }, func(a, b int32) int32 { return max(a, b) })
}

func prepareMinimum(v opspec.View, op *nn.Operation) (kern, error) {
	return prepareExtreme(v, op, func(a, b float32) float32 { return min(a, b) }, func(a, b int32) int32 { return min(a, b) })
}

func prepareExtreme(v opspec.View, op *nn.Operation, float func(a, b float32) float32, integer func(a, b int32) int32) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, float), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, integer), nil
	}
	out := &v.Operands[e.Output]
	ta, tb := opspec.RescaleTable(&v.Operands[e.A], out), opspec.RescaleTable(&v.Operands[e.B], out)
	return func(x *run) error {
		binaryOp(x, &e, x.bytes(e.Output), x.bytes(e.A), x.bytes(e.B), func(a, b byte) byte {
			return byte(integer(quantOf(e.Type, ta[a]), quantOf(e.Type, tb[b])))
		})
		return nil
	}, nil
}

// preparePrelu is PRELU: negative inputs times a slope.
func preparePrelu(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	if isFloat(e.Type) {
		return binaryFloat(e, func(a, b float32) float32 {
			if a >= 0 {
				return a
			}
			return a * b
		}), nil
	}
	q, err := e.PreluQuant(v)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		binaryOp(x, &e, x.bytes(e.Output), x.bytes(e.A), x.bytes(e.B), func(a, b byte) byte {
			return byte(q.Apply(quantOf(e.Type, a), quantOf(e.Type, b)))
		})
		return nil
	}, nil
}

// prepareSelect is SELECT.
func prepareSelect(v opspec.View, op *nn.Operation) (kern, error) {
	s, err := v.Select(op)
	if err != nil {
		return nil, err
	}
	var ta, tb *[256]byte
	if s.Type.IsQuant8() {
		ta = opspec.RescaleTable(&v.Operands[s.A], &v.Operands[s.Output])
		tb = opspec.RescaleTable(&v.Operands[s.B], &v.Operands[s.Output])
	}
	size := s.Type.ElementBytes()
	return func(x *run) error {
		a, b, out := x.bytes(s.A), x.bytes(s.B), x.bytes(s.Output)
		for i, c := range x.bytes(s.Condition) {
			src, t := a, ta
			if c == 0 {
				src, t = b, tb
			}
			if t != nil {
				out[i] = t[src[i]]
			} else {
				copy(out[i*size:(i+1)*size], src[i*size:])
			}
		}
		return nil
	}, nil
}
