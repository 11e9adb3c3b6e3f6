package onnx_test

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/shapetest"
)

// randomOperator is an operator of random networks, since an operator set.
type randomOperator struct {
	name string
	from int64
	draw func(n *network)
}

// unary is an operator of one operand whose result has its shape.
func unary(op string, from int64, of []onnxfile.DataType, fits func(v *drawn) bool, attributes ...func(n *network) *onnxfile.Attribute) randomOperator {
	return randomOperator{op, from, func(n *network) {
		x := n.some(of, 0, 5, fits)
		var list []*onnxfile.Attribute
		for _, a := range attributes {
			if n.chance(2) {
				list = append(list, a(n))
			}
		}
		n.result(op, x.of, x.dims, []*drawn{x}, []string{x.name}, list...)
	}}
}

// ofAbsolute is a function of numbers that are not negative.
func ofAbsolute(op string) randomOperator {
	return randomOperator{op, 7, func(n *network) {
		x := n.some(floats, 0, 5, touchy)
		n.result(op, x.of, x.dims, nil, []string{n.add("Add", []string{n.add("Abs", []string{x.name}), n.scalar(0.25)})})
	}}
}

// reciprocal is of numbers that are not 0.
func reciprocal(n *network) {
	x := n.some(floats, 0, 5, touchy)
	n.result("Reciprocal", x.of, x.dims, nil, []string{n.add("Add", []string{n.add("Exp", []string{x.name}), n.scalar(0.25)})})
}

// number is an attribute of a real between two.
func number(name string, lo, hi float64) func(n *network) *onnxfile.Attribute {
	return func(n *network) *onnxfile.Attribute { return attribute(name, lo+(hi-lo)*n.random.Float64()) }
}

// binary is an operator of two operands that broadcast.
func binaryOperator(op string, from int64, of []onnxfile.DataType, bits func(a, b *drawn) float64) randomOperator {
	return randomOperator{op, from, func(n *network) {
		a := n.some(of, 0, 5, plain)
		b := n.partner(a)
		if n.chance(2) {
			a, b = b, a
		}
		most := bits(a, b)
		if most > 1<<24 {
			return
		}
		v := n.result(op, a.of, shapetest.Broadcast(a.dims, b.dims), nil, []string{a.name, b.name})
		v.most = most
		v.exact = a.exact && b.exact && (op == "Max" || op == "Min") || a.of != onnxfile.Float && a.of != onnxfile.Float16
	}}
}

func sum(a, b *drawn) float64     { return a.most + b.most }
func product(a, b *drawn) float64 { return a.most * b.most }
func larger(a, b *drawn) float64  { return max(a.most, b.most) }

// compared is an operator of two operands with a truth for a result.
func compared(op string, from int64, of []onnxfile.DataType) randomOperator {
	return randomOperator{op, from, func(n *network) {
		a := n.some(of, 0, 5, touchy)
		b := n.partner(a)
		if !b.exact {
			return
		}
		n.result(op, onnxfile.Bool, shapetest.Broadcast(a.dims, b.dims), nil, []string{a.name, b.name}).exact = true
	}}
}

// reducing is an operator that combines elements along dimensions: an attribute until operator set listed, then input 1.
func reducing(op string, listed int64, of []onnxfile.DataType) randomOperator {
	return randomOperator{op, 1, func(n *network) {
		x := n.some(of, 1, 5, plain)
		if x.most*float64(elements(x.dims)) > 1<<24 || (op == "ReduceSumSquare" || op == "ReduceProd") && x.of != onnxfile.Float {
			return
		}
		if op == "ReduceProd" && elements(x.dims) > 30 {
			return // it may overflow on the way
		}
		axes, written := n.someAxes(x.rank())
		keep, in, list := n.chance(2), []string{x.name}, []*onnxfile.Attribute{}
		if !keep || n.chance(2) {
			list = append(list, attribute("keepdims", map[bool]int{true: 1}[keep]))
		}
		noop := false
		switch {
		case n.opset >= listed && (len(axes) > 0 || n.chance(2)):
			in = append(in, n.list(written...))
		case len(axes) > 0 && n.opset < listed:
			list = append(list, attribute("axes", written))
		}
		if len(axes) == 0 {
			if noop = n.opset >= listed && n.chance(3); noop {
				list = append(list, attribute("noop_with_empty_axes", 1))
			}
			for i := range x.rank() {
				axes = append(axes, i)
			}
		}
		if noop && (op == "ReduceL1" || op == "ReduceL2" || op == "ReduceSumSquare") {
			return // of one element each by the standard, which ONNX Runtime leaves as it is
		}
		dims := x.dims
		if !noop {
			dims = shapetest.Reduced(x.dims, axes, keep)
		}
		v := n.result(op, x.of, dims, []*drawn{x}, in, list...)
		v.most = x.most * float64(elements(x.dims))
		v.exact = x.exact && (op == "ReduceMax" || op == "ReduceMin")
	}}
}

