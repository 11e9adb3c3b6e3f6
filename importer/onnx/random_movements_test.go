package onnx_test

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/shapetest"
)

func transpose(n *network) {
	x := n.some(anything, 1, 5, nil)
	perm, dims := []int64{}, []int64{}
	for _, p := range n.random.Perm(len(x.dims)) {
		perm, dims = append(perm, int64(p)), append(dims, x.dims[p])
	}
	n.moved("Transpose", dims, x, []string{x.name}, attribute("perm", perm))
}

func reshape(n *network) {
	x := n.some(anything, 0, 5, nil)
	all := elements(x.dims)
	dims := []int64{}
	for left := all; left > 1 && len(dims) < 4; {
		d := n.divisor(left)
		dims, left = append(dims, d), left/d
	}
	dims = append(dims, all/elements(dims))
	written := slices.Clone(dims)
	if len(dims) > 0 && n.chance(2) {
		written[n.random.IntN(len(dims))] = -1
	} else if x.rank() > 0 && x.dims[0] == dims[0] && n.chance(2) {
		written[0] = 0
	}
	n.moved("Reshape", dims, x, []string{x.name, n.list(written...)})
}

func flatten(n *network) {
	x := n.some(floats, 1, 5, nil)
	axis := n.upTo(x.rank() + 1)
	written := int(axis)
	if axis < x.rank() {
		written = n.axis(x.rank(), axis)
	}
	n.moved("Flatten", []int64{elements(x.dims[:axis]), elements(x.dims[axis:])}, x, []string{x.name}, attribute("axis", written))
}

// listedAxes are axes as an attribute, or input 1 from operator set 13.
func (n *network) listedAxes(x *drawn, axes []int64) (in []string, list []*onnxfile.Attribute) {
	if n.opset >= 13 {
		return []string{x.name, n.list(axes...)}, nil
	}
	return []string{x.name}, []*onnxfile.Attribute{attribute("axes", axes)}
}

func squeeze(n *network) {
	x := n.some(anything, 1, 5, func(v *drawn) bool { return slices.Contains(v.dims, 1) })
	axes, written := []int64{}, []int64{}
	for i, d := range x.dims {
		if d == 1 && (len(axes) == 0 || n.chance(2)) {
			axes, written = append(axes, int64(i)), append(written, int64(n.axis(x.rank(), int64(i))))
		}
	}
	if len(axes) == 0 {
		return
	}
	in, list := n.listedAxes(x, written)
	n.moved("Squeeze", shapetest.Reduced(x.dims, axes, false), x, in, list...)
}

func unsqueeze(n *network) {
	x := n.some(anything, 0, 4, nil)
	axis := n.upTo(x.rank() + 1)
	in, list := n.listedAxes(x, []int64{int64(n.axis(x.rank()+1, axis))})
	n.moved("Unsqueeze", slices.Insert(slices.Clone(x.dims), int(axis), 1), x, in, list...)
}

func concat(n *network) {
	x := n.some(anything, 1, 5, nil)
	axis := n.upTo(x.rank())
	in, dims, exact := []string{x.name}, slices.Clone(x.dims), x.exact
	for range n.between(1, 2) {
		other := slices.Clone(x.dims)
		other[axis] = n.between(1, 3)
		var y *drawn
		switch n.random.IntN(3) {
		case 0:
			y = n.weights(x.of, other...)
		case 1:
			y = n.read(n.input(x.of, other...))
		default:
			y, other = x, x.dims
		}
		in, dims[axis] = append(in, y.name), dims[axis]+other[axis]
	}
	n.moved("Concat", dims, x, in, attribute("axis", n.axis(x.rank(), axis))).exact = exact
}

func split(n *network) {
	x := n.some(anything, 1, 5, func(v *drawn) bool { return slices.Max(v.dims) > 1 })
	axis := n.upTo(x.rank())
	if x.dims[axis] < 2 {
		return
	}
	first := n.between(1, x.dims[axis]-1)
	parts := []int64{first, x.dims[axis] - first}
	in, list := []string{x.name}, []*onnxfile.Attribute{attribute("axis", n.axis(x.rank(), axis))}
	if n.opset >= 13 {
		in = append(in, n.list(parts...))
	} else {
		list = append(list, attribute("split", parts))
	}
	part := func(k int) []int64 {
		dims := slices.Clone(x.dims)
		dims[axis] = parts[k]
		return dims
	}
	v := n.moved("Split", part(0), x, in, list...)
	n.further(x.of, part(1), v)
}

