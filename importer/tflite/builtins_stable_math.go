package tflite

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// stableDot is the product of matrices whose rows and columns are the dimensions neither batched nor summed:
//
//	[batch, m, k] [batch, k, n] = [batch, m, n]
func stableDot(c *conversion) {
	a, b := c.plain(0), c.plain(1)
	if o := c.out(0); o.Type == nn.TensorInt32 && o.Scale == 0 { // of 8 bits: exact in integers
		a, b = c.As(a, nn.TensorInt32), c.As(b, nn.TensorInt32)
	}
	batchA, batchB := c.axes("lhs_batching_dimensions", c.Rank(a)), c.axes("rhs_batching_dimensions", c.Rank(b))
	sumA, sumB := c.axes("lhs_contracting_dimensions", c.Rank(a)), c.axes("rhs_contracting_dimensions", c.Rank(b))
	rows, cols := withoutAxes(c.Rank(a), batchA, sumA), withoutAxes(c.Rank(b), batchB, sumB)
	da, db := c.Dims(a), c.Dims(b)
	if !slices.Equal(pick(da, batchA), pick(db, batchB)) || !slices.Equal(pick(da, sumA), pick(db, sumB)) {
		c.Failf("shapes %v and %v, batches %v and %v, sums along %v and %v", da, db, batchA, batchB, sumA, sumB)
	}
	count := func(dims []uint32, axes []int) uint32 { return uint32(nn.Elements(pick(dims, axes))) }
	n, k := count(da, batchA), count(da, sumA)
	a = c.Reshape(c.Transpose(a, slices.Concat(batchA, rows, sumA)...), []uint32{n, count(da, rows), k})
	right, transposed := []uint32{n, k, count(db, cols)}, false
	order := slices.Concat(batchB, sumB, cols)
	if columns := slices.Concat(batchB, cols, sumB); !slices.IsSorted(order) && slices.IsSorted(columns) {
		order, transposed, right = columns, true, []uint32{n, count(db, cols), k}
	}
	b = c.Reshape(c.Transpose(b, order...), right)
	y := c.BatchMatmul(nn.Operand{Type: c.Operand(a).Type}, a, b, false, transposed)
	c.define(0, c.Reshape(y, slices.Concat(pick(da, batchA), pick(da, rows), pick(db, cols))))
}

// stableConvolution is CONV_2D, DEPTHWISE_CONV_2D or GROUPED_CONV_2D between transpositions.
func stableConvolution(c *conversion) {
	x, w := c.plain(0), c.plain(1)
	if t := c.Operand(x).Type; t != nn.TensorFloat32 && t != nn.TensorFloat16 || c.Operand(w).Type != t {
		c.Refusef("it convolves %v with %v; reals and quantized values are convolved", t, c.Operand(w).Type)
	}
	spatial := c.axes("input_spatial_dimensions", c.Rank(x))
	n := len(spatial)
	switch {
	case n < 1 || n > 2:
		c.Refusef("it convolves along %d dimensions, NNAPI does along 1 and 2", n)
	case max(c.options.Int("batch_group_count"), 1) != 1:
		c.Refusef("batch_group_count is %d", c.options.Int("batch_group_count"))
	}
	x = c.arranged(x, "input_batch_dimension", "input_spatial_dimensions", "input_feature_dimension", n)
	w = c.arranged(w, "kernel_output_feature_dimension", "kernel_spatial_dimensions", "kernel_input_feature_dimension", n)
	for i, turned := range c.each("window_reversal", n, 0) {
		if turned != 0 {
			w = c.Reverse(w, 3-n+i)
		}
	}
	x, pads := c.spaced(x, n)
	y := c.convolve(x, w, pads, n)
	d := c.Dims(y)
	c.define(0, c.Transpose(c.Reshape(y, append(slices.Clone(d[:1]), d[3-n:]...)), c.arrangement("output_batch_dimension", "output_spatial_dimensions", "output_feature_dimension", n)...))
}

// arranged is x with its dimensions in the order first, height, width, last; the height of one dimension is 1.
func (c *conversion) arranged(x uint32, first, spatial, last string, n int) uint32 {
	perm := c.order(first, spatial, last, n)
	if len(perm) != c.Rank(x) {
		c.Failf("%d dimensions of rank %d are named", len(perm), c.Rank(x))
	}
	x = c.Transpose(x, perm...)
	if n == 1 {
		d := c.Dims(x)
		x = c.Reshape(x, []uint32{d[0], 1, d[1], d[2]})
	}
	return x
}

