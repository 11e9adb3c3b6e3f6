package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// signalOperators are the operators of signal processing: windows and filter banks, which are constants, and Fourier
// transforms, which are products with a constant matrix.
var signalOperators = []operator{
	{name: "HannWindow", inputs: [2]int{1, 1}, convert: cosineWindow(0.5, 0.5, 0)},
	{name: "HammingWindow", inputs: [2]int{1, 1}, convert: cosineWindow(25.0/46, 21.0/46, 0)},
	{name: "BlackmanWindow", inputs: [2]int{1, 1}, convert: cosineWindow(0.42, 0.5, 0.08)},
	{name: "MelWeightMatrix", inputs: [2]int{5, 5}, convert: melWeightMatrix},
	{name: "DFT", inputs: [2]int{1, 3}, convert: fourier},
	{name: "STFT", inputs: [2]int{2, 4}, convert: shortFourier},
}

// Limits of the constants that these operators make: elements of a matrix, 128 MiB of float32, and of a window or a
// transform.
const (
	maxTable  = 1 << 25
	maxSignal = 1 << 20
)

// cosineWindow is a window of n elements, with N = n for a periodic one and n - 1 for a symmetric one:
//
//	w[i] = a - b cos(2 pi i / N) + c cos(4 pi i / N)
func cosineWindow(a, b, c float64) func(*conversion) {
	return func(to *conversion) {
		n := to.one(0)
		if n < 1 || n > maxSignal {
			to.Refusef("a window of %d elements, 1 to %d are supported", n, maxSignal)
		}
		period := float64(n)
		if !to.flag("periodic", 1) {
			period = float64(max(n-1, 1))
		}
		list := make([]float32, n)
		for i := range list {
			turn := 2 * math.Pi * float64(i) / period
			list[i] = float32(a - b*math.Cos(turn) + c*math.Cos(2*turn))
		}
		to.defineReals([]uint32{uint32(n)}, list)
	}
}

// defineReals makes a constant the value of output 0, in the type of attribute output_datatype.
func (c *conversion) defineReals(dims []uint32, list []float32) {
	to := &onnxfile.Attribute{Name: "to", Type: onnxfile.AttributeInt, Int: c.int("output_datatype", int64(onnxfile.Float))}
	c.bind(0, c.standard("Cast", map[string]*onnxfile.Attribute{"to": to}, c.valueOf(c.FloatTensor(dims, list))))
}

