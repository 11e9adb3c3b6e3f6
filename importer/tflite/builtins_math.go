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
	{code: 90, name: "FLOOR_DIV", version: 3, inputs: [2]int{2, 2}, convert: func(c *conversion) { c.define(0, c.FloorDiv(c.plain(0), c.plain(1))) }},
	{code: 95, name: "FLOOR_MOD", version: 2, inputs: [2]int{2, 2}, convert: floorMod},
	{code: 55, name: "MAXIMUM", version: 4, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMaximum)},
	{code: 57, name: "MINIMUM", version: 4, inputs: [2]int{2, 2}, convert: elementwise(nn.OpMinimum)},
	{code: 78, name: "POW", version: 1, inputs: [2]int{2, 2}, convert: elementwise(nn.OpPow)},
	{code: 99, name: "SQUARED_DIFFERENCE", version: 2, inputs: [2]int{2, 2}, convert: squaredDifference},
	{code: 92, name: "SQUARE", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { x := c.plain(0); c.define(0, c.Binary(nn.OpMul, x, x)) }},
	{code: 106, name: "ADD_N", version: 1, inputs: [2]int{1, many}, convert: addN},
	{code: 101, name: "ABS", version: 5, inputs: [2]int{1, 1}, convert: unary(nn.OpAbs)},
	{code: 59, name: "NEG", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpNeg)},
	{code: 47, name: "EXP", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpExp)},
	{code: 73, name: "LOG", version: 2, inputs: [2]int{1, 1}, convert: unary(nn.OpLog)},
	{code: 66, name: "SIN", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpSin)},
	{code: 108, name: "COS", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Cos(c.plain(0))) }},
	{code: 75, name: "SQRT", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpSqrt)},
	{code: 76, name: "RSQRT", version: 3, inputs: [2]int{1, 1}, convert: unary(nn.OpRsqrt)},
	{code: 8, name: "FLOOR", version: 1, inputs: [2]int{1, 1}, convert: unary(nn.OpFloor)},
	{code: 104, name: "CEIL", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Ceil(c.plain(0))) }},
	{code: 116, name: "ROUND", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.RoundEven(c.plain(0))) }},
	{code: 158, name: "SIGN", version: 2, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Sign(c.plain(0))) }},
	{code: 93, name: "ZEROS_LIKE", version: 1, inputs: [2]int{1, 1}, convert: zerosLike},
	{code: 53, name: "CAST", version: 7, inputs: [2]int{1, 1}, options: "CastOptions", convert: cast},
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
		c.define(0, y)
	}
}

func elementwise(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		a, b := c.Aligned(c.x(0), c.x(1))
		y := c.Emit(op, c.out(0), a, b)
		c.BroadcastShape(y, a, b)
		c.define(0, y)
	}
}

func arithmetic(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		a, b := c.Aligned(c.x(0), c.x(1))
		act, then := c.activation()
		y := c.Emit(op, c.out(0), a, b, act)
		c.BroadcastShape(y, a, b)
		c.define(0, then(y))
	}
}

func div(c *conversion) {
	if o := c.Operand(c.x(0)); o.Type != nn.TensorInt32 || o.Scale != 0 {
		arithmetic(nn.OpDiv)(c)
		return
	}
	c.define(0, c.activate(c.TruncDiv(c.x(0), c.x(1))))
}

// floorMod is a - floor(a / b) * b.
func floorMod(c *conversion) {
	a, b := c.Aligned(c.plain(0), c.plain(1))
	c.define(0, c.Binary(nn.OpSub, a, c.Binary(nn.OpMul, c.FloorDiv(a, b), b)))
}

func squaredDifference(c *conversion) {
	d := c.Binary(nn.OpSub, c.plainPair(), c.in[1])
	c.define(0, c.Binary(nn.OpMul, d, d))
}

// plainPair aligns both inputs in a plain type and returns the first; the
// second replaces input 1.
func (c *conversion) plainPair() uint32 {
	a, b := c.Aligned(c.plain(0), c.plain(1))
	c.in[1] = b
	return a
}

func addN(c *conversion) {
	sum := c.plain(0)
	for k := 1; k < len(c.in); k++ {
		sum = c.Binary(nn.OpAdd, sum, c.plain(k))
	}
	c.define(0, sum)
}

