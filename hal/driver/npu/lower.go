package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// lowering turns the operations of a graph into work.
type lowering struct {
	spec   *core.Spec
	graph  *graph.Graph
	view   opspec.View
	values []span // activations and temporaries; lives are set by lives
	// value of an operand; RESHAPE and SQUEEZE share their input's.
	value  []int
	consts constants
	list   []work
	op     int // of the model, being lowered
}

// lowerers is the operation table.
var lowerers = map[nn.OperationType]func(*lowering, *nn.Operation) error{
	nn.OpConv2D:          (*lowering).conv,
	nn.OpDepthwiseConv2D: (*lowering).conv,
	nn.OpFullyConnected:  (*lowering).fullyConnected,
	nn.OpAveragePool2D:   (*lowering).pool,
	nn.OpMaxPool2D:       (*lowering).pool,
	nn.OpAdd:             (*lowering).add,
	nn.OpMul:             (*lowering).mul,
	nn.OpConcatenation:   (*lowering).concat,
	nn.OpReshape:         (*lowering).alias,
	nn.OpSqueeze:         (*lowering).alias,
	nn.OpSoftmax:         (*lowering).softmax,
	nn.OpLogistic:        (*lowering).logistic,
	nn.OpRelu:            (*lowering).relu,
	nn.OpRelu1:           (*lowering).relu,
	nn.OpRelu6:           (*lowering).relu,
	nn.OpPad:             (*lowering).pad,
	nn.OpMean:            (*lowering).mean,
	nn.OpTranspose:       (*lowering).strided,
	nn.OpSlice:           (*lowering).strided,
	nn.OpStridedSlice:    (*lowering).strided,
	nn.OpDepthToSpace:    (*lowering).strided,
	nn.OpSpaceToDepth:    (*lowering).strided,
	nn.OpBatchToSpaceNd:  (*lowering).strided,
	nn.OpSpaceToBatchNd:  (*lowering).strided,
	nn.OpChannelShuffle:  (*lowering).strided,
	nn.OpReverse:         (*lowering).strided,
	nn.OpRequantize:      (*lowering).requantize,
}

func newLowering(s *core.Spec, g *graph.Graph) *lowering {
	l := &lowering{
		spec: s, graph: g, view: g.View(), value: make([]int, len(g.Operands)),
	}
	for i := range l.value {
		l.value[i] = placed - 1 // none yet
	}
	return l
}

// operation lowers operation i.
func (l *lowering) operation(i int) error {
	l.op = l.graph.Origin[i]
	op := &l.graph.Operations[i]
	f := lowerers[op.Type]
	if f == nil {
		return fmt.Errorf("%v is not lowered to this NPU", op.Type)
	}
	return f(l, op)
}

// temporary adds a value of n bytes.
func (l *lowering) temporary(n int) int {
	l.values = append(l.values, span{bytes: align(n), first: -1})
	return len(l.values) - 1
}

// operand checks that x is an 8-bit quantized tensor of known shape.
func (l *lowering) operand(x uint32) (*nn.Operand, error) {
	o := &l.graph.Operands[x]
	switch {
	case !o.Type.IsQuant8():
		return nil, fmt.Errorf("operand %d is %v, this NPU computes on 8-bit quantized tensors", x, o.Type)
	case !o.Known():
		return nil, fmt.Errorf("operand %d has the unknown shape %v", x, o.Dimensions)
	case o.Elements() <= 0 || o.Elements() > 1<<28:
		return nil, fmt.Errorf("operand %d has %d elements", x, o.Elements())
	}
	return o, nil
}

// ref is the place of an operand; constants go to region 0.
func (l *lowering) ref(x uint32) (int, int, error) {
	o, err := l.operand(x)
	if err != nil {
		return 0, 0, err
	}
	if o.IsConst() {
		if int64(len(o.Data)) != o.Bytes() {
			return 0, 0, fmt.Errorf("operand %d has %d bytes of data", x, len(o.Data))
		}
		return placed, l.consts.add(o.Data), nil
	}
	if l.value[x] < placed {
		return 0, 0, fmt.Errorf("operand %d has no value", x)
	}
	return l.value[x], 0, nil
}

// in is a feature map of an operand that is read.
func (l *lowering) in(x uint32, h, w, c int) (ref, error) {
	v, at, err := l.ref(x)
	return ref{v, dense(at, h, w, c, 1, isSigned(l.graph.Operands[x].Type))}, err
}

