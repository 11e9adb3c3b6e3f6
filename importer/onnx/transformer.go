package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// transformerOperators are the operators of transformers, of the standard from version 23 on and of ONNX Runtime's optimizer, and the
// fused forms that it writes.
var transformerOperators = []operator{
	{name: "RMSNormalization", inputs: [2]int{2, 2}, convert: rmsNorm},
	{name: "SimplifiedLayerNormalization", inputs: [2]int{2, 2}, outputs: [2]int{1, 2}, convert: rmsNorm},
	{name: "SimplifiedLayerNormalization", domain: microsoft, inputs: [2]int{2, 2}, outputs: [2]int{1, 2}, convert: rmsNorm},
	{name: "SkipLayerNormalization", domain: microsoft, inputs: [2]int{3, 5}, outputs: [2]int{1, 4}, convert: skipLayerNorm},
	{name: "SkipSimplifiedLayerNormalization", domain: microsoft, inputs: [2]int{3, 4}, outputs: [2]int{1, 4}, convert: skipRMSNorm},
	{name: "Attention", inputs: [2]int{3, 7}, outputs: [2]int{1, 4}, convert: attention},
	{name: "TensorScatter", inputs: [2]int{2, 3}, convert: tensorScatter},
	{name: "MultiHeadAttention", domain: microsoft, inputs: [2]int{3, 8}, outputs: [2]int{1, 4}, convert: multiHeadAttention},
	{name: "GroupQueryAttention", domain: microsoft, inputs: [2]int{7, 14}, outputs: [2]int{1, 4}, convert: groupQueryAttention},
	{name: "EmbedLayerNormalization", domain: microsoft, inputs: [2]int{7, 9}, outputs: [2]int{1, 3}, convert: embedLayerNorm},
	{name: "DecoderMaskedMultiHeadAttention", domain: microsoft, lacks: inCaches},
	{name: "DecoderMaskedSelfAttention", domain: microsoft, lacks: inCaches},
	{name: "PagedAttention", domain: microsoft, lacks: inCaches},
	{name: "RotaryEmbedding", inputs: [2]int{3, 4}, convert: rotaryEmbedding},
	{name: "Swish", inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.swish(x, c.float("alpha", 1)) })},
	{name: "QuickGelu", domain: microsoft, inputs: [2]int{1, 1}, convert: realOf(func(c *conversion, x uint32) uint32 { return c.swish(x, c.float("alpha", 1.702)) })},
	{name: "BiasGelu", domain: microsoft, inputs: [2]int{2, 2}, convert: biasGelu(false)},
	{name: "FastGelu", domain: microsoft, inputs: [2]int{1, 2}, convert: biasGelu(true)},
	{name: "FusedMatMul", domain: microsoft, inputs: [2]int{2, 2}, convert: fusedMatMul},
	{name: "FusedGemm", domain: microsoft, inputs: [2]int{2, 3}, convert: fusedGemm},
}

const inCaches = "NNAPI has no caches that nodes write in place, at places known only during execution"

// standard is the result of an operator of the standard, in its newest version, that a fused operator contains.
func (c *conversion) standard(op string, attributes map[string]*onnxfile.Attribute, in ...*value) *value {
	return c.standardOf(maxOpset, op, attributes, in...)
}

// standardOf is standard in the version of an operator set.
func (c *conversion) standardOf(opset int64, op string, attributes map[string]*onnxfile.Attribute, in ...*value) *value {
	g := *c.graph
	g.opset = opset
	node := &onnxfile.Node{Op: op, Outputs: []string{fmt.Sprintf("\x00%d", len(g.values))}}
	for k, v := range in {
		name := ""
		if v != nil {
			name = fmt.Sprintf("\x00%d input %d", len(g.values), k)
		}
		node.Inputs = append(node.Inputs, name)
	}
	for k, v := range in {
		if v != nil {
			g.values[node.Inputs[k]] = v
		}
	}
	if attributes == nil {
		attributes = map[string]*onnxfile.Attribute{}
	}
	c.im.rows[[2]string{"", op}].convert(&conversion{graph: &g, node: node, attributes: attributes, in: in})
	return g.values[node.Outputs[0]]
}

