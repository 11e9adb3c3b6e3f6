// Package resample has the arithmetic by which model files change the size of tensors: which elements, or which shares of
// neighbours, an element of the result is of. It knows one axis at a time, since all modes are separable; importers apply
// it to sizes that they know, package hostop to those that an execution brings.
//
// Facts: ONNX's Resize; the kernels of TensorFlow Lite are cases of it.
package resample

import (
	"fmt"
	"math"
)

// Modes, Coordinates, Roundings and Policies are ONNX's names of what a Sampling and Sized choose among. Attributes of the host's operation
// are places in these lists.
var (
	Modes       = []string{"nearest", "linear", "cubic"}
	Coordinates = []string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "align_corners", "asymmetric", "tf_crop_and_resize"}
	Roundings   = []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}
	Policies    = []string{"stretch", "not_larger", "not_smaller"}
)

// Axis is how one axis changes its size.
type Axis struct {
	In, Out    int64
	Scale      float64
	Start, End float64 // of the region of tf_crop_and_resize
}

// Sampling is how elements between those of a tensor are computed.
type Sampling struct {
	Mode, Coordinates, Nearest string
	Cubic                      float64
	ExcludeOutside, Antialias  bool
	Outside                    float32 // value beyond the image, of tf_crop_and_resize
}

// Unscaled are the axes of a shape as they are.
func Unscaled(shape []uint32) []Axis {
	list := make([]Axis, len(shape))
	for i, d := range shape {
		list[i] = Axis{In: int64(d), Out: int64(d), Scale: 1, End: 1}
	}
	return list
}

// named are the places of some axes, of all of them in order where axes is nil; n is how many numbers stand for them.
func named(axes []int64, rank, n int) ([]int, error) {
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if n != len(axes) {
		return nil, fmt.Errorf("%d scales or sizes for %d axes", n, len(axes))
	}
	places := make([]int, len(axes))
	for i, a := range axes {
		if a < 0 {
			a += int64(rank)
		}
		if a < 0 || a >= int64(rank) {
			return nil, fmt.Errorf("axis %d of rank %d", axes[i], rank)
		}
		places[i] = int(a)
	}
	return places, nil
}

// Scaled are the axes of a shape after scaling some by factors.
func Scaled(shape []uint32, scales []float32, axes []int64) ([]Axis, error) {
	list := Unscaled(shape)
	places, err := named(axes, len(shape), len(scales))
	if err != nil {
		return nil, err
	}
	for i, a := range places {
		s := &list[a]
		s.Scale = float64(scales[i])
		if s.In < 1 {
			return nil, fmt.Errorf("scale %v of no elements", s.Scale)
		}
		if !(s.Scale > 0 && s.Scale*float64(s.In) < 1<<24) {
			return nil, fmt.Errorf("scale %v of %d elements", s.Scale, s.In)
		}
		s.Out = int64(math.Floor(float64(s.In) * s.Scale))
	}
	return list, nil
}

// Sized are the axes of a shape after giving some a size; a policy other than stretch keeps the proportions.
func Sized(shape []uint32, sizes, axes []int64, policy string) ([]Axis, error) {
	list := Unscaled(shape)
	places, err := named(axes, len(shape), len(sizes))
	if err != nil {
		return nil, err
	}
	common := math.Inf(1)
	if policy == "not_smaller" {
		common = 0
	}
	for i, a := range places {
		s := &list[a]
		if sizes[i] < 1 || sizes[i] > 1<<24 || s.In < 1 {
			return nil, fmt.Errorf("size %d of %d elements", sizes[i], s.In)
		}
		s.Out, s.Scale = sizes[i], float64(sizes[i])/float64(s.In)
		switch policy {
		case "not_larger":
			common = min(common, s.Scale)
		case "not_smaller":
			common = max(common, s.Scale)
		}
	}
	if policy == "stretch" {
		return list, nil
	}
	for _, a := range places {
		s := &list[a]
		s.Scale, s.Out = common, int64(math.Floor(common*float64(s.In)+0.5))
	}
	return list, nil
}

// Crop sets the regions of some axes, from starts and then ends.
func Crop(list []Axis, region []float32, axes []int64) error {
	places, err := named(axes, len(list), len(region)/2)
	if err != nil || len(region)%2 != 0 {
		return fmt.Errorf("a region of %d numbers", len(region))
	}
	for i, a := range places {
		list[a].Start, list[a].End = float64(region[i]), float64(region[len(places)+i])
		if !(math.Abs(list[a].Start) < 1<<24 && math.Abs(list[a].End) < 1<<24) {
			return fmt.Errorf("a region from %v to %v", region[i], region[len(places)+i])
		}
	}
	return nil
}

// Check bounds the work of resampling.
func Check(list []Axis) error {
	for i := range list {
		if list[i].In < 1 || list[i].Out < 1 {
			return fmt.Errorf("it resizes %d elements to %d: neither may be empty", list[i].In, list[i].Out)
		}
		if list[i].Out > 1<<16 || list[i].In > 1<<16 || list[i].Out*list[i].In > 1<<24 {
			return fmt.Errorf("it resizes %d elements to %d", list[i].In, list[i].Out)
		}
	}
	return nil
}

