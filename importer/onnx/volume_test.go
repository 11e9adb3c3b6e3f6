package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
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

// TestTransposedVolumes compares transposed convolutions of [1, 4, 3, 2, 3] with their definition: each element adds a
// window to the result, which output_padding and output_shape lengthen and pads cut.
func TestTransposedVolumes(t *testing.T) {
	in, kernel := [3]int{3, 2, 3}, [3]int{2, 3, 2}
	const channels, units = 4, 3 // units of a group
	for _, c := range []struct {
		stride, dilation, before, after, more [3]int
		group                                 int
		shape                                 []int64
	}{
		{stride: [3]int{1, 1, 1}, dilation: [3]int{1, 1, 1}, group: 1},
		{stride: [3]int{2, 1, 3}, dilation: [3]int{1, 1, 1}, before: [3]int{1, 0, 0}, after: [3]int{0, 1, 1}, group: 2},
		{stride: [3]int{3, 2, 1}, dilation: [3]int{2, 1, 2}, more: [3]int{2, 1, 0}, group: 1},
		{stride: [3]int{2, 2, 2}, dilation: [3]int{1, 1, 1}, group: 1, shape: []int64{5, 4, 6}},
	} {
		x, w, b := pattern(channels*18), pattern(channels*units*12), pattern(units*c.group)
		var out [3]int
		for a := range out {
			out[a] = c.stride[a]*(in[a]-1) + c.more[a] + (kernel[a]-1)*c.dilation[a] + 1 - c.before[a] - c.after[a]
			if c.shape != nil { // of what is cut the greater part is at the beginning
				all := out[a] - int(c.shape[a])
				c.before[a], c.after[a], out[a] = all-all/2, all/2, int(c.shape[a])
			}
		}
		total := out[0] * out[1] * out[2]
		want := make([]float64, units*c.group*total)
		for i := range want {
			want[i] = float64(b[i/total])
		}
		for ch := range channels {
			for i := range 18 {
				for k := range 12 {
					from := [3]int{i / 6, i / 3 % 2, i % 3}
					offset := [3]int{k / 6, k / 2 % 3, k % 2}
					at, ok := 0, true
					for a := range from {
						p := from[a]*c.stride[a] + offset[a]*c.dilation[a] - c.before[a]
						ok = ok && p >= 0 && p < out[a]
						at = at*out[a] + p
					}
					for u := range units {
						if ok {
							want[(ch/(channels/c.group)*units+u)*total+at] += float64(x[ch*18+i]) * float64(w[(ch*units+u)*12+k])
						}
					}
				}
			}
		}
		list := func(v ...[3]int) (l []int64) {
			for _, v := range v {
				l = append(l, int64(v[0]), int64(v[1]), int64(v[2]))
			}
			return l
		}
		attributes := []*onnxfile.Attribute{intsAttribute("strides", list(c.stride)...), intsAttribute("dilations", list(c.dilation)...), intAttribute("group", int64(c.group))}
		if c.shape != nil {
			attributes = append(attributes, intsAttribute("output_shape", c.shape...))
		} else {
			attributes = append(attributes, intsAttribute("pads", list(c.before, c.after)...), intsAttribute("output_padding", list(c.more)...))
		}
		n := node("ConvTranspose", []string{"x", "w", "b"}, []string{"y"}, attributes...)
		weights := &onnxfile.Tensor{Name: "w", Type: onnxfile.Float, Dims: []int64{channels, units, 2, 3, 2}, Floats: w}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 1, channels, 3, 2, 3), value32("b", int64(units*c.group))}, Initializers: []*onnxfile.Tensor{weights},
			Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{n}}
		m := require.V(importFile(model(g, 24), nil))(t)
		got := numbers(nn.TensorFloat32, require.V(execute(m, [][]byte{floats32(x...), floats32(b...)}))(t)[0])
		near(t, fmt.Sprint("ConvTranspose ", c), want, got)
	}
}

// TestVolumeNorms compares LpPool of [1, 1, 3, 2, 2] with the root of the sums of powers.
func TestVolumeNorms(t *testing.T) {
	x := pattern(12)
	for p := range 2 {
		var want []float64
		for z := range 4 { // windows of 2 planes, one of them padding at both ends
			sum := 0.0
			for k := max(z-1, 0); k <= min(z, 2); k++ {
				for _, v := range x[4*k : 4*k+4] {
					sum += math.Pow(math.Abs(float64(v)), float64(p+1))
				}
			}
			want = append(want, math.Pow(sum, 1/float64(p+1)))
		}
		n := node("LpPool", []string{"x"}, []string{"y"}, intAttribute("p", int64(p+1)), intsAttribute("kernel_shape", 2, 2, 2), intsAttribute("pads", 1, 0, 0, 1, 0, 0))
		near(t, fmt.Sprint("LpPool ", p+1), want, one(t, n, []*onnxfile.Value{value32("x", 1, 1, 3, 2, 2)}, x))
	}
}
