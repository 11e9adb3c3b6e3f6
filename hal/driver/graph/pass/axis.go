package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// axisOperations are the operations along one axis, and whether their results lack it.
var axisOperations = []struct {
	op      nn.OperationType
	removed bool
}{
	{nn.OpSoftmax, false}, {nn.OpLogSoftmax, false}, {nn.OpL2Normalization, false}, {nn.OpLocalResponseNormalization, false},
	{nn.OpArgmax, true}, {nn.OpArgmin, true},
}

// axisLast makes operations that work along one axis work along the last one:
//
//	y = SOFTMAX(x, axis)   ->   y = TRANSPOSE(SOFTMAX(TRANSPOSE(x), last))
func axisLast(g *graph.Graph) (changed bool, err error) {
	for _, t := range axisOperations {
		c, err := expand(g, t.op, func(r *rewriter, op *nn.Operation) bool { return r.axisLast(*op, t.removed) })
		if err != nil {
			return false, err
		}
		changed = changed || c
	}
	return changed, nil
}

func (r *rewriter) axisLast(op nn.Operation, removed bool) bool {
	g := r.g
	a, err := g.View().Bind(&op)
	if err != nil || !a.Has("axis") {
		return false
	}
	axis, err := a.Int32("axis")
	x, y := a.In("input"), op.Outputs[0]
	o := &g.Operands[x]
	rank := len(o.Dimensions)
	if axis < 0 {
		axis += int32(rank)
	}
	last := int32(rank - 1)
	if err != nil || !o.Known() || !g.Operands[y].Known() || rank > maxRank || axis < 0 || axis >= last || !transposable(o.Type) {
		return false
	}
	var to, back []int32 // axis moves to the end
	for i := range int32(rank) {
		if i != axis {
			to = append(to, i)
		}
	}
	to = append(to, axis)
	for i := range int32(rank) {
		back = append(back, int32(slices.Index(to, i)))
	}
	op = withInput(op, a.Position("axis"), g.AddInt32(last))
	op = withInput(op, a.Position("input"), r.transpose(x, to))
	if removed {
		r.emit(op)
		return true
	}
	z := g.AddTemporary(y, permuted(g.Operands[y].Dimensions, to))
	op.Outputs = []uint32{z}
	r.emit(op)
	r.emit(nn.Operation{Type: nn.OpTranspose, Inputs: []uint32{z, g.AddInt32s(back...)}, Outputs: []uint32{y}})
	return true
}

// maxRank is the highest rank of a TRANSPOSE.
const maxRank = 4

// transposable reports whether TRANSPOSE supports a type.
func transposable(t nn.OperandType) bool {
	return t.IsQuant8() || t == nn.TensorFloat32 || t == nn.TensorFloat16
}

// transpose is operand x with its dimensions permuted.
func (r *rewriter) transpose(x uint32, perm []int32) uint32 {
	y := r.g.AddTemporary(x, permuted(r.g.Operands[x].Dimensions, perm))
	r.emit(nn.Operation{Type: nn.OpTranspose, Inputs: []uint32{x, r.g.AddInt32s(perm...)}, Outputs: []uint32{y}})
	return y
}

// reductions are the operations that reduce some axes.
var reductions = []nn.OperationType{nn.OpMean, nn.OpReduceSum, nn.OpReduceProd, nn.OpReduceMax, nn.OpReduceMin}

// joinReducedAxes makes reductions over axes that are not neighbours reduce one:
//
//	y = MEAN(x, axes)   ->   y = RESHAPE(MEAN(RESHAPE(TRANSPOSE(x), [kept, reduced]), 1))
func joinReducedAxes(g *graph.Graph) (changed bool, err error) {
	for _, t := range reductions {
		c, err := expand(g, t, func(r *rewriter, op *nn.Operation) bool { return r.joinReducedAxes(*op) })
		if err != nil {
			return false, err
		}
		changed = changed || c
	}
	return changed, nil
}

func (r *rewriter) joinReducedAxes(op nn.Operation) bool {
	g := r.g
	m, err := opspec.Read[opspec.Mean](g.View(), &op)
	a, bound := g.View().Bind(&op)
	if err != nil || bound != nil || !transposable(m.Type) || !g.Operands[m.Output].Known() || nn.Elements(m.In) <= 0 {
		return false
	}
	var kept, reduced []int32
	gaps, ended := false, false
	for i, d := range m.In {
		switch {
		case !m.Reduce[i]:
			kept = append(kept, int32(i))
			ended = ended || d > 1 && len(reduced) > 0
		case d == 1:
			kept = append(kept, int32(i))
		default:
			gaps = gaps || ended
			reduced = append(reduced, int32(i))
		}
	}
	if !gaps {
		return false
	}
	n := uint32(nn.Elements(m.In)) / uint32(m.Count)
	x := r.reshape(r.transpose(m.Input, append(kept, reduced...)), n, uint32(m.Count))
	y := g.AddTemporary(m.Output, []uint32{n})
	op.Inputs = slices.Clone(op.Inputs)
	op.Inputs[a.Position("input")], op.Inputs[a.Position("axes")] = x, g.AddInt32s(1)
	keep := g.AddBool(false)
	if op.Type == nn.OpMean {
		keep = g.AddInt32(0)
	}
	op.Inputs[a.Position("keep_dims")] = keep
	op.Outputs = []uint32{y}
	r.emit(op)
	r.copy(y, m.Output)
	return true
}
