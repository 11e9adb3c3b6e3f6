package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxPieces bounds the operations of one kind that an expansion makes of one operation.
const maxPieces = 1 << 10

// expandGroupedConv makes a convolution of each group:
//
//	y = GROUPED_CONV_2D(x, f, b, groups)
//	->
//	y[g] = CONV_2D(SLICE(x, channels of g), f[outputs of g], b[outputs of g])
//	y = CONCATENATION(y[0], y[1], ..., channels)
//
// Constant filters and biases are cut when the model is prepared. A filter with a scale per
// channel that comes at run time cannot be cut: then each group computes the outputs of all,
// of which only its own are kept.
func expandGroupedConv(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpGroupedConv2D, func(r *rewriter, op *nn.Operation) bool {
		c, err := opspec.Read[opspec.GroupedConv](g.View(), op)
		a, bound := g.View().Bind(op)
		if err != nil || bound != nil || c.NCHW || c.Groups > maxPieces || !g.Operands[c.Output].Known() {
			return false
		}
		groups, channels, outputs := a.Position("groups"), c.C/c.Groups, c.K/c.Groups
		var parts []uint32
		for i := range c.Groups {
			part := nn.Operation{Type: nn.OpConv2D, Inputs: slices.Delete(slices.Clone(op.Inputs), groups, groups+1)}
			part.Inputs[0] = r.slice(c.Input, 3, i*channels, channels)
			computed := c.K
			if sliceable(g, c.Filter) {
				computed = outputs
				part.Inputs[1] = r.slice(c.Filter, 0, i*outputs, outputs)
				part.Inputs[2] = r.slice(c.Bias, 0, i*outputs, outputs)
			}
			y := op.Outputs[0]
			if c.Groups > 1 {
				y = g.AddTemporary(y, []uint32{uint32(c.N), uint32(c.OutH), uint32(c.OutW), uint32(computed)})
			}
			part.Outputs = []uint32{y}
			r.emit(part)
			if computed != outputs {
				y = r.slice(y, 3, i*outputs, outputs)
			}
			parts = append(parts, y)
		}
		if c.Groups > 1 {
			r.emit(nn.Operation{Type: nn.OpConcatenation, Inputs: append(parts, g.AddInt32(3)), Outputs: op.Outputs})
		}
		return true
	})
}

// expansion emits what an operation is replaced by, and returns whether it is.
type expansion func(r *rewriter, op *nn.Operation) bool

// expand replaces operations of a type.
func expand(g *graph.Graph, t nn.OperationType, rewrite expansion) (changed bool, err error) {
	return expandAll(g, map[nn.OperationType]expansion{t: rewrite})
}

// expandAll replaces operations of several types, if the device does not lower them itself.
func expandAll(g *graph.Graph, rewrites map[nn.OperationType]expansion) (changed bool, err error) {
	r := &rewriter{g: g}
	for i := range g.Operations {
		op := g.Operations[i]
		r.now = g.Origin[i]
		decided := len(g.Choices)
		rewrite := rewrites[op.Type]
		expanded := rewrite != nil && leaves(g, &op) && rewrite(r, &op)
		for k := range g.Choices[decided:] {
			g.Choices[decided+k].Origin = r.now
		}
		if expanded {
			changed = true
			continue
		}
		r.emit(op)
	}
	r.commit()
	return changed, nil
}

// leaves reports whether the running pass may replace an operation: it does not expand one that
// the device would lower itself.
func leaves(g *graph.Graph, op *nn.Operation) bool {
	return g.Leaves == nil || !slices.Contains(g.Running.Expands, op.Type) || g.Leaves(g, op, g.Running.Name)
}

// emit appends an operation to the expansion.
func (r *rewriter) emit(op nn.Operation) { r.add(r.now, op) }

// sliceable reports whether slice supports operand x: SLICE has no form for filters with a
// scale per channel that are known only at run time.
func sliceable(g *graph.Graph, x uint32) bool {
	o := &g.Operands[x]
	return o.Known() && (o.IsConst() || o.Type != nn.TensorQuant8SymmPerChannel)
}

// slice is n elements of a dimension of operand x, from the one at begin: x itself where it
// has no more, a constant of a constant, else a SLICE.
func (r *rewriter) slice(x uint32, dim, begin, n int) uint32 {
	o := r.g.Operands[x]
	if int(o.Dimensions[dim]) == n {
		return x
	}
	dims := slices.Clone(o.Dimensions)
	dims[dim] = uint32(n)
	if c := o.Channel; c != nil && int(c.Dim) == dim {
		o.Channel = &nn.ChannelQuant{Dim: c.Dim, Scales: c.Scales[begin : begin+n]}
	}
	if data, err := r.g.View().Data(x); err == nil {
		step := int(nn.Elements(o.Dimensions[dim+1:])) * o.Type.ElementBytes()
		row := int(o.Dimensions[dim]) * step
		var part []byte
		for at := begin * step; at < len(data); at += row {
			part = append(part, data[at:at+n*step]...)
		}
		o.Lifetime, o.Data, o.Dimensions = nn.ConstantCopy, part, dims
		return r.g.AddOperand(o)
	}
	from, size := make([]int32, len(dims)), make([]int32, len(dims))
	for i, d := range dims {
		size[i] = int32(d)
	}
	from[dim] = int32(begin)
	y := r.g.AddTemporary(x, dims)
	r.emit(nn.Operation{Type: nn.OpSlice, Inputs: []uint32{x, r.g.AddInt32s(from...), r.g.AddInt32s(size...)}, Outputs: []uint32{y}})
	return y
}

// reverse is operand x with the order of a dimension reversed.
func (r *rewriter) reverse(x uint32, dim int) uint32 {
	o := r.g.Operands[x]
	if o.Dimensions[dim] < 2 {
		return x
	}
	if data, err := r.g.View().Data(x); err == nil {
		outer, n := int(nn.Elements(o.Dimensions[:dim])), int(o.Dimensions[dim])
		step := int(nn.Elements(o.Dimensions[dim+1:])) * o.Type.ElementBytes()
		back := make([]byte, 0, len(data))
		for i := range outer {
			for k := n - 1; k >= 0; k-- {
				back = append(back, data[(i*n+k)*step:(i*n+k+1)*step]...)
			}
		}
		o.Lifetime, o.Data = nn.ConstantCopy, back
		return r.g.AddOperand(o)
	}
	y := r.g.AddTemporary(x, o.Dimensions)
	r.emit(nn.Operation{Type: nn.OpReverse, Inputs: []uint32{x, r.g.AddInt32s(int32(dim))}, Outputs: []uint32{y}})
	return y
}

// reshape is operand x under another shape.
func (r *rewriter) reshape(x uint32, dims ...uint32) uint32 {
	if slices.Equal(r.g.Operands[x].Dimensions, dims) {
		return x
	}
	shape := make([]int32, len(dims))
	for i, d := range dims {
		shape[i] = int32(d)
	}
	y := r.g.AddTemporary(x, dims)
	r.emit(nn.Operation{Type: nn.OpReshape, Inputs: []uint32{x, r.g.AddInt32s(shape...)}, Outputs: []uint32{y}})
	return y
}
