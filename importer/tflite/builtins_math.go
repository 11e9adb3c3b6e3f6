package tflite

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// mathBuiltins are the operators of arithmetic, comparison and logic.
var mathBuiltins = []builtin{
	{code: 0, name: "ADD", version: 5, inputs: [2]int{2, 2}, options: "AddOptions", convert: arithmetic(nn.OpAdd)},
	{code: 18, name: "MUL", version: 7, inputs: [2]int{2, 2}, options: "MulOptions", convert: arithmetic(nn.OpMul)},
	{code: 41, name: "SUB", version: 5, inputs: [2]int{2, 2}, options: "SubOptions", convert: arithmetic(nn.OpSub)},
	{code: 42, name: "DIV", version: 2, inputs: [2]int{2, 2}, options: "DivOptions", convert: div},
	{code: 90, name: "FLOOR_DIV", version: 3, inputs: [2]int{2, 2}, convert: func(c *conversion) { c.give(0, c.floorDiv(c.plain(0), c.plain(1))) }},
	{code: 95, name: "FLOOR_MOD", version: 2, inputs: [2]int{2, 2}, convert: floorMod},
	{code: 55, name: "MAXIMUM", version: 4, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMaximum)},
	{code: 57, name: "MINIMUM", version: 4, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMinimum)},
	{code: 78, name: "POW", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpPow)},
	{code: 99, name: "SQUARED_DIFFERENCE", version: 2, inputs: [2]int{2, 2}, convert: squaredDifference},
	{code: 92, name: "SQUARE", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { x := c.plain(0); c.give(0, c.Binary(nn.OpMul, x, x)) }},
	{code: 106, name: "ADD_N", version: 1, inputs: [2]int{1, many}, convert: addN},
	{code: 101, name: "ABS", version: 5, inputs: [2]int{1, 1}, convert: unary(nn.OpAbs)},
	{code: 59, name: "NEG", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpNeg)},
	{code: 47, name: "EXP", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpExp)},
	{code: 73, name: "LOG", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpLog)},
	{code: 66, name: "SIN", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpSin)},
	{code: 108, name: "COS", version: 1, inputs: [2]int{1, 1}, convert: cos},
	{code: 75, name: "SQRT", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpSqrt)},
	{code: 76, name: "RSQRT", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRsqrt)},
	{code: 8, name: "FLOOR", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpFloor)},
	{code: 104, name: "CEIL", version: 1, inputs: [2]int{1, 1}, convert: ceil},
	{code: 116, name: "ROUND", version: 1, inputs: [2]int{1, 1}, convert: roundEven},
	{code: 158, name: "SIGN", version: 2, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.give(0, c.Sign(c.plain(0))) }},
	{code: 93, name: "ZEROS_LIKE", version: 1, inputs: [2]int{1, 1}, convert: zerosLike},
	{code: 53, name: "CAST", version: 7, inputs: [2]int{1, 1}, convert: cast},
	{code: 128, name: "CUMSUM", version: 1, inputs: [2]int{2, 2}, options: "CumsumOptions", convert: cumsum},
	{code: 147, name: "BUCKETIZE", version: 1, inputs: [2]int{1, 1}, options: "BucketizeOptions", convert: bucketize},
	{code: 71, name: "EQUAL", version: 4, inputs: [2]int{2, 2}, convert: elementwise(nn.OpEqual)},
	{code: 72, name: "NOT_EQUAL", version: 3, inputs: [2]int{2, 2}, convert: elementwise(nn.OpNotEqual)},
	{code: 58, name: "LESS", version: 3, inputs: [2]int{2, 2}, convert: elementwise(nn.OpLess)},
	{code: 63, name: "LESS_EQUAL", version: 2, inputs: [2]int{2, 2}, convert: elementwise(nn.OpLessEqual)},
	{code: 61, name: "GREATER", version: 2, inputs: [2]int{2, 2}, convert: elementwise(nn.OpGreater)},
	{code: 62, name: "GREATER_EQUAL", version: 3, inputs: [2]int{2, 2}, convert: elementwise(nn.OpGreaterEqual)},
	{code: 84, name: "LOGICAL_OR", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpLogicalOr)},
	{code: 86, name: "LOGICAL_AND", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpLogicalAnd)},
	{code: 87, name: "LOGICAL_NOT", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpLogicalNot)},
	{code: 160, name: "BITWISE_XOR", version: 1, inputs: [2]int{2, 2}, convert: bitwiseXor},
	{code: 64, name: "SELECT", version: 4, inputs: [2]int{3, 3}, convert: selectBy},
	{code: 123, name: "SELECT_V2", version: 2, inputs: [2]int{3, 3}, convert: selectBy},
}

