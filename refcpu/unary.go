package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// unaryKernels are functions of one tensor, element by element.
var unaryKernels = []operation{
	{op: nn.OpAbs, prepare: read(prepareMath)},
	{op: nn.OpNeg, prepare: read(prepareMath)},
	{op: nn.OpExp, prepare: read(prepareMath)},
	{op: nn.OpLog, prepare: read(prepareMath)},
	{op: nn.OpSin, prepare: read(prepareMath)},
	{op: nn.OpSqrt, prepare: read(prepareMath)},
	{op: nn.OpRsqrt, prepare: read(tabled(prepareMath))},
	{op: nn.OpFloor, prepare: read(prepareMath)},
	{op: nn.OpRelu, prepare: read(prepareRelu)},
	{op: nn.OpRelu1, prepare: read(prepareRelu)},
	{op: nn.OpRelu6, prepare: read(prepareRelu)},
	{op: nn.OpLogistic, prepare: read(tabled(prepareLogistic))},
	{op: nn.OpTanh, prepare: read(tabled(prepareTanh))},
	{op: nn.OpElu, prepare: read(prepareElu)},
	{op: nn.OpHardSwish, prepare: read(tabled(prepareHardSwish))},
}

// softmaxKernels are the normalized exponentials.
var softmaxKernels = []operation{
	{op: nn.OpSoftmax, prepare: read(prepareSoftmax)},
	{op: nn.OpLogSoftmax, prepare: read(prepareLogSoftmax)},
}

// unaryFloat applies f to every element of a float tensor.
func unaryFloat(u opspec.Unary, f func(float32) float32) Kernel {
	return func(x *Run) error {
		in := x.floats(u.Input, &x.shared)
		out, done := x.floatsOut(u.Output, &x.shared)
		x.Parallel(len(in), 4096, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = f(in[i])
			}
		})
		done()
		return nil
	}
}

// unaryTable maps every byte of an 8-bit tensor.
func unaryTable(u opspec.Unary, t *[256]byte) Kernel {
	return func(x *Run) error {
		in, out := x.Bytes(u.Input), x.Bytes(u.Output)
		x.Parallel(len(in), 16384, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = t[in[i]]
			}
		})
		return nil
	}
}

// tabled prepares an operation whose row has a table of bytes: 8-bit tensors by the table, others by reals.
func tabled(reals func(opspec.View, *nn.Operation, opspec.Unary) (Kernel, error)) func(opspec.View, *nn.Operation, opspec.Unary) (Kernel, error) {
	return func(v opspec.View, op *nn.Operation, u opspec.Unary) (Kernel, error) {
		if !u.Type.IsQuant8() {
			return reals(v, op, u)
		}
		return prepareTable(v, op, u)
	}
}

// prepareTable is an operation by the table of its row alone.
func prepareTable(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	t, err := u.ByteTable(v)
	if err != nil {
		return nil, err
	}
	return unaryTable(u, t), nil
}

// prepareRelu is RELU, RELU1 and RELU6: a clamp in the input's quantization.
func prepareRelu(v opspec.View, op *nn.Operation, u opspec.Unary) (Kernel, error) {
	act := opspec.UnaryActivation(op.Type)
	if isFloat(u.Type) {
		lo, hi := opspec.FloatActRange(act)
		return unaryFloat(u, func(x float32) float32 { return clampF(x, lo, hi) }), nil
	}
	in := &v.Operands[u.Input]
	lo, hi := quantized.ActRange(act, in.Type, in.Scale, in.ZeroPoint)
	t := new([256]byte)
	for i := range t {
		t[i] = byte(min(max(quantOf(in.Type, byte(i)), lo), hi))
	}
	return unaryTable(u, t), nil
}

// prepareLogistic is LOGISTIC: 1 / (1 + kernel.Exp(-x)).
func prepareLogistic(_ opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	return unaryFloat(u, func(x float32) float32 {
		return float32(1 / (1 + kernel.Exp(-float64(x))))
	}), nil
}

// floatFunctions are the unary operations that are one function of a real,
// computed in float64 and rounded once.
var floatFunctions = [nn.OperationCount]func(float64) float64{
	nn.OpAbs:   math.Abs,
	nn.OpNeg:   func(x float64) float64 { return -x },
	nn.OpExp:   kernel.Exp,
	nn.OpLog:   math.Log,
	nn.OpSin:   math.Sin,
	nn.OpSqrt:  math.Sqrt,
	nn.OpRsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
	nn.OpFloor: math.Floor,
}

