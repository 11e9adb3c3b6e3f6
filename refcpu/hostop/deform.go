package hostop

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// deformOperators sample under windows whose elements an execution moves.
var deformOperators = []operator{
	// images [n, channels, height, width], by how much each element of each window is moved down and to the right [n, groups *
	// elements * 2, rows, columns], factors of the samples [n, groups * elements, rows, columns], which may be omitted. Attributes, of the
	// height, then of the width: elements of a window, their distance, the step of windows, the padding in front; then the number of groups
	// of channels. Result: the samples [n, channels * elements, rows * columns].
	{op: nn.OpHostDeformedColumns, attributes: 9, steps: 24, run: deformedColumns},
}

func deformedColumns(c *call) []tensor {
	x, moves := c.tensor(0), c.tensor(1)
	a := c.attributes
	high, wide := span{length: a[0], dilation: a[2], step: a[4], before: a[6]}, span{length: a[1], dilation: a[3], step: a[5], before: a[7]}
	groups := a[8]
	if len(x.dims) != 4 || len(moves.dims) != 4 || len(x.data) == 0 || slices.Min(a[:6]) < 1 || min(a[6], a[7]) < 0 || slices.Max(a) > maxWindow || groups < 1 || int(x.dims[1])%groups != 0 {
		fail("images of shape %v, moves of shape %v, %d groups of windows of %v elements", x.dims, moves.dims, groups, a[:2])
	}
	images, channels, rows, columns := int(x.dims[0]), int(x.dims[1]), int(moves.dims[2]), int(moves.dims[3])
	each, places := high.length*wide.length, rows*columns
	if each > maxWindow || int(moves.dims[0]) != images || int(moves.dims[1]) != groups*each*2 {
		fail("moves of shape %v, %d groups of %d elements of %d images", moves.dims, groups, each, images)
	}
	factor := func(int) float64 { return 1 }
	if c.has(2) {
		factors := c.tensor(2)
		if want := []uint32{moves.dims[0], moves.dims[1] / 2, moves.dims[2], moves.dims[3]}; !slices.Equal(factors.dims, want) {
			fail("factors of shape %v, want %v", factors.dims, want)
		}
		factor = factors.number
	}
	y := c.make(x, []uint32{x.dims[0], uint32(channels * each), uint32(places)})
	c.chargeTimes(y.n(), 24)
	for i := range y.n() {
		place, element, channel := i%places, i/places%each, i/places/each%channels
		image := i / places / each / channels
		group := (image*groups+channel/(channels/groups))*each + element // of a window, over all images
		row := float64(place/columns*high.step-high.before+element/wide.length*high.dilation) + moves.number(2*group*places+place)
		column := float64(place%columns*wide.step-wide.before+element%wide.length*wide.dilation) + moves.number((2*group+1)*places+place)
		y.putNumber(i, factor(group*places+place)*sampled(x, image*channels+channel, row, column))
	}
	return []tensor{y}
}

// sampled is a plane between its elements, which has zeros around it.
func sampled(x *tensor, plane int, row, column float64) (sum float64) {
	height, width := int(x.dims[2]), int(x.dims[3])
	if !(row > -1 && row < float64(height) && column > -1 && column < float64(width)) {
		return 0
	}
	top, left := math.Floor(row), math.Floor(column)
	for i := range 2 {
		for j := range 2 {
			r, k := int(top)+i, int(left)+j
			if r < 0 || r >= height || k < 0 || k >= width {
				continue
			}
			share := (1 - math.Abs(row-float64(r))) * (1 - math.Abs(column-float64(k)))
			sum += float64(share * x.number((plane*height+r)*width+k))
		}
	}
	return sum
}