// order are the dimensions that three options name.
func (c *conversion) order(first, spatial, last string, n int) []int {
	rank := n + 2
	perm := slices.Concat([]int{c.Axis(c.options.Int(first), rank)}, c.axes(spatial, rank), []int{c.Axis(c.options.Int(last), rank)})
	if len(perm) != rank {
		c.Failf("%s has %d elements for %d dimensions", spatial, len(perm)-2, n)
	}
	return perm
}

// arrangement is the permutation from order to the dimensions in sequence.
func (c *conversion) arrangement(first, spatial, last string, n int) []int {
	perm := c.order(first, spatial, last, n)
	back := make([]int, len(perm))
	for i, a := range perm {
		back[a] = i
	}
	return back
}

// spaced is the input [N, H, W, C] of a convolution with zeros between its elements and without those that negative
// paddings cut off, and its paddings: left, right, top, bottom.
func (c *conversion) spaced(x uint32, n int) (uint32, [4]int64) {
	out := nn.Operand{Type: c.Operand(x).Type}
	gaps, list := c.each("lhs_dilation", n, 1), c.each("padding", 2*n, 0)
	var pads [4]int64
	for i := range n {
		axis := 3 - n + i
		low, high := list[2*i], list[2*i+1]
		if gaps[i] < 1 {
			c.Failf("lhs_dilation %v", gaps)
		}
		x = c.spread(out, x, axis, gaps[i]-1, none)
		x = c.padAxis(out, x, axis, min(low, 0), min(high, 0), none)
		at := 2 * (2 - axis)
		pads[at], pads[at+1] = max(low, 0), max(high, 0)
	}
	return x, pads
}

// convolve is the convolution of [N, H, W, C] with weights [O, H, W, C / groups].
func (c *conversion) convolve(x, w uint32, pads [4]int64, n int) uint32 {
	wide := func(list []int64) [2]int64 { // height and width
		if n == 1 {
			return [2]int64{1, list[0]}
		}
		return [2]int64{list[0], list[1]}
	}
	stride, dilation := wide(c.each("window_strides", n, 1)), wide(c.each("rhs_dilation", n, 1))
	groups := max(c.options.Int("feature_group_count"), 1)
	depth, dw := int64(c.Dims(x)[3]), c.Dims(w)
	if depth%groups != 0 || int64(dw[0])%groups != 0 || depth/groups != int64(dw[3]) {
		c.Failf("weights %v for %d channels in %d groups", dw, depth, groups)
	}
	for _, v := range []int64{stride[0], stride[1], dilation[0], dilation[1]} {
		if v < 1 || v > math.MaxInt32 {
			c.Failf("strides %v and dilations %v", stride, dilation)
		}
	}
	dilated := dilation != [2]int64{1, 1}
	if groups > 1 && groups < depth && dilated {
		c.Refusef("it has groups and dilation, NNAPI has one of them")
	}
	o := nn.Operand{Type: c.Operand(x).Type}
	bias := c.Filled(nn.Operand{Type: o.Type, Dimensions: dw[:1]}, 0)
	op, tail := nn.OpConv2D, []uint32{c.Int32Scalar(0)}
	switch {
	case groups == depth && groups > 1:
		op, w = nn.OpDepthwiseConv2D, c.Transpose(w, 3, 1, 2, 0)
		tail = []uint32{c.Int32Scalar(int64(dw[0]) / depth), c.Int32Scalar(0)}
	case groups > 1:
		op, tail = nn.OpGroupedConv2D, []uint32{c.Int32Scalar(groups), c.Int32Scalar(0), c.BoolScalar(false)}
	}
	in := []uint32{x, w, bias}
	for _, v := range append(pads[:], stride[1], stride[0]) {
		in = append(in, c.Int32Scalar(v))
	}
	if in = append(in, tail...); dilated {
		in = append(in, c.BoolScalar(false), c.Int32Scalar(dilation[1]), c.Int32Scalar(dilation[0]))
	}
	return c.Emit(op, o, in...)
}

// fold is how values are joined to one: the operation on two values, the reduction by it, and the code of its
// operators.
type fold struct {
	codes      [2]int // of StableHLO and of TensorFlow Lite
	binary     nn.OperationType
	reduce     nn.OperationType
	identity   float32 // of reals
	integer    int64   // the identity of integers
	ofBooleans bool
}

