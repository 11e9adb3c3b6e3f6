package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// Quantized networks have two styles. In QDQ style every quantized tensor passes a DequantizeLinear before an operator
// on reals and a QuantizeLinear after it; where all inputs of an operator are quantized so and its output is read by a
// QuantizeLinear, the operation is NNAPI's on the quantized tensors. In QLinear style operators name the quantizations
// of their 8-bit inputs and outputs.

// quantizationOperators are the operators between reals and quantized tensors.
var quantizationOperators = []operator{
	{name: "QuantizeLinear", inputs: [2]int{2, 3}, convert: quantizeLinear},
	{name: "DequantizeLinear", inputs: [2]int{2, 3}, convert: dequantizeLinear},
	{name: "DynamicQuantizeLinear", inputs: [2]int{1, 1}, outputs: [2]int{3, 3}, convert: dynamicQuantizeLinear},
	{name: "QuantizeLinear", domain: microsoft, inputs: [2]int{2, 3}, convert: quantizeLinear},
	{name: "DequantizeLinear", domain: microsoft, inputs: [2]int{2, 3}, convert: dequantizeLinear},
}

// microsoft is the domain of ONNX Runtime's own operators, which its quantizer writes.
const microsoft = "com.microsoft"

// quantized is an operand of a type with one scale and zero point.
func quantized(t nn.OperandType, scale float32, zero int32) nn.Operand {
	return nn.Operand{Type: t, Scale: scale, ZeroPoint: zero}
}

// quantization reads a scale and a zero point that are constants of one element; ok is false for others. Without a
// zero point the type is uint8.
func (g *graph) quantization(scale, zero string) (o nn.Operand, ok bool) {
	s, ok := g.constantFloats(scale)
	if !ok || len(s) != 1 || !(s[0] > 0) || math.IsInf(float64(s[0]), 1) {
		return o, false
	}
	o = quantized(nn.TensorQuant8Asymm, s[0], 0)
	if zero == "" {
		return o, true
	}
	v, there := g.find(zero)
	if !there || v.missing || v.forms[real] == none || v.short != 0 {
		return o, false
	}
	z, ok := g.Ints(v.forms[real])
	if !ok || len(z) != 1 {
		return o, false
	}
	o.Type, o.ZeroPoint = g.Operand(v.forms[real]).Type, int32(z[0])
	return o, o.Type.IsQuant8()
}

// input is the name of input k, "" when it is omitted.
func input(n *onnxfile.Node, k int) string {
	if k < len(n.Inputs) {
		return n.Inputs[k]
	}
	return ""
}

// quantizedInputs are the inputs of operators that a scale and a zero point follow.
var quantizedInputs = map[string][]int{
	"DequantizeLinear": {0}, "QLinearConv": {0, 3}, "QLinearMatMul": {0, 3}, "QLinearAdd": {0, 3}, "QLinearMul": {0, 3},
	"QLinearSigmoid": {0}, "QLinearLeakyRelu": {0}, "QLinearGlobalAveragePool": {0},
}

// movers are operators that pass an 8-bit tensor on as it is.
var movers = map[string]bool{"Transpose": true, "Reshape": true, "Flatten": true, "Squeeze": true, "Unsqueeze": true, "Identity": true, "Slice": true, "MaxPool": true}

// quantizationOfUses is the quantization of an 8-bit tensor that all its readers agree on,
// also behind operators that only move it.
func (g *graph) quantizationOfUses(name string) (scale float32, zero int32, ok bool) {
	return g.usesAgree(name, 16)
}

func (g *graph) usesAgree(name string, depth int) (scale float32, zero int32, ok bool) {
	for i, u := range g.uses[name] {
		var s float32
		var z int32
		switch {
		case u.node == nil || depth == 0:
			return 0, 0, false
		case movers[u.node.Op] && u.input == 0 && len(u.node.Outputs) > 0:
			if s, z, ok = g.usesAgree(u.node.Outputs[0], depth-1); !ok {
				return 0, 0, false
			}
		case slices.Contains(quantizedInputs[u.node.Op], u.input):
			o, known := g.quantization(input(u.node, u.input+1), input(u.node, u.input+2))
			if !known {
				return 0, 0, false
			}
			s, z = o.Scale, o.ZeroPoint
		default:
			return 0, 0, false
		}
		if i > 0 && (s != scale || z != zero) {
			return 0, 0, false
		}
		scale, zero, ok = s, z, true
	}
	return scale, zero, ok
}

