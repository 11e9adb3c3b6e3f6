package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// recurrentBuiltins are the operators of recurrent networks.
var recurrentBuiltins = []builtin{
	{code: 24, name: "RNN", version: 3, inputs: [2]int{5, 5}, options: "RNNOptions", convert: rnn},
	{code: 35, name: "UNIDIRECTIONAL_SEQUENCE_RNN", version: 3, inputs: [2]int{5, 5}, options: "SequenceRNNOptions", convert: sequenceRNN},
	{code: 46, name: "BIDIRECTIONAL_SEQUENCE_RNN", version: 3, inputs: [2]int{12, 12}, outputs: [2]int{1, 2}, options: "BidirectionalSequenceRNNOptions", convert: bidirectionalRNN},
	{code: 16, name: "LSTM", version: 4, inputs: [2]int{5, 24}, outputs: [2]int{1, 4}, options: "LSTMOptions", convert: lstm},
	{code: 44, name: "UNIDIRECTIONAL_SEQUENCE_LSTM", version: 4, inputs: [2]int{20, 24}, options: "UnidirectionalSequenceLSTMOptions", convert: sequenceLSTM},
	{code: 52, name: "BIDIRECTIONAL_SEQUENCE_LSTM", version: 3, inputs: [2]int{48, 48}, outputs: [2]int{1, 2}, options: "BidirectionalSequenceLSTMOptions", convert: bidirectionalLSTM},
	{code: 27, name: "SVDF", version: 4, inputs: [2]int{5, 5}, options: "SVDFOptions", convert: svdf},
}

// real32 is a float32 operand of a shape.
func real32(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }

// operands are inputs from to but not including to, in float32; omitted ones
// have no value.
func (c *conversion) operands(from, to int) []uint32 {
	list := make([]uint32, 0, to-from)
	for k := from; k < to; k++ {
		if !c.has(k) {
			list = append(list, c.NoValue(nn.TensorFloat32))
			continue
		}
		list = append(list, c.As(c.x(k), nn.TensorFloat32))
	}
	return list
}

// dynamicInput is input k, quantized as the hybrid kernels do where the weights
// of input w are 8 bits wide.
func (c *conversion) dynamicInput(k, w int) uint32 {
	x := c.x(k)
	weights := c.Operand(c.x(w))
	if c.Operand(x).Type == nn.TensorFloat32 && (weights.Type.IsQuant8() || weights.Channel != nil) {
		return c.dynamicQuantization(x, []int64{int64(len(c.Operand(x).Dimensions)) - 1}, c.options.Bool("asymmetric_quantize_inputs"))
	}
	return c.As(x, nn.TensorFloat32)
}

// gateActivation is the activation code of recurrent operations: NNAPI's are
// those of the format, tanh included.
func (c *conversion) gateActivation() uint32 {
	switch code := c.options.Int("activation"); code {
	case 0, 1, 3, 4:
		return c.Int32Scalar(code)
	default:
		c.Refusef("fused activation %d", code)
	}
	return 0
}

// shapeOf is the shape of input k, which must have a rank.
func (c *conversion) shapeOf(k, rank int) []uint32 {
	d := c.Dims(c.x(k))
	if len(d) != rank {
		c.Failf("input %d has shape %v, rank %d needed", k, d, rank)
	}
	return d
}

func rnn(c *conversion) {
	x, w := c.shapeOf(0, 2), c.shapeOf(1, 2)
	in := append([]uint32{c.dynamicInput(0, 1)}, c.operands(1, 4)...)
	in = append(in, c.dynamicInput(4, 2), c.gateActivation())
	results := c.EmitAll(nn.OpRnn, []nn.Operand{real32(x[0], w[0]), real32(x[0], w[0])}, in...)
	c.next(4, results[0])
	c.define(0, results[1])
}

func sequenceRNN(c *conversion) {
	x, w := c.shapeOf(0, 3), c.shapeOf(1, 2)
	major := int64(0)
	batch := x[0]
	if c.options.Bool("time_major") {
		major, batch = 1, x[1]
	}
	in := append([]uint32{c.dynamicInput(0, 1)}, c.operands(1, 5)...)
	in = append(in, c.gateActivation(), c.Int32Scalar(major))
	results := c.EmitAll(nn.OpUnidirectionalSequenceRnn, []nn.Operand{real32(x[0], x[1], w[0]), real32(batch, w[0])}, in...)
	c.next(4, results[1])
	c.define(0, results[0])
}

