package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// indexOperators are the operators that look up, insert and scatter.
var indexOperators = []operator{
	{name: "Gather", inputs: [2]int{2, 2}, convert: gather},
	{name: "GatherElements", inputs: [2]int{2, 2}, convert: gatherElements},
	{name: "GatherND", inputs: [2]int{2, 2}, convert: gatherND},
	{name: "ScatterND", inputs: [2]int{3, 3}, convert: scatterND},
	{name: "ScatterElements", inputs: [2]int{3, 3}, convert: scatterElements},
	{name: "Scatter", inputs: [2]int{3, 3}, convert: scatterElements},
	{name: "OneHot", inputs: [2]int{3, 3}, convert: oneHot},
	{name: "RoiAlign", inputs: [2]int{3, 3}, convert: roiAlign},
}

// indices is input k in TENSOR_INT32.
func (c *conversion) indices(k int) uint32 {
	if t := c.Operand(c.raw(k)).Type; t != nn.TensorInt32 && !t.IsQuant8() {
		c.Failf("input %d is %v, indices are integers", k, t)
	}
	return c.asInt32(k)
}

// counted resolves negative indices, which count from the end of n entries.
func (c *conversion) counted(idx uint32, n uint32) uint32 {
	if list, ok := c.Ints(idx); ok {
		changed := false
		list = slices.Clone(list)
		for i, v := range list {
			if v < 0 {
				list[i], changed = v+int64(n), true
			}
			if list[i] < 0 || list[i] >= int64(n) {
				c.Failf("index %d of %d", v, n)
			}
		}
		if !changed {
			return idx
		}
		y := c.Int32Shaped(c.Operand(idx).Dimensions, list)
		if s, ok := c.Shape[idx]; ok {
			y = c.Add(*c.Operand(y))
			c.Shape[y] = s
		}
		return y
	}
	below := c.As(c.Compare(nn.OpLess, idx, c.Int32Number(0)), nn.TensorInt32)
	return c.Binary(nn.OpAdd, idx, c.Binary(nn.OpMul, below, c.Int32Number(int64(n))))
}

func gather(c *conversion) {
	v := c.v(0)
	if w, ok := c.Wide[v.forms[real]]; ok && v.has(real) { // one entry of a list, as of a shape
		if list := c.list(1); len(list) == 1 && len(w) > 0 && list[0] >= -int64(len(w)) && list[0] < int64(len(w)) {
			at := (list[0] + int64(len(w))) % int64(len(w))
			c.defineNarrow(c.shape(c.v(1)), w[at])
			return
		}
	}
	x, form := c.moved(true)
	axis := c.Axis(c.int("axis", 0), c.Rank(x))
	c.defineMoved(0, c.GatherAxis(x, axis, c.counted(c.indices(1), c.Dims(x)[axis])), form)
}

// position are the indices of GatherElements and ScatterElements into the flat tensor: each
// along the axis, and its own place along the others.
func (c *conversion) position(idx uint32, shape []uint32, axis int) uint32 {
	di := c.Dims(idx)
	if len(di) != len(shape) {
		c.Failf("indices of shape %v into shape %v", di, shape)
	}
	stride := nn.Elements(shape[axis+1:])
	n := nn.Elements(di)
	if n > 1<<24 || nn.Elements(shape) > 1<<24 {
		c.Refusef("it has %d indices into %d elements", n, nn.Elements(shape))
	}
	rest := make([]int64, n)
	for i := range rest {
		left, step := int64(i), int64(1)
		for d := len(shape) - 1; d >= 0; d-- {
			at := left % int64(di[d])
			left /= int64(di[d])
			if d != axis {
				if at >= int64(shape[d]) {
					c.Failf("indices of shape %v into shape %v", di, shape)
				}
				rest[i] += at * step
			}
			step *= int64(shape[d])
		}
	}
	flat := c.reshaped(c.counted(idx, shape[axis]), []uint32{uint32(n)})
	if stride != 1 {
		flat = c.Binary(nn.OpMul, flat, c.Int32Tensor(stride))
	}
	return c.Binary(nn.OpAdd, flat, c.Int32Tensor(rest...))
}

func gatherElements(c *conversion) {
	x, form := c.moved(true)
	shape := c.Dims(x)
	idx := c.indices(1)
	at := c.position(idx, shape, c.Axis(c.int("axis", 0), len(shape)))
	y := c.Gather(c.reshaped(x, []uint32{uint32(nn.Elements(shape))}), 0, at)
	c.defineMoved(0, c.Reshape(y, c.Dims(idx)), form)
}

