package lowering

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// adaptQuantization emits an operation whose quantized output NNAPI ties to an input's quantization, or to a fixed one,
// for a file that has another. The result is rounded once:
//
//   - an operation whose output elements are input elements runs first, what it selected is rescaled;
//   - a clamp runs behind the rescaling, so that its bounds are rounded to the steps of the output alone;
//   - averages of whole windows, and of the last dimensions, are convolutions, whose output has a scale of its own;
//   - all other operations compute new values, in float32.
//
// MEAN is such a convolution also where its input and output have one quantization, since NNAPI's own truncates; it stays
// with means that are none.
//
// ok is false when the quantization is already NNAPI's.
func (g *Graph) adaptQuantization(op nn.OperationType, row *opspec.Row, outs []nn.Operand, in []uint32) (results []uint32, ok bool) {
	tied := g.tiedQuantization(row, outs, in)
	if slices.EqualFunc(tied, outs, sameQuantization) {
		if op == nn.OpMean {
			if y, ok := g.averageByConvolution(op, outs[0], in); ok {
				return []uint32{y}, true
			}
		}
		return nil, false
	}
	switch {
	case clamps(op, g, in):
		return g.EmitAll(op, outs, append([]uint32{g.Rescaled(in[0], outs[0])}, in[1:]...)...), true
	case row.SameQuant && !averages(op) || !slices.Contains(row.KeyTypes(), nn.TensorFloat32):
		results = g.EmitAll(op, tied, in...)
	default:
		if y, ok := g.averageByConvolution(op, outs[0], in); ok {
			return []uint32{y}, true
		}
		reals, inputs := slices.Clone(outs), slices.Clone(in)
		for k := range reals {
			if reals[k].Type.IsQuant8() {
				reals[k] = nn.Operand{Type: nn.TensorFloat32, Name: outs[k].Name, Dimensions: outs[k].Dimensions}
			}
		}
		for i, data := range row.KeySlots(len(in)) {
			if data && g.Operand(in[i]).Type.IsQuant8() {
				inputs[i] = g.As(in[i], nn.TensorFloat32)
			}
		}
		results = g.EmitAll(op, reals, inputs...)
	}
	for k, x := range results {
		results[k] = g.Rescaled(x, outs[k])
	}
	return results, true
}

// Rescaled is x with type and quantization of another operand, rounded once. REQUANTIZE to more than twice the step
// rounds twice: its multiplier is below 1/2, and the doubled product is rounded before it is shifted right (1/4 becomes
// 1/2 becomes 1). A MUL by one, stored as 64 in steps of 1/64, leaves six more bits to the first rounding.
func (g *Graph) Rescaled(x uint32, as nn.Operand) uint32 {
	o := *g.Operand(x)
	if !o.Type.IsQuant8() || o.Type != as.Type || o.Scale >= as.Scale/2 {
		return g.To(x, as)
	}
	one := g.Constant(nn.Operand{Type: o.Type, Scale: 1.0 / averageWeight, Dimensions: []uint32{1}, Data: []byte{averageWeight}})
	as.Dimensions = o.Dimensions
	y := g.Emit(nn.OpMul, as, x, one, g.Int32Scalar(0))
	g.ShapeLike(y, x)
	return y
}

// tiedQuantization is outs with the quantization that NNAPI gives them.
func (g *Graph) tiedQuantization(row *opspec.Row, outs []nn.Operand, in []uint32) []nn.Operand {
	tied := slices.Clone(outs)
	for k := range tied {
		w := &tied[k]
		if scale, zero, fixed := row.FixedOutQuant(w.Type); fixed {
			w.Scale, w.ZeroPoint = scale, zero
		} else if row.SameQuant && w.Type.IsQuant8() {
			for i, data := range row.KeySlots(len(in)) {
				if x := g.Operand(in[i]); data && x.Type == w.Type {
					w.Scale, w.ZeroPoint = x.Scale, x.ZeroPoint
					break
				}
			}
		}
	}
	return tied
}

func sameQuantization(a, b nn.Operand) bool { return a.Scale == b.Scale && a.ZeroPoint == b.ZeroPoint }

// averages reports operations that NNAPI ties to the quantization of their input although they make values that are
// between its steps.
func averages(op nn.OperationType) bool {
	return op == nn.OpMean || op == nn.OpAveragePool2D || op == nn.OpResizeBilinear
}

