package export

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// window are the attributes of a window over an image.
func window(w *opspec.Window, dilation bool) []*onnxfile.Attribute {
	list := []*onnxfile.Attribute{
		ints("kernel_shape", int64(w.KH), int64(w.KW)), ints("strides", int64(w.StrideH), int64(w.StrideW)),
		ints("pads", int64(w.Top), int64(w.Left), int64(w.Bottom), int64(w.Right)),
	}
	if dilation {
		list = append(list, ints("dilations", int64(w.DilationH), int64(w.DilationW)))
	}
	return list
}

// weights are constant weights in the file's order of dimensions, as reals.
func (c *call) weights(name string, perm []int) string {
	x := c.at(name)
	o := c.in.Operands[x]
	if !o.IsConst() {
		list := make([]int64, len(perm))
		for i, p := range perm {
			list[i] = int64(p)
		}
		return c.node("Transpose", []string{c.real(x, plain)}, c.fresh(), ints("perm", list...))
	}
	dims, data := permuted(o.Dimensions, o.Data, o.Type.ElementBytes(), perm)
	w := c.unique(c.value(x).base + "/weights")
	c.out.Initializers = append(c.out.Initializers, c.initializer(w, &o, dims, data))
	if !isQuantized(&o) {
		return w
	}
	scale, zero := c.quantization(x, &o)
	var axis []*onnxfile.Attribute
	if o.Channel != nil {
		axis = append(axis, integer("axis", int64(slices.Index(perm, int(o.Channel.Dim)))))
	}
	return c.node("DequantizeLinear", []string{w, scale, zero}, c.fresh(), axis...)
}

// permuted are dense elements with their dimensions in another order.
func permuted(dims []uint32, data []byte, size int, perm []int) ([]uint32, []byte) {
	out := make([]uint32, len(perm))
	strides, n := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= int(dims[i])
	}
	for i, p := range perm {
		out[i] = dims[p]
	}
	if data == nil { // an outline without weights
		return out, nil
	}
	moved := make([]byte, 0, len(data))
	index := make([]int, len(out))
	for range n {
		from := 0
		for i, k := range index {
			from += k * strides[perm[i]]
		}
		moved = append(moved, data[from*size:(from+1)*size]...)
		for i := len(out) - 1; i >= 0; i-- {
			if index[i]++; index[i] < int(out[i]) {
				break
			}
			index[i] = 0
		}
	}
	return out, moved
}

// bias is the bias of a product as reals: an INT32 counts in steps of input times weights.
func (c *call) bias(filter string) string {
	x := c.at("bias")
	o := c.in.Operands[x]
	if o.Type != nn.TensorInt32 {
		return c.real(x, plain)
	}
	f, in := c.operand(filter), c.operand("input")
	scales := []float32{f.Scale * in.Scale}
	if f.Channel != nil {
		scales = scales[:0]
		for _, s := range f.Channel.Scales {
			scales = append(scales, s*in.Scale)
		}
	}
	base := c.value(x).base
	name := base
	if o.IsConst() {
		name = c.unique(base + "/steps")
		o.Scale = 0
		c.out.Initializers = append(c.out.Initializers, c.initializer(name, &o, o.Dimensions, o.Data))
	} else {
		name = c.stored(x, plain)
	}
	var dims []int64
	var axis []*onnxfile.Attribute
	if f.Channel != nil {
		dims, axis = []int64{int64(len(scales))}, append(axis, integer("axis", 0))
	}
	return c.node("DequantizeLinear", []string{name, c.floats(base+"/scale", dims, scales...)}, c.fresh(), axis...)
}

func conv(c *call) {
	k := try.V(c.view.Window(c.op))
	group, perm := int64(1), []int{0, 3, 1, 2} // [O H W I]
	switch c.op.Type {
	case nn.OpDepthwiseConv2D: // [1 H W O]
		group, perm = int64(c.operand("input").Dimensions[3]), []int{3, 0, 1, 2}
	case nn.OpGroupedConv2D:
		group = c.number("groups")
	}
	in := []string{c.image(), c.weights("filter", perm), c.bias("filter")}
	c.end(second, "Conv", in, append(window(&k, true), integer("group", group))...)
}

