package hostop

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// poolOperators pool elements with their places, or by regions that an execution brings.
var poolOperators = []operator{
	// planes [n, d1, d2, d3]. Attribute 0: places count d1 first instead of d3; then, for each of the three dimensions, the
	// length of the window, its step, the distance of its elements, the paddings in front, negative for elements left out,
	// and the number of windows. Results: the first of the greatest elements of each window, paddings left out, and its
	// place in the whole tensor.
	{op: nn.OpHostMaxPool, attributes: 16, unpriced: true, run: maxPool},
	// tensor, places, shape: zeros in that shape with each element at its place, the last one where there are several.
	{op: nn.OpHostMaxUnpool, steps: 1, run: maxUnpool},
	// images [n, channels, height, width], regions [r, 4] with x, y, x, y, the image of each [r], a scale of the regions.
	// Attributes: height and width of the results, samples of each element along both, 0 for as many as it covers pixels, whether pixels have
	// their centres at halves, whether elements are the greatest share of a sample instead of the average.
	{op: nn.OpHostRoiAlign, attributes: 5, unpriced: true, run: roiAlign},
}

// span is a window along one dimension.
type span struct{ length, step, dilation, before, count int }

// under are the first place in a dimension of n elements that is under window i, and how many are.
func (s *span) under(i, n int) (first, count int) {
	first = i*s.step - s.before
	skipped := 0
	if first < 0 {
		skipped = (-first + s.dilation - 1) / s.dilation
	}
	first += skipped * s.dilation
	if first >= n || skipped >= s.length {
		return 0, 0
	}
	return first, min(s.length-skipped, (n-1-first)/s.dilation+1)
}

// maxWindow bounds the numbers of a window.
const maxWindow = 1 << 24

func maxPool(c *call) []tensor {
	x := c.tensor(0)
	if len(x.dims) != 4 {
		fail("planes of shape %v, want [n, d1, d2, d3]", x.dims)
	}
	var windows [3]span
	to, work := []uint32{x.dims[0]}, int64(1)
	for i := range windows {
		a := c.attributes[1+5*i:]
		s := span{a[0], a[1], a[2], a[3], a[4]}
		if min(s.length, s.step, s.dilation, s.count) < 1 || s.before < -maxWindow || slices.Max(a[:5]) > maxWindow {
			fail("windows of %d elements %d apart, in steps of %d, %d paddings and %d windows", s.length, s.dilation, s.step, s.before, s.count)
		}
		windows[i], to = s, append(to, uint32(s.count))
		work *= int64(min(s.length, int(x.dims[1+i])))
	}
	y := c.make(x, to)
	places := c.make(&tensor{kind: nn.TensorInt32}, to)
	if len(x.data) == 0 || len(y.data) == 0 {
		fail("windows on planes of shape %v", x.dims)
	}
	c.chargeTimes(y.n(), float64(work))
	d := x.dims
	each(to, func(k int, at []int) {
		best := -1
		greatest := 0.0
		var first, count [3]int
		for i := range windows {
			first[i], count[i] = windows[i].under(at[1+i], int(d[1+i]))
		}
		for a := range count[0] {
			for b := range count[1] {
				row := ((at[0]*int(d[1])+first[0]+a*windows[0].dilation)*int(d[2]) + first[1] + b*windows[1].dilation) * int(d[3])
				for e := range count[2] {
					p := row + first[2] + e*windows[2].dilation
					if v := x.number(p); best < 0 || v > greatest {
						best, greatest = p, v
					}
				}
			}
		}
		if best < 0 {
			fail("a window of paddings alone")
		}
		copy(y.bytes(k, k+1), x.bytes(best, best+1))
		if c.attributes[0] == 1 {
			best = turned(best, d)
		}
		places.put(k, int64(best))
	})
	return []tensor{y, places}
}

// turned is a place in planes, counted with the first of their dimensions innermost.
func turned(place int, dims []uint32) int {
	d1, d2, d3 := int(dims[1]), int(dims[2]), int(dims[3])
	i3, place := place%d3, place/d3
	i2, place := place%d2, place/d2
	i1, plane := place%d1, place/d1
	return ((plane*d3+i3)*d2+i2)*d1 + i1
}

func maxUnpool(c *call) []tensor {
	x, places := c.tensor(0), c.tensor(1)
	if !slices.Equal(x.dims, places.dims) {
		fail("elements of shape %v and places of shape %v", x.dims, places.dims)
	}
	y := c.make(x, shape(c.list(2)))
	c.chargeTimes(x.n(), 1)
	for i := range x.n() {
		p := places.integer(i)
		if p < 0 || p >= int64(y.n()) {
			fail("place %d of %d", p, y.n())
		}
		copy(y.bytes(int(p), int(p)+1), x.bytes(i, i+1))
	}
	return []tensor{y}
}