func zerosLike(c *conversion) {
	x := c.x(0)
	if !c.ShapeKnown(x) {
		x = c.plain(0)
		c.define(0, c.Binary(nn.OpSub, x, x))
		return
	}
	o := c.out(0)
	o.Dimensions = lowering.Held(c.Dims(x))
	y := c.Filled(o, 0)
	c.SetShape(y, c.Dims(x))
	c.define(0, y)
}

// cast converts stored numbers: scales do not count. Integers wrap, reals saturate.
func cast(c *conversion) {
	x, out := c.x(0), c.out(0)
	o := *c.Operand(x)
	bits := c.narrow()
	if bits == 0 && o.Type == out.Type && o.Scale == out.Scale && o.ZeroPoint == out.ZeroPoint {
		c.define(0, x)
		return
	}
	switch {
	case lowering.Is16(&o):
		x = c.Emit(nn.OpCast, nn.Operand{Type: nn.TensorInt32}, x)
		c.ShapeLike(x, c.x(0))
	case o.Type == nn.TensorQuant8AsymmSigned || o.Type == nn.TensorQuant8Asymm && (bits != 0 || out.Type != nn.TensorFloat32):
		x = c.stored(x) // NNAPI casts the unsigned type, to reals
		if out.Type != nn.TensorFloat32 {
			x = c.As(x, nn.TensorInt32)
		}
	case o.Type == nn.TensorBool8 && out.Type != nn.TensorBool8:
		x = c.As(x, nn.TensorInt32)
	}
	to := c.tensors[c.outTensors[0]].Int("type")
	if bits != 0 {
		x = c.LowBits(x, bits, to == typeInt8 || to == typeInt16)
	}
	c.define(0, c.asStored(x, out))
}

// asStored are numbers as the stored integers of an operand, or as its elements where it has no scale.
func (c *conversion) asStored(x uint32, out nn.Operand) uint32 {
	switch {
	case lowering.Is16(&out):
		if c.Operand(x).Type != nn.TensorInt32 {
			x = c.As(c.Clamp(c.As(x, nn.TensorFloat32), math.MinInt16, math.MaxInt16), nn.TensorInt32)
		}
		out.Dimensions = c.Operand(x).Dimensions
		y := c.Emit(nn.OpCast, out, x)
		c.ShapeLike(y, x)
		return y
	case out.Type.IsQuant8():
		y := c.Bytes(x, out.Type)
		if out.Scale == 1 && out.ZeroPoint == 0 {
			return y
		}
		reals := c.Binary(nn.OpMul, c.Binary(nn.OpSub, c.As(y, nn.TensorFloat32), c.Real(float32(out.ZeroPoint))), c.Real(out.Scale))
		return c.To(reals, out)
	}
	return c.To(x, out)
}

// stored are the stored integers of an 8-bit quantized value, as reals: (q - zero) scale / scale + zero.
func (c *conversion) stored(x uint32) uint32 {
	o := *c.Operand(x)
	x = c.As(x, nn.TensorFloat32)
	if o.Scale != 1 {
		x = c.Round(c.Binary(nn.OpDiv, x, c.Real(o.Scale)))
	}
	if o.ZeroPoint != 0 {
		x = c.Binary(nn.OpAdd, x, c.Real(float32(o.ZeroPoint)))
	}
	return x
}

// narrow is how many low bits of an integer a cast to another integer type keeps where that has fewer bits, or as many
// with another meaning of the first; 0 where all values fit, and for reals.
func (c *conversion) narrow() int {
	from, to := c.tensors[c.inTensors[0]].Int("type"), c.tensors[c.outTensors[0]].Int("type")
	integer := map[int64]bool{typeUint8: false, typeInt8: true, typeUint16: false, typeInt16: true, typeUint32: false, typeInt32: true, typeUint64: false, typeInt64: true}
	signed, whole := integer[from]
	toSigned, ok := integer[to]
	if !whole || !ok {
		return 0
	}
	has, keeps := typesOfTensors[from].bits, typesOfTensors[to].bits
	if keeps > 16 || has < keeps && !signed || has <= keeps && signed == toSigned {
		return 0
	}
	return keeps
}

func cumsum(c *conversion) {
	x := c.plain(0)
	c.define(0, c.CumSum(x, c.Axis(c.one(1), c.Rank(x)), c.options.Bool("exclusive"), c.options.Bool("reverse")))
}