// clamps reports operations that select input elements and limit them to constant bounds.
func clamps(op nn.OperationType, g *Graph, in []uint32) bool {
	switch op {
	case nn.OpRelu, nn.OpRelu1, nn.OpRelu6:
		return true
	case nn.OpMaxPool2D:
		act := 6 // of the form with a padding scheme
		if len(in) >= 10 {
			act = 9
		}
		code, ok := g.scalar(in[act])
		return !ok || code != int64(nn.ActNone)
	}
	return false
}

// Limits of averages that are computed as convolutions: of Ethos-U's depthwise kernels (64 rows, 4096 weights), and of
// the bytes of weights. Larger averages are computed in float32.
const (
	maxAveragedRows    = 64
	maxAveragedWindow  = 4096
	maxAveragedWeights = 1 << 22
)

// window is an average over rows by columns of NHWC, each window inside the image.
type window struct {
	rows, columns    int64
	strideX, strideY int64
	activation       int64
}

// averageWeight is the stored weight of averages that are computed as convolutions. The quantized multiplier rounds the
// halved sum to an integer before it shifts right; a sum of 64 times the elements loses nothing that matters to that.
const averageWeight = 64

// averageByConvolution is an average of n elements as a convolution whose weights are all 1/n, stored as 64 in steps of
// 1/(64 n): the sum is exact, and one multiplier takes it to the steps of the output. Windows of an image are a
// DEPTHWISE_CONV_2D, the last dimensions of a tensor one unit of a FULLY_CONNECTED. ok is false for other averages.
func (g *Graph) averageByConvolution(op nn.OperationType, out nn.Operand, in []uint32) (y uint32, ok bool) {
	x := *g.Operand(in[0])
	if !x.Known() || !x.Type.IsQuant8() {
		return None, false
	}
	switch op {
	case nn.OpAveragePool2D:
		w, ok := g.poolWindow(x.Dimensions, in)
		return g.averageOfWindows(in[0], w, out, ok)
	case nn.OpMean:
		return g.mean(in, out)
	}
	return None, false
}

// mean is a MEAN over neighbours as a convolution.
func (g *Graph) mean(in []uint32, out nn.Operand) (y uint32, ok bool) {
	x := *g.Operand(in[0])
	first, last, shape, ok := g.meanAxes(x.Dimensions, in)
	switch {
	case !ok:
		return None, false
	case last == len(x.Dimensions)-1:
		y, ok = g.averageOfLast(in[0], nn.Elements(x.Dimensions[first:]), out)
	case len(x.Dimensions) == 4 && first == 1 && last == 2:
		y, ok = g.averageOfWindows(in[0], window{rows: int64(x.Dimensions[1]), columns: int64(x.Dimensions[2]), strideX: 1, strideY: 1}, out, true)
	default:
		return None, false
	}
	if ok && !slices.Equal(g.Operand(y).Dimensions, shape) {
		y = g.Emit(nn.OpReshape, out, y, g.Int32Tensor(Signed(shape)...))
	}
	return y, ok
}

// averageOfWindows is the average of each window of each channel.
func (g *Graph) averageOfWindows(x uint32, w window, out nn.Operand, whole bool) (y uint32, ok bool) {
	o := *g.Operand(x)
	n := w.rows * w.columns
	if !whole || n < 1 || w.rows > maxAveragedRows || n > maxAveragedWindow {
		return None, false
	}
	channels := int64(o.Dimensions[3])
	if channels < 1 || n*channels > maxAveragedWeights {
		return None, false
	}
	weights, bias := g.averagingWeights(o, n, channels, 1, uint32(w.rows), uint32(w.columns), uint32(channels))
	const valid = 2 // ANEURALNETWORKS_PADDING_VALID
	return g.Emit(nn.OpDepthwiseConv2D, out, x, weights, bias, g.Int32Scalar(valid),
		g.Int32Scalar(w.strideX), g.Int32Scalar(w.strideY), g.Int32Scalar(1), g.Int32Scalar(w.activation)), true
}

