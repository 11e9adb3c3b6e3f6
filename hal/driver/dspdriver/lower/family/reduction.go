package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/reduction"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// fold lowers REDUCE_MAX and REDUCE_ANY, or REDUCE_MIN and REDUCE_ALL, of bytes.
func fold(instruction hexagon.Op) lowering {
	legal.Given("instruction", instruction)
	return by(func(l *lower.Lowering, op *nn.Operation) { foldAxis(l, op, instruction) })
}

func foldAxis(l *lower.Lowering, op *nn.Operation, instruction hexagon.Op) {
	m := try.V(opspec.Read[opspec.Mean](l.View(), op))
	in := l.Flat(m.Input)
	k, bound, least := reduction.Fold{Op: instruction}, uint32(255*hvx.Ones), uint32(0)
	if instruction == hexagon.V6_vminub {
		least = 255 * hvx.Ones
	}
	if m.Type == nn.TensorBool8 {
		bound = hvx.Ones
	}
	dims, reduced := m.In, m.Reduce
	if rows, count, ok := longRows(dims, reduced); ok {
		in = foldRows(l, k, in, rows, count, least, bound)
		dims, reduced = []uint32{uint32(rows), launch.FoldedRow}, []bool{false, true}
	}
	s := intoSlices(l, in, dims, reduced, 1)
	reductionStep(l, "reduce", k, l.FlatResult(m.Output), s, bound)
}

// longRows reports whether a reduction is one of few rows of many elements that
// follow each other.
func longRows(dims []uint32, reduced []bool) (rows, count int, ok bool) {
	rows, count = 1, 1
	for i, n := range dims {
		switch {
		case n == 1:
		case reduced[i]:
			count *= int(n)
		case count > 1:
			return 0, 0, false
		default:
			rows *= int(n)
		}
	}
	return rows, count, rows <= 32 && count > 2*launch.FoldedRow
}

// foldRows reduces rows to FoldedRow values each; what fills the last ones up does
// not count.
func foldRows(l *lower.Lowering, f reduction.Function, in *layout.Tensor, rows, count int, fill, bound uint32) *layout.Tensor {
	sliceCount := layout.CeilDiv(count, launch.FoldedRow)
	if pitch := sliceCount * launch.FoldedRow; pitch != count {
		maxBytes.Refuse(int64(rows)*int64(pitch) > layout.MaxArena, "%d rows of %d values", rows, count)
		whole := l.NewFlat(in.Name+" filled up", rows*pitch, 1)
		l.FillFlat(whole, fill)
		l.MoveFlat("rows", whole, in, 1, []launch.Dim{{N: rows, Src: count, Dst: pitch}, {N: count, Src: 1, Dst: 1}}, 0, 0)
		in = whole
	}
	out := l.NewFlat("folded", rows*launch.FoldedRow, 1)
	l.Add("fold", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.Fold{Function: f, SliceCount: sliceCount, Rows: rows, In: in, Out: out, Bound: bound})
	return out
}

// wordsOf is a flat value as words, less a constant for bytes.
func wordsOf(l *lower.Lowering, in *layout.Tensor, i uint32, zero int32) *layout.Tensor {
	if l.SizeOf(i) == 4 {
		return in
	}
	out := l.NewFlat(in.Name+" as words", in.Bytes(), 4)
	l.FlatStep("widen", elementwise.WidenWords{}, out, []*layout.Tensor{in}, uint32(zero))
	return out
}

// argument lowers ARGMAX, or ARGMIN for the least.
func argument(least bool) lowering {
	return by(func(l *lower.Lowering, op *nn.Operation) { argumentOf(l, op, least) })
}

func argumentOf(l *lower.Lowering, op *nn.Operation, least bool) {
	r := try.V(opspec.Read[opspec.Along](l.View(), op))
	in := l.Flat(r.Input)
	size := l.SizeOf(r.Input)
	var k reduction.Function = reduction.ArgBytes{Least: least}
	one := uint32(hvx.Ones)
	if size == 4 || r.Depth > reduction.MaxIndex {
		in, size = wordsOf(l, in, r.Input, 0), 4
		k, one = reduction.Arg{Least: least}, 1
	}
	s := intoSlices(l, in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, size)
	reductionStep(l, "arg", k, l.FlatResult(r.Output), s, one)
}

// maxNorm bounds the values of a row of L2_NORMALIZATION: their squares add up
// to less than 2^29, where the inverse root needs no shift to the right first.
const maxNorm = (1<<29 - 1) / (255 * 255)