// bucketize counts the boundaries that an element reaches.
func bucketize(c *conversion) {
	x := c.As(c.x(0), nn.TensorFloat32)
	v := c.options.Vector("boundaries")
	if v.N == 0 || v.N > 1<<16 {
		c.Failf("%d boundaries", v.N)
	}
	list := make([]float32, v.N)
	for i := range list {
		list[i] = v.Float(i)
	}
	dims := c.Dims(x)
	flat := c.Reshape(x, []uint32{uint32(nn.Elements(dims)), 1})
	reached := c.As(c.Compare(nn.OpGreaterEqual, flat, c.FloatTensor([]uint32{1, uint32(v.N)}, list)), nn.TensorFloat32)
	sum := c.Emit(nn.OpReduceSum, nn.Operand{Type: nn.TensorFloat32}, reached, c.Int32Tensor(1), c.BoolScalar(false))
	c.define(0, c.Reshape(c.As(sum, nn.TensorInt32), dims))
}

func bitwiseXor(c *conversion) {
	if c.typeOf() != nn.TensorBool8 {
		c.Refusef("NNAPI has no operations on bits of integers")
	}
	elementwise(nn.OpNotEqual)(c)
}

// selectBy broadcasts its operands; NNAPI's SELECT requires equal shapes. A condition of rank 1 of the older operator
// chooses whole slices.
func selectBy(c *conversion) {
	cond, a, b := c.x(0), c.To(c.x(1), c.out(0)), c.To(c.x(2), c.out(0))
	if !c.ShapeKnown(cond) || !c.ShapeKnown(a) || !c.ShapeKnown(b) {
		c.Refusef("NNAPI's SELECT does not broadcast, and shapes of its inputs are known only during execution")
	}
	dc, da, db := c.Dims(cond), c.Dims(a), c.Dims(b)
	if len(dc) == 1 && len(da) > 1 && slices.Equal(da, db) && dc[0] == da[0] && da[len(da)-1] != dc[0] {
		for len(dc) < len(da) {
			dc = append(slices.Clone(dc), 1)
		}
		cond = c.Reshape(cond, dc)
	}
	all := c.Broadcast(c.Broadcast(dc, da), db)
	cond, a, b = c.BroadcastTo(cond, all), c.BroadcastTo(a, all), c.BroadcastTo(b, all)
	y := c.Emit(nn.OpSelect, c.out(0), cond, a, b)
	c.ShapeLike(y, a)
	c.define(0, y)
}

// reduceBuiltins are the operators of reduction.
var reduceBuiltins = []builtin{
	{code: 40, name: "MEAN", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpMean)},
	{code: 74, name: "SUM", version: 2, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceSum)},
	{code: 81, name: "REDUCE_PROD", version: 2, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceProd)},
	{code: 82, name: "REDUCE_MAX", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceMax)},
	{code: 89, name: "REDUCE_MIN", version: 3, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceMin)},
	{code: 91, name: "REDUCE_ANY", version: 1, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceAny)},
	{code: 140, name: "REDUCE_ALL", version: 1, inputs: [2]int{2, 2}, options: "ReducerOptions", convert: reduction(nn.OpReduceAll)},
	{code: 56, name: "ARG_MAX", version: 3, inputs: [2]int{2, 2}, options: "ArgMaxOptions", convert: argument(nn.OpArgmax)},
	{code: 79, name: "ARG_MIN", version: 3, inputs: [2]int{2, 2}, options: "ArgMinOptions", convert: argument(nn.OpArgmin)},
	{code: 48, name: "TOPK_V2", version: 3, inputs: [2]int{2, 2}, outputs: [2]int{2, 2}, convert: topK},
}

func reduction(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x, keep := c.x(0), c.options.Bool("keep_dims")
		list, ok := c.Ints(c.in[1])
		if !ok || !c.ShapeKnown(x) {
			y := c.Emit(op, c.out(0), c.Unmerged(x), c.x(1), c.KeepDims(op, keep))
			if !keep && c.length(1) >= c.Rank(x) && len(c.out(0).Dimensions) == 0 { // an axis may be named twice
				c.scalar(y)
			}
			c.define(0, y)
			return
		}
		c.define(0, c.Reduce(op, c.out(0), x, list, keep))
	}
}

func argument(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		x := c.x(0)
		c.define(0, c.Argument(op, c.out(0), x, c.Axis(c.one(1), c.Rank(x))))
	}
}

func topK(c *conversion) {
	results := c.EmitAll(nn.OpTopkV2, []nn.Operand{c.out(0), c.out(1)}, c.x(0), c.Int32Scalar(c.one(1)))
	c.define(0, results[0])
	c.define(1, results[1])
}
