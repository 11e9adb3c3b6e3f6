package family

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerConcat lowers CONCATENATION: each input is mapped to the output's
// quantization where it differs, and copied to its place.
func lowerConcat(l *lower.Lowering, _ *nn.Operation, c opspec.Concat) {
	if l.Form(c.Output) == layout.Plain || !slices.ContainsFunc(c.Inputs, func(i uint32) bool { return l.Values[i] != nil }) {
		concatFlat(l, &c)
		return
	}
	rank := len(c.Dims)
	maxRank.Refuse(rank > 4, "rank %d", rank)
	axis := c.Axis + 4 - rank
	out := l.Result(c.Output, 0)
	var at [4]int
	for _, idx := range c.Inputs {
		in := l.Value(idx)
		i, o := &l.Graph.Operands[idx], &l.Graph.Operands[c.Output]
		if t := quantized.RequantTable(i, o); t != nil {
			mapped := l.NewTensor(in.Name+" requantized", in.Shape, in.Pitch, int32(out.Zero))
			mapped.Dense = in.Dense
			lookup(l, mapped, in, storedTable(t, i.Type, o.Type))
			in = mapped
		}
		l.Add("concat", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.CopyInto{Out: out, In: in, At: at})
		at[axis] += [4]int{in.Shape.N, in.Shape.H, in.Shape.W, in.Shape.C}[axis]
	}
}

// concatFlat is a CONCATENATION of values in flat form.
func concatFlat(l *lower.Lowering, c *opspec.Concat) {
	row, at := 0, 0
	for _, n := range c.Sizes {
		row += n
	}
	out := l.FlatResult(c.Output)
	for k, x := range c.Inputs {
		in := l.Flat(x)
		i, o := &l.Graph.Operands[x], &l.Graph.Operands[c.Output]
		if t := quantized.RequantTable(i, o); t != nil {
			in = mapped(l, in, storedTable(t, i.Type, o.Type))
		}
		l.MoveFlat("concat", out, in, 1, []launch.Dim{{N: c.Outer, Src: c.Sizes[k], Dst: row}, {N: c.Sizes[k], Src: 1, Dst: 1}}, at, 0)
		at += c.Sizes[k]
	}
}

// lowerPack lowers PACK: inputs side by side along a new axis.
func lowerPack(l *lower.Lowering, _ *nn.Operation, c opspec.Concat) {
	size, row, before := l.SizeOf(c.Output), 0, 0
	for _, n := range c.Sizes {
		row += n * size
	}
	out := l.FlatResult(c.Output)
	for i, x := range c.Inputs {
		in := l.Flat(x)
		at, n := before, c.Sizes[i]*size
		before += n
		if n == 0 {
			continue
		}
		l.Move("pack", out, in, c.Outer, func(put func(to, from, n int)) {
			for k := range c.Outer {
				put(k*row+at, k*n, n)
			}
		})
	}
}

// lowerRank lowers RANK: a constant, which the program stores.
func lowerRank(l *lower.Lowering, op *nn.Operation, rank int) {
	l.FillFlat(l.FlatResult(op.Outputs[0]), uint32(rank))
}