// target is the quantization of an operator's output, and the activation before it.
type target struct {
	nn.Operand
	activation int64            // NNAPI's code of one that is fused
	through    []*onnxfile.Node // the nodes of the activation
}

// target finds the one quantization that all readers of output 0 require, perhaps after an activation that NNAPI fuses.
func (c *conversion) target(fuse bool) (t target, ok bool) {
	name := c.node.Outputs[0]
	for {
		list := c.uses[name]
		if len(list) == 0 {
			return t, false
		}
		if n := list[0].node; fuse && len(list) == 1 && n != nil && len(t.through) == 0 {
			if code, ok := c.fusable(n, list[0].input); ok {
				t.activation, t.through, name = code, []*onnxfile.Node{n}, n.Outputs[0]
				continue
			}
		}
		for i, u := range list {
			if u.node == nil || u.node.Op != "QuantizeLinear" || u.input != 0 {
				return t, false
			}
			o, ok := c.quantizationBy(u.node)
			if !ok || i > 0 && (o.Type != t.Type || o.Scale != t.Scale || o.ZeroPoint != t.ZeroPoint) {
				return t, false
			}
			t.Operand = o
		}
		return t, true
	}
}

// fusable is NNAPI's code of the activation that a node is.
func (c *conversion) fusable(n *onnxfile.Node, k int) (code int64, ok bool) {
	if k != 0 || len(n.Outputs) != 1 || domain(n.Domain) != "" {
		return 0, false
	}
	switch n.Op {
	case "Relu":
		return int64(nn.ActRelu), true
	case "Clip":
		lo, hi, ok := c.clipBounds(n)
		switch {
		case !ok:
		case lo == 0 && hi == 6:
			return int64(nn.ActRelu6), true
		case lo == -1 && hi == 1:
			return int64(nn.ActRelu1), true
		case lo == 0 && math.IsInf(hi, 1):
			return int64(nn.ActRelu), true
		}
	}
	return 0, false
}

// follower is the activation that alone reads a tensor of reals, with NNAPI's code of it; nil
// where there is none that can be fused.
func (c *conversion) follower(name string) (n *onnxfile.Node, code int64) {
	list := c.uses[name]
	if len(list) != 1 || list[0].node == nil {
		return nil, 0
	}
	if code, ok := c.fusable(list[0].node, list[0].input); ok {
		return list[0].node, code
	}
	return nil, 0
}

// defineThrough makes y the value of output 0 and of the nodes that were fused into it.
func (c *conversion) defineThrough(form int, y uint32, rank int, through ...*onnxfile.Node) {
	c.defineAs(0, form, y, rank)
	for _, n := range through {
		if n != nil {
			c.fused[n] = true
			c.values[n.Outputs[0]] = c.values[c.node.Outputs[0]]
		}
	}
}

// defineTarget sets output 0, and the activation that it passed, to a quantized operand.
func (c *conversion) defineTarget(x uint32, image bool, rank int, t target) {
	form := quant
	if image {
		form = quantImage
	}
	c.defineThrough(form, x, rank, t.through...)
}

// sameEncoding reports whether x already has type and quantization of o.
func sameEncoding(x, o *nn.Operand) bool {
	return x.Type == o.Type && x.Scale == o.Scale && x.ZeroPoint == o.ZeroPoint && x.Channel == nil
}

// reinterpreted is an 8-bit tensor whose elements represent other reals than its operand declares. A constant adopts
// the quantization; others are computed.
func (g *graph) reinterpreted(x uint32, o nn.Operand) uint32 {
	old := *g.Operand(x)
	switch {
	case sameEncoding(&old, &o):
		return x
	case old.IsConst():
		old.Scale, old.ZeroPoint = o.Scale, o.ZeroPoint
		y := g.Add(old)
		g.ShapeLike(y, x)
		return y
	}
	reals := g.As(g.Binary(nn.OpSub, g.steps(x), g.Int32Number(int64(o.ZeroPoint))), nn.TensorFloat32)
	return g.To(g.Binary(nn.OpMul, reals, g.Real(o.Scale)), o)
}

