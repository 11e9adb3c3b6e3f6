package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// gridOperators sample images at places that a tensor states.
var gridOperators = []operator{
	{name: "GridSample", inputs: [2]int{2, 2}, convert: gridSample},
	{name: "AffineGrid", inputs: [2]int{2, 2}, convert: affineGrid},
}

// gridAxis is height or width of an image that is sampled.
type gridAxis struct {
	size    uint32
	corners bool   // -1 and 1 are the centers of the first and last element, not their outer edges
	padding string // what is beyond the image: zeros, border, reflection
}

// tap is an element that contributes to each result, by its place along an axis and its weight, none for 1; both [N, P].
type tap struct{ at, weight uint32 }

// gridSample reads an image at the places [N, H, W, 2], each x then y from -1 to 1, or a volume at [N, D, H, W, 3], between
// which elements are interpolated: the weighted sum of a GATHER for each combination of taps.
func gridSample(c *conversion) {
	v := c.v(0)
	rank := len(c.shape(v))
	var given uint32 // channels last
	switch rank {
	case 4:
		given = c.form(v, real, true)
	case 5:
		given = c.transposed(c.form(v, real, false), []int{0, 2, 3, 4, 1})
	default:
		c.Refusef("it samples a tensor of rank %d, this composition images and volumes of ranks 4 and 5", rank)
	}
	given = c.asReals(c.number(given))
	x, grid := c.As(given, nn.TensorFloat32), c.As(c.reals(1), nn.TensorFloat32)
	d, g := c.Dims(x), c.Dims(grid)
	axes := rank - 2
	if len(g) != rank || int(g[rank-1]) != axes || g[0] != d[0] {
		c.Failf("places of shape %v for a tensor of shape %v", g, c.shape(v))
	}
	padding := c.text("padding_mode", "zeros")
	if padding != "zeros" && padding != "border" && padding != "reflection" {
		c.Failf("padding_mode is %q", padding)
	}
	n, places := d[0], uint32(nn.Elements(g[1:rank-1]))
	flat := c.Reshape(grid, []uint32{n, places, uint32(axes)})
	combined := []tap{{none, none}}
	for k := range axes { // from the first dimension on, whose places are last
		axis := gridAxis{size: d[1+k], corners: c.flag("align_corners", 0), padding: padding}
		part := c.Reshape(c.Slice(flat, []int64{0, 0, int64(axes - 1 - k)}, []int64{int64(n), int64(places), 1}), []uint32{n, places})
		combined = c.combined(combined, c.tapsAlong(&axis, part), d[1+k])
	}
	pixels := c.Reshape(x, []uint32{n, uint32(nn.Elements(d[1 : rank-1])), d[rank-1]})
	y := none
	for _, t := range combined {
		part := c.Reshape(c.GatherBatches(pixels, t.at, 1, 1), []uint32{n * places, d[rank-1]})
		if t.weight != none {
			part = c.Binary(nn.OpMul, part, c.Reshape(t.weight, []uint32{n * places, 1}))
		}
		if y == none {
			y = part
		} else {
			y = c.Binary(nn.OpAdd, y, part)
		}
	}
	y = c.As(c.Reshape(y, slices.Concat(g[:rank-1], d[rank-1:])), c.Operand(given).Type)
	if rank == 4 {
		c.defineAs(0, realImage, y, 4)
		return
	}
	c.define(0, c.transposed(y, []int{0, 4, 1, 2, 3}))
}

// combined are taps in a tensor with one more dimension, of a size: each of the first with each of the next.
func (c *conversion) combined(first, next []tap, size uint32) (list []tap) {
	for _, a := range first {
		for _, b := range next {
			t := b
			if a.at != none {
				t.at = c.Binary(nn.OpAdd, c.Binary(nn.OpMul, a.at, c.Int32Tensor(int64(size))), b.at)
			}
			switch {
			case b.weight == none:
				t.weight = a.weight
			case a.weight != none:
				t.weight = c.Binary(nn.OpMul, a.weight, b.weight)
			}
			list = append(list, t)
		}
	}
	return list
}

