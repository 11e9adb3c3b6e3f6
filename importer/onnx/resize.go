package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// resizeOperators are the operators that change the size of images.
var resizeOperators = []operator{
	{name: "Resize", inputs: [2]int{1, 4}, convert: resizeOperator},
	{name: "Upsample", inputs: [2]int{1, 2}, convert: upsample},
}

// scaling is how one axis changes its size.
type scaling struct {
	in, out    int64
	scale      float64
	start, end float64 // of the region of tf_crop_and_resize
}

// sampling is how elements between those of the file are computed.
type sampling struct {
	mode, coordinates, nearest string
	cubic                      float64
	excludeOutside, antialias  bool
	outside                    float32 // value beyond the image, of tf_crop_and_resize
}

func upsample(c *conversion) {
	scales := c.floats("scales")
	if scales == nil {
		scales = c.constants(1)
	}
	c.resize(c.scalings(scales, nil), sampling{mode: c.text("mode", "nearest"), coordinates: "asymmetric", nearest: "floor"})
}

// scalings are the scalings of all axes, from factors or sizes of some axes, nil for all.
func (c *conversion) scalings(scales []float32, axes []int64) []scaling {
	list := c.unscaled()
	if axes == nil {
		for i := range list {
			axes = append(axes, int64(i))
		}
	}
	if len(scales) != len(axes) {
		c.Failf("%d scales for %d axes", len(scales), len(axes))
	}
	for i, a := range axes {
		s := &list[c.Axis(a, len(list))]
		s.scale = float64(scales[i])
		if !(s.scale > 0 && s.scale*float64(s.in) < 1<<24) {
			c.Failf("scale %v of %d elements", s.scale, s.in)
		}
		s.out = int64(math.Floor(float64(s.in) * s.scale))
	}
	return list
}

func (c *conversion) unscaled() []scaling {
	shape := c.shape(c.v(0))
	list := make([]scaling, len(shape))
	for i, d := range shape {
		list[i] = scaling{in: int64(d), out: int64(d), scale: 1, end: 1}
	}
	return list
}

func resizeOperator(c *conversion) {
	if c.opset < 11 {
		upsample(c)
		return
	}
	s := sampling{
		mode: c.text("mode", "nearest"), coordinates: c.text("coordinate_transformation_mode", "half_pixel"),
		nearest: c.text("nearest_mode", "round_prefer_floor"), cubic: float64(c.float("cubic_coeff_a", -0.75)),
		excludeOutside: c.flag("exclude_outside", 0), antialias: c.flag("antialias", 0), outside: c.float("extrapolation_value", 0),
	}
	axes := c.ints("axes")
	var list []scaling
	switch {
	case c.has(2) && len(c.constants(2)) > 0:
		list = c.scalings(c.constants(2), axes)
	case c.has(3):
		list = c.sized(c.list(3), axes)
	default:
		c.Failf("neither scales nor sizes")
	}
	if s.coordinates == "tf_crop_and_resize" {
		roi := c.constants(1)
		n := len(axes)
		if axes == nil {
			n = len(list)
		}
		if len(roi) != 2*n {
			c.Failf("a region of %d numbers", len(roi))
		}
		for i := range n {
			a := i
			if axes != nil {
				a = c.Axis(axes[i], len(list))
			}
			list[a].start, list[a].end = float64(roi[i]), float64(roi[n+i])
		}
	}
	c.resize(list, s)
}

// sized are the scalings derived from sizes; a policy keeps the proportions.
func (c *conversion) sized(sizes, axes []int64) []scaling {
	list := c.unscaled()
	if axes == nil {
		for i := range list {
			axes = append(axes, int64(i))
		}
	}
	if len(sizes) != len(axes) {
		c.Failf("%d sizes for %d axes", len(sizes), len(axes))
	}
	policy := c.text("keep_aspect_ratio_policy", "stretch")
	common := math.Inf(1)
	if policy == "not_smaller" {
		common = 0
	}
	for i, a := range axes {
		s := &list[c.Axis(a, len(list))]
		if sizes[i] < 1 || sizes[i] > 1<<24 {
			c.Failf("size %d", sizes[i])
		}
		s.out, s.scale = sizes[i], float64(sizes[i])/float64(s.in)
		switch policy {
		case "not_larger":
			common = min(common, s.scale)
		case "not_smaller":
			common = max(common, s.scale)
		}
	}
	if policy != "stretch" {
		for _, a := range axes {
			s := &list[c.Axis(a, len(list))]
			s.scale, s.out = common, int64(math.Floor(common*float64(s.in)+0.5))
		}
	}
	return list
}

