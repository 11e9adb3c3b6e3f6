package randgraph

import "github.com/nnsoc/nnsoc/nn"

// axes draws at least one axis, some twice or counted from the back.
func (g *gen) axes(rank int) []int {
	list := []int{g.axis(rank)}
	for len(list) < rank+1 && g.chance(40) {
		list = append(list, g.axis(rank))
	}
	return list
}

func makeReduce(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	in := []uint32{x, g.vector(g.axes(len(g.at(x).Dimensions))...)}
	if op == nn.OpMean {
		in = append(in, g.int32(g.choose(2)))
	} else {
		in = append(in, g.bool(g.chance(50)))
	}
	return g.finish(op, in, g.out(op, k, x))
}

func makeArg(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	return g.finish(op, []uint32{x, g.int32(g.axis(len(g.at(x).Dimensions)))}, nn.Operand{Type: nn.TensorInt32})
}

func makeL2Norm(g *gen, op nn.OperationType, k nn.OperandType) bool {
	axis := g.chance(50)
	lo := 4
	if axis {
		lo = 1
	}
	x := g.tensor(k, lo, 4, filler{})
	in := []uint32{x}
	if axis {
		in = append(in, g.int32(g.axis(len(g.at(x).Dimensions))))
	}
	return g.finish(op, in, g.out(op, k, x))
}

func makeLRN(g *gen, op nn.OperationType, k nn.OperandType) bool {
	axis := g.chance(50)
	lo := 4
	if axis {
		lo = 1
	}
	x := g.tensor(k, lo, 4, filler{finite: true})
	in := []uint32{x, g.int32(1 + g.choose(5)), g.float(k, g.real(1, 10)), g.float(k, g.real(0, 1)), g.float(k, g.real(0, 1))}
	if axis {
		in = append(in, g.int32(g.axis(len(g.at(x).Dimensions))))
	}
	return g.finish(op, in, nn.Operand{Type: k})
}

func makeInstanceNorm(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	return g.finish(op, []uint32{x, g.float(k, g.real(1, 10)), g.float(k, g.real(0, 10)), g.float(k, g.real(0.01, 1)), g.bool(nchw)},
		nn.Operand{Type: k})
}
