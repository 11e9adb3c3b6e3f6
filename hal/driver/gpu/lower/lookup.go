package lower

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/lookup"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/step"
	"github.com/nnsoc/nnsoc/nn"
)

// fault makes the word that a kernel sets where an input is not valid.
func (l *Lowering) fault(reason string) *layout.Tensor {
	word := l.Temporary(layout.I32, 1)
	l.list.Faults = append(l.list.Faults, step.Fault{Op: l.op, Word: word, Reason: reason})
	l.fillWith(0, word)
	return word
}

// entries lowers GATHER and EMBEDDING_LOOKUP.
func (l *Lowering) entries(op *nn.Operation) error {
	g, err := l.view.Gather(op)
	if err != nil {
		return err
	}
	in, out, err := l.Pair(g.Input, g.Output)
	if err != nil {
		return err
	}
	indices, err := l.Value(g.Indices)
	if err != nil {
		return err
	}
	k := &lookup.Gather{Outer: g.Outer, Count: g.Count, Inner: g.Inner, N: indices.N, In: in, Indices: indices, Out: out,
		Fault: l.fault(fmt.Sprintf("%s: an index is not below %d", op.Type, g.Count))}
	l.Add(k, []*layout.Tensor{in, indices}, []*layout.Tensor{out, k.Fault})
	return nil
}

// maxKeys bounds the keys that every lane compares.
const maxKeys = 1 << 16

// hashtable lowers HASHTABLE_LOOKUP.
func (l *Lowering) hashtable(op *nn.Operation) error {
	h, err := l.view.Hashtable(op)
	if err != nil {
		return err
	}
	if h.Rows > maxKeys {
		return maxCompared.Broken("%d keys", h.Rows)
	}
	lookups, keys, err := l.Pair(h.Lookups, h.Keys)
	if err != nil {
		return err
	}
	values, out, err := l.Pair(h.Values, h.Output)
	if err != nil {
		return err
	}
	hits, err := l.Value(h.Hits)
	if err != nil {
		return err
	}
	l.Add(&lookup.Hashtable{Rows: h.Rows, Size: h.Size, N: lookups.N, Lookups: lookups, Keys: keys, Values: values, Out: out, Hits: hits},
		[]*layout.Tensor{lookups, keys, values}, []*layout.Tensor{out, hits})
	return nil
}

// maxRanked bounds the comparisons of a ranking, which grow with the square of a row.
const maxRanked = 1 << 28

// topK lowers TOPK_V2.
func (l *Lowering) topK(op *nn.Operation) error {
	t, err := l.view.TopK(op)
	if err != nil {
		return err
	}
	in, values, err := l.Pair(t.Input, t.Values)
	if err != nil {
		return err
	}
	indices, err := l.Value(t.Indices)
	if err != nil {
		return err
	}
	return l.rank(op, in, t.Rows, t.Depth, t.K, values, indices)
}

// rank adds a ranking of the elements of rows.
func (l *Lowering) rank(op *nn.Operation, in *layout.Tensor, rows, depth, n int, values, indices *layout.Tensor) error {
	if int64(rows)*int64(depth)*int64(depth) > maxRanked {
		return maxRanking.Broken("%d rows of %d elements", rows, depth)
	}
	l.Add(&lookup.TopK{Rows: rows, Depth: depth, K: n, In: in, Values: values, Indices: indices}, []*layout.Tensor{in}, []*layout.Tensor{values, indices})
	return nil
}

// densify lowers DENSIFY: the places of the values follow from its lists, which are parameters.
func (l *Lowering) densify(op *nn.Operation) error {
	d, err := l.view.Densify(op)
	if err != nil {
		return err
	}
	in, out, err := l.Pair(d.Values, d.Output)
	if err != nil {
		return err
	}
	if out.N > maxTable {
		return maxPlaces.Broken("%d elements", out.N)
	}
	list := make([]int32, out.N)
	for i := range list {
		list[i] = -1
	}
	var missing error
	err = d.Walk(func(x uint32) []int32 {
		data, err := l.view.Data(x)
		if err != nil {
			missing = err
			return nil
		}
		w := make([]int32, len(data)/4)
		for i := range w {
			w[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return w
	}, in.N, func(value, at int) { list[at] = int32(value) })
	if missing != nil {
		err = missing
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	o := &l.graph.Operands[d.Values]
	l.Add(&move.Index{List: list, Fill: uint32(o.ZeroPoint), In: in, Out: out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}