// transposeConv: rows after those that windows reach are output_padding, fewer are padding.
func transposeConv(c *call) {
	k := try.V(opspec.Read[opspec.TransposeConv](c.view, c.op))
	w := k.Window
	w.DilationH, w.DilationW = 1, 1
	extra := [2]int64{}
	for i, d := range []struct{ n, out, kernel, stride, before, after *int }{
		{&w.H, &w.OutH, &w.KH, &w.StrideH, &w.Top, &w.Bottom}, {&w.W, &w.OutW, &w.KW, &w.StrideW, &w.Left, &w.Right},
	} {
		// out = (n - 1) stride + kernel + extra - before - after
		behind := *d.out - (*d.n-1)**d.stride - *d.kernel + *d.before
		*d.after, extra[i] = max(-behind, 0), int64(max(behind, 0))
		if *d.before < 0 {
			failf("a padding of %d before the image", *d.before)
		}
	}
	in := []string{c.image(), c.weights("filter", []int{3, 0, 1, 2}), c.bias("filter")}
	c.end(second, "ConvTranspose", in, append(window(&w, true), ints("output_padding", extra[0], extra[1]))...)
}

func pool(op string) func(*call) {
	return func(c *call) {
		w := try.V(c.view.Window(c.op))
		c.end(second, op, []string{c.image()}, window(&w, false)...)
	}
}

// l2Pool is the root of the average of squares.
func l2Pool(c *call) {
	w := try.V(c.view.Window(c.op))
	x := c.image()
	square := c.node("Mul", []string{x, x}, c.fresh())
	c.end(second, "Sqrt", []string{c.node("AveragePool", []string{square}, c.fresh(), window(&w, false)...)})
}

// fullyConnected reads its input as rows of as many elements as the weights have columns.
func fullyConnected(c *call) {
	x := c.input("input")
	w := c.operand("weights").Dimensions
	if d := c.operand("input").Dimensions; len(d) != 2 || d[1] != w[1] {
		x = c.node("Reshape", []string{x, c.int64s(c.value(c.op.Outputs[0]).base+"/rows", -1, int64(w[1]))}, c.fresh())
	}
	c.end(plain, "Gemm", []string{x, c.input("weights"), c.bias("weights")}, integer("transB", 1))
}

func batchMatmul(c *call) {
	side := func(name, flag string) string {
		if !c.flag(flag) {
			return c.input(name)
		}
		perm := make([]int64, len(c.operand(name).Dimensions))
		for i := range perm {
			perm[i] = int64(i)
		}
		n := len(perm)
		perm[n-1], perm[n-2] = perm[n-2], perm[n-1]
		return c.node("Transpose", []string{c.input(name)}, c.fresh(), ints("perm", perm...))
	}
	c.end(plain, "MatMul", []string{side("lhs", "adj_x"), side("rhs", "adj_y")})
}

// resize states the size of its output.
func resize(c *call) {
	r := try.V(opspec.Read[opspec.Resize](c.view, c.op))
	mode, coordinates, nearest := "linear", "asymmetric", "floor"
	if c.op.Type == nn.OpResizeNearestNeighbor {
		mode = "nearest"
	}
	switch {
	case r.AlignCorners:
		coordinates, nearest = "align_corners", "round_prefer_ceil"
	case r.Center && mode == "nearest": // floor((x + 0.5) scale) is the nearest of (x + 0.5) scale - 0.5, halves up
		coordinates, nearest = "half_pixel", "round_prefer_ceil"
	case r.Center:
		coordinates = "half_pixel"
	}
	size := c.int64s(c.value(c.op.Outputs[0]).base+"/size", int64(r.N), int64(r.C), int64(r.OutH), int64(r.OutW))
	c.end(second, "Resize", []string{c.image(), "", "", size}, text("mode", mode), text("coordinate_transformation_mode", coordinates), text("nearest_mode", nearest))
}

func blocks(op string) func(*call) {
	return func(c *call) {
		c.end(second, op, []string{c.image()}, integer("blocksize", c.number("block_size")))
	}
}