// winner is ArgMax or ArgMin.
func winner(op string) randomOperator {
	return randomOperator{op, 7, func(n *network) {
		x := n.some(slices.Concat(floats, []onnxfile.DataType{onnxfile.Int32}), 1, 4, touchy)
		axis, keep := n.upTo(x.rank()), n.chance(2)
		list := []*onnxfile.Attribute{attribute("axis", n.axis(x.rank(), axis)), attribute("keepdims", map[bool]int{true: 1}[keep])}
		if n.opset >= 12 && n.chance(3) {
			list = append(list, attribute("select_last_index", 1))
		}
		n.result(op, onnxfile.Int64, shapetest.Reduced(x.dims, []int64{axis}, keep), nil, []string{x.name}, list...).exact = true
	}}
}

// window is an operator with a kernel: the lengths of a dimension, its attributes, and the length of the result.
type window struct{ kernel, strides, dilations, pads []int64 }

// drawWindow makes a kernel that fits into sizes; pads are at most one less than the kernel.
func (n *network) drawWindow(sizes []int64, dilated bool) (w window, attributes []*onnxfile.Attribute, out []int64) {
	before, after := []int64{}, []int64{}
	auto := ""
	if n.chance(4) {
		auto = n.one("SAME_UPPER", "SAME_LOWER", "VALID")
	}
	for _, size := range sizes {
		k, s, d := n.between(1, min(3, size)), n.between(1, 3), int64(1)
		if auto != "" { // ONNX Runtime's poolings begin inside where the paddings would be negative
			s = min(s, k)
		}
		if dilated && auto == "" && (k-1)*2+1 <= size {
			d = n.between(1, 2)
		}
		b, a := n.upTo(k), n.upTo(k)
		length := (size+b+a-(k-1)*d-1)/s + 1
		switch auto {
		case "SAME_UPPER", "SAME_LOWER":
			length = (size + s - 1) / s
		case "VALID":
			length = (size-(k-1)*d-1)/s + 1
		}
		w.kernel, w.strides, w.dilations = append(w.kernel, k), append(w.strides, s), append(w.dilations, d)
		before, after, out = append(before, b), append(after, a), append(out, length)
	}
	w.pads = append(before, after...)
	attributes = append(attributes, attribute("kernel_shape", w.kernel))
	if slices.Max(w.strides) > 1 || n.chance(2) {
		attributes = append(attributes, attribute("strides", w.strides))
	}
	if slices.Max(w.dilations) > 1 {
		attributes = append(attributes, attribute("dilations", w.dilations))
	}
	if auto != "" {
		attributes = append(attributes, attribute("auto_pad", auto))
	} else {
		attributes = append(attributes, attribute("pads", w.pads))
	}
	return w, attributes, out
}

// image is a value with channels and one or two dimensions, or three, beside.
func (n *network) image(of []onnxfile.DataType, fits func(v *drawn) bool) *drawn {
	if x := n.some(of, 3, 5, fits); x.dims[len(x.dims)-1] > 1 {
		return x
	}
	dims := []int64{n.between(1, 3), n.between(1, 6)}
	for range []int{1, 2, 2, 2, 3}[n.upTo(5)] {
		dims = append(dims, n.between(2, 9))
	}
	return n.read(n.input(of[n.random.IntN(len(of))], dims...))
}

// divisor is one of the divisors of a number.
func (n *network) divisor(of int64) int64 {
	d := n.between(1, of)
	for of%d != 0 {
		d--
	}
	return d
}

func conv(n *network) {
	x := n.image(reals, plain)
	w, list, out := n.drawWindow(x.dims[2:], true)
	group := n.divisor(x.dims[1])
	maps := group * n.between(1, 3)
	in := []string{x.name, n.weights(x.of, append([]int64{maps, x.dims[1] / group}, w.kernel...)...).name}
	if n.chance(2) {
		in = append(in, n.weights(x.of, maps).name)
	}
	n.result("Conv", x.of, append([]int64{x.dims[0], maps}, out...), nil, in, append(list, attribute("group", int(group)))...)
}

