package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// convOperators are the convolutions.
var convOperators = []operator{
	{name: "Conv", inputs: [2]int{2, 3}, convert: conv},
	{name: "FusedConv", domain: microsoft, inputs: [2]int{2, 4}, convert: conv},
	{name: "ConvTranspose", inputs: [2]int{2, 3}, convert: convTranspose},
	{name: "DeformConv", inputs: [2]int{3, 5}, convert: deformConv},
	{name: "Col2Im", inputs: [2]int{3, 3}, convert: col2Im},
}

// convolution is a convolution on its way to NNAPI.
type convolution struct {
	x, w, bias *value
	rank       int
	window     window
	group      int64
	quantized  bool
	to         target // where quantized
	activation int64
	// scale and shift per output channel are of a batch normalization that follows.
	scale, shift []float32
}

// optional is input k, nil when it is omitted.
func (c *conversion) optional(k int) *value {
	if c.has(k) {
		return c.in[k]
	}
	return nil
}

// convolution reads shapes and attributes.
func (c *conversion) convolution(x, w, bias *value) convolution {
	weights, image := c.shape(w), c.shape(x)
	if len(weights) != len(image) || len(weights) < 3 {
		c.Failf("input %v with weights %v", image, weights)
	}
	kernel := make([]int64, 0, 2)
	for _, d := range weights[2:] {
		kernel = append(kernel, int64(d))
	}
	p := convolution{x: x, w: w, bias: bias, rank: len(image), window: c.window(len(image), kernel), group: c.int("group", 1)}
	if p.group < 1 || int64(image[1])%p.group != 0 {
		c.Failf("%d groups of %d channels", p.group, image[1])
	}
	return p
}

func conv(c *conversion) {
	c.cropWindow()
	if c.isVolume() && c.node.Op == "Conv" {
		convVolume(c)
		return
	}
	p := c.convolution(c.v(0), c.v(1), c.optional(2))
	if t, ok := c.quantizableProduct(); ok && !c.has(3) && c.text("activation", "") == "" {
		p.quantized, p.to, p.activation = true, t, t.activation
		c.defineTarget(c.conv(p), true, p.rank, t)
		return
	}
	if name := c.text("activation", ""); name != "" || c.has(3) { // of FusedConv, which may add a tensor
		y := c.conv(p)
		if c.has(3) {
			y = c.Binary(nn.OpAdd, y, c.As(c.asReals(c.number(c.form(c.v(3), real, true))), c.Operand(y).Type))
		}
		if name != "" {
			y = c.activated(y, name, c.floats("activation_params"))
		}
		c.defineAs(0, realImage, y, p.rank)
		return
	}
	norm := c.followingNorm(p.w)
	if norm != nil {
		if p.scale, p.shift = c.normOf(norm); p.scale == nil {
			norm = nil
		}
	}
	last := c.node.Outputs[0]
	if norm != nil {
		last = norm.Outputs[0]
	}
	act, code := c.follower(last)
	p.activation = code
	c.defineThrough(realImage, c.conv(p), p.rank, norm, act)
}

// followingNorm is the batch normalization that alone reads output 0, where its factors can
// move into constant weights.
func (c *conversion) followingNorm(w *value) *onnxfile.Node {
	list := c.uses[c.node.Outputs[0]]
	if len(list) != 1 || list[0].node == nil || list[0].node.Op != "BatchNormalization" || list[0].input != 0 || len(list[0].node.Inputs) != 5 {
		return nil
	}
	if !w.has(real) || !c.IsConst(w.forms[real]) || c.Operand(w.forms[real]).Type != nn.TensorFloat32 {
		return nil
	}
	return list[0].node
}

// biasOf is the bias of a product: zeros where it has none. x and w are its operands.
func (c *conversion) biasOf(bias *value, x, w uint32, outputs uint32, integers bool) uint32 {
	if !integers {
		if bias == nil {
			return c.floatLike(x, []uint32{outputs}, make([]float32, outputs))
		}
		return c.To(c.asReals(c.number(c.real(bias, false))), nn.Operand{Type: c.Operand(x).Type})
	}
	weights := c.Operand(w)
	scales := []float32{weights.Scale}
	o := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{outputs}, Scale: c.Operand(x).Scale * weights.Scale}
	if weights.Channel != nil {
		o.Scale, scales = 0, weights.Channel.Scales
	}
	steps := make([]int32, outputs)
	if bias != nil {
		c.biasSteps(steps, bias, c.Operand(x).Scale, scales)
	}
	for _, v := range steps {
		o.Data = binary.LittleEndian.AppendUint32(o.Data, uint32(v))
	}
	return c.Constant(o)
}

