package cpudriver

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestSupport: what the kernels cannot prepare is declined with the reason, in subgraphs too, and what is
// declined is not prepared.
func TestSupport(t *testing.T) {
	quantized := func(scale float32) *nn.Model {
		return &nn.Model{Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: nn.TensorQuant8Asymm, Scale: scale, Dimensions: []uint32{4}, Lifetime: nn.SubgraphInput},
				{Type: nn.TensorQuant8Asymm, Scale: 1. / 256, Dimensions: []uint32{4}, Lifetime: nn.SubgraphOutput},
			},
			Operations: []nn.Operation{{Type: nn.OpLogistic, Inputs: []uint32{0}, Outputs: []uint32{1}}},
			Inputs:     []uint32{0}, Outputs: []uint32{1},
		}}
	}
	called := func(m *nn.Model) *nn.Model {
		branch, o := m.Main, m.Main.Operands
		return &nn.Model{Referenced: []nn.Subgraph{branch}, Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput},
				nn.SubgraphOperand(0), o[0], o[1],
			},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 1, 2}, Outputs: []uint32{3}}},
			Inputs:     []uint32{0, 2}, Outputs: []uint32{3},
		}}
	}
	d := New(Config{})
	for name, m := range map[string]*nn.Model{"alone": quantized(1e-30), "called": called(quantized(1e-30))} {
		s, err := d.SupportedOperations(m)
		if err != nil || s[0].OK || !strings.Contains(s[0].Reason, "is not greater than 1") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		require.Fails(t, require.Err(d.PrepareModel(m, hal.PrepareOptions{})), name, "prepared")
	}
	for name, m := range map[string]*nn.Model{"alone": quantized(0.1), "called": called(quantized(0.1))} {
		if s, err := d.SupportedOperations(m); err != nil || !s[0].OK {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
