package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Tensors without elements: an operand of NNAPI has no dimension of 0 elements, which says that an execution decides it.
// Those that an import knows are constants without data, whose shape is in Graph.Shape. What follows from them is known
// as well: another one, or an operation on a constant without data, which the reference takes during an execution.

// Empty is a tensor without elements of a shape, like o.
func (g *Graph) Empty(o nn.Operand, shape []uint32) uint32 {
	if nn.Elements(shape) != 0 {
		g.Failf("shape %v for no elements", shape)
	}
	o.Name, o.Lifetime, o.Data, o.Channel, o.Dimensions = "", nn.ConstantCopy, []byte{}, nil, slices.Clone(Held(shape))
	x := g.Add(o)
	g.Shape[x] = slices.Clone(shape)
	return x
}

// IsEmpty reports whether x is known to have no elements.
func (g *Graph) IsEmpty(x uint32) bool {
	return g.IsConst(x) && len(g.Operand(x).Data) == 0 && !g.Operand(x).Type.IsScalar()
}

// shapesFinal reports whether some operands have no elements and the shapes of all are known.
func (g *Graph) shapesFinal(in []uint32) bool {
	open := func(x uint32) bool {
		o := g.Operand(x)
		return !o.Type.IsScalar() && o.Lifetime != nn.NoValue && !g.ShapeKnown(x)
	}
	return slices.ContainsFunc(in, g.IsEmpty) && !slices.ContainsFunc(in, open)
}

// allEmpty makes the outputs of an operation tensors without elements where all of them are; false where they are not.
func (g *Graph) allEmpty(outputs []uint32) bool {
	for _, x := range outputs {
		if o := g.Operand(x); nn.Elements(o.Dimensions) != 0 || len(o.Dimensions) == 0 {
			return false
		}
	}
	for _, x := range outputs {
		o := g.Operand(x)
		o.Lifetime, o.Data = nn.ConstantCopy, []byte{}
		g.Shape[x] = o.Dimensions
	}
	return true
}
