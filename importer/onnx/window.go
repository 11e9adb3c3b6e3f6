package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// window is the geometry of a convolution or pooling over images: height, then width.
type window struct {
	kernel, stride, dilation [2]int64
	pads                     [2][2]int64 // before and after
	auto                     string
}

// window reads the geometry of a node; kernel is what its weights say, nil for pooling.
// Sequences are images of height 1.
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
		if pads[i] < 0 || pads[n+i] < 0 || pads[i] > 1<<20 || pads[n+i] > 1<<20 {
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

// padded surrounds an image with zeros, which of a quantized one its zero point stands for.
func (c *conversion) padded(x uint32, pads [2][2]int64) uint32 {
	if pads == [2][2]int64{} {
		return x
	}
	return c.Pad(*c.Operand(x), x, [][2]int64{{}, pads[0], pads[1], {}}, none)
}

// crop takes a part of an image.
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
