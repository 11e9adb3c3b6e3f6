package nnrt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// dividedConvolutions is two convolutions, the rows of each divided over three engines, and the devices of its operations.
func dividedConvolutions(t *testing.T) (m *nn.Model, on []string) {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Conv(b.Values("input", 1, 24, 24, 16), builder.Conv{Out: 32, Kernel: 3, Pad: 1, Act: builder.ReLU})
	b.Output(b.Conv(x, builder.Conv{Out: 24, Kernel: 3, Stride: 2, Pad: 1}), "output")
	m = require.V(b.Model("two"))(t)
	m = require.V(partition.Divide(m, 1, []int{5, 4, 3}))(t)
	m = require.V(partition.Divide(m, 0, []int{3, 9, 12}))(t)
	for _, op := range m.Main.Operations {
		device := partition.Interpreter
		if op.Type == nn.OpConv2D {
			device = []string{"npu", "dsp", "cpu"}[len(on)/2%3]
		}
		on = append(on, device)
	}
	return m, on
}

// TestDividedConvolutions: the parts of a divided operation run at once, on parts of one tensor: the runtime's steps move nothing and take no time,
// and the results are those of the whole.
func TestDividedConvolutions(t *testing.T) {
	m, on := dividedConvolutions(t)
	c := onPhone(t, m, on, false, nil)
	res := execute(t, c, nnrt.ExecuteOptions{})
	require.Same(t, 6, len(res.Parts), "parts")
	for _, first := range []int{0, 3} {
		for _, p := range res.Parts[first : first+3] {
			require.Same(t, res.Parts[first].StartFs, p.StartFs, "start of the part of "+p.Device)
		}
	}
	for i, r := range res.Operations {
		if runtime := on[i] == partition.Interpreter; r.Device != on[i] || (r.TimeFs == 0) != runtime || runtime != (m.Main.Operations[i].Type != nn.OpConv2D) {
			t.Errorf("operation %d (%v) took %d fs on %s, planned for %s", i, m.Main.Operations[i].Type, r.TimeFs, r.Device, on[i])
		}
	}
	execute(t, c, nnrt.ExecuteOptions{Functional: true})
	execute(t, onPhone(t, m, on, true, nil), nnrt.ExecuteOptions{})
	_, ok := c.Roles(false, 0)
	require.Check(t, !ok, "device memory for an output that three parts write")
}

// TestViewsAreChecked: the runtime refuses what would move data.
func TestViewsAreChecked(t *testing.T) {
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Values("input", 1, 4, 4, 8)
	y, z := b.Conv(x, builder.Conv{Out: 8, Kernel: 1}), b.Conv(x, builder.Conv{Out: 8, Kernel: 1})
	q := b.Operand(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{3, 0, 0, 0}})
	b.Output(b.Apply(nn.OpConcatenation, nn.TensorQuant8Asymm, builder.Quant{Scale: 1}, y, z, q), "output")
	m := require.V(b.Model("channels"))(t)
	_, why := partition.View(&m.Main, slices.IndexFunc(m.Main.Operations, func(op nn.Operation) bool { return op.Type == nn.OpConcatenation }))
	require.Check(t, strings.Contains(why, "16 runs of each input alternate"), "%s", why)
	_, why = partition.View(&m.Main, 0)
	require.Check(t, strings.Contains(why, "no CONCATENATION or SLICE"), "%s", why)
}
