package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// sliceOperators are the operators that extract parts of a tensor.
var sliceOperators = []operator{
	{name: "Slice", inputs: [2]int{1, 5}, convert: slice},
	{name: "Split", inputs: [2]int{1, 2}, outputs: [2]int{1, many}, convert: split},
	{name: "Compress", inputs: [2]int{2, 2}, convert: compress},
	{name: "Trilu", inputs: [2]int{1, 2}, convert: trilu},
	{name: "CenterCropPad", inputs: [2]int{2, 2}, convert: centerCropPad},
	{name: "ReverseSequence", inputs: [2]int{2, 2}, convert: func(c *conversion) {
		x, form := c.moved(true)
		rank := c.Rank(x)
		y := c.ReverseSequence(x, c.indices(1), c.Axis(c.int("time_axis", 0), rank), c.Axis(c.int("batch_axis", 1), rank))
		c.defineMoved(0, y, form)
	}},
}

// slice: bounds are attributes before version 10, inputs since.
func slice(c *conversion) {
	shape := c.shape(c.v(0))
	var starts, ends, axes, steps []int64
	if c.opset < 10 {
		starts, ends, axes = c.ints("starts"), c.ints("ends"), c.ints("axes")
	} else {
		starts, ends = c.list(1), c.list(2)
		if c.has(3) {
			axes = c.list(3)
		}
		if c.has(4) {
			steps = c.list(4)
		}
	}
	if axes == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(starts) != len(ends) || len(starts) != len(axes) || len(starts) != len(steps) {
		c.Failf("starts %v, ends %v, axes %v and steps %v", starts, ends, axes, steps)
	}
	x, form := c.moved(false)
	if len(shape) == 3 && isImage(form) {
		x, form = c.moved(true)
	}
	walks := make([]lowering.Walk, c.Rank(x))
	for i, d := range c.Dims(x) {
		walks[i] = lowering.Walk{Step: 1, Count: int64(d)}
	}
	for i, a := range axes {
		axis := c.Axis(a, len(shape))
		w := c.Bound(starts[i], ends[i], steps[i], int64(shape[axis]), false, false, false)
		if w.Count <= 0 {
			c.defineEmpty(0, shape, axis)
			return
		}
		walks[axisOf(axis, form, len(shape))] = w
	}
	if y, ok := c.constantWalk(x, walks); ok {
		c.defineMoved(0, y, form)
		return
	}
	c.defineMoved(0, c.Along(x, walks), form)
}

// defineEmpty makes output k a tensor like input 0 of a shape, without elements along an axis.
func (c *conversion) defineEmpty(k int, shape []uint32, axis int) {
	out := slices.Clone(shape)
	out[axis] = 0
	c.define(k, c.Empty(*c.Operand(c.real(c.v(0), false)), out))
}

// constantWalk slices a constant list, also one with elements beyond 32 bits.
func (c *conversion) constantWalk(x uint32, walks []lowering.Walk) (uint32, bool) {
	wide, ok := c.Wide[x]
	if !ok || len(walks) != 1 {
		return none, false
	}
	w := walks[0]
	list := make([]int64, w.Count)
	for i := range list {
		list[i] = wide[w.Begin+int64(i)*w.Step]
	}
	data, still := c.narrowed(w.Count, func(i int64) int64 { return list[i] })
	y := c.Add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(w.Count)}, Lifetime: nn.ConstantCopy, Data: data})
	if still != nil {
		c.Wide[y] = still
	}
	return y, true
}

// split: sizes are an attribute before version 13, an input since, or equal.
func split(c *conversion) {
	shape := c.shape(c.v(0))
	axis := c.Axis(c.int("axis", 0), len(shape))
	sizes := c.ints("split")
	if c.has(1) {
		sizes = c.list(1)
	}
	n := int64(len(c.node.Outputs))
	if sizes == nil {
		sizes = equalParts(int64(shape[axis]), n)
	}
	if int64(len(sizes)) != n {
		c.Failf("%d sizes for %d outputs", len(sizes), n)
	}
	x, form := c.moved(false)
	if len(shape) == 3 && isImage(form) {
		x, form = c.moved(true)
	}
	at := axisOf(axis, form, len(shape))
	equal := !slices.ContainsFunc(sizes, func(s int64) bool { return s != sizes[0] })
	if equal && n > 1 && sizes[0]*n == int64(shape[axis]) && c.Rank(x) <= 4 && c.Wide[x] == nil && c.splittable(x) {
		outs := slices.Repeat([]nn.Operand{*c.Operand(x)}, int(n))
		for k := range outs {
			outs[k].Name, outs[k].Lifetime, outs[k].Data = "", nn.TemporaryVariable, nil
		}
		for k, y := range c.EmitAll(nn.OpSplit, outs, x, c.Int32Scalar(int64(at)), c.Int32Scalar(n)) {
			c.defineMoved(k, y, form)
		}
		return
	}
	dims := c.Dims(x)
	begin, size := make([]int64, len(dims)), lowering.Signed(dims)
	for k, s := range sizes {
		if s < 0 || begin[at]+s > int64(dims[at]) {
			c.Failf("parts of %v elements, dimension %d has %d", sizes, axis, shape[axis])
		}
		if s == 0 {
			c.defineEmpty(k, shape, axis)
			continue
		}
		size[at] = s
		c.defineMoved(k, c.Slice(x, slices.Clone(begin), slices.Clone(size)), form)
		begin[at] += s
	}
}

