package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/lookup"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerGather lowers GATHER and EMBEDDING_LOOKUP: the program reads the indexes. With
// constant ones, the byte permutation kernel gathers shorter entries.
func lowerGather(l *lowering, op *nn.Operation) error {
	g, err := l.view.Gather(op)
	if err != nil {
		return err
	}
	in, err := l.flat(g.Input)
	if err != nil {
		return err
	}
	n := g.Inner * l.sizeOf(g.Input)
	if l.graph.Operands[g.Indices].IsConst() {
		index, err := l.constIndexes(&g)
		if err != nil {
			return err
		}
		if n < shortEntry && !scalarEntry(n) {
			return l.move("gather", l.flatResult(g.Output), in, g.Outer*len(index), func(put func(to, from, n int)) {
				to := 0
				for o := range g.Outer {
					for _, x := range index {
						put(to, (o*g.Count+x)*n, n)
						to += n
					}
				}
			})
		}
	}
	indices, err := l.flat(g.Indices)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("%s: an index is not below %d", op.Type, g.Count)
	if n < shortEntry && g.Outer*n >= shortEntry {
		return l.gatherInner(l.flatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
	}
	return l.gather(l.flatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
}

// constIndexes reads and checks constant indexes.
func (l *lowering) constIndexes(g *opspec.Gather) ([]int, error) {
	data, err := l.view.Data(g.Indices)
	if err != nil {
		return nil, err
	}
	index := make([]int, len(data)/4)
	for i := range index {
		x := int32(binary.LittleEndian.Uint32(data[4*i:]))
		if x < 0 || int(x) >= g.Count {
			return nil, fmt.Errorf("index %d of %d entries", x, g.Count)
		}
		index[i] = int(x)
	}
	return index, nil
}

// scalarEntry reports whether a scalar register holds an entry of n bytes.
func scalarEntry(n int) bool { return n <= 8 && n&(n-1) == 0 }

// shortEntry is the bytes of an entry below which it is slow to copy.
const shortEntry = 32

// gatherInner is gather with short entries: those of all of outer are brought side
// by side first, and back behind it.
func (l *lowering) gatherInner(out, in, indices *tensor, outer, count, n int, reason string) error {
	list := indices.bytes() / 4
	if size := int64(max(count, list)) * int64(outer*n); size > maxArena {
		return fmt.Errorf("%d bytes of entries, at most %d", size, maxArena)
	}
	entries, found := l.newFlat("entries", count*outer*n, 1), l.newFlat("found", list*outer*n, 1)
	if err := l.moveFlat("turn", entries, in, n, []moveDim{{outer, count * n, n}, {count, n, outer * n}}, 0, 0); err != nil {
		return err
	}
	if err := l.gather(found, entries, indices, 1, count, outer*n, reason); err != nil {
		return err
	}
	return l.moveFlat("turn back", out, found, n, []moveDim{{outer, n, list * n}, {list, outer * n, n}}, 0, 0)
}

// gather copies the entries of n bytes that indices name, for each of outer.
func (l *lowering) gather(out, in, indices *tensor, outer, count, n int, reason string) error {
	list := indices.bytes() / 4
	if int64(outer)*int64(list) > maxPositions {
		return fmt.Errorf("%d entries for each of %d, at most %d in all", list, outer, maxPositions)
	}
	bad := l.newFlat("invalid index", vecBytes, 1)
	bad.keep = true
	l.list.faults = append(l.list.faults, fault{l.op, bad, reason})
	l.addStep("gather", []*tensor{in, indices}, []*tensor{out, bad}, gatherWork{n, outer, list, indices, in, count, out, bad})
	return nil
}

// gatherWork copies the entries that indices in memory name.
type gatherWork struct {
	n       int
	outer   int
	list    int
	indices *tensor
	in      *tensor
	count   int
	out     *tensor
	bad     *tensor
}

func (w gatherWork) Launch(l *launcher, _ rowRange) error {
	k := lookup.Gather{Full: w.n >= vecBytes, Rest: w.n%vecBytes != 0}
	if scalarEntry(w.n) {
		k = lookup.Gather{Size: w.n}
	}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	var table []uint32
	for o := range w.outer {
		for _, r := range l.spread(w.list) {
			table = append(table, w.indices.addr+uint32(4*r[0]), w.in.addr+uint32(o*w.count*w.n), w.out.addr+uint32((o*w.list+r[0])*w.n), uint32(r[1]-r[0]))
		}
	}
	job := l.launchTable(kern, table, 4, uint32(w.count), uint32(w.n), w.bad.addr, w.in.addr, 0, vecBytes)
	if job != nil && w.in.bytes() <= prefetchLimit { // each thread fetches a part of the entries, which all may need
		args := job.args
		for t, part := range l.spread(ceilDiv(w.in.bytes(), vecBytes)) {
			if t < len(args) {
				args[t][5], args[t][6] = w.in.addr+uint32(part[0]*vecBytes), boxOf(uint32((part[1]-part[0]+1)*vecBytes))
			}
		}
	}
	return nil
}

// lowerHashtable lowers HASHTABLE_LOOKUP: the program finds the row of each key,
// one behind the last where there is none, and gathers from the rows and a row
// of zeros.
func lowerHashtable(l *lowering, op *nn.Operation) error {
	h, err := l.view.Hashtable(op)
	if err != nil {
		return err
	}
	var in [3]*tensor
	for i, x := range [3]uint32{h.Lookups, h.Keys, h.Values} {
		if in[i], err = l.flat(x); err != nil {
			return err
		}
	}
	n, list := h.Size*l.sizeOf(h.Values), in[0].bytes()/4
	found := l.newFlat("rows", list, 4)
	l.addStep("find", in[:2], []*tensor{found}, findKeyWork{list, in, found, h})
	rows := l.newFlat("rows and zeros", (h.Rows+1)*n, 1)
	l.fillFlat(rows, 0)
	if err := l.move("rows", rows, in[2], min(h.Rows*n, 1), func(put func(to, from, n int)) { put(0, 0, h.Rows*n) }); err != nil {
		return err
	}
	hits, all := l.flatResult(h.Hits), l.newFlat("row count", list, 4)
	l.fillFlat(all, uint32(h.Rows))
	l.flatStep("hits", elementwise.CompareWords{}, hits, []*tensor{all, found}, 1, 0)
	if n == 0 {
		l.flatResult(h.Output)
		return nil
	}
	return l.gather(l.flatResult(h.Output), rows, found, 1, h.Rows+1, n, "HASHTABLE_LOOKUP: no row")
}

// findKeyWork finds the row of each key.
type findKeyWork struct {
	list  int
	in    [3]*tensor
	found *tensor
	h     opspec.Hashtable
}

func (w findKeyWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(lookup.FindKey{})
	if err != nil {
		return err
	}
	var table []uint32
	for _, r := range l.spread(w.list) {
		table = append(table, w.in[0].addr+uint32(4*r[0]), w.found.addr+uint32(4*r[0]), uint32(r[1]-r[0]))
	}
	lane := make([]uint32, vecBytes/4)
	for i := range lane {
		lane[i] = uint32(i)
	}
	l.launchTable(kern, table, 3, w.in[1].addr, uint32(ceilDiv(max(w.h.Rows, 1), vecBytes/4)), uint32(w.h.Rows), l.constWords(lane))
	return nil
}

// lowerDiv lowers DIV of TENSOR_INT32.
func lowerDiv(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	return l.words(op, &e)
}
