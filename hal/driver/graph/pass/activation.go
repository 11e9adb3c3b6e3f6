package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// fuseActivations moves a RELU, RELU1 or RELU6 into the operation that makes its
// input, where that one has an activation argument and nobody else reads the value
// in between:
//
//	y = CONV_2D(x, ..., NONE); z = RELU6(y)   ->   z = CONV_2D(x, ..., RELU6)
//
// Quantized values must have one scale and zero point on both sides, as NNAPI
// demands of these operations; the clamp is then the same before and after.
func fuseActivations(g *graph.Graph) (changed bool, err error) {
	u := g.Uses()
	fused := make([]bool, len(g.Operations))
	for i := range g.Operations {
		op := &g.Operations[i]
		act := opspec.UnaryActivation(op.Type)
		if act == nn.ActNone {
			continue
		}
		in, out := g.Input(op), op.Outputs[0]
		j := u.Producer(in)
		if j < 0 || fused[j] {
			continue
		}
		if _, sole := u.SoleReader(in); !sole || !sameForm(&g.Operands[in], &g.Operands[out]) {
			continue
		}
		producer := &g.Operations[j]
		a, err := g.View().Bind(producer)
		if err != nil || !a.Has("activation") || len(producer.Outputs) != 1 || slices.Contains(cells, producer.Type) {
			continue
		}
		if none, err := a.Int32("activation"); err != nil || nn.FusedActivation(none) != nn.ActNone {
			continue
		}
		*producer = withInput(*producer, a.Position("activation"), g.AddInt32(int32(act)))
		producer.Outputs = []uint32{out}
		u.SetProducer(out, j)
		fused[i], changed = true, true
	}
	if !changed {
		return false, nil
	}
	r := rewriter{g: g}
	for i, gone := range fused {
		if !gone {
			r.add(g.Origin[i], g.Operations[i])
		}
	}
	r.commit()
	return true, nil
}

// cells are the operations whose activation is a function of every step: what follows sees its
// result, so it is no clamp of the output alone.
var cells = []nn.OperationType{
	nn.OpRnn, nn.OpUnidirectionalSequenceRnn, nn.OpBidirectionalSequenceRnn,
	nn.OpLstm, nn.OpUnidirectionalSequenceLstm, nn.OpBidirectionalSequenceLstm, nn.OpSvdf,
}

// sameForm reports whether two operands have the same type, shape and quantization.
func sameForm(a, b *nn.Operand) bool {
	return a.Type == b.Type && a.Scale == b.Scale && a.ZeroPoint == b.ZeroPoint && slices.Equal(a.Dimensions, b.Dimensions)
}
