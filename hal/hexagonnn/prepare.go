package hexagonnn

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// lowering converts a graph to a model.
type lowering struct {
	graph  *Graph
	rules  map[string]rule
	b      *builder.Builder
	origin []*node // of each operation of the model
	inputs []tensorSpec
	outs   []outSpec
	ended  bool // an OUTPUT node was there
}

// tensorSpec is a tensor that an execution brings.
type tensorSpec struct {
	dims  [4]uint32
	bytes int
}

// outSpec is a tensor that an execution returns: an output of the model, or an end of a
// range, which is known.
type outSpec struct {
	known bool
	real  float32
	bytes int // of an output of the model
}

// Prepare is hexagon_nn_prepare: it makes the graph a program of the device. The graph
// accepts no more nodes afterwards.
func (g *Graph) Prepare() error {
	return g.call("Prepare", func() error {
		if g.executable != nil {
			return fmt.Errorf("the graph is prepared")
		}
		l := &lowering{graph: g, rules: newRules(), b: builder.New(builder.Config{})}
		for _, n := range g.order {
			if n.values, n.operations = nil, 0; n.op == opConst {
				continue
			}
			if err := l.node(n); err != nil {
				return fmt.Errorf("node %#x (%s): %w", n.id, n.op, err)
			}
		}
		if !l.ended {
			return fmt.Errorf("no OUTPUT node")
		}
		m, err := l.b.Model("hexagon_nn graph")
		if err != nil {
			return err
		}
		p, err := g.library.device.PrepareModel(m, hal.PrepareOptions{Preference: g.library.preference(), Priority: hal.PriorityMedium})
		if err != nil {
			return err
		}
		for _, n := range l.origin {
			n.operations++
		}
		g.executable = &executable{prepared: p, origin: l.origin, inputs: l.inputs, outputs: l.outs}
		g.logf(1, "prepared: %d nodes, %d operations", len(g.order), len(l.origin))
		return nil
	})
}

// node lowers one node that is no constant.
func (l *lowering) node(n *node) error {
	r, ok := l.rules[n.op.base()]
	if !ok {
		return fmt.Errorf("the operation has no form in NNAPI here")
	}
	if len(n.inputs) < r.least || len(n.inputs) > r.most {
		return fmt.Errorf("%d inputs, want %d to %d", len(n.inputs), r.least, r.most)
	}
	a := &args{l: l, n: n, ranges: r.ranges}
	var values []value
	err := attempt(func() { values = r.lower(a) })
	if err == nil {
		err = l.b.Err()
	}
	if err != nil {
		return err
	}
	if len(n.outputs) > len(values) {
		return fmt.Errorf("%d outputs, the operation has %d", len(n.outputs), len(values))
	}
	for i := range values {
		need, room := l.bytes(&values[i]), uint64(maxBytes)
		if i < len(n.outputs) {
			room = n.outputs[i].bytes()
		}
		if need > room {
			return fmt.Errorf("output %d needs %d bytes, declared are %d", i, need, room)
		}
	}
	n.values = values
	return nil
}

// bytes is the size of a value in the library's form; for a tensor without elements, or
// with too many, it exceeds any declared size.
func (l *lowering) bytes(v *value) uint64 {
	switch v.kind {
	case valueTensor:
		n := elements(aligned(l.b.Dims(v.tensor)))
		switch {
		case n == 0:
			return math.MaxUint64
		case v.quant.Scale != 0:
			return n
		}
		return 4 * n
	case valueReal:
		return 4
	}
	return 0
}

// apply adds an operation with one output on behalf of a node.
func (l *lowering) apply(n *node, op nn.OperationType, typ nn.OperandType, q builder.Quant, inputs ...builder.Tensor) builder.Tensor {
	l.origin = append(l.origin, n)
	return l.b.Apply(op, typ, q, inputs...)
}

// finish makes the operation that sums belong to; q is the quantization of its output,
// the zero value for floats.
func (l *lowering) finish(s *sums, q builder.Quant) builder.Tensor {
	if s.made != nil {
		return *s.made
	}
	in := append([]builder.Tensor(nil), s.inputs...)
	if s.units > 0 {
		if s.bias == nil {
			t := l.zeroBias(s)
			s.bias = &t
		}
		in = append(in, *s.bias)
	}
	in = append(append(in, s.options...), l.b.Int32(int32(nn.ActNone)))
	if q.Scale != 0 {
		return l.apply(s.node, s.op, nn.TensorQuant8Asymm, q, in...)
	}
	t := l.apply(s.node, s.op, nn.TensorFloat32, q, in...)
	s.made = &t
	return t
}

// zeroBias is the bias of an operation that no node adds one to.
func (l *lowering) zeroBias(s *sums) builder.Tensor {
	data := make([]byte, 4*s.units)
	if s.scale == 0 {
		return l.b.Constant("", nn.TensorFloat32, builder.Quant{}, data, uint32(s.units))
	}
	return l.b.Constant("", nn.TensorInt32, builder.Quant{Scale: float32(s.scale)}, data, uint32(s.units))
}