// fusedGemm is a Gemm and an activation, whose parameters are attributes as well.
func fusedGemm(c *conversion) {
	parameters := map[string]*onnxfile.Attribute{}
	for _, name := range []string{"alpha", "beta", "gamma"} {
		if a := c.attribute("activation_"+name, onnxfile.AttributeFloat); a != nil {
			parameters[name] = a
		}
	}
	y := c.standard("Gemm", c.attributes, c.in...)
	switch kind := c.text("activation", ""); kind {
	case "":
		c.bind(0, y)
	case "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "HardSigmoid", "Softplus", "Softsign":
		c.bind(0, c.standard(kind, parameters, y))
	default:
		c.Refusef("the activation %q", kind)
	}
}

// swish is x / (1 + exp(-alpha x)).
func (c *conversion) swish(x uint32, alpha float32) uint32 {
	inner := x
	if alpha != 1 {
		inner = c.Binary(nn.OpMul, x, c.Like(x, alpha))
	}
	return c.Binary(nn.OpMul, x, c.Unary(nn.OpLogistic, inner))
}

// biasGelu is GELU behind a bias, which may be left out.
func biasGelu(approximate bool) func(*conversion) {
	return func(c *conversion) {
		x := c.reals(0)
		if c.has(1) {
			x = c.Binary(nn.OpAdd, x, c.As(c.reals(1), c.Operand(x).Type))
		}
		c.define(0, c.Gelu(x, approximate))
	}
}

// fusedMatMul is alpha A B of matrices that may be transposed.
func fusedMatMul(c *conversion) {
	if c.flag("transBatchA", 0) || c.flag("transBatchB", 0) {
		c.Refusef("its batches are transposed")
	}
	in := slices.Clone(c.in)
	for k, name := range []string{"transA", "transB"} {
		if rank := len(c.shape(c.v(k))); c.flag(name, 0) && rank > 1 {
			perm := make([]int, rank)
			for i := range perm {
				perm[i] = i
			}
			perm[rank-1], perm[rank-2] = rank-2, rank-1
			in[k] = c.valueOf(c.transposed(c.reals(k), perm))
		}
	}
	y := c.asReals(c.real(c.standard("MatMul", nil, in...), false))
	if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.Binary(nn.OpMul, y, c.Like(y, alpha))
	}
	c.define(0, y)
}

// rootMeanSquare is x / sqrt(mean(x^2) + epsilon) * scale over the dimensions from axis on, and the factor of each row.
func (c *conversion) rootMeanSquare(x, scale uint32, axis int, epsilon float32) (y, inverse uint32) {
	shape := c.Dims(x)
	o := nn.Operand{Type: c.Operand(x).Type}
	rows := c.reshaped(x, []uint32{uint32(nn.Elements(shape[:axis])), uint32(nn.Elements(shape[axis:]))})
	mean := c.Reduce(nn.OpMean, o, c.Binary(nn.OpMul, rows, rows), []int64{1}, true)
	inverse = c.Unary(nn.OpRsqrt, c.Binary(nn.OpAdd, mean, c.Like(mean, epsilon)))
	y = c.Reshape(c.Binary(nn.OpMul, rows, inverse), shape)
	return c.Binary(nn.OpMul, y, c.As(scale, o.Type)), inverse
}

func rmsNorm(c *conversion) {
	x := c.reals(0)
	shape := c.Dims(x)
	axis := c.Axis(c.int("axis", -1), len(shape))
	y, inverse := c.rootMeanSquare(x, c.reals(1), axis, c.float("epsilon", 1e-5))
	c.define(0, y)
	if c.isRead(1) {
		c.define(1, c.Reshape(inverse, append(slices.Clone(shape[:axis]), slices.Repeat([]uint32{1}, len(shape)-axis)...)))
	}
}

// skipped is input 0, the input 1 that skipped over layers, and a bias.
func (c *conversion) skipped(bias int) uint32 {
	x := c.reals(0)
	for _, k := range []int{1, bias} {
		if c.has(k) {
			x = c.Binary(nn.OpAdd, x, c.As(c.reals(k), c.Operand(x).Type))
		}
	}
	if c.isRead(3) {
		c.define(3, x)
	}
	return x
}

// skipLayerNorm is a layer normalization of the sum of its inputs: x, skip, gamma, beta, bias.
func skipLayerNorm(c *conversion) {
	x := c.skipped(4)
	y, _, _ := c.standardized(x, []int64{int64(c.Axis(-1, c.Rank(x)))}, c.float("epsilon", 1e-12))
	y = c.Binary(nn.OpMul, y, c.As(c.reals(2), c.Operand(y).Type))
	if c.has(3) {
		y = c.Binary(nn.OpAdd, y, c.As(c.reals(3), c.Operand(y).Type))
	}
	c.define(0, y)
}