// alike is x in the type of o. Of 8-bit integers the elements stay, whatever reals a quantization makes of them.
func (g *graph) alike(x uint32, o nn.Operand) uint32 {
	if o.Type.IsQuant8() && g.Operand(x).Type == o.Type {
		return g.reinterpreted(x, o)
	}
	return g.To(x, o)
}

// turned is a quantized tensor in another 8-bit type: zero point and elements move by 128.
func (g *graph) turned(x uint32, t nn.OperandType) uint32 {
	o := *g.Operand(x)
	if o.Type == t || o.Channel != nil {
		return x
	}
	to := o
	to.Type, to.Data = t, nil
	if t == nn.TensorQuant8Asymm {
		to.ZeroPoint += 128
	} else {
		to.ZeroPoint -= 128
	}
	if !o.IsConst() {
		return g.To(x, to)
	}
	g.Spend(int64(len(o.Data)))
	to.Data = make([]byte, len(o.Data))
	for i, b := range o.Data {
		to.Data[i] = b ^ 0x80
	}
	y := g.Add(to)
	g.ShapeLike(y, x)
	return y
}

// quantizeLinear emits nothing where the operator before it produces the quantized tensor.
func quantizeLinear(c *conversion) {
	v := c.v(0)
	o, ok := c.quantizationBy(c.node)
	if !ok {
		t := c.quantizedType()
		c.define(0, c.quantizeByAxis(t))
		if k := c.node.Outputs[0]; k != "" {
			c.values[k].short = shortType(t)
		}
		return
	}
	kind := real
	if v.quantized() {
		kind = quant
	}
	image := v.forms[kind] == none && v.forms[kind+1] != none
	x := c.form(v, kind, image)
	y := c.quantizedEven(x, kind, o)
	form, rank := real, 0
	if image {
		form, rank = realImage, v.rank
	}
	c.defineAs(0, form, y, rank)
}

// quantizedEven is a tensor in the quantization of o. A tie goes to the even step: NNAPI's QUANTIZE, whose ties go away
// from zero, receives multiples of the scale. Of 8-bit tensors all 256 values are tried: where none of them is a tie
// that matters, a rescaling is enough.
func (c *conversion) quantizedEven(x uint32, kind int, o nn.Operand) uint32 {
	if kind == quant {
		if from := c.Operand(x); from.Channel != nil || c.requantizesEven(from, o) {
			return c.Rescaled(x, o)
		}
		x = c.dequantized(x)
	} else {
		x = c.asReals(c.number(x))
	}
	return c.To(c.RoundToMultiple(x, o.Scale), o)
}

// requantizesEven reports whether a rescaling maps each value of an 8-bit type as the standard does, ties to even.
func (c *conversion) requantizesEven(from *nn.Operand, to nn.Operand) bool {
	if !from.Type.IsQuant8() {
		return false
	}
	low := 0
	if from.Type == nn.TensorQuant8AsymmSigned {
		low = math.MinInt8
	}
	all := nn.Operand{Type: from.Type, Scale: from.Scale, ZeroPoint: from.ZeroPoint, Dimensions: []uint32{256}}
	for i := range 256 {
		all.Data = append(all.Data, byte(low+i))
	}
	got := c.Operand(c.Rescaled(c.Constant(all), to))
	if !got.IsConst() { // the budget of constants is spent
		return false
	}
	least, most := 0.0, 255.0
	if to.Type == nn.TensorQuant8AsymmSigned {
		least, most = math.MinInt8, math.MaxInt8
	}
	for i, b := range got.Data {
		reals := float32(low+i-int(from.ZeroPoint)) * from.Scale
		right := math.RoundToEven(float64(reals/to.Scale)) + float64(to.ZeroPoint)
		if byte(int(min(max(right, least), most))) != b {
			return false
		}
	}
	return true
}

// stepLimits are the least and the greatest integer of the types that reals are quantized to.
var stepLimits = map[onnxfile.DataType][2]float32{
	onnxfile.Uint8: {0, math.MaxUint8}, onnxfile.Int8: {math.MinInt8, math.MaxInt8}, onnxfile.Uint16: {0, math.MaxUint16}, onnxfile.Int16: {math.MinInt16, math.MaxInt16},
	onnxfile.Uint4: {0, 15}, onnxfile.Int4: {-8, 7},
}

