package tflite

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// shapeBuiltins are the operators of shape and data movement other than slices.
var shapeBuiltins = []builtin{
	{code: 22, name: "RESHAPE", version: 1, inputs: [2]int{1, 2}, complex: complexEach, options: "ReshapeOptions", convert: reshape},
	{code: 43, name: "SQUEEZE", version: 2, inputs: [2]int{1, 1}, complex: complexEach, options: "SqueezeOptions", convert: squeeze},
	{code: 70, name: "EXPAND_DIMS", version: 1, inputs: [2]int{2, 2}, complex: complexEach, convert: expandDims},
	{code: 39, name: "TRANSPOSE", version: 7, inputs: [2]int{2, 2}, complex: complexEach, convert: transpose},
	{code: 2, name: "CONCATENATION", version: 4, inputs: [2]int{1, many}, complex: complexEach, options: "ConcatenationOptions", convert: func(c *conversion) { c.concatenation("axis", c.activate) }},
	{code: 83, name: "PACK", version: 4, inputs: [2]int{1, many}, complex: complexEach, options: "PackOptions", convert: pack},
	{code: 34, name: "PAD", version: 4, inputs: [2]int{2, 2}, convert: pad},
	{code: 60, name: "PADV2", version: 4, inputs: [2]int{3, 3}, convert: padV2},
	{code: 100, name: "MIRROR_PAD", version: 3, inputs: [2]int{2, 2}, options: "MirrorPadOptions", convert: mirrorPad},
	{code: 69, name: "TILE", version: 3, inputs: [2]int{2, 2}, convert: tile},
	{code: 130, name: "BROADCAST_TO", version: 3, inputs: [2]int{2, 2}, convert: func(c *conversion) { c.define(0, c.BroadcastTo(c.x(0), c.Unsigned(c.list(1)))) }},
	{code: 145, name: "BROADCAST_ARGS", version: 1, inputs: [2]int{2, 2}, convert: broadcastArgs},
	{code: 77, name: "SHAPE", version: 1, inputs: [2]int{1, 1}, options: "ShapeOptions", convert: func(c *conversion) { c.define(0, c.Int32Tensor(lowering.Signed(c.Dims(c.x(0)))...)) }},
	{code: 110, name: "RANK", version: 1, inputs: [2]int{1, 1}, convert: func(c *conversion) { c.define(0, c.Int32Tensor(int64(c.Rank(c.x(0))))) }},
	{code: 94, name: "FILL", version: 4, inputs: [2]int{2, 2}, convert: fill},
	{code: 96, name: "RANGE", version: 2, inputs: [2]int{3, 3}, convert: rangeOperator},
	{code: 26, name: "SPACE_TO_DEPTH", version: 2, inputs: [2]int{1, 1}, options: "SpaceToDepthOptions", convert: depthSpace(nn.OpSpaceToDepth)},
	{code: 5, name: "DEPTH_TO_SPACE", version: 2, inputs: [2]int{1, 1}, options: "DepthToSpaceOptions", convert: depthSpace(nn.OpDepthToSpace)},
	{code: 38, name: "SPACE_TO_BATCH_ND", version: 4, inputs: [2]int{3, 3}, convert: spaceToBatch},
	{code: 37, name: "BATCH_TO_SPACE_ND", version: 4, inputs: [2]int{3, 3}, convert: batchToSpace},
	{code: 23, name: "RESIZE_BILINEAR", version: 4, inputs: [2]int{2, 2}, options: "ResizeBilinearOptions", convert: resize(nn.OpResizeBilinear)},
	{code: 97, name: "RESIZE_NEAREST_NEIGHBOR", version: 4, inputs: [2]int{2, 2}, options: "ResizeNearestNeighborOptions", convert: resize(nn.OpResizeNearestNeighbor)},
}

