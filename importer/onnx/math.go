package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// mathOperators are the operators of arithmetic, comparison and logic.
var mathOperators = []operator{
	{name: "Add", inputs: [2]int{2, 2}, convert: arithmetic(nn.OpAdd)},
	{name: "Sub", inputs: [2]int{2, 2}, convert: arithmetic(nn.OpSub)},
	{name: "Mul", inputs: [2]int{2, 2}, convert: arithmetic(nn.OpMul)},
	{name: "Div", inputs: [2]int{2, 2}, convert: div},
	{name: "Mod", inputs: [2]int{2, 2}, convert: mod},
	{name: "Pow", inputs: [2]int{2, 2}, convert: pow},
	{name: "Max", inputs: [2]int{1, many}, convert: fold(nn.OpMaximum)},
	{name: "Min", inputs: [2]int{1, many}, convert: fold(nn.OpMinimum)},
	{name: "Sum", inputs: [2]int{1, many}, convert: fold(nn.OpAdd)},
	{name: "Mean", inputs: [2]int{1, many}, convert: mean},
	{name: "Abs", inputs: [2]int{1, 1}, convert: integer(nn.OpAbs)},
	{name: "Neg", inputs: [2]int{1, 1}, convert: integer(nn.OpNeg)},
	{name: "Sign", inputs: [2]int{1, 1}, convert: number(func(c *conversion, x uint32) uint32 { return c.To(c.Sign(c.plain(x)), *c.Operand(x)) })},
	{name: "Exp", inputs: [2]int{1, 1}, convert: function(nn.OpExp)},
	{name: "Log", inputs: [2]int{1, 1}, convert: function(nn.OpLog)},
	{name: "Sqrt", inputs: [2]int{1, 1}, convert: function(nn.OpSqrt)},
	{name: "Sin", inputs: [2]int{1, 1}, convert: function(nn.OpSin)},
	{name: "Floor", inputs: [2]int{1, 1}, convert: function(nn.OpFloor)},
	{name: "Cos", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Cos(x) })},
	{name: "Tan", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Binary(nn.OpDiv, c.Unary(nn.OpSin, x), c.Cos(x)) })},
	{name: "Sinh", inputs: [2]int{1, 1}, convert: realOf(sinh)},
	{name: "Cosh", inputs: [2]int{1, 1}, convert: realOf(cosh)},
	{name: "Asinh", inputs: [2]int{1, 1}, convert: realOf(asinh)},
	{name: "Acosh", inputs: [2]int{1, 1}, convert: realOf(acosh)},
	{name: "Atanh", inputs: [2]int{1, 1}, convert: realOf(atanh)},
	{name: "Atan", inputs: [2]int{1, 1}, convert: realOf(atan)},
	{name: "Asin", inputs: [2]int{1, 1}, convert: realOf(asin)},
	{name: "Acos", inputs: [2]int{1, 1}, convert: realOf(acos)},
	{name: "Erf", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Erf(x) })},
	{name: "Ceil", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Ceil(x) })},
	{name: "Round", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.RoundEven(x) })},
	{name: "Reciprocal", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Binary(nn.OpDiv, c.Like(x, 1), x) })},
	{name: "Cast", inputs: [2]int{1, 1}, convert: func(c *conversion) { c.cast(onnxfile.DataType(c.int("to", 0))) }},
	{name: "CastLike", inputs: [2]int{2, 2}, convert: castLike},
	{name: "CumSum", inputs: [2]int{2, 2}, convert: cumSum},
	{name: "Equal", inputs: [2]int{2, 2}, convert: compare(nn.OpEqual)},
	{name: "Less", inputs: [2]int{2, 2}, convert: compare(nn.OpLess)},
	{name: "LessOrEqual", inputs: [2]int{2, 2}, convert: compare(nn.OpLessEqual)},
	{name: "Greater", inputs: [2]int{2, 2}, convert: compare(nn.OpGreater)},
	{name: "GreaterOrEqual", inputs: [2]int{2, 2}, convert: compare(nn.OpGreaterEqual)},
	{name: "And", inputs: [2]int{2, 2}, convert: compare(nn.OpLogicalAnd)},
	{name: "Or", inputs: [2]int{2, 2}, convert: compare(nn.OpLogicalOr)},
	{name: "Xor", inputs: [2]int{2, 2}, convert: compare(nn.OpNotEqual)},
	{name: "Not", inputs: [2]int{1, 1}, convert: number(func(c *conversion, x uint32) uint32 { return c.Unary(nn.OpLogicalNot, x) })},
	{name: "IsNaN", inputs: [2]int{1, 1}, convert: isNaN},
	{name: "IsInf", inputs: [2]int{1, 1}, convert: isInf},
	{name: "Where", inputs: [2]int{3, 3}, convert: where},
}