// plain is input k in a type that arithmetic composes in: quantized values
// become float32.
func (c *conversion) plain(k int) uint32 {
	x := c.x(k)
	if o := c.Operand(x); o.Type == nn.TensorFloat16 || o.Type == nn.TensorInt32 && o.Scale == 0 || o.Type == nn.TensorBool8 {
		return x
	}
	return c.As(x, nn.TensorFloat32)
}

func unary(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		y := c.Emit(op, c.out(0), x)
		c.ShapeLike(y, x)
		c.give(0, y)
	}
}

func elementwise(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		a, b := c.aligned(c.x(0), c.x(1))
		y := c.Emit(op, c.out(0), a, b)
		c.BroadcastShape(y, a, b)
		c.give(0, y)
	}
}

// aligned are the operands of a broadcasting operation. NNAPI aligns shapes as
// TensorFlow Lite does, but merges the first of more than four dimensions.
func (c *conversion) aligned(a, b uint32) (uint32, uint32) {
	if len(c.Shape[a]) <= 4 && len(c.Shape[b]) <= 4 {
		return a, b
	}
	da, db := c.Dims(a), c.Dims(b)
	if slices.Equal(da, db) || nn.Elements(da) == 1 || nn.Elements(db) == 1 {
		return a, b
	}
	all := c.Broadcast(da, db)
	return c.BroadcastTo(a, all), c.BroadcastTo(b, all)
}

func arithmetic(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		a, b := c.aligned(c.x(0), c.x(1))
		act, then := c.activation()
		y := c.Emit(op, c.out(0), a, b, act)
		c.BroadcastShape(y, a, b)
		c.give(0, then(y))
	}
}

// div of integers rounds towards zero, NNAPI's DIV rounds down: the quotient
// of the absolute values takes the sign.
func div(c *conversion) {
	if o := c.Operand(c.x(0)); o.Type != nn.TensorInt32 || o.Scale != 0 {
		arithmetic(nn.OpDiv)(c)
		return
	}
	a, b := c.aligned(c.x(0), c.x(1))
	size := c.Binary(nn.OpDiv, c.Unary(nn.OpAbs, a), c.Unary(nn.OpAbs, b))
	c.give(0, c.activate(c.Binary(nn.OpMul, size, c.Binary(nn.OpMul, c.Sign(a), c.Sign(b)))))
}

func (c *conversion) floorDiv(a, b uint32) uint32 {
	a, b = c.aligned(a, b)
	q := c.Binary(nn.OpDiv, a, b)
	if c.Operand(a).Type != nn.TensorInt32 {
		q = c.Unary(nn.OpFloor, q)
	}
	return q
}

// floorMod is a - floor(a / b) * b.
func floorMod(c *conversion) {
	a, b := c.aligned(c.plain(0), c.plain(1))
	c.give(0, c.Binary(nn.OpSub, a, c.Binary(nn.OpMul, c.floorDiv(a, b), b)))
}

func squaredDifference(c *conversion) {
	d := c.Binary(nn.OpSub, c.plainPair(), c.in[1])
	c.give(0, c.Binary(nn.OpMul, d, d))
}

// plainPair aligns both inputs in a plain type and returns the first; the
// second replaces input 1.
func (c *conversion) plainPair() uint32 {
	a, b := c.aligned(c.plain(0), c.plain(1))
	c.in[1] = b
	return a
}

func addN(c *conversion) {
	sum := c.plain(0)
	for k := 1; k < len(c.in); k++ {
		sum = c.Binary(nn.OpAdd, sum, c.plain(k))
	}
	c.give(0, sum)
}

// cos is sin(x + pi / 2).
func cos(c *conversion) {
	x := c.plain(0)
	c.give(0, c.Unary(nn.OpSin, c.Binary(nn.OpAdd, x, c.Like(x, math.Pi/2))))
}

// ceil is -floor(-x).
func ceil(c *conversion) {
	c.give(0, c.Unary(nn.OpNeg, c.Unary(nn.OpFloor, c.Unary(nn.OpNeg, c.plain(0)))))
}

// roundEven rounds halves to the even neighbour: floor(x), and one more where
// the rest is above a half, or a half and floor(x) odd.
func roundEven(c *conversion) {
	x := c.plain(0)
	low := c.Unary(nn.OpFloor, x)
	rest := c.Binary(nn.OpSub, x, low)
	half := c.Like(x, 0.5)
	even := c.Binary(nn.OpMul, c.Unary(nn.OpFloor, c.Binary(nn.OpMul, low, half)), c.Like(x, 2))
	tie := c.Compare(nn.OpLogicalAnd, c.Compare(nn.OpEqual, rest, half), c.Compare(nn.OpNotEqual, low, even))
	up := c.Compare(nn.OpLogicalOr, tie, c.Compare(nn.OpGreater, rest, half))
	c.give(0, c.Binary(nn.OpAdd, low, c.As(up, c.Operand(x).Type)))
}

