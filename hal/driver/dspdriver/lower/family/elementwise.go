package family

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// addVectors appends a step that makes a tensor of others of its shape and pitch, or a flat one of flat
// ones, vector by vector.
func addVectors(l *lower.Lowering, name string, reads []*layout.Tensor, out *layout.Tensor, plain bool, w step.Work) {
	if slices.ContainsFunc(reads, func(t *layout.Tensor) bool { return t.Shape != out.Shape }) {
		l.Add(name, reads, []*layout.Tensor{out}, w)
		return
	}
	rows := step.SameRows(out.Shape.N * out.Shape.H)
	rows.Plain = plain
	l.AddRows(name, reads, []*layout.Tensor{out}, rows, w)
}

// lowerAdd lowers ADD and SUB.
func lowerAdd(l *lower.Lowering, op *nn.Operation, e opspec.Elementwise) {
	q := try.V(e.AddQuant(l.View()))
	bias := lower.UnsignedBias(e.Type)
	rq := hvx.NewRequant([]fixedpoint.Multiplier{q.Out}, q.OutZero, q.Lo, q.Hi, bias)
	sign := int32(1)
	if op.Type == nn.OpSub {
		sign = -1
	}
	if l.Final && layout.ShapeOf(e.Dims).Elements() >= elementwise.AffineFrom {
		if f, ok := elementwise.FindAffine(&q, sign, bias); ok {
			pairwise(l, &e, elementwise.AffineSum{Clamp: rq.Kind().Clamp}, f.Params(&rq))
			return
		}
	}
	k := elementwise.Binary{Sub: op.Type == nn.OpSub, RoundA: q.A.Shift < 0, RoundB: q.B.Shift < 0, Rq: rq.Kind()}
	pairwise(l, &e, k, elementwise.AddParams(&rq, &q, bias))
}

func lowerMul(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
	q := try.V(e.MulQuant(l.View()))
	bias := lower.UnsignedBias(e.Type)
	rq := hvx.NewRequant([]fixedpoint.Multiplier{q.Mult}, q.OutZero, q.Lo, q.Hi, bias)
	k := elementwise.Binary{Mul: true, Rq: rq.Kind()}
	pairwise(l, &e, k, elementwise.MulParams(&rq, &q, bias))
}

// pairwise lowers an operation by a kernel.
func pairwise(l *lower.Lowering, e *opspec.Elementwise, k hvx.Kernel, params []uint32) {
	if l.Form(e.Output) == layout.Plain {
		in := operands(l, e)
		out := l.FlatResult(e.Output)
		addVectors(l, "binary", in[:], out, false, launch.Binary{Kernel: k, In: in, Out: out, Params: params})
		return
	}
	s := layout.ShapeOf(e.Dims)
	var in [2]*layout.Tensor
	for i, idx := range [2]uint32{e.A, e.B} {
		t := l.Value(idx)
		if t.Shape != s {
			t = broadcast(l, t, s)
		}
		in[i] = t
	}
	pitch := vectorPitch(l, e.Output, in[:]...)
	for i := range in {
		if in[i].Dense || in[i].Pitch != pitch {
			in[i] = l.WithPitch(in[i], pitch)
		}
	}
	out := l.Result(e.Output, pitch)
	addVectors(l, "binary", in[:], out, false, launch.Binary{Kernel: k, In: in, Out: out, Params: params})
}

// broadcast repeats a value along the dimensions in which it has size 1.
func broadcast(l *lower.Lowering, src *layout.Tensor, to layout.Shape) *layout.Tensor {
	dst := l.NewTensor(src.Name+" broadcast", to, 0, int32(src.Zero))
	l.Add("broadcast", []*layout.Tensor{src}, []*layout.Tensor{dst}, launch.Broadcast{Src: src, To: to, Dst: dst})
	return dst
}