// skipRMSNorm has the inputs x, skip, gamma, bias.
func skipRMSNorm(c *conversion) {
	x := c.skipped(3)
	y, _ := c.rootMeanSquare(x, c.reals(2), c.Axis(-1, c.Rank(x)), c.float("epsilon", 1e-12))
	c.define(0, y)
}

// heads is [N, L, H E] as [N, H, L, E]; a tensor of four dimensions has that form.
func (c *conversion) heads(x uint32, count int64) uint32 {
	d := c.Dims(x)
	switch {
	case len(d) == 4:
		return x
	case len(d) != 3 || count < 1 || int64(d[2])%count != 0:
		c.Failf("shape %v with %d heads", d, count)
	}
	n := uint32(count)
	return c.transposed(c.reshaped(x, []uint32{d[0], d[1], n, d[2] / n}), []int{0, 2, 1, 3})
}

// joined is [N, H, L, E] as [N, L, H E].
func (c *conversion) joined(x uint32) uint32 {
	d := c.Dims(x)
	return c.reshaped(c.transposed(x, []int{0, 2, 1, 3}), []uint32{d[0], d[2], d[1] * d[3]})
}

// repeated repeats each head of [N, H, L, E] for the queries that share it.
func (c *conversion) repeated(x, queries uint32) uint32 {
	d := slices.Clone(c.Dims(x))
	if d[1] == queries {
		return x
	}
	if d[1] == 0 || queries%d[1] != 0 {
		c.Failf("%d heads of queries for %d of keys", queries, d[1])
	}
	x = c.BroadcastTo(c.Reshape(x, []uint32{d[0] * d[1], 1, d[2] * d[3]}), []uint32{d[0] * d[1], queries / d[1], d[2] * d[3]})
	return c.Reshape(x, []uint32{d[0], queries, d[2], d[3]})
}

// scoring is how the scores of an attention become shares.
type scoring struct {
	scale   float32  // of queries times keys, 0 for 1 / sqrt(E)
	softcap float32  // bounds the scores to +-softcap, 0 for none
	biases  []uint32 // added to the scores behind the bound
	causal  bool     // a query sees no key behind its place
	past    uint32   // keys before the place of the first query, of a causal attention
}

// attended is the result y of an attention, and the scores on the way to it: queries times keys, bounded, with the
// biases, and as shares.
type attended struct{ raw, bounded, biased, shares, y uint32 }

// attend is softmax(bound(Q K^T scale) + biases) V of heads [N, H, L, E].
func (c *conversion) attend(q, k, v uint32, s scoring) (a attended) {
	if c.Rank(q) != 4 || c.Rank(k) != 4 || c.Rank(v) != 4 {
		c.Failf("queries, keys and values of shapes %v, %v and %v", c.Dims(q), c.Dims(k), c.Dims(v))
	}
	queries := c.Dims(q)[1]
	k, v = c.repeated(k, queries), c.repeated(v, queries)
	if s.scale == 0 {
		s.scale = float32(1 / math.Sqrt(float64(c.Dims(q)[3])))
	}
	o := nn.Operand{Type: c.Operand(q).Type}
	a.raw = c.BatchMatmul(o, c.Binary(nn.OpMul, q, c.Like(q, s.scale)), k, false, true)
	a.bounded = a.raw
	if s.softcap > 0 {
		a.bounded = c.Binary(nn.OpMul, c.Unary(nn.OpTanh, c.Binary(nn.OpDiv, a.raw, c.Like(q, s.softcap))), c.Like(q, s.softcap))
	}
	a.biased = a.bounded
	if shape := c.Dims(a.raw); s.causal {
		a.biased = c.Binary(nn.OpAdd, a.biased, c.triangle(a.biased, shape[2], shape[3], s.past))
	}
	for _, b := range s.biases {
		a.biased = c.Binary(nn.OpAdd, a.biased, b)
	}
	a.shares = c.real(c.standard("Softmax", nil, c.valueOf(a.biased)), false)
	a.y = c.BatchMatmul(o, a.shares, v, false, false)
	return a
}

// triangle is 0 for keys up to the place of a query, which past keys come before, and minus infinity behind it.
func (c *conversion) triangle(like, queries, keys, past uint32) uint32 {
	if uint64(queries)*uint64(keys) > 1<<24 {
		c.Refusef("it has %d queries and %d keys", queries, keys)
	}
	list := make([]float32, queries*keys)
	for i := range list {
		if uint32(i)%keys > uint32(i)/keys+past {
			list[i] = float32(math.Inf(-1))
		}
	}
	return c.floatLike(like, []uint32{queries, keys}, list)
}

