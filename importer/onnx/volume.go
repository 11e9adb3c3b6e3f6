package onnx

import (
	"maps"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// Convolutions and poolings of volumes [N, C, D, H, W] are those of their planes [N, C, H, W]: each plane of the result
// is made of the planes that its window covers.

// maxPlanes bounds the planes that windows cover, counted for each plane of the result.
const maxPlanes = 1 << 10

// depthWindow is the geometry of a window along the depth of a volume.
type depthWindow struct {
	kernel, stride, dilation, before, after int64
	in, out                                 int64
}

// isVolume reports whether input 0 has three dimensions beside batch and channels.
func (c *conversion) isVolume() bool { return len(c.shape(c.v(0))) == 5 }

// depth reads the window along the depth, and the attributes for planes.
func (c *conversion) depth(kernel []int64) (d depthWindow, plane map[string]*onnxfile.Attribute) {
	if given := c.ints("kernel_shape"); kernel == nil {
		kernel = given
	} else if given != nil && !slices.Equal(given, kernel) {
		c.Failf("kernel_shape is %v, the weights have %v", given, kernel)
	}
	plane = maps.Clone(c.attributes)
	split := func(name string, list []int64, n int) int64 {
		if list == nil {
			list = slices.Repeat([]int64{1}, n)
		}
		if len(list) != n || list[0] < 1 || list[0] > 1<<20 {
			c.Failf("%s is %v", name, list)
		}
		plane[name] = listOf(name, list[1:]...)
		return list[0]
	}
	d = depthWindow{kernel: split("kernel_shape", kernel, 3), stride: split("strides", c.ints("strides"), 3), dilation: split("dilations", c.ints("dilations"), 3), in: int64(c.shape(c.v(0))[2])}
	if pads := c.ints("pads"); pads != nil {
		if len(pads) != 6 || min(pads[0], pads[3]) < -maxPads || max(pads[0], pads[3]) > maxPads {
			c.Failf("pads is %v", pads)
		}
		d.before, d.after = pads[0], pads[3]
		plane["pads"] = listOf("pads", pads[1], pads[2], pads[4], pads[5])
	}
	// The depth is resolved as the height of a window whose width is one element.
	w := window{kernel: [2]int64{d.kernel, 1}, stride: [2]int64{d.stride, 1}, dilation: [2]int64{d.dilation, 1}, pads: [2][2]int64{{d.before, d.after}}, auto: c.text("auto_pad", "NOTSET")}
	in := [2]int64{d.in, 1}
	c.resolve(&w, in)
	d.before, d.after = w.pads[0][0], w.pads[0][1]
	c.ceil(&w, in)
	d.out = (d.in+w.pads[0][0]+w.pads[0][1]-w.reach(0))/d.stride + 1
	if d.out > maxPlanes || d.out*d.kernel > maxPlanes {
		c.Refusef("%d planes of windows of %d planes, at most %d in all", d.out, d.kernel, maxPlanes)
	}
	return d, plane
}

// covered are the planes of the volume under the window of plane i of the result, with their places in the window, and
// how many places the window has inside the padded volume.
func (d *depthWindow) covered(i int64) (planes, places []int64, padded int64) {
	for k := range d.kernel {
		at := i*d.stride - d.before + k*d.dilation
		if at >= 0 && at < d.in {
			planes, places = append(planes, at), append(places, k)
		}
		if at < d.in+d.after {
			padded++
		}
	}
	return planes, places, padded
}

// stacked defines output 0 of planes [N, C, H, W].
func (c *conversion) stacked(planes []uint32) {
	for i, x := range planes {
		planes[i] = c.Reshape(x, slices.Insert(slices.Clone(c.Dims(x)), 2, 1))
	}
	c.define(0, c.Concat(nn.Operand{Type: c.Operand(planes[0]).Type}, 2, planes...))
}

// convVolume is the sum of the convolutions of planes with the planes of the weights; the bias is added once.
func convVolume(c *conversion) {
	x, w := c.asReals(c.x(0)), c.asReals(c.x(1))
	shape := c.Dims(w)
	if len(shape) != 5 {
		c.Failf("input %v with weights %v", c.Dims(x), shape)
	}
	d, plane := c.depth([]int64{int64(shape[2]), int64(shape[3]), int64(shape[4])})
	result := make([]uint32, d.out)
	for i := range result {
		planes, places, _ := d.covered(int64(i))
		if len(planes) == 0 {
			c.Refusef("plane %d of the result has a window of paddings alone", i)
		}
		sum := none
		for k, z := range planes {
			var bias *value
			if k == 0 {
				bias = c.optional(2)
			}
			part := c.real(c.standard("Conv", plane, c.valueOf(c.entry(x, 2, z)), c.valueOf(c.entry(w, 2, places[k])), bias), false)
			if sum == none {
				sum = part
			} else {
				sum = c.Binary(nn.OpAdd, sum, part)
			}
		}
		result[i] = sum
	}
	c.stacked(result)
}

// transposeVolume adds the transposed convolutions of planes with planes of the weights to the planes of the result that
// they reach; the bias is added once.
func transposeVolume(c *conversion) {
	x, w := c.asReals(c.x(0)), c.asReals(c.x(1))
	shape, in := c.Dims(w), c.Dims(x)
	if len(shape) != 5 {
		c.Failf("input %v with weights %v", in, shape)
	}
	d, plane := c.transposedDepth(int64(shape[2]))
	result := make([]uint32, d.out)
	for i := range result {
		result[i] = none
		for k := range d.kernel {
			at := int64(i) + d.before - k*d.dilation
			if at < 0 || at%d.stride != 0 || at/d.stride >= d.in {
				continue
			}
			var bias *value
			if result[i] == none {
				bias = c.optional(2)
			}
			part := c.real(c.standard("ConvTranspose", plane, c.valueOf(c.entry(x, 2, at/d.stride)), c.valueOf(c.entry(w, 2, k)), bias), false)
			if result[i] != none {
				part = c.Binary(nn.OpAdd, result[i], part)
			}
			result[i] = part
		}
	}
	c.fillPlanes(result)
	c.stacked(result)
}

// fillPlanes makes the planes that no window reaches: the bias, or zeros.
func (c *conversion) fillPlanes(planes []uint32) {
	like := slices.IndexFunc(planes, func(x uint32) bool { return x != none })
	if like < 0 {
		c.Refusef("no window reaches its result")
	}
	d := c.Dims(planes[like])
	for i, x := range planes {
		if x != none {
			continue
		}
		planes[i] = c.filled(nn.Operand{Type: c.Operand(planes[like]).Type}, d, 0)
		if c.has(2) {
			bias := c.As(c.reals(2), c.Operand(planes[like]).Type)
			planes[i] = c.BroadcastTo(c.Reshape(bias, []uint32{1, d[1], 1, 1}), d)
		}
	}
}

// transposedDepth reads the window of a transposed convolution along the depth, and the attributes for planes.
func (c *conversion) transposedDepth(kernel int64) (d depthWindow, plane map[string]*onnxfile.Attribute) {
	// The depth is resolved as the height of images whose width is one element.
	tall := *c
	tall.attributes, plane = maps.Clone(c.attributes), maps.Clone(c.attributes)
	for name, width := range map[string]int64{"kernel_shape": 1, "strides": 1, "dilations": 1, "output_padding": 0, "output_shape": 1} {
		list := c.ints(name)
		if list == nil {
			continue
		}
		if name == "output_shape" && len(list) > 3 {
			list = list[len(list)-3:]
		}
		if len(list) != 3 {
			c.Failf("%s is %v", name, list)
		}
		tall.attributes[name] = listOf(name, list[0], width)
		plane[name] = listOf(name, list[1:]...)
	}
	if pads := c.ints("pads"); pads != nil {
		if len(pads) != 6 {
			c.Failf("pads is %v", pads)
		}
		tall.attributes["pads"] = listOf("pads", pads[0], 0, pads[3], 0)
		plane["pads"] = listOf("pads", pads[1], pads[2], pads[4], pads[5])
	}
	w := tall.window(4, []int64{kernel, 1})
	d = depthWindow{kernel: kernel, stride: w.stride[0], dilation: w.dilation[0], in: int64(c.shape(c.v(0))[2])}
	extra := tall.extent(&w, [2]int64{d.in, 1}, 4)
	d.before, d.after = w.pads[0][0], w.pads[0][1]
	d.out = d.stride*(d.in-1) + extra[0] + w.reach(0) - d.before - d.after
	if d.out < 1 {
		c.Failf("a depth of %d", d.out)
	}
	if d.out > maxPlanes || d.out*d.kernel > maxPlanes {
		c.Refusef("%d planes of windows of %d planes, at most %d in all", d.out, d.kernel, maxPlanes)
	}
	return d, plane
}

func listOf(name string, list ...int64) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeInts, Ints: list}
}

