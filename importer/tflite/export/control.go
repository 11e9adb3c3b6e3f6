package export

import (
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// callee is the number of the subgraph in the file that an operand refers to.
func (c *call) callee(x uint32) int {
	o := &c.in.Operands[x]
	k, ok := o.Subgraph()
	if !ok || int(k) >= len(c.model.Referenced) {
		failf("operand %d refers to no subgraph", x)
	}
	return 1 + int(k)
}

func ifOperation(c *call) {
	f := try.V(opspec.Read[opspec.If](c.view, c.op))
	c.o.Inputs = append(c.o.Inputs, c.tensor(f.Condition))
	for _, x := range f.Inputs {
		c.o.Inputs = append(c.o.Inputs, c.tensor(x))
	}
	c.option("then", c.callee(f.Then))
	c.option("else", c.callee(f.Else))
}

// whileOperation carries every value through the loop, as the operator does: the body passes on those that NNAPI's only
// reads, and the loop returns the values that NNAPI's keeps to itself.
func whileOperation(c *call) {
	w := try.V(opspec.Read[opspec.While](c.view, c.op))
	c.option("condition", c.callee(w.Condition))
	c.option("body", c.callee(w.Body))
	for _, x := range w.Inputs {
		c.o.Inputs = append(c.o.Inputs, c.tensor(x))
	}
	for i := len(w.Outputs); i < len(w.Inputs); i++ {
		from := c.out.Tensors[c.o.Inputs[i]]
		c.o.Outputs = append(c.o.Outputs, c.like(c.o.Inputs[i], from.Name+"/after", from.Shape, nil))
	}
}

// carry ends the body of a loop with the inputs that it only reads.
func (g *graph) carry() {
	n := len(g.in.Outputs)
	if n > len(g.in.Inputs) {
		failf("the body of a loop has %d inputs and %d outputs", len(g.in.Inputs), n)
	}
	for _, x := range g.in.Inputs[n:] {
		g.out.Outputs = append(g.out.Outputs, g.tensor(x))
	}
}

// bodies are the referenced subgraphs that are bodies of loops, by their number
// in the file. One that is also a branch of an IF or a condition cannot be both.
func bodies(m *nn.Model) map[int]bool {
	body, other := map[int]bool{}, map[int]bool{}
	for g := range m.Subgraphs() {
		for i := range g.Operations {
			op := &g.Operations[i]
			for k, x := range op.Inputs {
				if int(x) >= len(g.Operands) {
					continue
				}
				if at, ok := g.Operands[x].Subgraph(); ok {
					if op.Type == nn.OpWhile && k == 1 {
						body[1+int(at)] = true
					} else {
						other[1+int(at)] = true
					}
				}
			}
		}
	}
	for at := range body {
		if other[at] {
			failf("subgraph %d is both the body of a loop and a branch or a condition", at)
		}
	}
	return body
}
