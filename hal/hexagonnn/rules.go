package hexagonnn

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// rule lowers an operation of Hexagon NN to operations of NNAPI.
type rule struct {
	least, most int // inputs
	ranges      func(inputs int) []ranged
	lower       func(a *args) []value
}

// at is the places of ranges that do not depend on the number of inputs.
func at(list ...ranged) func(int) []ranged { return func(int) []ranged { return list } }

var (
	noRanges   = at()
	oneRange   = at(ranged{0, 1, 2})
	twoRanges  = at(ranged{0, 2, 3}, ranged{1, 4, 5})
	shapeRange = at(ranged{0, 2, 3}) // behind a second input
	superRange = at(ranged{0, 2, 3}, ranged{1, 4, 5}, ranged{7, 8, 9})
)

// concatRanges pairs inputs with their ranges where they come as an axis, then all tensors, all low and all high ends.
func concatRanges(inputs int) []ranged {
	var list []ranged
	for i, n := 1, (inputs-1)/3; i <= n; i++ {
		list = append(list, ranged{i, i + n, i + 2*n})
	}
	return list
}

// newRules are the operations that have a form, by Op.base.
func newRules() map[string]rule {
	return map[string]rule{
		"INPUT":  {0, 0, noRanges, lowerInput},
		"OUTPUT": {1, maxArity, noRanges, lowerOutput},

		// 8 bits.
		"QuantizedConv2d_8x8to32":          {7, 7, twoRanges, conv},
		"QuantizedDepthwiseConv2d_8x8to32": {7, 7, twoRanges, conv},
		"QuantizedMatMul_8x8to32":          {6, 6, twoRanges, matMul},
		"QuantizedBiasAdd_32p32to32":       {6, 6, noRanges, addBias},
		"QuantizedBiasAdd_8p8to32":         {6, 6, twoRanges, binarySums(nn.OpAdd)},
		"QuantizedAdd_8p8to32":             {6, 6, twoRanges, binarySums(nn.OpAdd)},
		"QuantizedSub_8p8to32":             {6, 6, twoRanges, binarySums(nn.OpSub)},
		"QuantizedMul_8x8to32":             {6, 6, twoRanges, binarySums(nn.OpMul)},
		"Requantize_32to8":                 {5, 5, noRanges, requantize},
		"Supernode_8x8p8to8":               {12, 12, superRange, supernode},
		"Supernode_8x8p32to8":              {12, 12, twoRanges, supernode},
		"DepthwiseSupernode_8x8p8to8":      {12, 12, superRange, supernode},
		"DepthwiseSupernode_8x8p32to8":     {12, 12, twoRanges, supernode},
		"QuantizedAdd_8p8to8":              {8, 8, twoRanges, binary8(nn.OpAdd)},
		"QuantizedSub_8x8to8":              {8, 8, twoRanges, binary8(nn.OpSub)},
		"QuantizedMul_8x8to8":              {8, 8, twoRanges, binary8(nn.OpMul)},
		"QuantizedMaxPool_8":               {5, 5, oneRange, pool8(nn.OpMaxPool2D)},
		"QuantizedAvgPool_8":               {5, 5, oneRange, pool8(nn.OpAveragePool2D)},
		"QuantizedRelu_8":                  {3, 3, oneRange, clamp8},
		"QuantizedReluX_8":                 {4, 4, oneRange, clamp8},
		"QuantizedClamp_8":                 {5, 5, oneRange, clamp8},
		"QuantizedSigmoid_8":               {3, 3, oneRange, fixedRange(nn.OpLogistic, unitQuant)},
		"QuantizedTanh_8":                  {3, 3, oneRange, fixedRange(nn.OpTanh, signedUnitQuant)},
		"QuantizedSoftmax_8":               {3, 4, oneRange, softmax8},
		"QuantizedConcat_8":                {4, maxArity, concatRanges, concat8},
		"QuantizedReshape":                 {4, 4, shapeRange, reshape8},
		"QuantizedFlatten":                 {3, 3, oneRange, reshape8},
		"QuantizedResizeBilinear_8":        {4, 4, shapeRange, resize8},
		"Quantize":                         {3, 3, noRanges, quantize},
		"Dequantize":                       {3, 3, oneRange, dequantize},
		"Nop":                              {1, maxArity, noRanges, pass},
		"Convert_to":                       {1, maxArity, noRanges, pass},
		"Convert_from":                     {1, maxArity, noRanges, pass},

		// Floats.
		"Conv2d_f":          {3, 3, noRanges, convFloat},
		"DepthwiseConv2d_f": {3, 3, noRanges, convFloat},
		"MatMul_f":          {2, 2, noRanges, matMulFloat},
		"BiasAdd_f":         {2, 2, noRanges, addBiasFloat},
		"Add_f":             {2, 2, noRanges, binaryFloat(nn.OpAdd, true)},
		"Sub_f":             {2, 2, noRanges, binaryFloat(nn.OpSub, true)},
		"Mul_f":             {2, 2, noRanges, binaryFloat(nn.OpMul, true)},
		"Minimum_f":         {2, 2, noRanges, binaryFloat(nn.OpMinimum, false)},
		"Maximum_f":         {2, 2, noRanges, binaryFloat(nn.OpMaximum, false)},
		"MaxPool_f":         {3, 3, noRanges, poolFloat(nn.OpMaxPool2D)},
		"AvgPool_f":         {3, 3, noRanges, poolFloat(nn.OpAveragePool2D)},
		"L2Pool_f":          {3, 3, noRanges, poolFloat(nn.OpL2Pool2D)},
		"Relu_f":            {1, 1, noRanges, clampFloat},
		"ReluX_f":           {2, 2, noRanges, clampFloat},
		"Clamp_f":           {3, 3, noRanges, clampFloat},
		"Sigmoid_f":         {1, 1, noRanges, unaryFloat(nn.OpLogistic)},
		"Tanh_f":            {1, 1, noRanges, unaryFloat(nn.OpTanh)},
		"Neg_f":             {1, 1, noRanges, unaryFloat(nn.OpNeg)},
		"Softmax_f":         {1, 2, noRanges, softmaxFloat},
		"Concat_f":          {2, maxArity, noRanges, concatFloat},
		"Reshape":           {2, 2, noRanges, reshapeFloat},
		"Flatten":           {1, 1, noRanges, reshapeFloat},
		"ResizeBilinear_f":  {2, 2, noRanges, resizeFloat},
	}
}

