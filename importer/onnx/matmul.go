package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// matmulOperators are the products of matrices.
var matmulOperators = []operator{
	{name: "MatMul", inputs: [2]int{2, 2}, convert: matMul},
	{name: "Gemm", inputs: [2]int{2, 3}, convert: gemm},
	{name: "Einsum", inputs: [2]int{1, many}, convert: einsum},
	{name: "Det", lacks: "NNAPI has no determinant"},
}

// fully is a product with weights [outputs, inputs] that each row of x meets, by
// FULLY_CONNECTED.
func (c *conversion) fully(x, w, bias uint32, out nn.Operand, act int64) uint32 {
	weights := c.Dims(w)
	if !c.ShapeKnown(x) && c.Rank(x) == 2 && c.Operand(w).Channel == nil { // as many rows as an execution has
		return c.Emit(nn.OpFullyConnected, out, x, w, bias, c.Int32Scalar(act))
	}
	shape := slices.Clone(c.Dims(x))
	if len(shape) == 0 || shape[len(shape)-1] != weights[1] {
		c.Failf("shape %v with weights %v", shape, weights)
	}
	shape[len(shape)-1] = weights[0]
	if len(shape) != 2 {
		x = c.reshaped(x, []uint32{uint32(nn.Elements(c.Dims(x))) / weights[1], weights[1]})
	}
	var y uint32
	if c.Operand(w).Channel != nil { // NNAPI has those for convolutions alone: one of 1x1 pixels
		d := c.Dims(x)
		x = c.reshaped(x, []uint32{d[0], 1, 1, d[1]})
		filter := c.reshaped(w, []uint32{weights[0], 1, 1, weights[1]})
		one := c.Int32Scalar(1)
		y = c.Emit(nn.OpConv2D, out, x, filter, bias, c.Int32Scalar(nn.PaddingValid), one, one, c.Int32Scalar(act))
	} else {
		y = c.Emit(nn.OpFullyConnected, out, x, w, bias, c.Int32Scalar(act))
	}
	return c.Reshape(y, shape)
}

// matmul is a product with a bias per column or none. integers are 8-bit products with a
// quantized result.
func (c *conversion) matmul(a uint32, b *value, integers bool, t target, bias uint32) uint32 {
	kind, out := real, nn.Operand{Type: nn.TensorFloat32}
	if integers {
		kind, out = quant, t.Operand
	}
	w := c.form(b, kind, false)
	if integers {
		a, w = c.turned(a, t.Type), c.turned(w, t.Type)
	} else {
		a, w = c.asReals(a), c.asReals(c.number(w))
		if c.Operand(a).Type == nn.TensorFloat16 && c.Operand(w).Type == nn.TensorFloat16 {
			out.Type = nn.TensorFloat16
		} else {
			a, w = c.As(a, nn.TensorFloat32), c.As(w, nn.TensorFloat32)
		}
	}
	dw := c.Dims(w)
	if c.Rank(a) == 0 || len(dw) == 0 {
		c.Failf("shapes of rank %d and %d", c.Rank(a), len(dw))
	}
	if len(dw) == 2 && (c.IsConst(w) || integers) {
		weights := c.transposed(w, []int{1, 0})
		if bias == none {
			bias = c.biasOf(nil, a, weights, dw[1], integers)
		}
		return c.fully(a, weights, bias, out, t.activation)
	}
	da := c.Dims(a)
	rowOnly, columnOnly := len(da) == 1, len(dw) == 1
	if rowOnly {
		a = c.reshaped(a, []uint32{1, da[0]})
	}
	if columnOnly {
		w = c.reshaped(w, []uint32{dw[0], 1})
	}
	if c.Operand(w).Channel != nil {
		c.Refusef("its matrices are quantized per channel and no weights of rank 2")
	}
	if integers && t.Type == nn.TensorQuant8Asymm { // BATCH_MATMUL has the signed type
		a, w = c.turned(a, nn.TensorQuant8AsymmSigned), c.turned(w, nn.TensorQuant8AsymmSigned)
		signed := out
		signed.Type, signed.ZeroPoint = nn.TensorQuant8AsymmSigned, out.ZeroPoint-128
		y := c.turned(c.BatchMatmul(signed, a, w, false, false), out.Type)
		return c.squeezed(y, rowOnly, columnOnly)
	}
	return c.squeezed(c.BatchMatmul(out, a, w, false, false), rowOnly, columnOnly)
}

// wholeProduct is a product of matrices or vectors of INT32.
func (c *conversion) wholeProduct(a, b uint32) uint32 {
	row, column := c.Rank(a) == 1, c.Rank(b) == 1
	if row {
		a = c.reshaped(a, append([]uint32{1}, c.Dims(a)...))
	}
	if column {
		b = c.reshaped(b, append(slices.Clone(c.Dims(b)), 1))
	}
	return c.squeezed(c.BatchMatmul(nn.Operand{Type: nn.TensorInt32}, a, b, false, false), row, column)
}

// squeezed drops the dimensions added to vectors.
func (c *conversion) squeezed(y uint32, row, column bool) uint32 {
	d := slices.Clone(c.Dims(y))
	if row {
		d = slices.Delete(d, len(d)-2, len(d)-1)
	}
	if column {
		d = d[:len(d)-1]
	}
	return c.Reshape(y, d)
}

