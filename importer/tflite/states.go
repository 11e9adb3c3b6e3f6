package tflite

import (
	"bytes"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// state is a variable tensor of the main subgraph: an input, and the output
// that holds its next value.
type state struct {
	tensor  int    // in the file, -1 for a resource variable
	name    string // of the resource variable
	input   uint32
	initial []byte
}

// variable is a resource variable, which all subgraphs share.
type variable struct {
	initial *nn.Operand // assigned by CALL_ONCE, nil without
	shape   []uint32    // of it, in the file's terms
	value   uint32      // in the main subgraph, none before its first use
}

// openState makes the variable tensor t an input of the network.
func (g *graph) openState(t int) uint32 {
	if g.index != g.im.entry || g.im.depth > 0 {
		g.Refusef("tensor %q is a state of an inner subgraph", g.tensors[t].Text("name"))
	}
	o, shape := g.template(t), g.fileShape(t)
	if nn.Elements(shape) == 0 {
		g.Failf("the state %q has the shape %v", o.Name, shape)
	}
	g.input(t, o, shape)
	s := state{tensor: t, input: g.value[t]}
	if o.Type == nn.TensorQuant8AsymmSigned && o.ZeroPoint != 0 { // the value of 0
		s.initial = bytes.Repeat([]byte{byte(o.ZeroPoint)}, int(g.Operand(s.input).Bytes()))
	}
	g.states = append(g.states, s)
	return s.input
}

// next sets the next value of the variable tensor of input k.
func (c *conversion) next(k int, x uint32) {
	t := c.inTensors[k]
	if !c.tensors[t].Bool("is_variable") {
		return // an input of the network, which the caller feeds
	}
	if c.Operand(x).Type != nn.TensorQuant16Symm { // which only an LSTM produces, for itself
		x = c.To(x, c.template(t))
	}
	c.value[t] = x
}

// readStates makes the next values of states outputs of the network. A state
// that no operator writes is a constant.
func (g *graph) readStates() {
	for _, s := range g.states {
		x := none
		if s.tensor >= 0 {
			x = g.value[s.tensor]
		} else {
			x = g.im.variables[s.name].value
		}
		position := -1
		for i, in := range g.Sub.Inputs {
			if in == s.input {
				position = i
			}
		}
		if x == s.input {
			o := g.Operand(s.input)
			if o.Lifetime, o.Data = nn.ConstantCopy, s.initial; o.Data == nil {
				o.Data = make([]byte, o.Bytes())
			}
			g.Sub.Inputs = append(g.Sub.Inputs[:position], g.Sub.Inputs[position+1:]...)
			continue
		}
		g.im.model.States = append(g.im.model.States, nn.State{Input: position, Output: len(g.Sub.Outputs), Initial: s.initial})
		g.Output(x)
	}
	// Positions count the remaining inputs.
	for i := range g.im.model.States {
		m := &g.im.model.States[i]
		m.Input = len(g.Sub.Inputs) - len(g.im.model.States) + i
	}
}

// variable returns the resource variable that input k refers to, and its name.
func (c *conversion) variable(k int) (string, *variable) {
	if k >= len(c.inTensors) || c.inTensors[k] < 0 {
		c.Failf("input %d is missing", k)
	}
	name, ok := c.handles[c.inTensors[k]]
	if !ok {
		c.Refusef("input %d is a resource from outside its subgraph", k)
	}
	return name, c.im.variables[name]
}

// varHandle names a variable.
func varHandle(c *conversion) {
	name := c.options.Text("container") + "/" + c.options.Text("shared_name")
	if c.im.variables[name] == nil {
		c.im.variables[name] = &variable{value: none}
	}
	c.handles[c.outTensors[0]] = name
	c.defined++
}

// readVariable is the variable's present value: the last assigned one, or the state at the start of the invocation.
func readVariable(c *conversion) {
	name, v := c.variable(0)
	if c.im.depth > 0 {
		c.Refusef("variable %q is read in an inner subgraph", name)
	}
	if v.value == none {
		c.openVariable(name, v, c.out(0), c.fileShape(c.outTensors[0]))
	}
	c.define(0, v.value)
}

// openVariable makes a variable an input of the network.
func (g *graph) openVariable(name string, v *variable, o nn.Operand, shape []uint32) {
	s := state{tensor: -1, name: name}
	if v.initial != nil {
		o, shape, s.initial = *v.initial, v.shape, v.initial.Data
		o.Data = nil
	}
	o.Name = name
	o.Lifetime, o.Dimensions = nn.SubgraphInput, lowering.Held(shape)
	if !o.Known() || o.Bytes() < 0 {
		g.Failf("the variable %q has the shape %v", name, shape)
	}
	g.Spend(o.Bytes())
	s.input = g.Add(o)
	g.SetShape(s.input, shape)
	g.Sub.Inputs = append(g.Sub.Inputs, s.input)
	v.value = s.input
	g.states = append(g.states, s)
}

// assignVariable of a constant in an initial subgraph is the variable's value
// of the first invocation, else its value from here on.
func assignVariable(c *conversion) {
	name, v := c.variable(0)
	x := c.x(1)
	switch {
	case c.initial:
		if !c.IsConst(x) {
			c.Refusef("the first value of variable %q is no constant", name)
		}
		o := *c.Operand(x)
		v.initial, v.shape = &o, c.Dims(x)
	case c.im.depth > 0:
		c.Refusef("variable %q is assigned in an inner subgraph", name)
	default:
		if v.value == none { // assigned before it is read: still a state for its readers elsewhere
			c.openVariable(name, v, *c.Operand(x), c.Dims(x))
		}
		v.value = x
	}
}