// at is the coordinate of element i of the result in the file's tensor.
func (s *scaling) at(i int64, mode string) (x float64, ok bool) {
	v := float64(i)
	switch mode {
	case "half_pixel":
		x = (v+0.5)/s.scale - 0.5
	case "half_pixel_symmetric":
		adjusted := float64(s.out) / (s.scale * float64(s.in))
		x = float64(s.in)/2*(1-adjusted) + (v+0.5)/s.scale - 0.5
	case "pytorch_half_pixel":
		if s.out > 1 {
			x = (v+0.5)/s.scale - 0.5
		}
	case "tf_half_pixel_for_nn":
		x = (v + 0.5) / s.scale
	case "align_corners": // by the length before it is rounded down, as the standard's tests have it
		if length := s.scale * float64(s.in); s.out > 1 {
			x = v * float64(s.in-1) / (length - 1)
		}
	case "asymmetric":
		x = v / s.scale
	case "tf_crop_and_resize":
		if s.out > 1 {
			x = s.start*float64(s.in-1) + v*(s.end-s.start)*float64(s.in-1)/float64(s.out-1)
		} else {
			x = 0.5 * (s.start + s.end) * float64(s.in-1)
		}
	default:
		return 0, false
	}
	return x, true
}

// nearestOf is the element that a place is rounded to.
func nearestOf(x float64, mode string) (float64, bool) {
	switch mode {
	case "round_prefer_floor":
		return math.Ceil(x - 0.5), true
	case "round_prefer_ceil":
		return math.Floor(x + 0.5), true
	case "floor":
		return math.Floor(x), true
	case "ceil":
		return math.Ceil(x), true
	}
	return 0, false
}

// resize changes the size of all axes, one after the other but by NNAPI's operation where
// height and width change as it does.
func (c *conversion) resize(list []scaling, s sampling) {
	for i := range list {
		if list[i].out < 1 {
			c.Refusef("the result is empty")
		}
		if list[i].out > 1<<16 || list[i].in > 1<<16 || list[i].out*list[i].in > 1<<24 {
			c.Refusef("it resizes %d elements to %d", list[i].in, list[i].out)
		}
	}
	if y, form, ok := c.resizedImage(list, s); ok {
		c.defineMoved(0, y, form)
		return
	}
	if s.mode == "nearest" {
		x, form := c.moved(true)
		for a := range list {
			if idx := c.nearestIndices(&list[a], s); idx != nil {
				x = c.GatherAxis(x, a, c.Int32Tensor(idx...))
			}
		}
		c.defineMoved(0, x, form)
		return
	}
	x := c.reals(0)
	for a := range list {
		if m := c.weights(&list[a], s); m != nil {
			bias := make([]float32, list[a].out)
			for i := range bias {
				if at, _ := list[a].at(int64(i), s.coordinates); list[a].beyond(at, s) {
					bias[i] = s.outside
				}
			}
			x = c.alongMatrix(x, a, m, bias)
		}
	}
	c.define(0, x)
}

// nearestIndices are the elements selected along an axis, nil where those are all in order.
func (c *conversion) nearestIndices(axis *scaling, s sampling) []int64 {
	idx, same := make([]int64, axis.out), axis.in == axis.out
	for i := range idx {
		x, ok := axis.at(int64(i), s.coordinates)
		v, known := nearestOf(x, s.nearest)
		if !ok || !known {
			c.Refusef("the modes %q and %q", s.coordinates, s.nearest)
		}
		if axis.beyond(x, s) {
			c.Refusef("its region reaches beyond the image")
		}
		idx[i] = int64(min(max(v, 0), float64(axis.in-1)))
		same = same && idx[i] == int64(i)
	}
	if same {
		return nil
	}
	return idx
}

// beyond reports whether a coordinate is outside of the image that a region is cropped from.
func (s *scaling) beyond(x float64, how sampling) bool {
	return how.coordinates == "tf_crop_and_resize" && (x < 0 || x > float64(s.in-1))
}

// weights are the interpolation weights [out, in] of an axis, nil for the identity.
func (c *conversion) weights(axis *scaling, s sampling) []float32 {
	m := make([]float32, axis.out*axis.in)
	same := axis.in == axis.out
	for i := range axis.out {
		x, ok := axis.at(i, s.coordinates)
		if !ok {
			c.Refusef("the mode %q", s.coordinates)
		}
		if axis.beyond(x, s) {
			continue
		}
		first, taps := c.taps(x, axis.scale, s)
		sum := 0.0
		for k, w := range taps {
			at := first + int64(k)
			if s.excludeOutside && (at < 0 || at >= axis.in) {
				taps[k], w = 0, 0
			}
			sum += w
		}
		for k, w := range taps {
			at := min(max(first+int64(k), 0), axis.in-1)
			m[i*axis.in+at] += float32(w / sum)
		}
		same = same && m[i*axis.in+min(i, axis.in-1)] == 1
	}
	if same {
		return nil
	}
	return m
}