// maskBias is a mask of booleans as 0 and minus infinity, one of reals as it is. Keys that it is too short for are out.
func (c *conversion) maskBias(k int, like, keys uint32) uint32 {
	x := c.raw(k)
	t := c.Operand(like).Type
	out := float32(math.Inf(-1))
	if c.Operand(x).Type == nn.TensorBool8 {
		d := c.Dims(x)
		x = c.choose(x, c.filled(nn.Operand{Type: t}, d, 0), c.filled(nn.Operand{Type: t}, d, out))
	} else {
		x = c.As(c.asReals(x), t)
	}
	if d := slices.Clone(c.Dims(x)); len(d) > 0 && d[len(d)-1] > 1 && d[len(d)-1] < keys {
		d[len(d)-1] = keys - d[len(d)-1]
		x = c.Concat(nn.Operand{Type: t}, len(d)-1, x, c.filled(nn.Operand{Type: t}, d, out))
	}
	return x
}

// attention is the standard's: queries, keys, values, a mask, keys and values of the past, which come first, and how many
// keys of each batch count.
func attention(c *conversion) {
	plain := len(c.shape(c.v(0))) == 3
	q := c.heads(c.reals(0), c.int("q_num_heads", 0))
	t := c.Operand(q).Type
	s := scoring{scale: c.float("scale", 0), softcap: c.float("softcap", 0), causal: c.flag("is_causal", 0)}
	var kv [2]uint32
	for i := range kv {
		x := c.heads(c.As(c.reals(1+i), t), c.int("kv_num_heads", 0))
		if c.has(4 + i) {
			past := c.As(c.reals(4+i), t)
			if c.Rank(past) != 4 {
				c.Failf("input %d has the shape %v", 4+i, c.Dims(past))
			}
			if s.past = c.Dims(past)[2]; s.past > 0 {
				x = c.Concat(nn.Operand{Type: t}, 2, past, x)
			}
		}
		kv[i] = x
		if c.isRead(1 + i) {
			c.define(1+i, x)
		}
	}
	keys := c.Dims(kv[0])[2]
	if c.has(3) {
		s.biases = append(s.biases, c.maskBias(3, q, keys))
	}
	if c.has(6) {
		if c.has(4) || c.has(5) {
			c.Refusef("it has a past and numbers of keys that count")
		}
		s.biases = append(s.biases, c.countedKeys(q, keys, s.causal))
		s.causal = false
	}
	a := c.attend(q, kv[0], kv[1], s)
	y := a.y
	if plain {
		y = c.joined(y)
	}
	c.define(0, y)
	if c.isRead(3) {
		mode := c.int("qk_matmul_output_mode", 0)
		if mode < 0 || mode > 3 {
			c.Failf("qk_matmul_output_mode is %d", mode)
		}
		c.define(3, []uint32{a.raw, a.bounded, a.biased, a.shares}[mode])
	}
}

// countedKeys is 0 for the first keys of each batch, as many as input 6 says, and minus infinity for others. The last
// query of a causal attention stands at the last of them.
func (c *conversion) countedKeys(q, keys uint32, causal bool) uint32 {
	d := c.Dims(q)
	count := c.indices(6)
	if !slices.Equal(c.Dims(count), []uint32{d[0]}) {
		c.Failf("input 6 has the shape %v, a number for each of %d batches needed", c.Dims(count), d[0])
	}
	ends, rows := c.Reshape(count, []uint32{d[0], 1, 1, 1}), uint32(1)
	if causal {
		rows = d[2]
		places := make([]int64, rows)
		for i := range places {
			places[i] = int64(i) + 1 - int64(rows)
		}
		ends = c.Binary(nn.OpAdd, ends, c.Int32Shaped([]uint32{1, 1, rows, 1}, places))
	}
	full := []uint32{d[0], 1, rows, keys}
	o := nn.Operand{Type: c.Operand(q).Type}
	on := c.Compare(nn.OpLess, c.BroadcastTo(c.Reshape(c.Iota(int(keys)), []uint32{1, 1, 1, keys}), full), c.BroadcastTo(ends, full))
	return c.choose(on, c.filled(o, full, 0), c.filled(o, full, float32(math.Inf(-1))))
}

