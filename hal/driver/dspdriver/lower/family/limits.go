package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/pool"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
)

// maxOutputShift bounds the left shift of 32-bit sums by a multiplier above 1: vector
// shifts use their count modulo 32.
const maxOutputShift = 30

// maxShift demands output scales that vector shifts reach.
var maxShift = legal.Rule{Text: "output scales shift sums left by at most 30", Phase: legal.Always, Check: func(r legal.Rule, s *legal.Subject) error {
	if n := s.View.OutputShift(s.Op); n > maxOutputShift {
		return r.Broken("by %d", n)
	}
	return nil
}}

// onIntegers demands tensors that have a form, floats only where a model begins and ends.
var onIntegers = legal.Rule{Text: "this DSP computes on integers", Phase: legal.Always, Check: func(r legal.Rule, s *legal.Subject) error {
	for k, list := range [2][]uint32{s.Op.Inputs, s.Op.Outputs} {
		for i, x := range list {
			o := &s.View.Operands[x]
			if o.Type == nn.TensorFloat32 && floatEdge(s.Op.Type, k) {
				continue
			}
			if o.Type.IsScalar() || lower.Storable(o.Type) || k != 1 && o.Lifetime == nn.NoValue {
				continue
			}
			if s.Op.Type == nn.OpQuantize && k == 0 || s.Op.Type == nn.OpDequantize && k == 1 {
				if err := pairs(s.Graph, s.Op); err != nil {
					return err
				}
				continue // the two are one table
			}
			return r.Broken("%s %d is %s", [2]string{"input", "output"}[k], i, o.Type)
		}
	}
	return nil
}}

// pairs reports why an operation is not half of such a table.
func pairs(g *graph.Graph, op *nn.Operation) error {
	if op.Type == nn.OpDequantize {
		return onlyRequantizes(g, op)
	}
	if _, ok := lower.Dequantized(g, op); !ok {
		return onePair.Broken("input 0 is %s", g.Operands[g.Input(op)].Type)
	}
	return nil
}

// Limits that lowerings check.
var (
	onePair       = legal.Limit("a DEQUANTIZE to it and its QUANTIZE must be one table")
	someElements  = legal.Limit("tensors with elements are needed")
	maxRank       = legal.Limit("ranks are 1 to 4")
	maxBytes      = legal.Limit("temporaries have at most %d bytes", layout.MaxArena)
	maxFilter     = legal.Limit("filters have at most %d inputs per output", layout.MaxDepth)
	maxPacked     = legal.Limit("packed weights have at most %d bytes", layout.MaxConst)
	knownWeights  = legal.Limit("multipliers per channel need weights that are packed when the model is prepared")
	maxAveraged   = legal.Limit("averages are over at most %d columns and %d elements", pool.MaxWindowCols, pool.MaxQuotient)
	castTypes     = legal.Limit("signed bytes are cast to themselves only")
	channelScales = legal.Limit("each channel needs a scale")
	oneBatch      = legal.Limit("outputs have the batch of the input")

	maxNormed       = legal.Limit("at most %d elements are normalized", maxNorm)
	maxExponentials = legal.Limit("at most %d elements", maxSoftmax)
	hiddenZero      = legal.Limit("hidden_state_zero_point is -128 to 127")
	maxEntry        = legal.Limit("indices lie within the input")

	byteDeltas     = legal.Limit("deltas are bytes")
	maxMaps        = legal.Limit("maps are at most %dx%d", maxHeatmap, maxHeatmap)
	maxRegions     = legal.Limit("regions have at most %d elements", layout.MaxPositions)
	minStride      = legal.Limit("strides are at least %g", detection.MinNormal)
	maxSuppression = legal.Limit("at most %d boxes and %d pairs of them", maxNmsBoxes, maxNmsPairs)
	maxProposals   = legal.Limit("at most %d anchors and %d pairs of proposals", maxAnchors, maxNmsPairs)
)