// biasSteps counts a bias in steps of the products' scale. One of integers of the file is in
// those already.
func (c *conversion) biasSteps(steps []int32, bias *value, x float32, scales []float32) {
	kind := quant
	if !bias.has(quant) {
		kind = real
	}
	b := c.Operand(c.form(bias, kind, false))
	if !b.IsConst() {
		c.Refusef("its bias is known only during execution, NNAPI's quantized operations need it before")
	}
	if nn.Elements(b.Dimensions) != int64(len(steps)) {
		c.Failf("a bias of shape %v for %d channels", b.Dimensions, len(steps))
	}
	for i := range steps {
		step := float64(x) * float64(scales[i%len(scales)])
		switch b.Type {
		case nn.TensorInt32:
			v := int32s(b)[i]
			if kind == quant && b.Scale != 0 {
				v = clampInt32(math.RoundToEven(float64(v) * float64(b.Scale) / step))
			}
			steps[i] = v
		case nn.TensorFloat32, nn.TensorFloat16:
			steps[i] = clampInt32(math.RoundToEven(float64(floatElements(b)[i]) / step))
		default:
			c.Refusef("its bias is %v", b.Type)
		}
	}
}

func clampInt32(v float64) int32 {
	return int32(min(max(v, math.MinInt32), math.MaxInt32))
}

// conv emits a convolution: NNAPI's for one group, for a group per channel, or for groups.
func (c *conversion) conv(p convolution) uint32 {
	kind := real
	if p.quantized {
		kind = quant
	}
	x := c.form(p.x, kind, true)
	w := c.form(p.w, kind, false)
	out := nn.Operand{Type: nn.TensorFloat32}
	if p.quantized {
		x, out = c.turned(x, p.to.Type), p.to.Operand
		w = c.turned(w, p.to.Type)
	} else {
		x = c.asReals(c.number(x))
		w = c.asReals(c.number(w))
		if c.Operand(x).Type == nn.TensorFloat16 && c.Operand(w).Type == nn.TensorFloat16 {
			out.Type = nn.TensorFloat16
		} else {
			x, w = c.As(x, nn.TensorFloat32), c.As(w, nn.TensorFloat32)
		}
	}
	if p.scale != nil {
		w = c.scaled(w, p.scale)
	}
	dims := c.Dims(w)
	if len(dims) == 3 {
		w = c.reshaped(w, []uint32{dims[0], dims[1], 1, dims[2]})
		dims = c.Dims(w)
	}
	outputs, depth := dims[0], c.Dims(x)[3]
	if int64(dims[1])*p.group != int64(depth) || int64(outputs)%p.group != 0 {
		c.Failf("weights %v for %d channels in %d groups", dims, depth, p.group)
	}
	bias := c.biasOf(p.bias, x, w, outputs, p.quantized)
	if p.scale != nil {
		bias = c.shifted(bias, p.scale, p.shift)
	}
	c.resolve(&p.window, c.heightWidth(x))
	return c.grouped(p, x, w, bias, out)
}

// grouped emits the operation that the number of groups requires; groups with dilation,
// which NNAPI's lacks, one by one.
func (c *conversion) grouped(p convolution, x, w, bias uint32, out nn.Operand) uint32 {
	dims, depth := c.Dims(w), int64(c.Dims(x)[3])
	win := p.window
	act := c.Int32Scalar(p.activation)
	dilated := win.dilation != [2]int64{1, 1}
	tail := func(in []uint32) []uint32 {
		if dilated {
			in = append(in, c.BoolScalar(false), c.Int32Scalar(win.dilation[1]), c.Int32Scalar(win.dilation[0]))
		}
		return in
	}
	switch {
	case p.group == 1:
		in := append([]uint32{x, c.transposed(w, []int{0, 2, 3, 1}), bias}, c.explicit(win)...)
		return c.Emit(nn.OpConv2D, out, tail(append(in, act))...)
	case p.group == depth:
		in := append([]uint32{x, c.transposed(w, []int{1, 2, 3, 0}), bias}, c.explicit(win)...)
		return c.Emit(nn.OpDepthwiseConv2D, out, tail(append(in, c.Int32Scalar(int64(dims[0])/depth), act))...)
	case !dilated:
		in := append([]uint32{x, c.transposed(w, []int{0, 2, 3, 1}), bias}, c.explicit(win)...)
		return c.Emit(nn.OpGroupedConv2D, out, append(in, c.Int32Scalar(p.group), act, c.BoolScalar(false))...)
	}
	if c.Operand(w).Channel != nil {
		c.Refusef("it has groups, dilation and weights quantized per channel")
	}
	each, n := depth/p.group, int64(dims[0])/p.group
	parts := make([]uint32, p.group)
	one := p
	one.group = 1
	for i := range parts {
		k := int64(i)
		weights := c.Slice(w, []int64{k * n, 0, 0, 0}, []int64{n, int64(dims[1]), int64(dims[2]), int64(dims[3])})
		parts[i] = c.grouped(one, c.crop(x, 3, k*each, each, 1), weights, c.partOfBias(bias, k*n, n), out)
	}
	return c.Concat(out, 3, parts...)
}

