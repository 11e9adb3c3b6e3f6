package refcpu

import (
	"cmp"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// elementwiseKernels are arithmetic on two tensors, element by element.
var elementwiseKernels = []operation{
	{op: nn.OpAdd, prepare: read(prepareAdd)},
	{op: nn.OpSub, prepare: read(prepareSub)},
	{op: nn.OpMul, prepare: read(prepareMul)},
	{op: nn.OpDiv, prepare: read(prepareDiv)},
	{op: nn.OpMaximum, prepare: prepareMaximum},
	{op: nn.OpMinimum, prepare: prepareMinimum},
	{op: nn.OpPow, prepare: read(preparePow)},
	{op: nn.OpPrelu, prepare: read(preparePrelu)},
}

// compareKernels are comparison, logic and choice, element by element.
var compareKernels = []operation{
	{op: nn.OpEqual, prepare: read(prepareCompare)},
	{op: nn.OpNotEqual, prepare: read(prepareCompare)},
	{op: nn.OpLess, prepare: read(prepareCompare)},
	{op: nn.OpLessEqual, prepare: read(prepareCompare)},
	{op: nn.OpGreater, prepare: read(prepareCompare)},
	{op: nn.OpGreaterEqual, prepare: read(prepareCompare)},
	{op: nn.OpLogicalAnd, prepare: read(prepareLogical)},
	{op: nn.OpLogicalOr, prepare: read(prepareLogical)},
	{op: nn.OpLogicalNot, prepare: read(prepareNot)},
	{op: nn.OpSelect, prepare: read(prepareSelect)},
}

// broadcast calls f for runs of output elements: n elements from out on, read
// from a and b on with steps of stepA and stepB (0 or 1). Rows are shared out
// over the threads.
func (x *Run) broadcast(e *opspec.Elementwise, f func(out, a, b, n, stepA, stepB int)) {
	total := 1
	for _, d := range e.Dims {
		total *= int(d)
	}
	if e.Same || len(e.Dims) == 0 {
		x.Parallel(total, 4096, func(_, lo, hi int) { f(lo, lo, lo, hi-lo, 1, 1) })
		return
	}
	last := len(e.Dims) - 1
	n := int(e.Dims[last])
	if total == 0 {
		return
	}
	x.Parallel(total/n, 1+1024/n, func(_, lo, hi int) {
		for row := lo; row < hi; row++ {
			rest, a, b := row, 0, 0
			for d := last - 1; d >= 0; d-- {
				i := rest % int(e.Dims[d])
				rest /= int(e.Dims[d])
				a += i * e.StridesA[d]
				b += i * e.StridesB[d]
			}
			f(row*n, a, b, n, min(e.StridesA[last], 1), min(e.StridesB[last], 1))
		}
	})
}

// binaryOp applies f to float or int32 elements.
func binaryOp[T any](x *Run, e *opspec.Elementwise, out, a, b []T, f func(a, b T) T) {
	x.broadcast(e, func(o, i, j, n, si, sj int) {
		for k := range n {
			out[o+k] = f(a[i], b[j])
			i += si
			j += sj
		}
	})
}

// binaryFloat is the float form of a binary operation with activation.
func binaryFloat(e opspec.Elementwise, f func(a, b float32) float32) Kernel {
	lo, hi := opspec.FloatActRange(e.Act)
	return func(x *Run) error {
		a, b := x.floats(e.A, &x.shared), x.floats(e.B, &x.shared)
		out, done := x.floatsOut(e.Output, &x.shared)
		binaryOp(x, &e, out, a, b, func(a, b float32) float32 { return clampF(f(a, b), lo, hi) })
		done()
		return nil
	}
}

// binaryInt is the TENSOR_INT32 form of a binary operation.
func binaryInt(e opspec.Elementwise, f func(a, b int32) int32) Kernel {
	return func(x *Run) error {
		binaryOp(x, &e, x.int32s(e.Output), x.int32s(e.A), x.int32s(e.B), f)
		return nil
	}
}

// prepareAdd is ADD. The rescaled terms of a quantized ADD depend on one byte each and are read from tables.
func prepareAdd(v opspec.View, _ *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a + b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a + b }), nil
	}
	return addQuant(v, &e, 1)
}

