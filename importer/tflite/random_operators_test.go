package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/shapetest"
)

var (
	realCodes = []int{typeFloat32}
	dataCodes = []int{typeFloat32, typeFloat32, typeInt8, typeUint8}
	moveCodes = []int{typeFloat32, typeInt8, typeUint8, typeInt32}
)

// drawUnary is an operator of one operand with a result of its shape.
func drawUnary(op, kind string, options fields, codes []int, fits func(v *drawn) bool) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(codes, 1, 5, fits)
		n.computed(op, kind, options, []*drawn{x}, n.like(x, x.Shape, false))
	}
}

// drawFixed is a unary operator whose quantized result has the scale and zero points that TensorFlow Lite demands.
func drawFixed(op, kind string, options fields, scale float32, zero8, zeroU8 int64) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(dataCodes, 1, 4, smooth)
		y := n.like(x, x.Shape, false)
		if x.Scale != nil {
			y.Scale, y.Zero = []float32{scale}, []int64{map[int]int64{typeInt8: zero8, typeUint8: zeroU8}[x.Type]}
			if x.Type == typeInt16 {
				y.Scale = []float32{1.0 / 32768}
			}
		}
		n.computed(op, kind, options, []*drawn{x}, y)
	}
}

// drawBinary is an operator of two operands that broadcast, with a fused activation.
func drawBinary(op, kind string, codes []int, own bool) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(codes, 0, 4, smooth)
		y := n.partner(x)
		if !own && x.Scale != nil { // one quantization for all
			n.sub.Tensors[y.at].Scale, n.sub.Tensors[y.at].Zero = x.Scale, x.Zero
			y.Scale, y.Zero = x.Scale, x.Zero
			for _, v := range n.inputs {
				if v.at == y.at {
					v.Scale, v.Zero = x.Scale, x.Zero
				}
			}
		}
		options := fields{}
		if own && x.Type != typeInt32 && op != "SQUARED_DIFFERENCE" {
			options["activation"] = one(n, 0, 0, 1, 3)
		}
		in := []*drawn{x, y}
		if n.chance(2) {
			in = []*drawn{y, x}
		}
		n.computed(op, kind, options, in, n.like(x, shapetest.Broadcast(x.Shape, y.Shape), own))
	}
}

func drawCompared(op, kind string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some([]int{typeFloat32, typeInt32}, 1, 4, touchy)
		y := n.partner(x)
		n.computed(op, kind, nil, []*drawn{x, y}, arg{Tensor: bools(shapetest.Broadcast(x.Shape, y.Shape)).Tensor})
	}
}

func drawReducing(op string, codes []int, own bool) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(codes, 1, 4, smooth)
		axes, written := n.someAxes(len(x.Shape))
		if len(axes) == 0 || op == "REDUCE_PROD" && count(x.Shape) > 30 {
			return
		}
		keep := n.chance(2)
		n.computed(op, "ReducerOptions", fields{"keep_dims": keep}, []*drawn{x, n.ints(written...)}, n.like(x, shapetest.Reduced(x.Shape, axes, keep), own))
	}
}

// image is a tensor of four dimensions.
func (n *randomNetwork) image(codes []int, fits func(v *drawn) bool) *drawn {
	if x := n.some(codes, 4, 4, fits); x.Shape[1] > 1 && x.Shape[2] > 1 {
		return x
	}
	return n.input(n.filled(one(n, n.widened(codes)...), []int32{int32(n.between(1, 2)), int32(n.between(2, 8)), int32(n.between(2, 8)), int32(n.between(1, 6))}))
}

