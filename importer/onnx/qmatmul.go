package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// quantizedProducts are ONNX Runtime's products of matrices of which one or both are quantized.
var quantizedProducts = []operator{
	{name: "QGemm", domain: microsoft, inputs: [2]int{6, 9}, convert: qGemm},
	{name: "MatMulIntegerToFloat", domain: microsoft, inputs: [2]int{4, 7}, convert: matMulIntegerToFloat},
	{name: "DynamicQuantizeMatMul", domain: microsoft, inputs: [2]int{3, 5}, convert: dynamicQuantizeMatMul},
	{name: "MatMulNBits", domain: microsoft, inputs: [2]int{3, 6}, convert: matMulNBits},
}

// along reshapes input k, a scale or zero point of one element or one per entry of an axis, to broadcast with x.
func (c *conversion) along(k int, x uint32, axis int) uint32 {
	s := c.As(c.asReals(c.x(k)), nn.TensorFloat32)
	d := c.Dims(s)
	if nn.Elements(d) == 1 {
		return c.reshaped(s, []uint32{1})
	}
	shape := c.Dims(x)
	if len(d) != 1 || axis < 0 || axis >= len(shape) || d[0] != shape[axis] {
		c.Refusef("input %d has the shape %v, one element or one per entry of dimension %d of %v needed", k, d, axis, shape)
	}
	all := slices.Repeat([]uint32{1}, len(shape))
	all[axis] = d[0]
	return c.reshaped(s, all)
}

// dequantizedInput are the reals of input k by the scale and zero point that follow it, of one element or along an axis.
func (c *conversion) dequantizedInput(k, axis int) uint32 {
	x := c.As(c.asInt32(k), nn.TensorFloat32)
	if c.has(k + 2) {
		x = c.Binary(nn.OpSub, x, c.along(k+2, x, axis))
	}
	return c.Binary(nn.OpMul, x, c.along(k+1, x, axis))
}

// quantizedOut quantizes reals by the scale and zero point that are inputs k and k+1, as output 0.
func (c *conversion) quantizedOut(x uint32, k int) {
	c.define(0, c.quantizedEven(x, real, c.qlinearOut(k).Operand))
}

// qGemm is alpha A B + C of quantized matrices. C counts in steps of alpha * scale of A * scale of B, so that alpha belongs
// to the scale of B. NNAPI's operation on quantized tensors has symmetric weights and a constant bias; others are
// computed in reals, as is a result that is not quantized.
func qGemm(c *conversion) {
	columnAxis := 1
	if c.flag("transB", 0) {
		columnAxis = 0
	}
	if len(c.shape(c.v(0))) != 2 || len(c.shape(c.v(3))) != 2 {
		c.Failf("matrices of shapes %v and %v", c.shape(c.v(0)), c.shape(c.v(3)))
	}
	if c.qGemmOfBytes(columnAxis) {
		return
	}
	a, b := c.dequantizedInput(0, 0), c.dequantizedInput(3, columnAxis)
	if c.flag("transA", 0) {
		a = c.transposed(a, []int{1, 0})
	}
	if columnAxis == 0 {
		b = c.transposed(b, []int{1, 0})
	}
	y := c.matmul(a, c.valueOf(b), false, target{}, none)
	if c.has(6) {
		scale := c.Binary(nn.OpMul, c.along(1, y, 0), c.along(4, y, 1))
		alpha := c.float("alpha", 1)
		if alpha != 1 {
			y = c.Binary(nn.OpMul, y, c.Like(y, alpha))
			scale = c.Binary(nn.OpMul, scale, c.Like(scale, alpha))
		}
		y = c.Binary(nn.OpAdd, y, c.Binary(nn.OpMul, c.As(c.asInt32(6), nn.TensorFloat32), scale))
	} else if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.Binary(nn.OpMul, y, c.Like(y, alpha))
	}
	if !c.has(7) {
		c.define(0, y)
		return
	}
	c.quantizedOut(y, 7)
}

// qGemmOfBytes is qGemm by NNAPI's operation on quantized tensors, where it has it.
func (c *conversion) qGemmOfBytes(columnAxis int) bool {
	if !c.has(7) || c.float("alpha", 1) != 1 || c.flag("transA", 0) || !c.symmetricColumns(3, columnAxis) {
		return false
	}
	columns := c.shape(c.v(3))[columnAxis]
	if c.has(6) {
		if b := c.real(c.v(6), false); !c.IsConst(b) || !slices.Equal(c.Dims(b), []uint32{columns}) {
			return false
		}
	}
	if _, ok := c.quantization(input(c.node, 1), input(c.node, 2)); !ok {
		return false
	}
	t := c.qlinearOut(7)
	x, w := c.quant(c.qlinear(0, false), false), c.quant(c.qlinearWeights(3, columnAxis), false)
	if columnAxis == 1 {
		w = c.transposed(w, []int{1, 0})
	}
	x, w = c.turned(x, t.Type), c.turned(w, t.Type)
	c.defineRaw(c.fully(x, w, c.biasOf(c.optional(6), x, w, columns, true), t.Operand, 0), false, 0)
	return true
}