// addQuant is a quantized ADD, or SUB with a sign of -1.
func addQuant(v opspec.View, e *opspec.Elementwise, sign int32) (Kernel, error) {
	q, err := e.AddQuant(v)
	if err != nil {
		return nil, err
	}
	var ta, tb [256]int32
	for i := range 256 {
		x := quantOf(e.Type, byte(i))
		ta[i] = q.A.Apply((x - q.ZeroA) << quantized.AddShift)
		tb[i] = sign * q.B.Apply((x-q.ZeroB)<<quantized.AddShift)
	}
	return func(x *Run) error {
		a, b, out := x.Bytes(e.A), x.Bytes(e.B), x.Bytes(e.Output)
		x.broadcast(e, func(o, i, j, n, si, sj int) {
			for k := range n {
				s := q.Out.Apply(ta[a[i]]+tb[b[j]]) + q.OutZero
				out[o+k] = byte(min(max(s, q.Lo), q.Hi))
				i += si
				j += sj
			}
		})
		return nil
	}, nil
}

// prepareMul is MUL.
func prepareMul(v opspec.View, _ *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a * b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a * b }), nil
	}
	q, err := e.MulQuant(v)
	if err != nil {
		return nil, err
	}
	return func(x *Run) error {
		a, b, out := x.Bytes(e.A), x.Bytes(e.B), x.Bytes(e.Output)
		binaryOp(x, &e, out, a, b, func(a, b byte) byte {
			return byte(q.Apply(quantOf(e.Type, a), quantOf(e.Type, b)))
		})
		return nil
	}, nil
}

// prepareSub is SUB: as ADD with the second term negated.
func prepareSub(v opspec.View, _ *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	switch {
	case isFloat(e.Type):
		return binaryFloat(e, func(a, b float32) float32 { return a - b }), nil
	case e.Type == nn.TensorInt32:
		return binaryInt(e, func(a, b int32) int32 { return a - b }), nil
	}
	return addQuant(v, &e, -1)
}

// prepareDiv is DIV. Integers round towards minus infinity; division by 0 returns 0.
func prepareDiv(_ opspec.View, op *nn.Operation, e opspec.Elementwise) (Kernel, error) {
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
func preparePow(_ opspec.View, _ *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	return binaryFloat(e, func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) }), nil
}

// prepareMaximum and prepareMinimum bring quantized inputs to the output's
// quantization first.
func prepareMaximum(v opspec.View, op *nn.Operation) (Kernel, error) {
	return prepareExtreme(v, op, func(a, b float32) float32 { return max(a, b) }, func(a, b int32) int32 { return max(a, b) })
}

func prepareMinimum(v opspec.View, op *nn.Operation) (Kernel, error) {
	return prepareExtreme(v, op, func(a, b float32) float32 { return min(a, b) }, func(a, b int32) int32 { return min(a, b) })
}

func prepareExtreme(v opspec.View, op *nn.Operation, float func(a, b float32) float32, integer func(a, b int32) int32) (Kernel, error) {
	e, err := opspec.Read[opspec.Elementwise](v, op)
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
	ta, tb := quantized.RescaleTable(&v.Operands[e.A], out), quantized.RescaleTable(&v.Operands[e.B], out)
	return func(x *Run) error {
		binaryOp(x, &e, x.Bytes(e.Output), x.Bytes(e.A), x.Bytes(e.B), func(a, b byte) byte {
			return byte(integer(quantOf(e.Type, ta[a]), quantOf(e.Type, tb[b])))
		})
		return nil
	}, nil
}

// preparePrelu is PRELU: negative inputs times a slope.
func preparePrelu(v opspec.View, _ *nn.Operation, e opspec.Elementwise) (Kernel, error) {
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
	return func(x *Run) error {
		binaryOp(x, &e, x.Bytes(e.Output), x.Bytes(e.A), x.Bytes(e.B), func(a, b byte) byte {
			return byte(q.Apply(quantOf(e.Type, a), quantOf(e.Type, b)))
		})
		return nil
	}, nil
}

