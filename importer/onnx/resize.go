package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/hostop/resample"
)

// resizeOperators are the operators that change the size of images.
var resizeOperators = []operator{
	{name: "Resize", inputs: [2]int{1, 4}, convert: resizeOperator},
	{name: "Upsample", inputs: [2]int{1, 2}, convert: upsample},
}

func upsample(c *conversion) {
	scales := c.floats("scales")
	if scales == nil {
		scales = c.constants(1)
	}
	c.resize(c.resampled(resample.Scaled(c.shape(c.v(0)), scales, nil)), c.sampling())
}

// resampled are axes of package resample, which finds numbers that contradict the file.
func (c *conversion) resampled(list []resample.Axis, err error) []resample.Axis {
	if err != nil {
		c.Failf("%v", err)
	}
	return list
}

func (c *conversion) refuse(err error) {
	if err != nil {
		c.Refusef("%v", err)
	}
}

func resizeOperator(c *conversion) {
	if c.opset < 11 {
		upsample(c)
		return
	}
	s, axes, shape := c.sampling(), c.ints("axes"), c.shape(c.v(0))
	var list []resample.Axis
	switch {
	case c.has(2) && len(c.constants(2)) > 0:
		list = c.resampled(resample.Scaled(shape, c.constants(2), axes))
	case c.has(3):
		list = c.resampled(resample.Sized(shape, c.list(3), axes, c.text("keep_aspect_ratio_policy", "stretch")))
	default:
		c.Failf("neither scales nor sizes")
	}
	if s.Coordinates == "tf_crop_and_resize" {
		list = c.resampled(list, resample.Crop(list, c.constants(1), axes))
	}
	c.resize(list, s)
}

// sampling are the modes of Resize, and of Upsample and Resize before version 11.
func (c *conversion) sampling() resample.Sampling {
	if c.opset < 11 {
		return resample.Sampling{Mode: c.text("mode", "nearest"), Coordinates: "asymmetric", Nearest: "floor"}
	}
	return resample.Sampling{
		Mode: c.text("mode", "nearest"), Coordinates: c.text("coordinate_transformation_mode", "half_pixel"),
		Nearest: c.text("nearest_mode", "round_prefer_floor"), Cubic: float64(c.float("cubic_coeff_a", -0.75)),
		ExcludeOutside: c.flag("exclude_outside", 0), Antialias: c.flag("antialias", 0), Outside: c.float("extrapolation_value", 0),
	}
}

// resize changes the size of all axes, one after the other but by NNAPI's operation where
// height and width change as it does. Integers between integers are cut off, as the standard's own implementation does.
func (c *conversion) resize(list []resample.Axis, s resample.Sampling) {
	c.refuse(resample.Check(list))
	as := none
	if v := c.v(0); s.Mode != "nearest" && !v.quantized() {
		if x := c.form(v, real, v.imageOnly()); c.Operand(x).Type.IsQuant8() || c.Operand(x).Type == nn.TensorInt32 {
			as = x
			c.in[0] = c.valueAs(map[bool]int{false: real, true: realImage}[v.imageOnly()], c.As(c.plain(x), nn.TensorFloat32), v.rank)
		}
	}
	y, form := c.resized(list, s)
	if as != none {
		y = c.As(y, nn.TensorInt32)
		if t := c.Operand(as).Type; t.IsQuant8() {
			y = c.Bytes(y, t)
		}
	}
	c.defineMoved(0, y, form)
}

// resized is input 0 in other sizes, and the form that it has.
func (c *conversion) resized(list []resample.Axis, s resample.Sampling) (uint32, int) {
	if y, form, ok := c.resizedImage(list, s); ok {
		return y, form
	}
	if s.Mode == "nearest" {
		x, form := c.moved(true)
		for a := range list {
			idx, err := list[a].NearestIndices(s)
			c.refuse(err)
			if idx != nil {
				x = c.GatherAxis(x, a, c.Int32Tensor(idx...))
			}
		}
		return x, form
	}
	x := c.reals(0)
	for a := range list {
		m, err := list[a].Weights(s)
		c.refuse(err)
		if m != nil {
			x = c.alongMatrix(x, a, m, list[a].Bias(s))
		}
	}
	return x, real
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
func (c *conversion) resizedImage(list []resample.Axis, s resample.Sampling) (y uint32, form int, ok bool) {
	if len(list) != 4 || list[0].In != list[0].Out || list[1].In != list[1].Out || s.Mode == "cubic" {
		return none, 0, false
	}
	ways := [][2]bool{{false, false}, {true, false}, {false, true}}
	switch s.Coordinates { // the file's own way first, where several agree
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
		if s.Mode == "nearest" {
			op = nn.OpResizeNearestNeighbor
		}
		if v.quantized() && (s.Mode == "nearest" || c.sameTarget(v)) { // values between two steps wait for those of the result
			kind = quant
		}
		x := c.form(v, kind, true)
		in := []uint32{x, c.Int32Scalar(list[3].Out), c.Int32Scalar(list[2].Out), c.BoolScalar(false)}
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
func (c *conversion) matches(axis *resample.Axis, s resample.Sampling, corners, centers bool) bool {
	theirs := opspec.Resize{H: int(axis.In), OutH: int(axis.Out), W: 1, OutW: 1, AlignCorners: corners, Center: centers}
	if s.Mode == "nearest" {
		places, err := axis.NearestIndices(s)
		c.refuse(err)
		rows, _ := theirs.Nearest()
		for i, row := range rows {
			if places == nil && row != i || places != nil && int64(row) != places[i] {
				return false
			}
		}
		return true
	}
	m, err := axis.Weights(s)
	c.refuse(err)
	rows, _ := theirs.Bilinear()
	for i := range axis.Out {
		for k := range axis.In {
			want := 0.0
			if int(k) == rows.Lo[i] {
				want += 1 - float64(rows.Frac[i])
			}
			if int(k) == rows.Hi[i] {
				want += float64(rows.Frac[i])
			}
			got := 0.0
			switch {
			case m != nil:
				got = float64(m[i*axis.In+k])
			case i == k:
				got = 1
			}
			if math.Abs(got-want) > 1e-6 {
				return false
			}
		}
	}
	return true
}
