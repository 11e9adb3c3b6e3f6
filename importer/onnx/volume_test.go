package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
)

// TestVolumes compares convolutions and poolings of [1, 2, 4, 5, 4] with their definitions: paddings, strides, dilation.
func TestVolumes(t *testing.T) {
	in, kernel := [3]int{4, 5, 4}, [3]int{2, 3, 2}
	const channels, units = 2, 3
	x, w, b := pattern(channels*4*5*4), pattern(units*channels*2*3*2), pattern(units)
	for _, c := range []struct{ stride, dilation, before, after [3]int }{
		{[3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{}, [3]int{}},
		{[3]int{2, 1, 2}, [3]int{1, 1, 1}, [3]int{1, 1, 0}, [3]int{0, 2, 1}},
		{[3]int{1, 2, 1}, [3]int{2, 1, 1}, [3]int{1, 0, 1}, [3]int{1, 1, 0}},
	} {
		var out [3]int
		for a := range out {
			out[a] = (in[a]+c.before[a]+c.after[a]-(kernel[a]-1)*c.dilation[a]-1)/c.stride[a] + 1
		}
		// each calls f with the element under place k of the window at o, ok where it is no padding.
		each := func(o int, f func(k, at int, ok bool)) {
			place := [3]int{o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]}
			for k := range kernel[0] * kernel[1] * kernel[2] {
				offset := [3]int{k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1], k % kernel[2]}
				at, ok := 0, true
				for a := range place {
					p := place[a]*c.stride[a] - c.before[a] + offset[a]*c.dilation[a]
					ok = ok && p >= 0 && p < in[a]
					at = at*in[a] + p
				}
				f(k, at, ok)
			}
		}
		var conv, greatest, average, padded []float64
		total, window := out[0]*out[1]*out[2], kernel[0]*kernel[1]*kernel[2]
		for u := range units {
			for o := range total {
				y := float64(b[u])
				for ch := range channels {
					each(o, func(k, at int, ok bool) {
						if ok {
							y += float64(x[ch*80+at]) * float64(w[(u*channels+ch)*window+k])
						}
					})
				}
				conv = append(conv, y)
			}
		}
		for ch := range channels {
			for o := range total {
				most, sum, n := math.Inf(-1), 0.0, 0
				each(o, func(_, at int, ok bool) {
					if ok {
						most, sum, n = max(most, float64(x[ch*80+at])), sum+float64(x[ch*80+at]), n+1
					}
				})
				greatest, average, padded = append(greatest, most), append(average, sum/float64(n)), append(padded, sum/float64(window))
			}
		}
		list := func(v [3]int) []int64 { return []int64{int64(v[0]), int64(v[1]), int64(v[2])} }
		geometry := []*onnxfile.Attribute{intsAttribute("kernel_shape", list(kernel)...), intsAttribute("strides", list(c.stride)...), intsAttribute("pads", append(list(c.before), list(c.after)...)...)}
		dilated := append(geometry, intsAttribute("dilations", list(c.dilation)...))
		image := value32("x", 1, channels, 4, 5, 4)
		what := fmt.Sprint(c)
		near(t, "Conv "+what, conv, one(t, node("Conv", []string{"x", "w", "b"}, []string{"y"}, dilated...), []*onnxfile.Value{image, value32("w", units, channels, 2, 3, 2), value32("b", units)}, x, w, b))
		near(t, "MaxPool "+what, greatest, one(t, node("MaxPool", []string{"x"}, []string{"y"}, dilated...), []*onnxfile.Value{image}, x))
		if c.dilation == [3]int{1, 1, 1} {
			near(t, "AveragePool "+what, average, one(t, node("AveragePool", []string{"x"}, []string{"y"}, geometry...), []*onnxfile.Value{image}, x))
			near(t, "AveragePool with paddings "+what, padded, one(t, node("AveragePool", []string{"x"}, []string{"y"}, append(geometry, intAttribute("count_include_pad", 1))...), []*onnxfile.Value{image}, x))
		}
	}
}
