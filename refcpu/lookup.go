package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/farm"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
	"github.com/nnsoc/nnsoc/refcpu/internal/philox"
	"github.com/x448/float16"
)

// lookupKernels pick elements by index, key, hash or size, or at random.
var lookupKernels = []operation{
	{op: nn.OpGather, prepare: read(prepareGather)},
	{op: nn.OpEmbeddingLookup, prepare: read(prepareGather)},
	{op: nn.OpHashtableLookup, prepare: read(prepareHashtable)},
	{op: nn.OpLshProjection, prepare: read(prepareLsh)},
	{op: nn.OpTopkV2, prepare: read(prepareTopK)},
	{op: nn.OpRandomMultinomial, prepare: read(prepareMultinomial)},
	{op: nn.OpDensify, prepare: read(prepareDensify)},
}

// prepareGather is GATHER and EMBEDDING_LOOKUP.
func prepareGather(_ opspec.View, _ *nn.Operation, g opspec.Gather) (Kernel, error) {
	n := g.Inner * g.Type.ElementBytes()
	return func(x *Run) error {
		in, out, indices := x.Bytes(g.Input), x.Bytes(g.Output), x.int32s(g.Indices)
		for i, k := range indices {
			if k < 0 || int(k) >= g.Count {
				return fmt.Errorf("index %d is %d, there are %d", i, k, g.Count)
			}
		}
		for o := range g.Outer {
			for i, k := range indices {
				at := (o*len(indices) + i) * n
				copy(out[at:at+n], in[(o*g.Count+int(k))*n:])
			}
		}
		return nil
	}, nil
}

// prepareHashtable is HASHTABLE_LOOKUP: a row of zeros where a key is absent.
func prepareHashtable(_ opspec.View, _ *nn.Operation, h opspec.Hashtable) (Kernel, error) {
	n := h.Size * h.Type.ElementBytes()
	return func(x *Run) error {
		row := map[int32]int{}
		for i, k := range x.int32s(h.Keys) {
			if _, ok := row[k]; !ok {
				row[k] = i
			}
		}
		values, out, hits := x.Bytes(h.Values), x.Bytes(h.Output), x.Bytes(h.Hits)
		for i, k := range x.int32s(h.Lookups) {
			dst := out[i*n : (i+1)*n]
			r, ok := row[k]
			if !ok {
				clear(dst)
				hits[i] = 0
				continue
			}
			copy(dst, values[r*n:])
			hits[i] = 1
		}
		return nil
	}, nil
}

// prepareTopK is TOPK_V2: descending, NaN before numbers, the lower index first of equals.
func prepareTopK(_ opspec.View, _ *nn.Operation, t opspec.TopK) (Kernel, error) {
	return func(x *Run) error {
		indices := x.int32s(t.Indices)
		switch {
		case isFloat(t.Type):
			out, done := x.floatsOut(t.Values, &x.shared)
			topRows(&t, out, indices, x.floats(t.Input, &x.shared))
			done()
		case t.Type == nn.TensorInt32:
			topRows(&t, x.int32s(t.Values), indices, x.int32s(t.Input))
		case t.Type == nn.TensorQuant8Asymm:
			topRows(&t, x.Bytes(t.Values), indices, x.Bytes(t.Input))
		default:
			in := x.Bytes(t.Input)
			signed, out := make([]int8, len(in)), make([]int8, len(x.Bytes(t.Values)))
			for i, b := range in {
				signed[i] = int8(b)
			}
			topRows(&t, out, indices, signed)
			for i, b := range out {
				x.Bytes(t.Values)[i] = byte(b)
			}
		}
		return nil
	}, nil
}

// topRows keeps the K best of each row in a heap whose root is the worst.
func topRows[T constraints.Integer | constraints.Float](t *opspec.TopK, values []T, indices []int32, in []T) {
	heap := make([]int32, 0, t.K)
	for r := range t.Rows {
		row := in[r*t.Depth : (r+1)*t.Depth]
		worse := func(a, b int32) bool {
			x, y := row[a], row[b]
			return x < y || x == x && y != y || a > b && (x == y || x != x && y != y)
		}
		sink := func(i int) {
			for {
				c := 2*i + 1
				if c >= len(heap) {
					return
				}
				if c+1 < len(heap) && worse(heap[c+1], heap[c]) {
					c++
				}
				if !worse(heap[c], heap[i]) {
					return
				}
				heap[c], heap[i] = heap[i], heap[c]
				i = c
			}
		}
		heap = heap[:0]
		for i := range t.K {
			heap = append(heap, int32(i))
		}
		for i := t.K/2 - 1; i >= 0; i-- {
			sink(i)
		}
		for i := t.K; i < t.Depth; i++ {
			if worse(heap[0], int32(i)) {
				heap[0] = int32(i)
				sink(0)
			}
		}
		for n := t.K - 1; n >= 0; n-- {
			indices[r*t.K+n], values[r*t.K+n] = heap[0], row[heap[0]]
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
			sink(0)
		}
	}
}

