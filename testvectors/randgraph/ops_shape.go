package randgraph

import (
	"github.com/nnsoc/nnsoc/nn"
)

func makeConcat(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	in := []uint32{x}
	d := g.at(x).Dimensions
	axis := g.choose(len(d))
	for range g.choose(4) {
		dd := append([]uint32(nil), d...)
		dd[axis] = uint32(g.dim())
		dd = bounded(dd)
		for i := range dd {
			if i != axis {
				dd[i] = d[i]
			}
		}
		o := g.typed(k, dd)
		if g.chance(50) {
			o.Scale, o.ZeroPoint = g.at(x).Scale, g.at(x).ZeroPoint
		}
		in = append(in, g.value(o, filler{}))
	}
	return g.finish(op, append(in, g.int32(axis)), g.out(op, k, x))
}

func makeSplit(g *gen, op nn.OperationType, k nn.OperandType) bool {
	n := 1 + g.choose(4)
	x := g.value(g.typed(k, nil), filler{})
	d := g.dims(g.rank(1, 4))
	axis := g.choose(len(d))
	d[axis] = max(d[axis]/uint32(n), 1) * uint32(n)
	o := g.at(x)
	o.Dimensions = bounded(d)
	g.data[x] = filler{}.fill(o, g.choose(1<<30))
	outs := make([]nn.Operand, n)
	for i := range outs {
		outs[i] = g.out(op, k, x)
	}
	if g.chance(25) {
		axis -= len(d)
	}
	return g.finish(op, []uint32{x, g.int32(axis), g.int32(n)}, outs...)
}

func makeReshape(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	rest := int(nn.Elements(g.at(x).Dimensions))
	var shape []int
	for range g.choose(4) {
		f := 1
		for _, p := range []int{2, 3, 5, 7} {
			if rest%p == 0 && g.chance(50) {
				f *= p
				rest /= p
			}
		}
		shape = append(shape, f)
	}
	shape = append(shape, rest)
	if g.chance(50) {
		shape[g.choose(len(shape))] = -1
	}
	return g.finish(op, []uint32{x, g.vector(shape...)}, g.out(op, k, x))
}

func makeSqueeze(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.shaped(k, func(d []uint32) bool { return len(d) > 1 }, func() []uint32 {
		d := g.dims(g.rank(2, 4))
		for i := range d {
			if g.chance(50) {
				d[i] = 1
			}
		}
		return d
	})
	var drop []int
	d := g.at(x).Dimensions
	for i := range d {
		if d[i] == 1 && len(drop) < len(d)-1 && g.chance(75) {
			drop = append(drop, i)
		}
	}
	if len(drop) == 0 {
		return false
	}
	return g.finish(op, []uint32{x, g.vector(drop...)}, g.out(op, k, x))
}

func makeExpandDims(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	return g.finish(op, []uint32{x, g.int32(g.axis(len(g.at(x).Dimensions) + 1))}, g.out(op, k, x))
}

func makeTranspose(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	perm := make([]int, len(g.at(x).Dimensions))
	for i := range perm {
		perm[i] = i
	}
	for i := range perm {
		j := i + g.choose(len(perm)-i)
		perm[i], perm[j] = perm[j], perm[i]
	}
	return g.finish(op, []uint32{x, g.vector(perm...)}, g.out(op, k, x))
}

func makePad(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	rank := len(g.at(x).Dimensions)
	var pads []int
	for range 2 * rank {
		pads = append(pads, g.choose(4))
	}
	in := []uint32{x, g.int32s([]int{rank, 2}, pads...)}
	if op == nn.OpPadV2 {
		if k.IsQuant8() {
			v := g.choose(256)
			if k == nn.TensorQuant8AsymmSigned {
				v = int(int8(v))
			}
			in = append(in, g.int32(v))
		} else {
			in = append(in, g.float(k, g.real(0, 2)))
		}
	}
	o := g.out(op, k, x)
	o.Scale, o.ZeroPoint = g.at(x).Scale, g.at(x).ZeroPoint
	return g.finish(op, in, o)
}

func makeSlice(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	var begin, size []int
	for _, d := range g.at(x).Dimensions {
		b := g.choose(int(d))
		n := int(d) - b - g.choose(int(d)-b)
		if b+n == int(d) && g.chance(25) {
			n = -1
		}
		begin, size = append(begin, b), append(size, n)
	}
	return g.finish(op, []uint32{x, g.vector(begin...), g.vector(size...)}, g.out(op, k, x))
}