// reshape reads the new shape from its second input or, where there is none or it is no vector, from its options.
func reshape(c *conversion) {
	x := c.x(0)
	var shape []int64
	switch {
	case c.has(1) && c.Rank(c.in[1]) == 1:
		list, ok := c.Ints(c.in[1])
		if !ok {
			n := c.Dims(c.x(1))[0]
			if n == 0 || n > 4 {
				c.Refusef("its shape is known only during execution, the result has rank %d", n)
			}
			out := c.out(0)
			out.Dimensions = make([]uint32, n)
			c.define(0, c.Emit(nn.OpReshape, out, x, c.x(1)))
			return
		}
		shape = list
	default:
		shape = c.options.Vector("new_shape").Ints()
		if len(shape) == 1 && shape[0] == 0 { // an old form of a scalar
			shape = nil
		}
	}
	if !c.ShapeKnown(x) {
		if len(shape) == 0 || len(shape) > 4 {
			c.Refusef("the shape of its input is known only during execution, the result has rank %d", len(shape))
		}
		c.define(0, c.Emit(nn.OpReshape, c.out(0), x, c.Int32Tensor(shape...)))
		return
	}
	n, open, rest := nn.Elements(c.Dims(x)), -1, int64(1)
	for i, d := range shape {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0:
			c.Failf("new shape %v", shape)
		case d > 0 && rest > nn.MaxElements/d:
			c.Failf("new shape %v is too large", shape)
		default:
			rest *= d
		}
	}
	if shape = slices.Clone(shape); open >= 0 && rest > 0 {
		shape[open] = n / rest
		rest *= shape[open]
	}
	if rest != n {
		c.Failf("new shape %v for %d elements", shape, n)
	}
	c.defineShaped(x, c.Unsigned(shape))
}

// defineShaped sets the output to x with another shape. An operation represents the operator even where the shape is the
// same.
func (c *conversion) defineShaped(x uint32, shape []uint32) {
	if c.IsConst(x) || !slices.Equal(c.Dims(x), shape) {
		c.define(0, c.Reshape(x, shape))
		return
	}
	y := c.Emit(nn.OpReshape, *c.Operand(x), x, c.Int32Tensor(lowering.Signed(lowering.Held(shape))...))
	c.SetShape(y, shape)
	c.define(0, y)
}

func squeeze(c *conversion) {
	x := c.x(0)
	list := c.options.Vector("squeeze_dims").Ints()
	if !c.ShapeKnown(x) {
		y := c.Emit(nn.OpSqueeze, c.out(0), x, c.Int32Tensor(list...))
		if len(list) > 0 && len(list) == c.Rank(x) {
			c.scalar(y)
		}
		c.define(0, y)
		return
	}
	dims := c.Dims(x)
	drop := make([]bool, len(dims))
	for i, d := range dims {
		drop[i] = d == 1 && len(list) == 0
	}
	for _, a := range list {
		i := c.Axis(a, len(dims))
		if dims[i] != 1 {
			c.Failf("dimension %d of %v is not 1", a, dims)
		}
		drop[i] = true
	}
	var shape []uint32
	for i, d := range dims {
		if !drop[i] {
			shape = append(shape, d)
		}
	}
	c.defineShaped(x, shape)
}

// scalar makes y, a result of NNAPI's one dimension, the scalar of the file.
func (c *conversion) scalar(y uint32) {
	c.Operand(y).Dimensions = []uint32{1}
	c.SetShape(y, nil)
}

func expandDims(c *conversion) {
	x, a := c.x(0), c.one(1)
	if !c.ShapeKnown(x) {
		c.define(0, c.Emit(nn.OpExpandDims, c.out(0), x, c.Int32Scalar(a)))
		return
	}
	dims := c.Dims(x)
	c.defineShaped(x, slices.Insert(slices.Clone(dims), c.Axis(a, len(dims)+1), 1))
}

