package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// expandBatchMatmul makes a FULLY_CONNECTED of each matrix of a batch; the second matrix is its
// weights, a row per column of the result.
func expandBatchMatmul(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpBatchMatmul, func(r *rewriter, op *nn.Operation) bool {
		m, err := opspec.Read[opspec.BatchMatmul](g.View(), op)
		a, b := &g.Operands[m.A], &g.Operands[m.B]
		if err != nil || m.Type == nn.TensorInt32 || m.Batch > maxPieces || m.Batch < 1 || !a.Known() || !b.Known() || !g.Operands[m.Output].Known() {
			return false
		}
		bias := nn.Operand{Type: m.Type, Dimensions: []uint32{uint32(m.Cols)}, Lifetime: nn.ConstantCopy, Data: make([]byte, m.Cols*max(m.Type.ElementBytes(), 2))}
		if m.Type.IsQuant8() {
			bias.Type, bias.Scale, bias.Data = nn.TensorInt32, a.Scale*b.Scale, make([]byte, 4*m.Cols)
		}
		zeros := g.AddOperand(bias)
		rows, depth, cols := uint32(m.Rows), uint32(m.Depth), uint32(m.Cols)
		x, y := r.matrices(m.A, m.Batch, rows, depth, m.AdjA), r.matrices(m.B, m.Batch, cols, depth, !m.AdjB)
		var parts []uint32
		for i := range m.Batch {
			z := g.AddTemporary(m.Output, []uint32{rows, cols})
			r.emit(nn.Operation{Type: nn.OpFullyConnected, Inputs: []uint32{x[i], y[i], zeros, g.AddInt32(int32(nn.ActNone))}, Outputs: []uint32{z}})
			parts = append(parts, z)
		}
		all := parts[0]
		if len(parts) > 1 {
			all = g.AddTemporary(m.Output, []uint32{rows * uint32(m.Batch), cols})
			r.emit(nn.Operation{Type: nn.OpConcatenation, Inputs: append(parts, g.AddInt32(0)), Outputs: []uint32{all}})
		}
		r.copy(all, m.Output)
		return true
	})
}

// matrices splits a batch into tensors of rows and columns, which transposed ones have the other way
// round in memory.
func (r *rewriter) matrices(x uint32, batch int, rows, cols uint32, turned bool) (list []uint32) {
	from, to := []uint32{uint32(batch), rows, cols}, []uint32{rows, cols}
	if turned {
		from = []uint32{uint32(batch), cols, rows}
	}
	x = r.reshape(x, from...)
	for i := range batch {
		m := r.reshape(r.slice(x, 0, i, 1), from[1:]...)
		if turned {
			y := r.g.AddTemporary(x, slices.Clone(to))
			r.emit(nn.Operation{Type: nn.OpTranspose, Inputs: []uint32{m, r.g.AddInt32s(1, 0)}, Outputs: []uint32{y}})
			m = y
		}
		list = append(list, m)
	}
	return list
}

// expandBilinear makes GATHERs of neighbours and their weighted sums of RESIZE_BILINEAR of reals:
// rows first, then columns.
func expandBilinear(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpResizeBilinear, func(r *rewriter, op *nn.Operation) bool {
		p, err := opspec.Read[opspec.Resize](g.View(), op)
		if err != nil || p.NCHW || !float(g, p.Input, p.Output) {
			return false
		}
		rows, columns := p.Bilinear()
		x := r.real(p.Input)
		x = r.blend(x, 1, rows.Lo, rows.Hi, rows.Frac)
		r.into(r.blend(x, 2, columns.Lo, columns.Hi, columns.Frac), p.Output)
		return true
	})
}

// blend is, for each of a list, an element of a dimension and a part of its distance to another.
func (r *rewriter) blend(x uint32, dim int, lo, hi []int, frac []float32) uint32 {
	dims := slices.Clone(r.g.Operands[x].Dimensions)
	dims[dim] = uint32(len(frac))
	pick := func(list []int) uint32 {
		index := make([]int32, len(list))
		for i, at := range list {
			index[i] = int32(at)
		}
		return r.apply(nn.OpGather, dims, x, r.g.AddInt32(int32(dim)), r.g.AddInt32s(index...))
	}
	a, b := pick(lo), pick(hi)
	weights := []uint32{1, 1, 1, 1}
	weights[dim] = uint32(len(frac))
	return r.binary(nn.OpAdd, a, r.binary(nn.OpMul, r.binary(nn.OpSub, b, a), r.numbers(weights, frac...)))
}
