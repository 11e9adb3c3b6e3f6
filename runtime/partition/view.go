package partition

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Lies says that an operand is a run of bytes of another.
type Lies struct {
	Operand, In uint32
	Offset      int64 // in bytes
}

// View returns where operands of an operation lie in the memory of others if the runtime can do it without moving a byte: a
// CONCATENATION whose inputs follow one another in its output, or a SLICE whose output is a run of its input. why is
// the reason if it cannot.
//
//	CONCATENATION of [1,5,14,8] and [1,9,14,8] along axis 1: its inputs are rows 0-4 and 5-13 of its output
//	SLICE of rows 0-5 of [1,14,14,8]: its output is the first 6 x 14 x 8 elements of its input
func View(g *nn.Subgraph, operation int) (list []Lies, why string) {
	op := &g.Operations[operation]
	switch op.Type {
	case nn.OpConcatenation:
		c, err := opspec.Read[opspec.Concat](opspec.ModelView(g), op)
		switch {
		case err != nil:
			return nil, err.Error()
		case c.Outer != 1:
			return nil, fmt.Sprintf("%d runs of each input alternate in its output", c.Outer)
		}
		var at int64
		for _, x := range c.Inputs {
			if !written(g, x) || !alike(g, x, c.Output) {
				return nil, "an input is no temporary of its output's type and quantization"
			}
			list = append(list, Lies{x, c.Output, at})
			at += g.Operands[x].Bytes()
		}
	case nn.OpSlice:
		s, err := opspec.Read[opspec.Strided](opspec.ModelView(g), op)
		switch o := &g.Operands[s.Input]; {
		case err != nil:
			return nil, err.Error()
		case !runs(s.In, s.Dims):
			return nil, fmt.Sprintf("%v of %v is not one run", s.Dims, s.In)
		case o.IsConst() || !written(g, s.Output) || !alike(g, s.Output, s.Input):
			return nil, "its output is no temporary of its input's type and quantization"
		}
		list = []Lies{{s.Output, s.Input, int64(s.Offset) * int64(g.Operands[s.Input].Type.ElementBytes())}}
	default:
		return nil, "it is no CONCATENATION or SLICE"
	}
	return list, ""
}

// written reports whether an operand is a temporary of a known shape.
func written(g *nn.Subgraph, x uint32) bool {
	return g.Operands[x].Lifetime == nn.TemporaryVariable && g.Operands[x].Known()
}

// alike reports whether elements of two operands have the same meaning.
func alike(g *nn.Subgraph, x, y uint32) bool {
	a, b := &g.Operands[x], &g.Operands[y]
	return a.Type == b.Type && a.Scale == b.Scale && a.ZeroPoint == b.ZeroPoint && b.Known()
}

// runs reports whether a part of a tensor lies in one run of its memory: all dimensions after the first of several elements are
// whole.
func runs(whole, part []uint32) bool {
	first := 0
	for first < len(part) && part[first] == 1 {
		first++
	}
	for k := first + 1; k < len(part); k++ {
		if part[k] != whole[k] {
			return false
		}
	}
	return true
}

// views reports whether the runtime does an operation without moving a byte.
func (p *Problem) views(op int) bool {
	if p.Model == nil {
		return false
	}
	_, why := View(&p.Model.Main, op)
	return why == ""
}
