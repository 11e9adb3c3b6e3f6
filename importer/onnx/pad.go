package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// pad: paddings are an attribute before version 11, all before the values and all behind.
// Negative ones crop.
func pad(c *conversion) {
	shape := c.shape(c.v(0))
	list := c.ints("pads")
	if list == nil && c.opset < 2 {
		list = c.ints("paddings")
	}
	if list == nil {
		list = c.list(1)
	}
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	if c.has(3) {
		axes = axes[:0]
		for _, a := range c.list(3) {
			axes = append(axes, c.Axis(a, len(shape)))
		}
	}
	if len(list) != 2*len(axes) {
		c.Failf("%d paddings for %d axes", len(list), len(axes))
	}
	pads := make([][2]int64, len(shape))
	for i, a := range axes {
		pads[a] = [2]int64{list[i], list[len(axes)+i]}
		if max(list[i], list[len(axes)+i]) > nn.MaxElements || min(list[i], list[len(axes)+i]) < -nn.MaxElements {
			c.Failf("paddings %v", list)
		}
	}
	switch mode := c.text("mode", "constant"); mode {
	case "constant":
		c.padConstant(pads)
	case "reflect":
		c.padIndexed(shape, pads, func(i, n int64) int64 {
			if n == 1 {
				return 0
			}
			i = (i%(2*n-2) + 2*n - 2) % (2*n - 2)
			return min(i, 2*n-2-i)
		})
	case "edge":
		c.padIndexed(shape, pads, func(i, n int64) int64 { return min(max(i, 0), n-1) })
	case "wrap":
		c.padIndexed(shape, pads, func(i, n int64) int64 { return (i%n + n) % n })
	default:
		c.Refusef("the mode %q", mode)
	}
}

func (c *conversion) padConstant(pads [][2]int64) {
	value := c.float("value", 0)
	if c.has(2) && len(c.shape(c.v(2))) <= 1 {
		value = c.scalar(2, 0)
	}
	x, form := c.moved(false)
	rank := len(c.shape(c.v(0)))
	if isImage(form) {
		placed := make([][2]int64, 4)
		for i, p := range pads {
			placed[imageAxis(i, rank)] = p
		}
		pads = placed
	}
	x = c.cropped(x, pads)
	if !slices.ContainsFunc(pads, func(p [2]int64) bool { return p != [2]int64{} }) {
		c.giveMoved(0, x, form)
		return
	}
	o := *c.Operand(x)
	scalar := none
	switch {
	case value == 0 && (o.Type == nn.TensorFloat32 || o.Type == nn.TensorFloat16 || o.Type.IsQuant8()):
	case o.Type.IsQuant8():
		lo, hi := float64(0), float64(255)
		if o.Type == nn.TensorQuant8AsymmSigned {
			lo, hi = -128, 127
		}
		scalar = c.Int32Scalar(int64(min(max(math.RoundToEven(float64(value)/float64(o.Scale))+float64(o.ZeroPoint), lo), hi)))
	default:
		if o.Type != nn.TensorFloat16 {
			x, o = c.As(x, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32}
		}
		scalar = c.ScalarLike(x, value)
	}
	y := c.Pad(o, x, pads, scalar)
	if was := c.Operand(x); was.Type != o.Type {
		y = c.To(y, *was)
	}
	c.giveMoved(0, y, form)
}

// cropped takes off what negative paddings say, and makes those zero.
func (c *conversion) cropped(x uint32, pads [][2]int64) uint32 {
	dims := c.Dims(x)
	begin, size := make([]int64, len(dims)), lowering.Signed(dims)
	for i := range pads {
		for k, p := range pads[i] {
			if p < 0 {
				size[i] += p
				if k == 0 {
					begin[i] = -p
				}
				pads[i][k] = 0
			}
		}
		if size[i] <= 0 {
			c.Failf("paddings leave nothing of shape %v", dims)
		}
	}
	return c.Slice(x, begin, size)
}

// padIndexed takes elements again: along each axis those that at says.
func (c *conversion) padIndexed(shape []uint32, pads [][2]int64, at func(i, n int64) int64) {
	x, form := c.moved(true)
	for a, p := range pads {
		if p == [2]int64{} {
			continue
		}
		n := int64(shape[a])
		total := n + p[0] + p[1]
		if total < 1 || total > 1<<24 {
			c.Failf("paddings %v of %d elements", p, n)
		}
		list := make([]int64, total)
		for i := range list {
			list[i] = at(int64(i)-p[0], n)
		}
		x = c.GatherAxis(x, a, c.Int32Tensor(list...))
	}
	c.giveMoved(0, x, form)
}
