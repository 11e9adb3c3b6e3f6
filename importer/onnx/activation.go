package onnx

import (
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// activationOperators are the activations.
var activationOperators = []operator{
	{name: "Relu", inputs: [2]int{1, 1}, convert: activation(nn.OpRelu)},
	{name: "Sigmoid", inputs: [2]int{1, 1}, convert: activation(nn.OpLogistic)},
	{name: "Tanh", inputs: [2]int{1, 1}, convert: activation(nn.OpTanh)},
	{name: "HardSwish", inputs: [2]int{1, 1}, convert: activation(nn.OpHardSwish)},
	{name: "Clip", inputs: [2]int{1, 3}, convert: clip},
	{name: "LeakyRelu", inputs: [2]int{1, 1}, convert: leakyRelu},
	{name: "PRelu", inputs: [2]int{2, 2}, convert: prelu},
	{name: "Elu", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.elu(x, c.float("alpha", 1)) })},
	{name: "Selu", inputs: [2]int{1, 1}, convert: realOf(selu)},
	{name: "Celu", inputs: [2]int{1, 1}, convert: realOf(celu)},
	{name: "Gelu", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Gelu(x, c.text("approximate", "none") == "tanh") })},
	{name: "Gelu", domain: microsoft, inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.Gelu(x, false) })},
	{name: "HardSigmoid", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 {
		return c.hardSigmoid(x, c.float("alpha", 0.2), c.float("beta", 0.5))
	})},
	{name: "ThresholdedRelu", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.thresholded(x, c.float("alpha", 1)) })},
	{name: "Softplus", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.softplus(x) })},
	{name: "Softsign", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.softsign(x) })},
	{name: "Mish", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 {
		return c.Binary(nn.OpMul, x, c.Unary(nn.OpTanh, c.softplus(x)))
	})},
	{name: "Shrink", inputs: [2]int{1, 1}, convert: realOf(shrink)},
	{name: "Softmax", inputs: [2]int{1, 1}, convert: softmax(nn.OpSoftmax)},
	{name: "LogSoftmax", inputs: [2]int{1, 1}, convert: softmax(nn.OpLogSoftmax)},
	{name: "Hardmax", inputs: [2]int{1, 1}, convert: hardmax},
	{name: "Dropout", inputs: [2]int{1, 3}, outputs: [2]int{1, 2}, convert: dropout},
}

// activation is a function that NNAPI has, of reals or of a quantized tensor.
func activation(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		if t, ok := c.quantizable(false, 0); ok {
			v := c.v(0)
			image := !v.has(quant)
			x := c.turned(c.quant(v, image), t.Type)
			y := c.Emit(op, t.Operand, x)
			c.ShapeLike(y, x)
			c.defineTarget(y, image, len(c.shape(v)), t)
			return
		}
		x, form := c.operand()
		y := x
		if op != nn.OpRelu || c.Operand(x).Type != nn.TensorInt32 {
			y = c.asReals(x)
		}
		y = c.Unary(op, y)
		c.defineMoved(0, c.To(y, *c.Operand(x)), form)
	}
}

// clipBounds are the bounds of a Clip, attributes before version 11.
func (c *conversion) clipBounds(n *onnxfile.Node) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, a := range n.Attributes {
		switch a.Name {
		case "min":
			lo = float64(a.Float)
		case "max":
			hi = float64(a.Float)
		}
	}
	for k, p := range map[int]*float64{1: &lo, 2: &hi} {
		name := input(n, k)
		if name == "" {
			continue
		}
		v, there := c.find(name)
		if !there || v.missing || v.forms[real] == none || !c.IsConst(v.forms[real]) {
			return 0, 0, false
		}
		x := v.forms[real]
		if list, ints := c.Ints(x); ints && len(list) == 1 {
			*p = float64(list[0])
		} else if list, reals := c.floatsOf(x); reals && len(list) == 1 {
			*p = float64(list[0])
		} else {
			return 0, 0, false
		}
	}
	if lo == -math.MaxFloat32 {
		lo = math.Inf(-1)
	}
	if hi == math.MaxFloat32 {
		hi = math.Inf(1)
	}
	return lo, hi, true
}