// poolVolume combines the planes under each window, then the elements of the plane.
func poolVolume(op string) func(*conversion) {
	return func(c *conversion) {
		x, p := c.asReals(c.x(0)), c.int("p", 2)
		d, plane := c.depth(nil)
		if op == "LpPool" { // the root of the sum of the planes' sums
			x = c.norm(x, p)
			plane["p"] = &onnxfile.Attribute{Name: "p", Type: onnxfile.AttributeInt, Int: 1}
		}
		result := make([]uint32, d.out)
		for i := range result {
			planes, _, padded := d.covered(int64(i))
			if len(planes) == 0 {
				c.Refusef("plane %d of the result has a window of paddings alone", i)
			}
			y := c.entry(x, 2, planes[0])
			for _, z := range planes[1:] {
				y = c.Binary(map[string]nn.OperationType{"MaxPool": nn.OpMaximum, "AveragePool": nn.OpAdd, "LpPool": nn.OpAdd}[op], y, c.entry(x, 2, z))
			}
			if op == "AveragePool" {
				n := int64(len(planes))
				if c.flag("count_include_pad", 0) {
					n = padded
				}
				y = c.Binary(nn.OpMul, y, c.Like(y, 1/float32(n)))
			}
			if result[i] = c.real(c.standard(op, plane, c.valueOf(y)), false); op == "LpPool" {
				result[i] = c.root(result[i], p)
			}
		}
		c.stacked(result)
	}
}