// prepareLsh is LSH_PROJECTION: each bit is the sign of the weighted sum of
// the hashes of all items under one seed.
func prepareLsh(_ opspec.View, _ *nn.Operation, l opspec.Lsh) (Kernel, error) {
	return func(x *Run) error {
		items, seeds := x.Bytes(l.Input), x.floats(l.Hash, &x.shared)
		var weights []float32
		if l.Weight != opspec.None {
			weights = x.floats(l.Weight, &x.shared)
		}
		if x.budget.work -= int64(len(seeds)) * int64(len(items)+16*l.Items); x.budget.work < 0 {
			return fmt.Errorf("%d hashes of %d items: %w", len(seeds), l.Items, errLimit)
		}
		out := x.int32s(l.Output)
		key := make([]byte, 4+l.ItemBytes)
		for h := range l.Hashes {
			signature := int32(0)
			for b := range l.Bits {
				seed := seeds[h*l.Bits+b]
				binary.LittleEndian.PutUint32(key, math.Float32bits(seed))
				if l.Type == nn.TensorFloat16 {
					binary.LittleEndian.PutUint16(key[2:], float16.Fromfloat32(seed).Bits())
				}
				own := key
				if l.Type == nn.TensorFloat16 {
					own = key[2:]
				}
				sum := 0.
				for i := range l.Items {
					copy(own[len(own)-l.ItemBytes:], items[i*l.ItemBytes:(i+1)*l.ItemBytes])
					s := float64(int64(farm.Fingerprint64(own)))
					if weights != nil {
						s = float64(weights[i]) * s
					}
					sum += float64(s)
				}
				bit := int32(0)
				if sum > 0 {
					bit = 1
				}
				if l.Kind == opspec.LshDense {
					out[h*l.Bits+b] = bit
				}
				signature = signature<<1 | bit
			}
			switch l.Kind {
			case opspec.LshSparse:
				out[h] = signature + int32(h)<<uint(l.Bits)
			case opspec.LshSparseDeprecated:
				out[h] = signature
			}
		}
		return nil
	}, nil
}

// prepareMultinomial is RANDOM_MULTINOMIAL: classes drawn with probabilities
// kernel.Exp(logit), draw by draw of a counter-based generator. The same seeds draw the same
// classes.
func prepareMultinomial(v opspec.View, _ *nn.Operation, m opspec.Multinomial) (Kernel, error) {
	return func(x *Run) error {
		logits, seeds, out := x.floats(m.Logits, &x.shared), x.int32s(m.Seeds), x.int32s(m.Output)
		key := [2]uint32{uint32(seeds[0]), uint32(seeds[1])}
		sums := make([]float64, m.Classes)
		for b := range m.Batches {
			row := logits[b*m.Classes : (b+1)*m.Classes]
			top := -inf32
			for _, v := range row {
				top = max(top, v)
			}
			total := 0.
			for c, v := range row {
				total += kernel.Exp(float64(v - top))
				sums[c] = total
			}
			for i := range m.Samples {
				u := philox.Float64(uint32(b*m.Samples+i), key) * total
				c := sort.Search(m.Classes, func(c int) bool { return sums[c] > u })
				out[b*m.Samples+i] = int32(min(c, m.Classes-1))
			}
		}
		return nil
	}, nil
}

// prepareDensify is DENSIFY.
func prepareDensify(v opspec.View, _ *nn.Operation, d opspec.Densify) (Kernel, error) {
	size := d.Type.ElementBytes()
	fill := make([]byte, size)
	switch o := &v.Operands[d.Values]; d.Type {
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		fill[0] = byte(o.ZeroPoint)
	case nn.TensorQuant16Asymm:
		binary.LittleEndian.PutUint16(fill, uint16(o.ZeroPoint))
	}
	return func(x *Run) error {
		values, out := x.Bytes(d.Values), x.Bytes(d.Output)
		for i := 0; i < len(out); i += size {
			copy(out[i:], fill)
		}
		return d.Walk(x.int32s, len(values)/size, func(value, at int) {
			copy(out[at*size:(at+1)*size], values[value*size:])
		})
	}, nil
}
