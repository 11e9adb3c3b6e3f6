package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// poolOperators are the poolings.
var poolOperators = []operator{
	{name: "MaxPool", inputs: [2]int{1, 1}, outputs: [2]int{1, 2}, convert: maxPool},
	{name: "AveragePool", inputs: [2]int{1, 1}, convert: averagePool},
	{name: "LpPool", inputs: [2]int{1, 1}, convert: lpPool},
	{name: "GlobalAveragePool", inputs: [2]int{1, 1}, convert: globalPool(nn.OpMean)},
	{name: "GlobalMaxPool", inputs: [2]int{1, 1}, convert: globalPool(nn.OpReduceMax)},
	{name: "GlobalLpPool", inputs: [2]int{1, 1}, convert: globalLpPool},
	{name: "MaxUnpool", inputs: [2]int{2, 3}, convert: maxUnpool},
	{name: "MaxRoiPool", inputs: [2]int{2, 2}, lacks: "its regions are rounded outwards, NNAPI's ROI_POOLING rounds to the nearest"},
}

// ceil lengthens the paddings at the end so that the last windows that begin inside count,
// and returns by how much.
func (c *conversion) ceil(w *window, in [2]int64) (extra [2]int64) {
	for i := range in {
		room := in[i] + w.pads[i][0] + w.pads[i][1] - w.reach(i)
		if room < 0 {
			c.Failf("a window of %d on %d elements", w.reach(i), in[i])
		}
		out := room/w.stride[i] + 1
		if c.flag("ceil_mode", 0) && room%w.stride[i] != 0 && out*w.stride[i] < in[i]+w.pads[i][0] {
			out++
		}
		if end := (out-1)*w.stride[i] + w.reach(i) - in[i] - w.pads[i][0]; end > w.pads[i][1] {
			extra[i] = end - w.pads[i][1]
			w.pads[i][1] = end
		}
	}
	return extra
}

// pooled are the operands of a pooling of an image: paddings, strides, window and no
// activation.
func (c *conversion) pooled(x uint32, w window) []uint32 {
	in := append([]uint32{x}, c.explicit(w)...)
	return append(in, c.Int32Scalar(w.kernel[1]), c.Int32Scalar(w.kernel[0]), c.Int32Scalar(0))
}

func maxPool(c *conversion) {
	if c.isRead(1) {
		maxPoolIndices(c)
		return
	}
	c.cropWindow()
	if c.isVolume() {
		poolVolume("MaxPool")(c)
		return
	}
	v := c.v(0)
	rank := len(c.shape(v))
	w := c.window(rank, nil)
	kind := real
	if v.quantized() {
		kind = quant
	}
	x := c.form(v, kind, true)
	c.resolve(&w, c.heightWidth(x))
	c.ceil(&w, c.heightWidth(x))
	var y uint32
	switch t := c.Operand(x).Type; {
	case w.dilation != [2]int64{1, 1} && w.kernel[0]*w.kernel[1] > maxShifts && !v.quantized():
		maxPoolIndices(c)
		return
	case w.dilation != [2]int64{1, 1}:
		y = c.maxOfShifts(c.asReals(x), w)
		if t.IsQuant8() {
			y = c.To(y, *c.Operand(x))
		}
	default:
		y = c.Emit(nn.OpMaxPool2D, *c.Operand(x), c.pooled(x, w)...)
	}
	c.defineAs(0, kind+1, y, rank)
}

// maxOfShifts is a pooling with dilation: the maximum of the image shifted to each place of
// the window.
func (c *conversion) maxOfShifts(x uint32, w window) uint32 {
	if w.pads != [2][2]int64{} {
		x = c.Pad(*c.Operand(x), x, [][2]int64{{}, w.pads[0], w.pads[1], {}}, c.ScalarLike(x, -greatest(c.Operand(x).Type)))
	}
	return c.shifts(nn.OpMaximum, x, w)
}

// maxShifts bounds the places of a window with dilation.
const maxShifts = 256