// windowOf draws a window for an image: options and the height and width of the result.
func (n *randomNetwork) windowOf(x *drawn, dilated bool) (options fields, kernel, out []int32) {
	options = fields{"padding": n.random.IntN(2)}
	for i, name := range []string{"h", "w"} {
		size := x.Shape[1+i]
		k, s, d := int32(n.between(1, min(3, int(size)))), int32(n.between(1, 3)), int32(1)
		if dilated && n.chance(3) && (k-1)*2+1 <= size {
			s, d = 1, 2
		}
		if dilated {
			options["dilation_"+name] = int(d)
		}
		options["stride_"+name] = int(s)
		kernel = append(kernel, k)
		length := (size + s - 1) / s
		if options["padding"] == 1 {
			length = (size - ((k-1)*d + 1) + s) / s
		}
		out = append(out, length)
	}
	if options["dilation_h"] == 2 || options["dilation_w"] == 2 { // with strides TensorFlow Lite has none
		for i, name := range []string{"h", "w"} {
			if options["stride_"+name] != 1 {
				options["stride_"+name] = 1
				out[i] = x.Shape[1+i]
				if options["padding"] == 1 {
					out[i] -= (kernel[i] - 1) * int32(options["dilation_"+name].(int))
				}
			}
		}
	}
	return options, kernel, out
}

// weights are constant weights for an input, and a bias; those of 8 bits have a scale, or one for each of units.
func (n *randomNetwork) weights(x *drawn, shape []int32, units, along int, channels bool) (w, bias *drawn) {
	of := x.Type
	if of == typeInt16 {
		of = typeInt8
	}
	a, b := n.filled(of, shape), arg{Tensor: f32(dims(int32(units))).Tensor}
	if x.Scale != nil {
		b.Type = typeInt32
		if x.Type == typeInt16 {
			b.Type = typeInt64
		}
		a.Scale, a.Zero = []float32{0.01}, []int64{int64(n.between(100, 150))}
		if of == typeInt8 {
			a.Zero = []int64{0}
			for i, v := range a.values {
				a.values[i] = max(v, -127)
			}
		}
		if of == typeInt8 && channels && n.chance(2) {
			a.Scale, a.Zero, a.Along = nil, nil, along
			for range units {
				a.Scale, a.Zero = append(a.Scale, float32(n.between(1, 9))/512), append(a.Zero, 0)
			}
			b.Along = 0
		}
		for _, s := range a.Scale {
			b.Scale, b.Zero = append(b.Scale, s*x.Scale[0]), append(b.Zero, 0)
		}
	}
	for range units {
		b.values = append(b.values, float64(n.between(-40, 40)))
	}
	return n.constant(a), n.constant(b)
}

func drawConv(n *randomNetwork) {
	x := n.image(dataCodes, smooth)
	options, kernel, out := n.windowOf(x, true)
	units := n.between(1, 5)
	w, b := n.weights(x, []int32{int32(units), kernel[0], kernel[1], x.Shape[3]}, units, 0, true)
	options["activation"] = one(n, 0, 0, 1, 3)
	n.computed("CONV_2D", "Conv2DOptions", options, []*drawn{x, w, b}, n.like(x, []int32{x.Shape[0], out[0], out[1], int32(units)}, true))
}

func drawDepthwise(n *randomNetwork) {
	x := n.image(dataCodes, smooth)
	options, kernel, out := n.windowOf(x, true)
	times := n.between(1, 2)
	units := times * int(x.Shape[3])
	w, b := n.weights(x, []int32{1, kernel[0], kernel[1], int32(units)}, units, 3, true)
	options["depth_multiplier"], options["activation"] = times, one(n, 0, 0, 1, 3)
	n.computed("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", options, []*drawn{x, w, b}, n.like(x, []int32{x.Shape[0], out[0], out[1], int32(units)}, true))
}

func drawFullyConnected(n *randomNetwork) {
	x := n.some(dataCodes, 1, 4, smooth)
	size, units := x.Shape[len(x.Shape)-1], n.between(1, 5)
	w, b := n.weights(x, []int32{int32(units), size}, units, 0, false)
	if n.chance(4) {
		b = nil
	}
	keep := n.chance(2)
	shape := []int32{int32(count(x.Shape)) / size, int32(units)}
	if keep {
		shape = append(slices.Clone(x.Shape[:len(x.Shape)-1]), int32(units))
	}
	n.computed("FULLY_CONNECTED", "FullyConnectedOptions", fields{"keep_num_dims": keep, "activation": one(n, 0, 0, 1, 3)}, []*drawn{x, w, b}, n.like(x, shape, true))
}

