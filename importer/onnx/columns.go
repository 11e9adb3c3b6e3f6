package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// col2Im adds blocks [N, C * elements of a block, blocks] up to images [N, C, ...]: elements that come to lie on each other
// are summed, those on paddings dropped. The places are constants, to which the host adds.
func col2Im(c *conversion) {
	x := c.reals(0)
	shape, image, block := c.Dims(x), c.list(1), c.list(2)
	n := len(image)
	lists := map[string][]int64{"dilations": c.ints("dilations"), "strides": c.ints("strides"), "pads": c.ints("pads")}
	for name, list := range lists {
		length := map[string]int{"pads": 2 * n}[name] + map[string]int{"dilations": n, "strides": n}[name]
		if list == nil {
			list = slices.Repeat([]int64{map[string]int64{"dilations": 1, "strides": 1}[name]}, length)
		}
		if lists[name] = list; len(list) != length {
			c.Failf("%s is %v for images of shape %v", name, list, image)
		}
	}
	dilations, strides, pads := lists["dilations"], lists["strides"], lists["pads"]
	if n < 1 || len(block) != n || len(shape) != 3 {
		c.Failf("blocks %v of shape %v for images of shape %v", shape, block, image)
	}
	counts, blocks, elements := make([]int64, n), int64(1), int64(1)
	for i := range n {
		if list := []int64{image[i], block[i], dilations[i], strides[i]}; slices.Min(list) < 1 || slices.Max(list) > 1<<20 || min(pads[i], pads[n+i]) < 0 || max(pads[i], pads[n+i]) > 1<<20 {
			c.Failf("blocks of shape %v, images of shape %v, strides %v, dilations %v, pads %v", block, image, strides, dilations, pads)
		}
		room := image[i] + pads[i] + pads[n+i] - dilations[i]*(block[i]-1) - 1
		counts[i] = room/strides[i] + 1
		if room < 0 || blocks > maxTable/counts[i] || elements > maxTable/block[i] {
			c.Failf("blocks of shape %v for images of shape %v with pads %v", block, image, pads)
		}
		blocks, elements = blocks*counts[i], elements*block[i]
	}
	size := nn.Elements(c.Unsigned(image))
	if int64(shape[1])%elements != 0 || int64(shape[2]) != blocks || size < 0 {
		c.Failf("input of shape %v, its second dimension a multiple of %d and its third %d needed", shape, elements, blocks)
	}
	channels := int64(shape[1]) / elements
	if channels > maxTable/(elements*blocks) || channels > maxTable/size {
		c.Refusef("%d channels of %d blocks of %d elements, %d elements in all are supported", channels, blocks, elements, maxTable)
	}
	places := make([]int64, 0, channels*elements*blocks)
	for channel := range channels {
		for e := range elements {
			for b := range blocks {
				at, step, inside := int64(0), int64(1), true
				for i, e, b := n-1, e, b; i >= 0; i-- {
					p := b%counts[i]*strides[i] + e%block[i]*dilations[i] - pads[i]
					inside = inside && p >= 0 && p < image[i]
					at, step = at+p*step, step*image[i]
					e, b = e/block[i], b/counts[i]
				}
				if at += channel * size; !inside {
					at = channels * size // behind all images
				}
				places = append(places, at)
			}
		}
	}
	rows, count := channels*size, shape[0]
	parts := c.transposed(c.reshaped(x, []uint32{count, uint32(len(places))}), []int{1, 0})
	result := nn.Operand{Type: c.Operand(x).Type, Dimensions: []uint32{uint32(rows + 1), count}}
	y := c.Host(nn.OpHostScatterNd, []nn.Operand{result}, nil, c.Int32Shaped([]uint32{uint32(len(places)), 1}, places), parts, c.Int32Tensor(rows+1, int64(count)))[0]
	y = c.transposed(c.Slice(y, []int64{0, 0}, []int64{rows, int64(count)}), []int{1, 0})
	c.define(0, c.reshaped(y, append([]uint32{count, uint32(channels)}, c.Unsigned(image)...)))
}
