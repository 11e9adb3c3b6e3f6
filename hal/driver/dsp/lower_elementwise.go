package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// vectorTable lists ranges of whole vectors over some rows of tensors of one
// shape and pitch: the addresses and the number of vectors. Rows that follow each
// other in all tensors become one range; long ranges are cut so that threads share
// them.
func (l *launcher) vectorTable(r rowRange, ts ...*tensor) []uint32 {
	t := ts[0]
	type span struct {
		addr []uint32
		n    int
	}
	var spans []span
	total := 0
	for row := r.from; row < r.to; row++ {
		s := span{n: t.vectorsPerRow()}
		joins := len(spans) > 0
		for i, x := range ts {
			s.addr = append(s.addr, x.at(row/t.shape.h, row%t.shape.h, 0))
			if joins {
				last := &spans[len(spans)-1]
				joins = s.addr[i] == last.addr[i]+uint32(last.n*vecBytes)
			}
		}
		total += s.n
		if joins {
			spans[len(spans)-1].n += s.n
		} else {
			spans = append(spans, s)
		}
	}
	share := ceilDiv(total, l.threads)
	var table []uint32
	for _, s := range spans {
		for from := 0; from < s.n; from += share {
			for _, addr := range s.addr {
				table = append(table, addr+uint32(from*vecBytes))
			}
			table = append(table, uint32(min(share, s.n-from)))
		}
	}
	return table
}

// addVectors appends a step that makes a tensor of others of its shape and pitch,
// vector by vector.
func (l *lowering) addVectors(name string, reads []*tensor, out *tensor, plain bool, w work) {
	rows := sameRows(out.shape.n * out.shape.h)
	rows.plain = plain
	l.addRows(name, reads, []*tensor{out}, rows, w)
}

// lowerAdd lowers ADD and SUB.
func lowerAdd(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	if e.Type == nn.TensorInt32 {
		return l.words(op, &e)
	}
	q, err := e.AddQuant(l.view)
	if err != nil {
		return err
	}
	bias := unsignedBias(e.Type)
	rq := hvx.NewRequant([]opspec.Multiplier{q.Out}, q.OutZero, q.Lo, q.Hi, bias)
	sign := int32(1)
	if op.Type == nn.OpSub {
		sign = -1
	}
	if l.final() && shapeOf(e.Dims).elements() >= elementwise.AffineFrom {
		if f, ok := elementwise.FindAffine(&q, sign, bias); ok {
			return l.binary(&e, elementwise.AffineSum{Clamp: rq.Kind().Clamp}, f.Params(&rq))
		}
	}
	k := elementwise.Binary{Sub: op.Type == nn.OpSub, RoundA: q.A.Shift < 0, RoundB: q.B.Shift < 0, Rq: rq.Kind()}
	return l.binary(&e, k, elementwise.AddParams(&rq, &q, bias))
}

func lowerMul(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	if e.Type == nn.TensorInt32 {
		return l.words(op, &e)
	}
	q, err := e.MulQuant(l.view)
	if err != nil {
		return err
	}
	bias := unsignedBias(e.Type)
	rq := hvx.NewRequant([]opspec.Multiplier{q.Mult}, q.OutZero, q.Lo, q.Hi, bias)
	k := elementwise.Binary{Mul: true, Rq: rq.Kind()}
	return l.binary(&e, k, elementwise.MulParams(&rq, &q, bias))
}

// binary lowers an operation by a kernel.
func (l *lowering) binary(e *opspec.Elementwise, k hvx.Kernel, params []uint32) error {
	s := shapeOf(e.Dims)
	var in [2]*tensor
	for i, idx := range [2]uint32{e.A, e.B} {
		t, err := l.value(idx)
		if err != nil {
			return err
		}
		if t.shape != s {
			t = l.broadcast(t, s)
		}
		in[i] = t
	}
	pitch := max(in[0].pitch, in[1].pitch, s.pitch())
	for i := range in {
		if in[i].pitch != pitch {
			in[i] = l.withPitch(in[i], pitch)
		}
	}
	out := l.result(e.Output, pitch)
	l.addVectors("binary", in[:], out, false, binaryWork{k, in, out, params})
	return nil
}

