package family

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/lookup"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// fault makes the word that a kernel sets where an input is not valid.
func fault(l *lower.Lowering, reason string) *layout.Tensor {
	word := l.Temporary(layout.I32, 1)
	l.Fault(word, reason)
	fillWith(l, 0, word)
	return word
}

// lowerEntries lowers GATHER and EMBEDDING_LOOKUP.
func lowerEntries(l *lower.Lowering, op *nn.Operation, g opspec.Gather) {
	in, out := try.V2(l.Pair(g.Input, g.Output))
	indices := try.V(l.Value(g.Indices))
	k := &lookup.Gather{Outer: g.Outer, Count: g.Count, Inner: g.Inner, N: indices.N, In: in, Indices: indices, Out: out}
	outside := func(i int32) bool { return i < 0 || int(i) >= g.Count }
	if !constants(l, g.Indices) || slices.ContainsFunc(integers(l, g.Indices), outside) {
		k.Fault = fault(l, fmt.Sprintf("%s: an index is not below %d", op.Type, g.Count))
	}
	l.Launch(k, out, k.Fault)
}

// maxKeys bounds the keys that every lane compares.
const maxKeys = 1 << 16

// lowerHashtable lowers HASHTABLE_LOOKUP.
func lowerHashtable(l *lower.Lowering, _ *nn.Operation, h opspec.Hashtable) {
	refuse(h.Rows > maxKeys, maxCompared, "%d keys", h.Rows)
	lookups, keys := try.V2(l.Pair(h.Lookups, h.Keys))
	values, out := try.V2(l.Pair(h.Values, h.Output))
	hits := try.V(l.Value(h.Hits))
	l.Launch(&lookup.Hashtable{Rows: h.Rows, Size: h.Size, N: lookups.N, Lookups: lookups, Keys: keys, Values: values, Out: out, Hits: hits}, out, hits)
}

// maxRanked bounds the comparisons of a ranking, which grow with the square of a row.
const maxRanked = 1 << 28

// lowerTopK lowers TOPK_V2.
func lowerTopK(l *lower.Lowering, _ *nn.Operation, t opspec.TopK) {
	in, values := try.V2(l.Pair(t.Input, t.Values))
	indices := try.V(l.Value(t.Indices))
	rank(l, in, t.Rows, t.Depth, t.K, values, indices)
}

// rank adds a ranking of the elements of rows.
func rank(l *lower.Lowering, in *layout.Tensor, rows, depth, n int, values, indices *layout.Tensor) {
	refuse(int64(rows)*int64(depth)*int64(depth) > maxRanked, maxRanking, "%d rows of %d elements", rows, depth)
	l.Launch(&lookup.TopK{Rows: rows, Depth: depth, K: n, In: in, Values: values, Indices: indices}, values, indices)
}

// lowerDensify lowers DENSIFY: the places of the values follow from its lists, which are parameters.
func lowerDensify(l *lower.Lowering, _ *nn.Operation, d opspec.Densify) {
	in, out := try.V2(l.Pair(d.Values, d.Output))
	refuse(out.N > maxTable, maxElements, "%d elements", out.N)
	places := make([]uint32, out.N)
	for i := range places {
		places[i] = math.MaxUint32
	}
	try.E(d.Walk(func(x uint32) []int32 { return integers(l, x) }, in.N, func(value, at int) { places[at] = uint32(value) }))
	indices := &layout.Tensor{Region: layout.Consts, Off: l.Constants().Words(places), Elem: layout.I32, N: out.N, First: -1}
	l.Launch(&lookup.Gather{Outer: 1, Count: in.N, Inner: 1, N: out.N, Fill: uint32(l.Operand(d.Values).ZeroPoint), In: in, Indices: indices, Out: out}, out)
}

// integers are the elements of a constant TENSOR_INT32.
func integers(l *lower.Lowering, x uint32) []int32 {
	data := try.V(l.View().Data(x))
	w := make([]int32, len(data)/4)
	for i := range w {
		w[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return w
}

// maxHashedBytes bounds the texts that a hash of LSH_PROJECTION reads.
const maxHashedBytes = 1 << 24

// lowerLsh lowers LSH_PROJECTION.
func lowerLsh(l *lower.Lowering, _ *nn.Operation, p opspec.Lsh) {
	refuse(p.Bits*p.Items*(p.ItemBytes+4) > maxHashedBytes, maxHashed, "%d of %d bytes for each of %d bits", p.Items, p.ItemBytes, p.Bits)
	seeds, in := try.V2(l.Pair(p.Hash, p.Input))
	weights := optional(l, p.Weight)
	out := try.V(l.Value(p.Output))
	l.Launch(&lookup.Lsh{Hashes: p.Hashes, Bits: p.Bits, Items: p.Items, ItemBytes: p.ItemBytes, Kind: p.Kind, Seeds: seeds, In: in, Weights: weights, Out: out}, out)
}

// lowerMultinomial lowers RANDOM_MULTINOMIAL.
func lowerMultinomial(l *lower.Lowering, _ *nn.Operation, m opspec.Multinomial) {
	in, out := try.V2(l.Pair(m.Logits, m.Output))
	seeds := try.V(l.Value(m.Seeds))
	sums := l.Temporary(layout.I32, 2*m.Batches*m.Classes)
	l.Launch(&lookup.Weights{Rows: m.Batches, Classes: m.Classes, In: in, Sums: sums}, sums)
	l.Launch(&lookup.Draw{Rows: m.Batches, Classes: m.Classes, Samples: m.Samples, Sums: sums, Seeds: seeds, Out: out}, out)
}