func bidirectionalRNN(c *conversion) {
	x, fw, bw := c.shapeOf(0, 3), c.shapeOf(1, 2)[0], c.shapeOf(5, 2)[0]
	batch := x[0]
	if c.options.Bool("time_major") {
		batch = x[1]
	}
	in := append([]uint32{c.dynamicInput(0, 1)}, c.operands(1, 12)...)
	in = append(in, c.gateActivation(), c.BoolScalar(c.options.Bool("time_major")), c.BoolScalar(c.options.Bool("merge_outputs")))
	outs := []nn.Operand{real32(x[0], x[1], fw), real32(x[0], x[1], bw)}
	if c.options.Bool("merge_outputs") {
		outs = []nn.Operand{real32(x[0], x[1], fw+bw)}
	}
	n := len(outs)
	results := c.EmitAll(nn.OpBidirectionalSequenceRnn, append(outs, real32(batch, fw), real32(batch, bw)), in...)
	c.next(4, results[n])
	c.next(8, results[n+1])
	c.defineAll(results[:n])
}

// defineAll sets as many outputs as the operator has.
func (c *conversion) defineAll(results []uint32) {
	if len(c.outTensors) > len(results) {
		c.Failf("%d outputs, %d needed", len(c.outTensors), len(results))
	}
	for k := range c.outTensors {
		c.define(k, results[k])
	}
}

// cell are the sizes of an LSTM cell whose operands begin at input first.
func (c *conversion) cell(first int) (units, out uint32) {
	return c.shapeOf(first+4, 2)[0], c.shapeOf(first+6, 2)[1]
}

func lstm(c *conversion) {
	if c.options.Int("kernel_type") == 1 {
		basicLSTM(c)
		return
	}
	if len(c.in) != 20 && len(c.in) != 24 {
		c.Failf("%d inputs, 20 or 24 needed", len(c.in))
	}
	if len(c.outTensors) != 1 {
		c.Failf("%d outputs, 1 needed", len(c.outTensors))
	}
	x := c.shapeOf(0, 2)
	if c.typeOf() == nn.TensorQuant8AsymmSigned {
		h, s, y := c.integerLSTM(c.x(0), c.x(18), c.x(19))
		c.next(18, h)
		c.next(19, s)
		c.define(0, y)
		return
	}
	units, out := c.cell(0)
	in := append([]uint32{c.dynamicInput(0, 4)}, c.operands(1, 18)...)
	in = append(in, c.dynamicInput(18, 8), c.As(c.x(19), nn.TensorFloat32), c.gateActivation(),
		c.ScalarLike(in[0], c.options.Float("cell_clip")), c.ScalarLike(in[0], c.options.Float("proj_clip")))
	if len(c.in) == 24 {
		in = append(in, c.operands(20, 24)...)
	}
	gates := uint32(4)
	if !c.has(1) {
		gates = 3
	}
	results := c.EmitAll(nn.OpLstm, []nn.Operand{real32(x[0], gates*units), real32(x[0], out), real32(x[0], units), real32(x[0], out)}, in...)
	c.next(18, results[1])
	c.next(19, results[2])
	c.define(0, results[3])
}

func sequenceLSTM(c *conversion) {
	if c.options.Bool("diagonal_recurrent_tensors") {
		c.Refusef("its recurrent weights are diagonals")
	}
	x := c.shapeOf(0, 3)
	major := c.options.Bool("time_major")
	batch := x[0]
	if major {
		batch = x[1]
	}
	if c.typeOf() == nn.TensorQuant8AsymmSigned {
		c.unrolled(x, major)
		return
	}
	units, out := c.cell(0)
	in := append([]uint32{c.dynamicInput(0, 4)}, c.operands(1, 20)...)
	in = append(in, c.gateActivation(), c.ScalarLike(in[0], c.options.Float("cell_clip")), c.ScalarLike(in[0], c.options.Float("proj_clip")),
		c.BoolScalar(major))
	in = append(in, c.operands(20, 24)...)
	results := c.EmitAll(nn.OpUnidirectionalSequenceLstm, []nn.Operand{real32(x[0], x[1], out), real32(batch, out), real32(batch, units)}, in...)
	c.next(18, results[1])
	c.next(19, results[2])
	c.define(0, results[0])
}