// taps are the shares of neighbouring elements at a place, from the first on.
func (c *conversion) taps(x, scale float64, s sampling) (first int64, list []float64) {
	stretch := 1.0 // antialiasing widens the filter where the image shrinks
	if s.antialias && scale < 1 {
		stretch = scale
	}
	var reach float64
	var share func(d float64) float64
	switch s.mode {
	case "linear":
		reach, share = 1, func(d float64) float64 { return max(1-d, 0) }
	case "cubic":
		a := s.cubic
		reach, share = 2, func(d float64) float64 {
			switch {
			case d <= 1:
				return ((a+2)*d-(a+3))*d*d + 1
			case d < 2:
				return ((a*d-5*a)*d+8*a)*d - 4*a
			}
			return 0
		}
	default:
		c.Refusef("the mode %q", s.mode)
	}
	reach /= stretch
	if reach > 1<<12 {
		c.Refusef("it shrinks to %v of the size", scale)
	}
	first = int64(math.Floor(x-reach)) + 1
	for at := first; float64(at) < x+reach; at++ {
		list = append(list, share(math.Abs(float64(at)-x)*stretch))
	}
	return first, list
}

// alongMatrix multiplies an axis with a matrix [out, in] and adds a bias [out].
func (c *conversion) alongMatrix(x uint32, axis int, m, bias []float32) uint32 {
	out := uint32(len(bias))
	shape := slices.Clone(c.Dims(x))
	flat := []uint32{uint32(nn.Elements(shape[:axis])), shape[axis], uint32(nn.Elements(shape[axis+1:]))}
	rows := c.transposed(c.Reshape(x, flat), []int{0, 2, 1})
	w := c.floatLike(x, []uint32{out, shape[axis]}, m)
	y := c.fully(rows, w, c.floatLike(x, []uint32{out}, bias), nn.Operand{Type: c.Operand(x).Type}, 0)
	shape[axis] = out
	return c.Reshape(c.transposed(y, []int{0, 2, 1}), shape)
}

// resizedImage is NNAPI's operation where it has the same elements and weights.
func (c *conversion) resizedImage(list []scaling, s sampling) (y uint32, form int, ok bool) {
	if len(list) != 4 || list[0].in != list[0].out || list[1].in != list[1].out || s.mode == "cubic" {
		return none, 0, false
	}
	ways := [][2]bool{{false, false}, {true, false}, {false, true}}
	switch s.coordinates { // the file's own way first, where several agree
	case "align_corners":
		ways[0], ways[1] = ways[1], ways[0]
	case "half_pixel", "pytorch_half_pixel":
		ways[0], ways[2] = ways[2], ways[0]
	}
	for _, flags := range ways {
		if !c.matches(&list[2], s, flags[0], flags[1]) || !c.matches(&list[3], s, flags[0], flags[1]) {
			continue
		}
		v := c.v(0)
		kind, op := real, nn.OpResizeBilinear
		if s.mode == "nearest" {
			op = nn.OpResizeNearestNeighbor
		}
		if v.quantized() && (s.mode == "nearest" || c.sameTarget(v)) { // values between two steps wait for those of the result
			kind = quant
		}
		x := c.form(v, kind, true)
		in := []uint32{x, c.Int32Scalar(list[3].out), c.Int32Scalar(list[2].out), c.BoolScalar(false)}
		if flags != [2]bool{} {
			in = append(in, c.BoolScalar(flags[0]), c.BoolScalar(flags[1]))
		}
		return c.Emit(op, *c.Operand(x), in...), kind + 1, true
	}
	return none, 0, false
}

// sameTarget reports whether the result is quantized as v, input 0, is.
func (c *conversion) sameTarget(v *value) bool {
	t, ok := c.quantizable(false, 0)
	o := c.Operand(c.quant(v, !v.has(quant)))
	return ok && o.Type == t.Type && o.Scale == t.Scale && o.ZeroPoint == t.ZeroPoint
}

// matches reports whether NNAPI's operation with its two flags treats an axis as s does.
func (c *conversion) matches(axis *scaling, s sampling, corners, centers bool) bool {
	theirs := *axis
	theirs.scale = float64(axis.out) / float64(axis.in)
	how := sampling{mode: s.mode, coordinates: "asymmetric", nearest: "floor"}
	switch {
	case corners:
		how.coordinates, how.nearest = "align_corners", "round_prefer_ceil"
	case centers && s.mode == "nearest":
		how.coordinates = "tf_half_pixel_for_nn"
	case centers:
		how.coordinates = "half_pixel"
	}
	if s.mode == "nearest" {
		return slices.Equal(c.nearestIndices(axis, s), c.nearestIndices(&theirs, how))
	}
	a, b := c.weights(axis, s), c.weights(&theirs, how)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-6 {
			return false
		}
	}
	return true
}