// clip is NNAPI's RELU, RELU1 or RELU6 where the bounds are theirs.
func clip(c *conversion) {
	ops := map[int64]nn.OperationType{int64(nn.ActRelu): nn.OpRelu, int64(nn.ActRelu1): nn.OpRelu1, int64(nn.ActRelu6): nn.OpRelu6}
	if code, ok := c.fusable(c.node, 0); ok {
		activation(ops[code])(c)
		return
	}
	x, form := c.operand()
	y := c.plain(x)
	lo, hi, known := c.clipBounds(c.node)
	for _, b := range []struct {
		op    nn.OperationType
		k     int
		bound float64
	}{{nn.OpMaximum, 1, lo}, {nn.OpMinimum, 2, hi}} {
		switch {
		case known && math.IsInf(b.bound, 0):
		case known && c.Operand(y).Type == nn.TensorInt32: // the nearest that 32 bits hold
			y = c.Binary(b.op, y, c.Int32Number(int64(min(max(b.bound, math.MinInt32), math.MaxInt32))))
		case known:
			y = c.Binary(b.op, y, c.Like(y, float32(b.bound)))
		case c.has(b.k):
			y = c.Binary(b.op, y, c.reshaped(c.plain(c.x(b.k)), []uint32{1}))
		}
	}
	c.defineMoved(0, c.integral(x, y), form)
}

// leaky is PRELU with one slope. A quantized slope is 1 at a scale of the slope.
func (c *conversion) leaky(x uint32, alpha float32, out nn.Operand) uint32 {
	slope := none
	switch o := c.Operand(x); {
	case o.Type.IsQuant8() && alpha > 0:
		// Stored as 64: a product by less than half a step would be rounded twice.
		slope = c.Constant(nn.Operand{Type: o.Type, Dimensions: []uint32{1}, Scale: alpha / 64, Data: []byte{64}})
	case o.Type.IsQuant8():
		c.Refusef("its slope is %v", alpha)
	default:
		slope = c.Like(x, alpha)
	}
	y := c.Emit(nn.OpPrelu, out, x, slope)
	c.ShapeLike(y, x)
	return y
}

func leakyRelu(c *conversion) {
	alpha := c.float("alpha", 0.01)
	if t, ok := c.quantizable(false, 0); ok && alpha > 0 {
		v := c.v(0)
		image := !v.has(quant)
		x := c.turned(c.quant(v, image), t.Type)
		c.defineTarget(c.leaky(x, alpha, t.Operand), image, len(c.shape(v)), t)
		return
	}
	x, form := c.operand()
	x = c.asReals(x)
	c.defineMoved(0, c.leaky(x, alpha, nn.Operand{Type: c.Operand(x).Type}), form)
}

// prelu broadcasts its slopes from the back, as NNAPI's does.
func prelu(c *conversion) {
	if c.opset < 7 {
		if shape, slopes := c.shape(c.v(0)), c.shape(c.v(1)); len(slopes) == 1 && len(shape) > 1 && slopes[0] == shape[1] {
			c.in[1] = c.valueOf(c.alongChannels(c.x(1), false, len(shape)))
		}
	}
	s := c.commonLayout(real, 0, 1)
	x := c.asReals(s.x[0])
	y := c.Emit(nn.OpPrelu, nn.Operand{Type: c.Operand(x).Type}, x, c.As(s.x[1], c.Operand(x).Type))
	c.ShapeLike(y, x)
	c.defineSame(c.To(y, *c.Operand(s.x[0])), s)
}

func (c *conversion) elu(x uint32, alpha float32) uint32 {
	y := c.Emit(nn.OpElu, nn.Operand{Type: c.Operand(x).Type}, x, c.ScalarLike(x, alpha))
	c.ShapeLike(y, x)
	return y
}

// selu is gamma * ELU(x).
func selu(c *conversion, x uint32) uint32 {
	y := c.elu(x, c.float("alpha", 1.67326319217681884765625))
	return c.Binary(nn.OpMul, y, c.Like(x, c.float("gamma", 1.05070102214813232421875)))
}