// quantizationBy is the quantization of a QuantizeLinear to 8-bit integers by one scale; ok is false for others.
func (g *graph) quantizationBy(n *onnxfile.Node) (o nn.Operand, ok bool) {
	o, ok = g.quantization(input(n, 1), input(n, 2))
	if input(n, 2) != "" {
		return o, ok
	}
	switch t := statedType(n); t {
	case onnxfile.Undefined, onnxfile.Uint8:
	case onnxfile.Int8:
		o.Type = nn.TensorQuant8AsymmSigned
	default:
		return o, false
	}
	return o, ok
}

// statedType is the type that a QuantizeLinear without a zero point states.
func statedType(n *onnxfile.Node) onnxfile.DataType {
	for _, a := range n.Attributes {
		if a.Name == "output_dtype" && a.Type == onnxfile.AttributeInt {
			return onnxfile.DataType(a.Int)
		}
	}
	return onnxfile.Undefined
}

// quantizedType is the type of the result of the QuantizeLinear that is converted: its zero point's.
func (c *conversion) quantizedType() onnxfile.DataType {
	if !c.has(2) {
		if t := statedType(c.node); t != onnxfile.Undefined {
			return t
		}
		return onnxfile.Uint8
	}
	v := c.v(2)
	switch o := c.Operand(c.real(v, false)); {
	case v.short != 0:
		return v.short
	case o.Type == nn.TensorQuant8AsymmSigned:
		return onnxfile.Int8
	case o.Type == nn.TensorInt32:
		return onnxfile.Int16 // held as such after an operator that lost the type
	}
	return onnxfile.Uint8
}

// quantizeByAxis composes a quantization with scales along an axis, with one that is known only during execution, or to
// other integers than of 8 bits: clamp(round(x / scale) + zero).
func (c *conversion) quantizeByAxis(t onnxfile.DataType) uint32 {
	x := c.reals(0)
	shape := c.Dims(x)
	if f, ok := smallFloats[t]; ok {
		return c.roundedTo(f, c.As(c.Binary(nn.OpDiv, x, c.alongAxis(c.reals(1), shape)), nn.TensorFloat32), c.flag("saturate", 1))
	}
	limits, ok := stepLimits[t]
	if !ok {
		c.Refusef("it quantizes to %v; integers of 4, 8 and 16 bits and reals of 4 and 8 bits are supported", t)
	}
	lo, hi, out := limits[0], limits[1], held[t]
	steps := c.RoundSteps(x, c.alongAxis(c.reals(1), shape))
	if c.has(2) {
		steps = c.Binary(nn.OpAdd, steps, c.alongAxis(c.As(c.asInt32(2), nn.TensorFloat32), shape))
	}
	steps = c.Clamp(steps, lo, hi)
	if out.IsQuant8() {
		return c.Bytes(steps, out)
	}
	return c.As(steps, out)
}

// asInt32 is input k as int32.
func (c *conversion) asInt32(k int) uint32 {
	x := c.raw(k)
	if c.Operand(x).Type.IsQuant8() {
		return c.steps(x)
	}
	return c.As(x, nn.TensorInt32)
}

// alongAxis reshapes a list of scales or zero points to broadcast along the operator's axis.
func (c *conversion) alongAxis(x uint32, shape []uint32) uint32 {
	d := c.Dims(x)
	if nn.Elements(d) == 1 {
		return c.reshaped(x, []uint32{1})
	}
	axis := c.Axis(c.int("axis", 1), len(shape))
	if len(d) != 1 {
		return c.perBlock(x, axis, shape)
	}
	along := slices.Repeat([]uint32{1}, len(shape))
	along[axis] = d[0]
	return c.reshaped(x, along)
}

