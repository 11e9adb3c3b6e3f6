package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// shapeOperators are the operators of shape and data movement other than slices.
var shapeOperators = []operator{
	{name: "Reshape", inputs: [2]int{1, 2}, convert: reshape},
	{name: "Flatten", inputs: [2]int{1, 1}, convert: flatten},
	{name: "Squeeze", inputs: [2]int{1, 2}, convert: squeeze},
	{name: "Unsqueeze", inputs: [2]int{1, 2}, convert: unsqueeze},
	{name: "Transpose", inputs: [2]int{1, 1}, convert: transpose},
	{name: "Concat", inputs: [2]int{1, many}, convert: concat},
	{name: "Expand", inputs: [2]int{2, 2}, convert: expand},
	{name: "Tile", inputs: [2]int{2, 2}, convert: func(c *conversion) { x, form := c.moved(true); c.defineMoved(0, c.TileAny(x, c.list(1)), form) }},
	{name: "Pad", inputs: [2]int{1, 4}, convert: pad},
	{name: "Identity", inputs: [2]int{1, 1}, convert: func(c *conversion) { c.bind(0, c.v(0)) }},
	{name: "Shape", inputs: [2]int{1, 1}, convert: shapeOperator},
	{name: "Size", inputs: [2]int{1, 1}, convert: size},
	{name: "Constant", inputs: [2]int{0, 0}, convert: constant},
	{name: "ConstantOfShape", inputs: [2]int{1, 1}, convert: constantOfShape},
	{name: "Range", inputs: [2]int{3, 3}, convert: rangeOperator},
	{name: "EyeLike", inputs: [2]int{1, 1}, convert: eyeLike},
	{name: "DepthToSpace", inputs: [2]int{1, 1}, convert: depthToSpace},
	{name: "SpaceToDepth", inputs: [2]int{1, 1}, convert: spaceToDepth},
}

// defineInts makes a constant of integers the value of output 0.
func (c *conversion) defineInts(shape []uint32, list ...int64) {
	x := c.Int32Shaped(lowering.Held(shape), list)
	if len(shape) == 0 {
		x = c.Add(*c.Operand(x)) // constants of one element may be shared
		c.Shape[x] = nil
	}
	c.define(0, x)
}

// defineShaped sets output 0 to input 0 with another shape, in the file's order of dimensions, since a shape does not
// determine the order of an image's elements.
func (c *conversion) defineShaped(shape []uint32) {
	x, form := c.moved(true)
	y := c.reshaped(x, shape)
	c.defineMoved(0, y, form)
}

func reshape(c *conversion) {
	old, list := c.shape(c.v(0)), c.ints("shape") // an attribute before version 5
	if c.has(1) {
		list = c.list(1)
	}
	n, open, rest := nn.Elements(old), -1, int64(1)
	for i, d := range list {
		switch {
		case d == 0 && !c.flag("allowzero", 0):
			if i >= len(old) {
				c.Failf("new shape %v takes dimension %d of shape %v", list, i, old)
			}
			list[i] = int64(old[i])
			rest *= list[i]
		case d == -1 && open < 0:
			open = i
		case d < 0 || d > nn.MaxElements || d > 0 && rest > nn.MaxElements/d:
			c.Failf("new shape %v", list)
		default:
			rest *= d
		}
		if rest > nn.MaxElements {
			c.Failf("new shape %v is too large", list)
		}
	}
	switch {
	case open >= 0 && rest > 0:
		list[open] = n / rest
		rest *= list[open]
	case open >= 0: // no elements, whatever it is
		list[open] = 0
	}
	if rest != n {
		c.Failf("new shape %v for %d elements", list, n)
	}
	c.defineShaped(c.Unsigned(list))
}

func flatten(c *conversion) {
	shape := c.shape(c.v(0))
	axis := c.int("axis", 1)
	if axis < 0 {
		axis += int64(len(shape))
	}
	if axis < 0 || axis > int64(len(shape)) {
		c.Failf("axis %d of rank %d", axis, len(shape))
	}
	c.defineShaped([]uint32{uint32(nn.Elements(shape[:axis])), uint32(nn.Elements(shape[axis:]))})
}

