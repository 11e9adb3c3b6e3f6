package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

const ones = hvx.Ones // 1 in every byte

// operands are the flat operands of a binary operation, both of the result's
// shape.
func (l *lowering) operands(e *opspec.Elementwise) (in [2]*tensor, err error) {
	n := int(nn.Elements(e.Dims))
	if n == 0 {
		return in, fmt.Errorf("shape %v has no elements", e.Dims)
	}
	for i, idx := range [2]uint32{e.A, e.B} {
		t, err := l.flat(idx)
		if err != nil {
			return in, err
		}
		size := l.sizeOf(idx)
		if t.bytes() != n*size {
			r := l.newFlat(t.name+" repeated", n, size)
			strides := [2][]int{e.StridesA, e.StridesB}[i]
			if err := l.walk("broadcast", r, t, e.Dims, strides, 0, size); err != nil {
				return in, err
			}
			t = r
		}
		in[i] = t
	}
	return in, nil
}

// lookupFlat maps every byte of a flat value through a table over stored bytes.
func (l *lowering) lookupFlat(out, in *tensor, t *[256]byte) {
	l.addStep("lookup", []*tensor{in}, []*tensor{out}, lookupFlatWork{out, in, t})
}

// lookupFlatWork maps the bytes of a flat tensor through a table.
type lookupFlatWork struct {
	out *tensor
	in  *tensor
	t   *[256]byte
}

func (w lookupFlatWork) Launch(l *launcher, _ rowRange) error {
	k, err := l.linked(elementwise.Lookup{})
	if err != nil {
		return err
	}
	table := flatTable(l.spread(flatVectors(w.out)), []*tensor{w.in, w.out}, []int{1, 1})
	l.launchTable(k, table, 3, l.constant(elementwise.LookupVectors(w.t)))
	return nil
}

// mapped is a flat value through a table; nil is no change.
func (l *lowering) mapped(in *tensor, t *[256]byte) *tensor {
	if t == nil {
		return in
	}
	out := l.newFlat(in.name+" mapped", in.bytes(), 1)
	l.lookupFlat(out, in, t)
	return out
}

// rescaled is a quantized value in the quantization of another operand.
func (l *lowering) rescaled(in *tensor, from, to uint32) *tensor {
	i, o := &l.graph.Operands[from], &l.graph.Operands[to]
	if i.Scale == o.Scale && i.ZeroPoint == o.ZeroPoint && i.Type == o.Type {
		return in
	}
	return l.mapped(in, storedTable(opspec.RescaleTable(i, o), i.Type, o.Type))
}

// words lowers a binary operation on TENSOR_INT32.
func (l *lowering) words(op *nn.Operation, e *opspec.Elementwise) error {
	in, err := l.operands(e)
	if err != nil {
		return err
	}
	var k elementwise.Function
	switch op.Type {
	case nn.OpAdd:
		k = elementwise.Instruction{Op: hexagon.V6_vaddw}
	case nn.OpSub:
		k = elementwise.Instruction{Op: hexagon.V6_vsubw}
	case nn.OpMaximum:
		k = elementwise.Instruction{Op: hexagon.V6_vmaxw}
	case nn.OpMinimum:
		k = elementwise.Instruction{Op: hexagon.V6_vminw}
	case nn.OpMul:
		k = elementwise.MulWords{}
	case nn.OpDiv:
		k = elementwise.DivWords{}
	default:
		return fmt.Errorf("%s of %s", op.Type, e.Type)
	}
	l.flatStep("words", k, l.flatResult(e.Output), in[:])
	return nil
}

// lowerExtreme lowers MAXIMUM and MINIMUM.
func lowerExtreme(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	if e.Type == nn.TensorInt32 {
		return l.words(op, &e)
	}
	in, err := l.operands(&e)
	if err != nil {
		return err
	}
	in[0], in[1] = l.rescaled(in[0], e.A, e.Output), l.rescaled(in[1], e.B, e.Output)
	k := elementwise.Instruction{Op: hexagon.V6_vmaxub}
	if op.Type == nn.OpMinimum {
		k = elementwise.Instruction{Op: hexagon.V6_vminub}
	}
	l.flatStep("extreme", k, l.flatResult(e.Output), in[:])
	return nil
}

