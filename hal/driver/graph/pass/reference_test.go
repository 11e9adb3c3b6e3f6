package pass_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestPassesKeepResults runs models on the reference CPU before and after all passes:
// a sample of the corpus, which has images in NCHW order and constant operands, and
// random graphs, which have activations behind other operations.
func TestPassesKeepResults(t *testing.T) {
	changes, constant := map[string]int{}, map[nn.OperationType]bool{}
	random, err := randgraph.NewGenerator(7, regexp.MustCompile("^(ADD|SUB|MUL|CONV_2D|FULLY_CONNECTED|AVERAGE_POOL_2D|TRANSPOSE|RESHAPE|RELU.*)$"))
	require.NoError(t, err)
	for i := range 60 {
		c := require.V(random.Case(4*i+3, nil))(t)
		keepsResult(t, fmt.Sprintf("random graph %d", i), c.Model, c.Inputs, changes)
	}
	for _, name := range []string{pass.ExplicitPadding, pass.FuseActivations} {
		if changes[name] == 0 {
			t.Errorf("%q changed none of the random graphs", name)
		}
	}
	expanded := regexp.MustCompile("__(grouped_conv2d|transpose_conv2d|resize_|mirror_pad|split_|softmax_v1_2|l2_|local_response|instance|argm|mean|reduce_|lstm|rnn|svdf|.*sequence|prelu|elu|hard_swish|pack|pad_v2|less|not_equal|batch_matmul)")
	for k, name := range nnapi.Names() {
		if k%12 != 0 && !expanded.MatchString(name) {
			continue
		}
		f := require.V(testvectors.Document(name))(t)
		for i, c := range f.Cases {
			if c.Model == nil || c.ExpectFailure || i%3 != 0 {
				continue
			}
			var inputs [][]byte
			for _, v := range c.Inputs {
				inputs = append(inputs, v.Data)
			}
			keepsResult(t, c.Name, c.Model, inputs, changes)
			if m, rest := withParameters(c.Model, inputs); m != nil {
				keepsResult(t, c.Name+" with constant parameters", m, rest, changes)
				for i := range m.Main.Operations {
					constant[m.Main.Operations[i].Type] = true
				}
			}
		}
	}
	for _, op := range []nn.OperationType{nn.OpLstm, nn.OpUnidirectionalSequenceLstm, nn.OpBidirectionalSequenceLstm, nn.OpBidirectionalSequenceRnn, nn.OpSvdf} {
		if !constant[op] {
			t.Errorf("no model has %s with constant parameters", op)
		}
	}
	for _, name := range []string{pass.ConvertNCHW, pass.FoldConstants, pass.ExpandGroupedConv, pass.ExpandTransposeConv,
		pass.ExpandNearest, pass.ExpandMirrorPad, pass.ExpandSplit, pass.ExpandNormalizations, pass.ExpandFunctions, pass.ExpandComparisons,
		pass.ExpandJoins, pass.ExpandBilinear, pass.ExpandCells, pass.AxisLast, pass.JoinReducedAxes} {
		if changes[name] == 0 {
			t.Errorf("%q changed none of the models", name)
		}
	}
}

// withParameters is a model whose optional operands are constants or left out, instead of inputs, nil if
// it has none.
func withParameters(m *nn.Model, inputs [][]byte) (*nn.Model, [][]byte) {
	c := *m
	c.Main.Operands = slices.Clone(m.Main.Operands)
	optional := map[uint32]bool{}
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		if a, err := opspec.ModelView(&m.Main).Bind(op); err == nil {
			for k, x := range op.Inputs {
				optional[x] = optional[x] || a.Optional(k)
			}
		}
	}
	c.Main.Inputs = nil
	var rest [][]byte
	found := false
	for i, x := range m.Main.Inputs {
		switch o := &c.Main.Operands[x]; {
		case !optional[x]:
			c.Main.Inputs, rest = append(c.Main.Inputs, x), append(rest, inputs[i])
			continue
		case len(inputs[i]) == 0:
			o.Lifetime = nn.NoValue
		default:
			o.Lifetime, o.Data = nn.ConstantCopy, inputs[i]
		}
		found = true
	}
	if !found {
		return nil, nil
	}
	return &c, rest
}

// keepsResult runs a model before and after all passes and counts those that changed
// it.
func keepsResult(t *testing.T, name string, m *nn.Model, inputs [][]byte, changes map[string]int) {
	t.Helper()
	g := graph.New(m)
	rounds := false
	err := pass.NewPipeline(pass.PassNames()...).Run(g, func(ran string, changed bool, g *graph.Graph) {
		require.Report(t, g.Check(), name, "after", ran)
		if changed {
			changes[ran]++
			rounds = rounds || pass.NewPipeline(ran)[0].Rounds
		}
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want, err := cpudriver.Reference(m, inputs)
	if err != nil {
		return // values that an operation refuses when it executes
	}
	got, err := cpudriver.Reference(&nn.Model{Main: g.Subgraph, Referenced: m.Referenced, Relaxed: g.Relaxed}, inputs)
	if err != nil {
		t.Errorf("%s: after the passes: %v", name, err)
		return
	}
	for i, x := range m.Main.Outputs {
		if rounds && near(m.Main.Operands[x].Type, want[i], got[i]) {
			continue
		}
		require.Equal(t, want[i], got[i], name, "the passes change output", i)
	}
}

// near reports whether floating point tensors differ by no more than sums in another order.
func near(typ nn.OperandType, a, b []byte) bool {
	limit, ok := map[nn.OperandType]float64{nn.TensorFloat32: 1e-5, nn.TensorFloat16: 1e-2}[typ]
	size := typ.ElementBytes()
	for i := 0; ok && i < len(a) && len(a) == len(b); i += size {
		x, y := opspec.Element(typ, a[i:]), opspec.Element(typ, b[i:])
		ok = math.Abs(x-y) <= limit*(1+math.Abs(x))
	}
	return ok
}
