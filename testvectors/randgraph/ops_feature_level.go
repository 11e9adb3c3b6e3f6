package randgraph

import "github.com/nnsoc/nnsoc/nn"

// Operations of the feature levels above HAL 1.3. CTS has no signatures for
// them; these follow the same rules.

func makeBatchMatmul(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 2, 4, filler{})
	d := g.at(x).Dimensions
	at := len(d) - 2
	adjX, adjY := g.chance(30), g.chance(30)
	depth := d[at+1]
	if adjX {
		depth = d[at]
	}
	e := append(append([]uint32(nil), d[:at]...), depth, uint32(g.dim()))
	if adjY {
		e[at], e[at+1] = e[at+1], e[at]
	}
	if nn.Elements(e) > maxElements {
		return false
	}
	y := g.like(k, e, filler{})
	o := g.out(op, k, x)
	if k.IsQuant8() {
		o.Scale = g.at(x).Scale * g.at(y).Scale * float32(g.real(1, 5)) * float32(pick(g.source, 60, 1, 400))
	}
	return g.finish(op, []uint32{x, y, g.bool(adjX), g.bool(adjY)}, o)
}

func makePack(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 3, filler{})
	o := *g.at(x)
	in := []uint32{g.int32(g.choose(len(o.Dimensions) + 1)), x}
	for range g.choose(4) {
		n := o
		n.Dimensions = append([]uint32(nil), o.Dimensions...)
		in = append(in, g.value(n, filler{}))
	}
	return g.finish(op, in, nn.Operand{Type: k, Scale: o.Scale, ZeroPoint: o.ZeroPoint})
}

func makeMirrorPad(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	d := g.at(x).Dimensions
	mode := g.choose(2) // 0 does not repeat the edge
	var pads []int
	for _, n := range d {
		most := min(int(n)+mode, 5)
		pads = append(pads, g.choose(most), g.choose(most))
	}
	return g.finish(op, []uint32{x, g.int32s([]int{len(d), 2}, pads...), g.int32(mode)}, g.out(op, k, x))
}

func makeReverse(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	return g.finish(op, []uint32{x, g.vector(g.choose(len(g.at(x).Dimensions)))}, g.out(op, k, x))
}
