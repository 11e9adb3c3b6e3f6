package launch

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// Dim is a dimension of a move: n elements, whose distances in bytes are src
// and dst.
type Dim struct{ N, Src, Dst int }

// Move moves elements of size bytes along dimensions in any order.
type Move struct {
	Dims []Dim // the last one has the nearest results
	size int
}

// NewMove brings a move into its simplest form: dimensions by the distance of
// their results, those that continue each other as one, elements without gaps as
// one.
func NewMove(size int, dims []Dim) Move {
	m := Move{size: size}
	for _, d := range dims {
		if d.N != 1 {
			m.Dims = append(m.Dims, d)
		}
	}
	slices.SortStableFunc(m.Dims, func(a, b Dim) int { return cmp.Compare(b.Dst, a.Dst) })
	for i := len(m.Dims) - 1; i > 0; i-- {
		if o, d := m.Dims[i-1], m.Dims[i]; o.Src == d.N*d.Src && o.Dst == d.N*d.Dst {
			m.Dims[i-1] = Dim{o.N * d.N, d.Src, d.Dst}
			m.Dims = slices.Delete(m.Dims, i, i+1)
		}
	}
	if k := len(m.Dims) - 1; k >= 0 && m.Dims[k].Src == size && m.Dims[k].Dst == size {
		m.size *= m.Dims[k].N
		m.Dims = m.Dims[:k]
	}
	return m
}

// RunCount is how many separate runs the move has.
func (m *Move) RunCount() int {
	n := 1
	for _, d := range m.Dims {
		n *= d.N
	}
	return n
}

// Tiles finds the dimension along which elements that follow each other in the
// source lie, when with the last one it makes tiles worth transposing.
func (m *Move) Tiles() (column int, ok bool) {
	k := len(m.Dims) - 1
	if k < 1 || m.size > 8 || m.size&(m.size-1) != 0 || m.Dims[k].Dst != m.size || m.Dims[k].Src <= 0 {
		return 0, false
	}
	for i, d := range m.Dims[:k] {
		if d.Src == m.size {
			return i, tilesCheaper(m.Dims[k], d, m.size)
		}
	}
	return 0, false
}

// tilesCheaper reports whether tiles need fewer packets per column than the byte permutation kernel.
func tilesCheaper(rows, columns Dim, size int) bool {
	n := layout.VectorBytes / size
	tiled := 7*n*layout.CeilDiv(columns.N, n)/columns.N + 2
	if rows.N < n {
		tiled += 10
	}
	height := min(rows.N, n)
	windows := min(height, layout.CeilDiv((height-1)*rows.Src+size, layout.VectorBytes))
	// Columns that follow each other share vectors, and windows with them.
	share := 1
	if columns.Dst > 0 {
		share = max(min(layout.VectorBytes/columns.Dst, columns.N), 1)
	}
	return tiled < (datamove.WindowCost[datamove.VdeltaNetwork]*windows+8)/share
}

// Reorder moves elements of size bytes from a tensor to another, along dimensions.
type Reorder struct {
	Dst, Src *layout.Tensor
	Size     int
	// Of flat tensors: their dimensions, and the offsets of the first elements.
	Dims     []Dim
	To, From uint32
	// Of images, whose distances depend on what halos they get: from[i] is the dimension
	// of the source that dimension i of the result is.
	Permute *[4]int
	Tiles   *layout.Tensor // scratch memory of the threads, nil where runs are copied
}

// Launch implements step.Work.
func (w Reorder) Launch(l *step.Launcher, _ step.Rows) {
	if w.Permute != nil {
		w.Dims, w.To, w.From = permuted(w.Dst, w.Src, w.Permute)
	}
	m := NewMove(w.Size, w.Dims)
	if m.RunCount() == 0 || m.size == 0 {
		return
	}
	to, from, flip := w.Dst.Addr+w.To, w.Src.Addr+w.From, w.Dst.Flips(w.Src)
	if column, ok := m.Tiles(); ok && w.Tiles != nil {
		transpose(l, &m, column, to, from, w.Tiles.Addr, flip)
		return
	}
	n := m.RunCount()
	if n > layout.MaxPositions {
		l.Fail(fmt.Errorf("%d separate runs, at most %d", n, layout.MaxPositions))
	}
	r := runList{make([]CopyRun, 0, n)}
	m.Each(to, from, func(to, from uint32) { r.add(to, from, m.size) })
	r.launch(l, flip)
}