// celu is alpha * ELU(x / alpha) below zero: max(0, x) + min(0, alpha (exp(x / alpha) - 1)).
func celu(c *conversion, x uint32) uint32 {
	alpha := c.float("alpha", 1)
	below := c.elu(c.Binary(nn.OpMul, c.Binary(nn.OpMinimum, x, c.Like(x, 0)), c.Like(x, 1/alpha)), 1)
	return c.Binary(nn.OpAdd, c.Binary(nn.OpMaximum, x, c.Like(x, 0)), c.Binary(nn.OpMul, below, c.Like(x, alpha)))
}

func (c *conversion) hardSigmoid(x uint32, alpha, beta float32) uint32 {
	line := c.Binary(nn.OpAdd, c.Binary(nn.OpMul, x, c.Like(x, alpha)), c.Like(x, beta))
	return c.Clamp(line, 0, 1)
}

// thresholded is x above alpha and 0 elsewhere.
func (c *conversion) thresholded(x uint32, alpha float32) uint32 {
	above := c.As(c.Compare(nn.OpGreater, x, c.Like(x, alpha)), c.Operand(x).Type)
	return c.Binary(nn.OpMul, x, above)
}

// softplus is log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which no x makes infinite.
func (c *conversion) softplus(x uint32) uint32 {
	tail := c.Unary(nn.OpExp, c.Unary(nn.OpNeg, c.Unary(nn.OpAbs, x)))
	return c.Binary(nn.OpAdd, c.Binary(nn.OpMaximum, x, c.Like(x, 0)), c.Unary(nn.OpLog, c.Binary(nn.OpAdd, tail, c.Like(x, 1))))
}

func (c *conversion) softsign(x uint32) uint32 {
	return c.Binary(nn.OpDiv, x, c.Binary(nn.OpAdd, c.Unary(nn.OpAbs, x), c.Like(x, 1)))
}

// shrink moves elements farther than lambd from zero by bias towards it, and is 0 elsewhere.
func shrink(c *conversion, x uint32) uint32 {
	lambd, bias := c.float("lambd", 0.5), c.float("bias", 0)
	t := c.Operand(x).Type
	above := c.As(c.Compare(nn.OpGreater, x, c.Like(x, lambd)), t)
	below := c.As(c.Compare(nn.OpLess, x, c.Like(x, -lambd)), t)
	high := c.Binary(nn.OpMul, c.Binary(nn.OpSub, x, c.Like(x, bias)), above)
	low := c.Binary(nn.OpMul, c.Binary(nn.OpAdd, x, c.Like(x, bias)), below)
	return c.Binary(nn.OpAdd, high, low)
}

// activated applies an activation by its name, as in attributes of fused and recurrent operators, with its parameters.
// Exporters write names in any case.
func (c *conversion) activated(x uint32, name string, params []float32) uint32 {
	param := func(k int, initial float32) float32 {
		if k < len(params) {
			return params[k]
		}
		return initial
	}
	switch strings.ToLower(name) {
	case "relu":
		return c.Unary(nn.OpRelu, x)
	case "sigmoid":
		return c.Unary(nn.OpLogistic, x)
	case "tanh":
		return c.Unary(nn.OpTanh, x)
	case "leakyrelu":
		return c.leaky(x, param(0, 0.01), nn.Operand{Type: c.Operand(x).Type})
	case "clip":
		return c.Clamp(x, param(0, -math.MaxFloat32), param(1, math.MaxFloat32))
	case "hardsigmoid":
		return c.hardSigmoid(x, param(0, 0.2), param(1, 0.5))
	case "thresholdedrelu":
		return c.thresholded(x, param(0, 1))
	case "affine":
		return c.Binary(nn.OpAdd, c.Binary(nn.OpMul, x, c.Like(x, param(0, 1))), c.Like(x, param(1, 0)))
	case "scaledtanh":
		return c.Binary(nn.OpMul, c.Unary(nn.OpTanh, c.Binary(nn.OpMul, x, c.Like(x, param(1, 1)))), c.Like(x, param(0, 1)))
	case "elu":
		return c.elu(x, param(0, 1))
	case "softsign":
		return c.softsign(x)
	case "softplus":
		return c.softplus(x)
	}
	c.Refusef("the activation %q is not known", name)
	return none
}

