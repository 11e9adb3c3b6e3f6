package refcpu

import (
	"cmp"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareCompare is EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and
// GREATER_EQUAL. Quantized values compare as the real values they stand for.
func prepareCompare(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(e.Type):
		return func(x *run) error {
			compare(x, &e, op.Type, x.floats(e.A, &x.shared), x.floats(e.B, &x.shared))
			return nil
		}, nil
	case e.Type == nn.TensorInt32:
		return func(x *run) error {
			compare(x, &e, op.Type, x.int32s(e.A), x.int32s(e.B))
			return nil
		}, nil
	case e.Type == nn.TensorBool8:
		return func(x *run) error {
			compare(x, &e, op.Type, truths(x.bytes(e.A)), truths(x.bytes(e.B)))
			return nil
		}, nil
	}
	ta, tb := realTable(&v.Operands[e.A]), realTable(&v.Operands[e.B])
	return func(x *run) error {
		compare(x, &e, op.Type, lookup(ta, x.bytes(e.A)), lookup(tb, x.bytes(e.B)))
		return nil
	}, nil
}

func compare[T cmp.Ordered](x *run, e *opspec.Elementwise, t nn.OperationType, a, b []T) {
	out := x.bytes(e.Output)
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
func prepareLogical(v opspec.View, op *nn.Operation) (kern, error) {
	e, err := v.Elementwise(op)
	if err != nil {
		return nil, err
	}
	and := op.Type == nn.OpLogicalAnd
	return func(x *run) error {
		binaryOp(x, &e, x.bytes(e.Output), truths(x.bytes(e.A)), truths(x.bytes(e.B)), func(a, b byte) byte {
			if and {
				return a & b
			}
			return a | b
		})
		return nil
	}, nil
}