// Quantizations that NNAPI fixes: the results of LOGISTIC and SOFTMAX, and of TANH.
var (
	unitQuant       = builder.Quant{Scale: 1.0 / 256}
	signedUnitQuant = builder.Quant{Scale: 1.0 / 128, ZeroPoint: 128}
)

// lowerInput makes the inputs of the model. The quantization of an 8-bit input is that of
// the first node that reads it.
func lowerInput(a *args) []value {
	if len(a.l.inputs) > 0 {
		panic(refuse("a second INPUT node"))
	}
	var values []value
	for i, o := range a.n.outputs {
		n := elements(o.MaxSizes)
		if n == 0 || n*uint64(o.ElementSize) > maxBytes {
			panic(refuse("output %d has the shape %v", i, o.MaxSizes))
		}
		operand := nn.Operand{Dimensions: append([]uint32(nil), o.MaxSizes[:]...)}
		switch o.ElementSize {
		case 1:
			q, err := a.l.readAs(Input{a.n.id, uint32(i)})
			if err != nil {
				panic(refuse("output %d: %w", i, err))
			}
			operand.Type, operand.Scale, operand.ZeroPoint = nn.TensorQuant8Asymm, q.Scale, q.ZeroPoint
		case 4:
			operand.Type = nn.TensorFloat32
		default:
			panic(refuse("output %d has elements of %d bytes, want 1 (codes) or 4 (floats)", i, o.ElementSize))
		}
		t := a.l.b.Input(a.l.b.Operand(operand), fmt.Sprintf("input %d", i))
		values = append(values, value{kind: valueTensor, tensor: t, quant: builder.Quant{Scale: operand.Scale, ZeroPoint: operand.ZeroPoint}})
		a.l.inputs = append(a.l.inputs, tensorSpec{o.MaxSizes, int(n) * int(o.ElementSize)})
	}
	if len(values) == 0 {
		panic(refuse("no outputs"))
	}
	return values
}

// readAs is the quantization that the first node with a range for in reads it with; one
// without a reader has steps of 1.
func (l *lowering) readAs(in Input) (q builder.Quant, err error) {
	for _, n := range l.graph.order {
		r, ok := l.rules[n.op.base()]
		if !ok || len(n.inputs) < r.least || len(n.inputs) > r.most {
			continue // reported when the node itself is lowered
		}
		for _, x := range r.ranges(len(n.inputs)) {
			if x.tensor < len(n.inputs) && n.inputs[x.tensor] == in {
				err = attempt(func() { q = (&args{l: l, n: n, ranges: r.ranges}).quant(x.tensor) })
				return q, err
			}
		}
	}
	return builder.Quant{Scale: 1}, nil
}

// lowerOutput makes the outputs of the model.
func lowerOutput(a *args) []value {
	if a.l.ended {
		panic(refuse("a second OUTPUT node"))
	}
	a.l.ended = true
	seen := map[builder.Tensor]bool{}
	for i := range a.n.inputs {
		c, v := a.source(i)
		if c == nil && v.kind == valueReal {
			a.l.outs = append(a.l.outs, outSpec{known: true, real: v.real, bytes: 4})
			continue
		}
		var t builder.Tensor
		size := 4
		if c == nil && v.quant.Scale != 0 {
			t, size = v.tensor, 1
		} else {
			t = a.floats(i)
		}
		if c != nil || seen[t] || a.n.inputs[i].Source == a.l.inputNode() {
			panic(refuse("input %d is a constant, an input of the graph or an output already", i))
		}
		seen[t] = true
		a.l.b.Output(t, fmt.Sprintf("output %d", i))
		a.l.outs = append(a.l.outs, outSpec{bytes: size * int(elements(aligned(a.l.b.Dims(t))))})
	}
	return nil
}

// inputNode is the INPUT node, 0 when there is none.
func (l *lowering) inputNode() NodeID {
	for _, n := range l.graph.order {
		if n.op.base() == "INPUT" {
			return n.id
		}
	}
	return 0
}

// pass returns all inputs. Constants are no values and are refused.
func pass(a *args) []value {
	values := make([]value, len(a.n.inputs))
	for i := range values {
		c, v := a.source(i)
		if c != nil {
			panic(refuse("input %d is a constant", i))
		}
		values[i] = v
	}
	return values
}

// Supported are the operations that graphs may have, Const aside, in the order of the
// interface's list.
func Supported() []Op {
	rules := newRules()
	var list []Op
	for i := range opNames {
		if _, ok := rules[Op(i).base()]; ok {
			list = append(list, Op(i))
		}
	}
	return list
}