// shifts combines a padded image shifted to each place of a window, in pairs.
func (c *conversion) shifts(op nn.OperationType, x uint32, w window) uint32 {
	if w.kernel[0]*w.kernel[1] > maxShifts {
		c.Refusef("it has dilation and a window of %v, at most %d elements", w.kernel, maxShifts)
	}
	in := c.heightWidth(x)
	y := none
	for i := range w.kernel[0] {
		for j := range w.kernel[1] {
			rows, columns := (in[0]-w.reach(0))/w.stride[0]+1, (in[1]-w.reach(1))/w.stride[1]+1
			part := c.crop(c.crop(x, 1, i*w.dilation[0], rows, w.stride[0]), 2, j*w.dilation[1], columns, w.stride[1])
			if y == none {
				y = part
			} else {
				y = c.Binary(op, y, part)
			}
		}
	}
	return y
}

// averageOfShifts is an average of windows with dilation: the sum of the image shifted to each place, by how many places
// of a window count: those of the image, or of its paddings too.
func (c *conversion) averageOfShifts(x uint32, w window, countPads bool) uint32 {
	in := c.heightWidth(x)
	c.resolve(&w, in)
	extra := c.ceil(&w, in)
	counts := [2][]float32{}
	for i := range in {
		lo, hi := int64(0), in[i]
		if countPads {
			lo, hi = -w.pads[i][0], in[i]+w.pads[i][1]-extra[i]
		}
		for at := -w.pads[i][0]; at+w.reach(i) <= in[i]+w.pads[i][1]; at += w.stride[i] {
			n := float32(0)
			for k := range w.kernel[i] {
				if place := at + k*w.dilation[i]; place >= lo && place < hi {
					n++
				}
			}
			counts[i] = append(counts[i], n)
		}
	}
	if len(counts[0])*len(counts[1]) > maxWindows {
		c.Refusef("it has dilation and %d windows, at most %d", len(counts[0])*len(counts[1]), maxWindows)
	}
	var each []float32
	for _, rows := range counts[0] {
		for _, columns := range counts[1] {
			each = append(each, 1/(rows*columns))
		}
	}
	y := c.shifts(nn.OpAdd, c.padded(x, w.pads), w)
	shares := c.As(c.FloatTensor([]uint32{1, uint32(len(counts[0])), uint32(len(counts[1])), 1}, each), c.Operand(y).Type)
	return c.Binary(nn.OpMul, y, shares)
}

// maxWindows limits the shares of averages of windows with dilation, which are a constant.
const maxWindows = 1 << 20

// averagePool: NNAPI's average counts elements of the image alone. Where paddings count,
// they are zeros of the image.
func averagePool(c *conversion) {
	c.cropWindow()
	if c.isVolume() {
		poolVolume("AveragePool")(c)
		return
	}
	v := c.v(0)
	rank := len(c.shape(v))
	w := c.window(rank, nil)
	if w.dilation != [2]int64{1, 1} {
		x := c.asReals(c.number(c.form(v, real, true)))
		c.defineAs(0, realImage, c.averageOfShifts(x, w, c.flag("count_include_pad", 0)), rank)
		return
	}
	t, integers := c.quantizable(true, 0)
	kind, out := real, nn.Operand{}
	if integers {
		kind, out = quant, t.Operand
	}
	x := c.form(v, kind, true)
	if integers {
		x = c.turned(x, t.Type)
	} else {
		x = c.asReals(c.number(x))
		out = *c.Operand(x)
	}
	y := c.average(x, w, c.flag("count_include_pad", 0), out)
	if integers {
		y = c.fusedActivation(y, t)
		c.defineTarget(y, true, rank, t)
		return
	}
	c.defineAs(0, kind+1, y, rank)
}

// fusedActivation applies an activation to be fused as a separate operation.
func (c *conversion) fusedActivation(x uint32, t target) uint32 {
	ops := map[int64]nn.OperationType{int64(nn.ActRelu): nn.OpRelu, int64(nn.ActRelu1): nn.OpRelu1, int64(nn.ActRelu6): nn.OpRelu6}
	op, ok := ops[t.activation]
	if !ok {
		return x
	}
	return c.Emit(op, t.Operand, x)
}

