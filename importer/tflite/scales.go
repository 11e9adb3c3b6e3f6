package tflite

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/nn"
)

// A tensor's QuantizationParameters are read here, or refused with the tensor's name. Types of reals and booleans have
// no steps: TensorFlow Lite ignores theirs, and so does the importer.

// grid is what the scales of a tensor type count.
type grid struct {
	least, most int64 // of zero points
	channels    bool  // a constant may have a scale for each index of a dimension
}

var grids = map[int64]grid{
	typeUint8: {0, math.MaxUint8, false},
	typeInt8:  {math.MinInt8, math.MaxInt8, true},
	typeInt4:  {-8, 7, true},
	typeInt16: {math.MinInt16, math.MinInt16, false}, // unsigned 16 bits, else 0
	typeInt32: {0, 0, true},                          // the bias of weights with scales of their own
	typeInt64: {0, 0, true},
}

// quantization is a checked quantization: one scale, or one for each index along a dimension, and as many zero points.
type quantization struct {
	scales []float32
	zeros  []int64
	along  int64
}

// realType reports the types whose elements are what they represent.
func realType(code int64) bool {
	switch code {
	case typeFloat32, typeFloat16, typeFloat64, typeComplex64, typeBool, typeString, typeResource, typeVariant:
		return true
	}
	return false
}

// quantization reads the scales of tensor t; it has none where the file has none.
func (g *graph) quantization(t int) (q quantization) {
	tensor := g.tensors[t]
	code, name := tensor.Int("type"), tensor.Text("name")
	p, ok := tensor.Table("quantization")
	if !ok || realType(code) {
		return q
	}
	g.known(p, name)
	if d := p.Int("details_type"); d != 0 {
		g.Refusef("tensor %q has the %s", name, detailsName(d))
	}
	scales, zeros := p.Vector("scale"), p.Vector("zero_point")
	if scales.N == 0 {
		for i := range zeros.N {
			if z := zeros.Int(i); z != 0 {
				g.Failf("tensor %q has the zero point %d and no scale", name, z)
			}
		}
		return q
	}
	kind, quantized := grids[code]
	if !quantized {
		g.Refusef("tensor %q of %s has a scale; tensors of %s can", name, typeName(code), "UINT8, INT4, INT8, INT16, INT32 and INT64")
	}
	q.along = p.Int("quantized_dimension")
	shape := g.fileShape(t)
	if len(shape) == 1 && wideInteger(code) { // old converters give a bias the dimension of its weights
		q.along = 0
	}
	g.countScales(name, q.along, scales.N, zeros.N, shape)
	if scales.N > 1 && !kind.channels {
		g.Refusef("tensor %q of %s has %d scales; INT4, INT8 and a bias can have more than one", name, typeName(code), scales.N)
	}
	for i := range scales.N {
		s, z := scales.Float(i), int64(0)
		if zeros.N > 0 {
			z = zeros.Int(min(i, zeros.N-1))
		}
		channelOfZeros := s == 0 && scales.N > 1
		if !(s > 0 && s <= math.MaxFloat32) && !channelOfZeros {
			g.Failf("tensor %q: scale %d is %v; scales are positive and finite", name, i, s)
		}
		if (z < kind.least || z > kind.most) && z != 0 {
			g.Failf("tensor %q: zero point %d lies outside %d to %d of %s", name, z, min(kind.least, 0), max(kind.most, 0), typeName(code))
		}
		q.scales, q.zeros = append(q.scales, s), append(q.zeros, z)
	}
	return q
}

// countScales checks the numbers of scales and zero points, and the dimension that they stand along.
func (g *graph) countScales(name string, along int64, scales, zeros int, shape []uint32) {
	switch {
	case zeros > 1 && zeros != scales:
		g.Failf("tensor %q has %d zero points for %d scales", name, zeros, scales)
	case along < 0 || along > 0 && along >= int64(len(shape)):
		g.Failf("tensor %q of shape %v: its quantized dimension is %d", name, shape, along)
	case scales > 1 && (len(shape) == 0 || int64(shape[along]) != int64(scales)):
		g.Failf("tensor %q of shape %v has %d scales along dimension %d", name, shape, scales, along)
	}
}

// known refuses a table of the file with fields that the schema of this importer lacks: they may change its meaning.
func (g *graph) known(t flatbuffer.Table, name string) {
	if field, more := t.Beyond(); more {
		g.Refusef("%q has field %d in its %s, which is newer than this importer; it knows the first %d", name, field, t.T.Name, len(t.T.Fields))
	}
}