// out is a feature map of an operand that is written, whose value it creates.
func (l *lowering) out(x uint32, h, w, c int) (ref, error) {
	o, err := l.operand(x)
	if err != nil {
		return ref{}, err
	}
	if l.value[x] < placed {
		l.value[x] = l.temporary(int(o.Bytes()))
	}
	return ref{l.value[x], dense(0, h, w, c, 1, isSigned(o.Type))}, nil
}

func isSigned(t nn.OperandType) bool { return t != nn.TensorQuant8Asymm }

// maxExtent bounds heights, widths and depths: registers of 16 bits.
const maxExtent = 1 << 16

// emit adds work for the current operation.
func (l *lowering) emit(w work) error {
	w.op = l.op
	if w.kh == 0 {
		w.kh, w.kw = 1, 1
	}
	if w.sy == 0 {
		w.sy, w.sx = 1, 1
	}
	if w.dy == 0 {
		w.dy, w.dx = 1, 1
	}
	maps := []*ref{&w.ifm, &w.ofm}
	if w.ifm2 != nil {
		maps = append(maps, w.ifm2)
	}
	for _, f := range maps {
		if f.h < 1 || f.w < 1 || f.c < 1 || f.h > maxExtent || f.w > maxExtent || f.c > maxExtent {
			return fmt.Errorf("feature map of %dx%dx%d exceeds the 16-bit extents of the command set", f.h, f.w, f.c)
		}
	}
	w.block = chooseBlock(l.spec, &w)
	if w.block.d == 0 {
		return fmt.Errorf("no block of a %dx%d kernel fits %d KiB of SHRAM", w.kh, w.kw, l.spec.ShramBytes>>10)
	}
	l.list = append(l.list, w)
	return nil
}

// limits are the activation registers for an output type without activation.
func limits(signed bool) (lo, hi int) {
	if signed {
		return -128, 127
	}
	return 0, 255
}

// move copies or maps bytes: a 1x1 maximum with an optional table, which maps
// the byte b to table[b], and a clamp.
func (l *lowering) move(from, to ref, table *[256]byte, lo, hi int) error {
	w := work{kind: kindPool, mode: poolMax, ifm: from, ofm: to, lo: lo, hi: hi}
	w.ifm.signed = to.signed
	if table != nil {
		// The index is the value, from the least one of the type.
		w.table = make([]byte, 256)
		for i := range w.table {
			b := byte(i)
			if to.signed {
				b -= 128
			}
			w.table[i] = table[b]
		}
	}
	return l.emit(w)
}

// moveAll is move for n contiguous bytes.
func (l *lowering) moveAll(from, to ref, n int, table *[256]byte, lo, hi int) error {
	const row = 1024
	for at := 0; at < n; {
		rows, c := min((n-at)/row, maxExtent), row
		if rows == 0 {
			rows, c = 1, n-at
		}
		a := ref{from.value, dense(from.addr+at, 1, rows, c, 1, to.signed)}
		b := ref{to.value, dense(to.addr+at, 1, rows, c, 1, to.signed)}
		if err := l.move(a, b, table, lo, hi); err != nil {
			return err
		}
		at += rows * c
	}
	return nil
}

// alias is RESHAPE and SQUEEZE: the same bytes.
func (l *lowering) alias(op *nn.Operation) error {
	c, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	o, err := l.operand(c.Input)
	if err != nil {
		return err
	}
	if o.IsConst() { // folding made it one; its readers expect a value on chip
		n := int(o.Bytes())
		from, err := l.in(c.Input, 1, 1, n)
		if err != nil {
			return err
		}
		l.value[c.Output] = l.temporary(n)
		l.list = append(l.list, work{op: l.op, kind: kindCopy, ifm: from, ofm: ref{l.value[c.Output], dense(0, 1, 1, n, 1, false)}})
		return nil
	}
	l.value[c.Output] = l.value[c.Input]
	return nil
}

// doubleRound is the rounding of gemmlowp's multiplier.
const doubleRound = ethosu.RoundDouble

// hardware is a multiplier as scale and right shift.
func hardware(m opspec.Multiplier) (scale uint32, shift int, err error) {
	if shift = 31 - m.Shift; shift < 0 || shift > 63 {
		return 0, 0, fmt.Errorf("multiplier %d * 2^%d is out of the range of the output scale", m.M, m.Shift-31)
	}
	return uint32(m.M), shift, nil
}