// softmax along one axis; before version 13 over all dimensions from the axis on.
func softmax(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		t, integers := c.quantizable(false, 0)
		integers = integers && op == nn.OpSoftmax
		v := c.v(0)
		kind, out := real, nn.Operand{}
		if integers {
			kind, out = quant, t.Operand
		}
		give := func(x uint32) {
			if integers {
				c.defineTarget(x, false, 0, t)
				return
			}
			c.define(0, x)
		}
		x := c.form(v, kind, false)
		if integers {
			x = c.turned(x, t.Type)
		} else {
			x = c.asReals(c.number(x))
			out = nn.Operand{Type: c.Operand(x).Type}
		}
		if c.isOpen(v) {
			give(c.softmaxOpen(op, out, x))
			return
		}
		shape := c.shape(v)
		if len(shape) == 0 {
			give(c.filled(*c.Operand(x), shape, map[nn.OperationType]float32{nn.OpSoftmax: 1}[op]))
			return
		}
		axis := c.Axis(c.int("axis", map[bool]int64{true: -1, false: 1}[c.opset >= 13]), len(shape))
		flat := []uint32{uint32(nn.Elements(shape[:axis])), shape[axis], uint32(nn.Elements(shape[axis+1:]))}
		if c.opset < 13 {
			flat = []uint32{flat[0], flat[1] * flat[2]}
		}
		beta := c.ScalarLike(x, 1)
		switch {
		case flat[len(flat)-1] == 1 || len(flat) == 2: // the last axis with more than one element
			rows := c.reshaped(x, flat[:2])
			in := []uint32{rows, beta}
			if op == nn.OpLogSoftmax {
				in = append(in, c.Int32Scalar(-1))
			}
			give(c.Reshape(c.Emit(op, out, in...), shape))
		default:
			give(c.Reshape(c.Emit(op, out, c.reshaped(x, flat), beta, c.Int32Scalar(1)), shape))
		}
	}
}

// softmaxOpen is a softmax along the last axis of a tensor whose shape only an execution knows.
func (c *conversion) softmaxOpen(op nn.OperationType, out nn.Operand, x uint32) uint32 {
	rank := c.Rank(c.Unmerged(x))
	if axis := c.Axis(c.int("axis", map[bool]int64{true: -1, false: 1}[c.opset >= 13]), rank); axis != rank-1 {
		c.Refusef("it is along axis %d of %d of a shape that is known only during execution, the last one is supported", axis, rank)
	}
	return c.Emit(op, out, x, c.ScalarLike(x, 1), c.Int32Scalar(-1))
}

// hardmax is 1 at the first of the greatest elements, 0 elsewhere.
func hardmax(c *conversion) {
	x := c.reals(0)
	shape := c.Dims(x)
	axis := c.Axis(c.int("axis", map[bool]int64{true: -1, false: 1}[c.opset >= 13]), len(shape))
	flat := []uint32{uint32(nn.Elements(shape[:axis])), shape[axis], uint32(nn.Elements(shape[axis+1:]))}
	if c.opset < 13 {
		flat = []uint32{flat[0], flat[1] * flat[2], 1}
	}
	at := c.Argument(nn.OpArgmax, nn.Operand{Type: nn.TensorInt32}, c.reshaped(x, flat), 1)
	c.define(0, c.Reshape(c.OneHot(at, int64(flat[1]), c.Like(x, 1), c.Like(x, 0), 1), shape))
}

// dropout drops nothing when a network is used.
func dropout(c *conversion) {
	if c.has(2) {
		train, known := c.Ints(c.real(c.v(2), false))
		switch {
		case !known:
			c.Refusef(laterDrops)
		case len(train) != 1 || train[0] != 0 && c.scalar(1, 0.5) != 0:
			c.Refusef(noDrops)
		}
	}
	c.bind(0, c.v(0))
	if c.isRead(1) {
		c.define(1, c.filled(nn.Operand{Type: nn.TensorBool8}, c.shape(c.v(0)), 1))
	}
}