func (c *conversion) average(x uint32, w window, countPads bool, out nn.Operand) uint32 {
	c.resolve(&w, c.heightWidth(x))
	extra := c.ceil(&w, c.heightWidth(x))
	if countPads {
		counted := w.pads
		for i := range extra {
			counted[i][1] -= extra[i]
			w.pads[i] = [2]int64{0, extra[i]}
		}
		x = c.padded(x, counted)
	}
	return c.Emit(nn.OpAveragePool2D, out, c.pooled(x, w)...)
}

// lpPool is the root of the sum of powers, to which what a window has beyond the image adds nothing.
func lpPool(c *conversion) {
	c.cropWindow()
	if c.isVolume() {
		poolVolume("LpPool")(c)
		return
	}
	v := c.v(0)
	rank := len(c.shape(v))
	w := c.window(rank, nil)
	p := c.int("p", 2)
	x := c.asReals(c.number(c.form(v, real, true)))
	c.resolve(&w, c.heightWidth(x))
	c.ceil(&w, c.heightWidth(x))
	x = c.padded(c.norm(x, p), w.pads)
	w.pads = [2][2]int64{}
	y := none
	if w.dilation == [2]int64{1, 1} {
		y = c.Emit(nn.OpAveragePool2D, *c.Operand(x), c.pooled(x, w)...)
		y = c.Binary(nn.OpMul, y, c.Like(y, float32(w.kernel[0]*w.kernel[1])))
	} else {
		y = c.shifts(nn.OpAdd, x, w)
	}
	c.defineAs(0, realImage, c.root(y, p), rank)
}

// norm is the summand of a norm: |x|^p.
func (c *conversion) norm(x uint32, p int64) uint32 {
	switch {
	case p < 1:
		c.Failf("p is %d", p)
	case p == 2:
		return c.Binary(nn.OpMul, x, x)
	}
	x = c.Unary(nn.OpAbs, x)
	if p == 1 {
		return x
	}
	return c.Binary(nn.OpPow, x, c.Like(x, float32(p)))
}

// root is what a sum of such summands is the norm's power of.
func (c *conversion) root(x uint32, p int64) uint32 {
	switch p {
	case 1:
		return x
	case 2:
		return c.Unary(nn.OpSqrt, x)
	}
	return c.Binary(nn.OpPow, x, c.Like(x, 1/float32(p)))
}

func globalPool(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		t, integers := c.quantizable(false, 0)
		if integers && op == nn.OpMean {
			v := c.v(0)
			image := !v.has(quant)
			x := c.turned(c.quant(v, image), t.Type)
			c.defineTarget(c.globalPool(op, x, image, t.Operand), image, v.rank, t)
			return
		}
		x, form := c.moved(false)
		if op == nn.OpMean && (form == quant || form == quantImage) {
			form -= quant
			x = c.form(c.v(0), real, form == realImage)
		}
		c.defineMoved(0, c.globalPool(op, x, isImage(form), *c.Operand(x)), form)
	}
}

// globalPool reduces all dimensions but batch and channels, to one each.
func (c *conversion) globalPool(op nn.OperationType, x uint32, image bool, out nn.Operand) uint32 {
	rank := c.Rank(x)
	var axes []int64
	for i := 2; i < rank; i++ {
		axes = append(axes, int64(i))
	}
	if image {
		axes = []int64{1, 2}
	}
	return c.Reduce(op, out, x, axes, true)
}

func globalLpPool(c *conversion) {
	p := c.int("p", 2)
	v := c.v(0)
	image := v.imageOnly()
	x := c.asReals(c.number(c.form(v, real, image)))
	y := c.root(c.globalPool(nn.OpReduceSum, c.norm(x, p), image, *c.Operand(x)), p)
	form := real
	if image {
		form = realImage
	}
	c.defineMoved(0, y, form)
}

// window is the geometry of a convolution or pooling over images: height, then width.
type window struct {
	kernel, stride, dilation [2]int64
	pads                     [2][2]int64 // before and after
	auto                     string
}

