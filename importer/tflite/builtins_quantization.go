package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// quantizationBuiltins are the operators between reals and quantized values.
var quantizationBuiltins = []builtin{
	{code: 114, name: "QUANTIZE", version: 4, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.give(0, c.x(0)) }},
	{code: 6, name: "DEQUANTIZE", version: 6, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.give(0, c.floats()) }},
	{code: 124, name: "DENSIFY", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.give(0, c.x(0)) }}, // constants are dense once read
	{code: 80, name: "FAKE_QUANT", version: 2, inputs: [2]int{1, 1}, options: "FakeQuantOptions", convert: fakeQuant},
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
	c.give(0, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, steps, c.Real(float32(scale))), c.Real(first)))
}