// melWeightMatrix is a bank of triangular filters, [bins of a spectrum, filters]. The corners of the filters lie at equal
// distances on the mel scale, 2595 lg(1 + f / 700), and are rounded down to bins of the spectrum. Filter k rises from corner
// k to 1 at corner k + 1 and falls to 0 at corner k + 2.
func melWeightMatrix(c *conversion) {
	filters, length, rate := c.one(0), c.one(1), c.one(2)
	lower, upper := float64(c.scalar(3, 0)), float64(c.scalar(4, 0))
	bins := length/2 + 1
	if filters < 1 || length < 1 || filters > maxSignal || length > maxSignal || filters*bins > maxTable {
		c.Refusef("%d filters over a transform of length %d: a matrix of 1 to %d elements and a length of at most %d are supported", filters, length, maxTable, maxSignal)
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	corner := make([]int64, filters+2)
	for i := range corner {
		m := mel(lower) + float64(i)*(mel(upper)-mel(lower))/float64(len(corner))
		bin := math.Floor(float64(length+1) * 700 * (math.Pow(10, m/2595) - 1) / float64(rate))
		if !(bin >= 0 && bin < float64(bins)) || i > 0 && int64(bin) < corner[i-1] {
			c.Failf("%d filters from %v to %v Hz over the %d bins of a rate of %d Hz", filters, lower, upper, bins, rate)
		}
		corner[i] = int64(bin)
	}
	list := make([]float32, bins*filters)
	for k := range filters {
		low, centre, high := corner[k], corner[k+1], corner[k+2]
		for bin := low; bin < centre; bin++ {
			list[bin*filters+k] = float32(float64(bin-low) / float64(centre-low))
		}
		list[centre*filters+k] = 1
		for bin := centre; bin < high; bin++ {
			list[bin*filters+k] = float32(float64(high-bin) / float64(high-centre))
		}
	}
	c.defineReals([]uint32{uint32(bins), uint32(filters)}, list)
}

// transform is a discrete Fourier transform of some length, from the first elements of a signal, or of a spectrum, to
// bins. Numbers are real, of 1 part, or complex, of 2.
type transform struct {
	length, elements, bins int64
	in, out                int64 // parts
	inverse                bool
}

// transformOf is a transform that a node describes: one of a real signal may leave out the second half of the bins, which
// mirrors the first, and an inverse transform of such a half has a real result.
func (c *conversion) transformOf(length, elements int64, parts uint32, onesided, inverse bool) transform {
	t := transform{length: length, elements: min(elements, length), bins: length, in: int64(parts), out: 2, inverse: inverse}
	switch {
	case parts != 1 && parts != 2:
		c.Failf("numbers of %d parts, a real one has 1 and a complex one 2", parts)
	case onesided && inverse && parts == 2:
		t.out, t.elements = 1, min(elements, length/2+1)
	case onesided && (inverse || parts == 2):
		c.Failf("attribute onesided is 1 for %s", map[bool]string{false: "a complex signal", true: "the inverse of a real spectrum"}[inverse])
	case onesided:
		t.bins = length/2 + 1
	}
	if elements < 1 || length < 1 || length > maxSignal || t.bins*t.out > maxTable/(t.elements*t.in) {
		c.Refusef("a Fourier transform of length %d is a product with a matrix, here of at most %d elements and a length of %d", length, maxTable, maxSignal)
	}
	return t
}

// matrix is the transform as a constant [bins * out, elements * in]: rows are parts of bins, columns parts of elements.
//
//	X[k] = sum of x[i] e^(-2 pi j k i / length),  inverse: e^(+...) / length
func (t transform) matrix() []float32 {
	columns := t.elements * t.in
	list := make([]float32, t.bins*t.out*columns)
	scale, sign := 1.0, -1.0
	if t.inverse {
		scale, sign = 1/float64(t.length), 1
	}
	for k := range t.bins {
		for i := range t.elements {
			factor := scale
			if t.out == 1 && i > 0 && 2*i != t.length { // and its mirror's, which is left out
				factor *= 2
			}
			sin, cos := math.Sincos(2 * math.Pi * float64(k*i%t.length) / float64(t.length))
			rotation := [2][2]float32{
				{float32(factor * cos), float32(-sign * factor * sin)},
				{float32(sign * factor * sin), float32(factor * cos)},
			}
			for o := range t.out {
				copy(list[(k*t.out+o)*columns+i*t.in:], rotation[o][:t.in])
			}
		}
	}
	return list
}

// fourier transforms along an axis, which becomes the last but one: the product of rows and the matrix.
func fourier(c *conversion) {
	x := c.reals(0)
	of := c.Operand(x).Type
	shape := c.Dims(x)
	rank := len(shape)
	if rank < 2 {
		c.Failf("input 0 has shape %v, a signal and the parts of its numbers needed", shape)
	}
	at := c.int("axis", 1)
	if c.opset >= 20 {
		if at = -2; c.has(2) {
			at = c.one(2)
		}
	}
	axis := c.Axis(at, rank)
	if axis == rank-1 {
		c.Failf("axis %d has the parts of numbers", at)
	}
	onesided, inverse := c.flag("onesided", 0), c.flag("inverse", 0)
	elements := int64(shape[axis])
	length := elements
	if onesided && inverse {
		length = max(2*(elements-1), 1)
	}
	if c.has(1) {
		length = c.one(1)
	}
	t := c.transformOf(length, elements, shape[rank-1], onesided, inverse)

	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	last := slices.Insert(slices.Delete(slices.Clone(perm), axis, axis+1), rank-2, axis)
	for i, p := range last {
		perm[p] = i
	}
	x = c.transposed(c.As(x, nn.TensorFloat32), last)
	if t.elements < elements {
		sizes := c.Dims(x)
		x = c.Slice(x, make([]int64, rank), append(lowering.Signed(sizes[:rank-2]), t.elements, t.in))
	}
	outer := slices.Clone(c.Dims(x)[:rank-2])
	columns, rows := uint32(t.elements*t.in), uint32(t.bins*t.out)
	y := c.Emit(nn.OpFullyConnected, nn.Operand{Type: nn.TensorFloat32}, c.reshaped(x, []uint32{uint32(nn.Elements(outer)), columns}),
		c.FloatTensor([]uint32{rows, columns}, t.matrix()), c.FloatTensor([]uint32{rows}, make([]float32, rows)), c.Int32Scalar(0))
	y = c.transposed(c.reshaped(y, append(outer, uint32(t.bins), uint32(t.out))), perm)
	c.define(0, c.As(y, of))
}

// shortFourier transforms frames of a signal: a convolution with the matrix, times the window, in steps of the frames.
func shortFourier(c *conversion) {
	x := c.reals(0)
	of := c.Operand(x).Type
	shape := slices.Clone(c.Dims(x))
	if len(shape) == 2 {
		shape = append(shape, 1)
	}
	if len(shape) != 3 {
		c.Failf("input 0 has shape %v, batches, a signal and the parts of its numbers needed", shape)
	}
	step, length, windowed := c.one(1), int64(0), none
	if c.has(2) {
		windowed = c.As(c.reals(2), nn.TensorFloat32)
		length = nn.Elements(c.Dims(windowed))
	}
	if c.has(3) {
		frame := c.one(3)
		if windowed != none && frame != length {
			c.Failf("frames of %d elements and a window of %d", frame, length)
		}
		length = frame
	}
	if step < 1 || step > math.MaxInt32 || length < 1 || length > int64(shape[1]) {
		c.Failf("frames of %d elements in steps of %d, of a signal of %d", length, step, shape[1])
	}
	t := c.transformOf(length, length, shape[2], c.flag("onesided", 1), false)
	rows := uint32(t.bins * t.out)
	filter := c.FloatTensor([]uint32{rows, 1, uint32(length), shape[2]}, t.matrix())
	if windowed != none {
		filter = c.Binary(nn.OpMul, filter, c.reshaped(windowed, []uint32{1, 1, uint32(length), 1}))
	}
	in := []uint32{c.reshaped(c.As(x, nn.TensorFloat32), []uint32{shape[0], 1, shape[1], shape[2]}), filter, c.FloatTensor([]uint32{rows}, make([]float32, rows))}
	in = append(in, c.explicit(window{stride: [2]int64{1, step}})...)
	y := c.Emit(nn.OpConv2D, nn.Operand{Type: nn.TensorFloat32}, append(in, c.Int32Scalar(0))...)
	frames := c.Dims(y)[2]
	c.define(0, c.As(c.reshaped(y, []uint32{shape[0], frames, uint32(t.bins), uint32(t.out)}), of))
}