func bidirectionalLSTM(c *conversion) {
	x := c.shapeOf(0, 3)
	major, merge := c.options.Bool("time_major"), c.options.Bool("merge_outputs")
	batch := x[0]
	if major {
		batch = x[1]
	}
	units, fw := c.cell(0)
	backUnits, bw := c.cell(17)
	in := append([]uint32{c.dynamicInput(0, 4)}, c.operands(1, 48)...)
	in = append(in, c.gateActivation(), c.ScalarLike(in[0], c.options.Float("cell_clip")), c.ScalarLike(in[0], c.options.Float("proj_clip")),
		c.BoolScalar(merge), c.BoolScalar(major))
	for range 8 {
		in = append(in, c.NoValue(nn.TensorFloat32))
	}
	outs := []nn.Operand{real32(x[0], x[1], fw), real32(x[0], x[1], bw)}
	if merge {
		outs = []nn.Operand{real32(x[0], x[1], fw+bw)}
	}
	n := len(outs)
	outs = append(outs, real32(batch, fw), real32(batch, units), real32(batch, bw), real32(batch, backUnits))
	results := c.EmitAll(nn.OpBidirectionalSequenceLstm, outs, in...)
	for i := range 4 {
		c.next(35+i, results[n+i])
	}
	c.defineAll(results[:n])
}

// unrolled is an integer LSTM over a sequence: NNAPI has the single step.
func (c *conversion) unrolled(x []uint32, major bool) {
	time, batch := 1, 0
	if major {
		time, batch = 0, 1
	}
	h, s := c.x(18), c.x(19)
	steps := make([]uint32, x[time])
	all := c.x(0)
	if len(steps) > 1<<12 {
		c.Refusef("a sequence of %d steps, at most 4096 can be unrolled", len(steps))
	}
	for t := range steps {
		begin, size := make([]int64, 3), lowering.Signed(x)
		begin[time], size[time] = int64(t), 1
		one := c.Reshape(c.Slice(all, begin, size), []uint32{x[batch], x[2]})
		h, s, steps[t] = c.integerLSTM(one, h, s)
		d := c.Dims(steps[t])
		steps[t] = c.Reshape(steps[t], slices.Insert(slices.Clone(d), time, 1))
	}
	c.next(18, h)
	c.next(19, s)
	c.define(0, c.Concat(*c.Operand(steps[0]), time, steps...))
}

// integerLSTM is one step of an LSTM of int8 activations and weights and an
// int16 cell state, NNAPI's QUANTIZED_LSTM.
func (c *conversion) integerLSTM(x, h, s uint32) (nextH, nextS, y uint32) {
	units, out := c.cell(0)
	batch := c.Dims(x)[0]
	retyped := func(k int, t nn.OperandType) uint32 {
		if !c.has(k) {
			return c.NoValue(t)
		}
		o := *c.Operand(c.x(k))
		if t == nn.TensorQuant16Symm {
			return c.stored16(c.x(k))
		}
		if t == nn.TensorInt32 {
			o.Scale = 0
		} else if o.ZeroPoint != 0 || o.Channel != nil {
			c.Refusef("input %d is not quantized symmetrically with one scale", k)
		}
		if !o.IsConst() {
			c.Refusef("input %d is no constant", k)
		}
		o.Type = t
		return c.Add(o)
	}
	in := []uint32{x}
	for k := 1; k < 20; k++ {
		switch {
		case k <= 8 || k == 16:
			in = append(in, retyped(k, nn.TensorQuant8Symm))
		case k <= 11:
			in = append(in, retyped(k, nn.TensorQuant16Symm))
		case k <= 17:
			in = append(in, retyped(k, nn.TensorInt32))
		}
	}
	s = c.stored16(s)
	in = append(in, h, s)
	for k := 20; k < 24; k++ {
		in = append(in, retyped(k, nn.TensorQuant16Symm))
	}
	in = append(in, c.ScalarLike(h, c.options.Float("cell_clip")), c.ScalarLike(h, c.options.Float("proj_clip")))
	if len(c.innerTensors) != 5 {
		c.Failf("%d intermediate tensors, 5 needed", len(c.innerTensors))
	}
	for _, t := range c.innerTensors[:4] {
		in = append(in, c.ScalarLike(h, c.intermediate(t).Scale))
	}
	hidden := c.intermediate(c.innerTensors[4])
	in = append(in, c.Int32Scalar(int64(hidden.ZeroPoint)), c.ScalarLike(h, hidden.Scale))
	shaped := func(o nn.Operand, dims ...uint32) nn.Operand {
		o.Dimensions, o.Name = dims, ""
		return o
	}
	results := c.EmitAll(nn.OpQuantizedLstm, []nn.Operand{
		shaped(*c.Operand(h), batch, out), shaped(*c.Operand(s), batch, units), shaped(c.out(0), batch, out),
	}, in...)
	return results[0], results[1], results[2]
}

