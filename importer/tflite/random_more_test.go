package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/shapetest"
)

// ofPositive is an operator of reals above 0, in an input of its own.
func ofPositive(op string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		a := n.filled(typeFloat32, n.shape(n.between(1, 4)))
		for i, v := range a.values {
			a.values[i] = max(v, -v) + 0.25
		}
		x := n.input(a)
		n.computed(op, "", nil, []*drawn{x}, n.like(x, x.Shape, false))
	}
}

// drawScaled is a unary operator whose quantized result has a scale of its own.
func drawScaled(op, kind string, options fields) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(dataCodes, 1, 4, smooth)
		n.computed(op, kind, options, []*drawn{x}, n.like(x, x.Shape, true))
	}
}

func drawPrelu(n *randomNetwork) {
	x := n.some(dataCodes, 2, 4, smooth)
	a := n.filled(x.Type, slices.Concat(slices.Repeat([]int32{1}, len(x.Shape)-2), x.Shape[len(x.Shape)-1:]))
	n.computed("PRELU", "", nil, []*drawn{x, n.constant(a)}, n.like(x, x.Shape, true))
}

// drawQuotient divides by numbers that are not 0.
func drawQuotient(op, kind string, codes ...int) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some(codes, 1, 4, touchy)
		a := n.filled(x.Type, slices.Clone(x.Shape[n.random.IntN(len(x.Shape)):]))
		for i, v := range a.values {
			if v == 0 {
				a.values[i] = 2
			}
		}
		in := []*drawn{x, n.constant(a)}
		n.computed(op, kind, nil, in, n.like(x, x.Shape, false))
	}
}

func drawLogical(op string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some([]int{typeBool}, 1, 4, nil)
		y := n.partner(x)
		n.computed(op, "", nil, []*drawn{x, y}, arg{Tensor: bools(shapetest.Broadcast(x.Shape, y.Shape)).Tensor})
	}
}

func drawAny(op string) func(n *randomNetwork) {
	return func(n *randomNetwork) {
		x := n.some([]int{typeBool}, 1, 4, nil)
		axes, written := n.someAxes(len(x.Shape))
		if len(axes) == 0 {
			return
		}
		keep := n.chance(2)
		n.computed(op, "ReducerOptions", fields{"keep_dims": keep}, []*drawn{x, n.ints(written...)}, arg{Tensor: bools(shapetest.Reduced(x.Shape, axes, keep)).Tensor})
	}
}

func drawAddN(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32}, 1, 4, smooth)
	in := []*drawn{x}
	for range n.between(1, 3) {
		in = append(in, n.input(n.filled(x.Type, x.Shape)))
	}
	n.computed("ADD_N", "", nil, in, n.like(x, x.Shape, false))
}

func drawBatches(n *randomNetwork) {
	x := n.image([]int{typeFloat32, typeInt8, typeUint8}, nil)
	shape, blocks, pads := slices.Clone(x.Shape), []int{}, []float64{}
	for i := 1; i < 3; i++ {
		b := n.between(1, 3)
		lo := n.between(0, 2)
		hi := (b - (int(x.Shape[i])+lo)%b) % b
		blocks, pads = append(blocks, b), append(pads, float64(lo), float64(hi))
		shape[0], shape[i] = shape[0]*int32(b), (x.Shape[i]+int32(lo+hi))/int32(b)
	}
	n.moved("SPACE_TO_BATCH_ND", "", nil, x, shape, n.ints(blocks...), n.constant(i32(dims(2, 2), pads...)))
}

func drawOutOfBatches(n *randomNetwork) {
	h, w := int32(n.between(1, 2)), int32(n.between(1, 3))
	x := n.input(n.filled(one(n, n.widened([]int{typeFloat32, typeInt8, typeUint8})...), []int32{h * w * int32(n.between(1, 2)), int32(n.between(2, 4)), int32(n.between(2, 4)), int32(n.between(1, 3))}))
	lo, hi := n.between(0, 1), n.between(0, int(h)-1)
	shape := []int32{x.Shape[0] / (h * w), x.Shape[1]*h - int32(lo+hi), x.Shape[2] * w, x.Shape[3]}
	n.moved("BATCH_TO_SPACE_ND", "", nil, x, shape, n.ints(int(h), int(w)), n.constant(i32(dims(2, 2), float64(lo), float64(hi), 0, 0)))
}

func drawDepthToSpace(n *randomNetwork) {
	b := int32(n.between(1, 3))
	x := n.input(n.filled(one(n, n.widened([]int{typeFloat32, typeInt8, typeUint8})...), []int32{int32(n.between(1, 2)), int32(n.between(1, 3)), int32(n.between(1, 3)), b * b * int32(n.between(1, 2))}))
	n.moved("DEPTH_TO_SPACE", "DepthToSpaceOptions", fields{"block_size": int(b)}, x, []int32{x.Shape[0], x.Shape[1] * b, x.Shape[2] * b, x.Shape[3] / (b * b)})
}

func drawResponse(n *randomNetwork) {
	x := n.image(realCodes, smooth)
	n.computed("LOCAL_RESPONSE_NORMALIZATION", "LocalResponseNormalizationOptions", fields{"radius": n.between(1, 3), "bias": 1.5, "alpha": 0.2, "beta": 0.75}, []*drawn{x}, n.like(x, x.Shape, false))
}