// lowerClamp lowers RELU, RELU1 and RELU6 to bounds.
func lowerClamp(l *lower.Lowering, op *nn.Operation, u opspec.Unary) {
	o := &l.Graph.Operands[u.Output]
	lo, hi := quantized.ActRange(opspec.UnaryActivation(op.Type), o.Type, o.Scale, o.ZeroPoint)
	bias := lower.UnsignedBias(o.Type)
	in, out := vectors(l, u.Input, u.Output)
	addVectors(l, "clamp", []*layout.Tensor{in}, out, true, launch.Clamp{In: in, Out: out, Lo: byte(lo + bias), Hi: byte(hi + bias)})
}

// lowerByTable lowers a function of single bytes: each is looked up in the row's table.
func lowerByTable(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	lookupBytes(l, u.Input, u.Output, try.V(u.ByteTable(l.View())))
}

// lowerQuantize lowers QUANTIZE, of a dequantized value to a table.
func lowerQuantize(l *lower.Lowering, op *nn.Operation, u opspec.Unary) {
	from, ok := lower.Dequantized(l.Graph, op)
	if !ok {
		quantizeFloat(l, &u)
		return
	}
	lookupBytes(l, from, u.Output, quantized.QuantizeTable(&l.Graph.Operands[from], &l.Graph.Operands[u.Output]))
}

// lookupBytes maps the bytes of an operand to those of another.
func lookupBytes(l *lower.Lowering, from, to uint32, t *[256]byte) {
	in, out := vectors(l, from, to)
	lookup(l, out, in, storedTable(t, l.Graph.Operands[from].Type, l.Graph.Operands[to].Type))
}

// vectors are the input of a step that works vector by vector, at the pitch of its result, and
// that; both are flat where the result is plain.
func vectors(l *lower.Lowering, input, output uint32) (in, out *layout.Tensor) {
	if l.Form(output) == layout.Plain {
		return l.FlatPair(input, output)
	}
	in = l.Value(input)
	out = l.Result(output, vectorPitch(l, output, in))
	if in.Dense || in.Pitch != out.Pitch {
		in = l.WithPitch(in, out.Pitch)
	}
	return in, out
}

// vectorPitch is the pitch of such a step: that of its result's form, or a larger one that an input
// has.
func vectorPitch(l *lower.Lowering, output uint32, in ...*layout.Tensor) int {
	pitch := l.PitchOf(output, in[0].Shape)
	if l.Form(output) == layout.Usual {
		for _, t := range in {
			pitch = max(pitch, t.Pitch)
		}
	}
	return pitch
}

// lookup maps every byte of a value through a table.
func lookup(l *lower.Lowering, out, in *layout.Tensor, t *[256]byte) {
	addVectors(l, "lookup", []*layout.Tensor{in}, out, true, launch.Lookup{In: in, Out: out, Table: t})
}

// storedTable converts a table over the client's bytes to one over stored
// bytes, which are unsigned.
func storedTable(t *[256]byte, in, out nn.OperandType) *[256]byte {
	var s [256]byte
	for i, b := range t {
		s[byte(i)+byte(lower.UnsignedBias(in))] = b + byte(lower.UnsignedBias(out))
	}
	return &s
}

// onlyRequantizes reports why the result of a DEQUANTIZE is a value of its own:
// something else than QUANTIZE reads it.
func onlyRequantizes(g *graph.Graph, op *nn.Operation) error {
	from, to := g.Input(op), op.Outputs[0]
	if !g.Operands[from].Type.IsQuant8() {
		return onePair.Broken("%s", g.Operands[from].Type)
	}
	if slices.Contains(g.Outputs, to) {
		return onePair.Broken("output 0 is %s, an output of the model", g.Operands[to].Type)
	}
	for i := range g.Operations {
		for _, in := range g.Operations[i].Inputs {
			if in == to && g.Operations[i].Type != nn.OpQuantize {
				return onePair.Broken("output 0 is %s, read by %s", g.Operands[to].Type, g.Operations[i].Type)
			}
		}
	}
	return nil
}

// lowerDecode lowers the decoding of codes to a table: what each stands for in the quantization of the output.
func lowerDecode(l *lower.Lowering, _ *nn.Operation, d opspec.Decode) {
	lookupBytes(l, d.Input, d.Output, d.Table(l.View()))
}