func transpose(c *conversion) {
	x := c.x(0)
	list, ok := c.Ints(c.in[1])
	if !ok || !c.ShapeKnown(x) {
		c.result(nn.OpTranspose, c.Unmerged(x), c.x(1))
		return
	}
	perm := make([]int, len(list))
	for i, p := range list {
		if p < -8 || p > 8 {
			c.Failf("axis %d", p)
		}
		perm[i] = int(p)
	}
	c.define(0, c.Transpose(x, perm...))
}

// concatenation joins values along the dimension that an option names.
func (c *conversion) concatenation(along string, then func(uint32) uint32) {
	list := make([]uint32, len(c.in))
	rank := 0
	for k := range c.in {
		list[k] = c.x(k)
		rank = max(rank, len(c.Operand(list[k]).Dimensions))
		if s := c.Shape[list[k]]; len(s) > rank {
			rank = len(s)
		}
	}
	if rank == 0 {
		c.Refusef("the rank of its inputs is known only during execution")
	}
	axis := c.Axis(c.options.Int(along), rank)
	out := c.out(0)
	for k, x := range list { // values of another type get that of the output
		if c.Operand(x).Type != out.Type {
			list[k] = c.To(x, out)
		}
	}
	c.define(0, then(c.Concat(out, axis, list...)))
}

// pack joins values along a new axis.
func pack(c *conversion) {
	c.counted("values_count", len(c.in))
	list := make([]uint32, len(c.in))
	for k := range list {
		list[k] = c.x(k)
	}
	if !c.ShapeKnown(list[0]) {
		axis := c.Axis(c.options.Int("axis"), c.Rank(list[0])+1)
		c.result(nn.OpPack, append([]uint32{c.Int32Scalar(int64(axis))}, list...)...)
		return
	}
	dims := c.Dims(list[0])
	axis := c.Axis(c.options.Int("axis"), len(dims)+1)
	shape := slices.Insert(slices.Clone(dims), axis, uint32(len(list)))
	switch {
	case len(dims) == 0: // NNAPI packs their one dimension too
		axis = 0
	case len(shape) > 4:
		one := slices.Insert(slices.Clone(dims), axis, 1)
		for k, x := range list {
			list[k] = c.Reshape(x, one)
		}
		c.define(0, c.Concat(c.out(0), axis, list...))
		return
	}
	y := c.Emit(nn.OpPack, c.out(0), append([]uint32{c.Int32Scalar(int64(axis))}, list...)...)
	c.define(0, c.Reshape(y, shape))
}

// pads are the paddings [rank, 2] of input k.
func (c *conversion) pads(k, rank int) [][2]int64 {
	list := c.list(k)
	if len(list) != 2*rank {
		c.Failf("%d paddings for rank %d", len(list), rank)
	}
	pads := make([][2]int64, rank)
	for i := range pads {
		pads[i] = [2]int64{list[2*i], list[2*i+1]}
		if pads[i][0] < 0 || pads[i][1] < 0 {
			c.Failf("padding %v", pads[i])
		}
	}
	return pads
}

func pad(c *conversion) {
	x := c.x(0)
	if _, ok := c.Ints(c.in[1]); !ok || !c.ShapeKnown(x) {
		c.result(nn.OpPad, c.Unmerged(x), c.x(1))
		return
	}
	c.define(0, c.Pad(c.out(0), x, c.pads(1, c.Rank(x)), none))
}

func padV2(c *conversion) {
	x, out, value, then := c.padValue(2)
	_, ok := c.Ints(c.in[1])
	switch {
	case ok && c.ShapeKnown(x):
		c.define(0, then(c.Pad(out, x, c.pads(1, c.Rank(x)), value)))
	case value == none:
		c.define(0, then(c.Emit(nn.OpPad, out, c.Unmerged(x), c.x(1))))
	default:
		c.define(0, c.Emit(nn.OpPadV2, out, c.Unmerged(x), c.x(1), value))
	}
}