// prepareMath is the operations of floatFunctions; ABS and NEG also support TENSOR_INT32.
func prepareMath(_ opspec.View, op *nn.Operation, u opspec.Unary) (Kernel, error) {
	if u.Type == nn.TensorInt32 {
		return func(x *Run) error {
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
	return unaryFloat(u, func(x float32) float32 { return float32(f(float64(x))) }), nil
}

// prepareTanh is TANH.
func prepareTanh(_ opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	return unaryFloat(u, func(x float32) float32 { return float32(math.Tanh(float64(x))) }), nil
}

// prepareHardSwish is HARD_SWISH: x * relu6(x + 3) / 6.
func prepareHardSwish(_ opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	return unaryFloat(u, func(x float32) float32 { return x * clampF(x+3, 0, 6) / 6 }), nil
}

// prepareElu is ELU: alpha * (kernel.Exp(x) - 1) below 0.
func prepareElu(_ opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	return unaryFloat(u, func(x float32) float32 {
		if x >= 0 {
			return x
		}
		return u.Alpha * float32(math.Expm1(float64(x)))
	}), nil
}

// prepareNot is LOGICAL_NOT.
func prepareNot(_ opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	return func(x *Run) error {
		out := x.Bytes(u.Output)
		for i, b := range truths(x.Bytes(u.Input)) {
			out[i] = 1 - b
		}
		return nil
	}, nil
}

// prepareCast is CAST: values convert without quantization; floats truncate to
// integers, and 8-bit results saturate at 0 and 255.
func prepareCast(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	from, to := v.Operands[u.Input].Type, v.Operands[u.Output].Type
	if from == to {
		return func(x *Run) error {
			copy(x.Bytes(u.Output), x.Bytes(u.Input))
			return nil
		}, nil
	}
	return func(x *Run) error {
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
			for _, b := range x.Bytes(u.Input) {
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
				out[i] = 0 // for a NaN, as on Arm's CPUs; Go's result depends on the host
				if !math.IsNaN(f) {
					out[i] = int32(min(max(f, math.MinInt32), math.MaxInt32))
				}
			}
		default:
			out := x.Bytes(u.Output)
			for i, f := range in {
				out[i] = 0
				if f > 0 {
					out[i] = byte(min(f, 255))
				}
			}
		}
		return nil
	}, nil
}

// prepareLogSoftmax is LOG_SOFTMAX.
func prepareLogSoftmax(_ opspec.View, _ *nn.Operation, s opspec.Softmax) (Kernel, error) {
	return func(x *Run) error {
		in := x.floats(s.Input, &x.shared)
		out, done := x.floatsOut(s.Output, &x.shared)
		for r := range s.Outer * s.Inner {
			at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
			top, total := -inf32, 0.
			for i := range s.Depth {
				top = max(top, in[at+i*s.Inner])
			}
			for i := range s.Depth {
				total += kernel.Exp(float64((in[at+i*s.Inner] - top) * s.Beta))
			}
			for i := range s.Depth {
				out[at+i*s.Inner] = float32(float64((in[at+i*s.Inner]-top)*s.Beta) - math.Log(total))
			}
		}
		done()
		return nil
	}, nil
}

// prepareSoftmax is SOFTMAX along one axis.
func prepareSoftmax(v opspec.View, _ *nn.Operation, s opspec.Softmax) (Kernel, error) {
	rows := s.Outer * s.Inner
	if isFloat(s.Type) {
		return func(x *Run) error {
			in := x.floats(s.Input, &x.shared)
			out, done := x.floatsOut(s.Output, &x.shared)
			x.Parallel(rows, 1+1024/max(s.Depth, 1), func(_, lo, hi int) {
				for r := lo; r < hi; r++ {
					at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
					softmaxFloat(out[at:], in[at:], s.Depth, s.Inner, s.Beta)
				}
			})
			done()
			return nil
		}, nil
	}
	q, err := s.Quant(v)
	if err != nil {
		return nil, err
	}
	table := q.ExpTable()
	return func(x *Run) error {
		in, out := x.Bytes(s.Input), x.Bytes(s.Output)
		x.Parallel(rows, 1+1024/max(s.Depth, 1), func(_, lo, hi int) {
			for r := lo; r < hi; r++ {
				at := r/s.Inner*s.Depth*s.Inner + r%s.Inner
				softmaxQuant(out[at:], in[at:], s.Depth, s.Inner, s.Type, &q, table)
			}
		})
		return nil
	}, nil
}

func softmaxFloat(out, in []float32, n, step int, beta float32) {
	if n == 0 {
		return
	}
	top := in[0]
	for i := range n {
		top = max(top, in[i*step])
	}
	sum := float32(0)
	for i := range n {
		e := float32(kernel.Exp(float64((in[i*step] - top) * beta)))
		out[i*step] = e
		sum += e
	}
	for i := range n {
		out[i*step] /= sum
	}
}

func softmaxQuant(out, in []byte, n, step int, t nn.OperandType, q *quantized.Softmax, table *[256]int32) {
	if n == 0 {
		return
	}
	top := int32(math.MinInt32)
	for i := range n {
		top = max(top, quantOf(t, in[i*step]))
	}
	sum := int32(0)
	for i := range n {
		sum += quantized.SoftmaxSumTerm(table[top-quantOf(t, in[i*step])])
	}
	scale, shift := quantized.SoftmaxScale(sum)
	for i := range n {
		diff := top - quantOf(t, in[i*step])
		v := q.Lo
		if -diff >= q.DiffMin {
			v = q.Finish(table[diff], scale, shift)
		}
		out[i*step] = byte(v)
	}
}
