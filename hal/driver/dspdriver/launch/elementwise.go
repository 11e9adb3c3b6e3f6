package launch

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// span is a range of whole vectors: the addresses in some tensors, and how many there are.
type span struct {
	addr []uint32
	n    int
}

// contiguousSpan is the vectors that hold some rows of contiguous tensors. One at the end may reach into the next row,
// whose own range begins with it, or into the guard behind a tensor.
func contiguousSpan(r step.Rows, ts []*layout.Tensor) span {
	s := ts[len(ts)-1].Shape
	from, to := r.From*s.W*s.C/layout.VectorBytes, layout.CeilDiv(r.To*s.W*s.C, layout.VectorBytes)
	list := span{n: to - from}
	for _, t := range ts {
		list.addr = append(list.addr, t.Addr+uint32(from*layout.VectorBytes))
	}
	return list
}

// rowSpans are the vectors of some rows of tensors of one shape and pitch. Rows that follow each
// other in all tensors become one range.
func rowSpans(r step.Rows, ts []*layout.Tensor) (spans []span) {
	t := ts[0]
	for row := r.From; row < r.To; row++ {
		s := span{n: t.VectorsPerRow()}
		joins := len(spans) > 0
		for i, x := range ts {
			s.addr = append(s.addr, x.At(row/t.Shape.H, row%t.Shape.H, 0))
			if joins {
				last := &spans[len(spans)-1]
				joins = s.addr[i] == last.addr[i]+uint32(last.n*layout.VectorBytes)
			}
		}
		if joins {
			spans[len(spans)-1].n += s.n
		} else {
			spans = append(spans, s)
		}
	}
	return spans
}

// vectorTable lists ranges of whole vectors over some rows of tensors, of one shape and pitch or contiguous ones: the
// addresses and the number of vectors. Long ranges are cut so that threads share them.
func vectorTable(l *step.Launcher, r step.Rows, ts ...*layout.Tensor) []uint32 {
	var spans []span
	if slices.ContainsFunc(ts, func(t *layout.Tensor) bool { return !t.Contiguous() }) {
		spans = rowSpans(r, ts)
	} else if s := contiguousSpan(r, ts); s.n > 0 {
		spans = []span{s}
	}
	total := 0
	for _, s := range spans {
		total += s.n
	}
	share := layout.CeilDiv(total, l.Threads)
	var table []uint32
	for _, s := range spans {
		for from := 0; from < s.n; from += share {
			for _, addr := range s.addr {
				table = append(table, addr+uint32(from*layout.VectorBytes))
			}
			table = append(table, uint32(min(share, s.n-from)))
		}
	}
	return table
}

// Binary combines two tensors vector by vector.
type Binary struct {
	Kernel hvx.Kernel
	In     [2]*layout.Tensor
	Out    *layout.Tensor
	Params []uint32
}

// Launch implements step.Work.
func (w Binary) Launch(l *step.Launcher, r step.Rows) {
	table := binaryTable(l, vectorTable(l, r, w.In[0], w.In[1], w.Out), w.In)
	l.LaunchTable(l.Kernel(w.Kernel), table, elementwise.BinWords, l.Words(w.Params))
}

// aheadVectors is how many vectors of both operands at most are combined while
// l2fetch brings in two such numbers of one of them; it begins with fewer.
const (
	aheadVectors = 32
	firstVectors = 4
)

// binaryTable makes the kernel's table from ranges of vectors. Operands that are not
// in L2 are fetched ahead, alternately.
func binaryTable(l *step.Launcher, ranges []uint32, in [2]*layout.Tensor) []uint32 {
	var cold []int
	for i, t := range in {
		if l.Cold(t) && (i == 0 || t != in[0]) {
			cold = append(cold, i)
		}
	}
	var table []uint32
	for r := ranges; len(r) > 0; r = r[4:] {
		vectors := r[3]
		if len(cold) > 0 {
			vectors = firstVectors
		}
		for k, from := 0, uint32(0); from < r[3]; k++ {
			n := min(vectors, r[3]-from)
			e := [elementwise.BinWords]uint32{elementwise.BinA: r[0] + from*layout.VectorBytes, elementwise.BinB: r[1] + from*layout.VectorBytes, elementwise.BinOut: r[2] + from*layout.VectorBytes, elementwise.BinVectors: n}
			next := min(2*vectors, aheadVectors)
			if rest := int(r[3]) - int(from+uint32(2-k%2)*vectors); rest > 0 && k%2 < len(cold) {
				at := r[cold[k%2]] + uint32(int(r[3])-rest)*layout.VectorBytes
				e[elementwise.BinLookahead], e[elementwise.BinBox] = at, step.Box(min(uint32(rest), 2*next)*layout.VectorBytes)
			}
			table = append(table, e[:]...)
			if from += n; k%2 == 1 {
				vectors = next
			}
		}
	}
	return table
}

// Clamp bounds bytes.
type Clamp struct {
	In, Out *layout.Tensor
	Lo, Hi  byte
}

// Launch implements step.Work.
func (w Clamp) Launch(l *step.Launcher, r step.Rows) {
	launchUnary(l, l.Kernel(elementwise.Clamp{}), elementwise.ClampPrefetch, w.In, vectorTable(l, r, w.In, w.Out), uint32(w.Lo)*hvx.Ones, uint32(w.Hi)*hvx.Ones)
}

// Lookup maps bytes through a table.
type Lookup struct {
	In, Out *layout.Tensor
	Table   *[256]byte
}

// Launch implements step.Work.
func (w Lookup) Launch(l *step.Launcher, r step.Rows) {
	launchUnary(l, l.Kernel(elementwise.Lookup{}), elementwise.LookupPrefetch, w.In, vectorTable(l, r, w.In, w.Out), l.Constant(elementwise.LookupVectors(w.Table)))
}

// launchUnary launches a kernel over ranges (input, output, vectors). Threads fetch inputs that are
// not in L2 when they begin; otherwise they may fetch what later jobs need.
func launchUnary(l *step.Launcher, k *hvx.Linked, prefetch int, in *layout.Tensor, table []uint32, args ...uint32) {
	job := l.LaunchTable(k, table, 3, append(args, 0, 0, layout.VectorBytes)...)
	if job == nil {
		return
	}
	job.PrefetchArg = prefetch
	if !l.Cold(in) {
		return
	}
	for t, r := range l.Spread(len(table) / 3) {
		first, last := table[3*r[0]:], table[3*(r[1]-1):]
		if to := last[0] + last[2]*layout.VectorBytes; to > first[0] && to-first[0] <= step.PrefetchLimit {
			job.FetchFirst(prefetch, t, first[0], to)
		}
	}
}