func zerosLike(c *conversion) {
	x := c.x(0)
	if !c.ShapeKnown(x) {
		x = c.plain(0)
		c.give(0, c.Binary(nn.OpSub, x, x))
		return
	}
	o := c.out(0)
	o.Dimensions = lowering.Held(c.Dims(x))
	y := c.Filled(o, 0)
	c.SetShape(y, c.Dims(x))
	c.give(0, y)
}

// cast reads quantized values as the integers that they are stored as.
func cast(c *conversion) {
	x, out := c.x(0), c.out(0)
	o := *c.Operand(x)
	switch {
	case o.Type == out.Type && o.Scale == out.Scale:
		c.give(0, x)
		return
	case o.Type == nn.TensorBool8 || out.Type == nn.TensorBool8:
		c.give(0, c.As(x, out.Type))
		return
	}
	y := c.Emit(nn.OpCast, out, x)
	c.ShapeLike(y, x)
	c.give(0, y)
}

// cumsum along an axis is a product with a triangular matrix.
func cumsum(c *conversion) {
	x := c.plain(0)
	dims := c.Dims(x)
	axis := c.Axis(c.one(1), len(dims))
	n := int(dims[axis])
	if n > 2048 {
		c.Refusef("it sums %d elements, this composition takes 2048", n)
	}
	weights := make([]float32, n*n) // [sum, element]
	for s := range n {
		for e := range n {
			before := e < s
			if c.options.bool("reverse") {
				before = e > s
			}
			if before || e == s && !c.options.bool("exclusive") {
				weights[s*n+e] = 1
			}
		}
	}
	outer, inner := uint32(nn.Elements(dims[:axis])), uint32(nn.Elements(dims[axis+1:]))
	rows := c.Transpose(c.Reshape(c.As(x, nn.TensorFloat32), []uint32{outer, uint32(n), inner}), 0, 2, 1)
	y := c.Emit(nn.OpFullyConnected, nn.Operand{Type: nn.TensorFloat32}, c.Reshape(rows, []uint32{outer * inner, uint32(n)}),
		c.FloatTensor([]uint32{uint32(n), uint32(n)}, weights), c.FloatTensor([]uint32{uint32(n)}, make([]float32, n)), c.Int32Scalar(0))
	y = c.Transpose(c.Reshape(y, []uint32{outer, inner, uint32(n)}), 0, 2, 1)
	c.give(0, c.Reshape(y, dims))
}

// bucketize counts the boundaries that an element reaches.
func bucketize(c *conversion) {
	x := c.As(c.x(0), nn.TensorFloat32)
	v := c.options.vector("boundaries")
	if v.n == 0 || v.n > 1<<16 {
		c.Failf("%d boundaries", v.n)
	}
	list := make([]float32, v.n)
	for i := range list {
		list[i] = v.float(i)
	}
	dims := c.Dims(x)
	flat := c.Reshape(x, []uint32{uint32(nn.Elements(dims)), 1})
	reached := c.As(c.Compare(nn.OpGreaterEqual, flat, c.FloatTensor([]uint32{1, uint32(v.n)}, list)), nn.TensorFloat32)
	sum := c.Emit(nn.OpReduceSum, nn.Operand{Type: nn.TensorFloat32}, reached, c.Int32Tensor(1), c.BoolScalar(false))
	c.give(0, c.Reshape(c.As(sum, nn.TensorInt32), dims))
}

func bitwiseXor(c *conversion) {
	if c.typeOf(0) != nn.TensorBool8 {
		c.Refusef("NNAPI has no operations on bits of integers")
	}
	elementwise(nn.OpNotEqual)(c)
}

// selectBy broadcasts its operands; NNAPI's SELECT takes equal shapes. A
// condition of rank 1 of the older operator chooses whole slices.
func selectBy(c *conversion) {
	cond, a, b := c.x(0), c.To(c.x(1), c.out(0)), c.To(c.x(2), c.out(0))
	if c.ShapeKnown(cond) && c.ShapeKnown(a) && c.ShapeKnown(b) {
		dc, da, db := c.Dims(cond), c.Dims(a), c.Dims(b)
		if len(dc) == 1 && len(da) > 1 && slices.Equal(da, db) && dc[0] == da[0] && da[len(da)-1] != dc[0] {
			for len(dc) < len(da) {
				dc = append(slices.Clone(dc), 1)
			}
			cond = c.Reshape(cond, dc)
		}
		all := c.Broadcast(c.Broadcast(dc, da), db)
		cond, a, b = c.BroadcastTo(cond, all), c.BroadcastTo(a, all), c.BroadcastTo(b, all)
	}
	y := c.Emit(nn.OpSelect, c.out(0), cond, a, b)
	c.ShapeLike(y, a)
	c.give(0, y)
}
