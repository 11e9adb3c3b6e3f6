package cache

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// smallConstant is the size up to which a constant may be a parameter that support
// queries, statistics or listings read.
const smallConstant = 1 << 10

// Subgraph appends a subgraph. Without weights, the values of large constants are left
// out: a Reader gives zeros for them. That is enough where a compiled program holds the
// weights in its own form.
func (w *Writer) Subgraph(g *nn.Subgraph, weights bool) {
	w.String(g.Name)
	w.Uint(uint64(len(g.Operands)))
	for i := range g.Operands {
		w.operand(&g.Operands[i], weights)
	}
	w.Uint(uint64(len(g.Operations)))
	for i := range g.Operations {
		op := &g.Operations[i]
		w.Int(int64(op.Type))
		w.Uint32s(op.Inputs)
		w.Uint32s(op.Outputs)
	}
	w.Uint32s(g.Inputs)
	w.Uint32s(g.Outputs)
	w.Uint32s(g.Consumers)
}

func (w *Writer) operand(o *nn.Operand, weights bool) {
	w.Int(int64(o.Type))
	w.Int(int64(o.Lifetime.HAL()))
	w.Uint32s(o.Dimensions)
	w.Float(o.Scale)
	w.Int(int64(o.ZeroPoint))
	w.Bool(o.Channel != nil)
	if o.Channel != nil {
		w.Uint(uint64(o.Channel.Dim))
		w.Uint(uint64(len(o.Channel.Scales)))
		for _, s := range o.Channel.Scales {
			w.Float(s)
		}
	}
	w.Bytes(o.Extension)
	w.String(o.Name)
	stored := weights || len(o.Data) <= smallConstant
	w.Bool(stored)
	if stored {
		w.Constants(o.Data)
	} else {
		w.Uint(uint64(len(o.Data)))
	}
}

// Model appends a model. See Subgraph.
func (w *Writer) Model(m *nn.Model, weights bool) {
	w.String(m.Name)
	w.Bool(m.Relaxed)
	w.Uint(uint64(len(m.Extensions)))
	for _, e := range m.Extensions {
		w.String(e.Name)
		w.Uint(uint64(e.Prefix))
	}
	w.Subgraph(&m.Main, weights)
	w.Uint(uint64(len(m.Referenced)))
	for i := range m.Referenced {
		w.Subgraph(&m.Referenced[i], weights)
	}
	w.Uint(uint64(len(m.States)))
	for i := range m.States {
		s := &m.States[i]
		w.Int(int64(s.Input))
		w.Int(int64(s.Output))
		w.Bool(s.Initial != nil)
		w.Constants(s.Initial)
	}
}

// Subgraph reads a subgraph. It may break every rule of a model.
func (r *Reader) Subgraph() nn.Subgraph {
	g := nn.Subgraph{Name: r.String()}
	g.Operands = make([]nn.Operand, r.Count())
	for i := range g.Operands {
		r.operand(&g.Operands[i])
	}
	g.Operations = make([]nn.Operation, r.Count())
	for i := range g.Operations {
		g.Operations[i] = nn.Operation{Type: nn.OperationType(r.IntIn(math.MinInt32, math.MaxInt32)), Inputs: r.Uint32s(), Outputs: r.Uint32s()}
	}
	g.Inputs, g.Outputs, g.Consumers = r.Uint32s(), r.Uint32s(), r.Uint32s()
	return g
}

func (r *Reader) operand(o *nn.Operand) {
	o.Type = nn.OperandType(r.IntIn(math.MinInt32, math.MaxInt32))
	o.Lifetime = nn.TemporaryVariable + nn.Lifetime(r.IntIn(math.MinInt32, math.MaxInt32))
	o.Dimensions = r.Uint32s()
	o.Scale = r.Float()
	o.ZeroPoint = int32(r.IntIn(math.MinInt32, math.MaxInt32))
	if r.Bool() {
		o.Channel = &nn.ChannelQuant{Dim: uint32(r.IntUpTo(math.MaxUint32)), Scales: make([]float32, r.Count())}
		for i := range o.Channel.Scales {
			o.Channel.Scales[i] = r.Float()
		}
	}
	if b := r.Bytes(); len(b) > 0 {
		o.Extension = b
	}
	o.Name = r.String()
	if r.Bool() {
		o.Data = r.Constants()
		return
	}
	n := r.IntUpTo(maxZeros)
	if len(r.zeros) < n {
		r.zeros = make([]byte, n)
	}
	o.Data = r.zeros[:n:n]
}

// maxZeros bounds a constant that is left out.
const maxZeros = 1 << 31

// IntUpTo reads an unsigned number of at most hi.
func (r *Reader) IntUpTo(hi int64) int {
	v := r.Uint()
	if v > uint64(hi) {
		r.Fail("%d is more than %d", v, hi)
		return 0
	}
	return int(v)
}

// Model reads a model. It may break every rule of one.
func (r *Reader) Model() *nn.Model {
	m := &nn.Model{Name: r.String(), Relaxed: r.Bool()}
	for range r.Count() {
		m.Extensions = append(m.Extensions, nn.ExtensionPrefix{Name: r.String(), Prefix: uint16(r.IntUpTo(math.MaxUint16))})
	}
	m.Main = r.Subgraph()
	if n := r.Count(); n > 0 {
		m.Referenced = make([]nn.Subgraph, n)
	}
	for i := range m.Referenced {
		m.Referenced[i] = r.Subgraph()
	}
	for range r.Count() {
		s := nn.State{Input: r.IntIn(0, math.MaxInt32), Output: r.IntIn(0, math.MaxInt32)}
		given := r.Bool()
		if s.Initial = r.Constants(); s.Initial == nil && given {
			s.Initial = []byte{}
		}
		m.States = append(m.States, s)
	}
	return m
}