// prepareSelect is SELECT.
func prepareSelect(v opspec.View, _ *nn.Operation, s opspec.Select) (Kernel, error) {
	var ta, tb *[256]byte
	if s.Type.IsQuant8() {
		ta = quantized.RescaleTable(&v.Operands[s.A], &v.Operands[s.Output])
		tb = quantized.RescaleTable(&v.Operands[s.B], &v.Operands[s.Output])
	}
	size := s.Type.ElementBytes()
	return func(x *Run) error {
		a, b, out := x.Bytes(s.A), x.Bytes(s.B), x.Bytes(s.Output)
		for i, c := range x.Bytes(s.Condition) {
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

// prepareCompare is EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and GREATER_EQUAL. Quantized values compare as the real
// values that they represent.
func prepareCompare(v opspec.View, op *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	switch {
	case isFloat(e.Type):
		return func(x *Run) error {
			compare(x, &e, op.Type, x.floats(e.A, &x.shared), x.floats(e.B, &x.shared))
			return nil
		}, nil
	case e.Type == nn.TensorInt32:
		return func(x *Run) error {
			compare(x, &e, op.Type, x.int32s(e.A), x.int32s(e.B))
			return nil
		}, nil
	case e.Type == nn.TensorBool8:
		return func(x *Run) error {
			compare(x, &e, op.Type, truths(x.Bytes(e.A)), truths(x.Bytes(e.B)))
			return nil
		}, nil
	}
	ta, tb := realTable(&v.Operands[e.A]), realTable(&v.Operands[e.B])
	return func(x *Run) error {
		compare(x, &e, op.Type, lookup(ta, x.Bytes(e.A)), lookup(tb, x.Bytes(e.B)))
		return nil
	}, nil
}

func compare[T cmp.Ordered](x *Run, e *opspec.Elementwise, t nn.OperationType, a, b []T) {
	out := x.Bytes(e.Output)
	// holds[0] for a < b, [1] for a == b, [2] for a > b, [3] unordered.
	holds := [nn.OperationCount][4]byte{
		nn.OpEqual: {0, 1, 0, 0}, nn.OpNotEqual: {1, 0, 1, 1}, nn.OpLess: {1, 0, 0, 0}, nn.OpLessEqual: {1, 1, 0, 0},
		nn.OpGreater: {0, 0, 1, 0}, nn.OpGreaterEqual: {0, 1, 1, 0},
	}[t]
	x.broadcast(e, func(o, i, j, n, si, sj int) {
		for k := range n {
			p, q := a[i], b[j]
			c := 3
			switch {
			case p < q:
				c = 0
			case p == q:
				c = 1
			case p > q:
				c = 2
			}
			out[o+k] = holds[c]
			i += si
			j += sj
		}
	})
}

// realTable is the real value of every byte of an 8-bit quantized operand.
func realTable(o *nn.Operand) *[256]float32 {
	t := new([256]float32)
	for i := range t {
		t[i] = o.Scale * float32(quantOf(o.Type, byte(i))-o.ZeroPoint)
	}
	return t
}

func lookup(t *[256]float32, b []byte) []float32 {
	f := make([]float32, len(b))
	for i, v := range b {
		f[i] = t[v]
	}
	return f
}

// truths are booleans as 0 and 1.
func truths(b []byte) []byte {
	t := make([]byte, len(b))
	for i, v := range b {
		if v != 0 {
			t[i] = 1
		}
	}
	return t
}

// prepareLogical is LOGICAL_AND and LOGICAL_OR.
func prepareLogical(_ opspec.View, op *nn.Operation, e opspec.Elementwise) (Kernel, error) {
	and := op.Type == nn.OpLogicalAnd
	return func(x *Run) error {
		binaryOp(x, &e, x.Bytes(e.Output), truths(x.Bytes(e.A)), truths(x.Bytes(e.B)), func(a, b byte) byte {
			if and {
				return a & b
			}
			return a | b
		})
		return nil
	}, nil
}