func convTranspose(n *network) {
	x := n.image(floats, plain)
	group := n.divisor(x.dims[1])
	maps := n.between(1, 3)
	kernel, strides, dilations, before, after, extra, out := []int64{}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}
	for _, size := range x.dims[2:] {
		k, s := n.between(1, 3), n.between(1, 3)
		d := int64(1)
		if x.rank() == 4 {
			d = n.between(1, 2)
		}
		b, a, e := n.upTo(k), n.upTo(k), n.upTo(s)
		length := (size-1)*s + (k-1)*d + 1 - b - a + e
		if length < 1 {
			return
		}
		kernel, strides, dilations, before, after, extra, out = append(kernel, k), append(strides, s), append(dilations, d), append(before, b), append(after, a), append(extra, e), append(out, length)
	}
	in := []string{x.name, n.weights(x.of, append([]int64{x.dims[1], maps}, kernel...)...).name}
	if n.chance(2) {
		in = append(in, n.weights(x.of, maps*group).name)
	}
	n.result("ConvTranspose", x.of, append([]int64{x.dims[0], maps * group}, out...), nil, in, attribute("group", int(group)), attribute("strides", strides),
		attribute("dilations", dilations), attribute("pads", append(before, after...)), attribute("output_padding", extra))
}

func pool(op string, dilated int64) func(n *network) {
	return func(n *network) {
		x := n.image(reals, plain)
		_, list, out := n.drawWindow(x.dims[2:], n.opset >= dilated)
		if op == "AveragePool" && n.chance(2) {
			list = append(list, attribute("count_include_pad", 1))
		}
		if op == "LpPool" {
			list = append(list, attribute("p", 1+n.random.IntN(2)))
		}
		v := n.result(op, x.of, append(slices.Clone(x.dims[:2]), out...), []*drawn{x}, []string{x.name}, list...)
		v.exact = x.exact && op == "MaxPool"
	}
}

// roundedUp is a pool whose last window may hang over the edge.
func roundedUp(op string) func(n *network) {
	return func(n *network) {
		x := n.image(floats, plain)
		kernel, strides, out := []int64{}, []int64{}, slices.Clone(x.dims[:2])
		for _, size := range x.dims[2:] {
			k, s := n.between(1, min(3, size)), n.between(1, 3)
			length := (size-k+s-1)/s + 1
			if (length-1)*s >= size { // ONNX Runtime 1.20.1 counts a window beyond the edge, the standard does not
				return
			}
			kernel, strides, out = append(kernel, k), append(strides, s), append(out, length)
		}
		n.result(op, x.of, out, []*drawn{x}, []string{x.name}, attribute("kernel_shape", kernel), attribute("strides", strides), attribute("ceil_mode", 1))
	}
}

func globalPool(op string) func(n *network) {
	return func(n *network) {
		x := n.image(reals, plain)
		out := slices.Clone(x.dims[:2])
		for range x.dims[2:] {
			out = append(out, 1)
		}
		n.result(op, x.of, out, []*drawn{x}, []string{x.name})
	}
}

func matMul(n *network) {
	a := n.some(floats, 1, 5, plain)
	k := a.dims[a.rank()-1]
	b := []int64{k}
	if n.chance(5) == false {
		b = []int64{k, n.between(1, 5)}
		if n.chance(2) && a.rank() > 2 {
			head := slices.Clone(a.dims[:a.rank()-2])
			for i := range head {
				if n.chance(3) {
					head[i] = 1
				}
			}
			b = append(head, b...)
		}
		if n.chance(5) && a.rank() <= 2 {
			b = append([]int64{n.between(1, 3)}, b...)
		}
	}
	right := n.weights(a.of, b...)
	if n.chance(2) {
		right = n.read(n.input(a.of, b...))
	}
	rows, columns, x, y := a.dims[:a.rank()-1], []int64{}, a.dims[:max(a.rank()-2, 0)], b[:max(len(b)-2, 0)]
	if len(b) > 1 {
		columns = b[len(b)-1:]
	}
	out := slices.Clone(shapetest.Broadcast(x, y))
	if len(rows) > 0 {
		out = append(out, rows[len(rows)-1])
	}
	n.result("MatMul", a.of, append(out, columns...), nil, []string{a.name, right.name})
}