// Binary is the operation of two operands of any rank.
func (g *graph) Binary(op nn.OperationType, a, b uint32) uint32 {
	a, b = g.Aligned(a, b)
	return g.Graph.Binary(op, a, b)
}

// plain is x in a type that arithmetic composes in: 8-bit integers become int32.
func (g *graph) plain(x uint32) uint32 {
	if g.Operand(x).Type.IsQuant8() {
		return g.steps(x)
	}
	return x
}

// arithmetic is an operation of two operands, of reals, integers or quantized tensors.
func arithmetic(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		if t, ok := c.quantizable(true, 0, 1); ok {
			s := c.commonLayout(quant, 0, 1)
			s.convert(c, t.Type)
			y := c.Emit(op, t.Operand, s.x[0], s.x[1], c.Int32Scalar(t.activation))
			c.BroadcastShape(y, s.x[0], s.x[1])
			c.defineTarget(y, s.image, s.rank, t)
			return
		}
		s := c.commonLayout(real, 0, 1)
		x, y := c.plain(s.x[0]), c.plain(s.x[1])
		if t := c.Operand(x).Type; t == nn.TensorFloat32 || t == nn.TensorFloat16 {
			act, code := c.follower(c.node.Outputs[0])
			z := c.Emit(op, nn.Operand{Type: t}, x, y, c.Int32Scalar(code))
			c.BroadcastShape(z, x, y)
			form := real
			if s.image {
				form = realImage
			}
			c.defineThrough(form, z, s.rank, act)
			return
		}
		c.defineSame(c.integral(s.x[0], c.Binary(op, x, y)), s)
	}
}

// integral is y in the type of input 0, which x holds, where that has 8 or 16 bits: what does not fit wraps.
func (c *conversion) integral(x, y uint32) uint32 {
	o := *c.Operand(x)
	switch short := c.v(0).short; {
	case o.Type.IsQuant8() && c.Operand(y).Type != o.Type:
		return c.Wrapped(y, o.Type)
	case o.Type == nn.TensorInt32 && c.Operand(y).Type == nn.TensorInt32 && (short == onnxfile.Int16 || short == onnxfile.Uint16):
		return c.LowBits(y, 16, short == onnxfile.Int16)
	}
	return y
}

// div of integers rounds towards zero.
func div(c *conversion) {
	if _, ok := c.quantizable(true, 0, 1); ok {
		c.in[0], c.in[1] = c.valueOf(c.x(0)), c.valueOf(c.x(1))
	}
	s := c.commonLayout(real, 0, 1)
	x, y := c.plain(s.x[0]), c.plain(s.x[1])
	if c.Operand(x).Type == nn.TensorInt32 {
		c.defineSame(c.integral(s.x[0], c.TruncDiv(x, y)), s)
		return
	}
	c.defineSame(c.Binary(nn.OpDiv, x, y), s)
}

// mod has the sign of the divisor, with fmod that of the dividend.
func mod(c *conversion) {
	s := c.commonLayout(real, 0, 1)
	x, y := c.plain(s.x[0]), c.plain(s.x[1])
	var q uint32
	switch integers := c.Operand(x).Type == nn.TensorInt32; {
	case !c.flag("fmod", 0):
		q = c.FloorDiv(x, y)
	case integers:
		q = c.TruncDiv(x, y)
	default:
		q = c.Binary(nn.OpDiv, x, y)
		q = c.Binary(nn.OpMul, c.Sign(q), c.Unary(nn.OpFloor, c.Unary(nn.OpAbs, q)))
	}
	c.defineSame(c.integral(s.x[0], c.Binary(nn.OpSub, x, c.Binary(nn.OpMul, q, y))), s)
}