// quantize sets scale and zero point of tensor t as an operand. Several scales make an int8 tensor SYMM_PER_CHANNEL. 8-bit
// integers without a scale count in ones. The scales of INT32 and INT64 are read by the operators for which they mean
// something (integerSteps); their operands hold stored integers.
func (g *graph) quantize(o *nn.Operand, t int, code int64) {
	q := g.quantization(t)
	eight := o.Type.IsQuant8()
	switch {
	case wideInteger(code):
	case len(q.scales) == 0 && eight:
		o.Scale = 1
	case len(q.scales) == 1:
		o.Scale, o.ZeroPoint = q.scales[0], int32(q.zeros[0])
	case len(q.scales) > 1:
		g.perChannel(o, q)
	}
}

func (g *graph) perChannel(o *nn.Operand, q quantization) {
	if i := slices.IndexFunc(q.zeros, func(z int64) bool { return z != 0 }); i >= 0 {
		g.Refusef("tensor %q has the zero point %d in channel %d, NNAPI wants 0", o.Name, q.zeros[i], i)
	}
	c := &nn.ChannelQuant{Dim: uint32(q.along), Scales: q.scales}
	for i, s := range q.scales {
		if s == 0 { // a channel of zeros
			c.Scales[i] = math.SmallestNonzeroFloat32
		}
	}
	o.Type, o.Channel, o.Scale = nn.TensorQuant8SymmPerChannel, c, 0
}

// wideInteger reports the integers that count in ones for most operators.
func wideInteger(code int64) bool { return code == typeInt32 || code == typeInt64 }

// step is the scale of a tensor of INT32 or INT64, 0 where it has none. Only a bias can have more than one.
func (g *graph) step(t int) float32 {
	if !wideInteger(g.tensors[t].Int("type")) {
		return 0
	}
	q := g.quantization(t)
	if len(q.scales) > 1 {
		g.Refusef("tensor %q of %s has %d scales; only a bias can have more than one", g.tensors[t].Text("name"), typeName(g.tensors[t].Int("type")), len(q.scales))
	}
	if len(q.scales) == 0 {
		return 0
	}
	return q.scales[0]
}

// stepRule is how an operator treats the scales of tensors of INT32 and INT64.
type stepRule uint8

const (
	stepsRefused stepRule = iota
	stepsOwn              // its conversion reads them
	stepsPass             // its values pass on as they are stored: all scales are one, which the outputs have
	stepsAgree            // as stepsPass, and all integers have the scale: a sum of stored integers is the sum of reals
	stepsCompare          // as stepsAgree, its outputs count nothing
	stepsFree             // its results are stored integers or shapes, whatever the scale
)

// integerSteps are the rules; TensorFlow Lite computes with the stored integers, so that all other operators would give
// what their scales do not say.
var integerSteps = map[string]stepRule{
	"QUANTIZE": stepsOwn, "DEQUANTIZE": stepsOwn,
	"CONV_2D": stepsOwn, "DEPTHWISE_CONV_2D": stepsOwn, "TRANSPOSE_CONV": stepsOwn, "FULLY_CONNECTED": stepsOwn,
	"SVDF": stepsOwn, "LSTM": stepsOwn, "UNIDIRECTIONAL_SEQUENCE_LSTM": stepsOwn,

	"RESHAPE": stepsPass, "SQUEEZE": stepsPass, "EXPAND_DIMS": stepsPass, "TRANSPOSE": stepsPass, "SLICE": stepsPass, "STRIDED_SLICE": stepsPass,
	"CONCATENATION": stepsPass, "PACK": stepsPass, "UNPACK": stepsPass, "SPLIT": stepsPass, "SPLIT_V": stepsPass, "TILE": stepsPass,
	"PAD": stepsPass, "PADV2": stepsPass, "MIRROR_PAD": stepsPass, "GATHER": stepsPass, "GATHER_ND": stepsPass, "REVERSE_V2": stepsPass,
	"REVERSE_SEQUENCE": stepsPass, "SPACE_TO_BATCH_ND": stepsPass, "BATCH_TO_SPACE_ND": stepsPass, "SPACE_TO_DEPTH": stepsPass,
	"DEPTH_TO_SPACE": stepsPass, "BROADCAST_TO": stepsPass, "SELECT": stepsPass, "SELECT_V2": stepsPass, "DYNAMIC_UPDATE_SLICE": stepsPass,
	"ZEROS_LIKE": stepsPass, "SUM": stepsPass, "REDUCE_MAX": stepsPass, "REDUCE_MIN": stepsPass, "CUMSUM": stepsPass,
	"IF": stepsPass, "WHILE": stepsPass, "READ_VARIABLE": stepsPass, "ASSIGN_VARIABLE": stepsPass, "DENSIFY": stepsPass,

	"ADD": stepsAgree, "SUB": stepsAgree, "ADD_N": stepsAgree, "MAXIMUM": stepsAgree, "MINIMUM": stepsAgree, "ABS": stepsAgree, "NEG": stepsAgree,

	"EQUAL": stepsCompare, "NOT_EQUAL": stepsCompare, "LESS": stepsCompare, "LESS_EQUAL": stepsCompare, "GREATER": stepsCompare, "GREATER_EQUAL": stepsCompare,

	"CAST": stepsFree, "SHAPE": stepsFree, "RANK": stepsFree, "ARG_MAX": stepsFree, "ARG_MIN": stepsFree,
}