// stored16 is a 16-bit value in the type of the LSTM operations, TENSOR_QUANT16_SYMM: a constant or a state.
func (c *conversion) stored16(x uint32) uint32 {
	o := c.Operand(x)
	switch {
	case o.Type == nn.TensorQuant16Symm:
		return x
	case !lowering.Is16(o):
		c.Refusef("%q is %v without a scale, 16 bits needed", o.Name, o.Type)
	case o.Lifetime == nn.SubgraphInput:
		o.Type = nn.TensorQuant16Symm
		return x
	case !o.IsConst():
		c.Refusef("%q is neither a constant nor a state", o.Name)
	}
	narrow := *o
	narrow.Type, narrow.Lifetime, narrow.Data = nn.TensorQuant16Symm, nn.ConstantCopy, make([]byte, 0, len(o.Data)/2)
	for i := 0; i < len(o.Data); i += 4 {
		narrow.Data = append(narrow.Data, o.Data[i], o.Data[i+1])
	}
	return c.Add(narrow)
}

// intermediate is a tensor that carries only a quantization.
func (c *conversion) intermediate(t int) nn.Operand {
	o, _ := c.declare(t)
	if q := c.quantization(t); o.Scale == 0 && len(q.scales) > 0 {
		o.Scale = q.scales[0]
	}
	return o
}

// basicLSTM is the kernel of the first quantized LSTM: one matrix of weights
// [4 * units, inputs + units] for the gates input, cell, forget and output.
// In uint8 it is NNAPI's QUANTIZED_16BIT_LSTM, in float32 a composition.
func basicLSTM(c *conversion) {
	if len(c.in) != 5 || len(c.outTensors) < 2 {
		c.Failf("%d inputs and %d outputs, 5 and 4 needed", len(c.in), len(c.outTensors))
	}
	x, h, s := c.x(0), c.x(1), c.x(4)
	if c.typeOf() != nn.TensorFloat32 {
		s = c.stored16(s)
	}
	units, size := c.shapeOf(1, 2)[1], c.shapeOf(0, 2)[1]
	if w := c.shapeOf(2, 2); w[0] != 4*units || w[1] != size+units {
		c.Failf("weights of shape %v for %d inputs and %d units", w, size, units)
	}
	float := nn.Operand{Type: nn.TensorFloat32}
	if c.typeOf() == nn.TensorFloat32 {
		joined := c.Concat(float, 1, x, h)
		sums := c.Emit(nn.OpFullyConnected, float, joined, c.x(2), c.x(3), c.Int32Scalar(0))
		g := c.EmitAll(nn.OpSplit, []nn.Operand{float, float, float, float}, sums, c.Int32Scalar(1), c.Int32Scalar(4))
		admitted := c.Binary(nn.OpMul, c.Unary(nn.OpLogistic, g[0]), c.Unary(nn.OpTanh, g[1]))
		state := c.Binary(nn.OpAdd, admitted, c.Binary(nn.OpMul, c.Unary(nn.OpLogistic, g[2]), s))
		y := c.Binary(nn.OpMul, c.Unary(nn.OpLogistic, g[3]), c.Unary(nn.OpTanh, state))
		c.next(1, y)
		c.next(4, state)
		c.defineAll([]uint32{y, state, joined, sums})
		return
	}
	n, m := int64(units), int64(size)
	part := func(gate int64, begin, count int64) uint32 {
		return c.Slice(c.x(2), []int64{gate * n, begin}, []int64{n, count})
	}
	gates := []int64{0, 2, 1, 3} // NNAPI has forget before cell
	in := []uint32{x}
	for _, g := range gates {
		in = append(in, part(g, 0, m))
	}
	for _, g := range gates {
		in = append(in, part(g, m, n))
	}
	c.checkBias(3, c.Operand(x).Scale, c.Operand(c.x(2)))
	for _, g := range gates {
		bias := *c.Operand(c.Slice(c.x(3), []int64{g * n}, []int64{n}))
		bias.Scale = c.Operand(x).Scale * c.Operand(c.x(2)).Scale
		in = append(in, c.Add(bias))
	}
	batch := c.shapeOf(0, 2)[0]
	state, y := *c.Operand(s), *c.Operand(h)
	state.Dimensions, y.Dimensions, state.Name, y.Name = []uint32{batch, units}, []uint32{batch, units}, "", ""
	results := c.EmitAll(nn.OpQuantized16bitLstm, []nn.Operand{state, y}, append(in, s, h)...)
	c.next(1, results[1])
	c.next(4, results[0])
	c.define(0, results[1])
	c.define(1, results[0])
	for k := 2; k < len(c.outTensors); k++ { // scratch of the kernel, which nothing reads
		o := c.out(k)
		o.Dimensions = lowering.Held(c.fileShape(c.outTensors[k]))
		c.define(k, c.Filled(o, 0))
	}
}