func makeStridedSlice(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	var begin, end, stride []int
	shrink := 0
	for i, u := range g.at(x).Dimensions {
		d := int(u)
		b := g.choose(d)
		e := b + 1 + g.choose(d-b)
		s := 1 + g.choose(3)
		if g.chance(20) { // backwards
			b, e, s = e-1, b-1, -s
			if e < 0 {
				e = -d - 1
			}
		} else if g.chance(20) {
			b -= d
		}
		if len(g.at(x).Dimensions) > 1 && g.chance(15) && s > 0 {
			shrink |= 1 << i
		}
		begin, end, stride = append(begin, b), append(end, e), append(stride, s)
	}
	rank := len(begin)
	if shrink == 1<<rank-1 {
		shrink = 0
	}
	masks := [2]int{}
	for i := range masks {
		if g.chance(30) {
			masks[i] = g.choose(1 << rank)
		}
	}
	return g.finish(op, []uint32{x, g.vector(begin...), g.vector(end...), g.vector(stride...),
		g.int32(masks[0]), g.int32(masks[1]), g.int32(shrink)}, g.out(op, k, x))
}

func makeTile(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	var m []int
	for range g.at(x).Dimensions {
		m = append(m, 1+g.choose(3))
	}
	return g.finish(op, []uint32{x, g.vector(m...)}, g.out(op, k, x))
}

func makeGather(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	d := g.at(x).Dimensions
	axis := g.axis(len(d))
	n := d[(axis+len(d))%len(d)]
	i := g.value(nn.Operand{Type: nn.TensorInt32, Dimensions: g.indexes(2)}, filler{prop: index, limit: int32(n)})
	return g.finish(op, []uint32{x, g.int32(axis), i}, g.out(op, k, x))
}

// indexes is the shape of a list of indexes.
func (g *gen) indexes(maxRank int) []uint32 {
	d := []uint32{uint32(1 + g.choose(8))}
	for len(d) < maxRank && g.chance(30) {
		d = append(d, uint32(1+g.choose(4)))
	}
	return d
}

func makeEmbedding(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 2, 4, filler{})
	i := g.value(nn.Operand{Type: nn.TensorInt32, Dimensions: g.indexes(1)}, filler{prop: index, limit: int32(g.at(x).Dimensions[0])})
	o := nn.Operand{Type: k, Scale: g.at(x).Scale, ZeroPoint: g.at(x).ZeroPoint}
	return g.finish(op, []uint32{i, x}, o)
}

func makeHashtable(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 2, 4, filler{})
	rows := int(g.at(x).Dimensions[0])
	keys := make([]int, rows)
	for i := range keys {
		keys[i] = 1 + g.choose(3)
		if i > 0 {
			keys[i] += keys[i-1]
		}
	}
	i := g.value(nn.Operand{Type: nn.TensorInt32, Dimensions: g.indexes(1)}, filler{prop: index, limit: int32(keys[rows-1] + 2)})
	o := nn.Operand{Type: k, Scale: g.at(x).Scale, ZeroPoint: g.at(x).ZeroPoint}
	return g.finish(op, []uint32{i, g.vector(keys...), x}, o, nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1})
}

func makeFill(g *gen, op nn.OperationType, k nn.OperandType) bool {
	var dims []int
	for _, d := range g.dims(g.rank(1, 4)) {
		dims = append(dims, int(d))
	}
	var v uint32
	if k == nn.TensorInt32 {
		v = g.int32(g.choose(256))
	} else {
		v = g.float(k, g.real(0, 2))
	}
	return g.finish(op, []uint32{g.vector(dims...), v}, nn.Operand{Type: k})
}

func makeRank(g *gen, op nn.OperationType, k nn.OperandType) bool {
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{})}, nn.Operand{Type: nn.Int32})
}

func makeTopK(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{finite: true}) // a NaN has no place in an order
	d := g.at(x).Dimensions
	return g.finish(op, []uint32{x, g.int32(1 + g.choose(int(d[len(d)-1])))}, g.out(op, k, x), nn.Operand{Type: nn.TensorInt32})
}