// tensorScatter writes entries of an axis over those of a cache, in each batch from its own place on; in a circular
// cache the first entry follows the last.
func tensorScatter(c *conversion) {
	x, update := c.raw(0), c.raw(1)
	shape, rows := c.Dims(x), c.Dims(update)
	axis := c.Axis(c.int("axis", -2), len(shape))
	mode := c.text("mode", "linear")
	if mode != "linear" && mode != "circular" {
		c.Failf("mode is %q", mode)
	}
	if axis == 0 || len(rows) != len(shape) || rows[axis] > shape[axis] || !slices.Equal(slices.Delete(slices.Clone(rows), axis, axis+1), slices.Delete(slices.Clone(shape), axis, axis+1)) {
		c.Failf("an update of shape %v along dimension %d of a cache of shape %v", rows, axis, shape)
	}
	batches, middle, inner := shape[0], uint32(nn.Elements(shape[1:axis])), uint32(nn.Elements(shape[axis+1:]))
	n := uint64(batches) * uint64(middle) * uint64(rows[axis])
	if n > 1<<20 {
		c.Refusef("it writes %d entries", n)
	}
	size := int64(shape[axis])
	places, bases := make([]int64, 0, n), make([]int64, 0, n) // of an entry along the axis, and of the beginning of its row
	for row := range int64(batches * middle) {
		for i := range int64(rows[axis]) {
			places, bases = append(places, i), append(bases, row*size)
		}
	}
	at := c.Int32Tensor(places...)
	if c.has(2) {
		first := c.indices(2)
		if !slices.Equal(c.Dims(first), []uint32{batches}) {
			c.Failf("input 2 has the shape %v, a place for each of %d batches needed", c.Dims(first), batches)
		}
		spread := c.BroadcastTo(c.Reshape(first, []uint32{batches, 1}), []uint32{batches, uint32(n) / batches})
		at = c.Binary(nn.OpAdd, c.Reshape(spread, []uint32{uint32(n)}), at)
	}
	if mode == "circular" {
		at = c.Binary(nn.OpSub, at, c.Binary(nn.OpMul, c.FloorDiv(at, c.Int32Tensor(size)), c.Int32Tensor(size)))
	}
	at = c.Binary(nn.OpAdd, at, c.Int32Tensor(bases...))
	c.define(0, c.scattered(x, at, update, uint32(n), inner, batches*middle*shape[axis], "none"))
}

// multiHeadAttention is ONNX Runtime's: queries, keys and values [N, L, H E], a bias of all three, a mask of padding, a
// bias of the scores, and keys and values of the past, which come first.
func multiHeadAttention(c *conversion) {
	if c.isRead(3) {
		c.Refusef("its scores are read")
	}
	count := c.int("num_heads", 0)
	var parts [3]uint32
	at := int64(0)
	for k := range parts {
		x := c.reals(k)
		d := c.Dims(x)
		if c.has(3) && len(d) == 3 {
			b := c.Slice(c.As(c.reals(3), c.Operand(x).Type), []int64{at}, []int64{int64(d[2])})
			x = c.Binary(nn.OpAdd, x, b)
			at += int64(d[2])
		}
		parts[k] = c.heads(x, count)
	}
	s := scoring{scale: c.float("scale", 0), causal: c.flag("unidirectional", 0)}
	if c.has(6) != c.has(7) {
		c.Failf("it has a past of keys or of values alone")
	}
	if c.has(6) { // [N, H, P, E], which comes first
		s.past = c.Dims(c.reals(6))[2]
		for i := range 2 {
			o := nn.Operand{Type: c.Operand(parts[1+i]).Type}
			parts[1+i] = c.Concat(o, 2, c.As(c.reals(6+i), o.Type), parts[1+i])
		}
	}
	if c.has(4) {
		s.biases = append(s.biases, c.paddingBias(4, parts[0], c.Dims(parts[1])[2], c.float("mask_filter_value", -10000)))
	}
	if c.has(5) {
		s.biases = append(s.biases, c.As(c.reals(5), c.Operand(parts[0]).Type))
	}
	c.define(0, c.joined(c.attend(parts[0], parts[1], parts[2], s).y))
	for k := 1; k <= 2; k++ { // keys and values, those of the past included
		if k < len(c.node.Outputs) && c.node.Outputs[k] != "" {
			c.define(k, parts[k])
		}
	}
}