// tuples resolves negative indices of [.., m], which count from the end.
func (c *conversion) tuples(k int, shape []uint32) uint32 {
	idx := c.indices(k)
	di := c.Dims(idx)
	if len(di) == 0 || int(di[len(di)-1]) > len(shape) {
		c.Failf("indices of shape %v into shape %v", di, shape)
	}
	m := di[len(di)-1]
	if list, ok := c.Ints(idx); ok {
		list = slices.Clone(list)
		for i, v := range list {
			n := int64(shape[uint32(i)%m])
			if v < 0 {
				list[i] += n
			}
			if list[i] < 0 || list[i] >= n {
				c.Failf("index %d of %d", v, n)
			}
		}
		y := c.Add(*c.Operand(c.Int32Shaped(c.Operand(idx).Dimensions, list)))
		if s, ok := c.Shape[idx]; ok {
			c.Shape[y] = s
		}
		return y
	}
	sizes := make([]int64, m)
	for i := range sizes {
		sizes[i] = int64(shape[i])
	}
	below := c.As(c.Compare(nn.OpLess, idx, c.Int32Number(0)), nn.TensorInt32)
	return c.Binary(nn.OpAdd, idx, c.Binary(nn.OpMul, below, c.Int32Tensor(sizes...)))
}

func gatherND(c *conversion) {
	x, form := c.moved(true)
	batch := int(c.int("batch_dims", 0))
	shape := c.Dims(x)
	if batch < 0 || batch >= len(shape) {
		c.Failf("batch_dims %d of rank %d", batch, len(shape))
	}
	if batch == 0 {
		c.defineMoved(0, c.GatherND(x, c.tuples(1, shape)), form)
		return
	}
	// A batch is one more index in front.
	idx := c.tuples(1, shape[batch:])
	di := c.Dims(idx)
	if len(di) < batch+1 || !slices.Equal(di[:batch], shape[:batch]) {
		c.Failf("indices of shape %v into shape %v with %d batches", di, shape, batch)
	}
	outer := uint32(nn.Elements(shape[:batch]))
	each := uint32(nn.Elements(di[batch : len(di)-1]))
	if uint64(outer)*uint64(each) > 1<<24 {
		c.Refusef("it has %d indices", uint64(outer)*uint64(each))
	}
	numbers := make([]int64, 0, outer*each)
	for b := range outer {
		for range each {
			numbers = append(numbers, int64(b))
		}
	}
	m := di[len(di)-1]
	rows := c.Reshape(idx, []uint32{outer * each, m})
	rows = c.Concat(nn.Operand{Type: nn.TensorInt32}, 1, c.Int32Shaped([]uint32{outer * each, 1}, numbers), rows)
	y := c.GatherND(c.Reshape(x, append([]uint32{outer}, shape[batch:]...)), rows)
	c.defineMoved(0, c.Reshape(y, slices.Concat(di[:len(di)-1], shape[batch+int(m):])), form)
}

// scattered puts rows [n, inner] into rows [total, inner] of x at places [n], or reduces them with what is there. Sums are
// products with the one-hot matrix of the places; other reductions are of all rows for each place, of which those for
// other places are neutral.
func (c *conversion) scattered(x, at, rows uint32, n, inner, total uint32, mode string) uint32 {
	o, shape := *c.Operand(x), c.Dims(x)
	if mode == "none" {
		return c.Reshape(c.Replace(x, at, c.alike(c.reshaped(rows, []uint32{n, inner}), o), n, inner, total), shape)
	}
	base, rows := c.plain(c.Reshape(x, []uint32{total, inner})), c.plain(rows)
	if o.Type != nn.TensorInt32 && !o.Type.IsQuant8() {
		base = c.As(base, nn.TensorFloat32)
	}
	rows = c.As(rows, c.Operand(base).Type)
	var y uint32
	switch how, reduced := combinings[mode]; {
	case reduced:
		y = c.Binary(how.with, base, c.reducedRows(at, rows, n, inner, total, how))
	case mode == "add":
		y = c.Binary(nn.OpAdd, base, c.Scatter(at, rows, n, inner, total))
	default:
		c.Refusef("the reduction %q", mode)
	}
	if y = c.Reshape(y, shape); o.Type.IsQuant8() {
		return c.Wrapped(y, o.Type)
	}
	return c.To(y, o)
}

// combining reduces many elements, two elements, and leaves elements as they are by its neutral one.
type combining struct {
	all, with nn.OperationType
	neutral   float32
	whole     int64 // the neutral integer
}

// combinings says how Scatter's modes that are no sums combine values.
var combinings = map[string]combining{
	"mul": {nn.OpReduceProd, nn.OpMul, 1, 1},
	"max": {nn.OpReduceMax, nn.OpMaximum, float32(math.Inf(-1)), math.MinInt32},
	"min": {nn.OpReduceMin, nn.OpMinimum, float32(math.Inf(1)), math.MaxInt32},
}