// lowerNorm lowers L2_NORMALIZATION.
func lowerNorm(l *lower.Lowering, _ *nn.Operation, r opspec.Along) {
	maxNormed.Refuse(r.Depth > maxNorm, "%d", r.Depth)
	in := l.Flat(r.Input)
	s := intoSlices(l, in, []uint32{uint32(r.Outer), uint32(r.Depth), uint32(r.Inner)}, []bool{false, true, false}, 1)
	scaled := l.NewFlat("normalized", s.Pitch*s.Count, 1)
	// The result's zero point is 128 in stored bytes of either type.
	reductionStep(l, "normalize", reduction.Norm{}, scaled, s, hvx.SplatHalfword(lower.ZeroOf(&l.Graph.Operands[r.Input])), hvx.SplatHalfword(128))
	l.MoveFlat("rows", l.FlatResult(r.Output), scaled, 1, []launch.Dim{
		{N: r.Outer, Src: r.Inner, Dst: r.Depth * r.Inner}, {N: r.Depth, Src: s.Pitch, Dst: r.Inner}, {N: r.Inner, Src: 1, Dst: 1}}, 0, 0)
}

// lowerTopK lowers TOPK_V2: rows in lanes, the next best of each row again and
// again.
func lowerTopK(l *lower.Lowering, _ *nn.Operation, t opspec.TopK) {
	in := l.Flat(t.Input)
	size := l.SizeOf(t.Input)
	if t.Depth > reduction.MaxIndex && size == 1 { // indexes of two bytes are not enough
		in, size = wordsOf(l, in, t.Input, 0), 4
	}
	s := intoSlices(l, in, []uint32{uint32(t.Rows), uint32(t.Depth)}, []bool{false, true}, size)
	wide := s.Pitch / size * 4 // from index to index of a row
	maxBytes.Refuse(int64(wide)*int64(t.K) > layout.MaxArena, "%d values of each of %d rows", t.K, t.Rows)
	values, indices := l.NewFlat("best values", s.Pitch*t.K, 1), l.NewFlat("best indexes", wide*t.K, 1)
	l.Add("topk", []*layout.Tensor{s.T}, []*layout.Tensor{values, indices}, launch.TopK{Size: size, Slices: s, Values: values, Indices: indices, Op: t, Wide: wide})
	rows := func(out, from *layout.Tensor, size, pitch int) {
		l.MoveFlat("rows", out, from, size, []launch.Dim{{N: t.Rows, Src: size, Dst: size * t.K}, {N: t.K, Src: pitch, Dst: size}}, 0, 0)
	}
	rows(l.FlatResult(t.Indices), indices, 4, wide)
	if size == l.SizeOf(t.Values) {
		rows(l.FlatResult(t.Values), values, size, s.Pitch)
		return
	}
	best := l.NewFlat("values", t.Rows*t.K, 4)
	rows(best, values, 4, s.Pitch)
	l.FlatStep("narrow", elementwise.NarrowWords{}, l.FlatResult(t.Values), []*layout.Tensor{best}, 0)
}

// intoSlices lays out a value seen as dims; reduced dimensions become slices.
func intoSlices(l *lower.Lowering, in *layout.Tensor, dims []uint32, reduced []bool, size int) launch.Slices {
	s := launch.Slices{Count: 1, Rows: 1, Size: size}
	list := make([]launch.Dim, len(dims))
	n := size
	for i := len(dims) - 1; i >= 0; i-- {
		d := int(dims[i])
		list[i] = launch.Dim{N: d, Src: n, Dst: size * s.Rows}
		if reduced[i] {
			list[i].Dst = s.Count // slices; their distance is not known yet
			s.Count *= d
		} else {
			s.Rows *= d
		}
		n *= d
	}
	someElements.Refuse(s.Count == 0 || s.Rows == 0, "shape %v", dims)
	s.Pitch = layout.RoundUp(s.Rows*size, layout.VectorBytes)
	maxBytes.Refuse(int64(s.Pitch)*int64(s.Count) > layout.MaxArena, "%d rows of %d elements", s.Rows, s.Count)
	for i := range list {
		if reduced[i] {
			list[i].Dst *= s.Pitch
		}
	}
	s.T = l.NewFlat(in.Name+" in slices", s.Pitch*s.Count, 1)
	l.MoveFlat("slices", s.T, in, size, list, 0, 0)
	return s
}

// reductionStep launches a kernel over all vectors of rows.
func reductionStep(l *lower.Lowering, name string, f reduction.Function, out *layout.Tensor, s launch.Slices, words ...uint32) {
	l.Add(name, []*layout.Tensor{s.T}, []*layout.Tensor{out}, launch.Reduce{Function: f, Slices: s, Out: out, Words: words})
}
