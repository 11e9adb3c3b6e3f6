package dsp

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/datamove"
)

// moveDim is a dimension of a move: n elements, whose distances in bytes are src
// and dst.
type moveDim struct{ n, src, dst int }

// ndMove moves elements of size bytes along dimensions in any order.
type ndMove struct {
	dims []moveDim // the last one has the nearest results
	size int
}

// newMove brings a move into its simplest form: dimensions by the distance of
// their results, those that continue each other as one, elements without gaps as
// one.
func newMove(size int, dims []moveDim) ndMove {
	m := ndMove{size: size}
	for _, d := range dims {
		if d.n != 1 {
			m.dims = append(m.dims, d)
		}
	}
	slices.SortStableFunc(m.dims, func(a, b moveDim) int { return cmp.Compare(b.dst, a.dst) })
	for i := len(m.dims) - 1; i > 0; i-- {
		if o, d := m.dims[i-1], m.dims[i]; o.src == d.n*d.src && o.dst == d.n*d.dst {
			m.dims[i-1] = moveDim{o.n * d.n, d.src, d.dst}
			m.dims = slices.Delete(m.dims, i, i+1)
		}
	}
	if k := len(m.dims) - 1; k >= 0 && m.dims[k].src == size && m.dims[k].dst == size {
		m.size *= m.dims[k].n
		m.dims = m.dims[:k]
	}
	return m
}

// runCount is how many separate runs the move has.
func (m *ndMove) runCount() int {
	n := 1
	for _, d := range m.dims {
		n *= d.n
	}
	return n
}

// tiles finds the dimension along which elements that follow each other in the
// source lie, when with the last one it makes tiles worth transposing.
func (m *ndMove) tiles() (column int, ok bool) {
	k := len(m.dims) - 1
	if k < 1 || m.size > 8 || m.size&(m.size-1) != 0 || m.dims[k].dst != m.size || m.dims[k].src <= 0 {
		return 0, false
	}
	for i, d := range m.dims[:k] {
		if d.src == m.size {
			return i, tilesPay(m.dims[k], d, m.size)
		}
	}
	return 0, false
}

// tilesPay compares the packets per column of tiles with those of the byte permutation kernel.
func tilesPay(rows, columns moveDim, size int) bool {
	n := vecBytes / size
	tiled := 7*n*ceilDiv(columns.n, n)/columns.n + 2
	if rows.n < n {
		tiled += 10
	}
	height := min(rows.n, n)
	windows := min(height, ceilDiv((height-1)*rows.src+size, vecBytes))
	// Columns that follow each other share vectors, and windows with them.
	share := 1
	if columns.dst > 0 {
		share = max(min(vecBytes/columns.dst, columns.n), 1)
	}
	return tiled < (datamove.WindowCost[datamove.VdeltaNetwork]*windows+8)/share
}

// moveAlong appends a step that moves a tensor along dimensions, by tiles where tiled says so.
func (l *lowering) moveAlong(name string, w alongWork, tiled bool) {
	writes := []*tensor{w.dst}
	if tiled {
		w.tiles = l.newFlat("tiles", l.threads*datamove.TileScratch, 1)
		writes = append(writes, w.tiles)
	}
	l.addStep(name, []*tensor{w.src}, writes, w)
}

// alongWork moves elements of size bytes from a tensor to another, along dimensions.
type alongWork struct {
	dst, src *tensor
	size     int
	// Of flat tensors: their dimensions, and the offsets of the first elements.
	dims     []moveDim
	to, from uint32
	// Of images, whose distances depend on what halos they get: from[i] is the dimension
	// of the source that dimension i of the result is.
	permute *[4]int
	tiles   *tensor // scratch memory of the threads, nil where runs are copied
}