// reducedRows reduces the rows [n, inner] of each of total places.
func (c *conversion) reducedRows(at, rows, n, inner, total uint32, how combining) uint32 {
	if uint64(n)*uint64(inner)*uint64(total) > 1<<24 {
		c.Refusef("it reduces %d rows of %d elements into %d", n, inner, total)
	}
	full := []uint32{total, n, inner}
	hit := c.Compare(nn.OpEqual, c.Reshape(c.Iota(int(total)), []uint32{total, 1}), c.Reshape(at, []uint32{1, n}))
	every := c.BroadcastTo(c.Reshape(rows, []uint32{1, n, inner}), full)
	out := nn.Operand{Type: c.Operand(rows).Type}
	var neutral uint32
	if out.Type == nn.TensorInt32 {
		neutral = c.BroadcastTo(c.Int32Tensor(how.whole), full)
	} else {
		neutral = c.filled(out, full, how.neutral)
	}
	chosen := c.choose(c.BroadcastTo(c.Reshape(hit, []uint32{total, n, 1}), full), every, neutral)
	return c.Reduce(how.all, out, chosen, []int64{1}, false)
}

func scatterND(c *conversion) {
	x := c.raw(0)
	shape := c.Dims(x)
	idx := c.tuples(1, shape)
	di := c.Dims(idx)
	m := int(di[len(di)-1])
	n, inner, total := uint32(nn.Elements(di[:len(di)-1])), uint32(nn.Elements(shape[m:])), uint32(nn.Elements(shape[:m]))
	c.define(0, c.scattered(x, c.Linear(idx, shape), c.raw(2), n, inner, total, c.text("reduction", "none")))
}

func scatterElements(c *conversion) {
	x := c.raw(0)
	shape := c.Dims(x)
	at := c.position(c.indices(1), shape, c.Axis(c.int("axis", 0), len(shape)))
	n := uint32(nn.Elements(c.Dims(at)))
	c.define(0, c.scattered(x, at, c.reshaped(c.raw(2), []uint32{n, 1}), n, 1, uint32(nn.Elements(shape)), c.text("reduction", "none")))
}

// oneHot: values are [off, on]; an index outside the depth is off everywhere.
func oneHot(c *conversion) {
	idx := c.asInt32(0)
	if t := c.Operand(c.x(0)).Type; t == nn.TensorFloat32 || t == nn.TensorFloat16 {
		idx = c.As(c.x(0), nn.TensorInt32)
	}
	depth := int64(c.scalar(1, 0))
	values := c.raw(2)
	if d := c.Dims(values); len(d) != 1 || d[0] != 2 {
		c.Failf("values of shape %v", d)
	}
	below := c.As(c.Compare(nn.OpLess, idx, c.Int32Number(0)), nn.TensorInt32)
	idx = c.Binary(nn.OpAdd, idx, c.Binary(nn.OpMul, below, c.Int32Number(depth)))
	rank := c.Rank(idx)
	off, on := c.Slice(values, []int64{0}, []int64{1}), c.Slice(values, []int64{1}, []int64{1})
	c.define(0, c.OneHot(idx, depth, on, off, c.Axis(c.int("axis", -1), rank+1)))
}

// roiMode is where pixels of the images have their centres.
func (c *conversion) roiMode() string {
	initial := map[bool]string{true: "half_pixel", false: "output_half_pixel"}[c.opset >= 16]
	mode := c.text("coordinate_transformation_mode", initial)
	if mode != "half_pixel" && mode != "output_half_pixel" {
		c.Failf("coordinate_transformation_mode %q", mode)
	}
	return mode
}

// roiAlign is NNAPI's ROI_ALIGN, whose regions are aligned to halves of pixels as the file's
// old mode has it.
func roiAlign(c *conversion) {
	if mode := c.roiMode(); mode != "output_half_pixel" {
		c.Refusef("NNAPI's regions are not moved by half a pixel as mode %q does", mode)
	}
	if mode := c.text("mode", "avg"); mode != "avg" {
		c.Refusef("NNAPI averages the samples, unlike mode %q", mode)
	}
	v := c.v(0)
	x := c.asReals(c.form(v, real, true))
	ratio := c.int("sampling_ratio", 0)
	scale := 1 / c.float("spatial_scale", 1)
	float := nn.Operand{Type: c.Operand(x).Type}
	y := c.Emit(nn.OpRoiAlign, float, x, c.As(c.reals(1), float.Type), c.indices(2), c.Int32Scalar(c.int("output_height", 1)),
		c.Int32Scalar(c.int("output_width", 1)), c.ScalarLike(x, scale), c.ScalarLike(x, scale), c.Int32Scalar(ratio), c.Int32Scalar(ratio), c.BoolScalar(false))
	c.defineAs(0, realImage, y, 4)
}