func drawTransposeConv(n *randomNetwork) {
	x := n.image(dataCodes, smooth)
	padding, out, kernel := n.random.IntN(2), []int32{}, []int32{}
	s := n.between(1, 2)
	for i := range 2 {
		k := int32(n.between(s, 3))
		length := x.Shape[1+i] * int32(s)
		if padding == 1 {
			length = (x.Shape[1+i]-1)*int32(s) + k
		}
		out, kernel = append(out, length), append(kernel, k)
	}
	units := n.between(1, 3)
	w, b := n.weights(x, []int32{int32(units), kernel[0], kernel[1], x.Shape[3]}, units, 0, true)
	shape := n.ints(int(x.Shape[0]), int(out[0]), int(out[1]), units)
	n.computed("TRANSPOSE_CONV", "TransposeConvOptions", fields{"padding": padding, "stride_w": s, "stride_h": s}, []*drawn{shape, w, x, b}, n.like(x, []int32{x.Shape[0], out[0], out[1], int32(units)}, true))
}

func drawPool(op string, codes []int) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.image(codes, smooth)
		options, kernel, out := n.windowOf(x, false)
		options["filter_h"], options["filter_w"], options["activation"] = int(kernel[0]), int(kernel[1]), one(n, 0, 0, 1, 3)
		n.computed(op, "Pool2DOptions", options, []*drawn{x}, n.like(x, []int32{x.Shape[0], out[0], out[1], x.Shape[3]}, false))
	}
}

func drawBatchMatMul(n *randomNetwork) {
	x := n.some(realCodes, 2, 4, smooth)
	rank := len(x.Shape)
	k, columns := x.Shape[rank-1], int32(n.between(1, 4))
	turned := n.chance(2)
	shape := append(slices.Clone(x.Shape[:rank-2]), k, columns)
	if turned {
		shape[rank-2], shape[rank-1] = columns, k
	}
	for i := range shape[:rank-2] {
		if n.chance(3) {
			shape[i] = 1
		}
	}
	y := n.input(n.filled(x.Type, shape))
	n.computed("BATCH_MATMUL", "BatchMatMulOptions", fields{"adj_y": turned}, []*drawn{x, y}, n.like(x, append(slices.Clone(x.Shape[:rank-1]), columns), false))
}

func drawTranspose(n *randomNetwork) {
	x := n.some(moveCodes, 1, 5, nil)
	perm := n.random.Perm(len(x.Shape))
	shape := []int32{}
	for _, p := range perm {
		shape = append(shape, x.Shape[p])
	}
	n.moved("TRANSPOSE", "", nil, x, shape, n.ints(perm...))
}

func drawReshape(n *randomNetwork) {
	x := n.some(moveCodes, 0, 5, nil)
	shape, written, left := []int32{}, []int{}, int32(count(x.Shape))
	for left > 1 && len(shape) < 4 {
		d := int32(n.between(1, int(left)))
		for left%d != 0 {
			d--
		}
		shape, left = append(shape, d), left/d
	}
	shape = append(shape, left)
	for _, d := range shape {
		written = append(written, int(d))
	}
	if n.chance(2) {
		written[n.random.IntN(len(written))] = -1
	}
	n.moved("RESHAPE", "ReshapeOptions", nil, x, shape, n.ints(written...))
}

func drawConcatenation(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	axis := n.random.IntN(len(x.Shape))
	shape, in := slices.Clone(x.Shape), []*drawn{x}
	for range n.between(1, 3) {
		d := slices.Clone(x.Shape)
		d[axis] = int32(n.between(1, 3))
		a := n.filled(x.Type, d)
		if x.Type != typeUint8 { // one quantization for all
			a.Scale, a.Zero = x.Scale, x.Zero
		}
		y := x
		switch n.random.IntN(3) {
		case 0:
			y = n.constant(a)
		case 1:
			y = n.input(a)
		}
		in, shape[axis] = append(in, y), shape[axis]+y.Shape[axis]
	}
	out := n.like(x, shape, x.Type == typeUint8)
	y := n.apply("CONCATENATION", "ConcatenationOptions", fields{"axis": n.axis(len(shape), axis)}, in, out)[0]
	y.exact, y.steps = x.exact && x.Type != typeUint8, x.steps
	if x.Type == typeUint8 {
		y.steps = 1
	}
}

