package randgraph

import (
	"github.com/nnsoc/nnsoc/nn"
)

// partner is the second operand of an elementwise operation: of the shape of
// the first, or one that broadcasts with it.
func (g *gen) partner(t nn.OperandType, dims []uint32, f filler) uint32 {
	d := append([]uint32(nil), dims...)
	switch g.choose(8) {
	case 4:
		d = []uint32{1}
	case 5:
		d = d[g.choose(len(d)):]
	case 6:
		for i := range d {
			if g.chance(50) {
				d[i] = 1
			}
		}
	case 7:
		for i := range d {
			if d[i] == 1 {
				d[i] = uint32(g.dim())
			}
		}
		d = bounded(d)
		for i := range d {
			if d[i] != dims[i] && dims[i] != 1 {
				d[i] = dims[i]
			}
		}
	}
	return g.like(t, d, f)
}

// second is the values allowed in the second operand.
var second = map[nn.OperationType]filler{nn.OpDiv: {prop: nonZero}}

// first is the values allowed in the only or first operand.
var first = map[nn.OperationType]filler{
	nn.OpLog: {prop: positive}, nn.OpSqrt: {prop: positive}, nn.OpRsqrt: {prop: positive}, nn.OpPow: {prop: positive},
	nn.OpSin: {exact: true},
}

func makeArithmetic(g *gen, op nn.OperationType, k nn.OperandType) bool {
	a := g.tensor(k, 1, 4, first[op])
	b := g.partner(k, g.at(a).Dimensions, second[op])
	if first[op] == second[op] && op != nn.OpPrelu && g.chance(25) {
		a, b = b, a
	}
	in := []uint32{a, b}
	switch op {
	case nn.OpAdd, nn.OpSub, nn.OpMul, nn.OpDiv:
		in = append(in, g.activation(k))
	}
	o := g.out(op, k, a)
	if op == nn.OpMul && k.IsQuant8() { // the multiplier is below 1
		o.Scale = g.at(a).Scale * g.at(b).Scale * float32(g.real(1.01, 5)) * float32(pick(g.source, 1, 20, 60))
	}
	return g.finish(op, in, o)
}

func makeCompare(g *gen, op nn.OperationType, k nn.OperandType) bool {
	a := g.tensor(k, 1, 4, filler{})
	b := g.partner(k, g.at(a).Dimensions, filler{})
	if g.chance(25) {
		a, b = b, a
	}
	return g.finish(op, []uint32{a, b}, nn.Operand{Type: nn.TensorBool8})
}

func makeUnary(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 1, 4, first[op])
	if (op == nn.OpLogistic || op == nn.OpTanh) && g.at(x).Scale >= 16 { // beyond the fixed point of the reference
		return false
	}
	o := g.out(op, k, x)
	if op == nn.OpHardSwish && k.IsQuant8() { // the multiplier is at most 1
		o.Scale = max(o.Scale, g.at(x).Scale/64)
	}
	return g.finish(op, []uint32{x}, o)
}

func makeElu(g *gen, op nn.OperationType, k nn.OperandType) bool {
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{}), g.float(k, g.real(1, 3))}, nn.Operand{Type: k})
}

func makeSelect(g *gen, op nn.OperationType, k nn.OperandType) bool {
	a := g.tensor(k, 1, 4, filler{})
	d := g.at(a).Dimensions
	b := g.like(k, d, filler{})
	c := g.like(nn.TensorBool8, d, filler{})
	return g.finish(op, []uint32{c, a, b}, g.out(op, k, a))
}

func makeSoftmax(g *gen, op nn.OperationType, k nn.OperandType) bool {
	axis := op == nn.OpLogSoftmax || g.chance(50)
	var x uint32
	if axis {
		x = g.tensor(k, 1, 4, filler{})
	} else { // the form of HAL 1.0 supports rank 2 and 4
		x = g.shaped(k, func(d []uint32) bool { return len(d) == 2 || len(d) == 4 },
			func() []uint32 { return g.dims(pick(g.source, 2, 4)) })
	}
	in := []uint32{x, g.float(k, g.real(1, 10)/5)}
	if axis {
		in = append(in, g.int32(g.axis(len(g.at(x).Dimensions))))
	}
	return g.finish(op, in, g.out(op, k, x))
}

func makeQuantize(g *gen, op nn.OperationType, k nn.OperandType) bool {
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{})},
		g.typed(pick(g.source, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned), nil))
}

func makeDequantize(g *gen, op nn.OperationType, k nn.OperandType) bool {
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{})}, nn.Operand{Type: pick(g.source, nn.TensorFloat32, nn.TensorFloat16)})
}

func makeRequantize(g *gen, op nn.OperationType, k nn.OperandType) bool {
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{})},
		g.typed(pick(g.source, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned), nil))
}

// makeQuantize16 is QUANTIZE_16 or DEQUANTIZE_16.
func makeQuantize16(g *gen, op nn.OperationType, k nn.OperandType) bool {
	to := nn.TensorFloat32
	if op == nn.OpQuantize16 {
		to = nn.TensorQuant16Asymm
	}
	return g.finish(op, []uint32{g.tensor(k, 1, 4, filler{})}, g.typed(to, nil))
}

func makeCast(g *gen, op nn.OperationType, k nn.OperandType) bool {
	f := filler{}
	to := k
	switch k {
	case nn.TensorFloat32, nn.TensorFloat16, nn.TensorInt32, nn.TensorQuant8Asymm:
		to = pick(g.source, nn.TensorFloat32, nn.TensorFloat16, nn.TensorInt32, nn.TensorQuant8Asymm)
	}
	if isFloat(k) && to == nn.TensorQuant8Asymm {
		f = filler{lo: -8, hi: 300}
	}
	x := g.tensor(k, 1, 4, f)
	o := g.typed(to, nil)
	if to == k {
		o.Scale, o.ZeroPoint = g.at(x).Scale, g.at(x).ZeroPoint
	}
	return g.finish(op, []uint32{x}, o)
}
