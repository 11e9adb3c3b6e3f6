package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// The address map of a prepared model.
const (
	codeBase  = 0x00100000
	constBase = 0x10000000
	arenaBase = 0x40000000
	maxArena  = 1 << 28 // bytes of activations that a model may need
	maxConst  = 1 << 28 // bytes of packed weights and tables
	// maxPositions bounds a tensor, because tables have an entry per position.
	maxPositions = 1 << 22
	maxPadding   = 1 << 12      // rows or columns around an image
	maxDepth     = 1 << 22      // inputs of one output of a convolution
	endGuard     = hvx.EndGuard // mapped bytes around the arena and behind the constants
)

// lowering turns a graph into steps.
type lowering struct {
	*object
	graph   *graph.Graph
	view    opspec.View
	list    lowered
	op      int             // of the model, being lowered
	values  []*tensor       // of each operand, nil while it has none
	flats   []*tensor       // of each operand in flat form
	clients []*tensor       // of each model input: the bytes of the client
	narrow  map[uint32]bool // operands asked about, see takenNarrow; nil where only support is asked about
}

// final reports whether what is lowered will run; otherwise only whether operations are
// supported is asked.
func (l *lowering) final() bool { return l.narrow != nil }

// lowerGraph makes the steps of a graph whose shapes and parameters are known.
func lowerGraph(g *graph.Graph, o *object) (*lowered, error) {
	l := &lowering{object: o, list: lowered{object: o}, graph: g, view: opspec.FinalView(&g.Subgraph), narrow: map[uint32]bool{}}
	l.forget()
	for _, i := range g.Inputs {
		// A parameter that an execution has brought, or an operand it left out.
		if o := &g.Operands[i]; o.IsConst() || o.Lifetime == nn.NoValue {
			l.list.inputs = append(l.list.inputs, nil)
			continue
		}
		d := l.denseTensor(i)
		d.keep = true
		l.list.inputs = append(l.list.inputs, d)
		l.clients[i] = d
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		l.op = g.Origin[i]
		if l.empty(op) {
			for _, x := range op.Outputs {
				l.flatResult(x)
			}
			continue
		}
		if err := lowerings[op.Type](l, op); err != nil {
			return nil, fmt.Errorf("operation %d: %w", l.op, err)
		}
	}
	uses := g.Uses()
	for _, i := range g.Outputs {
		if l.values[i] == nil && l.flats[i] == nil && l.clients[i] == nil {
			return nil, fmt.Errorf("output operand %d has no value", i)
		}
		if l.op = 0; len(g.Origin) > 0 {
			l.op = g.Origin[len(g.Origin)-1]
		}
		if k := uses.Producer(i); k >= 0 {
			l.op = g.Origin[k]
		}
		if f := l.flats[i]; f != nil || l.values[i] == nil {
			f, err := l.flat(i)
			if err != nil {
				return nil, fmt.Errorf("output operand %d: %w", i, err)
			}
			d := l.flatOutput(i, f)
			d.keep = true
			l.list.outputs = append(l.list.outputs, d)
			continue
		}
		d := l.values[i]
		if !d.clientForm(g.Operands[i].Type) || d.keep {
			d = l.denseTensor(i)
			l.copyTensor(d, l.values[i])
		}
		d.keep = true
		l.list.outputs = append(l.list.outputs, d)
	}
	return &l.list, nil
}

// empty reports whether an operation has nothing to compute.
func (l *lowering) empty(op *nn.Operation) bool {
	if l.graph.OpenShape(op.Type) {
		return false
	}
	for _, x := range op.Outputs {
		if o := &l.graph.Operands[x]; o.Type.IsScalar() || len(o.Dimensions) == 0 || o.Elements() != 0 {
			return false
		}
	}
	return true
}

// forget drops the tensors of all operands.
func (l *lowering) forget() {
	n := len(l.graph.Operands)
	l.values, l.flats, l.clients = make([]*tensor, n), make([]*tensor, n), make([]*tensor, n)
}

// newTensor makes an internal tensor; pitch 0 is the usual one.
func (l *lowering) newTensor(name string, s shape, pitch int, zero int32) *tensor {
	if pitch == 0 {
		pitch = s.pitch()
	}
	t := &tensor{name: name, shape: s, pitch: pitch, zero: byte(zero)}
	l.list.tensors = append(l.list.tensors, t)
	return t
}

// denseTensor is an operand as the client sees it.
func (l *lowering) denseTensor(i uint32) *tensor {
	o := &l.graph.Operands[i]
	s := shapeOf(o.Dimensions)
	s.c *= o.Type.ElementBytes()
	t := l.newTensor(fmt.Sprintf("operand %d", i), s, 1, 0)
	t.dense = true
	t.signed = signedBytes(o.Type)
	return t
}