func drawSplit(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, func(v *drawn) bool { return slices.Max(v.Shape) > 1 })
	axis := n.random.IntN(len(x.Shape))
	if x.Shape[axis] < 2 {
		return
	}
	first := n.between(1, int(x.Shape[axis])-1)
	part := func(size int) arg {
		d := slices.Clone(x.Shape)
		d[axis] = int32(size)
		return n.like(x, d, false)
	}
	at := n.constant(i32(nil, float64(n.axis(len(x.Shape), axis))))
	for _, y := range n.apply("SPLIT_V", "SplitVOptions", fields{"num_splits": 2}, []*drawn{x, n.ints(first, int(x.Shape[axis])-first), at}, part(first), part(int(x.Shape[axis])-first)) {
		y.exact, y.steps = x.exact, x.steps
	}
}

func drawStridedSlice(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	begin, end, step, shape, masks := []int{}, []int{}, []int{}, []int32{}, [3]int{}
	for i, d := range x.Shape {
		lo := n.random.IntN(int(d))
		hi := n.between(lo+1, int(d))
		s := n.between(1, 2)
		length := (hi - lo + s - 1) / s
		b, e := lo, hi
		switch n.random.IntN(5) {
		case 0: // one element, and no dimension
			masks[2] |= 1 << i
			e, s, length = lo+1, 1, 0
		case 1: // backwards
			b, e, s = hi-1, lo-1, -s
			if e < 0 {
				e = -int(d) - 1
			}
		case 2:
			masks[0] |= 1 << i
			length = (hi + s - 1) / s
		case 3:
			masks[1] |= 1 << i
			length = (int(d) - lo + s - 1) / s
			b -= int(d)
		}
		begin, end, step = append(begin, b), append(end, e), append(step, s)
		if masks[2]>>i&1 == 0 {
			shape = append(shape, int32(length))
		}
	}
	n.moved("STRIDED_SLICE", "StridedSliceOptions", fields{"begin_mask": masks[0], "end_mask": masks[1], "shrink_axis_mask": masks[2]}, x, shape, n.ints(begin...), n.ints(end...), n.ints(step...))
}

func drawPad(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	shape, list := slices.Clone(x.Shape), arg{Tensor: i32(dims(int32(len(x.Shape)), 2)).Tensor}
	mirror := n.chance(4)
	for i, d := range x.Shape {
		lo, hi := n.random.IntN(3), n.random.IntN(3)
		if mirror {
			lo, hi = min(lo, int(d)-1), min(hi, int(d)-1)
		}
		list.values, shape[i] = append(list.values, float64(lo), float64(hi)), d+int32(lo+hi)
	}
	pads := n.constant(list)
	switch {
	case mirror:
		n.moved("MIRROR_PAD", "MirrorPadOptions", fields{"mode": n.random.IntN(2)}, x, shape, pads)
	case n.chance(2):
		a := n.filled(x.Type, dims())
		a.Scale, a.Zero = x.Scale, x.Zero
		n.moved("PADV2", "", nil, x, shape, pads, n.constant(a))
	default:
		n.moved("PAD", "", nil, x, shape, pads)
	}
}

func drawGather(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	axis := n.random.IntN(len(x.Shape))
	at := i32(n.shape(n.between(0, 2)))
	for range count(at.Shape) {
		at.values = append(at.values, float64(n.random.IntN(int(x.Shape[axis]))))
	}
	index := n.constant(at)
	if n.chance(2) {
		index = n.input(at)
	}
	shape := slices.Concat(x.Shape[:axis], at.Shape, x.Shape[axis+1:])
	n.moved("GATHER", "GatherOptions", fields{"axis": n.axis(len(x.Shape), axis)}, x, shape, index)
}

func drawExpandDims(n *randomNetwork) {
	x := n.some(moveCodes, 0, 4, nil)
	axis := n.random.IntN(len(x.Shape) + 1)
	n.moved("EXPAND_DIMS", "", nil, x, slices.Insert(slices.Clone(x.Shape), axis, 1), n.constant(i32(nil, float64(n.axis(len(x.Shape)+1, axis)))))
}