// perBlock repeats scales or zero points for the elements of their blocks along an axis.
func (c *conversion) perBlock(x uint32, axis int, shape []uint32) uint32 {
	block, d := c.int("block_size", 0), slices.Clone(c.Dims(x))
	if block < 1 || len(d) != len(shape) || int64(d[axis]) != (int64(shape[axis])+block-1)/block {
		c.Failf("scales of shape %v for blocks of %d elements of shape %v", d, block, shape)
	}
	if d[axis] = shape[axis]; !slices.Equal(d, shape) {
		c.Failf("scales of shape %v for shape %v", c.Dims(x), shape)
	}
	places := make([]int64, shape[axis])
	for i := range places {
		places[i] = int64(i) / block
	}
	return c.GatherAxis(x, axis, c.Int32Tensor(places...))
}

// dequantizeLinear keeps the quantized tensor for the operator that follows.
func dequantizeLinear(c *conversion) {
	v := c.v(0)
	image := v.forms[real] == none
	x := c.form(v, real, image)
	old := *c.Operand(x)
	if old.Type == nn.TensorFloat32 { // reals of 8 bits and less, whose zero point is 0
		x = c.raw(0)
		c.define(0, c.Binary(nn.OpMul, x, c.As(c.alongAxis(c.reals(1), c.Dims(x)), nn.TensorFloat32)))
		return
	}
	scale := c.real(c.v(1), false)
	s, known := c.floatsOf(scale)
	known = known && c.IsConst(scale)
	zeros := []int64{0}
	if c.has(2) {
		z, ok := c.Ints(c.real(c.v(2), false))
		known = known && ok
		zeros = z
	}
	if !known {
		x = c.raw(0)
		shape := c.Dims(x)
		steps := c.asReals(c.asInt32(0))
		if c.has(2) {
			steps = c.Binary(nn.OpSub, steps, c.alongAxis(c.asReals(c.asInt32(2)), shape))
		}
		c.define(0, c.Binary(nn.OpMul, steps, c.alongAxis(c.asReals(scale), shape)))
		return
	}
	if old.IsConst() {
		c.dequantizedConstant(c.real(v, false), s, zeros)
		return
	}
	if len(s) != 1 || len(zeros) != 1 || !old.Type.IsQuant8() {
		x = c.raw(0)
		shape := c.Dims(x)
		steps := c.asReals(c.asInt32(0))
		if slices.ContainsFunc(zeros, func(z int64) bool { return z != 0 }) {
			steps = c.Binary(nn.OpSub, steps, c.alongAxis(c.asReals(c.asInt32(2)), shape))
		}
		c.define(0, c.Binary(nn.OpMul, steps, c.alongAxis(c.asReals(scale), shape)))
		return
	}
	o := quantized(old.Type, s[0], int32(zeros[0]))
	if !(s[0] > 0) {
		c.Failf("scale %v", s[0])
	}
	form, rank := quant, 0
	if image {
		form, rank = quantImage, v.rank
	}
	c.defineAs(0, form, c.reinterpreted(x, o), rank)
}

// dequantizedConstant is a constant with its quantization: one of NNAPI's where there is
// one, the reals else.
func (c *conversion) dequantizedConstant(x uint32, scales []float32, zeros []int64) {
	o := *c.Operand(x)
	shape := c.Dims(x)
	plain := !slices.ContainsFunc(zeros, func(z int64) bool { return z != 0 })
	positive := !slices.ContainsFunc(scales, func(s float32) bool { return !(s > 0) || math.IsInf(float64(s), 1) })
	switch axis := c.int("axis", 1); {
	case !positive:
	case len(scales) == 1 && len(zeros) == 1 && (o.Type.IsQuant8() || o.Type == nn.TensorInt32 && plain):
		o.Scale, o.ZeroPoint = scales[0], int32(zeros[0])
		y := c.Add(o)
		c.ShapeLike(y, x)
		c.defineAs(0, quant, y, 0)
		return
	case len(scales) > 1 && plain && len(shape) <= 4 && o.Type == nn.TensorQuant8AsymmSigned && c.int("block_size", 0) == 0:
		d := c.Axis(axis, len(shape))
		if int(shape[d]) != len(scales) {
			c.Failf("%d scales along dimension %d of shape %v", len(scales), d, shape)
		}
		o.Type, o.Scale, o.Channel = nn.TensorQuant8SymmPerChannel, 0, &nn.ChannelQuant{Dim: uint32(d), Scales: slices.Clone(scales)}
		c.defineAs(0, quant, c.Add(o), 0)
		return
	}
	axis := 0
	if len(scales) > 1 {
		axis = c.Axis(c.int("axis", 1), len(shape))
	}
	y := c.dequantizeConstant(x, scales, zeros, axis, c.int("block_size", 0))
	if c.Operand(c.real(c.v(1), false)).Type == nn.TensorFloat16 {
		y = c.As(y, nn.TensorFloat16)
	}
	c.define(0, y)
}