func gemm(n *network) {
	a := n.some(floats, 2, 2, plain)
	rows, k, columns := a.dims[0], a.dims[1], n.between(1, 6)
	list := []*onnxfile.Attribute{}
	if n.chance(3) {
		rows, k, list = k, rows, append(list, attribute("transA", 1))
	}
	b := []int64{k, columns}
	if n.chance(2) {
		b, list = []int64{columns, k}, append(list, attribute("transB", 1))
	}
	if n.chance(3) {
		list = append(list, attribute("alpha", 0.5))
	}
	in := []string{a.name, n.weights(a.of, b...).name}
	if n.opset < 11 || n.chance(2) {
		c := [][]int64{{columns}, {rows, columns}, {1, columns}, {rows, 1}, {1}, {}}[n.random.IntN(6)]
		in = append(in, n.weights(a.of, c...).name)
		list = append(list, attribute("beta", 2.0))
	}
	n.result("Gemm", a.of, []int64{rows, columns}, nil, in, list...)
}

func softmax(op string) func(n *network) {
	return func(n *network) {
		x := n.some(floats, 1, 5, plain)
		axis := n.upTo(x.rank())
		if op == "Hardmax" && !x.exact {
			return
		}
		n.result(op, x.of, x.dims, nil, []string{x.name}, attribute("axis", n.axis(x.rank(), axis)))
	}
}

func normalized(op string) func(n *network) {
	return func(n *network) {
		x := n.image(floats, plain)
		c := x.dims[1]
		w := func() string { return n.weights(x.of, c).name }
		switch op {
		case "BatchNormalization":
			variance := n.add("Abs", []string{w()})
			n.result(op, x.of, x.dims, nil, []string{x.name, w(), w(), w(), variance}, attribute("epsilon", 0.1))
		case "InstanceNormalization":
			n.result(op, x.of, x.dims, nil, []string{x.name, w(), w()}, attribute("epsilon", 0.1))
		case "LRN":
			n.result(op, x.of, x.dims, nil, []string{x.name}, attribute("size", int(1+2*n.upTo(3))), attribute("alpha", 0.1), attribute("beta", 0.75), attribute("bias", 2.0))
		case "LayerNormalization":
			axis := n.between(1, x.rank()-1)
			in := []string{x.name, n.weights(x.of, x.dims[axis:]...).name}
			if n.chance(2) {
				in = append(in, n.weights(x.of, x.dims[axis:]...).name)
			}
			n.result(op, x.of, x.dims, nil, in, attribute("axis", n.axis(x.rank(), axis)), attribute("epsilon", 0.1))
		case "LpNormalization":
			n.result(op, x.of, x.dims, nil, []string{x.name}, attribute("axis", n.axis(x.rank(), n.upTo(x.rank()))), attribute("p", 1+n.random.IntN(2)))
		case "MeanVarianceNormalization":
			if x.exact && x.rank() == 4 && elements(x.dims)/c > 4 {
				n.result(op, x.of, x.dims, nil, []string{x.name})
			}
		case "GroupNormalization":
			n.result(op, x.of, x.dims, nil, []string{x.name, w(), w()}, attribute("num_groups", int(n.divisor(c))), attribute("epsilon", 0.1))
		}
	}
}

func recurrent(op string, gates int64) func(n *network) {
	return func(n *network) {
		x := n.some(floats, 3, 3, plain)
		hidden, directions, way := n.between(1, 4), int64(1), n.one("forward", "reverse", "bidirectional")
		if way == "bidirectional" {
			directions = 2
		}
		small := func(dims ...int64) string { return n.noise(4, dims...) }
		in := []string{x.name, small(directions, gates*hidden, x.dims[2]), small(directions, gates*hidden, hidden)}
		list := []*onnxfile.Attribute{attribute("hidden_size", int(hidden)), attribute("direction", way)}
		if n.chance(2) {
			in = append(in, small(directions, 2*gates*hidden))
		}
		if len(in) == 4 && n.chance(2) {
			in = append(in, "", small(directions, x.dims[1], hidden))
		}
		if op == "GRU" && n.chance(2) {
			list = append(list, attribute("linear_before_reset", 1))
		}
		v := n.result(op, x.of, []int64{x.dims[0], directions, x.dims[1], hidden}, nil, in, list...)
		if n.chance(2) {
			n.further(x.of, []int64{directions, x.dims[1], hidden}, v)
		}
	}
}
