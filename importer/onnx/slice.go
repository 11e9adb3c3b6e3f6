package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// sliceOperators are the operators that take parts of a tensor.
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
		c.giveMoved(0, y, form)
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
			c.giveEmpty(shape, axis)
			return
		}
		walks[axisOf(axis, form, len(shape))] = w
	}
	if y, ok := c.constantWalk(x, walks); ok {
		c.giveMoved(0, y, form)
		return
	}
	c.giveMoved(0, c.Along(x, walks), form)
}

// giveEmpty is a list without elements, which shapes and axes may be; NNAPI has no tensor
// for it, so that only the import reads it.
func (c *conversion) giveEmpty(shape []uint32, axis int) {
	o := *c.Operand(c.real(c.v(0), false))
	out := slices.Clone(shape)
	out[axis] = 0
	o.Name, o.Lifetime, o.Data, o.Dimensions = "", nn.ConstantCopy, []byte{}, lowering.Held(out)
	x := c.Add(o)
	c.Shape[x] = out
	c.give(0, x)
}

// constantWalk takes parts of a constant list, also of one that 32 bits do not hold.
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
		each := (int64(shape[axis]) + n - 1) / n
		for i := range n {
			sizes = append(sizes, max(min(each, int64(shape[axis])-i*each), 0))
		}
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
			c.giveMoved(k, y, form)
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
			if c.wants(k) {
				c.Refusef("part %d is empty", k)
			}
			continue
		}
		size[at] = s
		c.giveMoved(k, c.Slice(x, slices.Clone(begin), slices.Clone(size)), form)
		begin[at] += s
	}
}

// splittable reports the types that NNAPI's SPLIT takes.
func (c *conversion) splittable(x uint32) bool {
	switch c.Operand(x).Type {
	case nn.TensorFloat32, nn.TensorFloat16, nn.TensorInt32, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		return true
	}
	return false
}

// compress takes the entries along an axis that a constant condition says.
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
		c.Refusef("the result is empty")
	}
	if last := list[len(list)-1]; last >= int64(c.Dims(x)[axis]) {
		c.Failf("entry %d of %d", last, c.Dims(x)[axis])
	}
	c.giveMoved(0, c.GatherAxis(x, axis, c.Int32Tensor(list...)), form)
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
	c.give(0, c.Reshape(y, shape))
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