// dequantizeConstant computes (x - zero) * scale of a constant; scales follow an axis, one
// for block elements along it where block is not 0.
func (g *graph) dequantizeConstant(x uint32, scales []float32, zeros []int64, axis int, block int64) uint32 {
	list, ok := g.Ints(x)
	if !ok {
		g.Refusef("it dequantizes %v", g.Operand(x).Type)
	}
	shape := g.Dims(x)
	g.Spend(8 * int64(len(list)))
	inner, along := int64(1), int64(1)
	if len(shape) > 0 {
		inner, along = nn.Elements(shape[axis+1:]), int64(shape[axis])
	}
	if block <= 0 {
		block = 1
	} else if inner*((along+block-1)/block) > int64(len(scales)) {
		g.Failf("%d scales for blocks of %d in shape %v", len(scales), block, shape)
	}
	reals := make([]float32, len(list))
	for i, v := range list {
		k, z := int64(0), int64(0)
		if len(scales) > 1 {
			at := int64(i) / inner % along
			if k = at; block > 1 || int64(len(scales)) != along {
				steps := (along + block - 1) / block
				k = (int64(i)/(inner*along)*steps+at/block)*inner + int64(i)%inner
			}
		}
		if k >= int64(len(scales)) || len(zeros) > 1 && k >= int64(len(zeros)) {
			g.Failf("%d scales and %d zero points for shape %v", len(scales), len(zeros), shape)
		}
		if len(zeros) > 1 {
			z = zeros[k]
		} else if len(zeros) == 1 {
			z = zeros[0]
		}
		reals[i] = float32(v-z) * scales[k]
	}
	y := g.FloatTensor(lowering.Held(shape), reals)
	g.SetShape(y, shape)
	return y
}

// dynamicQuantizeLinear computes scale and zero point of its input and quantizes it to uint8.
func dynamicQuantizeLinear(c *conversion) {
	x := c.reals(0)
	q := c.dynamicallyQuantized(x)
	for k, r := range []uint32{q.steps, q.scale, q.zero} {
		y := r
		if k != 1 {
			y = c.Bytes(r, nn.TensorQuant8Asymm)
		}
		c.ShapeLike(y, x)
		if k > 0 {
			c.Shape[y] = nil
		}
		c.define(k, y)
	}
}

// dynamic are reals as uint8 steps of a scale from a zero point that follow from their range, all in reals.
type dynamic struct{ steps, scale, zero uint32 }

// dynamicallyQuantized computes
//
//	scale = (max(x, 0) - min(x, 0)) / 255,  zero = round(-min / scale)
func (c *conversion) dynamicallyQuantized(x uint32) dynamic {
	all := make([]int64, c.Rank(x))
	for i := range all {
		all[i] = int64(i)
	}
	extreme := func(op, with nn.OperationType) uint32 {
		return c.Binary(with, c.Reduce(op, nn.Operand{Type: c.Operand(x).Type}, x, all, false), c.Like(x, 0))
	}
	least, most := extreme(nn.OpReduceMin, nn.OpMinimum), extreme(nn.OpReduceMax, nn.OpMaximum)
	scale := c.Binary(nn.OpMul, c.Binary(nn.OpSub, most, least), c.Like(x, 1.0/255))
	zero := c.Clamp(c.RoundSteps(c.Unary(nn.OpNeg, least), scale), 0, 255)
	return dynamic{c.Clamp(c.Binary(nn.OpAdd, c.RoundSteps(x, scale), zero), 0, 255), scale, zero}
}

// int32s are the elements of a constant TENSOR_INT32.
func int32s(o *nn.Operand) []int32 {
	list := make([]int32, len(o.Data)/4)
	for i := range list {
		list[i] = int32(binary.LittleEndian.Uint32(o.Data[4*i:]))
	}
	return list
}
