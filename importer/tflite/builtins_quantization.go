package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// quantizationBuiltins are the operators between reals and quantized values.
var quantizationBuiltins = []builtin{
	{code: 114, name: "QUANTIZE", version: 4, inputs: [2]int{1, 1}, convert: quantize},
	{code: 6, name: "DEQUANTIZE", version: 6, inputs: [2]int{1, 1}, convert: dequantize},
	{code: 124, name: "DENSIFY", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.x(0)) }}, // constants are dense once read
	{code: 80, name: "FAKE_QUANT", version: 2, inputs: [2]int{1, 1}, options: "FakeQuantOptions", convert: fakeQuant},
}

// quantize rounds reals, or values of other steps, to the steps of the output.
func quantize(c *conversion) {
	x := c.reals(0)
	if c.defineSteps(0, x) {
		return
	}
	if o := c.out(0); o.Type == nn.TensorInt32 && o.Scale == 0 {
		c.Refusef("its output %q of %s has no scale", o.Name, typeName(c.tensors[c.outTensors[0]].Int("type")))
	}
	c.define(0, x)
}

func dequantize(c *conversion) {
	x := c.reals(0)
	if c.Operand(x).Type != nn.TensorFloat16 {
		x = c.As(x, nn.TensorFloat32)
	}
	c.define(0, x)
}

// fakeQuant rounds reals to the grid of a quantization whose zero is exact.
func fakeQuant(c *conversion) {
	bits := c.options.Int("num_bits")
	lo, hi := c.options.Float("min"), c.options.Float("max")
	if bits < 2 || bits > 16 || !(lo <= 0 && hi >= 0 && lo < hi) {
		c.Failf("%d bits from %v to %v", bits, lo, hi)
	}
	least, most := float64(0), float64(int(1)<<bits-1)
	if c.options.Bool("narrow_range") {
		least = 1
	}
	scale := (float64(hi) - float64(lo)) / (most - least)
	zero := min(max(math.Round(least-float64(lo)/scale), least), most)
	first, last := float32((least-zero)*scale), float32((most-zero)*scale)
	x := c.Clamp(c.As(c.x(0), nn.TensorFloat32), first, last)
	steps := c.Round(c.Binary(nn.OpMul, c.Binary(nn.OpSub, x, c.Real(first)), c.Real(float32(1/scale))))
	c.define(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, steps, c.Real(float32(scale))), c.Real(first)))
}

// dynamicQuantization rounds float32 x to the inputs of TensorFlow Lite's hybrid kernels: 8-bit integers with a
// separate scale for each slice along the axes, a row or an image. The result holds the reals that those represent, so
// that a float operation on it and on the dequantized weights computes the hybrid kernel's sums.
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