// axes reads axes from an attribute or, from some version on, from input k; nil when neither is present.
func (c *conversion) axes(k int) []int64 {
	if c.has(k) {
		return c.list(k)
	}
	return c.ints("axes")
}

func squeeze(c *conversion) {
	shape := c.shape(c.v(0))
	list := c.axes(1)
	var out []uint32
	drop := make([]bool, len(shape))
	for _, a := range list {
		i := c.Axis(a, len(shape))
		if shape[i] != 1 {
			c.Failf("dimension %d of shape %v is not 1", a, shape)
		}
		drop[i] = true
	}
	for i, d := range shape {
		if !drop[i] && (list != nil || d != 1) {
			out = append(out, d)
		}
	}
	c.defineShaped(out)
}

func unsqueeze(c *conversion) {
	shape := c.shape(c.v(0))
	if len(shape) == 0 && c.has(1) { // wherever the axes are
		c.defineShaped(slices.Repeat([]uint32{1}, c.length(1)))
		return
	}
	list := c.axes(1)
	rank := len(shape) + len(list)
	fresh := make([]bool, rank)
	for _, a := range list {
		i := c.Axis(a, rank)
		if fresh[i] {
			c.Failf("axis %d is added twice", a)
		}
		fresh[i] = true
	}
	var out []uint32
	for i := range rank {
		if fresh[i] {
			out = append(out, 1)
		} else {
			out, shape = append(out, shape[0]), shape[1:]
		}
	}
	c.defineShaped(out)
}

// transpose between the two orders of an image moves nothing: the value is in the other
// order already, or counts as such.
func transpose(c *conversion) {
	v := c.v(0)
	rank := c.rank(v)
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = rank - 1 - i
	}
	if list := c.ints("perm"); list != nil {
		if len(list) != rank {
			c.Failf("perm %v for rank %d", list, rank)
		}
		for i, p := range list {
			perm[i] = c.Axis(p, rank)
		}
	}
	for i, p := range perm {
		if slices.Contains(perm[:i], p) {
			c.Failf("axis %d is permuted twice", p)
		}
	}
	kind := real
	if v.quantized() {
		kind = quant
	}
	switch x := v.forms[kind]; {
	case rank == 4 && slices.Equal(perm, fromImage) && x != none && !c.IsConst(x):
		c.defineAs(0, kind+1, c.narrow(x), 4)
		return
	case rank == 4 && v.forms[kind+1] != none && x == none:
		y := v.forms[kind+1]
		composed := make([]int, 4) // of the file's order after fromImage
		for i, p := range perm {
			composed[i] = fromImage[p]
		}
		c.defineAs(0, kind, c.transposed(y, composed), 0)
		return
	}
	x, form := c.moved(true)
	c.defineMoved(0, c.transposed(x, perm), form)
}

// concat joins in the order that is there; quantized tensors where a quantization of the
// result is wanted, at that one.
func concat(c *conversion) {
	ks := make([]int, len(c.in))
	image := false
	for k := range ks {
		ks[k] = k
		if !c.has(k) {
			c.Failf("input %d is missing", k)
		}
	}
	kind := real
	var out nn.Operand
	t, integers := c.quantizable(false, ks...)
	if integers {
		kind, out = quant, t.Operand
	}
	rank, open := c.rank(c.in[0]), false
	for k, v := range c.in {
		if c.rank(v) != rank {
			c.Failf("input %d has rank %d, input 0 %d", k, c.rank(v), rank)
		}
		image = image || !v.has(real) && !v.has(quant)
		open = open || c.isOpen(v)
	}
	image = image && !open // which needs the shapes
	axis := c.Axis(c.int("axis", 1), rank)
	var list []uint32
	for _, v := range c.in {
		x := c.form(v, kind, image)
		if !c.isOpen(v) && slices.Contains(c.shape(v), 0) {
			continue
		}
		if integers {
			x = c.quantizedEven(x, quant, out)
		}
		list = append(list, c.narrow(x))
	}
	if len(list) == 0 {
		joined := slices.Clone(c.shape(c.in[0]))
		for _, v := range c.in[1:] {
			joined[axis] += c.shape(v)[axis]
		}
		c.define(0, c.Empty(*c.Operand(c.form(c.in[0], kind, image)), joined))
		return
	}
	if !integers {
		out = *c.Operand(list[0])
	}
	form := kind
	if image {
		form = kind + 1
	}
	for i, x := range list {
		if !integers {
			x = c.alike(x, out)
		}
		list[i] = x
	}
	y := c.Concat(out, axisOf(axis, form, rank), list...)
	if integers {
		c.defineTarget(y, image, rank, t)
		return
	}
	c.defineMoved(0, y, form)
}