// binaryWork combines two tensors vector by vector.
type binaryWork struct {
	kernel hvx.Kernel
	in     [2]*tensor
	out    *tensor
	params []uint32
}

func (w binaryWork) Launch(l *launcher, r rowRange) error {
	kern, err := l.linked(w.kernel)
	if err != nil {
		return err
	}
	table := l.binaryTable(l.vectorTable(r, w.in[0], w.in[1], w.out), w.in)
	l.launchTable(kern, table, elementwise.BinWords, l.constWords(w.params))
	return nil
}

// aheadVectors is how many vectors of both operands at most are combined while
// l2fetch brings in two such numbers of one of them; it begins with fewer.
const (
	aheadVectors = 32
	firstVectors = 4
)

// binaryTable makes the kernel's table from ranges of vectors. Operands that are not
// in L2 are fetched ahead, in turn.
func (l *launcher) binaryTable(ranges []uint32, in [2]*tensor) []uint32 {
	var cold []int
	for i, t := range in {
		if l.Cold(t) && (i == 0 || t != in[0]) {
			cold = append(cold, i)
		}
	}
	var table []uint32
	for r := ranges; len(r) > 0; r = r[4:] {
		step := r[3]
		if len(cold) > 0 {
			step = firstVectors
		}
		for k, from := 0, uint32(0); from < r[3]; k++ {
			n := min(step, r[3]-from)
			e := [elementwise.BinWords]uint32{elementwise.BinA: r[0] + from*vecBytes, elementwise.BinB: r[1] + from*vecBytes, elementwise.BinOut: r[2] + from*vecBytes, elementwise.BinVectors: n}
			next := min(2*step, aheadVectors)
			if rest := int(r[3]) - int(from+uint32(2-k%2)*step); rest > 0 && k%2 < len(cold) {
				at := r[cold[k%2]] + uint32(int(r[3])-rest)*vecBytes
				e[elementwise.BinLookahead], e[elementwise.BinBox] = at, boxOf(min(uint32(rest), 2*next)*vecBytes)
			}
			table = append(table, e[:]...)
			if from += n; k%2 == 1 {
				step = next
			}
		}
	}
	return table
}

// broadcast repeats a value along the dimensions in which it has size 1.
func (l *lowering) broadcast(src *tensor, to shape) *tensor {
	dst := l.newTensor(src.name+" broadcast", to, 0, int32(src.zero))
	l.addStep("broadcast", []*tensor{src}, []*tensor{dst}, broadcastWork{src, to, dst})
	return dst
}

// broadcastWork repeats a tensor along the dimensions in which it has size 1.
type broadcastWork struct {
	src *tensor
	to  shape
	dst *tensor
}

func (w broadcastWork) Launch(l *launcher, _ rowRange) error {
	f := w.src.shape
	r := new(copyRuns)
	for n := range w.to.n {
		for y := range w.to.h {
			for x := range w.to.w {
				from := w.src.at(n%f.n, y%f.h, x%f.w)
				if f.c == w.to.c {
					r.add(w.dst.at(n, y, x), from, w.to.c)
					continue
				}
				for c := range w.to.c {
					r.add(w.dst.at(n, y, x)+uint32(c), from, 1)
				}
			}
		}
	}
	return r.launch(l, false)
}