// result makes the tensor of an operation's output.
func (l *lowering) result(i uint32, pitch int) *tensor {
	o := &l.graph.Operands[i]
	t := l.newTensor(fmt.Sprintf("operand %d", i), shapeOf(o.Dimensions), pitch, zeroOf(o))
	l.values[i] = t
	return t
}

// importValue makes the internal form of a dense value. Tensors that only
// convolutions read get the small pitch.
func (l *lowering) importValue(i uint32, dense *tensor) {
	o := &l.graph.Operands[i]
	s := shapeOf(o.Dimensions)
	if dense.keep && s.c%vecBytes == 0 && o.Type == nn.TensorQuant8Asymm && l.staysPlain(i) { // clientForm
		l.result(i, s.c).keep = true
		dense.unplaced, dense.keep = true, false
		return
	}
	pitch := s.pitch()
	if l.onlyConv(i) || l.takenNarrow(i) {
		pitch = s.smallPitch()
	}
	l.copyTensor(l.result(i, pitch), dense)
}

// staysPlain reports whether all readers of operand i leave its tensor as it is:
// none asks for a halo or passes it on under another name.
func (l *lowering) staysPlain(i uint32) bool {
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for _, in := range op.Inputs {
			if in != i {
				continue
			}
			switch op.Type {
			case nn.OpFullyConnected, nn.OpSoftmax, nn.OpAdd, nn.OpMul, nn.OpConcatenation, nn.OpLogistic,
				nn.OpRelu, nn.OpRelu1, nn.OpRelu6, nn.OpAveragePool2D, nn.OpMaxPool2D, nn.OpMean:
			default:
				return false
			}
		}
	}
	return true
}

// onlyConv reports whether nothing but convolutions read operand i, directly or
// through a few operations that work on any pitch.
func (l *lowering) onlyConv(i uint32) bool { return l.reachesOnlyConv(i, 4) }

func (l *lowering) reachesOnlyConv(i uint32, steps int) bool {
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for n, in := range op.Inputs {
			if in != i {
				continue
			}
			switch op.Type {
			case nn.OpConv2D:
				if n != 0 {
					return false
				}
			case nn.OpDequantize, nn.OpQuantize, nn.OpRequantize, nn.OpLogistic:
				if len(op.Outputs) != 1 || steps == 0 || !l.reachesOnlyConv(op.Outputs[0], steps-1) {
					return false
				}
			default:
				return false
			}
		}
	}
	for _, o := range l.graph.Outputs {
		if o == i {
			return false
		}
	}
	return true
}

// value is the internal tensor of an operand; inputs and constants are imported
// on first use, by the program itself.
func (l *lowering) value(i uint32) (*tensor, error) {
	if t := l.values[i]; t != nil {
		return t, nil
	}
	o := &l.graph.Operands[i]
	if f := l.flats[i]; f != nil && o.Type.IsQuant8() {
		return l.fromFlat(i, f), nil
	}
	if c := l.clients[i]; c != nil && o.Type.IsQuant8() {
		l.importValue(i, c)
		if l.values[i].keep { // it is the client's value itself
			l.clients[i] = nil
			for k := range l.list.inputs {
				if l.list.inputs[k] == c {
					l.list.inputs[k] = l.values[i]
				}
			}
		}
		return l.values[i], nil
	}
	if !o.IsConst() || !o.Type.IsQuant8() {
		return nil, fmt.Errorf("operand %d (%s, %s) has no value", i, o.Type, o.Lifetime)
	}
	d := l.denseTensor(i)
	d.unplaced = true
	d.addr = l.constant(o.Data)
	l.importValue(i, d)
	return l.values[i], nil
}

// openOutput makes the tensor of an output with the given shape of which only
// as many entries along dimension 0 count as the word in count says when the
// program has run.
func (l *lowering) openOutput(x uint32, dims []uint32, count *tensor) *tensor {
	l.graph.Operands[x].Dimensions = dims
	if l.list.extents == nil {
		l.list.extents = map[uint32]*tensor{}
	}
	count.keep = true
	l.list.extents[x] = count
	return l.flatResult(x)
}

// addStep appends a step of the current operation.
func (l *lowering) addStep(name string, reads, writes []*tensor, w work) {
	l.list.steps = append(l.list.steps, newStep(l.op, name, reads, writes, w))
}

// addRows appends a step of the current operation that can be done row by row.
func (l *lowering) addRows(name string, reads, writes []*tensor, rows rowDependence, w work) {
	l.list.steps = append(l.list.steps, newRows(l.op, name, reads, writes, rows, w))
}
