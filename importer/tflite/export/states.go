package export

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// positions appends the inputs of the operation from one position to before another: recurrent operators have most of
// theirs in the same order.
func (c *call) positions(from, to int) {
	for i := from; i < min(to, len(c.op.Inputs)); i++ {
		c.o.Inputs = append(c.o.Inputs, c.tensor(c.op.Inputs[i]))
	}
}

// state makes an input of the operation a variable tensor, whose next value is the output at an index (-1 for none): it
// must be an input of the model that nothing else reads, and the output, if the model has it, one that nothing else
// reads.
func (c *call) state(input, output int) int32 {
	x := c.op.Inputs[input]
	place := slices.Index(c.in.Inputs, x)
	if c.index > 0 || place < 0 {
		failf("its state, input %d, is no input of the model: the format keeps it in a variable", input)
	}
	if n := c.uses(x); n != 1 {
		failf("its state, input %d, has %d uses: the format keeps it in a variable", input, n)
	}
	next := uint32(0)
	if output >= 0 && output < len(c.op.Outputs) {
		if next = c.op.Outputs[output]; c.uses(next) != 0 {
			failf("output %d, the next state, has %d uses: the format keeps it in a variable", output, c.uses(next))
		}
		c.dropped[next] = true
	}
	for _, s := range c.model.States {
		if s.Input != place {
			continue
		}
		if output < 0 || s.Output >= len(c.in.Outputs) || c.in.Outputs[s.Output] != next {
			failf("its state, input %d, is updated by another value than the operation's", input)
		}
		if slices.ContainsFunc(s.Initial, func(b byte) bool { return b != 0 }) {
			failf("its state, input %d, does not begin as zeros", input)
		}
	}
	c.states[place] = true
	t := c.tensor(x)
	c.out.Tensors[t].Variable = true
	return t
}

// uses counts the operations' inputs that an operand is.
func (g *graph) uses(x uint32) (n int) {
	for i := range g.in.Operations {
		for _, y := range g.in.Operations[i].Inputs {
			if x == y {
				n++
			}
		}
	}
	return n
}

// only keeps one output.
func (c *call) only(output int) {
	for i, x := range c.op.Outputs {
		if i != output && !c.dropped[x] && (c.uses(x) > 0 || slices.Contains(c.in.Outputs, x)) {
			failf("output %d is used, the format does not have it", i)
		}
	}
	c.o.Outputs = []int32{c.tensor(c.op.Outputs[output])}
}

func lstm(c *call) {
	c.positions(0, 18)
	c.o.Inputs = append(c.o.Inputs, c.state(18, 1), c.state(19, 2))
	c.positions(23, 27) // of layer normalization
	c.only(3)
	c.cell("cell_clip", "proj_clip")
}

func (c *call) cell(clip, projection string) {
	c.activation()
	c.option("cell_clip", c.real(clip))
	c.option("proj_clip", c.real(projection))
}

func sequenceLSTM(c *call) {
	c.positions(0, 18)
	c.o.Inputs = append(c.o.Inputs, c.state(18, 1), c.state(19, 2))
	c.positions(24, 28)
	c.only(0)
	c.cell("cell_clip", "proj_clip")
	c.option("time_major", c.flag("time_major"))
}

func rnn(c *call) {
	c.positions(0, 4)
	c.o.Inputs = append(c.o.Inputs, c.state(4, 0))
	c.only(1)
	c.activation()
}

func sequenceRNN(c *call) {
	c.positions(0, 4)
	c.o.Inputs = append(c.o.Inputs, c.state(4, 1))
	c.only(0)
	c.activation()
	c.option("time_major", c.number("time_major") != 0)
}

func svdf(c *call) {
	c.positions(0, 4)
	c.o.Inputs = append(c.o.Inputs, c.state(4, 0))
	c.only(1)
	c.option("rank", c.number("rank"))
	if act := c.number("activation"); act != int32(nn.ActNone) {
		c.option("activation", act)
	}
}
