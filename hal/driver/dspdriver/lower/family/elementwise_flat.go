package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// operands are the flat operands of a binary operation, both of the result's
// shape.
func operands(l *lower.Lowering, e *opspec.Elementwise) (in [2]*layout.Tensor) {
	n := int(nn.Elements(e.Dims))
	someElements.Refuse(n == 0, "shape %v", e.Dims)
	for i, idx := range [2]uint32{e.A, e.B} {
		t := l.Flat(idx)
		size := l.SizeOf(idx)
		if t.Bytes() != n*size {
			r := l.NewFlat(t.Name+" repeated", n, size)
			strides := [2][]int{e.StridesA, e.StridesB}[i]
			l.Walk("broadcast", r, t, e.Dims, strides, 0, size)
			t = r
		}
		in[i] = t
	}
	return in
}

// mapped is a flat value through a table; nil is no change.
func mapped(l *lower.Lowering, in *layout.Tensor, t *[256]byte) *layout.Tensor {
	if t == nil {
		return in
	}
	out := l.NewFlat(in.Name+" mapped", in.Bytes(), 1)
	lookup(l, out, in, t)
	return out
}

// rescaled is a quantized value in the quantization of another operand.
func rescaled(l *lower.Lowering, in *layout.Tensor, from, to uint32) *layout.Tensor {
	i, o := &l.Graph.Operands[from], &l.Graph.Operands[to]
	if i.Scale == o.Scale && i.ZeroPoint == o.ZeroPoint && i.Type == o.Type {
		return in
	}
	return mapped(l, in, storedTable(quantized.RescaleTable(i, o), i.Type, o.Type))
}

// onWords lowers a binary operation on TENSOR_INT32.
func onWords(k elementwise.Function) lowering {
	legal.Given("kernel", k)
	return read(func(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
		in := operands(l, &e)
		l.FlatStep("words", k, l.FlatResult(e.Output), in[:])
	})
}

// extreme lowers MAXIMUM or MINIMUM of bytes.
func extreme(instruction hexagon.Op) lowering {
	legal.Given("instruction", instruction)
	return read(func(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
		in := operands(l, &e)
		in[0], in[1] = rescaled(l, in[0], e.A, e.Output), rescaled(l, in[1], e.B, e.Output)
		l.FlatStep("extreme", elementwise.Instruction{Op: instruction}, l.FlatResult(e.Output), in[:])
	})
}

// logical lowers LOGICAL_AND or LOGICAL_OR.
func logical(instruction hexagon.Op) lowering {
	legal.Given("instruction", instruction)
	return read(func(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
		in := operands(l, &e)
		l.FlatStep("logical", elementwise.Truth{Op: instruction}, l.FlatResult(e.Output), in[:], hvx.Ones)
	})
}

// mapFlat lowers a function of single elements.
func mapFlat(l *lower.Lowering, op *nn.Operation, name string, f elementwise.Function, params ...uint32) {
	u := try.V(opspec.Read[opspec.Unary](l.View(), op))
	in := l.Flat(u.Input)
	l.FlatStep(name, f, l.FlatResult(u.Output), []*layout.Tensor{in}, params...)
}

// lowerNot lowers LOGICAL_NOT.
func lowerNot(l *lower.Lowering, op *nn.Operation) {
	mapFlat(l, op, "not", elementwise.Not{}, hvx.Ones)
}

// lowerAbs lowers ABS of TENSOR_INT32.
func lowerAbs(l *lower.Lowering, op *nn.Operation) {
	mapFlat(l, op, "abs", elementwise.AbsWords{})
}

// lowerNeg lowers NEG of TENSOR_INT32.
func lowerNeg(l *lower.Lowering, op *nn.Operation) {
	mapFlat(l, op, "neg", elementwise.NegWords{}, 0)
}

// comparison is an operation in terms of "equal" or "greater".
type comparison struct {
	relation
	swap, not bool
}

// relation is one of a and b.
type relation uint8

// Relations. There is no zero one.
const (
	equal relation = 1 + iota
	greater
)

// compares lowers a comparison.
func compares(c comparison) lowering {
	legal.Given("relation", c.relation)
	return by(func(l *lower.Lowering, op *nn.Operation) { compare(l, op, c) })
}

// compare lowers the comparisons. For bytes, the values of b for which
// "a equals b" or "a is greater than b" holds are an interval that depends on a
// only: its ends come from two tables.
func compare(l *lower.Lowering, op *nn.Operation, c comparison) {
	e := try.V(opspec.Read[opspec.Elementwise](l.View(), op))
	in := operands(l, &e)
	if e.Type == nn.TensorInt32 {
		l.FlatStep("compare", elementwise.CompareWords{Equal: c.relation == equal, Swap: c.swap, Not: c.not}, l.FlatResult(e.Output), in[:], 1, 0)
		return
	}
	va, vb := realValues(l, e.A), realValues(l, e.B)
	if c.swap { // a < b is b > a
		in[0], in[1], va, vb = in[1], in[0], vb, va
	}
	first, last := new([256]byte), new([256]byte) // 255 to 0 is empty
	for i, x := range va {
		first[i], last[i] = 255, 0
		for j, y := range vb {
			if c.relation == equal && x == y || c.relation == greater && x > y {
				first[i], last[i] = min(first[i], byte(j)), byte(j)
			}
		}
	}
	below, above := mapped(l, in[0], first), mapped(l, in[0], last)
	l.FlatStep("compare", elementwise.Interval{Outside: c.not}, l.FlatResult(e.Output), []*layout.Tensor{in[1], below, above}, hvx.Ones, 0)
}