func slice(n *network) {
	x := n.some(anything, 1, 5, nil)
	axes, written := n.someAxes(x.rank())
	starts, ends, steps, dims := []int64{}, []int64{}, []int64{}, slices.Clone(x.dims)
	for _, a := range axes {
		size := x.dims[a]
		lo := n.upTo(size)
		hi := n.between(lo+1, size)
		step := int64(1)
		if n.opset >= 10 {
			step = n.between(1, 3)
		}
		dims[a] = (hi - lo + step - 1) / step
		s, e := lo, hi
		if n.opset >= 10 && n.chance(3) { // backwards
			s, e, step = hi-1, lo-1, -step
			if e < 0 {
				e = -size - 1
			}
		} else if n.chance(3) {
			s -= size
			if e == size {
				e = 1 << 40
			} else {
				e -= size
			}
		}
		starts, ends, steps = append(starts, s), append(ends, e), append(steps, step)
	}
	if len(axes) == 0 {
		return
	}
	if n.opset < 10 {
		n.moved("Slice", dims, x, []string{x.name}, attribute("starts", starts), attribute("ends", ends), attribute("axes", axes))
		return
	}
	n.moved("Slice", dims, x, []string{x.name, n.ints(starts...), n.ints(ends...), n.ints(written...), n.ints(steps...)})
}

// indices are numbers of places of a dimension.
func (n *network) indices(size int64, dims ...int64) *drawn {
	of := []onnxfile.DataType{onnxfile.Int64, onnxfile.Int64, onnxfile.Int32}[n.random.IntN(3)]
	v := &drawn{of: of, dims: dims, exact: true}
	for range elements(dims) {
		i := n.upTo(size)
		if n.opset >= 11 && n.chance(3) {
			i -= size
		}
		v.data = append(v.data, float64(i))
	}
	if n.chance(4) {
		v.name = fmtName(n)
		n.graph.Inputs = append(n.graph.Inputs, declared(v.name, of, dims...))
		n.inputs = append(n.inputs, v)
		return v
	}
	v.name = n.constant(&onnxfile.Tensor{Type: of, Dims: dims, Raw: rawElements(of, v.data)})
	return v
}

func gather(n *network) {
	x := n.some(anything, 1, 5, nil)
	axis := n.upTo(x.rank())
	at := n.indices(x.dims[axis], n.shape(n.upTo(3))...)
	dims := slices.Concat(x.dims[:axis], at.dims, x.dims[axis+1:])
	n.moved("Gather", dims, x, []string{x.name, at.name}, attribute("axis", n.axis(x.rank(), axis)))
}

func gatherElements(n *network) {
	x := n.some(anything, 1, 4, nil)
	axis := n.upTo(x.rank())
	dims := slices.Clone(x.dims)
	dims[axis] = n.between(1, 4)
	n.moved("GatherElements", dims, x, []string{x.name, n.indices(x.dims[axis], dims...).name}, attribute("axis", n.axis(x.rank(), axis)))
}

func gatherND(n *network) {
	x := n.some(anything, 1, 4, nil)
	at := n.indices(slices.Min(x.dims), n.between(1, 3), 1)
	if n.chance(2) && x.rank() > 1 {
		at = n.indices(slices.Min(x.dims), n.between(1, 3), 2)
	}
	if at.of != onnxfile.Int64 {
		return
	}
	n.moved("GatherND", append([]int64{at.dims[0]}, x.dims[at.dims[1]:]...), x, []string{x.name, at.name})
}

func scatterElements(n *network) {
	x := n.some(slices.Concat(reals, smalls), 1, 4, nil)
	axis := n.upTo(x.rank())
	dims := slices.Clone(x.dims)
	dims[axis] = 1 // one place for each
	n.moved("ScatterElements", x.dims, x, []string{x.name, n.indices(x.dims[axis], dims...).name, n.weights(x.of, dims...).name}, attribute("axis", n.axis(x.rank(), axis)))
}

func scatterND(n *network) {
	x := n.some(slices.Concat(reals, smalls), 1, 4, nil)
	at := n.builder.ints(n.upTo(x.dims[0]))
	n.graph.Initializers[len(n.graph.Initializers)-1].Dims = []int64{1, 1}
	n.moved("ScatterND", x.dims, x, []string{x.name, at, n.weights(x.of, append([]int64{1}, x.dims[1:]...)...).name})
}

func expand(n *network) {
	x := n.some(anything, 0, 4, nil)
	to := slices.Clone(x.dims)
	for i, d := range to {
		if d == 1 {
			to[i] = n.between(1, 3)
		}
	}
	if n.chance(3) {
		to = append([]int64{n.between(1, 3)}, to...)
	}
	if len(to) == 0 {
		return
	}
	written := slices.Clone(to)
	if len(to) == len(x.dims) && n.chance(2) {
		written[n.random.IntN(len(to))] = 1
		to = shapetest.Broadcast(x.dims, written)
	}
	n.moved("Expand", to, x, []string{x.name, n.ints(written...)})
}

