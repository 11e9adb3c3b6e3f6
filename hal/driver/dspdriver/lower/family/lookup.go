package family

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerGather lowers GATHER and EMBEDDING_LOOKUP: the program reads the indexes. With
// constant ones, the byte permutation kernel gathers shorter entries.
func lowerGather(l *lower.Lowering, op *nn.Operation, g opspec.Gather) {
	in := l.Flat(g.Input)
	n := g.Inner * l.SizeOf(g.Input)
	if l.Graph.Operands[g.Indices].IsConst() {
		index := constIndexes(l, &g)
		if n < shortEntry && !launch.ScalarEntry(n) {
			l.Move("gather", l.FlatResult(g.Output), in, g.Outer*len(index), func(put func(to, from, n int)) {
				to := 0
				for o := range g.Outer {
					for _, x := range index {
						put(to, (o*g.Count+x)*n, n)
						to += n
					}
				}
			})
			return
		}
	}
	indices := l.Flat(g.Indices)
	reason := fmt.Sprintf("%s: an index is not below %d", op.Type, g.Count)
	if n < shortEntry && g.Outer*n >= shortEntry {
		gatherInner(l, l.FlatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
		return
	}
	gather(l, l.FlatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
}

// constIndexes reads and checks constant indexes.
func constIndexes(l *lower.Lowering, g *opspec.Gather) []int {
	data := try.V(l.View().Data(g.Indices))
	index := make([]int, len(data)/4)
	for i := range index {
		x := int32(binary.LittleEndian.Uint32(data[4*i:]))
		maxEntry.Refuse(x < 0 || int(x) >= g.Count, "index %d of %d entries", x, g.Count)
		index[i] = int(x)
	}
	return index
}

// shortEntry is the bytes of an entry below which it is slow to copy.
const shortEntry = 32

// gatherInner is gather with short entries: those of all of outer are brought side
// by side first, and back behind it.
func gatherInner(l *lower.Lowering, out, in, indices *layout.Tensor, outer, count, n int, reason string) {
	list := indices.Bytes() / 4
	size := int64(max(count, list)) * int64(outer*n)
	maxBytes.Refuse(size > layout.MaxArena, "%d of entries", size)
	entries, found := l.NewFlat("entries", count*outer*n, 1), l.NewFlat("found", list*outer*n, 1)
	l.MoveFlat("turn", entries, in, n, []launch.Dim{{N: outer, Src: count * n, Dst: n}, {N: count, Src: n, Dst: outer * n}}, 0, 0)
	gather(l, found, entries, indices, 1, count, outer*n, reason)
	l.MoveFlat("turn back", out, found, n, []launch.Dim{{N: outer, Src: n, Dst: list * n}, {N: list, Src: outer * n, Dst: n}}, 0, 0)
}

// gather copies the entries of n bytes that indices name, for each of outer.
func gather(l *lower.Lowering, out, in, indices *layout.Tensor, outer, count, n int, reason string) {
	list := indices.Bytes() / 4
	lower.MaxRuns.Refuse(int64(outer)*int64(list) > layout.MaxPositions, "%d entries for each of %d", list, outer)
	bad := l.NewFlat("invalid index", layout.VectorBytes, 1)
	bad.External = true
	l.AddFault(bad, reason)
	l.Add("gather", []*layout.Tensor{in, indices}, []*layout.Tensor{out, bad}, launch.Gather{Bytes: n, Outer: outer, List: list, Indices: indices, In: in, Count: count, Out: out, Bad: bad})
}

// lowerHashtable lowers HASHTABLE_LOOKUP: the program finds the row of each key,
// one behind the last where there is none, and gathers from the rows and a row
// of zeros.
func lowerHashtable(l *lower.Lowering, _ *nn.Operation, h opspec.Hashtable) {
	var in [3]*layout.Tensor
	for i, x := range [3]uint32{h.Lookups, h.Keys, h.Values} {
		in[i] = l.Flat(x)
	}
	n, list := h.Size*l.SizeOf(h.Values), in[0].Bytes()/4
	found := l.NewFlat("rows", list, 4)
	l.Add("find", in[:2], []*layout.Tensor{found}, launch.FindKey{List: list, In: in, Found: found, Op: h})
	rows := l.NewFlat("rows and zeros", (h.Rows+1)*n, 1)
	l.FillFlat(rows, 0)
	l.Move("rows", rows, in[2], min(h.Rows*n, 1), func(put func(to, from, n int)) { put(0, 0, h.Rows*n) })
	hits, all := l.FlatResult(h.Hits), l.NewFlat("row count", list, 4)
	l.FillFlat(all, uint32(h.Rows))
	l.FlatStep("hits", elementwise.CompareWords{}, hits, []*layout.Tensor{all, found}, 1, 0)
	if n == 0 {
		l.FlatResult(h.Output)
		return
	}
	gather(l, l.FlatResult(h.Output), rows, found, 1, h.Rows+1, n, "HASHTABLE_LOOKUP: no row")
}
