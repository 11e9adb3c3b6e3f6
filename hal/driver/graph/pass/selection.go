package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// expandNearest makes GATHERs with constant indices, which copy elements of the input:
//
//	y = RESIZE_NEAREST_NEIGHBOR(x)   ->   y = GATHER(GATHER(x, rows, 1), columns, 2)
func expandNearest(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpResizeNearestNeighbor, func(r *rewriter, op *nn.Operation) bool {
		p, err := opspec.Read[opspec.Resize](g.View(), op)
		if err != nil || p.NCHW || !g.Operands[p.Output].Known() {
			return false
		}
		rows, columns := p.Nearest()
		r.selection(p.Input, p.Output, [][]int{nil, rows, columns, nil})
		return true
	})
}

// expandMirrorPad makes a GATHER of each dimension that changes:
//
//	y = MIRROR_PAD(x, paddings)      ->   y = GATHER(... GATHER(x, [2 1 0 1 2 1], 0) ...)
func expandMirrorPad(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpMirrorPad, func(r *rewriter, op *nn.Operation) bool {
		p, err := opspec.Read[opspec.MirrorPad](g.View(), op)
		if err != nil || !g.Operands[p.Output].Known() || nn.Elements(p.Dims) <= 0 {
			return false
		}
		index := make([][]int, len(p.Dims))
		for d, n := range p.Dims {
			for i := range int(n) {
				index[d] = append(index[d], p.Source(d, i))
			}
		}
		r.selection(p.Input, p.Output, index)
		return true
	})
}

// selection gathers the indices of each dimension of x into y; a nil list is all of them.
func (r *rewriter) selection(x, y uint32, index [][]int) {
	dims := slices.Clone(r.g.Operands[x].Dimensions)
	gathered := false
	for d, list := range index {
		if list == nil || len(list) == int(dims[d]) && isRange(list) {
			continue
		}
		dims[d] = uint32(len(list))
		indices := make([]int32, len(list))
		for i, at := range list {
			indices[i] = int32(at)
		}
		z := r.g.AddTemporary(x, slices.Clone(dims))
		r.emit(nn.Operation{Type: nn.OpGather, Inputs: []uint32{x, r.g.AddInt32(int32(d)), r.g.AddInt32s(indices...)}, Outputs: []uint32{z}})
		x, gathered = z, true
	}
	if gathered {
		r.operations[len(r.operations)-1].Outputs = []uint32{y}
		return
	}
	r.copy(x, y)
}

// isRange reports whether a list counts from 0.
func isRange(list []int) bool {
	for i, x := range list {
		if x != i {
			return false
		}
	}
	return true
}

// copy makes y the elements of x: a RESHAPE to the shape of y.
func (r *rewriter) copy(x, y uint32) {
	var shape []int32
	for _, d := range r.g.Operands[y].Dimensions {
		shape = append(shape, int32(d))
	}
	r.emit(nn.Operation{Type: nn.OpReshape, Inputs: []uint32{x, r.g.AddInt32s(shape...)}, Outputs: []uint32{y}})
}

// expandSplit makes a SLICE of each output of a SPLIT.
func expandSplit(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpSplit, func(r *rewriter, op *nn.Operation) bool {
		s, err := opspec.Read[opspec.Split](g.View(), op)
		a, bound := g.View().Bind(op)
		if err != nil || bound != nil {
			return false
		}
		x, err := a.Int32("axis")
		if err != nil || nn.Elements(s.Dims) == 0 {
			return false
		}
		axis := int(x)
		if axis < 0 {
			axis += len(s.Dims)
		}
		begin, size := make([]int32, len(s.Dims)), make([]int32, len(s.Dims))
		for i, d := range s.Dims {
			size[i] = int32(d)
		}
		for _, y := range s.Outputs {
			r.emit(nn.Operation{Type: nn.OpSlice, Inputs: []uint32{s.Input, g.AddInt32s(begin...), g.AddInt32s(size...)}, Outputs: []uint32{y}})
			begin[axis] += size[axis]
		}
		return true
	})
}
