package wire

import (
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// everything is a model that has a value in each field.
func everything() *nn.Model {
	value := []byte{1, 2, 3}
	g := nn.Subgraph{
		Name: "main\xff", Inputs: []uint32{0}, Outputs: []uint32{1}, Consumers: []uint32{2, 0},
		Operands: []nn.Operand{
			{
				Type: nn.TensorQuant8SymmPerChannel, Lifetime: nn.ConstantCopy, Dimensions: []uint32{1, 0}, Scale: 0.5, ZeroPoint: -7,
				Channel: &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2}}, Extension: []byte{9}, Name: "x\xfe", Data: value,
			},
			{Type: -5, Lifetime: nn.SubgraphOutput},
			{Type: nn.TensorInt32, Lifetime: nn.ConstantReference, Data: value},
		},
		Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1<<32 - 1}, Outputs: []uint32{1}}},
	}
	return &nn.Model{
		Name: "everything", Relaxed: true, Main: g, Referenced: []nn.Subgraph{{Name: "empty"}, g},
		Extensions: []nn.ExtensionPrefix{{Name: "org.x", Prefix: 77}},
		States:     []nn.State{{Input: 1, Output: 2, Initial: []byte{4}}, {}, {Initial: []byte{}}},
	}
}

func TestModelsTravelWhole(t *testing.T) {
	m := everything()
	for name, x := range map[string]any{"model": *m, "subgraph": m.Main, "operand": m.Main.Operands[0], "state": m.States[0]} {
		for v, i := reflect.ValueOf(x), 0; i < v.NumField(); i++ {
			if field := name + "." + v.Type().Field(i).Name; v.Field(i).IsZero() && field != "operand.Unmerged" { // of the client's files alone
				t.Errorf("%s is not set in the model", field)
			}
		}
	}
	head, values := require.V2(ToModel(m))(t)
	require.Same(t, constantAlign+1, len(values), "bytes of constants")
	back, err := FromModel(head, values)
	require.Check(t, err == nil && reflect.DeepEqual(back, m), "%v\n%+v\n%+v", err, back, m)
	for name, cut := range map[string][2]int{"head": {len(head) - 1, len(values)}, "constants": {len(head), len(values) - 1}} {
		if _, err := FromModel(head[:cut[0]], values[:cut[1]]); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("a shorter %s: %v", name, err)
		}
	}
	m.States[0].Input = -1
	if _, _, err := ToModel(m); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("a state of no input: %v", err)
	}
}

func FuzzFromModel(f *testing.F) {
	head, values := require.V2(ToModel(everything()))(f)
	f.Add(head, values)
	f.Fuzz(func(t *testing.T, head, values []byte) {
		m, err := FromModel(head, values)
		if err != nil {
			return
		}
		again, moved := require.V2(ToModel(m))(t)
		require.Same(t, len(m.Main.Operands), len(require.V(FromModel(again, moved))(t).Main.Operands))
	})
}