func roiAlign(c *call) []tensor {
	x, regions, images := c.tensor(0), c.tensor(1), c.tensor(2)
	if len(x.dims) != 4 || len(x.data) == 0 || len(regions.dims) != 2 || regions.dims[1] != 4 || len(images.dims) != 1 || images.dims[0] != regions.dims[0] {
		fail("images of shape %v, regions of shape %v and their images of shape %v", x.dims, regions.dims, images.dims)
	}
	size, samples := [2]int{c.attributes[0], c.attributes[1]}, c.attributes[2]
	if min(size[0], size[1]) < 1 || max(size[0], size[1]) > maxWindow || samples < 0 {
		fail("regions of %d by %d elements of %d samples", size[0], size[1], samples)
	}
	channels, height, width := int(x.dims[1]), int(x.dims[2]), int(x.dims[3])
	y := c.make(x, []uint32{regions.dims[0], x.dims[1], uint32(size[0]), uint32(size[1])})
	pixels := size[0] * size[1]
	for r := range int(regions.dims[0]) {
		image := images.integer(r)
		if image < 0 || image >= int64(x.dims[0]) {
			fail("region %d is of image %d of %d", r, image, x.dims[0])
		}
		a := c.region(regions, r, samples, size)
		c.chargeTimes(pixels*channels, 1+8*a[0].samples*a[1].samples)
		for k := range pixels {
			at := [2]int{k / size[1], k % size[1]}
			for channel := range channels {
				plane := (int(image)*channels + channel) * height * width
				read := func(row, column int) float64 { return x.number(plane + row*width + column) }
				v := pooled(a, at, height, width, c.attributes[4] == 1, read)
				y.putNumber((r*channels+channel)*pixels+k, v)
			}
		}
	}
	return []tensor{y}
}

// extent is a region along one axis: where it begins, how long each of its elements is and how many samples that has.
type extent struct{ start, each, samples float64 }

// region reads region r: its extents along the height and along the width.
func (c *call) region(regions *tensor, r, samples int, size [2]int) (a [2]extent) {
	scale, offset := c.real(3, 1), 0.0
	if c.attributes[3] == 1 {
		offset = 0.5
	}
	for i := range a {
		start := float64(regions.number(4*r+1-i)*scale) - offset
		length := float64(regions.number(4*r+3-i)*scale) - offset - start
		if c.attributes[3] != 1 {
			length = max(length, 1)
		}
		if !(math.Abs(start) < math.MaxFloat32 && math.Abs(length) < math.MaxFloat32) {
			fail("region %d is from %v, %v long", r, start, length)
		}
		a[i] = extent{start, length / float64(size[i]), float64(samples)}
		if samples == 0 {
			a[i].samples = max(math.Ceil(a[i].each), 0)
		}
	}
	return a
}

// pooled is element at of a region: the average of its samples, or the greatest share that a pixel has in one.
func pooled(a [2]extent, at [2]int, height, width int, greatest bool, read func(row, column int) float64) float64 {
	sum, most, n := 0.0, math.Inf(-1), a[0].samples*a[1].samples
	for i := 0.0; i < a[0].samples; i++ {
		for j := 0.0; j < a[1].samples; j++ {
			y := a[0].start + float64((float64(at[0])+(i+0.5)/a[0].samples)*a[0].each)
			x := a[1].start + float64((float64(at[1])+(j+0.5)/a[1].samples)*a[1].each)
			if y < -1 || y > float64(height) || x < -1 || x > float64(width) {
				most = max(most, 0)
				continue
			}
			row, below, down := between(y, height)
			column, right, across := between(x, width)
			for _, share := range [4]float64{
				(1 - down) * (1 - across) * read(row, column), (1 - down) * across * read(row, right),
				down * (1 - across) * read(below, column), down * across * read(below, right),
			} {
				sum, most = sum+float64(share), max(most, share)
			}
		}
	}
	switch {
	case n == 0:
		return 0
	case greatest:
		return most
	}
	return sum / n
}

// between are the neighbours of a coordinate among n, and how far it is from the first to the second.
func between(v float64, n int) (low, high int, share float64) {
	v = min(max(v, 0), float64(n-1))
	low = int(v)
	return low, min(low+1, n-1), v - float64(low)
}