// window reads the geometry of a node; kernel is the shape of its weights, nil for pooling. Sequences are images of
// height 1.
func (c *conversion) window(rank int, kernel []int64) window {
	n := rank - 2
	if n < 1 || n > 2 {
		c.Refusef("it works on %d dimensions beside batch and channels, NNAPI on one or two", n)
	}
	given := c.ints("kernel_shape")
	switch {
	case kernel == nil:
		kernel = given
	case given != nil && !slices.Equal(given, kernel):
		c.Failf("kernel_shape is %v, the weights have %v", given, kernel)
	}
	spatial := func(list []int64, name string) (v [2]int64) {
		if list == nil {
			list = slices.Repeat([]int64{1}, n)
		}
		if len(list) != n {
			c.Failf("%s has %d elements, %d needed", name, len(list), n)
		}
		v = [2]int64{1, 1}
		copy(v[2-n:], list)
		for _, d := range v {
			if d < 1 || d > 1<<20 {
				c.Failf("%s is %v", name, list)
			}
		}
		return v
	}
	w := window{
		kernel: spatial(kernel, "kernel_shape"), stride: spatial(c.ints("strides"), "strides"), dilation: spatial(c.ints("dilations"), "dilations"),
		auto: c.text("auto_pad", "NOTSET"),
	}
	pads := c.ints("pads")
	if pads == nil {
		pads = make([]int64, 2*n)
	}
	if len(pads) != 2*n {
		c.Failf("pads has %d elements, %d needed", len(pads), 2*n)
	}
	for i := range n {
		w.pads[2-n+i] = [2]int64{pads[i], pads[n+i]}
		if min(pads[i], pads[n+i]) < -maxPads || max(pads[i], pads[n+i]) > maxPads {
			c.Failf("pads is %v", pads)
		}
	}
	return w
}

// resolve works out implicit paddings for an input of height and width.
func (c *conversion) resolve(w *window, in [2]int64) {
	switch w.auto {
	case "", "NOTSET":
		return
	case "VALID":
		w.pads = [2][2]int64{}
		return
	case "SAME_UPPER", "SAME_LOWER":
	default:
		c.Failf("auto_pad is %q", w.auto)
	}
	for i := range in {
		out := (in[i] + w.stride[i] - 1) / w.stride[i]
		all := max((out-1)*w.stride[i]+w.reach(i)-in[i], 0)
		w.split(i, all, w.auto == "SAME_LOWER")
	}
}

func (w *window) split(i int, all int64, lower bool) {
	w.pads[i] = [2]int64{all / 2, all - all/2}
	if lower {
		w.pads[i] = [2]int64{all - all/2, all / 2}
	}
}

// reach is how many elements a window spans.
func (w *window) reach(i int) int64 { return (w.kernel[i]-1)*w.dilation[i] + 1 }

// heightWidth are the spatial dimensions of an image with channels last.
func (c *conversion) heightWidth(x uint32) [2]int64 {
	d := c.Dims(x)
	return [2]int64{int64(d[1]), int64(d[2])}
}

// explicit are the operands of explicit paddings and strides of an NNAPI operation.
func (c *conversion) explicit(w window) []uint32 {
	list := []int64{w.pads[1][0], w.pads[1][1], w.pads[0][0], w.pads[0][1], w.stride[1], w.stride[0]}
	in := make([]uint32, len(list))
	for i, v := range list {
		in[i] = c.Int32Scalar(v)
	}
	return in
}

// padded surrounds an image with zeros, a quantized one with its zero point.
func (c *conversion) padded(x uint32, pads [2][2]int64) uint32 {
	if pads == [2][2]int64{} {
		return x
	}
	return c.Pad(*c.Operand(x), x, [][2]int64{{}, pads[0], pads[1], {}}, none)
}

// crop extracts a part of an image.
func (c *conversion) crop(x uint32, axis int, begin, size, step int64) uint32 {
	d := c.Dims(x)
	first, last, steps := make([]int64, len(d)), make([]int64, len(d)), slices.Repeat([]int64{1}, len(d))
	for i, n := range d {
		last[i] = int64(n)
	}
	first[axis], last[axis], steps[axis] = begin, begin+(size-1)*step+1, step
	if step == 1 {
		for i := range last {
			last[i] -= first[i]
		}
		return c.Slice(x, first, last)
	}
	zero := c.Int32Scalar(0)
	return c.Emit(nn.OpStridedSlice, *c.Operand(x), x, c.Int32Tensor(first...), c.Int32Tensor(last...), c.Int32Tensor(steps...), zero, zero, zero)
}