// lowerLogical lowers LOGICAL_AND and LOGICAL_OR.
func lowerLogical(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	in, err := l.operands(&e)
	if err != nil {
		return err
	}
	k := elementwise.Truth{Op: hexagon.V6_vand}
	if op.Type == nn.OpLogicalOr {
		k = elementwise.Truth{Op: hexagon.V6_vor}
	}
	l.flatStep("logical", k, l.flatResult(e.Output), in[:], ones)
	return nil
}

// lowerUnaryFlat lowers LOGICAL_NOT, and ABS and NEG of TENSOR_INT32.
func lowerUnaryFlat(l *lowering, op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	in, err := l.flat(u.Input)
	if err != nil {
		return err
	}
	out := l.flatResult(u.Output)
	switch op.Type {
	case nn.OpLogicalNot:
		l.flatStep("not", elementwise.Not{}, out, []*tensor{in}, ones)
	case nn.OpAbs:
		l.flatStep("abs", elementwise.AbsWords{}, out, []*tensor{in})
	default:
		l.flatStep("neg", elementwise.NegWords{}, out, []*tensor{in}, 0)
	}
	return nil
}

// comparison says how an operation follows from "equal" or "greater".
type comparison struct{ equal, swap, not bool }

var comparisons = [nn.OperationCount]comparison{
	nn.OpEqual: {equal: true}, nn.OpNotEqual: {equal: true, not: true},
	nn.OpGreater: {}, nn.OpLess: {swap: true}, nn.OpLessEqual: {not: true}, nn.OpGreaterEqual: {swap: true, not: true},
}

// lowerCompare lowers the comparisons. For bytes, the values of b for which
// "a equals b" or "a is greater than b" holds are an interval that depends on a
// only: its ends come from two tables.
func lowerCompare(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	in, err := l.operands(&e)
	if err != nil {
		return err
	}
	c := comparisons[op.Type]
	if e.Type == nn.TensorInt32 {
		l.flatStep("compare", elementwise.CompareWords{Equal: c.equal, Swap: c.swap, Not: c.not}, l.flatResult(e.Output), in[:], 1, 0)
		return nil
	}
	va, vb := l.realValues(e.A), l.realValues(e.B)
	if c.swap { // a < b is b > a
		in[0], in[1], va, vb = in[1], in[0], vb, va
	}
	first, last := new([256]byte), new([256]byte) // 255 to 0 is empty
	for i, x := range va {
		first[i], last[i] = 255, 0
		for j, y := range vb {
			if c.equal && x == y || !c.equal && x > y {
				first[i], last[i] = min(first[i], byte(j)), byte(j)
			}
		}
	}
	below, above := l.mapped(in[0], first), l.mapped(in[0], last)
	l.flatStep("compare", elementwise.Interval{Outside: c.not}, l.flatResult(e.Output), []*tensor{in[1], below, above}, ones, 0)
	return nil
}

// realValues are what the stored bytes of an operand stand for, which does not
// fall; booleans are 0 and 1.
func (l *lowering) realValues(i uint32) *[256]float32 {
	o := &l.graph.Operands[i]
	t := new([256]float32)
	for s := range t {
		switch {
		case o.Type == nn.TensorBool8:
			t[s] = float32(min(s, 1))
		default:
			t[s] = o.Scale * float32(int32(s)-zeroOf(o))
		}
	}
	return t
}

// lowerSelect lowers SELECT.
func lowerSelect(l *lowering, op *nn.Operation) error {
	s, err := l.view.Select(op)
	if err != nil {
		return err
	}
	var in [3]*tensor
	for i, idx := range [3]uint32{s.Condition, s.A, s.B} {
		if in[i], err = l.flat(idx); err != nil {
			return err
		}
	}
	if s.Type == nn.TensorInt32 {
		l.flatStep("select", elementwise.SelectWords{}, l.flatResult(s.Output), in[:], 0)
		return nil
	}
	if s.Type.IsQuant8() {
		in[1], in[2] = l.rescaled(in[1], s.A, s.Output), l.rescaled(in[2], s.B, s.Output)
	}
	l.flatStep("select", elementwise.SelectAbove{}, l.flatResult(s.Output), in[:], 0)
	return nil
}