// padValue is the value that input k pads with, as NNAPI takes it, with input 0 and the result in the type for which it
// does. Integers of 32 bits are exact as their differences from the value, padded with zeros; then adds it again.
func (c *conversion) padValue(k int) (x uint32, out nn.Operand, value uint32, then func(uint32) uint32) {
	x, out = c.x(0), c.out(0)
	then = func(y uint32) uint32 { return y }
	if !c.IsConst(c.x(k)) {
		c.Refusef("its value is known only during execution, NNAPI needs it before")
	}
	switch o := c.Operand(x); {
	case o.Type == nn.TensorInt32 && o.Scale == 0:
		v := c.Reshape(c.As(c.x(k), nn.TensorInt32), []uint32{1})
		return c.Binary(nn.OpSub, x, v), out, none, func(y uint32) uint32 { return c.Binary(nn.OpAdd, y, v) }
	case o.Type.IsQuant8():
		v := *c.Operand(c.To(c.x(k), *o))
		n := int64(v.Data[0])
		if o.Type == nn.TensorQuant8AsymmSigned {
			n = int64(int8(v.Data[0]))
		}
		value = c.Int32Scalar(n)
	default:
		if o.Type != nn.TensorFloat16 {
			x, out = c.As(x, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32, Dimensions: out.Dimensions}
		}
		v := *c.Operand(c.As(c.x(k), nn.TensorFloat32))
		if len(v.Data) != 4 {
			c.Failf("a value of %d elements", v.Elements())
		}
		value = c.ScalarLike(x, math.Float32frombits(binary.LittleEndian.Uint32(v.Data)))
	}
	return x, out, value, then
}

func mirrorPad(c *conversion) {
	c.result(nn.OpMirrorPad, c.x(0), c.x(1), c.option("mode"))
}

func tile(c *conversion) {
	x := c.x(0)
	list, ok := c.Ints(c.in[1])
	if !ok || !c.ShapeKnown(x) || len(c.Dims(x)) <= 4 {
		c.result(nn.OpTile, c.Unmerged(x), c.x(1))
		return
	}
	c.define(0, c.TileAny(x, list))
}

func broadcastArgs(c *conversion) {
	c.define(0, c.Int32Tensor(lowering.Signed(c.Broadcast(c.Unsigned(c.list(0)), c.Unsigned(c.list(1))))...))
}

// fill repeats one value; NNAPI's FILL serves where the shape is known only
// during execution.
func fill(c *conversion) {
	v := c.x(1)
	if list, ok := c.Ints(c.in[0]); ok {
		shape := c.Unsigned(list)
		if slices.Contains(shape, 0) {
			c.Refusef("the result is empty")
		}
		c.define(0, c.BroadcastTo(v, shape))
		return
	}
	if !c.IsConst(v) {
		c.Refusef("neither its shape nor its value is known before execution")
	}
	if o := c.Operand(v); o.Scale != 0 { // its real is a step of the result
		v = c.As(v, nn.TensorFloat32)
	}
	o, scalar := *c.Operand(v), map[nn.OperandType]nn.OperandType{
		nn.TensorFloat32: nn.Float32, nn.TensorFloat16: nn.Float16, nn.TensorInt32: nn.Int32,
	}
	t, ok := scalar[o.Type]
	if !ok || o.Elements() != 1 {
		c.Refusef("NNAPI does not fill %v", o.Type)
	}
	filled := nn.Operand{Type: o.Type, Dimensions: c.out(0).Dimensions}
	c.define(0, c.Emit(nn.OpFill, filled, c.x(0), c.Constant(nn.Operand{Type: t, Data: o.Data})))
}

