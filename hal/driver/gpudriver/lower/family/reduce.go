package family

import (
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerSoftmax lowers SOFTMAX and LOG_SOFTMAX.
func lowerSoftmax(l *lower.Lowering, op *nn.Operation, s opspec.Softmax) {
	in, out := try.V2(l.Pair(s.Input, s.Output))
	rows := reduce.Rows{Outer: s.Outer, Depth: s.Depth, Inner: s.Inner, In: in, Out: out}
	if in.Elem.IsFloat() {
		l.Launch(&reduce.Softmax{Rows: rows, Beta: s.Beta, Log: op.Type == nn.OpLogSoftmax}, out)
	} else {
		l.Launch(&reduce.QuantizedSoftmax{Rows: rows, Quant: try.V(s.Quant(l.View()))}, out)
	}
}

// maxMean bounds the elements of a quantized mean, whose sums have 32 bits.
const maxMean = 1 << 23

// lowerFold lowers MEAN and REDUCE_*.
func lowerFold(l *lower.Lowering, op *nn.Operation, m opspec.Mean) {
	f := reduce.Op(strings.ToLower(op.Type.String()))
	in, out := try.V2(l.Pair(m.Input, m.Output))
	refuse(f == "mean" && !in.Elem.IsFloat() && m.Count > maxMean, maxSummands, "%d", m.Count)
	dims := ints(m.In)
	strides := layout.Dense(dims)
	var axes [2]struct{ dims, strides []int } // kept, reduced
	for i, d := range dims {
		a := &axes[0]
		if m.Reduce[i] {
			a = &axes[1]
		}
		a.dims, a.strides = append(a.dims, d), append(a.strides, strides[i])
	}
	shape := reduce.FoldShape{Op: f, Count: m.Count}
	shape.Kept = try.V(layout.Collapse(axes[0].dims, axes[0].strides))
	shape.Reduced = try.V(layout.Collapse(axes[1].dims, axes[1].strides))
	in = foldParts(l, &shape, in)
	l.Launch(&reduce.Fold{FoldShape: shape, In: in, Out: out}, out)
}

// Folds of fewer results than fewFolds, of at least manyElements each, are done in two steps,
// so that there are lanes enough.
const (
	fewFolds     = 4096 // assumed: a wave for each of the GPU's places (D-1020)
	manyElements = 64   // measured on a Pixel 4: means of 49 elements are one chain of loads, means of 196 are not (D-1281)
)

// foldParts folds parts of the first reduced axis where results are few, and leaves the parts
// to s. Parts of integers are sums and extremes of 32 bits.
func foldParts(l *lower.Lowering, s *reduce.FoldShape, in *layout.Tensor) *layout.Tensor {
	results, axis := s.Kept.Size(), &s.Reduced.Axis[0]
	parts := s.Parts()
	if results >= fewFolds || s.Count < manyElements || parts == 1 || s.Kept.Len == layout.MaxAxes {
		return in
	}
	part := *s
	part.Reduced.Axis[0].N /= parts
	part.Kept = layout.Axes{Len: s.Kept.Len + 1}
	part.Kept.Axis[0] = layout.Axis{N: parts}
	part.Kept.Axis[0].Strides[0] = axis.Strides[0] * part.Reduced.Axis[0].N
	copy(part.Kept.Axis[1:], s.Kept.List())
	e := layout.F32
	if !in.Elem.IsFloat() {
		e = layout.I32
	}
	if part.Op == "mean" || part.Op == "average" {
		part.Op = "reduce_sum"
	}
	out := l.Temporary(e, parts*results)
	l.Launch(&reduce.Fold{FoldShape: part, Bounds: reduce.Bounds{Lo: float32(math.Inf(-1)), Hi: float32(math.Inf(1))}, In: in, Out: out}, out)
	s.Kept, s.Reduced = layout.Flat(results, 1), layout.Axes{Len: 1}
	s.Reduced.Axis[0] = layout.Axis{N: parts}
	s.Reduced.Axis[0].Strides[0] = results
	return out
}

// lowerArgument lowers ARGMAX and ARGMIN.
func lowerArgument(l *lower.Lowering, op *nn.Operation, r opspec.Along) {
	in, out := try.V2(l.Pair(r.Input, r.Output))
	shape := reduce.FoldShape{Op: reduce.Op(strings.ToLower(op.Type.String())), Count: r.Depth}
	shape.Kept = try.V(layout.Collapse([]int{r.Outer, r.Inner}, []int{r.Depth * r.Inner, 1}))
	shape.Reduced = try.V(layout.Collapse([]int{r.Depth}, []int{r.Inner}))
	l.Launch(&reduce.Fold{FoldShape: shape, In: in, Out: out}, out)
}

// along are the rows of an operation.
func along(l *lower.Lowering, r *opspec.Along) reduce.Rows {
	in, out := try.V2(l.Pair(r.Input, r.Output))
	return reduce.Rows{Outer: r.Outer, Depth: r.Depth, Inner: r.Inner, In: in, Out: out}
}

// lowerL2Norm lowers L2_NORMALIZATION.
func lowerL2Norm(l *lower.Lowering, _ *nn.Operation, r opspec.Along) {
	k := &reduce.L2Norm{Rows: along(l, &r), Zero: l.Operand(r.Input).ZeroPoint}
	l.Launch(k, k.Out)
}

// lowerLocalResponseNorm lowers LOCAL_RESPONSE_NORMALIZATION.
func lowerLocalResponseNorm(l *lower.Lowering, _ *nn.Operation, r opspec.Along) {
	k := &reduce.LocalResponse{Rows: along(l, &r), Radius: min(r.Radius, r.Depth), Bias: r.Bias, Alpha: r.Alpha, Beta: r.Beta}
	l.Launch(k, k.Out)
}

// lowerInstanceNorm lowers INSTANCE_NORMALIZATION.
func lowerInstanceNorm(l *lower.Lowering, _ *nn.Operation, p opspec.InstanceNorm) {
	in, out := try.V2(l.Pair(p.Input, p.Output))
	rows := reduce.Rows{Outer: p.N, Depth: p.H * p.W, Inner: p.C, In: in, Out: out}
	l.Launch(&reduce.Norm{Rows: rows, Gamma: p.Gamma, Beta: p.Beta, Epsilon: p.Epsilon}, out)
}

// constantFloats is a tensor of constants.
func constantFloats(l *lower.Lowering, v []float32) *layout.Tensor {
	return &layout.Tensor{Region: layout.Consts, Off: l.Constants().Floats(v, len(v), layout.Guard), Elem: layout.F32, N: len(v), First: -1}
}