// pow accepts a base and an exponent of different types; the result has the base's. Small whole constant exponents are
// products.
func pow(c *conversion) {
	if e := c.real(c.v(1), false); c.IsConst(e) && c.Wide[e] == nil {
		if l := c.constants(1); len(l) == 1 && len(c.shape(c.v(1))) <= len(c.shape(c.v(0))) {
			form := real
			if c.v(0).imageOnly() {
				form = realImage
			}
			x := c.number(c.form(c.v(0), real, form == realImage))
			switch {
			case l[0] == 2:
				c.defineMoved(0, c.integral(x, c.Binary(nn.OpMul, c.plain(x), c.plain(x))), form)
				return
			case l[0] == 3:
				p := c.plain(x)
				c.defineMoved(0, c.integral(x, c.Binary(nn.OpMul, c.Binary(nn.OpMul, p, p), p)), form)
				return
			case l[0] == 0.5 && c.Operand(x).Type != nn.TensorInt32:
				c.defineMoved(0, c.Unary(nn.OpSqrt, c.asReals(x)), form)
				return
			}
		}
	}
	s := c.commonLayout(real, 0, 1)
	if e, ok := c.wholeExponents(s.x[1]); ok && c.Operand(s.x[0]).Type == nn.TensorInt32 {
		c.defineSame(c.integral(s.x[0], c.wholePower(s.x[0], e)), s)
		return
	}
	base := c.asReals(s.x[0])
	y := c.Binary(nn.OpPow, base, c.As(s.x[1], c.Operand(base).Type))
	if o := c.Operand(s.x[0]); o.Type == nn.TensorInt32 { // POW in reals is a little off, also below the integer that it should be
		y = c.As(c.Binary(nn.OpMul, y, c.Like(y, 1+0x1p-20)), o.Type)
	}
	c.defineSame(c.integral(s.x[0], y), s)
}

// wholeExponents are exponents as INT32 where they are integers: by their type, or constants without fractions.
func (c *conversion) wholeExponents(x uint32) (uint32, bool) {
	x = c.plain(x)
	o := c.Operand(x)
	if o.Type == nn.TensorInt32 {
		return x, true
	}
	list, ok := c.floatsOf(x)
	if !ok || !o.IsConst() || slices.ContainsFunc(list, func(v float32) bool { return v != float32(math.Trunc(float64(v))) || v < -1<<24 || v > 1<<24 }) {
		return none, false
	}
	return c.As(x, nn.TensorInt32), true
}

// wholePower is a power of INT32, which reals hold up to 2^24 only, by squaring: the product of base^(2^k) for each bit k of
// the exponent. Exponents of 32 and more, where all bases but -1, 0 and 1 overflow, count as 30 or 31; of negative ones the
// power is 0 unless that of the base is 1.
func (c *conversion) wholePower(base, exponent uint32) uint32 {
	number := func(v int64) uint32 { return c.Int32Number(v) }
	rest := c.Unary(nn.OpAbs, exponent)
	odd := func(x uint32) (bit, half uint32) {
		half = c.Binary(nn.OpDiv, x, number(2))
		return c.Binary(nn.OpSub, x, c.Binary(nn.OpMul, half, number(2))), half
	}
	bit, _ := odd(rest)
	rest = c.Binary(nn.OpMinimum, rest, c.Binary(nn.OpAdd, number(30), bit))
	y, p := none, base
	for k := range 5 {
		bit, rest = odd(rest)
		factor := c.Binary(nn.OpAdd, c.Binary(nn.OpMul, c.Binary(nn.OpSub, p, number(1)), bit), number(1))
		if y == none {
			y = factor
		} else {
			y = c.Binary(nn.OpMul, y, factor)
		}
		if k < 4 {
			p = c.Binary(nn.OpMul, p, p)
		}
	}
	positive := c.As(c.Compare(nn.OpGreaterEqual, exponent, number(0)), nn.TensorInt32)
	one := c.As(c.Compare(nn.OpEqual, c.Unary(nn.OpAbs, base), number(1)), nn.TensorInt32)
	return c.Binary(nn.OpMul, y, c.Binary(nn.OpMaximum, positive, one))
}

