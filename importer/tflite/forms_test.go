package tflite

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/refcpu"
)

// The forms of a case: the operator on other reals, and on the types and quantizations that the format has for it.

// weighted are the operators with weights: the inputs that are their data, weights and bias, and the dimension of weights
// along which channels have scales.
var weighted = map[string]struct{ x, w, bias, along int }{
	"CONV_2D": {0, 1, 2, 0}, "DEPTHWISE_CONV_2D": {0, 1, 2, 3}, "FULLY_CONNECTED": {0, 1, 2, 0}, "TRANSPOSE_CONV": {2, 1, 3, 0},
}

// fixedSteps are the quantizations of results that TensorFlow Lite fixes, in int8: the scale's reciprocal, the zero point,
// and the scale's reciprocal in int16.
var fixedSteps = map[string]struct {
	steps float64
	zero  int64
	wide  float64
}{
	"LOGISTIC": {256, -128, 32768}, "SOFTMAX": {256, -128, 32768}, "TANH": {128, 0, 32768}, "L2_NORMALIZATION": {128, 0, 0}, "LOG_SOFTMAX": {16, 127, 0},
}

// tiedSteps are the operators whose results have the quantization of their inputs.
var tiedSteps = []string{
	"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "SPLIT", "SPLIT_V", "PACK", "UNPACK", "SLICE", "STRIDED_SLICE", "PAD", "PADV2", "MIRROR_PAD", "TILE",
	"BROADCAST_TO", "REVERSE_V2", "REVERSE_SEQUENCE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "RESIZE_BILINEAR",
	"RESIZE_NEAREST_NEIGHBOR", "GATHER", "GATHER_ND", "SELECT", "SELECT_V2", "MAXIMUM", "MINIMUM", "MAX_POOL_2D", "AVERAGE_POOL_2D", "REDUCE_MAX", "REDUCE_MIN",
	"TOPK_V2", "DYNAMIC_UPDATE_SLICE", "FILL", "CONCATENATION", "SCATTER_ND", "MATRIX_DIAG", "MATRIX_SET_DIAG", "ZEROS_LIKE", "ONE_HOT", "SPARSE_TO_DENSE",
}

// realsOnly are the operators that TensorFlow Lite runs on other types as if they were reals.
var realsOnly = []string{"FAKE_QUANT", "LSH_PROJECTION"}

// complete is the case with what TensorFlow Lite 2.9 demands of a file and the importer does without: a bias, the version
// from which on an operator is there, the types of results and depth multipliers that follow from tensors.
func (c *opCase) complete() *opCase {
	full := *c
	if p, ok := weighted[c.op]; ok && c.op != "FULLY_CONNECTED" && c.op != "TRANSPOSE_CONV" {
		w := c.in[p.w]
		if n := w.Shape[p.along]; len(c.in) <= p.bias || c.in[p.bias].omitted {
			full.in = append(slices.Clone(c.in[:p.bias]), k(f32(dims(n), make([]float64, n)...)))
		}
	}
	full.options = fields{}
	maps.Copy(full.options, c.options)
	switch c.op {
	case "BROADCAST_TO":
		full.version = 2
	case "ARG_MAX", "ARG_MIN":
		full.kind, full.options["output_type"] = map[string]string{"ARG_MAX": "ArgMaxOptions", "ARG_MIN": "ArgMinOptions"}[c.op], c.out[0].Type
	case "SHAPE":
		full.kind, full.options["out_type"] = "ShapeOptions", c.out[0].Type
	case "DEPTHWISE_CONV_2D":
		full.options["depth_multiplier"] = int(c.in[1].Shape[3] / c.in[0].Shape[3])
	}
	return &full
}

// withForms are the cases and the forms of each.
func withForms(t *testing.T, family []opCase) (list []*opCase) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11))
	for i := range family {
		c := family[i].complete()
		list = append(list, c)
		if !c.inReals() {
			continue
		}
		for n := range 3 {
			other, ok := c.otherReals(t, r)
			if !ok {
				break
			}
			other.form = fmt.Sprintf("of reals %d ", n)
			list = append(list, other)
			if slices.Contains(realsOnly, c.op) {
				continue
			}
			for _, code := range []int{typeInt8, typeUint8, typeInt16} {
				list = append(list, other.quantizedForm(code, false))
				if _, ok := weighted[c.op]; ok && code != typeUint8 {
					list = append(list, other.quantizedForm(code, true))
				}
			}
			if _, ok := weighted[c.op]; ok {
				list = append(list, other.hybridForm(false), other.hybridForm(true))
			}
		}
	}
	return list
}