func matMul(c *conversion) {
	if a, b := c.v(0), c.v(1); !a.quantized() && !b.quantized() {
		if x, y := c.number(c.raw(0)), c.number(c.raw(1)); c.Operand(x).Type == nn.TensorInt32 && c.Operand(y).Type == nn.TensorInt32 {
			c.define(0, c.wholeProduct(x, y))
			return
		}
	}
	if t, ok := c.quantizableProduct(); ok {
		b := c.quant(c.v(1), false)
		rank2 := c.Rank(b) == 2
		ch := c.Operand(b).Channel
		if (ch == nil || rank2 && ch.Dim == 1) && (t.activation == 0 || rank2) {
			c.defineTarget(c.matmul(c.quant(c.v(0), false), c.v(1), true, t, none), false, 0, t)
			return
		}
	}
	if w, add := c.followingBias(); add != nil {
		act, code := c.follower(add.Outputs[0])
		y := c.matmul(c.x(0), c.v(1), false, target{activation: code}, w)
		c.defineThrough(real, y, 0, add, act)
		return
	}
	c.define(0, c.matmul(c.x(0), c.v(1), false, target{}, none))
}

// followingBias is the constant that an Add after a product with constant weights adds to
// each column, where nothing else reads the product.
func (c *conversion) followingBias() (bias uint32, add *onnxfile.Node) {
	list := c.uses[c.node.Outputs[0]]
	w := c.v(1)
	if len(list) != 1 || list[0].node == nil || list[0].node.Op != "Add" || domain(list[0].node.Domain) != "" || !w.has(real) || !c.IsConst(w.forms[real]) {
		return none, nil
	}
	v, ok := c.find(list[0].node.Inputs[1-list[0].input])
	if !ok || v.missing || !v.has(real) || !c.IsConst(v.forms[real]) {
		return none, nil
	}
	b, weights := v.forms[real], c.Dims(w.forms[real])
	if d := c.Dims(b); len(weights) != 2 || len(d) != 1 || d[0] != weights[1] || c.Operand(b).Type != c.Operand(w.forms[real]).Type {
		return none, nil
	}
	return b, list[0].node
}

// gemm is alpha * A B + beta * C, with either matrix transposed on request.
func gemm(c *conversion) {
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	t, integers := c.quantizableProduct()
	integers = integers && alpha == 1 && beta == 1 && !c.flag("transA", 0)
	kind := real
	if integers {
		kind = quant
	}
	a, b := c.form(c.v(0), kind, false), c.form(c.v(1), kind, false)
	if c.Rank(a) != 2 || c.Rank(b) != 2 {
		c.Failf("matrices of shapes %v and %v", c.Dims(a), c.Dims(b))
	}
	if c.flag("transA", 0) {
		a = c.transposed(a, []int{1, 0})
	}
	if !c.flag("transB", 0) {
		b = c.transposed(b, []int{1, 0}) // weights [outputs, inputs]
	}
	columns := c.Dims(b)[0]
	if integers {
		if ch := c.Operand(b).Channel; ch == nil || ch.Dim == 0 {
			a, b = c.turned(a, t.Type), c.turned(b, t.Type)
			bias := c.biasOf(c.optional(2), a, b, columns, true)
			c.defineTarget(c.fully(a, b, bias, t.Operand, t.activation), false, 0, t)
			return
		}
		c.Refusef("its weights are quantized per input")
	}
	a, b = c.number(a), c.number(b)
	if c.Operand(a).Type == nn.TensorInt32 && c.Operand(b).Type == nn.TensorInt32 && alpha == 1 && (beta == 1 || beta == 0) {
		y := c.wholeProduct(a, c.transposed(b, []int{1, 0}))
		if c.has(2) && beta == 1 {
			y = c.Binary(nn.OpAdd, y, c.raw(2))
		}
		c.define(0, y)
		return
	}
	a = c.asReals(a)
	b = c.As(b, c.Operand(a).Type)
	float := nn.Operand{Type: c.Operand(a).Type}
	bias, rest := none, none
	if c.has(2) && beta != 0 {
		rest = c.As(c.x(2), float.Type)
		if beta != 1 {
			rest = c.Binary(nn.OpMul, rest, c.Like(rest, beta))
		}
		d := c.Dims(rest)
		if (len(d) == 1 && d[0] == columns || len(d) == 2 && d[0] == 1 && d[1] == columns) && alpha == 1 {
			bias, rest = c.reshaped(rest, []uint32{columns}), none
		}
	}
	if bias == none {
		bias = c.floatLike(a, []uint32{columns}, make([]float32, columns))
	}
	if alpha == 1 && rest == none {
		act, code := c.follower(c.node.Outputs[0])
		c.defineThrough(real, c.fully(a, b, bias, float, code), 0, act)
		return
	}
	y := c.fully(a, b, bias, float, 0)
	if alpha != 1 {
		y = c.Binary(nn.OpMul, y, c.Like(y, alpha))
	}
	if rest != none {
		y = c.Binary(nn.OpAdd, y, rest)
	}
	c.define(0, y)
}