// fold applies an operation of two operands to a list.
func fold(op nn.OperationType) func(*conversion) {
	return func(c *conversion) { c.define(0, c.folded(op)) }
}

func (c *conversion) folded(op nn.OperationType) uint32 {
	y := c.plain(c.x(0))
	for k := 1; k < len(c.in); k++ {
		a, b := c.Aligned(y, c.plain(c.x(k)))
		y = c.Binary(op, a, b)
	}
	if op != nn.OpAdd {
		return c.To(y, *c.Operand(c.x(0))) // one of its operands
	}
	return c.integral(c.x(0), y)
}

func mean(c *conversion) {
	y := c.asReals(c.folded(nn.OpAdd))
	c.define(0, c.Binary(nn.OpMul, y, c.Like(y, 1/float32(len(c.in)))))
}

// operand is input 0 of an operator with one operand, in the order of dimensions at hand.
func (c *conversion) operand() (x uint32, form int) {
	v := c.v(0)
	if v.imageOnly() {
		form = realImage
	}
	return c.number(c.narrow(c.form(v, real, form == realImage))), form
}

// number is an operator of one operand of any type of numbers.
func number(f func(c *conversion, x uint32) uint32) func(*conversion) {
	return func(c *conversion) {
		x, form := c.operand()
		c.defineMoved(0, f(c, x), form)
	}
}

// integer is an operation of one operand whose result may not fit the type: -(-128) is -128 in 8 bits.
func integer(op nn.OperationType) func(*conversion) {
	return number(func(c *conversion, x uint32) uint32 { return c.integral(x, c.Unary(op, c.plain(x))) })
}

// realOf is a function of reals that is composed.
func realOf(f func(c *conversion, x uint32) uint32) func(*conversion) {
	return func(c *conversion) {
		x, form := c.operand()
		c.defineMoved(0, f(c, c.asReals(x)), form)
	}
}

// function is a function of reals that NNAPI has.
func function(op nn.OperationType) func(*conversion) {
	return realOf(func(c *conversion, x uint32) uint32 { return c.Unary(op, x) })
}

// cast to a type of the file. Reals are truncated.
func (c *conversion) cast(t onnxfile.DataType) {
	out, ok := template(t)
	if !ok {
		c.Refusef("%s", lacksType(t))
	}
	v := c.v(0)
	form := real
	if v.imageOnly() {
		form = realImage
	}
	x := c.form(v, real, form == realImage)
	if w, wide := c.Wide[x]; wide && out.Type == nn.TensorFloat32 { // a constant beyond 32 bits
		list := make([]float32, len(w))
		for i, n := range w {
			list[i] = float32(n)
		}
		y := c.FloatTensor(c.Operand(x).Dimensions, list)
		c.ShapeLike(y, x)
		c.define(0, y)
		return
	} else if wide && out.Type == nn.TensorInt32 {
		c.bind(0, v)
		return
	}
	x = c.narrow(x)
	o := *c.Operand(x)
	if f, ok := smallFloats[t]; ok {
		c.defineMoved(0, c.roundedTo(f, c.As(c.plain(x), nn.TensorFloat32), c.flag("saturate", 1)), form)
		c.values[c.node.Outputs[0]].short = t
		return
	}
	if t == onnxfile.BFloat16 && o.Type != nn.TensorBool8 {
		c.defineMoved(0, c.rounded16(c.As(c.plain(x), nn.TensorFloat32)), form)
		return
	}
	if short := shortType(t); o.Type == out.Type && (short == 0 || short == v.short) {
		c.defineMoved(0, x, form)
		return
	}
	if o.Type == nn.TensorBool8 && out.Type.IsQuant8() {
		x = c.As(x, nn.TensorInt32)
	} else if o.Type == nn.TensorBool8 || out.Type == nn.TensorBool8 {
		c.defineMoved(0, c.As(c.plain(x), out.Type), form)
		return
	}
	x = c.plain(x)
	var y uint32
	switch {
	case t == onnxfile.Int4 || t == onnxfile.Uint4:
		y = c.Bytes(c.LowBits(c.As(x, nn.TensorInt32), 4, t == onnxfile.Int4), out.Type)
	case out.Type.IsQuant8():
		y = c.Wrapped(x, out.Type)
	default:
		y = c.As(x, out.Type)
	}
	if t == onnxfile.Int16 || t == onnxfile.Uint16 {
		y = c.LowBits(y, 16, t == onnxfile.Int16)
	}
	c.defineMoved(0, y, form)
	if v := c.values[c.node.Outputs[0]]; v != nil {
		v.short = shortType(t)
	}
}