// inReals reports cases all of whose data are float32, with a result and no states.
func (c *opCase) inReals() bool {
	some := false
	for _, a := range slices.Concat(c.in, c.out) {
		if a.omitted {
			continue
		}
		if a.Variable || a.Scale != nil || a.More != nil {
			return false
		}
		switch a.Type {
		case typeFloat32:
			some = true
		case typeInt32, typeInt64, typeBool:
		default:
			return false
		}
	}
	return some && len(c.inner) == 0 && c.custom == nil
}

// otherReals is the case on other reals between the least and the greatest of each tensor; its results are those of the
// importer, from which scales follow.
func (c *opCase) otherReals(t *testing.T, r *rand.Rand) (*opCase, bool) {
	t.Helper()
	other := *c
	other.in, other.out = slices.Clone(c.in), slices.Clone(c.out)
	for i, a := range c.in {
		if a.omitted || a.Type != typeFloat32 || len(a.values) == 0 {
			continue
		}
		lo, hi := slices.Min(a.values), slices.Max(a.values)
		if lo == hi {
			hi = lo + max(math.Abs(lo), 1)
		}
		other.in[i].values = make([]float64, len(a.values))
		for e := range a.values {
			other.in[i].values[e] = float64(float32(lo + (hi-lo)*r.Float64()))
		}
	}
	m, err := Import(other.file(), nil)
	if err != nil {
		return nil, false
	}
	p, err := refcpu.Compile(m)
	if err != nil {
		return nil, false
	}
	in := make([]refcpu.Tensor, len(m.Main.Inputs))
	for i, b := range other.given() {
		in[i].Data = b
	}
	results, err := p.Execute(in, refcpu.Options{})
	if err != nil {
		return nil, false
	}
	for k := range other.out {
		if other.out[k].Type == typeFloat32 {
			other.out[k].values = elementsOf(typeFloat32, results[k].Data)
		}
	}
	return &other, true
}

// affine quantizes the values of a tensor to a type with steps over the range of all given values.
func affine(a arg, code int, over ...float64) arg {
	lo, hi := min(0, slices.Min(over)), max(0, slices.Max(over))
	switch code {
	case typeInt16:
		return a.stored(code, max(-lo, hi, 1e-3)/32767, 0)
	case typeInt8:
		scale := max(hi-lo, 1e-3) / 255
		return a.stored(code, scale, int64(math.Round(-128-lo/scale)))
	}
	scale := max(hi-lo, 1e-3) / 255
	return a.stored(code, scale, int64(math.Round(-lo/scale)))
}

// stored is a tensor of reals in steps of one scale.
func (a arg) stored(code int, scale float64, zero int64) arg {
	q := a
	q.Type, q.Scale, q.Zero, q.values = code, []float32{float32(scale)}, []int64{zero}, nil
	lo, hi := -128.0, 127.0
	switch code {
	case typeUint8:
		lo, hi = 0, 255
	case typeInt16:
		lo, hi = -32768, 32767
	case typeInt32, typeInt64:
		lo, hi = math.MinInt32, math.MaxInt32
	}
	for _, v := range a.values {
		q.values = append(q.values, min(max(math.Round(v/float64(float32(scale)))+float64(zero), lo), hi))
	}
	return q
}

// channelwiseSteps is a tensor of weights in int8, symmetric, with a scale for each index along a dimension or for all.
func (a arg) channelwiseSteps(along int, perChannel bool) arg {
	q := a.stored(typeInt8, max(slices.Max(a.values), -slices.Min(a.values), 1e-3)/127, 0)
	if !perChannel {
		return q
	}
	inner := 1
	for _, d := range a.Shape[along+1:] {
		inner *= int(d)
	}
	n := int(a.Shape[along])
	greatest := make([]float64, n)
	for i, v := range a.values {
		ch := i / inner % n
		greatest[ch] = max(greatest[ch], math.Abs(v), 1e-3)
	}
	q.Scale, q.Zero, q.Along = nil, make([]int64, n), along
	for _, g := range greatest {
		q.Scale = append(q.Scale, float32(g/127))
	}
	for i, v := range a.values {
		q.values[i] = math.Round(v / float64(q.Scale[i/inner%n]))
	}
	return q
}