func tile(n *network) {
	x := n.some(anything, 1, 4, nil)
	times, dims := []int64{}, []int64{}
	for _, d := range x.dims {
		t := n.between(1, 3)
		times, dims = append(times, t), append(dims, d*t)
	}
	n.moved("Tile", dims, x, []string{x.name, n.ints(times...)})
}

func pad(n *network) {
	x := n.some(slices.Concat(numbers, smalls), 1, 5, nil)
	mode := n.one("constant", "constant", "reflect", "edge")
	before, after, dims := []int64{}, []int64{}, []int64{}
	for _, d := range x.dims {
		lo, hi := n.upTo(min(3, d)), n.upTo(min(3, d))
		if mode == "constant" && d > 1 && n.chance(5) {
			lo = -1
		}
		before, after, dims = append(before, lo), append(after, hi), append(dims, d+lo+hi)
	}
	pads := append(before, after...)
	if n.opset < 11 {
		if x.of == onnxfile.Float || x.of == onnxfile.Float16 {
			n.moved("Pad", dims, x, []string{x.name}, attribute("pads", pads), attribute("mode", mode), attribute("value", 1.5))
		}
		return
	}
	in := []string{x.name, n.ints(pads...)}
	if mode == "constant" && n.chance(2) {
		in = append(in, n.weights(x.of).name)
	}
	n.moved("Pad", dims, x, in, attribute("mode", mode))
}

func depthToSpace(n *network) {
	b, c := n.between(1, 3), n.between(1, 3)
	x := n.read(n.input(onnxfile.Float, n.between(1, 2), c*b*b, n.between(1, 4), n.between(1, 4)))
	list := []*onnxfile.Attribute{attribute("blocksize", int(b))}
	if n.opset >= 11 {
		list = append(list, attribute("mode", n.one("DCR", "CRD")))
	}
	y := n.moved("DepthToSpace", []int64{x.dims[0], c, x.dims[2] * b, x.dims[3] * b}, x, []string{x.name}, list...)
	if n.chance(2) {
		n.moved("SpaceToDepth", x.dims, y, []string{n.read(y).name}, list[0])
	}
}

func trilu(n *network) {
	x := n.some(slices.Concat(floats, wholes), 2, 4, nil)
	in := []string{x.name}
	if n.chance(2) {
		in = append(in, n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Int64s: []int64{n.between(-2, 2)}}))
	}
	n.moved("Trilu", x.dims, x, in, attribute("upper", n.random.IntN(2)))
}

func cumSum(n *network) {
	x := n.some(slices.Concat(floats, wholes), 1, 4, func(v *drawn) bool { return plain(v) && v.most < 1<<16 })
	axis := n.upTo(x.rank())
	at := n.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Int64s: []int64{int64(n.axis(x.rank(), axis))}})
	v := n.result("CumSum", x.of, x.dims, []*drawn{x}, []string{x.name, at}, attribute("exclusive", n.random.IntN(2)), attribute("reverse", n.random.IntN(2)))
	v.most, v.exact = x.most*5, x.of != onnxfile.Float
}

func topK(n *network) {
	x := n.some(floats, 1, 4, touchy)
	axis := n.upTo(x.rank())
	dims := slices.Clone(x.dims)
	dims[axis] = n.between(1, x.dims[axis])
	in, list := []string{x.name, n.ints(dims[axis])}, []*onnxfile.Attribute{attribute("axis", n.axis(x.rank(), axis))}
	if n.opset >= 11 {
		list = append(list, attribute("largest", n.random.IntN(2)))
	}
	if n.opset < 10 {
		in, list = in[:1], append(list, attribute("k", int(dims[axis])))
	}
	v := n.moved("TopK", dims, x, in, list...)
	n.further(onnxfile.Int64, dims, v)
}

func oneHot(n *network) {
	at := n.indices(4, n.shape(n.between(1, 2))...)
	axis := n.upTo(at.rank() + 1)
	depth, values := n.ints(4), n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{2}, Floats: []float32{-1, 2}})
	dims := slices.Insert(slices.Clone(at.dims), int(axis), 4)
	n.result("OneHot", onnxfile.Float, dims, nil, []string{at.name, depth, values}, attribute("axis", n.axis(at.rank()+1, axis))).exact = true
}

