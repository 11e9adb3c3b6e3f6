package onnx

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// embedLayerNorm is ONNX Runtime's: rows of tables for words, places and segments, added and normalized. Output 1 is how
// many words count, by the mask, output 2 the sum.
func embedLayerNorm(c *conversion) {
	const words, segments, tables, gamma, beta, mask, places = 0, 1, 2, 5, 6, 7, 8
	shape := c.shape(c.v(words))
	if len(shape) != 2 {
		c.Failf("input 0 has the shape %v, [batch sequence] needed", shape)
	}
	rows := func(table int, idx uint32) uint32 {
		x := c.reals(table)
		if d := c.Dims(x); len(d) != 2 {
			c.Failf("input %d has the shape %v, rows of a table needed", table, d)
		}
		return c.GatherAxis(x, 0, c.counted(idx, c.Dims(x)[0]))
	}
	sum := rows(tables, c.indices(words))
	t := c.Operand(sum).Type
	if c.has(places) {
		sum = c.Binary(nn.OpAdd, sum, c.As(rows(tables+1, c.indices(places)), t))
	} else {
		sum = c.Binary(nn.OpAdd, sum, c.As(rows(tables+1, c.Iota(int(shape[1]))), t))
	}
	if c.has(segments) && c.has(tables+2) {
		sum = c.Binary(nn.OpAdd, sum, c.As(rows(tables+2, c.indices(segments)), t))
	}
	y, _, _ := c.standardized(sum, []int64{2}, c.float("epsilon", 1e-12))
	y = c.Binary(nn.OpMul, y, c.As(c.reals(gamma), t))
	c.define(0, c.Binary(nn.OpAdd, y, c.As(c.reals(beta), t)))
	if c.isRead(1) {
		count := c.Int32Shaped(shape[:1], make([]int64, shape[0]))
		if c.has(mask) {
			on := c.As(c.Compare(nn.OpEqual, c.asInt32(mask), c.Int32Tensor(1)), nn.TensorFloat32)
			count = c.As(c.Reduce(nn.OpReduceSum, nn.Operand{Type: nn.TensorFloat32}, on, []int64{1}, false), nn.TensorInt32)
		}
		c.define(1, count)
	}
	if c.isRead(2) {
		c.define(2, sum)
	}
}

// Inputs of GroupQueryAttention behind queries, keys and values.
const (
	groupedPast   = 3 // of keys; of values next to it
	groupedCounts = 5 // keys of each batch that count, less one
	groupedTotal  = 6 // keys with those of the past
	groupedCos    = 7 // the sine next to it
	groupedPlaces = 9
	groupedBias   = 10
	groupedSink   = 11
)

// groupQueryAttention is ONNX Runtime's causal attention in which several heads of queries share one of keys: queries may
// hold keys and values too, places turn queries and keys, those of the past come first.
func groupQueryAttention(c *conversion) {
	heads, shared := c.int("num_heads", 0), c.int("kv_num_heads", 0)
	switch {
	case c.has(groupedSink) || c.flag("smooth_softmax", 0):
		c.Refusef("its shares have a sink (head_sink or smooth_softmax)")
	case c.isRead(3) || c.int("qk_output", 0) != 0:
		c.Refusef("its scores are read")
	}
	q, k, v := c.groupedParts(heads, shared)
	o := nn.Operand{Type: c.Operand(q).Type}
	past := uint32(0)
	if c.has(groupedPast) {
		past = c.Dims(c.reals(groupedPast))[2]
	}
	c.wholePast(c.Dims(q)[0], int64(past)+int64(c.Dims(q)[2]))
	if c.flag("do_rotary", 0) {
		q, k = c.rotated(q, past), c.rotated(k, past)
	}
	if past > 0 {
		k = c.Concat(o, 2, c.As(c.reals(groupedPast), o.Type), k)
		v = c.Concat(o, 2, c.As(c.reals(groupedPast+1), o.Type), v)
	}
	s := scoring{scale: c.float("scale", 0), softcap: c.float("softcap", 0), causal: true, past: past}
	if window := c.int("local_window_size", -1); window >= 0 {
		s.biases = append(s.biases, c.localBias(q, c.Dims(k)[2], past, window))
	}
	if c.has(groupedBias) {
		s.biases = append(s.biases, c.As(c.reals(groupedBias), o.Type))
	}
	c.define(0, c.joined(c.attend(q, k, v, s).y))
	for i, x := range []uint32{k, v} {
		if 1+i < len(c.node.Outputs) && c.node.Outputs[1+i] != "" {
			c.define(1+i, x)
		}
	}
}