// quantizedForm is the case in a quantized type; weights are int8 with 8-bit and 16-bit data, uint8 with uint8.
func (c *opCase) quantizedForm(code int, perChannel bool) *opCase {
	q := *c
	q.form += map[int]string{typeInt8: "int8 ", typeUint8: "uint8 ", typeInt16: "int16 "}[code]
	q.in, q.out = slices.Clone(c.in), slices.Clone(c.out)
	var all []float64
	for _, a := range slices.Concat(c.in, c.out) {
		if a.Type == typeFloat32 && !a.omitted {
			all = append(all, a.values...)
		}
	}
	tied := slices.Contains(tiedSteps, c.op)
	over := func(a arg) []float64 {
		if tied {
			return all
		}
		return append(slices.Clone(a.values), 0)
	}
	p, product := weighted[c.op]
	for i, a := range c.in {
		switch {
		case a.omitted || a.Type != typeFloat32:
		case product && i == p.w && code != typeUint8:
			q.in[i] = a.channelwiseSteps(p.along, perChannel)
		case product && i == p.bias:
		default:
			q.in[i] = affine(a, code, over(a)...)
		}
	}
	if perChannel {
		q.form += "per channel "
	}
	if code == typeInt16 && (c.op == "ADD" || c.op == "SUB") {
		q.options = maps.Clone(c.options)
		q.options["pot_scale_int16"] = false // its scales are no powers of two
	}
	if product && p.bias < len(c.in) && !c.in[p.bias].omitted {
		q.in[p.bias] = biasSteps(c.in[p.bias], code, q.in[p.x].Scale[0], q.in[p.w].Scale)
	}
	for k, a := range c.out {
		if a.Type != typeFloat32 {
			continue
		}
		q.out[k] = affine(a, code, over(a)...)
		if f, ok := fixedSteps[c.op]; ok {
			switch code {
			case typeInt8:
				q.out[k] = a.stored(code, 1/f.steps, f.zero)
			case typeUint8:
				q.out[k] = a.stored(code, 1/f.steps, f.zero+128)
			case typeInt16:
				q.out[k] = a.stored(code, 1/max(f.wide, 1), 0)
			}
		}
	}
	return &q
}

// biasSteps is a bias in steps of the products: INT32, INT64 with 16-bit data.
func biasSteps(a arg, code int, x float32, weights []float32) arg {
	q := a
	q.Type, q.Scale, q.Zero, q.values = typeInt32, nil, nil, nil
	if code == typeInt16 {
		q.Type = typeInt64
	}
	for i, v := range a.values {
		s := x * weights[min(i, len(weights)-1)]
		q.values = append(q.values, math.Round(v/float64(s)))
	}
	for _, w := range weights {
		q.Scale, q.Zero = append(q.Scale, x*w), append(q.Zero, 0)
	}
	return q
}

// hybridForm is the case on reals with weights of int8.
func (c *opCase) hybridForm(perChannel bool) *opCase {
	h := *c
	h.form, h.in = h.form+"hybrid ", slices.Clone(c.in)
	if perChannel {
		h.form += "per channel "
	}
	p := weighted[c.op]
	h.in[p.w] = c.in[p.w].channelwiseSteps(p.along, perChannel)
	return &h
}