// rounded16 rounds float32 to the 8 bits of mantissa that BFLOAT16 has, ties to even as the standard does since version
// 13, by Veltkamp's splitting: x (2^16 + 1) - (x (2^16 + 1) - x). Where the product overflows, x is scaled down before;
// infinities stay.
func (c *conversion) rounded16(x uint32) uint32 {
	split := func(x uint32) uint32 {
		wide := c.Binary(nn.OpMul, x, c.Like(x, 1<<16+1))
		return c.Binary(nn.OpSub, wide, c.Binary(nn.OpSub, wide, x))
	}
	size := c.Unary(nn.OpAbs, x)
	great := c.Binary(nn.OpMul, split(c.Binary(nn.OpMul, x, c.Like(x, 0x1p-32))), c.Like(x, 0x1p32))
	y := c.choose(c.Compare(nn.OpLess, size, c.Like(x, 0x1p100)), split(x), great)
	return c.choose(c.Compare(nn.OpLessEqual, size, c.Like(x, math.MaxFloat32)), y, x)
}

func castLike(c *conversion) {
	if t := c.v(1).short; t != 0 {
		c.cast(t)
		return
	}
	o := *c.Operand(c.real(c.v(1), false))
	for _, t := range []onnxfile.DataType{onnxfile.Float, onnxfile.Float16, onnxfile.Int32, onnxfile.Int8, onnxfile.Uint8, onnxfile.Bool} {
		if held[t] == o.Type {
			c.cast(t)
			return
		}
	}
	c.Refusef("it casts to %v", o.Type)
}

func cumSum(c *conversion) {
	x := c.x(0)
	y := c.CumSum(c.plain(x), c.Axis(c.one(1), c.Rank(x)), c.flag("exclusive", 0), c.flag("reverse", 0))
	c.define(0, c.To(y, *c.Operand(x)))
}

// compare is an operation whose results are booleans.
func compare(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		s := c.commonLayout(real, 0, 1)
		c.defineSame(c.Compare(op, c.plain(s.x[0]), c.plain(s.x[1])), s)
	}
}

func isNaN(c *conversion) {
	x, form := c.operand()
	c.defineMoved(0, c.Compare(nn.OpNotEqual, x, x), form)
}

// isInf compares with the greatest finite number.
func isInf(c *conversion) {
	x, form := c.operand()
	x = c.asReals(x)
	most := greatest(c.Operand(x).Type)
	above, below := c.Compare(nn.OpGreater, x, c.Like(x, most)), c.Compare(nn.OpLess, x, c.Like(x, -most))
	switch {
	case !c.flag("detect_negative", 1):
		below = above
	case !c.flag("detect_positive", 1):
		above = below
	}
	c.defineMoved(0, c.Compare(nn.OpLogicalOr, above, below), form)
}

// where broadcasts its operands; NNAPI's SELECT requires equal shapes.
func where(c *conversion) {
	cond, a, b := c.raw(0), c.x(1), c.x(2)
	all := c.Broadcast(c.Broadcast(c.Dims(cond), c.Dims(a)), c.Dims(b))
	b = c.To(b, *c.Operand(a))
	cond, a, b = c.BroadcastTo(cond, all), c.BroadcastTo(a, all), c.BroadcastTo(b, all)
	y := c.Emit(nn.OpSelect, *c.Operand(a), cond, a, b)
	c.ShapeLike(y, a)
	c.define(0, y)
}

// filled is a constant of equal elements of the file's shape, in the type of o.
func (g *graph) filled(o nn.Operand, shape []uint32, v float32) uint32 {
	if slices.Contains(shape, 0) {
		g.Refusef("the result is empty")
	}
	o.Dimensions, o.Name = lowering.Held(shape), ""
	y := g.Filled(o, v)
	g.SetShape(y, shape)
	return y
}
