package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/shapetest"
)

// drawHostNetwork is random network number seed that also has operators outside NNAPI, and whose shapes, axes and
// positions are inputs as often as constants.
func drawHostNetwork(seed uint64) *randomNetwork {
	n := newNetwork(seed, 79)
	n.runtime = true
	n.grow(slices.Concat(hostOperators, hostOperators, randomOperators))
	return n
}

// openResult is the result of an operator whose length only an execution knows; no other operator of the network reads it.
func (n *randomNetwork) openResult(op, kind string, options fields, in []*drawn, outs ...arg) {
	kept := n.values
	for _, y := range n.apply(op, kind, options, in, outs...) {
		y.exact = y.Type != typeFloat32
		n.open = append(n.open, y)
	}
	n.values = kept
}

// openList is a result of a type with an open first dimension.
func openList(code int, more ...int32) arg {
	a := arg{Tensor: tensorArg(code, append([]int32{1}, more...), nil).Tensor}
	a.More = fields{"shape_signature": append([]int32{-1}, more...)}
	return a
}

func drawWhere(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeBool, typeBool}, 1, 4, touchy)
	n.openResult("WHERE", "", nil, []*drawn{x}, openList(typeInt64, int32(len(x.Shape))))
}

func drawUnique(n *randomNetwork) {
	a := n.filled(one(n, typeFloat32, typeInt32), n.shape(1))
	for i := range a.values {
		a.values[i] = float64(n.between(-2, 2))
	}
	of := one(n, typeInt32, typeInt64)
	places := openList(of)
	places.Shape, places.More = a.Shape, nil
	n.openResult("UNIQUE", "UniqueOptions", fields{"idx_out_type": of}, []*drawn{n.input(a)}, openList(a.Type), places)
}

// drawSuppression is a NON_MAX_SUPPRESSION: soft is its fifth version.
func drawSuppression(soft bool) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		boxes, scores := f32([]int32{int32(n.between(1, 8)), 4}), arg{}
		scores = f32(boxes.Shape[:1])
		for i := range boxes.Shape[0] {
			y, x := float64(n.between(0, 6))/2, float64(n.between(0, 6))/2
			corners := []float64{y, x, y + float64(n.between(1, 4))/2, x + float64(n.between(1, 4))/2}
			if n.chance(4) { // the other diagonal
				corners[0], corners[2] = corners[2], corners[0]
			}
			boxes.values = append(boxes.values, corners...)
			scores.values = append(scores.values, float64(n.between(0, 8))/8+float64(i)/128)
		}
		number := func(a arg) *drawn {
			if n.chance(2) {
				return n.input(a)
			}
			return n.constant(a)
		}
		most := n.between(1, 6)
		list := []*drawn{n.input(boxes), n.input(scores), n.constant(i32(nil, float64(most))), number(f32(nil, float64(n.between(1, 9))/10)), number(f32(nil, float64(n.between(0, 5))/10))}
		chosen, scored, valid := i32([]int32{int32(most)}), f32([]int32{int32(most)}), i32(nil)
		if soft {
			list = append(list, number(f32(nil, float64(n.between(0, 3))/4)))
			n.openResult("NON_MAX_SUPPRESSION_V5", "", nil, list, chosen, scored, valid)
			return
		}
		n.openResult("NON_MAX_SUPPRESSION_V4", "", nil, list, chosen, valid)
	}
}

func drawSlice(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	begin, size, shape := []int{}, []int{}, []int32{}
	for _, d := range x.Shape {
		lo := n.random.IntN(int(d))
		count := n.between(1, int(d)-lo)
		begin, shape = append(begin, lo), append(shape, int32(count))
		if lo+count == int(d) && n.chance(2) {
			count = -1
		}
		size = append(size, count)
	}
	n.moved("SLICE", "", nil, x, shape, n.ints(begin...), n.ints(size...))
}

func drawFill(n *randomNetwork) {
	shape, list := n.shape(n.between(1, 4)), []int{}
	for _, d := range shape {
		list = append(list, int(d))
	}
	a := n.filled(one(n, typeFloat32, typeInt32, typeBool), dims())
	of := n.ints(list...)
	y := n.apply("FILL", "", nil, []*drawn{of, n.input(a)}, arg{Tensor: tensorArg(a.Type, shape, nil).Tensor})[0]
	y.exact = true
}