// svdf in float32 is NNAPI's. The integer one is a composition that rounds
// where the kernel does: the features to the state's 16 bits, the result to 8.
func svdf(c *conversion) {
	x, features, memory := c.shapeOf(0, 2), c.shapeOf(1, 2)[0], c.shapeOf(2, 2)[1]
	rank := c.options.Int("rank")
	if rank < 1 || int64(features)%rank != 0 {
		c.Failf("rank %d of %d features", rank, features)
	}
	batch, units := x[0], features/uint32(rank)
	if c.typeOf() == nn.TensorFloat32 {
		in := append([]uint32{c.dynamicInput(0, 1)}, c.operands(1, 5)...)
		results := c.EmitAll(nn.OpSvdf, []nn.Operand{real32(batch, features*memory), real32(batch, units)},
			append(in, c.option("rank"), c.gateActivation())...)
		c.next(4, results[0])
		c.define(0, results[1])
		return
	}
	float, stored := nn.Operand{Type: nn.TensorFloat32}, c.template(c.inTensors[4])
	zeros := c.FloatTensor([]uint32{features}, make([]float32, features))
	newest := c.Emit(nn.OpFullyConnected, float, c.As(c.x(0), nn.TensorFloat32), c.As(c.x(1), nn.TensorFloat32), zeros, c.Int32Scalar(0))
	newest = c.Reshape(c.As(c.To(newest, stored), nn.TensorFloat32), []uint32{batch, features, 1})
	state := newest
	if memory > 1 {
		older := c.Reshape(c.As(c.x(4), nn.TensorFloat32), []uint32{batch, features, memory})
		older = c.Slice(older, []int64{0, 0, 1}, []int64{int64(batch), int64(features), int64(memory) - 1})
		state = c.Concat(float, 2, older, newest)
	}
	sum := func(x uint32) uint32 { return c.Emit(nn.OpReduceSum, float, x, c.Int32Tensor(2), c.BoolScalar(false)) }
	y := sum(c.Binary(nn.OpMul, state, c.As(c.x(2), nn.TensorFloat32)))
	y = sum(c.Reshape(y, []uint32{batch, units, uint32(rank)}))
	if c.has(3) {
		s, w := *c.Operand(c.x(4)), *c.Operand(c.x(2))
		y = c.Binary(nn.OpAdd, y, c.realBias(3, units, &s, &w))
	}
	c.next(4, c.To(c.Reshape(state, []uint32{batch, features * memory}), stored))
	c.define(0, c.activate(y))
}
