package tflite

import (
	"math"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/flexbuffer"
	"github.com/nnsoc/nnsoc/nn"
)

// MediaPipe's networks of faces with attention look closer at eyes and lips: landmarks determine the matrix of a crop
// (Landmarks2TransformMatrix), which samples maps of features (TransformTensorBilinear) and maps landmarks of the crop
// back (TransformLandmarks). NNAPI has none of them; they are composed of its arithmetic, REDUCE_MAX and GATHER.

// numbers are the options of an operator as a FlexBuffers map.
type numbers struct {
	*conversion
	values map[string]flexbuffer.Value
}

func (c *conversion) numbers() numbers {
	m, err := flexbuffer.Values(c.custom)
	c.Check(err)
	return numbers{c, m}
}

func (o numbers) list(name string) []float64 {
	v := o.values[name].Numbers
	if len(v) == 0 {
		o.Failf("its options lack %q", name)
	}
	return v
}

func (o numbers) real(name string) float64 {
	v := o.list(name)[0]
	if math.IsNaN(v) || math.IsInf(v, 0) {
		o.Failf("its option %q is %v", name, v)
	}
	return v
}

// size is an option that is the extent of an image.
func (o numbers) size(name string, k int) int64 {
	list := o.list(name)
	if k >= len(list) || !(list[k] >= 1 && list[k] <= 1<<14) {
		o.Failf("its option %q is %v", name, list)
	}
	return int64(list[k])
}

// index is an option that is a landmark of so many.
func (o numbers) index(v float64, count int) int64 {
	if !(v >= 0 && v < float64(count)) {
		o.Failf("landmark %v of %d", v, count)
	}
	return int64(v)
}

// arithmetic on tensors and constants of one element.
func (c *conversion) plus(a, b uint32) uint32            { return c.Binary(nn.OpAdd, a, b) }
func (c *conversion) minus(a, b uint32) uint32           { return c.Binary(nn.OpSub, a, b) }
func (c *conversion) times(a, b uint32) uint32           { return c.Binary(nn.OpMul, a, b) }
func (c *conversion) scaled(a uint32, v float64) uint32  { return c.times(a, c.Real(float32(v))) }
func (c *conversion) shifted(a uint32, v float64) uint32 { return c.plus(a, c.Real(float32(v))) }

// affine is the part of input k, a 4x4 matrix, that moves points of a plane: its elements
// [0][0], [0][1], [0][3] and [1][0], [1][1], [1][3], each a tensor of one element.
func (c *conversion) affine(k int) (m [2][3]uint32) {
	x := c.As(c.x(k), nn.TensorFloat32)
	if n := nn.Elements(c.Dims(x)); n != 16 {
		c.Refusef("matrices of shape %v, this composition supports one of 4x4", c.Dims(x))
	}
	x = c.Reshape(x, []uint32{16})
	for row := range m {
		for i, column := range []int{0, 1, 3} {
			m[row][i] = c.Slice(x, []int64{int64(4*row + column)}, []int64{1})
		}
	}
	return m
}

// moved is a coordinate of points moved by a row of a matrix.
func (c *conversion) moved(x, y uint32, row [3]uint32) uint32 {
	return c.plus(c.plus(c.times(x, row[0]), c.times(y, row[1])), row[2])
}

// transformLandmarks moves points of two or three coordinates, of which it keeps the third. In
// version 1 the shift counts in steps of an option.
func transformLandmarks(c *conversion) {
	x, m := c.As(c.x(0), nn.TensorFloat32), c.affine(1)
	dims := c.Dims(x)
	if len(dims) == 0 || nn.Elements(dims) == 0 {
		c.Failf("landmarks of shape %v", dims)
	}
	each := int64(dims[len(dims)-1])
	if c.version < 2 {
		o := c.numbers()
		if each = o.size("dimensions", 0); int64(dims[len(dims)-1])%each != 0 {
			c.Failf("landmarks of shape %v and of %d coordinates", dims, each)
		}
		for row := range m {
			m[row][2] = c.scaled(m[row][2], o.real("scale"))
		}
	}
	if each != 2 && each != 3 {
		c.Refusef("landmarks of %d coordinates, 2 or 3 needed", each)
	}
	n := nn.Elements(dims) / each
	points := c.Reshape(x, []uint32{uint32(n), uint32(each)})
	column := func(k int64) uint32 { return c.Slice(points, []int64{0, k}, []int64{n, 1}) }
	list := []uint32{c.moved(column(0), column(1), m[0]), c.moved(column(0), column(1), m[1])}
	if each == 3 {
		list = append(list, column(2))
	}
	c.define(0, c.Reshape(c.Concat(nn.Operand{Type: nn.TensorFloat32}, 1, list...), dims))
}