func drawRange(n *randomNetwork) {
	step := one(n, -3, -1, 1, 2)
	start, length := n.between(-9, 9), n.between(1, 9)
	limit, of := start+step*length, one(n, typeInt32, typeFloat32)
	list := []*drawn{}
	for _, v := range []int{start, limit, step} {
		a := tensorArg(of, nil, []float64{float64(v)})
		if n.chance(2) {
			list = append(list, n.input(a))
		} else {
			list = append(list, n.constant(a))
		}
	}
	n.openResult("RANGE", "", nil, list, openList(of))
}

func drawBroadcastTo(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32}, 1, 4, nil)
	shape := slices.Clone(x.Shape)
	for i, d := range shape {
		if d == 1 {
			shape[i] = int32(n.between(1, 4))
		}
	}
	if len(shape) < 4 && n.chance(2) {
		shape = append([]int32{int32(n.between(1, 3))}, shape...)
	}
	list := []int{}
	for _, d := range shape {
		list = append(list, int(d))
	}
	n.moved("BROADCAST_TO", "", nil, x, shape, n.ints(list...))
	n.sub.Operators[len(n.sub.Operators)-1].Version = 2
}

func drawShape(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	of := one(n, typeInt32, typeInt64)
	n.openResult("SHAPE", "ShapeOptions", fields{"out_type": of}, []*drawn{x}, arg{Tensor: tensorArg(of, []int32{int32(len(x.Shape))}, nil).Tensor})
}

func drawGatherND(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	depth := n.between(1, len(x.Shape))
	at := i32(append(n.shape(n.between(0, 1)), int32(depth)))
	for i := range count(at.Shape) {
		at.values = append(at.values, float64(n.random.IntN(int(x.Shape[i%depth]))))
	}
	n.moved("GATHER_ND", "", nil, x, slices.Concat(at.Shape[:len(at.Shape)-1], x.Shape[depth:]), n.input(at))
}

func drawScatterND(n *randomNetwork) {
	shape := n.shape(n.between(1, 3))
	depth, rows := n.between(1, len(shape)), n.between(1, 4)
	at := i32([]int32{int32(rows), int32(depth)})
	for i := range count(at.Shape) {
		at.values = append(at.values, float64(n.random.IntN(int(shape[i%depth]))))
	}
	list := []int{}
	for _, d := range shape {
		list = append(list, int(d))
	}
	updates := n.input(n.filled(one(n, typeFloat32, typeInt32), append([]int32{int32(rows)}, shape[depth:]...)))
	n.computed("SCATTER_ND", "", nil, []*drawn{n.input(at), updates, n.ints(list...)}, n.like(updates, shape, false))
}

func drawTopK(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeInt8, typeUint8}, 1, 4, touchy)
	shape := slices.Clone(x.Shape)
	last := len(shape) - 1
	shape[last] = int32(n.between(1, int(shape[last])))
	k := i32(nil, float64(shape[last]))
	by := n.constant(k)
	if n.chance(2) {
		by = n.input(k)
	}
	for _, y := range n.apply("TOPK_V2", "", nil, []*drawn{x, by}, n.like(x, shape, false), i32(shape)) {
		y.exact = true
	}
}

func drawOneHot(n *randomNetwork) {
	indices := n.some([]int{typeInt32}, 1, 3, nil)
	axis, depth := n.between(-1, len(indices.Shape)), n.between(1, 5)
	at := axis
	if at < 0 {
		at = len(indices.Shape)
	}
	scalar := func(a arg) *drawn {
		if n.chance(2) {
			return n.input(a)
		}
		return n.constant(a)
	}
	of := one(n, typeFloat32, typeInt32)
	on, off := n.filled(of, dims()), n.filled(of, dims())
	y := n.apply("ONE_HOT", "OneHotOptions", fields{"axis": axis}, []*drawn{indices, scalar(i32(nil, float64(depth))), scalar(on), scalar(off)},
		arg{Tensor: tensorArg(of, slices.Insert(slices.Clone(indices.Shape), at, int32(depth)), nil).Tensor})[0]
	y.exact = true
}

func drawSegmentSum(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32}, 1, 4, smooth)
	ids, last := i32(x.Shape[:1]), 0
	for i := range x.Shape[0] { // from 0 on
		last += n.random.IntN(2) * int(min(i, 1))
		ids.values = append(ids.values, float64(last))
	}
	shape := slices.Clone(x.Shape)
	shape[0] = int32(last) + 1
	n.computed("SEGMENT_SUM", "", nil, []*drawn{x, n.input(ids)}, n.like(x, shape, false))
}

