package refcpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareSplit is SPLIT.
func prepareSplit(v opspec.View, op *nn.Operation) (kern, error) {
	s, err := v.Split(op)
	if err != nil {
		return nil, err
	}
	n := s.Size * s.Type.ElementBytes()
	return func(x *run) error {
		in := x.bytes(s.Input)
		for o := range s.Outer {
			for i, idx := range s.Outputs {
				copy(x.bytes(idx)[o*n:(o+1)*n], in[(o*len(s.Outputs)+i)*n:])
			}
		}
		return nil
	}, nil
}

// prepareTile is TILE.
func prepareTile(v opspec.View, op *nn.Operation) (kern, error) {
	t, err := v.Tile(op)
	if err != nil {
		return nil, err
	}
	size := t.Type.ElementBytes()
	return func(x *run) error {
		in, out := x.bytes(t.Input), x.bytes(t.Output)
		if len(out) == 0 {
			return nil
		}
		last := len(t.In) - 1
		n := int(t.In[last]) * size
		row := int(t.Dims[last]) * size
		for r := range len(out) / row {
			src, rest, stride := 0, r, n
			for d := last - 1; d >= 0; d-- {
				src += rest % int(t.Dims[d]) % int(t.In[d]) * stride
				rest /= int(t.Dims[d])
				stride *= int(t.In[d])
			}
			for at := 0; at < row; at += n {
				copy(out[r*row+at:r*row+at+n], in[src:])
			}
		}
		return nil
	}, nil
}

// prepareGather is GATHER and EMBEDDING_LOOKUP.
func prepareGather(v opspec.View, op *nn.Operation) (kern, error) {
	g, err := v.Gather(op)
	if err != nil {
		return nil, err
	}
	n := g.Inner * g.Type.ElementBytes()
	return func(x *run) error {
		in, out, indices := x.bytes(g.Input), x.bytes(g.Output), x.int32s(g.Indices)
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
func prepareHashtable(v opspec.View, op *nn.Operation) (kern, error) {
	h, err := v.Hashtable(op)
	if err != nil {
		return nil, err
	}
	n := h.Size * h.Type.ElementBytes()
	return func(x *run) error {
		row := map[int32]int{}
		for i, k := range x.int32s(h.Keys) {
			if _, ok := row[k]; !ok {
				row[k] = i
			}
		}
		values, out, hits := x.bytes(h.Values), x.bytes(h.Output), x.bytes(h.Hits)
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

// prepareFill is FILL.
func prepareFill(v opspec.View, op *nn.Operation) (kern, error) {
	f, err := v.Fill(op)
	if err != nil {
		return nil, err
	}
	value, err := v.Data(f.Value)
	if err != nil {
		return nil, err
	}
	value = append([]byte(nil), value...)
	return func(x *run) error {
		out := x.bytes(f.Output)
		for i := 0; i+len(value) <= len(out); i += len(value) {
			copy(out[i:], value)
		}
		return nil
	}, nil
}

// prepareRank is RANK.
func prepareRank(v opspec.View, op *nn.Operation) (kern, error) {
	r, err := v.Rank(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		x.int32s(op.Outputs[0])[0] = int32(r)
		return nil
	}, nil
}

// prepareTopK is TOPK_V2: descending, the lower index first of equals.
func prepareTopK(v opspec.View, op *nn.Operation) (kern, error) {
	t, err := v.TopK(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		indices := x.int32s(t.Indices)
		switch {
		case isFloat(t.Type):
			out, done := x.floatsOut(t.Values, &x.shared)
			topRows(&t, out, indices, x.floats(t.Input, &x.shared))
			done()
		case t.Type == nn.TensorInt32:
			topRows(&t, x.int32s(t.Values), indices, x.int32s(t.Input))
		case t.Type == nn.TensorQuant8Asymm:
			topRows(&t, x.bytes(t.Values), indices, x.bytes(t.Input))
		default:
			in := x.bytes(t.Input)
			signed, out := make([]int8, len(in)), make([]int8, len(x.bytes(t.Values)))
			for i, b := range in {
				signed[i] = int8(b)
			}
			topRows(&t, out, indices, signed)
			for i, b := range out {
				x.bytes(t.Values)[i] = byte(b)
			}
		}
		return nil
	}, nil
}

// topRows keeps the K best of each row in a heap whose root is the worst.
func topRows[T byte | int8 | int32 | float32](t *opspec.TopK, values []T, indices []int32, in []T) {
	heap := make([]int32, 0, t.K)
	for r := range t.Rows {
		row := in[r*t.Depth : (r+1)*t.Depth]
		worse := func(a, b int32) bool {
			return row[a] < row[b] || row[a] == row[b] && a > b
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