// realValues are what the stored bytes of an operand stand for, which does not
// fall; booleans are 0 and 1.
func realValues(l *lower.Lowering, i uint32) *[256]float32 {
	o := &l.Graph.Operands[i]
	t := new([256]float32)
	for s := range t {
		switch {
		case o.Type == nn.TensorBool8:
			t[s] = float32(min(s, 1))
		default:
			t[s] = o.Scale * float32(int32(s)-lower.ZeroOf(o))
		}
	}
	return t
}

// lowerSelect lowers SELECT.
func lowerSelect(l *lower.Lowering, _ *nn.Operation, s opspec.Select) {
	var in [3]*layout.Tensor
	for i, idx := range [3]uint32{s.Condition, s.A, s.B} {
		in[i] = l.Flat(idx)
	}
	if s.Type == nn.TensorInt32 {
		l.FlatStep("select", elementwise.SelectWords{}, l.FlatResult(s.Output), in[:], 0)
		return
	}
	if s.Type.IsQuant8() {
		in[1], in[2] = rescaled(l, in[1], s.A, s.Output), rescaled(l, in[2], s.B, s.Output)
	}
	l.FlatStep("select", elementwise.SelectAbove{}, l.FlatResult(s.Output), in[:], 0)
}

// lowerPrelu lowers PRELU: values from the zero point on through a table, those
// below as a MUL.
func lowerPrelu(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
	q := try.V(e.PreluQuant(l.View()))
	in := operands(l, &e)
	bias := lower.UnsignedBias(e.Type)
	positive := new([256]byte)
	for s := range positive {
		positive[s] = byte(q.Apply(max(int32(s)-bias, q.InZero), q.AlphaZero) + bias)
	}
	rq := hvx.NewRequant([]fixedpoint.Multiplier{q.Negative}, q.OutZero, q.Lo, q.Hi, bias)
	m := quantized.Mul{ZeroA: q.InZero, ZeroB: q.AlphaZero}
	product := l.NewFlat("negative part", in[0].Bytes(), 1)
	l.Add("multiply", in[:], []*layout.Tensor{product}, launch.Binary{Kernel: elementwise.Binary{Mul: true, Rq: rq.Kind()}, In: in, Out: product, Params: elementwise.MulParams(&rq, &m, bias)})
	zero := lower.ZeroOf(&l.Graph.Operands[e.A])
	if zero == 0 { // nothing is negative
		lookup(l, l.FlatResult(e.Output), in[0], positive)
		return
	}
	l.FlatStep("prelu", elementwise.SelectAbove{}, l.FlatResult(e.Output), []*layout.Tensor{in[0], mapped(l, in[0], positive), product}, uint32(zero-1)*hvx.Ones)
}

// lowerCast lowers CAST between bytes and words; values that do not fit
// saturate.
func lowerCast(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	from, to := l.Graph.Operands[u.Input].Type, l.Graph.Operands[u.Output].Type
	castTypes.Refuse(from != to && (lower.SignedBytes(from) || lower.SignedBytes(to)), "%s to %s", from, to)
	in := l.Flat(u.Input)
	if from != to && (from == nn.TensorFloat32 || to == nn.TensorFloat32) {
		castFloat(l, &u, in, from, to)
		return
	}
	switch wide := to == nn.TensorInt32; {
	case from == to || wide == (from == nn.TensorInt32): // the same bytes
		l.Flats[u.Output] = in
	case wide:
		l.FlatStep("widen", elementwise.WidenWords{}, l.FlatResult(u.Output), []*layout.Tensor{in}, 0)
	default:
		l.FlatStep("narrow", elementwise.NarrowWords{}, l.FlatResult(u.Output), []*layout.Tensor{in}, 0)
	}
}

// lowerFill lowers FILL with an integer that is known.
func lowerFill(l *lower.Lowering, _ *nn.Operation, f opspec.Fill) {
	data := try.V(l.View().Data(f.Value))
	o := &l.Graph.Operands[f.Output]
	someElements.Refuse(o.Type != nn.TensorInt32 || nn.Elements(f.Dims) == 0, "%s of shape %v", o.Type, f.Dims)
	l.FillFlat(l.FlatResult(f.Output), binary.LittleEndian.Uint32(data))
}