func (w alongWork) Launch(l *launcher, _ rowRange) error {
	if w.permute != nil {
		w.dims, w.to, w.from = permuted(w.dst, w.src, w.permute)
	}
	m := newMove(w.size, w.dims)
	if m.runCount() == 0 || m.size == 0 {
		return nil
	}
	to, from, flip := w.dst.addr+w.to, w.src.addr+w.from, w.dst.flips(w.src)
	if column, ok := m.tiles(); ok && w.tiles != nil {
		return l.transpose(&m, column, to, from, w.tiles.addr, flip)
	}
	if n := m.runCount(); n > maxPositions {
		return fmt.Errorf("%d separate runs, at most %d", n, maxPositions)
	}
	r := new(copyRuns)
	m.each(to, from, func(to, from uint32) { r.add(to, from, m.size) })
	return r.launch(l, flip)
}

// permuted are the dimensions of a result and the offsets of the first elements of both.
func permuted(dst, src *tensor, perm *[4]int) (dims []moveDim, to, from uint32) {
	a, b, d := src.steps(), dst.steps(), dst.shape
	for i, n := range [4]int{d.n, d.h, d.w, d.c} {
		dims = append(dims, moveDim{n, a[perm[i]], b[i]})
	}
	return dims, dst.at(0, 0, 0) - dst.addr, src.at(0, 0, 0) - src.addr
}

// each visits all runs.
func (m *ndMove) each(to, from uint32, visit func(to, from uint32)) {
	at := make([]int, len(m.dims))
	for range m.runCount() {
		visit(to, from)
		for i := len(m.dims) - 1; i >= 0; i-- {
			d := &m.dims[i]
			from, to = from+uint32(d.src), to+uint32(d.dst)
			if at[i]++; at[i] < d.n {
				break
			}
			from, to = from-uint32(at[i]*d.src), to-uint32(at[i]*d.dst)
			at[i] = 0
		}
	}
}

// transpose launches a move as tiles.
func (l *launcher) transpose(m *ndMove, column int, to, from, scratch uint32, flip bool) error {
	last := len(m.dims) - 1
	rows, columns := m.dims[last], m.dims[column]
	k := datamove.Transpose{Size: m.size, Flip: flip}
	n := k.Tile()
	k.Rest, k.Partial = rows.n < n, columns.n < n
	outer := ndMove{size: m.size, dims: slices.Delete(slices.Clone(m.dims[:last]), column, column+1)}
	count := outer.runCount() * ceilDiv(rows.n, n) * ceilDiv(columns.n, n)
	if count > maxPositions {
		return fmt.Errorf("%d tiles, at most %d", count, maxPositions)
	}
	// Tiles at the end reach back over others.
	starts := func(size int) (list []int) {
		for at := 0; at < size; at += n {
			list = append(list, max(min(at, size-n), 0))
		}
		return list
	}
	height, width := min(rows.n, n), min(columns.n, n)
	low, high := rowBox(vecBytes, height, rows.src)
	table := make([]uint32, 0, count*datamove.TileWords)
	outer.each(to, from, func(to, from uint32) {
		for _, r := range starts(rows.n) {
			for _, c := range starts(columns.n) {
				src := from + uint32(r*rows.src+c*columns.src)
				table = append(table, src, src+uint32((height-1)*rows.src), uint32(rows.src), to+uint32(r*rows.dst+c*columns.dst),
					uint32(columns.dst), uint32(height*m.size), uint32(width), src, low, high)
			}
		}
	})
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	parts := l.spread(count)
	for _, p := range parts { // each fetches the next of its thread
		for i := p[0]; i < p[1]; i++ {
			if e := table[i*datamove.TileWords:]; i+1 < p[1] {
				e[datamove.TileFrom] = table[(i+1)*datamove.TileWords]
			} else {
				e[datamove.TileBox], e[datamove.TileStride] = 0, 0
			}
		}
	}
	addr, box := l.constWords(table), l.constWords([]uint32{low, high})
	var args [][]uint32
	for t, p := range parts {
		args = append(args, []uint32{addr + uint32(4*datamove.TileWords*p[0]), uint32(p[1] - p[0]), scratch + uint32(t*datamove.TileScratch),
			table[p[0]*datamove.TileWords], box})
	}
	l.launch(kern, args)
	return nil
}