func drawPack(n *randomNetwork) {
	x := n.some(moveCodes, 0, 3, nil)
	axis := n.random.IntN(len(x.Shape) + 1)
	a := n.filled(x.Type, x.Shape)
	a.Scale, a.Zero = x.Scale, x.Zero
	in := []*drawn{x, n.input(a)}
	y := n.apply("PACK", "PackOptions", fields{"values_count": 2, "axis": n.axis(len(x.Shape)+1, axis)}, in, n.like(x, slices.Insert(slices.Clone(x.Shape), axis, 2), false))[0]
	y.exact, y.steps = x.exact, x.steps
}

func drawUnpack(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	axis := n.random.IntN(len(x.Shape))
	outs := []arg{}
	for range x.Shape[axis] {
		outs = append(outs, n.like(x, shapetest.Reduced(x.Shape, []int{axis}, false), false))
	}
	for _, y := range n.apply("UNPACK", "UnpackOptions", fields{"num": len(outs), "axis": n.axis(len(x.Shape), axis)}, []*drawn{x}, outs...) {
		y.exact, y.steps = x.exact, x.steps
	}
}

func drawTile(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, nil)
	times, shape := []int{}, []int32{}
	for _, d := range x.Shape {
		t := n.between(1, 3)
		times, shape = append(times, t), append(shape, d*int32(t))
	}
	n.moved("TILE", "", nil, x, shape, n.ints(times...))
}

func drawResize(op, kind string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.image(dataCodes, smooth)
		h, w := n.between(1, 9), n.between(1, 9)
		options := fields{}
		switch n.random.IntN(3) {
		case 0:
			options["align_corners"] = true
		case 1:
			options["half_pixel_centers"] = true
		}
		n.computed(op, kind, options, []*drawn{x, n.ints(h, w)}, n.like(x, []int32{x.Shape[0], int32(h), int32(w), x.Shape[3]}, false))
	}
}

func drawQuantize(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt8, typeUint8}, 1, 4, touchy)
	a := n.filled(one(n, n.widened([]int{typeInt8, typeUint8})...), nil)
	a.Shape, a.values = x.Shape, nil
	n.computed("QUANTIZE", "", nil, []*drawn{x}, a)
}

func drawDequantize(n *randomNetwork) {
	x := n.some([]int{typeInt8, typeUint8}, 1, 4, smooth)
	y := n.apply("DEQUANTIZE", "", nil, []*drawn{x}, arg{Tensor: f32(x.Shape).Tensor})[0]
	y.exact = x.exact
}

func drawCast(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeBool}, 1, 4, touchy)
	n.computed("CAST", "CastOptions", nil, []*drawn{x}, arg{Tensor: tensorArg(one(n, typeFloat32, typeInt32, typeBool), x.Shape, nil).Tensor})
}

func drawWinner(op, kind string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(dataCodes, 1, 4, touchy)
		axis := n.random.IntN(len(x.Shape))
		n.computed(op, kind, fields{"output_type": typeInt32}, []*drawn{x, n.constant(i32(nil, float64(n.axis(len(x.Shape), axis))))}, arg{Tensor: i32(shapetest.Reduced(x.Shape, []int{axis}, false)).Tensor})
	}
}

func drawSelected(n *randomNetwork) {
	x := n.some(moveCodes, 1, 4, smooth)
	a := n.filled(x.Type, x.Shape)
	a.Scale, a.Zero = x.Scale, x.Zero
	c := n.filled(typeBool, x.Shape[n.random.IntN(len(x.Shape)):])
	y := n.apply("SELECT_V2", "", nil, []*drawn{n.input(c), x, n.input(a)}, n.like(x, x.Shape, false))[0]
	y.exact = x.exact
}

func drawSpaceToDepth(n *randomNetwork) {
	b, c := int32(n.between(1, 3)), int32(n.between(1, 3))
	x := n.input(n.filled(one(n, n.widened(moveCodes)...), []int32{2, b * int32(n.between(1, 3)), b * int32(n.between(1, 3)), c}))
	n.moved("SPACE_TO_DEPTH", "SpaceToDepthOptions", fields{"block_size": int(b)}, x, []int32{2, x.Shape[1] / b, x.Shape[2] / b, c * b * b})
}