// lowerUnary lowers RELU, RELU1 and RELU6 to bounds, LOGISTIC, REQUANTIZE and
// QUANTIZE of a dequantized value to a table.
func lowerUnary(l *lowering, op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	src := u.Input
	if op.Type == nn.OpQuantize {
		from, ok := dequantized(l.graph, op)
		if !ok {
			return quantizeFloat(l, &u)
		}
		src = from
	}
	in, err := l.value(src)
	if err != nil {
		return err
	}
	i, o := &l.graph.Operands[src], &l.graph.Operands[u.Output]
	var t *[256]byte
	switch op.Type {
	case nn.OpLogistic:
		if t, err = u.LogisticTable(l.view); err != nil {
			return err
		}
	case nn.OpTanh:
		if t, err = u.TanhTable(l.view); err != nil {
			return err
		}
	case nn.OpHardSwish:
		if t, err = u.HardSwishTable(l.view); err != nil {
			return err
		}
	case nn.OpRsqrt:
		if t, err = u.RsqrtTable(l.view); err != nil {
			return err
		}
	case nn.OpRequantize:
		t = u.RequantizeTable(l.view)
	case nn.OpQuantize:
		t = opspec.QuantizeTable(i, o)
	default:
		lo, hi := opspec.ActRange(opspec.UnaryActivation(op.Type), o.Type, o.Scale, o.ZeroPoint)
		bias := unsignedBias(o.Type)
		out := l.result(u.Output, max(in.pitch, in.shape.pitch()))
		if in.pitch != out.pitch {
			in = l.withPitch(in, out.pitch)
		}
		l.addVectors("clamp", []*tensor{in}, out, true, clampWork{in, out, byte(lo + bias), byte(hi + bias)})
		return nil
	}
	l.lookup(l.result(u.Output, in.pitch), in, storedTable(t, i.Type, o.Type))
	return nil
}

// clampWork bounds bytes.
type clampWork struct {
	in, out *tensor
	lo, hi  byte
}

func (w clampWork) Launch(l *launcher, r rowRange) error {
	k, err := l.linked(elementwise.Clamp{})
	if err != nil {
		return err
	}
	l.launchTable(k, l.vectorTable(r, w.in, w.out), 3, uint32(w.lo)*ones, uint32(w.hi)*ones)
	return nil
}

// lookup maps every byte of a value through a table.
func (l *lowering) lookup(out, in *tensor, t *[256]byte) {
	l.addVectors("lookup", []*tensor{in}, out, true, lookupWork{in, out, t})
}

// lookupWork maps bytes through a table.
type lookupWork struct {
	in, out *tensor
	table   *[256]byte
}

func (w lookupWork) Launch(l *launcher, r rowRange) error {
	k, err := l.linked(elementwise.Lookup{})
	if err != nil {
		return err
	}
	l.launchTable(k, l.vectorTable(r, w.in, w.out), 3, l.constant(elementwise.LookupVectors(w.table)))
	return nil
}

// storedTable turns a table over the client's bytes into one over stored
// bytes, which are unsigned.
func storedTable(t *[256]byte, in, out nn.OperandType) *[256]byte {
	var s [256]byte
	for i, b := range t {
		s[byte(i)+byte(unsignedBias(in))] = b + byte(unsignedBias(out))
	}
	return &s
}

// dequantized finds the quantized operand whose DEQUANTIZE feeds a QUANTIZE.
func dequantized(g *graph.Graph, quantize *nn.Operation) (uint32, bool) {
	for i := range g.Operations {
		d := &g.Operations[i]
		if d.Type == nn.OpDequantize && len(d.Outputs) == 1 && len(d.Inputs) == 1 && len(quantize.Inputs) == 1 &&
			d.Outputs[0] == quantize.Inputs[0] && g.Operands[d.Inputs[0]].Type.IsQuant8() {
			return d.Inputs[0], true
		}
	}
	return 0, false
}

// onlyRequantizes reports why the result of a DEQUANTIZE is a value of its own:
// something else than QUANTIZE reads it.
func onlyRequantizes(g *graph.Graph, op *nn.Operation) error {
	from, to := op.Inputs[0], op.Outputs[0]
	if !g.Operands[from].Type.IsQuant8() {
		return fmt.Errorf("%s of %s", op.Type, g.Operands[from].Type)
	}
	for _, o := range g.Outputs {
		if o == to {
			return fmt.Errorf("output 0 is %s, an output of the model", g.Operands[to].Type)
		}
	}
	for i := range g.Operations {
		for _, in := range g.Operations[i].Inputs {
			if in == to && g.Operations[i].Type != nn.OpQuantize {
				return fmt.Errorf("output 0 is %s, read by %s", g.Operands[to].Type, g.Operations[i].Type)
			}
		}
	}
	return nil
}