// At is the coordinate of element i of the result in the tensor. It is computed in float32, as scales are stored and as
// ONNX Runtime computes it: 13 / 2.6 is 5 then, while the float64 of the stored scale makes it 5.0000002, which ceil
// rounds to 6.
func (s *Axis) At(i int64, mode string) (x float64, ok bool) {
	v, in, out, scale := float32(i), float32(s.In), float32(s.Out), float32(s.Scale)
	center := func() float32 { return float32((v+0.5)/scale) - 0.5 }
	var at float32
	switch mode {
	case "half_pixel":
		at = center()
	case "half_pixel_symmetric":
		adjusted := out / float32(scale*in)
		at = float32(float32(in/2*(1-adjusted))+float32((v+0.5)/scale)) - 0.5
	case "pytorch_half_pixel":
		if s.Out > 1 {
			at = center()
		}
	case "tf_half_pixel_for_nn":
		at = (v + 0.5) / scale
	case "align_corners": // by the length before it is rounded down, as the standard's tests have it
		if length := float32(scale * in); s.Out > 1 {
			at = v * (in - 1) / (length - 1)
		}
	case "asymmetric":
		at = v / scale
	case "tf_crop_and_resize":
		start, end := float32(s.Start), float32(s.End)
		if s.Out > 1 {
			at = float32(start*(in-1)) + float32(v*(end-start)*(in-1))/(out-1)
		} else {
			at = 0.5 * (start + end) * (in - 1)
		}
	default:
		return 0, false
	}
	return float64(at), true
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

// NearestIndices are the elements selected along an axis, nil where those are all in order.
func (s *Axis) NearestIndices(how Sampling) ([]int64, error) {
	idx, same := make([]int64, s.Out), s.In == s.Out
	for i := range idx {
		x, ok := s.At(int64(i), how.Coordinates)
		v, known := nearestOf(x, how.Nearest)
		if !ok || !known {
			return nil, fmt.Errorf("the modes %q and %q", how.Coordinates, how.Nearest)
		}
		if s.Beyond(x, how) {
			return nil, fmt.Errorf("its region reaches beyond the image")
		}
		idx[i] = int64(min(max(v, 0), float64(s.In-1)))
		same = same && idx[i] == int64(i)
	}
	if same {
		return nil, nil
	}
	return idx, nil
}

// Beyond reports whether a coordinate is outside of the image that a region is cropped from.
func (s *Axis) Beyond(x float64, how Sampling) bool {
	return how.Coordinates == "tf_crop_and_resize" && (x < 0 || x > float64(s.In-1))
}

// Weights are the interpolation weights [out, in] of an axis, nil for the identity.
func (s *Axis) Weights(how Sampling) ([]float32, error) {
	m := make([]float32, s.Out*s.In)
	same := s.In == s.Out
	for i := range s.Out {
		x, ok := s.At(i, how.Coordinates)
		if !ok {
			return nil, fmt.Errorf("the mode %q", how.Coordinates)
		}
		if s.Beyond(x, how) {
			same = false
			continue
		}
		first, taps, err := taps(x, s.Scale, how)
		if err != nil {
			return nil, err
		}
		sum := 0.0
		for k, w := range taps {
			at := first + int64(k)
			if how.ExcludeOutside && (at < 0 || at >= s.In) {
				taps[k], w = 0, 0
			}
			sum += w
		}
		for k, w := range taps {
			at := min(max(first+int64(k), 0), s.In-1)
			m[i*s.In+at] += float32(w / sum)
		}
		same = same && m[i*s.In+min(i, s.In-1)] == 1
	}
	if same {
		return nil, nil
	}
	return m, nil
}

// Bias is what elements beyond the image are: the value outside, 0 elsewhere.
func (s *Axis) Bias(how Sampling) []float32 {
	bias := make([]float32, s.Out)
	for i := range bias {
		if at, _ := s.At(int64(i), how.Coordinates); s.Beyond(at, how) {
			bias[i] = how.Outside
		}
	}
	return bias
}

// taps are the shares of neighbouring elements at a place, from the first on.
func taps(x, scale float64, how Sampling) (first int64, list []float64, err error) {
	stretch := 1.0 // antialiasing widens the filter where the image shrinks
	if how.Antialias && scale < 1 {
		stretch = scale
	}
	var reach float64
	var share func(d float64) float64
	switch how.Mode {
	case "linear":
		reach, share = 1, func(d float64) float64 { return max(1-d, 0) }
	case "cubic":
		a := how.Cubic
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
		return 0, nil, fmt.Errorf("the mode %q", how.Mode)
	}
	reach /= stretch
	if reach > 1<<12 {
		return 0, nil, fmt.Errorf("it shrinks to %v of the size", scale)
	}
	first = int64(math.Floor(x-reach)) + 1
	for at := first; float64(at) < x+reach; at++ {
		list = append(list, share(math.Abs(float64(at)-x)*stretch))
	}
	return first, list, nil
}
