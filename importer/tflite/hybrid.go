package tflite

import "github.com/nnsoc/nnsoc/nn"

// dynamicQuantization rounds float32 x to what TensorFlow Lite's hybrid kernels
// compute with: 8-bit integers of a scale of their own for each slice along
// the axes, a row or an image. The result holds the reals those stand for, so
// that a float operation on it and on the dequantized weights gives the hybrid
// kernel's sums.
//
// Symmetric: scale = max|x| / 127, q = round(x / scale).
// Asymmetric: scale = (max - min) / 255 with 0 inside, zero = round(-128 - min /
// scale), q = round(x / scale) + zero.
func (g *graph) dynamicQuantization(x uint32, axes []int64, asymmetric bool) uint32 {
	out := nn.Operand{Type: nn.TensorFloat32}
	along := g.Int32Tensor(axes...)
	most := func(op nn.OperationType, x uint32) uint32 { return g.Emit(op, out, x, along, g.BoolScalar(true)) }
	if !asymmetric {
		// A slice of zeros has any scale.
		scale := g.Binary(nn.OpMaximum, g.Binary(nn.OpMul, most(nn.OpReduceMax, g.Unary(nn.OpAbs, x)), g.Real(1.0/127)), g.Real(1e-30))
		return g.Binary(nn.OpMul, g.Round(g.Binary(nn.OpDiv, x, scale)), scale)
	}
	zero := g.Real(0)
	least := g.Binary(nn.OpMinimum, most(nn.OpReduceMin, x), zero)
	greatest := g.Binary(nn.OpMaximum, most(nn.OpReduceMax, x), zero)
	scale := g.Binary(nn.OpMaximum, g.Binary(nn.OpMul, g.Binary(nn.OpSub, greatest, least), g.Real(1.0/255)), g.Real(1e-30))
	offset := g.Clamp(g.Round(g.Binary(nn.OpSub, g.Real(-128), g.Binary(nn.OpDiv, least, scale))), -128, 127)
	q := g.Clamp(g.Binary(nn.OpAdd, g.Round(g.Binary(nn.OpDiv, x, scale)), offset), -128, 127)
	return g.Binary(nn.OpMul, g.Binary(nn.OpSub, q, offset), scale)
}