func drawCumulativeSum(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32}, 1, 4, touchy)
	n.computed("CUMSUM", "CumsumOptions", fields{"exclusive": n.chance(2), "reverse": n.chance(2)}, []*drawn{x, n.constant(i32(nil, float64(n.axis(len(x.Shape), n.random.IntN(len(x.Shape))))))}, n.like(x, x.Shape, false))
}

// randomOperators are what random networks consist of.
var randomOperators = []func(n *randomNetwork){
	drawUnary("RELU", "", nil, dataCodes, smooth), drawUnary("RELU6", "", nil, dataCodes, smooth), drawUnary("ABS", "", nil, realCodes, smooth), drawUnary("NEG", "", nil, []int{typeFloat32, typeInt32}, smooth),
	drawUnary("EXP", "", nil, realCodes, touchy), drawUnary("FLOOR", "", nil, realCodes, touchy), drawUnary("CEIL", "", nil, realCodes, touchy), drawUnary("ROUND", "", nil, realCodes, touchy),
	drawUnary("SIN", "", nil, realCodes, touchy), drawUnary("COS", "", nil, realCodes, touchy), drawUnary("SQUARE", "", nil, realCodes, smooth), drawUnary("ELU", "", nil, realCodes, smooth),
	drawUnary("HARD_SWISH", "", nil, realCodes, smooth), drawUnary("LEAKY_RELU", "LeakyReluOptions", fields{"alpha": 0.3}, dataCodes, smooth), drawUnary("LOG_SOFTMAX", "", nil, realCodes, smooth),
	drawFixed("LOGISTIC", "", nil, 1.0/256, -128, 0), drawFixed("TANH", "", nil, 1.0/128, 0, 128), drawFixed("SOFTMAX", "SoftmaxOptions", fields{"beta": 1}, 1.0/256, -128, 0), drawFixed("L2_NORMALIZATION", "L2NormOptions", nil, 1.0/128, 0, 128),
	drawBinary("ADD", "AddOptions", []int{typeFloat32, typeInt8, typeUint8, typeInt32}, true), drawBinary("SUB", "SubOptions", []int{typeFloat32, typeInt8, typeUint8, typeInt32}, true), drawBinary("MUL", "MulOptions", []int{typeFloat32, typeInt8, typeUint8, typeInt32}, true),
	drawBinary("MAXIMUM", "", moveCodes, false), drawBinary("MINIMUM", "", moveCodes, false), drawBinary("SQUARED_DIFFERENCE", "", []int{typeFloat32, typeInt32}, true),
	drawCompared("GREATER", ""), drawCompared("LESS_EQUAL", ""), drawCompared("EQUAL", ""), drawCompared("NOT_EQUAL", ""),
	drawReducing("MEAN", dataCodes, true), drawReducing("SUM", realCodes, false), drawReducing("REDUCE_MAX", moveCodes, false), drawReducing("REDUCE_MIN", moveCodes, false), drawReducing("REDUCE_PROD", realCodes, false),
	drawConv, drawConv, drawDepthwise, drawDepthwise, drawFullyConnected, drawFullyConnected, drawTransposeConv, drawPool("AVERAGE_POOL_2D", dataCodes), drawPool("MAX_POOL_2D", dataCodes), drawBatchMatMul, drawTranspose, drawTranspose, drawReshape, drawReshape, drawConcatenation, drawConcatenation, drawSplit,
	drawStridedSlice, drawStridedSlice, drawPad, drawPad, drawGather, drawGather, drawExpandDims, drawPack, drawUnpack, drawTile, drawResize("RESIZE_BILINEAR", "ResizeBilinearOptions"), drawResize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
	drawQuantize, drawDequantize, drawCast, drawWinner("ARG_MAX", "ArgMaxOptions"), drawWinner("ARG_MIN", "ArgMinOptions"), drawSelected, drawSpaceToDepth, drawCumulativeSum,
}