var folds = []fold{
	{codes: [2]int{163, 0}, binary: nn.OpAdd, reduce: nn.OpReduceSum},
	{codes: [2]int{165, 18}, binary: nn.OpMul, reduce: nn.OpReduceProd, identity: 1, integer: 1},
	{codes: [2]int{166, 55}, binary: nn.OpMaximum, reduce: nn.OpReduceMax, identity: float32(math.Inf(-1)), integer: math.MinInt32},
	{codes: [2]int{181, 57}, binary: nn.OpMinimum, reduce: nn.OpReduceMin, identity: float32(math.Inf(1)), integer: math.MaxInt32},
	{codes: [2]int{176, 86}, binary: nn.OpLogicalAnd, reduce: nn.OpReduceAll, integer: 1, ofBooleans: true},
	{codes: [2]int{183, 84}, binary: nn.OpLogicalOr, reduce: nn.OpReduceAny, ofBooleans: true},
}

// folded is how the subgraph of option body joins two values: its one operator.
func (c *conversion) folded() *fold {
	if len(c.in) != 2 {
		c.Refusef("it reduces %d values at once, by a body of its own", len(c.in)/2)
	}
	g, err := c.im.open(int(c.options.Int("body")))
	c.Check(err)
	inputs, outputs := g.table.Vector("inputs").Ints(), g.table.Vector("outputs").Ints()
	if g.table.Tables("operators") == 1 {
		op := g.table.TableAt("operators", 0)
		code, _, _ := g.opcode(0, op)
		of := op.Vector("inputs").Ints()
		slices.Sort(of)
		slices.Sort(inputs)
		i := slices.IndexFunc(folds, func(f fold) bool { return slices.Contains(f.codes[:], code) })
		if i >= 0 && len(of) == 2 && of[0] != of[1] && slices.Equal(of, inputs) && slices.Equal(op.Vector("outputs").Ints(), outputs) {
			if f := &folds[i]; f.ofBooleans == (c.typeOf() == nn.TensorBool8) {
				return f
			}
		}
	}
	c.Refusef("its body, subgraph %d, is no sum, product, maximum or minimum, nor AND or OR of booleans", g.index)
	return nil
}

// starting joins y with the initial value, unless that is the one that changes nothing.
func (c *conversion) starting(f *fold, y uint32) uint32 {
	first := c.plain(1)
	if c.IsConst(first) {
		o := c.Operand(first)
		if list, ok := c.Ints(first); ok && len(list) == 1 && list[0] == f.integer {
			return y
		}
		if o.Type == nn.TensorFloat32 && len(o.Data) == 4 && math.Float32frombits(binary.LittleEndian.Uint32(o.Data)) == f.identity {
			return y
		}
	}
	return c.Binary(f.binary, y, first)
}

func stableReduce(c *conversion) {
	f, x := c.folded(), c.plain(0)
	axes := c.options.Vector("dimensions").Ints()
	c.define(0, c.starting(f, c.Reduce(f.reduce, nn.Operand{Type: c.Operand(x).Type}, x, axes, false)))
}

// stableReduceWindow is pooling along one or two neighbouring dimensions: sums are averages of zeros around times the
// window's size.
func stableReduceWindow(c *conversion) {
	f, x := c.folded(), c.plain(0)
	dims, rank := c.Dims(x), c.Rank(x)
	size, strides, pads := c.each("window_dimensions", rank, 1), c.each("window_strides", rank, 1), c.each("padding", 2*rank, 0)
	for _, option := range []string{"base_dilations", "window_dilations"} {
		if list := c.each(option, rank, 1); slices.ContainsFunc(list, func(n int64) bool { return n != 1 }) {
			c.Refusef("%s are %v, NNAPI's pooling has none", option, list)
		}
	}
	if t := c.Operand(x).Type; t != nn.TensorFloat32 && t != nn.TensorFloat16 || f.binary == nn.OpMul {
		c.Refusef("it joins windows of %v by %v; sums, maxima and minima of reals are pooled", t, f.binary)
	}
	first, last := rank, -1
	for i := range dims {
		if size[i] < 1 || strides[i] < 1 || pads[2*i] < 0 || pads[2*i+1] < 0 {
			c.Refusef("windows %v, strides %v and paddings %v", size, strides, pads)
		}
		if size[i] != 1 || strides[i] != 1 || pads[2*i] != 0 || pads[2*i+1] != 0 {
			first, last = min(first, i), i
		}
	}
	if last-first > 1 {
		c.Refusef("its windows %v are not along two neighbouring dimensions", size)
	}
	first = min(first, max(rank-1, 0))
	at := func(list []int64, i, initial int64) int64 { // along the second dimension, where there is one
		if int(i) >= rank {
			return initial
		}
		return list[i]
	}
	h, w := int64(first), int64(first+1)
	if rank == 0 {
		c.Failf("windows of a scalar")
	}
	flat := []uint32{uint32(nn.Elements(dims[:h])), dims[h], 1, 1}
	if int(w) < rank {
		flat[2], flat[3] = dims[w], uint32(nn.Elements(dims[w+1:]))
	}
	window := poolWindow{height: size[h], width: at(size, w, 1), strideH: strides[h], strideW: at(strides, w, 1), top: pads[2*h], bottom: pads[2*h+1]}
	if int(w) < rank {
		window.left, window.right = pads[2*w], pads[2*w+1]
	}
	y := c.pooled(f, c.Reshape(x, flat), window)
	shape := slices.Clone(dims)
	shape[h] = c.Dims(y)[1]
	if int(w) < rank {
		shape[w] = c.Dims(y)[2]
	}
	c.define(0, c.starting(f, c.Reshape(y, shape)))
}