func drawReverseSequence(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeUint8}, 2, 4, nil)
	axes := n.random.Perm(len(x.Shape))
	lengths := i32(dims(x.Shape[axes[0]]))
	for range x.Shape[axes[0]] {
		lengths.values = append(lengths.values, float64(n.between(0, int(x.Shape[axes[1]]))))
	}
	n.moved("REVERSE_SEQUENCE", "ReverseSequenceOptions", fields{"batch_dim": axes[0], "seq_dim": axes[1]}, x, x.Shape, n.input(lengths))
}

// drawStridedMasks is a STRIDED_SLICE with new axes and an ellipsis.
func drawStridedMasks(n *randomNetwork) {
	x := n.some(moveCodes, 1, 3, nil)
	begin, end, step, shape, masks := []int{}, []int{}, []int{}, []int32{}, fields{}
	mask := func(name string) {
		bits, _ := masks[name].(int)
		masks[name] = bits | 1<<len(begin)
	}
	entry := func(b, e, s int) { begin, end, step = append(begin, b), append(end, e), append(step, s) }
	skipped := n.between(0, len(x.Shape))
	from := n.random.IntN(len(x.Shape) - skipped + 1)
	for i, d := range x.Shape {
		inside := i > from && i < from+skipped // of the ellipsis
		if !inside && n.chance(4) && len(shape)+len(x.Shape)-i < 4 {
			mask("new_axis_mask")
			entry(n.between(-3, 3), n.between(-3, 3), 1)
			shape = append(shape, 1)
		}
		switch {
		case i == from && skipped > 0:
			mask("ellipsis_mask")
			entry(n.between(-3, 3), n.between(-3, 3), 1)
			shape = append(shape, d)
		case inside:
			shape = append(shape, d)
		case n.chance(3):
			mask("shrink_axis_mask")
			at := n.random.IntN(int(d))
			entry(n.axis(int(d), at), at+1, 1)
		default:
			lo := n.random.IntN(int(d))
			entry(lo, int(d)+n.random.IntN(3), 1)
			shape = append(shape, d-int32(lo))
		}
	}
	n.moved("STRIDED_SLICE", "StridedSliceOptions", masks, x, shape, n.ints(begin...), n.ints(end...), n.ints(step...))
}

func drawUpdateSlice(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeInt8}, 1, 4, nil)
	shape, at := []int32{}, []int{}
	for _, d := range x.Shape {
		shape, at = append(shape, int32(n.between(1, int(d)))), append(at, n.between(-1, int(d)))
	}
	a := n.filled(x.Type, shape)
	a.Scale, a.Zero = x.Scale, x.Zero
	n.moved("DYNAMIC_UPDATE_SLICE", "", nil, x, x.Shape, n.input(a), n.ints(at...))
}

func drawSqueeze(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, func(v *drawn) bool { return slices.Contains(v.Shape, 1) })
	axes := []int{}
	for i, d := range x.Shape {
		if d == 1 && n.chance(2) {
			axes = append(axes, i)
		}
	}
	shape := shapetest.Reduced(x.Shape, axes, false)
	list := []int32{}
	for _, a := range axes {
		list = append(list, int32(n.axis(len(x.Shape), a)))
	}
	if len(axes) == 0 {
		shape = slices.DeleteFunc(slices.Clone(x.Shape), func(d int32) bool { return d == 1 })
	}
	n.moved("SQUEEZE", "SqueezeOptions", fields{"squeeze_dims": list}, x, shape)
}

// hostOperators are operators outside NNAPI, and those that take shapes and positions.
var hostOperators = []func(n *randomNetwork){
	drawWhere, drawWhere, drawUnique, drawSuppression(false), drawSuppression(true), drawSlice, drawSlice, drawFill, drawRange, drawBroadcastTo, drawShape, drawGatherND, drawScatterND,
	drawTopK, drawOneHot, drawSegmentSum, drawReverseSequence, drawStridedMasks, drawStridedMasks, drawUpdateSlice, drawSqueeze,
	drawReshape, drawTranspose, drawPad, drawTile, drawExpandDims, drawStridedSlice, drawSplit, drawCumulativeSum,
}