func resize(n *network) {
	x := n.read(n.input(onnxfile.Float, n.between(1, 2), n.between(1, 3), n.between(2, 6), n.between(2, 6)))
	scale := func() float64 { return []float64{0.5, 1, 1.5, 2, 3}[n.upTo(5)] }
	sy, sx := scale(), scale()
	dims := []int64{x.dims[0], x.dims[1], int64(float64(x.dims[2]) * sy), int64(float64(x.dims[3]) * sx)}
	scales := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{4}, Floats: []float32{1, 1, float32(sy), float32(sx)}})
	switch {
	case n.opset < 10:
		n.moved("Upsample", dims, x, []string{x.name, scales}, attribute("mode", n.one("nearest", "linear")))
		return
	case n.opset == 10:
		n.moved("Resize", dims, x, []string{x.name, scales}, attribute("mode", n.one("nearest", "linear")))
		return
	}
	list := []*onnxfile.Attribute{
		attribute("mode", n.one("nearest", "linear", "cubic")),
		attribute("coordinate_transformation_mode", n.one("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")),
		attribute("nearest_mode", n.one("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")),
	}
	if sy == 0.5 || sx == 0.5 || sy == 1.5 || sx == 1.5 { // the standard counts parts of an element, ONNX Runtime does not
		list[1] = attribute("coordinate_transformation_mode", "half_pixel")
	}
	in := []string{x.name, n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{0}, Floats: []float32{}}), scales}
	if n.chance(2) {
		in = []string{x.name, in[1], n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{0}, Floats: []float32{}}), n.ints(dims...)}
		if n.opset >= 13 {
			in[1], in[2] = "", ""
		}
	}
	n.moved("Resize", dims, x, in, list...).exact = false
}

func cast(n *network) {
	x := n.some(anything, 0, 5, touchy)
	to := anything[n.random.IntN(len(anything))]
	if (x.of == onnxfile.Float || x.of == onnxfile.Float16) && (to == onnxfile.Uint8 || to == onnxfile.Int8) {
		return // undefined beyond the range
	}
	v := n.result("Cast", to, x.dims, []*drawn{x}, []string{x.name}, attribute("to", int(to)))
	v.exact = true
}

// nonZero and the others below have results of open size: nothing follows them.
func nonZero(n *network) {
	x := n.some([]onnxfile.DataType{onnxfile.Float, onnxfile.Int32, onnxfile.Bool}, 1, 4, touchy)
	n.last("NonZero", onnxfile.Int64, []string{x.name})
}

// last appends a node whose result is an output of the network and no operand.
func (n *network) last(op string, of onnxfile.DataType, in []string, attributes ...*onnxfile.Attribute) {
	n.graph.Outputs = append(n.graph.Outputs, &onnxfile.Value{Name: n.add(op, in, attributes...), Type: of})
}

func unique(n *network) {
	x := n.some([]onnxfile.DataType{onnxfile.Float, onnxfile.Int64}, 1, 3, touchy)
	n.last("Unique", x.of, []string{x.name}, attribute("sorted", n.random.IntN(2)))
}

func compress(n *network) {
	x := n.some(numbers, 1, 4, touchy)
	axis := n.upTo(x.rank())
	n.last("Compress", x.of, []string{x.name, n.weights(onnxfile.Bool, n.between(1, x.dims[axis])).name}, attribute("axis", n.axis(x.rank(), axis)))
}

func suppression(n *network) {
	boxes, classes := n.between(1, 6), n.between(1, 2)
	b, s := n.read(n.input(onnxfile.Float, 1, boxes, 4)), n.read(n.input(onnxfile.Float, 1, classes, boxes))
	threshold := func(v float32) string {
		return n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1}, Floats: []float32{v}})
	}
	n.last("NonMaxSuppression", onnxfile.Int64, []string{b.name, s.name, n.ints(3), threshold(0.4), threshold(-0.5)}, attribute("center_point_box", n.random.IntN(2)))
}

func shapeOf(n *network) {
	x := n.some(anything, 1, 5, nil)
	n.result("Shape", onnxfile.Int64, []int64{x.rank()}, nil, []string{x.name}).exact = true
}

func where(n *network) {
	x := n.some(slices.Concat(numbers, smalls), 0, 5, plain)
	y := n.partner(x)
	dims := shapetest.Broadcast(x.dims, y.dims)
	c := slices.Clone(dims[n.upTo(int64(len(dims))+1):])
	by := n.weights(onnxfile.Bool, c...)
	if n.chance(2) {
		by = n.read(n.input(onnxfile.Bool, c...))
	}
	n.moved("Where", dims, x, []string{by.name, x.name, y.name}).exact = x.exact && y.exact
}

func clip(n *network) {
	x := n.some(reals, 0, 5, nil)
	if n.opset < 11 {
		n.moved("Clip", x.dims, x, []string{x.name}, attribute("min", -0.5), attribute("max", 1.25))
		return
	}
	bound := func(v float64) string {
		if n.chance(3) {
			return ""
		}
		return n.constant(&onnxfile.Tensor{Type: x.of, Raw: rawElements(x.of, []float64{v})})
	}
	n.moved("Clip", x.dims, x, []string{x.name, bound(-0.5), bound(1.25)})
}