func expand(c *conversion) {
	x, form := c.moved(true)
	c.defineMoved(0, c.BroadcastTo(x, c.Broadcast(c.Dims(x), c.Unsigned(c.list(1)))), form)
}

// size is the number of elements, the product of the shape where only an execution knows it.
func size(c *conversion) {
	v := c.v(0)
	if !c.isOpen(v) {
		c.defineInts(nil, nn.Elements(c.shape(v)))
		return
	}
	rank := c.rank(v)
	dims := c.Host(nn.OpHostShape, []nn.Operand{open(nn.TensorInt32, rank)}, []int64{0, int64(rank)}, c.hostData(0))[0]
	c.define(0, c.Reduce(nn.OpReduceProd, *c.Operand(dims), dims, []int64{0}, false))
}

func shapeOperator(c *conversion) {
	list := lowering.Signed(c.shape(c.v(0)))
	first, last := c.shapePart(len(list))
	list = list[first:last]
	c.defineInts([]uint32{uint32(len(list))}, list...)
}

// shapePart are the first dimension of a rank that a Shape is about and the one behind the last.
func (c *conversion) shapePart(rank int) (first, last int) {
	clip := func(i int64) int {
		if i < 0 {
			i += int64(rank)
		}
		return int(min(max(i, 0), int64(rank)))
	}
	first = clip(c.int("start", 0))
	return first, max(first, clip(c.int("end", math.MaxInt64)))
}

// constant is the value of one of several attributes.
func constant(c *conversion) {
	if a := c.attribute("value", onnxfile.AttributeTensor); a != nil {
		t := *a.Tensor
		c.bind(0, c.constant(&t))
		return
	}
	if a := c.attribute("sparse_value", onnxfile.AttributeSparse); a != nil {
		c.bind(0, c.dense(a.Sparse))
		return
	}
	switch {
	case c.attributes["value_int"] != nil:
		c.defineNarrow(nil, c.int("value_int", 0))
	case c.attributes["value_ints"] != nil:
		l := c.ints("value_ints")
		c.defineNarrow([]uint32{uint32(len(l))}, l...)
	case c.attributes["value_float"] != nil:
		x := c.Add(*c.Operand(c.Real(c.float("value_float", 0))))
		c.Shape[x] = nil
		c.define(0, x)
	case c.attributes["value_floats"] != nil:
		l := c.floats("value_floats")
		c.define(0, c.FloatTensor([]uint32{uint32(len(l))}, l))
	default:
		c.Refusef("it is neither numbers nor a tensor")
	}
}

// defineNarrow is defineInts of values that 32 bits may not hold.
func (c *conversion) defineNarrow(shape []uint32, list ...int64) {
	t := onnxfile.Tensor{Type: onnxfile.Int64, Int64s: list, Dims: lowering.Signed(shape)}
	if len(list) == 0 {
		t.Raw = []byte{}
	}
	c.bind(0, c.constant(&t))
}