// maxSamples bounds the places of an image that indices in float32 name exactly.
const maxSamples = 1 << 24

// transformTensor samples an image [1, h, w, depth] at the points to which a matrix maps the output pixels, with
// bilinear weights; samples outside are 0. In version 2 coordinates are those of the centres of pixels: a shift of half
// a pixel before and after the matrix.
func transformTensor(c *conversion) {
	o := c.numbers()
	x, m := c.As(c.x(0), nn.TensorFloat32), c.affine(1)
	dims := c.Dims(x)
	if len(dims) != 4 || nn.Elements(dims) == 0 {
		c.Failf("an image of shape %v", dims)
	}
	if dims[0] != 1 || nn.Elements(dims[:3]) > maxSamples {
		c.Refusef("an image of shape %v, this composition supports one of %d pixels", dims, maxSamples)
	}
	var outH, outW int64
	if c.version < 2 {
		if mode := o.values["mode"].Text; mode != "" && mode != "bilinear" {
			c.Refusef("mode %q", mode)
		}
		outH, outW = o.size("output_size", 0), o.size("output_size", 1)
	} else {
		outH, outW = o.size("output_height", 0), o.size("output_width", 0)
		for row := range m {
			m[row][2] = c.shifted(c.plus(m[row][2], c.scaled(c.plus(m[row][0], m[row][1]), 0.5)), -0.5)
		}
	}
	n := uint32(outH * outW)
	c.Spend(8 * int64(n))
	column, row := make([]float32, n), make([]float32, n)
	for i := range column {
		column[i], row[i] = float32(i%int(outW)), float32(i/int(outW))
	}
	px, py := c.FloatTensor([]uint32{n, 1}, column), c.FloatTensor([]uint32{n, 1}, row)
	width, height := float32(dims[2]), float32(dims[1])
	along := func(m [3]uint32, last float32) (low, high, rest, inside uint32) {
		at := c.moved(px, py, m)
		held := c.Clamp(at, 0, last)
		low = c.Unary(nn.OpFloor, held)
		high = c.Binary(nn.OpMinimum, c.shifted(low, 1), c.Real(last))
		return low, high, c.minus(held, low), c.As(c.Compare(nn.OpEqual, at, held), nn.TensorFloat32)
	}
	left, right, u, insideX := along(m[0], width-1)
	top, bottom, v, insideY := along(m[1], height-1)
	pixels := c.Reshape(x, []uint32{dims[1] * dims[2], dims[3]})
	sample := func(y, x uint32) uint32 {
		at := c.plus(c.scaled(y, float64(width)), x)
		return c.Gather(pixels, 0, c.Reshape(c.As(at, nn.TensorInt32), []uint32{n}))
	}
	// mixed is (1-t) a + t b.
	mixed := func(a, b, t uint32) uint32 {
		return c.plus(c.times(c.minus(c.Real(1), t), a), c.times(t, b))
	}
	y := mixed(mixed(sample(top, left), sample(top, right), u), mixed(sample(bottom, left), sample(bottom, right), u), v)
	c.define(0, c.Reshape(c.times(y, c.times(insideX, insideY)), []uint32{1, uint32(outH), uint32(outW), dims[3]}))
}