// groupedParts are queries, keys and values as heads [N, H, L, E].
func (c *conversion) groupedParts(heads, shared int64) (q, k, v uint32) {
	if heads < 1 || shared < 1 || heads%shared != 0 {
		c.Failf("%d heads of queries for %d of keys", heads, shared)
	}
	q = c.reals(0)
	if c.has(1) {
		t := c.Operand(q).Type
		return c.heads(q, heads), c.heads(c.As(c.reals(1), t), shared), c.heads(c.As(c.reals(2), t), shared)
	}
	d := lowering.Signed(c.Dims(q))
	if len(d) != 3 || d[2]%(heads+2*shared) != 0 {
		c.Failf("queries, keys and values in the shape %v for %d and %d heads", d, heads, shared)
	}
	size, at := d[2]/(heads+2*shared), int64(0)
	part := func(n int64) uint32 {
		x := c.Slice(q, []int64{0, 0, at}, []int64{d[0], d[1], n * size})
		at += n * size
		return c.heads(x, n)
	}
	return part(heads), part(shared), part(shared)
}

// wholePast refuses numbers of keys other than all there are.
func (c *conversion) wholePast(batches uint32, keys int64) {
	total, ok := c.Ints(c.asInt32(groupedTotal))
	if !ok || len(total) != 1 {
		c.Refusef("how many keys there are is known only during execution (total_sequence_length); a constant of %d would do", keys)
	}
	if total[0] != keys {
		c.Refusef("total_sequence_length is %d, its inputs have %d keys; caches longer than what they hold are not read", total[0], keys)
	}
	counts, ok := c.Ints(c.asInt32(groupedCounts))
	if !ok && batches > 1 {
		c.Refusef("how many keys of each of its %d batches count is known only during execution (seqlens_k)", batches)
	}
	if slices.ContainsFunc(counts, func(n int64) bool { return n != keys-1 }) {
		c.Refusef("seqlens_k is %v, %d in each batch would do: batches with padding are not read", counts, keys-1)
	}
}

// rotated turns heads by the angles of their places, which past ones come before.
func (c *conversion) rotated(x, past uint32) uint32 {
	d := c.Dims(x)
	cos, sin, places := c.optional(groupedCos), c.optional(groupedCos+1), c.optional(groupedPlaces)
	if cos == nil || sin == nil {
		c.Failf("do_rotary without cos_cache and sin_cache")
	}
	if places == nil {
		var list []int64
		for range d[0] {
			for i := range d[2] {
				list = append(list, int64(past)+int64(i))
			}
		}
		places = c.valueOf(c.Int32Shaped([]uint32{d[0], d[2]}, list))
	}
	attributes := map[string]*onnxfile.Attribute{"interleaved": {Name: "interleaved", Type: onnxfile.AttributeInt, Int: c.int("rotary_interleaved", 0)}}
	if table := c.shape(cos); len(table) == 2 && 2*table[1] != d[3] {
		attributes["rotary_embedding_dim"] = &onnxfile.Attribute{Name: "rotary_embedding_dim", Type: onnxfile.AttributeInt, Int: 2 * int64(table[1])}
	}
	return c.real(c.standard("RotaryEmbedding", attributes, c.valueOf(x), cos, sin, places), false)
}

// localBias is 0 for the last keys up to the place of a query, as many as the window has, and minus infinity before them.
func (c *conversion) localBias(q, keys, past uint32, window int64) uint32 {
	queries := c.Dims(q)[2]
	if uint64(queries)*uint64(keys) > 1<<24 {
		c.Refusef("it has %d queries and %d keys", queries, keys)
	}
	list := make([]float32, queries*keys)
	for i := range list {
		if int64(uint32(i)%keys) <= int64(uint32(i)/keys+past)-window {
			list[i] = float32(math.Inf(-1))
		}
	}
	return c.floatLike(q, []uint32{queries, keys}, list)
}