// permuted are the dimensions of a result and the offsets of the first elements of both.
func permuted(dst, src *layout.Tensor, perm *[4]int) (dims []Dim, to, from uint32) {
	a, b, d := src.Steps(), dst.Steps(), dst.Shape
	for i, n := range [4]int{d.N, d.H, d.W, d.C} {
		dims = append(dims, Dim{n, a[perm[i]], b[i]})
	}
	return dims, dst.At(0, 0, 0) - dst.Addr, src.At(0, 0, 0) - src.Addr
}

// Each visits all runs.
func (m *Move) Each(to, from uint32, visit func(to, from uint32)) {
	at := make([]int, len(m.Dims))
	for range m.RunCount() {
		visit(to, from)
		for i := len(m.Dims) - 1; i >= 0; i-- {
			d := &m.Dims[i]
			from, to = from+uint32(d.Src), to+uint32(d.Dst)
			if at[i]++; at[i] < d.N {
				break
			}
			from, to = from-uint32(at[i]*d.Src), to-uint32(at[i]*d.Dst)
			at[i] = 0
		}
	}
}

// transpose launches a move as tiles.
func transpose(l *step.Launcher, m *Move, column int, to, from, scratch uint32, flip bool) {
	last := len(m.Dims) - 1
	rows, columns := m.Dims[last], m.Dims[column]
	k := datamove.Transpose{Size: m.size, Flip: flip}
	n := k.Tile()
	k.Rest, k.Partial = rows.N < n, columns.N < n
	outer := Move{size: m.size, Dims: slices.Delete(slices.Clone(m.Dims[:last]), column, column+1)}
	count := outer.RunCount() * layout.CeilDiv(rows.N, n) * layout.CeilDiv(columns.N, n)
	if count > layout.MaxPositions {
		l.Fail(fmt.Errorf("%d tiles, at most %d", count, layout.MaxPositions))
	}
	// Tiles at the end reach back over others.
	starts := func(size int) (list []int) {
		for at := 0; at < size; at += n {
			list = append(list, max(min(at, size-n), 0))
		}
		return list
	}
	height, width := min(rows.N, n), min(columns.N, n)
	low, high := step.RowBox(layout.VectorBytes, height, rows.Src)
	table := make([]uint32, 0, count*datamove.TileWords)
	outer.Each(to, from, func(to, from uint32) {
		for _, r := range starts(rows.N) {
			for _, c := range starts(columns.N) {
				src := from + uint32(r*rows.Src+c*columns.Src)
				table = append(table, src, src+uint32((height-1)*rows.Src), uint32(rows.Src), to+uint32(r*rows.Dst+c*columns.Dst),
					uint32(columns.Dst), uint32(height*m.size), uint32(width), src, low, high)
			}
		}
	})
	parts := l.Spread(count)
	for _, p := range parts { // each fetches the next of its thread
		for i := p[0]; i < p[1]; i++ {
			if e := table[i*datamove.TileWords:]; i+1 < p[1] {
				e[datamove.TileFrom] = table[(i+1)*datamove.TileWords]
			} else {
				e[datamove.TileBox], e[datamove.TileStride] = 0, 0
			}
		}
	}
	addr, box := l.Words(table), l.Words([]uint32{low, high})
	var args [][]uint32
	for t, p := range parts {
		args = append(args, []uint32{addr + uint32(4*datamove.TileWords*p[0]), uint32(p[1] - p[0]), scratch + uint32(t*datamove.TileScratch),
			table[p[0]*datamove.TileWords], box})
	}
	l.Launch(l.Kernel(k), args)
}