// multiple draws an image whose channels, or whose height and width, are
// multiples of by.
func (g *gen) multiple(k nn.OperandType, by int, channels, nchw bool) uint32 {
	fits := func(d []uint32) bool {
		if len(d) != 4 {
			return false
		}
		_, h, w, c := image(d, nchw)
		if channels {
			return c%(by*by) == 0
		}
		return h%by == 0 && w%by == 0
	}
	return g.shaped(k, fits, func() []uint32 {
		n, h, w, c := 1+g.choose(3), 1+g.choose(5), 1+g.choose(5), 1+g.choose(6)
		if channels {
			c *= by * by
		} else {
			h, w = h*by, w*by
		}
		if nchw {
			return []uint32{uint32(n), uint32(c), uint32(h), uint32(w)}
		}
		return []uint32{uint32(n), uint32(h), uint32(w), uint32(c)}
	})
}

// nchw appends the layout, which may be left out when it is NHWC.
func (g *gen) nchw(in []uint32, nchw bool) []uint32 {
	if nchw || g.chance(25) {
		return append(in, g.bool(nchw))
	}
	return in
}

func makeDepthSpace(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw, block := g.layout(), 1+g.choose(3)
	x := g.multiple(k, block, op == nn.OpDepthToSpace, nchw)
	return g.finish(op, g.nchw([]uint32{x, g.int32(block)}, nchw), g.out(op, k, x))
}

func makeBatchToSpace(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw, bh, bw := g.layout(), 1+g.choose(3), 1+g.choose(3)
	x := g.shaped(k, func(d []uint32) bool { return len(d) == 4 && int(d[0])%(bh*bw) == 0 }, func() []uint32 {
		return []uint32{uint32(bh * bw * (1 + g.choose(2))), uint32(1 + g.choose(5)), uint32(1 + g.choose(5)), uint32(1 + g.choose(5))}
	})
	return g.finish(op, g.nchw([]uint32{x, g.vector(bh, bw)}, nchw), g.out(op, k, x))
}

func makeSpaceToBatch(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw, bh, bw := g.layout(), 1+g.choose(3), 1+g.choose(3)
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	_, h, w, _ := image(g.at(x).Dimensions, nchw)
	fit := func(n, block int) (before, after int) {
		before = g.choose(3)
		return before, (block-(n+before)%block)%block + block*g.choose(2)
	}
	top, bottom := fit(h, bh)
	left, right := fit(w, bw)
	return g.finish(op, g.nchw([]uint32{x, g.vector(bh, bw), g.int32s([]int{2, 2}, top, bottom, left, right)}, nchw), g.out(op, k, x))
}

func makeShuffle(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, filler{})
	d := g.at(x).Dimensions
	axis := g.axis(len(d))
	n := int(d[(axis+len(d))%len(d)])
	groups := 1 + g.choose(6)
	for n%groups != 0 {
		groups--
	}
	return g.finish(op, []uint32{x, g.int32(groups), g.int32(axis)}, g.out(op, k, x))
}

func makeResize(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	in := []uint32{x}
	if g.chance(40) { // by scale
		in = append(in, g.float(k, g.real(0.5, 2.5)), g.float(k, g.real(0.5, 2.5)))
	} else {
		in = append(in, g.int32(1+g.choose(16)), g.int32(1+g.choose(16)))
	}
	if op == nn.OpResizeNearestNeighbor {
		in = append(in, g.bool(nchw))
	} else if n := len(in); true {
		if in = g.nchw(in, nchw); len(in) == n {
			return g.finish(op, in, g.out(op, k, x))
		}
	}
	switch g.choose(4) {
	case 1:
		in = append(in, g.bool(true))
	case 2:
		in = append(in, g.bool(true), g.bool(false))
	case 3:
		in = append(in, g.bool(false), g.bool(true))
	}
	return g.finish(op, in, g.out(op, k, x))
}

func makeLsh(g *gen, op nn.OperationType, k nn.OperandType) bool {
	h := g.value(nn.Operand{Type: k, Dimensions: []uint32{uint32(1 + g.choose(4)), uint32(1 + g.choose(8))}}, filler{})
	x := g.tensor(nn.TensorInt32, 1, 2, filler{})
	w := g.value(nn.Operand{Type: k, Dimensions: []uint32{g.at(x).Dimensions[0]}}, filler{prop: positive})
	return g.finish(op, []uint32{h, x, w, g.int32(pick(g.source, 2, 3))}, nn.Operand{Type: nn.TensorInt32})
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
