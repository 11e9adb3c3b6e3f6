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
	along := g.int32Tensor(axes...)
	most := func(op nn.OperationType, x uint32) uint32 { return g.emit(op, out, x, along, g.boolScalar(true)) }
	if !asymmetric {
		// A slice of zeros has any scale.
		scale := g.binary(nn.OpMaximum, g.binary(nn.OpMul, most(nn.OpReduceMax, g.unary(nn.OpAbs, x)), g.real(1.0/127)), g.real(1e-30))
		return g.binary(nn.OpMul, g.round(g.binary(nn.OpDiv, x, scale)), scale)
	}
	zero := g.real(0)
	least := g.binary(nn.OpMinimum, most(nn.OpReduceMin, x), zero)
	greatest := g.binary(nn.OpMaximum, most(nn.OpReduceMax, x), zero)
	scale := g.binary(nn.OpMaximum, g.binary(nn.OpMul, g.binary(nn.OpSub, greatest, least), g.real(1.0/255)), g.real(1e-30))
	offset := g.clamp(g.round(g.binary(nn.OpSub, g.real(-128), g.binary(nn.OpDiv, least, scale))), -128, 127)
	q := g.clamp(g.binary(nn.OpAdd, g.round(g.binary(nn.OpDiv, x, scale)), offset), -128, 127)
	return g.binary(nn.OpMul, g.binary(nn.OpSub, q, offset), scale)
}