// checkSteps refuses an operator that does not keep the scales of its integers.
func (c *conversion) checkSteps(operator string) {
	rule := integerSteps[operator]
	if rule == stepsOwn || rule == stepsFree {
		return
	}
	first, step := -1, float32(0)
	inputs := slices.DeleteFunc(slices.Clone(c.inTensors), func(t int) bool { return t < 0 })
	for _, t := range slices.Concat(inputs, c.outTensors) {
		if s := c.step(t); s != 0 && first < 0 {
			first, step = t, s
		}
	}
	if first < 0 {
		return
	}
	describe := func(t int) string {
		s := "no scale"
		if v := c.step(t); v != 0 {
			s = fmt.Sprintf("the scale %v", v)
		}
		return fmt.Sprintf("%s %q has %s", typeName(c.tensors[t].Int("type")), c.tensors[t].Text("name"), s)
	}
	if rule == stepsRefused {
		c.Refusef("%s, which only QUANTIZE, DEQUANTIZE and operators that move, add or compare values keep", describe(first))
	}
	check := func(t int, whole bool) {
		if s := c.step(t); s != step && (s != 0 || whole && wideInteger(c.tensors[t].Int("type"))) {
			c.Refusef("%s, %s: stored integers of different steps", describe(first), describe(t))
		}
	}
	for _, t := range inputs {
		check(t, rule != stepsPass)
	}
	if rule != stepsCompare {
		for _, t := range c.outTensors {
			check(t, true)
		}
	}
}

// stored integers become reals, and reals stored integers, at the scales that the file gives INT32 and INT64.

// reals is input k as the reals that it represents.
func (c *conversion) reals(k int) uint32 {
	x := c.x(k)
	if s := c.step(c.inTensors[k]); s != 0 {
		return c.Binary(nn.OpMul, c.As(x, nn.TensorFloat32), c.Real(s))
	}
	return x
}

// defineSteps sets output k to x at the scale of a tensor of INT32 or INT64; ok is false for other outputs.
func (c *conversion) defineSteps(k int, x uint32) (ok bool) {
	s := c.step(c.outTensors[k])
	if s == 0 {
		return false
	}
	steps := c.Round(c.Binary(nn.OpDiv, c.As(x, nn.TensorFloat32), c.Real(s)))
	c.define(k, c.As(steps, nn.TensorInt32))
	return true
}

// keepSteps states the scales of inputs and outputs of the network that are INT32 or INT64. A bias may be an input;
// where it has several scales its operators read them.
func (g *graph) keepSteps() {
	for i, name := range []string{"inputs", "outputs"} {
		tensors, operands := g.table.Vector(name), [][]uint32{g.Sub.Inputs, g.Sub.Outputs}[i]
		for k := range tensors.N {
			t := int(tensors.Int(k))
			if q := g.quantization(t); wideInteger(g.tensors[t].Int("type")) && len(q.scales) == 1 {
				g.Operand(operands[k]).Scale = q.scales[0]
			}
		}
	}
}

// biasTolerance is how far the scale of a bias may be from that of the products that it is added to: that is rounded
// again wherever a tool computes it. TensorFlow Lite and NNAPI add the stored integers.
const biasTolerance = 0.01

// checkBias refuses the bias of input k, a constant or not, where its scale is not that of the products: x of one scale by
// weights of one or of one for each output.
func (c *conversion) checkBias(k int, x float32, w *nn.Operand) {
	if !c.has(k) {
		return
	}
	t := c.inTensors[k]
	q := c.quantization(t)
	if zeros := c.buffer(t); zeros != nil && !slices.ContainsFunc(zeros, func(b byte) bool { return b != 0 }) {
		return
	}
	weights := []float32{w.Scale}
	if w.Channel != nil {
		weights = w.Channel.Scales
	}
	for i := range max(len(q.scales), len(weights)) {
		if len(q.scales) == 0 {
			return
		}
		s, want := float64(q.scales[min(i, len(q.scales)-1)]), float64(x)*float64(weights[min(i, len(weights)-1)])
		if want >= 0x1p-126 && math.Abs(s-want) > biasTolerance*want {
			c.Refusef("its bias %q has the scale %v, its products %v: they are added as stored integers, whose scales must agree", c.tensors[t].Text("name"), s, want)
		}
	}
}
