package validate

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestMemoryDesc: the roles of device memory agree in type, quantization and extension, and determine
// dimensions together.
func TestMemoryDesc(t *testing.T) {
	model := func(o nn.Operand) *nn.Model {
		return &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{o}, Inputs: []uint32{0}}}
	}
	tensor := nn.Operand{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{0, 3}, Scale: 0.5, ZeroPoint: 7,
		Channel: &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2, 3}}, Extension: []byte{1}}
	roles := []hal.BufferRole{{ModelIndex: 0, Frequency: 1}, {ModelIndex: 1, Frequency: 0.5}}
	for name, c := range map[string]struct {
		change func(o *nn.Operand)
		ok     bool
	}{
		"nothing":           {func(*nn.Operand) {}, true},
		"unknown rank":      {func(o *nn.Operand) { o.Dimensions = nil }, true},
		"rows":              {func(o *nn.Operand) { o.Dimensions = []uint32{2, 3} }, true},
		"columns":           {func(o *nn.Operand) { o.Dimensions = []uint32{0, 4} }, false},
		"rank":              {func(o *nn.Operand) { o.Dimensions = []uint32{2, 3, 1} }, false},
		"type":              {func(o *nn.Operand) { o.Type = nn.TensorQuant8Asymm }, false},
		"scale":             {func(o *nn.Operand) { o.Scale = 0.25 }, false},
		"zero point":        {func(o *nn.Operand) { o.ZeroPoint = 8 }, false},
		"scale of channels": {func(o *nn.Operand) { o.Channel = &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2, 4}} }, false},
		"axis of channels":  {func(o *nn.Operand) { o.Channel = &nn.ChannelQuant{Scales: []float32{1, 2, 3}} }, false},
		"no channels":       {func(o *nn.Operand) { o.Channel = nil }, false},
		"extension":         {func(o *nn.Operand) { o.Extension = []byte{2} }, false},
	} {
		o := tensor
		c.change(&o)
		got, err := MemoryDesc(hal.BufferDesc{}, []*nn.Model{model(tensor), model(o)}, roles, nil)
		require.Check(t, (err == nil) == c.ok, "another %s: %v", name, err)
		if c.ok && (len(got.Dimensions) != 2 || got.Dimensions[1] != 3) {
			t.Errorf("another %s: dimensions %v", name, got.Dimensions)
		}
	}
	got := require.V(MemoryDesc(hal.BufferDesc{Dimensions: []uint32{2, 0}}, []*nn.Model{model(tensor)}, roles[:1], nil))(t)
	require.Check(t, got.Dimensions[0] == 2 && got.Dimensions[1] == 3, "rows of the descriptor: dimensions %v", got.Dimensions)
}