// equalParts are the sizes of n parts of a length, of which the last may be less.
func equalParts(length, n int64) (sizes []int64) {
	each := (length + n - 1) / n
	for i := range n {
		sizes = append(sizes, max(min(each, length-i*each), 0))
	}
	return sizes
}

// splittable reports whether NNAPI's SPLIT accepts the type.
func (c *conversion) splittable(x uint32) bool {
	switch c.Operand(x).Type {
	case nn.TensorFloat32, nn.TensorFloat16, nn.TensorInt32, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		return true
	}
	return false
}

// compress selects the entries along an axis by a constant condition.
func compress(c *conversion) {
	x, form := c.moved(true)
	axis := 0
	if a := c.attributes["axis"]; a != nil {
		axis = c.Axis(c.int("axis", 0), c.Rank(x))
	} else {
		x = c.reshaped(x, []uint32{uint32(nn.Elements(c.Dims(x)))})
	}
	var list []int64
	for i, v := range c.list(1) {
		if v != 0 {
			list = append(list, int64(i))
		}
	}
	if len(list) == 0 {
		c.define(0, c.Empty(*c.Operand(x), slices.Concat(c.Dims(x)[:axis], []uint32{0}, c.Dims(x)[axis+1:])))
		return
	}
	if last := list[len(list)-1]; last >= int64(c.Dims(x)[axis]) {
		c.Failf("entry %d of %d", last, c.Dims(x)[axis])
	}
	c.defineMoved(0, c.GatherAxis(x, axis, c.Int32Tensor(list...)), form)
}

// trilu keeps the upper or lower triangle of matrices.
func trilu(c *conversion) {
	x := c.raw(0)
	shape := c.Dims(x)
	if len(shape) < 2 || slices.Contains(shape, 0) {
		c.Refusef("shape %v is no matrix", shape)
	}
	rows, cols := int64(shape[len(shape)-2]), int64(shape[len(shape)-1])
	k := int64(0)
	if c.has(1) {
		k = c.one(1)
	}
	if rows*cols > 1<<24 {
		c.Refusef("a matrix of %d by %d", rows, cols)
	}
	data := make([]byte, rows*cols)
	for i := range rows {
		for j := range cols {
			if c.flag("upper", 1) && j-i >= k || !c.flag("upper", 1) && j-i <= k {
				data[i*cols+j] = 1
			}
		}
	}
	mask := c.Constant(nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{uint32(rows), uint32(cols)}, Data: data})
	zero := *c.Operand(x)
	zero.Name = ""
	full := []uint32{uint32(nn.Elements(shape[:len(shape)-2])), uint32(rows), uint32(cols)}
	zero.Dimensions = full
	y := c.Emit(nn.OpSelect, *c.Operand(x), c.BroadcastTo(mask, full), c.Reshape(x, full), c.Filled(zero, 0))
	c.define(0, c.Reshape(y, shape))
}

// centerCropPad crops or pads around the middle.
func centerCropPad(c *conversion) {
	shape := c.shape(c.v(0))
	want := c.list(1)
	axes := c.ints("axes")
	if axes == nil {
		for i := range shape {
			axes = append(axes, int64(i))
		}
	}
	if len(axes) != len(want) {
		c.Failf("%d sizes for %d axes", len(want), len(axes))
	}
	pads := make([][2]int64, len(shape))
	for i, a := range axes {
		axis := c.Axis(a, len(shape))
		d := want[i] - int64(shape[axis])
		if want[i] < 1 || want[i] > nn.MaxElements {
			c.Failf("size %d", want[i])
		}
		if d >= 0 {
			pads[axis] = [2]int64{d / 2, d - d/2}
		} else {
			pads[axis] = [2]int64{-(-d / 2), d + -d/2}
		}
	}
	c.padConstant(pads)
}

// pad: paddings are an attribute before version 11, all before the values, then all after them.
// Negative ones crop.
func pad(c *conversion) {
	shape := c.shape(c.v(0))
	list := c.ints("pads")
	if list == nil && c.opset < 2 {
		list = c.ints("paddings")
	}
	if list == nil {
		list = c.list(1)
	}
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	if c.has(3) {
		axes = axes[:0]
		for _, a := range c.list(3) {
			axes = append(axes, c.Axis(a, len(shape)))
		}
	}
	if len(list) != 2*len(axes) {
		c.Failf("%d paddings for %d axes", len(list), len(axes))
	}
	pads := make([][2]int64, len(shape))
	for i, a := range axes {
		pads[a] = [2]int64{list[i], list[len(axes)+i]}
		if max(list[i], list[len(axes)+i]) > nn.MaxElements || min(list[i], list[len(axes)+i]) < -nn.MaxElements {
			c.Failf("paddings %v", list)
		}
	}
	switch mode := c.text("mode", "constant"); mode {
	case "constant":
		c.padConstant(pads)
	case "reflect":
		c.padIndexed(pads, func(i, n int64) int64 {
			if n == 1 {
				return 0
			}
			i = (i%(2*n-2) + 2*n - 2) % (2*n - 2)
			return min(i, 2*n-2-i)
		})
	case "edge":
		c.padIndexed(pads, func(i, n int64) int64 { return min(max(i, 0), n-1) })
	case "wrap":
		c.padIndexed(pads, func(i, n int64) int64 { return (i%n + n) % n })
	default:
		c.Refusef("the mode %q", mode)
	}
}