// landmarksMatrix is the matrix that maps pixels of a crop to those of an image: the crop contains some landmarks, and
// the line from one landmark to another is level in it. cos and sin of its angle are quotients of the sides of a
// triangle.
func landmarksMatrix(c *conversion) {
	o := c.numbers()
	x := c.As(c.x(0), nn.TensorFloat32)
	count := int(nn.Elements(c.Dims(x)) / 3)
	if count < 1 || nn.Elements(c.Dims(x)) != int64(3*count) {
		c.Failf("landmarks of shape %v", c.Dims(x))
	}
	points := c.Reshape(x, []uint32{uint32(count), 3})
	coordinate := func(i float64, k int64) uint32 {
		return c.Reshape(c.Slice(points, []int64{o.index(i, count), k}, []int64{1, 1}), []uint32{1})
	}
	first, second := o.real("left_rotation_idx"), o.real("right_rotation_idx")
	dx, dy := c.minus(coordinate(second, 0), coordinate(first, 0)), c.minus(coordinate(second, 1), coordinate(first, 1))
	// Without a direction the angle is that of (1, 0). Half turns do not count in version 1, whose
	// angle is the arctangent of a quotient.
	length := c.Unary(nn.OpSqrt, c.plus(c.times(dx, dx), c.times(dy, dy)))
	still := c.As(c.Compare(nn.OpEqual, length, c.Real(0)), nn.TensorFloat32)
	length = c.plus(length, still)
	cos, sin := c.Binary(nn.OpDiv, c.plus(dx, still), length), c.Binary(nn.OpDiv, dy, length)
	name := "subset_idxs"
	if c.version < 2 {
		name = "subset"
		turn := c.shifted(c.scaled(c.As(c.Compare(nn.OpLess, dx, c.Real(0)), nn.TensorFloat32), -2), 1)
		cos, sin = c.times(cos, turn), c.times(sin, turn)
	} else if t := o.real("target_rotation_radians"); t != 0 {
		ct, st := math.Cos(t), math.Sin(t)
		cos, sin = c.plus(c.scaled(cos, ct), c.scaled(sin, st)), c.minus(c.scaled(sin, ct), c.scaled(cos, st))
	}
	subset := make([]int64, 0, len(o.values[name].Numbers))
	for _, v := range o.list(name) {
		subset = append(subset, o.index(v, count))
	}
	n := int64(len(subset))
	some := c.Gather(points, 0, c.Int32Tensor(subset...))
	px, py := c.Reshape(c.Slice(some, []int64{0, 0}, []int64{n, 1}), []uint32{uint32(n)}), c.Reshape(c.Slice(some, []int64{0, 1}, []int64{n, 1}), []uint32{uint32(n)})
	extent := func(x uint32) (size, middle uint32) {
		one := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}}
		x = c.Reshape(x, []uint32{1, uint32(n)})
		most, least := c.Reduce(nn.OpReduceMax, one, x, []int64{1}, false), c.Reduce(nn.OpReduceMin, one, x, []int64{1}, false)
		return c.minus(most, least), c.scaled(c.plus(most, least), 0.5)
	}
	// Turned by minus the angle, and the middle turned back.
	width, mx := extent(c.plus(c.times(px, cos), c.times(py, sin)))
	height, my := extent(c.minus(c.times(py, cos), c.times(px, sin)))
	mx, my = c.minus(c.times(mx, cos), c.times(my, sin)), c.plus(c.times(mx, sin), c.times(my, cos))
	var m [2][3]uint32
	if c.version < 2 {
		m = c.relativeCrop(o, cos, sin, width, height, mx, my)
	} else {
		w, h := o.size("output_width", 0), o.size("output_height", 0)
		sx, sy := c.scaled(width, o.real("scale_x")/float64(w)), c.scaled(height, o.real("scale_y")/float64(h))
		m = [2][3]uint32{{c.times(cos, sx), c.scaled(c.times(sin, sy), -1), mx}, {c.times(sin, sx), c.times(cos, sy), my}}
		for row := range m { // the middle of the crop is there
			m[row][2] = c.minus(m[row][2], c.plus(c.scaled(m[row][0], float64(w)/2), c.scaled(m[row][1], float64(h)/2)))
		}
	}
	zero, one := c.Real(0), c.Real(1)
	matrix := c.Concat(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{16}}, 0,
		m[0][0], m[0][1], zero, m[0][2], m[1][0], m[1][1], zero, m[1][2], zero, zero, one, zero, zero, zero, zero, one)
	c.define(0, c.Reshape(matrix, []uint32{1, 4, 4}))
}

// relativeCrop is the matrix of version 1: pixels of the crop become -1 to 1, landmarks count in
// an option's range, and pixels of the image are those of corners:
//
//	[ax 0 ax; 0 ay ay] [cos -sin 2mx/range-1; sin cos 2my/range-1] diag(width, height, range)/range [2/(w-1) 0 -1; 0 2/(h-1) -1]
func (c *conversion) relativeCrop(o numbers, cos, sin, width, height, mx, my uint32) (m [2][3]uint32) {
	if d := o.size("dimensions", 0); d != 3 {
		c.Refusef("landmarks of %d coordinates, 3 needed", d)
	}
	span, grown := o.real("landmarks_range"), o.real("bbox_size_multiplier")
	inH, inW, outH, outW := o.size("input_hw", 0), o.size("input_hw", 1), o.size("output_hw", 0), o.size("output_hw", 1)
	if !(span > 0) || grown == 0 || outH < 2 || outW < 2 {
		c.Failf("a range of %v, a crop of %dx%d times %v", span, outH, outW, grown)
	}
	sx, sy := c.scaled(width, grown/span), c.scaled(height, grown/span)
	for row, x := range [2]struct{ first, second, middle uint32 }{
		{c.times(cos, sx), c.scaled(c.times(sin, sy), -1), mx}, {c.times(sin, sx), c.times(cos, sy), my},
	} {
		half := float64([2]int64{inW, inH}[row]-1) / 2
		shift := c.minus(c.shifted(c.scaled(x.middle, 2/span), -1), c.plus(x.first, x.second))
		m[row] = [3]uint32{c.scaled(x.first, 2/float64(outW-1)*half), c.scaled(x.second, 2/float64(outH-1)*half), c.scaled(c.shifted(shift, 1), half)}
	}
	return m
}