// paddingBias is a mask of integers as a bias of the scores of [N, H, L, keys]: 0 for keys that count, out for the others.
// Of shapes [N, keys] and [N, L, keys] it is 0 for keys that do not count; of shape [N] it is how many count.
func (c *conversion) paddingBias(k int, like, keys uint32, out float32) uint32 {
	x, n := c.asInt32(k), c.Dims(like)[0]
	d := c.Dims(x)
	var counts uint32
	switch {
	case len(d) == 1 && d[0] == n:
		places := make([]int64, keys)
		for i := range places {
			places[i] = int64(i)
		}
		counts = c.Compare(nn.OpLess, c.Int32Shaped([]uint32{1, 1, 1, keys}, places), c.reshaped(x, []uint32{n, 1, 1, 1}))
	case len(d) == 2 && d[0] == n && d[1] == keys:
		counts = c.Compare(nn.OpNotEqual, c.reshaped(x, []uint32{n, 1, 1, keys}), c.Int32Tensor(0))
	case len(d) == 3 && d[0] == n && d[2] == keys:
		counts = c.Compare(nn.OpNotEqual, c.reshaped(x, []uint32{n, 1, d[1], keys}), c.Int32Tensor(0))
	default:
		c.Refusef("its mask has the shape %v; [%d], [%d %d] and [%d L %d] are read", d, n, n, keys, n, keys)
	}
	o, shape := nn.Operand{Type: c.Operand(like).Type}, c.Dims(counts)
	return c.choose(counts, c.filled(o, shape, 0), c.filled(o, shape, out))
}

// rotaryEmbedding turns pairs of elements by the angles of their place:
//
//	a cos - b sin,  a sin + b cos
//
// Pairs are of the first and second half of the rotated elements, or side by side where they are interleaved.
func rotaryEmbedding(c *conversion) {
	x := c.reals(0)
	plain := c.Rank(x) == 3
	x = c.heads(x, c.int("num_heads", 0))
	d := slices.Clone(c.Dims(x))
	o := nn.Operand{Type: c.Operand(x).Type}
	turned := c.int("rotary_embedding_dim", 0)
	if turned == 0 {
		turned = int64(d[3])
	}
	if turned%2 != 0 || turned < 2 || turned > int64(d[3]) {
		c.Failf("%d of %d elements are turned", turned, d[3])
	}
	half := uint32(turned / 2)
	angle := func(k int) uint32 {
		table := c.As(c.reals(k), o.Type)
		if c.has(3) {
			if len(c.Dims(table)) != 2 {
				c.Failf("input %d has the shape %v, rows for each place are needed", k, c.Dims(table))
			}
			table = c.GatherAxis(table, 0, c.counted(c.indices(3), c.Dims(table)[0]))
		}
		if want := []uint32{d[0], d[2], half}; !slices.Equal(c.Dims(table), want) {
			c.Failf("input %d has the shape %v, %v needed", k, c.Dims(table), want)
		}
		return c.reshaped(table, []uint32{d[0], 1, d[2], half})
	}
	cos, sin := angle(1), angle(2)
	size := []int64{int64(d[0]), int64(d[1]), int64(d[2]), turned}
	whole := c.Slice(x, []int64{0, 0, 0, 0}, size)
	rows := d[0] * d[1] * d[2]
	axis, pairs := 1, []uint32{rows, 2, half}
	if c.flag("interleaved", 0) {
		axis, pairs = 2, []uint32{rows, half, 2}
	}
	split := c.Reshape(whole, pairs)
	part := func(at int64) uint32 {
		begin, count := []int64{0, 0, 0}, []int64{int64(rows), int64(pairs[1]), int64(pairs[2])}
		begin[axis], count[axis] = at, 1
		return c.Reshape(c.Slice(split, begin, count), []uint32{d[0], d[1], d[2], half})
	}
	a, b := part(0), part(1)
	one := slices.Clone(pairs)
	one[axis] = 1
	re := c.Binary(nn.OpSub, c.Binary(nn.OpMul, a, cos), c.Binary(nn.OpMul, b, sin))
	im := c.Binary(nn.OpAdd, c.Binary(nn.OpMul, a, sin), c.Binary(nn.OpMul, b, cos))
	y := c.Concat(o, axis, c.Reshape(re, one), c.Reshape(im, one))
	y = c.Reshape(y, []uint32{d[0], d[1], d[2], uint32(turned)})
	if rest := int64(d[3]) - turned; rest > 0 {
		size[3] = rest
		y = c.Concat(o, 3, y, c.Slice(x, []int64{0, 0, 0, turned}, size))
	}
	if plain {
		y = c.joined(y)
	}
	c.define(0, y)
}