// averageOfLast is the average of each n elements that stand together, of shape [averages 1].
func (g *Graph) averageOfLast(x uint32, n int64, out nn.Operand) (y uint32, ok bool) {
	o := *g.Operand(x)
	rows := int64(0)
	if n > 0 {
		rows = nn.Elements(o.Dimensions) / n
	}
	if rows < 1 || n > maxAveragedWindow {
		return None, false
	}
	o.Dimensions, o.Data = []uint32{uint32(rows), uint32(n)}, nil
	flat := g.Emit(nn.OpReshape, nn.Operand{Type: o.Type, Scale: o.Scale, ZeroPoint: o.ZeroPoint}, x, g.Int32Tensor(rows, n))
	weights, bias := g.averagingWeights(o, n, 1, 1, uint32(n))
	return g.Emit(nn.OpFullyConnected, out, flat, weights, bias, g.Int32Scalar(int64(nn.ActNone))), true
}

// averagingWeights are weights of 1/n for x in a shape, and a bias of 0 for each unit or channel.
func (g *Graph) averagingWeights(x nn.Operand, n, units int64, shape ...uint32) (weights, bias uint32) {
	step := 1 / (averageWeight * float32(n))
	weights = g.Constant(nn.Operand{Type: x.Type, Scale: step, Dimensions: shape, Data: bytes.Repeat([]byte{averageWeight}, int(nn.Elements(shape)))})
	bias = g.Constant(nn.Operand{Type: nn.TensorInt32, Scale: x.Scale * step, Dimensions: []uint32{uint32(units)}, Data: make([]byte, 4*units)})
	return weights, bias
}

// meanAxes is what a MEAN reduces, the dimensions from first to last, and the shape that remains. ok is false when its
// axes are unknown or no neighbours.
func (g *Graph) meanAxes(dims []uint32, in []uint32) (first, last int, shape []uint32, ok bool) {
	given, ok := g.Ints(in[1])
	keep, constant := g.scalar(in[2])
	if !ok || !constant || len(given) == 0 || len(dims) == 0 {
		return 0, 0, nil, false
	}
	axes := make([]int, len(given))
	for i, a := range given {
		axes[i] = g.Axis(a, len(dims))
	}
	slices.Sort(axes)
	axes = slices.Compact(axes)
	first, last = axes[0], axes[len(axes)-1]
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			shape = append(shape, d)
		case keep != 0:
			shape = append(shape, 1)
		}
	}
	return first, last, shape, last-first+1 == len(axes) && len(shape) > 0
}

// poolWindow is the window of an AVERAGE_POOL_2D in NHWC that pads nothing; padding is not averaged, so that windows
// with and without it divide by other numbers.
func (g *Graph) poolWindow(dims []uint32, in []uint32) (w window, ok bool) {
	var args []int64
	for _, x := range in[1:] {
		v, ok := g.scalar(x)
		if !ok {
			return w, false
		}
		args = append(args, v)
	}
	pads := []int64{0, 0, 0, 0}
	same, layout := false, []int64(nil)
	if len(args) >= 9 { // left, right, top, bottom, strides, window, activation
		pads, args = args[:4], args[4:]
	} else {
		same, args = args[0] == 1, args[1:] // padding scheme, ANEURALNETWORKS_PADDING_SAME or VALID
	}
	args, layout = args[:5], args[5:]
	w = window{strideX: args[0], strideY: args[1], columns: args[2], rows: args[3], activation: args[4]}
	if w.strideX < 1 || w.strideY < 1 || w.rows < 1 || w.columns < 1 || len(layout) > 0 && layout[0] != 0 {
		return w, false
	}
	if same {
		pads = []int64{samePadding(int64(dims[2]), w.columns, w.strideX), samePadding(int64(dims[1]), w.rows, w.strideY)}
	}
	return w, !slices.ContainsFunc(pads, func(n int64) bool { return n != 0 })
}

// samePadding is how many elements the padding scheme SAME adds to n: (ceil(n/stride) - 1) stride + filter - n, or none.
func samePadding(n, filter, stride int64) int64 {
	return max(((n+stride-1)/stride-1)*stride+filter-n, 0)
}

// scalar is the value of a constant INT32 or BOOL.
func (g *Graph) scalar(x uint32) (v int64, ok bool) {
	if !g.IsConst(x) {
		return 0, false
	}
	switch o := g.Operand(x); o.Type {
	case nn.Int32:
		return int64(int32(binary.LittleEndian.Uint32(o.Data))), true
	case nn.Bool:
		return int64(o.Data[0]), true
	}
	return 0, false
}