// matMulIntegerToFloat is a product of integers, which floats hold exactly up to 2^24, times both scales.
func matMulIntegerToFloat(c *conversion) {
	y := c.matmul(c.centered(0, 4), c.valueOf(c.centered(1, 5)), false, target{}, none)
	c.scaledProduct(y, c.along(2, y, c.Rank(y)-2), 3, 6)
}

// scaledProduct defines y times a scale and the scale of its columns, and a bias.
func (c *conversion) scaledProduct(y, scale uint32, columns, bias int) {
	y = c.Binary(nn.OpMul, y, c.Binary(nn.OpMul, c.along(columns, y, c.Rank(y)-1), scale))
	if c.has(bias) {
		y = c.Binary(nn.OpAdd, y, c.As(c.reals(bias), nn.TensorFloat32))
	}
	c.define(0, y)
}

// dynamicQuantizeMatMul quantizes its input by its own range before it multiplies.
func dynamicQuantizeMatMul(c *conversion) {
	q := c.dynamicallyQuantized(c.As(c.reals(0), nn.TensorFloat32))
	x := c.Binary(nn.OpSub, q.steps, c.reshaped(q.zero, []uint32{1}))
	y := c.matmul(x, c.valueOf(c.centered(1, 3)), false, target{}, none)
	c.scaledProduct(y, c.reshaped(q.scale, []uint32{1}), 2, 4)
}

// matMulNBits is a product with constant weights of 2, 4 or 8 bits [N, blocks, bytes], each block of which has a scale
// and a zero point. The weights become reals:
//
//	w[n][k] = (q[n][k] - zero[n][k / block_size]) * scale[n][k / block_size]
func matMulNBits(c *conversion) {
	k, n, bits, block := c.int("K", 0), c.int("N", 0), c.int("bits", 4), c.int("block_size", 0)
	if k < 1 || n < 1 || k > 1<<20 || n > 1<<20 || k*n > 1<<28 || block < 1 || block > 1<<20 {
		c.Failf("K is %d, N is %d, block_size is %d", k, n, block)
	}
	if bits != 2 && bits != 4 && bits != 8 || block*bits%8 != 0 {
		c.Refusef("its weights have %d bits in blocks of %d", bits, block)
	}
	if c.has(4) {
		c.Refusef("its weights are in another order, which an input states")
	}
	blocks := (k + block - 1) / block
	packed, ok := c.Ints(c.real(c.v(1), false))
	scales := c.constants(2)
	if !ok || int64(len(packed)) != n*blocks*(block*bits/8) || int64(len(scales)) != n*blocks {
		c.Refusef("weights of shape %v with %d scales, constants %v and %d needed", c.shape(c.v(1)), len(scales), []int64{n, blocks, block * bits / 8}, n*blocks)
	}
	code := func(bytes []int64, i int64) int64 { return bytes[i*bits/8] & 0xff >> (i * bits % 8) & (1<<bits - 1) }
	zero := c.zerosOfBlocks(3, n, blocks, bits, code)
	c.Spend(4 * n * k)
	weights := make([]float32, 0, n*k)
	for row := range n {
		for i := range k {
			at := row*blocks + i/block
			weights = append(weights, (float32(code(packed, (row*blocks*block)+i))-zero(row, i/block))*scales[at])
		}
	}
	x := c.reals(0)
	bias := c.floatLike(x, []uint32{uint32(n)}, make([]float32, n))
	if c.has(5) {
		bias = c.To(c.reals(5), nn.Operand{Type: c.Operand(x).Type})
	}
	c.define(0, c.fully(x, c.floatLike(x, []uint32{uint32(n), uint32(k)}, weights), bias, nn.Operand{Type: c.Operand(x).Type}, 0))
}

// zerosOfBlocks are the zero points of the blocks of each row: reals, or codes as packed as the weights, whose rows begin
// at whole bytes. Without the input they are the middle of the codes.
func (c *conversion) zerosOfBlocks(k int, n, blocks, bits int64, code func([]int64, int64) int64) func(row, block int64) float32 {
	if !c.has(k) {
		return func(int64, int64) float32 { return float32(int64(1) << (bits - 1)) }
	}
	x := c.real(c.v(k), false)
	if reals, ok := c.floatsOf(x); ok && c.IsConst(x) {
		if int64(len(reals)) != n*blocks {
			c.Failf("%d zero points for %d blocks", len(reals), n*blocks)
		}
		return func(row, block int64) float32 { return reals[row*blocks+block] }
	}
	stride := (blocks*bits + 7) / 8
	packed, ok := c.Ints(x)
	if !ok || int64(len(packed)) != n*stride {
		c.Refusef("zero points of shape %v, %d bytes of a constant needed", c.shape(c.v(k)), n*stride)
	}
	return func(row, block int64) float32 { return float32(code(packed[row*stride:(row+1)*stride], block)) }
}