// partOfBias are n elements of a bias from one on.
func (c *conversion) partOfBias(bias uint32, from, n int64) uint32 {
	o := *c.Operand(bias)
	if !o.IsConst() {
		return c.Slice(bias, []int64{from}, []int64{n})
	}
	size := int64(o.Type.ElementBytes())
	o.Data, o.Dimensions = o.Data[from*size:(from+n)*size], []uint32{uint32(n)}
	return c.Constant(o)
}

// scaled are constant weights with a factor per output channel.
func (c *conversion) scaled(w uint32, scale []float32) uint32 {
	o := c.Operand(w)
	list := slices.Clone(floatElements(o))
	each := len(list) / len(scale)
	for i := range list {
		list[i] *= scale[i/each]
	}
	c.Spend(4 * int64(len(list)))
	return c.floatLike(w, c.Dims(w), list)
}

// shifted is a bias after a normalization: bias * scale + shift.
func (c *conversion) shifted(bias uint32, scale, shift []float32) uint32 {
	if o := c.Operand(bias); o.IsConst() {
		list := slices.Clone(floatElements(o))
		for i := range list {
			list[i] = list[i]*scale[i] + shift[i]
		}
		return c.floatLike(bias, c.Dims(bias), list)
	}
	n := []uint32{uint32(len(scale))}
	return c.Binary(nn.OpAdd, c.Binary(nn.OpMul, bias, c.floatLike(bias, n, scale)), c.floatLike(bias, n, shift))
}

// convTranspose is NNAPI's TRANSPOSE_CONV_2D, whose output ends with the last windows: output_padding is added as rows
// of zeros at the end of the weights. Dilation spreads the weights, groups are computed one by one.
func convTranspose(c *conversion) {
	if c.isVolume() {
		transposeVolume(c)
		return
	}
	t, integers := c.quantizableProduct()
	kind, out := real, nn.Operand{Type: nn.TensorFloat32}
	if integers {
		kind, out = quant, t.Operand
	}
	v := c.v(0)
	rank := len(c.shape(v))
	x, w := c.form(v, kind, true), c.form(c.v(1), kind, false)
	if integers {
		x, w = c.turned(x, t.Type), c.turned(w, t.Type)
	} else {
		x = c.asReals(c.number(x))
		w, out.Type = c.As(c.number(w), c.Operand(x).Type), c.Operand(x).Type
	}
	shape := c.Dims(w)
	if len(shape) != rank || rank < 3 || len(shape) > 4 && rank == 4 {
		c.Failf("input of rank %d with weights %v", rank, shape)
	}
	kernel := make([]int64, 0, 2)
	for _, d := range shape[2:] {
		kernel = append(kernel, int64(d))
	}
	win := c.window(rank, kernel)
	if rank == 3 {
		w = c.reshaped(w, []uint32{shape[0], shape[1], 1, shape[2]})
	}
	group := c.int("group", 1)
	depth := int64(c.Dims(x)[3])
	if group < 1 || depth%group != 0 || int64(shape[0]) != depth {
		c.Failf("weights %v for %d channels in %d groups", shape, depth, group)
	}
	extra := c.extent(&win, c.heightWidth(x), rank)
	w = c.spread(w, win, win.before(), extra)
	for i := range win.pads {
		win.pads[i][0] = max(win.pads[i][0], 0)
	}
	bias := c.biasOf(c.optional(2), x, w, shape[1]*uint32(group), integers)
	var act *onnxfile.Node
	if !integers {
		act, t.activation = c.follower(c.node.Outputs[0])
	}
	y := c.transposeGroups(x, w, bias, win, group, t.activation, out)
	if integers {
		c.defineTarget(y, true, rank, t)
		return
	}
	c.defineThrough(realImage, y, rank, act)
}