func (c *conversion) padConstant(pads [][2]int64) {
	value := c.float("value", 0)
	if c.has(2) && len(c.shape(c.v(2))) <= 1 {
		value = c.scalar(2, 0)
	}
	x, form := c.moved(false)
	rank := len(c.shape(c.v(0)))
	if isImage(form) {
		placed := make([][2]int64, 4)
		for i, p := range pads {
			placed[imageAxis(i, rank)] = p
		}
		pads = placed
	}
	x = c.cropped(x, pads)
	if !slices.ContainsFunc(pads, func(p [2]int64) bool { return p != [2]int64{} }) {
		c.defineMoved(0, x, form)
		return
	}
	o := *c.Operand(x)
	if o.Type == nn.TensorInt32 && c.has(2) { // which float32 may not hold
		from := c.Int32Number(c.one(2))
		y := c.Pad(o, c.Binary(nn.OpSub, x, from), pads, none)
		c.defineMoved(0, c.Binary(nn.OpAdd, y, from), form)
		return
	}
	if o.Type.IsQuant8() && form&^1 == real {
		value = (value - float32(o.ZeroPoint)) * o.Scale // of the integers
	} else if o.Type.IsQuant8() && !representable(o, value) {
		x, form = c.As(x, nn.TensorFloat32), form&1
		o = *c.Operand(x)
	}
	c.defineMoved(0, c.surrounded(x, o, pads, value), form)
}

// surrounded pads x of type o with a value. Of integers, which NNAPI pads with zeros, the value is what all others are
// counted from.
func (c *conversion) surrounded(x uint32, o nn.Operand, pads [][2]int64, value float32) uint32 {
	switch {
	case o.Type == nn.TensorBool8:
		return c.As(c.surrounded(c.As(x, nn.TensorInt32), nn.Operand{Type: nn.TensorInt32}, pads, value), o.Type)
	case value == 0:
		return c.Pad(o, x, pads, none)
	case o.Type == nn.TensorInt32:
		y := c.Pad(o, c.Binary(nn.OpSub, x, c.Like(x, value)), pads, none)
		return c.Binary(nn.OpAdd, y, c.Like(y, value))
	case o.Type.IsQuant8():
		return c.Pad(o, x, pads, c.Int32Scalar(int64(math.RoundToEven(float64(value)/float64(o.Scale)))+int64(o.ZeroPoint)))
	}
	return c.Pad(o, x, pads, c.ScalarLike(x, value))
}

// representable reports whether a real is a step of a quantized type.
func representable(o nn.Operand, v float32) bool {
	lo, hi := float64(0), float64(math.MaxUint8)
	if o.Type == nn.TensorQuant8AsymmSigned {
		lo, hi = math.MinInt8, math.MaxInt8
	}
	step := math.RoundToEven(float64(v)/float64(o.Scale)) + float64(o.ZeroPoint)
	return step >= lo && step <= hi && float32(step-float64(o.ZeroPoint))*o.Scale == v
}

// cropped applies negative paddings, and sets them to zero.
func (c *conversion) cropped(x uint32, pads [][2]int64) uint32 {
	if !slices.ContainsFunc(pads, func(p [2]int64) bool { return min(p[0], p[1]) < 0 }) {
		return x
	}
	dims := c.Dims(x)
	begin, size := make([]int64, len(dims)), lowering.Signed(dims)
	for i := range pads {
		for k, p := range pads[i] {
			if p < 0 {
				size[i] += p
				if k == 0 {
					begin[i] = -p
				}
				pads[i][k] = 0
			}
		}
		if size[i] <= 0 {
			c.Failf("paddings leave nothing of shape %v", dims)
		}
	}
	return c.Slice(x, begin, size)
}

// padIndexed pads by a gather: at returns the source element along each axis, of those that negative paddings leave.
func (c *conversion) padIndexed(pads [][2]int64, at func(i, n int64) int64) {
	x, form := c.moved(true)
	x = c.cropped(x, pads)
	for a, p := range pads {
		if p == [2]int64{} {
			continue
		}
		n := int64(c.Dims(x)[a])
		total := n + p[0] + p[1]
		if total > 1<<24 {
			c.Failf("paddings %v of %d elements", p, n)
		}
		list := make([]int64, total)
		for i := range list {
			list[i] = at(int64(i)-p[0], n)
		}
		x = c.GatherAxis(x, a, c.Int32Tensor(list...))
	}
	c.defineMoved(0, x, form)
}
