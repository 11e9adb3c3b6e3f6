package tflite

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// signalBuiltins are the operators of complex numbers. NNAPI has neither those nor a Fourier
// transform: a COMPLEX64 tensor is held as two, its real and its imaginary part, and a
// transform is a product with a matrix of cosines and sines.
var signalBuiltins = []builtin{
	{code: 131, name: "RFFT2D", version: 1, inputs: [2]int{2, 2}, complex: complexOwn, convert: rfft2D},
	{code: 133, name: "IMAG", version: 1, inputs: [2]int{1, 1}, complex: complexOwn, convert: func(c *conversion) { c.define(0, c.imaginary(0)) }},
	{code: 134, name: "REAL", version: 1, inputs: [2]int{1, 1}, complex: complexOwn, convert: func(c *conversion) { c.define(0, c.x(0)) }},
	{code: 135, name: "COMPLEX_ABS", version: 1, inputs: [2]int{1, 1}, complex: complexOwn, convert: complexAbs},
}

// How an operator treats tensors of complex numbers.
const (
	complexNone = iota
	complexEach // moves elements: both parts alike
	complexOwn  // reads or writes the parts itself
)

// isComplex reports whether tensor t has complex numbers.
func (g *graph) isComplex(t int) bool { return t >= 0 && g.tensors[t].Int("type") == typeComplex64 }

// imaginary is the imaginary part of input k.
func (c *conversion) imaginary(k int) uint32 {
	x, ok := c.imaginaries[c.inTensors[k]]
	if !ok {
		c.Refusef("input %d has no imaginary part: NNAPI has no complex numbers but those of an RFFT2D", k)
	}
	return x
}

// convertParts converts an operator by its row. One that moves complex numbers is converted
// twice, for either part.
func (c *conversion) convertParts(row *builtin) {
	complex := slices.ContainsFunc(slices.Concat(c.inTensors, c.outTensors), c.isComplex)
	switch {
	case complex && row.complex == complexNone:
		c.Refusef("NNAPI has no complex numbers")
	case !complex || row.complex == complexOwn:
		row.convert(c)
		return
	}
	row.convert(c)
	in, given := slices.Clone(c.in), c.defined
	for k, t := range c.inTensors {
		if c.isComplex(t) {
			c.in[k] = c.imaginary(k)
		}
	}
	reals := make([]uint32, len(c.outTensors))
	for k, t := range c.outTensors {
		reals[k] = c.value[t]
	}
	row.convert(c)
	for k, t := range c.outTensors {
		c.imaginaries[t], c.value[t] = c.value[t], reals[k]
	}
	c.in, c.defined = in, given
}

// rfft2D transforms the last two dimensions of reals, cropped or filled with zeros to the
// lengths of its second input, and keeps the first half of the last one and the middle:
//
//	y[u, v] = sum of x[h, w] exp(-2 pi i (u h / H + v w / W))
func rfft2D(c *conversion) {
	x := c.As(c.x(0), nn.TensorFloat32)
	dims := slices.Clone(c.Dims(x))
	lengths := c.list(1)
	if len(dims) < 2 || len(lengths) != 2 {
		c.Failf("shape %v transformed to %v", dims, lengths)
	}
	for i, n := range lengths {
		if n < 1 || n > 4096 || i == 1 && n*(n/2+1) > 1<<23 {
			c.Refusef("a transform of length %d, this composition supports 4096", n)
		}
		axis := len(dims) - 2 + i
		begin, size := make([]int64, len(dims)), lowering.Signed(dims)
		size[axis] = min(size[axis], n)
		x = c.Slice(x, begin, size)
		if rest := n - size[axis]; rest > 0 {
			zeros := slices.Clone(c.Dims(x))
			zeros[axis] = uint32(rest)
			fill := c.Filled(nn.Operand{Type: nn.TensorFloat32, Dimensions: lowering.Held(zeros)}, 0)
			c.SetShape(fill, zeros)
			x = c.Concat(nn.Operand{Type: nn.TensorFloat32}, axis, x, fill)
		}
		dims[axis] = uint32(n)
	}
	h, w := int(lengths[0]), int(lengths[1])
	half := w/2 + 1
	re, im := c.fourier(x, w, half, math.Cos), c.fourier(x, w, half, func(a float64) float64 { return -math.Sin(a) })
	if h > 1 {
		flip := func(x uint32) uint32 {
			perm := make([]int, len(dims))
			for i := range perm {
				perm[i] = i
			}
			perm[len(perm)-1], perm[len(perm)-2] = len(perm)-2, len(perm)-1
			return c.Transpose(x, perm...)
		}
		re, im = flip(re), flip(im)
		along := func(x uint32, f func(float64) float64) uint32 { return c.fourier(x, h, h, f) }
		re, im = c.Binary(nn.OpAdd, along(re, math.Cos), along(im, math.Sin)), c.Binary(nn.OpSub, along(im, math.Cos), along(re, math.Sin))
		re, im = flip(re), flip(im)
	}
	c.define(0, re)
	c.imaginaries[c.outTensors[0]] = im
}

// fourier multiplies the last dimension, of n elements, with the matrix [count, n] of
// f(2 pi u k / n).
func (c *conversion) fourier(x uint32, n, count int, f func(angle float64) float64) uint32 {
	list := make([]float32, count*n)
	for u := range count {
		for k := range n {
			list[u*n+k] = float32(f(2 * math.Pi * float64(u*k%n) / float64(n)))
		}
	}
	c.Spend(4 * int64(len(list)))
	shape := slices.Clone(c.Dims(x))
	rows := c.Reshape(x, []uint32{uint32(nn.Elements(shape)) / uint32(n), uint32(n)})
	y := c.Emit(nn.OpFullyConnected, nn.Operand{Type: nn.TensorFloat32}, rows, c.FloatTensor([]uint32{uint32(count), uint32(n)}, list),
		c.FloatTensor([]uint32{uint32(count)}, make([]float32, count)), c.Int32Scalar(0))
	shape[len(shape)-1] = uint32(count)
	return c.Reshape(y, shape)
}

// complexAbs is sqrt(re^2 + im^2).
func complexAbs(c *conversion) {
	re, im := c.x(0), c.imaginary(0)
	c.define(0, c.Unary(nn.OpSqrt, c.Binary(nn.OpAdd, c.Binary(nn.OpMul, re, re), c.Binary(nn.OpMul, im, im))))
}