// rangeOperator counts from constants.
func rangeOperator(c *conversion) {
	for k := range c.in {
		if !c.IsConst(c.x(k)) {
			c.Refusef("its bounds are known only during execution, NNAPI cannot count there")
		}
	}
	if c.typeOf() == nn.TensorInt32 {
		start, limit, delta := c.one(0), c.one(1), c.one(2)
		if delta == 0 {
			c.Failf("a step of 0")
		}
		n := lowering.Steps(start, limit, delta)
		if n <= 0 || n > 1<<26 {
			c.Refusef("a range of %d elements", n)
		}
		c.Spend(12 * n)
		list := make([]int64, n)
		for i := range list {
			list[i] = start + int64(i)*delta
		}
		c.define(0, c.Int32Tensor(list...))
		return
	}
	var v [3]float64
	for k := range v {
		o := c.Operand(c.As(c.x(k), nn.TensorFloat32))
		if len(o.Data) != 4 {
			c.Failf("bound %d has %d elements", k, o.Elements())
		}
		v[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(o.Data)))
	}
	n := math.Ceil((v[1] - v[0]) / v[2])
	if !(n > 0 && n < 1<<26) {
		c.Refusef("a range of %v elements", n)
	}
	c.Spend(8 * int64(n))
	list := make([]float32, int(n))
	for i := range list {
		list[i] = float32(v[0]) + float32(i)*float32(v[2])
	}
	c.define(0, c.FloatTensor([]uint32{uint32(len(list))}, list))
}

func depthSpace(op nn.OperationType) func(*conversion) {
	return func(c *conversion) { c.result(op, c.x(0), c.option("block_size")) }
}

// spaceToBatch treats three dimensions as four with a width of 1.
func spaceToBatch(c *conversion) {
	x, block, pads := c.x(0), c.x(1), c.x(2)
	if c.Rank(x) != 3 {
		c.result(nn.OpSpaceToBatchNd, x, block, pads)
		return
	}
	d, p := c.Dims(x), c.pads(2, 1)
	wide := c.Reshape(x, []uint32{d[0], d[1], 1, d[2]})
	y := c.Emit(nn.OpSpaceToBatchNd, c.out(0), wide, c.Int32Tensor(c.one(1), 1), c.Int32Shaped([]uint32{2, 2}, []int64{p[0][0], p[0][1], 0, 0}))
	c.define(0, c.withoutWidth(y))
}

func (c *conversion) withoutWidth(y uint32) uint32 {
	d := c.Dims(y)
	return c.Reshape(y, []uint32{d[0], d[1], d[3]})
}

// batchToSpace crops after NNAPI's operation, which crops nothing.
func batchToSpace(c *conversion) {
	x, block := c.x(0), c.x(1)
	flat := c.Rank(x) == 3
	if flat {
		d := c.Dims(x)
		x, block = c.Reshape(x, []uint32{d[0], d[1], 1, d[2]}), c.Int32Tensor(c.one(1), 1)
	}
	y := c.Emit(nn.OpBatchToSpaceNd, c.out(0), x, block)
	if flat {
		y = c.withoutWidth(y)
	}
	crops := c.list(2)
	if slices.ContainsFunc(crops, func(n int64) bool { return n != 0 }) {
		d := c.Dims(y)
		begin, size := make([]int64, len(d)), lowering.Signed(d)
		for i, p := range c.pads(2, len(d)-2) {
			begin[i+1], size[i+1] = p[0], size[i+1]-p[0]-p[1]
			if size[i+1] <= 0 {
				c.Failf("crops %v of shape %v", crops, d)
			}
		}
		y = c.Slice(y, begin, size)
	}
	c.define(0, y)
}

// resize names layout and pixel centers only where they are not the defaults,
// so that a plain resize stays one of HAL 1.0.
func resize(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		size := c.list(1)
		if len(size) != 2 {
			c.Failf("a size of %d elements", len(size))
		}
		in := []uint32{c.x(0), c.Int32Scalar(size[1]), c.Int32Scalar(size[0])}
		corners, centers := c.options.Bool("align_corners"), c.options.Bool("half_pixel_centers")
		if op == nn.OpResizeNearestNeighbor || corners || centers {
			in = append(in, c.BoolScalar(false))
		}
		if corners || centers {
			in = append(in, c.BoolScalar(corners), c.BoolScalar(centers))
		}
		c.result(op, in...)
	}
}
