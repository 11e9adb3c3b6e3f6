package cache

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// smallConstant is the size up to which a constant may be a parameter that support
// queries, statistics or listings read.
const smallConstant = 1 << 10

// maxZeros bounds a constant that is left out.
const maxZeros = 1 << 31

// Subgraph appends a subgraph. Without weights, the values of large constants are left
// out: a Reader gives zeros for them. That is enough where a compiled program holds the
// weights in its own form.
func (w *Writer) Subgraph(g *nn.Subgraph, weights bool) { w.Coder().subgraph(g, weights) }

// Model appends a model. See Subgraph.
func (w *Writer) Model(m *nn.Model, weights bool) { w.Coder().model(m, weights) }

// Subgraph reads a subgraph. It may break every rule of a model.
func (r *Reader) Subgraph() (g nn.Subgraph) {
	r.Coder().subgraph(&g, false)
	return g
}

// Model reads a model. It may break every rule of one.
func (r *Reader) Model() *nn.Model {
	m := &nn.Model{}
	r.Coder().model(m, false)
	return m
}

func (c *Coder) model(m *nn.Model, weights bool) {
	c.String(&m.Name)
	c.bool(&m.Relaxed)
	List(c, &m.Extensions, func(e *nn.ExtensionPrefix) {
		c.String(&e.Name)
		Number(c, &e.Prefix, 0, math.MaxUint16)
	})
	c.subgraph(&m.Main, weights)
	List(c, &m.Referenced, func(g *nn.Subgraph) { c.subgraph(g, weights) })
	List(c, &m.States, func(s *nn.State) {
		for _, i := range []*int{&s.Input, &s.Output} {
			Number(c, i, math.MinInt32, math.MaxInt32)
			c.Check(*i >= 0, "a state of input or output %d", *i)
		}
		given := s.Initial != nil
		c.bool(&given)
		if c.Constants(&s.Initial); given && s.Initial == nil {
			s.Initial = []byte{}
		}
	})
}

func (c *Coder) subgraph(g *nn.Subgraph, weights bool) {
	c.String(&g.Name)
	List(c, &g.Operands, func(o *nn.Operand) { c.operand(o, weights) })
	List(c, &g.Operations, func(op *nn.Operation) {
		Number(c, &op.Type, math.MinInt32, math.MaxInt32)
		c.Uint32s(&op.Inputs)
		c.Uint32s(&op.Outputs)
	})
	c.Uint32s(&g.Inputs)
	c.Uint32s(&g.Outputs)
	c.Uint32s(&g.Consumers)
}

func (c *Coder) operand(o *nn.Operand, weights bool) {
	Number(c, &o.Type, math.MinInt32, math.MaxInt32)
	lifetime := o.Lifetime.HAL()
	if Number(c, &lifetime, math.MinInt32, math.MaxInt32); c.Reading() {
		o.Lifetime = nn.TemporaryVariable + nn.Lifetime(lifetime)
	}
	c.Uint32s(&o.Dimensions)
	c.float(&o.Scale)
	Number(c, &o.ZeroPoint, math.MinInt32, math.MaxInt32)
	perChannel := o.Channel != nil
	if c.bool(&perChannel); perChannel {
		if c.Reading() {
			o.Channel = &nn.ChannelQuant{}
		}
		Number(c, &o.Channel.Dim, 0, math.MaxUint32)
		List(c, &o.Channel.Scales, c.float)
	}
	if c.Bytes(&o.Extension); c.Reading() && len(o.Extension) == 0 {
		o.Extension = nil
	}
	c.String(&o.Name)
	stored := weights || len(o.Data) <= smallConstant
	if c.bool(&stored); stored {
		c.Constants(&o.Data)
		return
	}
	n := len(o.Data)
	if Number(c, &n, 0, maxZeros); c.Reading() {
		o.Data = c.r.zero(n)
	}
}

// zero returns n zeros, which constants that were left out share.
func (r *Reader) zero(n int) []byte {
	if len(r.zeros) < n {
		r.zeros = make([]byte, n)
	}
	return r.zeros[:n:n]
}