// extent works out the paddings of a transposed convolution, and how many rows the output
// has beyond those that windows reach.
func (c *conversion) extent(w *window, in [2]int64, rank int) (extra [2]int64) {
	n := rank - 2
	if p := c.ints("output_padding"); p != nil {
		if len(p) != n {
			c.Failf("output_padding is %v", p)
		}
		copy(extra[2-n:], p)
	}
	given := c.ints("output_shape")
	if given != nil && len(given) != n {
		given = given[max(len(given)-n, 0):]
	}
	for i := range in {
		if extra[i] < 0 || extra[i] > 1<<16 {
			c.Failf("output_padding is %d", extra[i])
		}
		full := w.stride[i]*(in[i]-1) + extra[i] + w.reach(i)
		switch {
		case given != nil && i >= 2-n:
			all := full - given[i-(2-n)]
			if all < 0 {
				extra[i] -= all
				all = 0
			}
			w.split(i, all, w.auto != "SAME_UPPER")
		case w.auto == "SAME_UPPER" || w.auto == "SAME_LOWER":
			all := full - in[i]*w.stride[i]
			if all < 0 {
				extra[i] -= all
				all = 0
			}
			w.split(i, all, w.auto == "SAME_LOWER")
		case w.auto == "VALID":
			w.pads[i] = [2]int64{}
		}
		if cut := min(extra[i], w.pads[i][1]); cut != 0 { // less is cut off instead, and what is added by a negative padding counts
			extra[i], w.pads[i][1] = extra[i]-cut, w.pads[i][1]-cut
		}
	}
	return extra
}

// before is how many rows and columns of a transposed convolution's output negative paddings add in front.
func (w *window) before() [2]int64 { return [2]int64{max(-w.pads[0][0], 0), max(-w.pads[1][0], 0)} }

// spread puts zeros between constant weights [in, out, h, w] for dilation, and in front and at their end.
func (c *conversion) spread(w uint32, win window, front, extra [2]int64) uint32 {
	if win.dilation == [2]int64{1, 1} && front == [2]int64{} && extra == [2]int64{} {
		return w
	}
	o := *c.Operand(w)
	if !o.IsConst() {
		c.Refusef("it has dilation, output_padding or negative pads, and weights that are known only during execution")
	}
	d := c.Dims(w)
	h, v := front[0]+win.reach(0)+extra[0], front[1]+win.reach(1)+extra[1]
	planes := int64(d[0]) * int64(d[1])
	if h > 1<<12 || v > 1<<12 || planes*h*v > 1<<28 {
		c.Refusef("its weights spread to %d by %d", h, v)
	}
	size := int64(o.Type.ElementBytes())
	c.Spend(planes * h * v * size)
	data := make([]byte, planes*h*v*size)
	if o.Type.IsQuant8() {
		for i := range data {
			data[i] = byte(o.ZeroPoint)
		}
	}
	from := int64(0)
	for p := range planes {
		for y := range int64(d[2]) {
			for x := range int64(d[3]) {
				at := (p*h+front[0]+y*win.dilation[0])*v + front[1] + x*win.dilation[1]
				copy(data[at*size:(at+1)*size], o.Data[from*size:])
				from++
			}
		}
	}
	o.Data, o.Dimensions, o.Lifetime = data, []uint32{d[0], d[1], uint32(h), uint32(v)}, nn.ConstantCopy
	return c.Add(o)
}

func (c *conversion) transposeGroups(x, w, bias uint32, win window, group, act int64, out nn.Operand) uint32 {
	d := c.Dims(w)
	if group == 1 {
		in := append([]uint32{x, c.transposed(w, []int{1, 2, 3, 0}), bias}, c.explicit(win)...)
		return c.Emit(nn.OpTransposeConv2D, out, append(in, c.Int32Scalar(act), c.BoolScalar(false))...)
	}
	if c.Operand(w).Channel != nil {
		c.Refusef("it has groups and weights quantized per channel")
	}
	each, n := int64(d[0])/group, int64(d[1])
	parts := make([]uint32, group)
	for i := range parts {
		k := int64(i)
		weights := c.Slice(w, []int64{k * each, 0, 0, 0}, []int64{each, n, int64(d[2]), int64(d[3])})
		parts[i] = c.transposeGroups(c.crop(x, 3, k*each, each, 1), weights, c.partOfBias(bias, k*n, n), win, 1, act, out)
	}
	return c.Concat(out, 3, parts...)
}
