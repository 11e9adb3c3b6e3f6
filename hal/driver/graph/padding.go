package graph

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// windows read the window of the operations whose padding may be a scheme. A
// TRANSPOSE_CONV_2D is left out: with a scheme it states its output shape instead.
var windows = map[nn.OperationType]func(opspec.View, *nn.Operation) (opspec.Window, error){
	nn.OpConv2D:          convWindow,
	nn.OpDepthwiseConv2D: convWindow,
	nn.OpGroupedConv2D: func(v opspec.View, op *nn.Operation) (opspec.Window, error) {
		c, err := v.GroupedConv(op)
		return c.Window, err
	},
	nn.OpAveragePool2D: poolWindow,
	nn.OpMaxPool2D:     poolWindow,
	nn.OpL2Pool2D:      poolWindow,
}

func convWindow(v opspec.View, op *nn.Operation) (opspec.Window, error) {
	c, err := v.Conv(op)
	return c.Window, err
}

func poolWindow(v opspec.View, op *nn.Operation) (opspec.Window, error) {
	p, err := v.Pool(op)
	return p.Window, err
}

// explicitPadding replaces the padding schemes SAME and VALID by the four numbers
// they stand for. Where a parameter or a shape is not known, the scheme stays.
func explicitPadding(g *Graph) (changed bool, err error) {
	for i := range g.Operations {
		op := &g.Operations[i]
		read := windows[op.Type]
		if read == nil {
			continue
		}
		a, err := g.View().Bind(op)
		if err != nil || !a.Has("padding") {
			continue
		}
		w, err := read(g.View(), op)
		if err != nil {
			continue
		}
		scheme := 0
		for a.SlotName(scheme) != "padding" {
			scheme++
		}
		inputs := slices.Clone(op.Inputs[:scheme])
		for _, n := range []int{w.Left, w.Right, w.Top, w.Bottom} {
			inputs = append(inputs, g.AddInt32(int32(n)))
		}
		op.Inputs = append(inputs, op.Inputs[scheme+1:]...)
		changed = true
	}
	return changed, nil
}