// tapsAlong are the elements between which places from -1 to 1 lie.
func (c *conversion) tapsAlong(a *gridAxis, place uint32) []tap {
	size := float32(a.size)
	plus := c.Binary(nn.OpAdd, place, c.Real(1))
	var at uint32
	if a.corners {
		at = c.Binary(nn.OpMul, plus, c.Real((size-1)/2))
	} else {
		at = c.Binary(nn.OpMul, c.Binary(nn.OpSub, c.Binary(nn.OpMul, plus, c.Real(size)), c.Real(1)), c.Real(0.5))
	}
	mode := c.text("mode", map[bool]string{true: "linear", false: "bilinear"}[c.opset >= 20])
	if mode == "nearest" {
		at = c.RoundEven(at)
	}
	switch {
	case a.padding == "border" && mode != "cubic" && mode != "bicubic": // whose taps beyond the image are elements of its border
		at = c.Clamp(at, 0, size-1)
	case a.padding == "reflection":
		at = c.reflected(a, at)
	}
	low := c.Unary(nn.OpFloor, at)
	rest := c.Binary(nn.OpSub, at, low)
	switch mode {
	case "nearest":
		return []tap{c.tap(a, low, none)}
	case "linear", "bilinear":
		return []tap{c.tap(a, low, c.Binary(nn.OpSub, c.Real(1), rest)), c.tap(a, c.Binary(nn.OpAdd, low, c.Real(1)), rest)}
	case "cubic", "bicubic":
		var list []tap
		for k := range 4 { // Keys' kernel with a = -0.75 at distances rest + 1, rest, 1 - rest, 2 - rest
			const a0 = -0.75
			distance := c.Binary(nn.OpAdd, rest, c.Real(float32(1-k)))
			coefficients := []float32{1, 0, -(a0 + 3), a0 + 2}
			if k >= 2 {
				distance = c.Binary(nn.OpSub, c.Real(float32(k-1)), rest)
			}
			if k == 0 || k == 3 {
				coefficients = []float32{-4 * a0, 8 * a0, -5 * a0, a0}
			}
			list = append(list, c.tap(a, c.Binary(nn.OpAdd, low, c.Real(float32(k-1))), c.polynomial(distance, coefficients...)))
		}
		return list
	}
	c.Refusef("the mode %q", mode)
	return nil
}

// reflected mirrors places at both ends of an axis until they are inside: a triangular wave.
//
//	d = |x - first| mod 2 length,  first + length - |d - length|
func (c *conversion) reflected(a *gridAxis, x uint32) uint32 {
	first, length := float32(-0.5), float32(a.size)
	if a.corners {
		first, length = 0, float32(a.size)-1
	}
	if length == 0 {
		return c.Binary(nn.OpMul, x, c.Real(0))
	}
	d := c.Unary(nn.OpAbs, c.Binary(nn.OpSub, x, c.Real(first)))
	period := c.Real(2 * length)
	d = c.Binary(nn.OpSub, d, c.Binary(nn.OpMul, c.Unary(nn.OpFloor, c.Binary(nn.OpDiv, d, period)), period))
	return c.Binary(nn.OpSub, c.Real(first+length), c.Unary(nn.OpAbs, c.Binary(nn.OpSub, d, c.Real(length))))
}

// tap is an element at a whole place, which may be beyond the image.
func (c *conversion) tap(a *gridAxis, at, weight uint32) tap {
	last := float32(a.size) - 1
	switch a.padding {
	case "zeros":
		inside := c.As(c.Compare(nn.OpEqual, at, c.Clamp(at, 0, last)), nn.TensorFloat32)
		if weight == none {
			weight = inside
		} else {
			weight = c.Binary(nn.OpMul, weight, inside)
		}
	case "reflection":
		at = c.reflected(a, at)
	}
	return tap{c.As(c.Clamp(at, 0, last), nn.TensorInt32), weight}
}

// affineGrid are the places of a grid of a size, turned by matrices [N, 2, 3] or [N, 3, 4].
func affineGrid(c *conversion) {
	theta, size := c.As(c.reals(0), nn.TensorFloat32), c.Unsigned(c.list(1))
	n := len(size) - 2
	if n != 2 && n != 3 || !slices.Equal(c.Dims(theta), []uint32{size[0], uint32(n), uint32(n) + 1}) {
		c.Failf("matrices of shape %v for the size %v", c.Dims(theta), size)
	}
	count := nn.Elements(size[2:])
	if count < 1 || count > 1<<22 {
		c.Failf("size %v", size)
	}
	list := make([]float32, 0, count*int64(n+1))
	for i := range count {
		left, row := i, make([]float32, 0, n+1)
		for d := n + 1; d >= 2; d-- { // x, y, z
			length := float32(size[d])
			at := float32(left % int64(size[d]))
			left /= int64(size[d])
			switch {
			case !c.flag("align_corners", 0):
				row = append(row, (2*at+1)/length-1)
			case length == 1:
				row = append(row, 0)
			default:
				row = append(row, 2*at/(length-1)-1)
			}
		}
		list = append(append(list, row...), 1)
	}
	base := c.FloatTensor([]uint32{1, uint32(count), uint32(n) + 1}, list)
	y := c.BatchMatmul(nn.Operand{Type: nn.TensorFloat32}, base, theta, false, true)
	c.define(0, c.As(c.Reshape(y, slices.Concat(size[:1], size[2:], []uint32{uint32(n)})), c.Operand(c.reals(0)).Type))
}