func constantOfShape(c *conversion) {
	shape := c.Unsigned(c.list(0))
	o, value := nn.Operand{Type: nn.TensorFloat32}, none
	if a := c.attribute("value", onnxfile.AttributeTensor); a != nil {
		value = c.narrow(c.constant(a.Tensor).forms[real])
		if nn.Elements(c.Dims(value)) != 1 {
			c.Failf("a value of %d elements", nn.Elements(c.Dims(value)))
		}
		o = *c.Operand(value)
	}
	n := nn.Elements(shape)
	if n < 0 {
		c.Failf("shape %v is too large", shape)
	}
	size := int64(o.Type.ElementBytes())
	c.Spend(n * size)
	element := make([]byte, size)
	if value != none {
		element = o.Data
	}
	o.Name, o.Lifetime, o.Dimensions, o.Data = "", nn.ConstantCopy, lowering.Held(shape), slices.Repeat(element, int(n))
	x := c.Add(o)
	c.SetShape(x, shape)
	if n == 0 {
		c.Shape[x] = shape
	}
	c.define(0, x)
}

// rangeOperator counts from constants.
func rangeOperator(c *conversion) {
	if c.Operand(c.real(c.v(0), false)).Type == nn.TensorInt32 {
		start, limit, delta := c.one(0), c.one(1), c.one(2)
		if delta == 0 {
			c.Failf("a step of 0")
		}
		n := max(lowering.Steps(start, limit, delta), 0)
		if n > 1<<26 {
			c.Failf("a range of %d elements", n)
		}
		c.Spend(12 * n)
		list := make([]int64, n)
		for i := range list {
			list[i] = start + int64(i)*delta
		}
		c.defineInts([]uint32{uint32(n)}, list...)
		return
	}
	start, limit, delta := float64(c.scalar(0, 0)), float64(c.scalar(1, 0)), float64(c.scalar(2, 0))
	n := math.Ceil((limit - start) / delta)
	if !(n > 0 && n < 1<<26) {
		c.Refusef("a range of %v elements", n)
	}
	c.Spend(8 * int64(n))
	list := make([]float32, int(n))
	for i := range list {
		list[i] = float32(start + float64(i)*delta)
	}
	c.define(0, c.FloatTensor([]uint32{uint32(len(list))}, list))
}

// eyeLike is 1 on a diagonal.
func eyeLike(c *conversion) {
	shape := c.shape(c.v(0))
	if len(shape) != 2 || uint64(shape[0])*uint64(shape[1]) > 1<<24 {
		c.Failf("a matrix of shape %v", shape)
	}
	o := *c.Operand(c.real(c.v(0), false))
	if t := c.int("dtype", 0); t != 0 {
		typed, ok := template(onnxfile.DataType(t))
		if !ok {
			c.Refusef("its result is %v, which NNAPI lacks", onnxfile.DataType(t))
		}
		o = typed
	}
	k := c.int("k", 0)
	list := make([]int64, shape[0]*shape[1])
	for i := range int64(shape[0]) {
		if j := i + k; j >= 0 && j < int64(shape[1]) {
			list[i*int64(shape[1])+j] = 1
		}
	}
	c.define(0, c.To(c.Int32Shaped(shape, list), nn.Operand{Type: o.Type, Scale: o.Scale, ZeroPoint: o.ZeroPoint}))
}

// depthToSpace: blocks outermost in the channels are NNAPI's; innermost ones are put there
// first.
func depthToSpace(c *conversion) {
	v := c.v(0)
	kind := real
	if v.quantized() {
		kind = quant
	}
	x := c.form(v, kind, true)
	block := c.int("blocksize", 0)
	depth := int64(c.Dims(x)[3])
	if block < 1 || block > 1<<10 || depth%(block*block) != 0 {
		c.Failf("blocks of %d with %d channels", block, depth)
	}
	if c.text("mode", "DCR") == "CRD" {
		each := depth / (block * block)
		list := make([]int64, depth)
		for i := range list {
			list[i] = int64(i)%each*block*block + int64(i)/each
		}
		x = c.Gather(x, 3, c.Int32Tensor(list...))
	}
	c.defineAs(0, kind+1, c.Emit(nn.OpDepthToSpace, *c.Operand(x), x, c.Int32Scalar(block)), 4)
}

func spaceToDepth(c *conversion) {
	v := c.v(0)
	kind := real
	if v.quantized() {
		kind = quant
	}
	x := c.form(v, kind, true)
	c.defineAs(0, kind+1, c.Emit(nn.OpSpaceToDepth, *c.Operand(x), x, c.Int32Scalar(c.int("blocksize", 0))), 4)
}