// lowerPrelu lowers PRELU: values from the zero point on through a table, those
// below as a MUL.
func lowerPrelu(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	q, err := e.PreluQuant(l.view)
	if err != nil {
		return err
	}
	in, err := l.operands(&e)
	if err != nil {
		return err
	}
	bias := unsignedBias(e.Type)
	positive := new([256]byte)
	for s := range positive {
		positive[s] = byte(q.Apply(max(int32(s)-bias, q.InZero), q.AlphaZero) + bias)
	}
	rq := hvx.NewRequant([]opspec.Multiplier{q.Negative}, q.OutZero, q.Lo, q.Hi, bias)
	m := opspec.MulQuant{ZeroA: q.InZero, ZeroB: q.AlphaZero}
	product := l.newFlat("negative part", in[0].bytes(), 1)
	l.addStep("multiply", in[:], []*tensor{product}, multiplyFlatWork{rq, product, in, m, bias})
	zero := zeroOf(&l.graph.Operands[e.A])
	if zero == 0 { // nothing is negative
		l.lookupFlat(l.flatResult(e.Output), in[0], positive)
		return nil
	}
	l.flatStep("prelu", elementwise.SelectAbove{}, l.flatResult(e.Output), []*tensor{in[0], l.mapped(in[0], positive), product}, uint32(zero-1)*ones)
	return nil
}

// multiplyFlatWork multiplies two flat tensors.
type multiplyFlatWork struct {
	rq      hvx.Requant
	product *tensor
	in      [2]*tensor
	m       opspec.MulQuant
	bias    int32
}

func (w multiplyFlatWork) Launch(l *launcher, _ rowRange) error {
	k := elementwise.Binary{Mul: true, Rq: w.rq.Kind()}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	table := flatTable(l.spread(flatVectors(w.product)), []*tensor{w.in[0], w.in[1], w.product}, []int{1, 1, 1})
	l.launchTable(kern, l.binaryTable(table, w.in), elementwise.BinWords, l.constWords(elementwise.MulParams(&w.rq, &w.m, w.bias)))
	return nil
}

// lowerCast lowers CAST between bytes and words; values that do not fit
// saturate.
func lowerCast(l *lowering, op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	from, to := l.graph.Operands[u.Input].Type, l.graph.Operands[u.Output].Type
	if from != to && (signedBytes(from) || signedBytes(to)) {
		return fmt.Errorf("%s to %s", from, to)
	}
	in, err := l.flat(u.Input)
	if err != nil {
		return err
	}
	if from != to && (from == nn.TensorFloat32 || to == nn.TensorFloat32) {
		return castFloat(l, &u, in, from, to)
	}
	switch wide := to == nn.TensorInt32; {
	case from == to || wide == (from == nn.TensorInt32): // the same bytes
		l.flats[u.Output] = in
	case wide:
		l.flatStep("widen", elementwise.WidenWords{}, l.flatResult(u.Output), []*tensor{in}, 0)
	default:
		l.flatStep("narrow", elementwise.NarrowWords{}, l.flatResult(u.Output), []*tensor{in}, 0)
	}
	return nil
}

// lowerFill lowers FILL with an integer that is known.
func lowerFill(l *lowering, op *nn.Operation) error {
	f, err := l.view.Fill(op)
	if err != nil {
		return err
	}
	data, err := l.view.Data(f.Value)
	if err != nil {
		return err
	}
	if o := &l.graph.Operands[f.Output]; o.Type != nn.TensorInt32 || nn.Elements(f.Dims) == 0 {
		return fmt.Errorf("%s of shape %v", o.Type, f.Dims)
	}
	l.fillFlat(l.flatResult(f.Output), binary.LittleEndian.Uint32(data))
	return nil
}