// wideCases are operators on tensors of some size, where sums are long and every step of 8 bits occurs; their values are
// drawn by otherReals.
func wideCases() (list []opCase) {
	image, row := dims(1, 7, 7, 16), dims(4, 96)
	between := func(lo, hi float64, d []int32) arg {
		n := 1
		for _, v := range d {
			n *= int(v)
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = lo + (hi-lo)*float64(i%97)/96
		}
		return f32(d, values...)
	}
	as := func(d ...int32) arg { return between(-1, 1, d) }
	add := func(op, kind string, options fields, out []int32, in ...arg) {
		list = append(list, opCase{op: op, kind: kind, options: options, in: in, out: []arg{f32(out)}})
	}
	window := func(padding, stride, activation int) fields {
		return fields{"padding": padding, "stride_w": stride, "stride_h": stride, "activation": activation}
	}
	pooled := func(padding, stride int) fields {
		return fields{"padding": padding, "stride_w": stride, "stride_h": stride, "filter_w": 3, "filter_h": 3}
	}
	x := between(-2, 3, image)
	for activation := range 4 {
		add("CONV_2D", "Conv2DOptions", window(0, 1, activation), dims(1, 7, 7, 24), x, k(as(24, 3, 3, 16)), k(as(24)))
		add("ADD", "AddOptions", act(activation), image, x, between(-1, 6, image))
	}
	add("CONV_2D", "Conv2DOptions", window(1, 2, 0), dims(1, 3, 3, 24), x, k(as(24, 3, 3, 16)), k(as(24)))
	add("CONV_2D", "Conv2DOptions", window(1, 1, 0), dims(1, 7, 7, 24), x, k(as(24, 1, 1, 16)), k(as(24)))
	add("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", window(0, 1, 3), image, x, k(as(1, 3, 3, 16)), k(as(16)))
	add("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", window(0, 2, 0), dims(1, 4, 4, 16), x, k(as(1, 5, 5, 16)), k(as(16)))
	add("TRANSPOSE_CONV", "TransposeConvOptions", window(0, 2, 0), dims(1, 14, 14, 8), k(i32(dims(4), 1, 14, 14, 8)), k(as(8, 3, 3, 16)), x)
	add("FULLY_CONNECTED", "FullyConnectedOptions", act(0), dims(4, 40), between(-2, 3, row), k(as(40, 96)), k(as(40)))
	add("FULLY_CONNECTED", "FullyConnectedOptions", act(1), dims(4, 40), between(0, 3, row), k(as(40, 96)), without)
	add("BATCH_MATMUL", "BatchMatMulOptions", fields{}, dims(4, 24), between(-2, 3, row), between(-1, 1, dims(96, 24)))
	add("SUB", "SubOptions", act(0), image, x, between(-1, 6, image))
	add("SUB", "SubOptions", act(0), image, x, between(-1, 6, dims(16)))
	add("MUL", "MulOptions", act(0), image, x, between(-1, 6, image))
	add("MUL", "MulOptions", act(3), image, x, between(0, 1, dims(1, 1, 1, 16)))
	add("DIV", "DivOptions", act(0), image, x, between(1, 6, image))
	add("MAXIMUM", "", nil, image, x, between(-1, 6, image))
	add("AVERAGE_POOL_2D", "Pool2DOptions", pooled(0, 2), dims(1, 4, 4, 16), x)
	add("AVERAGE_POOL_2D", "Pool2DOptions", pooled(1, 1), dims(1, 5, 5, 16), x)
	add("MAX_POOL_2D", "Pool2DOptions", pooled(0, 2), dims(1, 4, 4, 16), x)
	add("MEAN", "ReducerOptions", fields{"keep_dims": true}, dims(1, 1, 1, 16), x, k(i32(dims(2), 1, 2)))
	add("MEAN", "ReducerOptions", fields{}, dims(1, 7, 7), x, k(i32(dims(1), 3)))
	add("SUM", "ReducerOptions", fields{}, dims(1, 16), x, k(i32(dims(2), 1, 2)))
	add("REDUCE_MAX", "ReducerOptions", fields{}, dims(1, 16), x, k(i32(dims(2), 1, 2)))
	add("RESIZE_BILINEAR", "ResizeBilinearOptions", fields{}, dims(1, 11, 14, 16), x, k(i32(dims(2), 11, 14)))
	add("RESIZE_BILINEAR", "ResizeBilinearOptions", fields{"half_pixel_centers": true}, dims(1, 5, 14, 16), x, k(i32(dims(2), 5, 14)))
	add("RESIZE_BILINEAR", "ResizeBilinearOptions", fields{"align_corners": true}, dims(1, 5, 14, 16), x, k(i32(dims(2), 5, 14)))
	add("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", fields{}, dims(1, 11, 5, 16), x, k(i32(dims(2), 11, 5)))
	add("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", fields{"half_pixel_centers": true}, dims(1, 11, 5, 16), x, k(i32(dims(2), 11, 5)))
	add("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", fields{"align_corners": true}, dims(1, 11, 5, 16), x, k(i32(dims(2), 11, 5)))
	for _, op := range []string{"RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "ELU", "HARD_SWISH", "LOG_SOFTMAX", "L2_NORMALIZATION", "ABS", "QUANTIZE", "SQUARE", "EXP", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "NEG"} {
		add(op, "", nil, row, between(-7, 8, row))
	}
	for _, op := range []string{"LOG", "SQRT", "RSQRT"} {
		add(op, "", nil, row, between(0.01, 8, row))
	}
	add("GELU", "GeluOptions", fields{}, row, between(-7, 8, row))
	add("GELU", "GeluOptions", fields{"approximate": true}, row, between(-7, 8, row))
	add("LEAKY_RELU", "LeakyReluOptions", fields{"alpha": 0.3}, row, between(-7, 8, row))
	add("PRELU", "", nil, image, x, k(between(-0.5, 0.5, dims(1, 1, 16))))
	add("SOFTMAX", "SoftmaxOptions", fields{"beta": 1}, row, between(-7, 8, row))
	add("SOFTMAX", "SoftmaxOptions", fields{"beta": 0.5}, image, between(-7, 8, image))
	add("CONCATENATION", "ConcatenationOptions", fields{"axis": 3}, dims(1, 7, 7, 32), x, between(-1, 6, image))
	add("SQUARED_DIFFERENCE", "", nil, image, x, between(-1, 6, image))
	add("LOCAL_RESPONSE_NORMALIZATION", "LocalResponseNormalizationOptions", fields{"radius": 2, "bias": 1, "alpha": 0.5, "beta": 0.75}, image, x)
	return list
}
