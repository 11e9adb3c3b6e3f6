package lowering

import "github.com/nnsoc/nnsoc/nn"

// Wrapped are the low 8 bits of integers, as an 8-bit type that counts in ones. Reals saturate.
func (g *Graph) Wrapped(x uint32, t nn.OperandType) uint32 {
	if g.Operand(x).Type != nn.TensorInt32 {
		return g.Bytes(x, t)
	}
	return g.Bytes(g.LowBits(x, 8, t == nn.TensorQuant8AsymmSigned), t)
}

// LowBits are the low n bits of int32 elements: x mod 2^n and, where they are signed, 2^n less from 2^(n-1) on.
//
//	LowBits(257, 8, false) = 1,  LowBits(-1, 8, false) = 255,  LowBits(128, 8, true) = -128
func (g *Graph) LowBits(x uint32, n int, signed bool) uint32 {
	whole := func(by, times int64) uint32 {
		return g.Binary(nn.OpMul, g.FloorDiv(x, g.Int32Tensor(by)), g.Int32Tensor(times))
	}
	x = g.Binary(nn.OpSub, x, whole(1<<n, 1<<n))
	if signed {
		x = g.Binary(nn.OpSub, x, whole(1<<(n-1), 1<<n))
	}
	return x
}

// Bytes are numbers as an 8-bit type that counts in ones; what does not fit saturates.
func (g *Graph) Bytes(x uint32, t nn.OperandType) uint32 {
	o := nn.Operand{Type: t, Scale: 1}
	if t == nn.TensorQuant8AsymmSigned { // a QUANTIZE in ones; CAST produces the unsigned type alone
		if g.Operand(x).Type != nn.TensorInt32 { // CAST cuts off, QUANTIZE rounds
			x = g.As(x, nn.TensorInt32)
		}
		return g.To(g.As(x, nn.TensorFloat32), o)
	}
	y := g.Emit(nn.OpCast, o, x)
	g.ShapeLike(y, x)
	return y
}