// drawProducts multiplies matrices either of which is turned, also of bytes.
func drawProducts(n *randomNetwork) {
	of := one(n, typeFloat32, typeInt8)
	rows, inner, columns := int32(n.between(1, 4)), int32(n.between(1, 4)), int32(n.between(1, 4))
	turnX, turnY := n.chance(2), n.chance(2)
	outer := n.shape(n.between(0, 2))
	matrix := func(r, c int32, turned bool) *drawn {
		if turned {
			r, c = c, r
		}
		shape := slices.Clone(outer)
		for i := range shape {
			if n.chance(4) {
				shape[i] = 1
			}
		}
		return n.input(n.filled(of, append(shape, r, c)))
	}
	x, y := matrix(rows, inner, turnX), matrix(inner, columns, turnY)
	shape := append(shapetest.Broadcast(x.Shape[:len(outer)], y.Shape[:len(outer)]), rows, columns)
	n.computed("BATCH_MATMUL", "BatchMatMulOptions", fields{"adj_x": turnX, "adj_y": turnY}, []*drawn{x, y}, n.like(x, shape, true))
}

// drawHalves are parts of equal lengths.
func drawHalves(n *randomNetwork) {
	parts := n.between(1, 3)
	shape := n.shape(n.between(1, 4))
	axis := n.random.IntN(len(shape))
	shape[axis] *= int32(parts)
	x := n.input(n.filled(one(n, n.widened(moveCodes)...), shape))
	part := slices.Clone(shape)
	part[axis] /= int32(parts)
	outs := []arg{}
	for range parts {
		outs = append(outs, n.like(x, part, false))
	}
	for _, y := range n.apply("SPLIT", "SplitOptions", fields{"num_splits": parts}, []*drawn{n.constant(i32(nil, float64(n.axis(len(shape), axis)))), x}, outs...) {
		y.exact = true
	}
}

// drawWinners has 64-bit results.
func drawWinners(n *randomNetwork) {
	x := n.some(dataCodes, 1, 4, touchy)
	axis := n.random.IntN(len(x.Shape))
	n.computed("ARG_MAX", "ArgMaxOptions", fields{"output_type": typeInt64}, []*drawn{x, n.constant(i64(nil, float64(n.axis(len(x.Shape), axis))))}, arg{Tensor: i64(shapetest.Reduced(x.Shape, []int{axis}, false)).Tensor})
}

// drawBatchGather gathers in each batch.
func drawBatchGather(n *randomNetwork) {
	x := n.some([]int{typeFloat32, typeInt32, typeUint8}, 2, 4, nil)
	batch := 1
	axis := n.between(batch, len(x.Shape)-1)
	at := i32(append(slices.Clone(x.Shape[:batch]), int32(n.between(1, 3))))
	for range count(at.Shape) {
		at.values = append(at.values, float64(n.random.IntN(int(x.Shape[axis]))))
	}
	n.moved("GATHER", "GatherOptions", fields{"axis": axis, "batch_dims": batch}, x, slices.Concat(x.Shape[:axis], at.Shape[batch:], x.Shape[axis+1:]), n.input(at))
}

// drawUnlike joins parts of unlike scales.
func drawUnlike(n *randomNetwork) {
	x := n.some([]int{typeUint8}, 1, 4, smooth)
	axis := n.random.IntN(len(x.Shape))
	y := n.input(n.filled(x.Type, x.Shape))
	shape := slices.Clone(x.Shape)
	shape[axis] *= 2
	n.computed("CONCATENATION", "ConcatenationOptions", fields{"axis": axis}, []*drawn{x, y}, n.like(x, shape, true))
}

// drawSum sums quantized elements to a scale that holds all sums: TensorFlow Lite's do not saturate.
func drawSum(n *randomNetwork) {
	x := n.some([]int{typeInt8, typeUint8}, 1, 4, smooth)
	axes, written := n.someAxes(len(x.Shape))
	if len(axes) == 0 {
		return
	}
	out := n.like(x, shapetest.Reduced(x.Shape, axes, false), false)
	out.Scale, out.Zero = []float32{x.Scale[0] * 2 * float32(count(x.Shape)) / float32(count(out.Shape))}, []int64{map[int]int64{typeUint8: 128}[x.Type]}
	n.computed("SUM", "ReducerOptions", nil, []*drawn{x, n.ints(written...)}, out)
}

// moreOperators are operators that files have less often.
var moreOperators = []func(n *randomNetwork){
	ofPositive("SQRT"), ofPositive("RSQRT"), ofPositive("LOG"), drawScaled("HARD_SWISH", "", nil), drawScaled("LEAKY_RELU", "LeakyReluOptions", fields{"alpha": 0.1}), drawScaled("LEAKY_RELU", "LeakyReluOptions", fields{"alpha": 1.5}),
	drawScaled("ABS", "", nil), drawUnary("RELU_N1_TO_1", "", nil, dataCodes, smooth), drawUnary("ZEROS_LIKE", "", nil, []int{typeFloat32, typeInt32}, smooth),
	drawPrelu, drawPrelu, drawQuotient("DIV", "DivOptions", typeFloat32), drawQuotient("FLOOR_DIV", "", typeFloat32, typeInt32), drawQuotient("FLOOR_MOD", "", typeInt32), drawQuotient("DIV", "DivOptions", typeInt32),
	drawLogical("LOGICAL_AND"), drawLogical("LOGICAL_OR"), drawAny("REDUCE_ANY"), drawAny("REDUCE_ALL"), drawAddN, drawBatches, drawOutOfBatches, drawDepthToSpace, drawResponse, drawProducts, drawProducts,
	drawHalves, drawWinners, drawBatchGather, drawUnlike, drawPool("L2_POOL_2D", realCodes), drawSum, drawSlice, drawGatherND, drawSqueeze, drawStridedMasks, drawReverseSequence,
}