// poolWindow is a window of two dimensions.
type poolWindow struct {
	height, width, strideH, strideW, top, bottom, left, right int64
}

// pooled joins the windows of [N, H, W, C].
func (c *conversion) pooled(f *fold, x uint32, w poolWindow) uint32 {
	o := nn.Operand{Type: c.Operand(x).Type}
	pool := func(op nn.OperationType, x uint32) uint32 {
		in := []uint32{x}
		for _, v := range []int64{w.left, w.right, w.top, w.bottom, w.strideW, w.strideH, w.width, w.height, 0} {
			in = append(in, c.Int32Scalar(v))
		}
		return c.Emit(op, o, in...)
	}
	switch f.binary {
	case nn.OpMaximum:
		return pool(nn.OpMaxPool2D, x)
	case nn.OpMinimum:
		return c.Unary(nn.OpNeg, pool(nn.OpMaxPool2D, c.Unary(nn.OpNeg, x)))
	}
	x = c.padAxis(o, c.padAxis(o, x, 1, w.top, w.bottom, none), 2, w.left, w.right, none)
	w.top, w.bottom, w.left, w.right = 0, 0, 0, 0
	y := pool(nn.OpAveragePool2D, x)
	return c.Binary(nn.OpMul, y, c.Like(y, float32(w.height*w.width)))
}

// stableSort sorts one value by TOPK_V2 of all elements.
func stableSort(c *conversion) {
	x := c.x(0)
	if len(c.in) != 1 {
		c.Refusef("it sorts %d values by one of them", len(c.in))
	}
	ascending := c.ascends(int(c.options.Int("comparator")))
	rank := c.Rank(x)
	axis := c.Axis(c.options.Int("dimension"), rank)
	perm := append(withoutAxes(rank, []int{axis}), axis)
	y := c.Transpose(x, perm...)
	moved := c.Dims(y)
	rows := []uint32{uint32(nn.Elements(moved[:rank-1])), moved[rank-1]}
	y = c.Reshape(y, rows)
	y = c.EmitAll(nn.OpTopkV2, []nn.Operand{*c.Operand(y), {Type: nn.TensorInt32}}, y, c.Int32Scalar(int64(rows[1])))[0]
	if ascending {
		y = c.Reverse(y, 1)
	}
	back := make([]int, rank)
	for i, a := range perm {
		back[a] = i
	}
	c.define(0, c.Transpose(c.Reshape(y, moved), back...))
}

// ascends reports whether a comparator is "less", not "greater".
func (c *conversion) ascends(index int) bool {
	const compare, greater, less = 191, 3, 5
	g, err := c.im.open(index)
	c.Check(err)
	if g.table.Tables("operators") == 1 {
		op := g.table.TableAt("operators", 0)
		code, _, _ := g.opcode(0, op)
		k := g.conversion(op, 1)
		if code == compare && slices.Equal(op.Vector("inputs").Ints(), g.table.Vector("inputs").Ints()) {
			k.readOptions(op, c.im.rows[compare])
			switch k.options.Int("comparison_direction") {
			case greater:
				return false
			case less:
				return true
			}
		}
	}
	c.Refusef("its comparator, subgraph %d, is neither less nor greater", index)
	return false
}
