package mutation_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
)

func tensor(t nn.OperandType, l nn.Lifetime, scale float32, dims ...uint32) nn.Operand {
	return nn.Operand{Type: t, Dimensions: dims, Scale: scale, Lifetime: l}
}

func scalar(v byte) nn.Operand {
	return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
}

// models are valid: a quantized CONV_2D before a RELU6 and a float ADD before a
// MUL.
func models() map[string]*nn.Model {
	const q8, f32 = nn.TensorQuant8Asymm, nn.TensorFloat32
	filter := tensor(q8, nn.ConstantCopy, 0.5, 2, 1, 1, 4)
	filter.Data = make([]byte, 8)
	bias := tensor(nn.TensorInt32, nn.ConstantCopy, 0.25, 2)
	bias.Data = make([]byte, 8)
	return map[string]*nn.Model{
		"quantized": {Main: nn.Subgraph{
			Operands: []nn.Operand{tensor(q8, nn.SubgraphInput, 0.5, 1, 3, 3, 4), filter, bias, scalar(1), scalar(1), scalar(0),
				tensor(q8, nn.TemporaryVariable, 1, 1, 3, 3, 2), tensor(q8, nn.SubgraphOutput, 1, 1, 3, 3, 2)},
			Operations: []nn.Operation{
				{Type: nn.OpConv2D, Inputs: []uint32{0, 1, 2, 3, 4, 4, 5}, Outputs: []uint32{6}},
				{Type: nn.OpRelu6, Inputs: []uint32{6}, Outputs: []uint32{7}},
			},
			Inputs: []uint32{0}, Outputs: []uint32{7},
		}},
		"float": {Main: nn.Subgraph{
			Operands: []nn.Operand{tensor(f32, nn.SubgraphInput, 0, 2, 3), tensor(f32, nn.SubgraphInput, 0, 2, 3), scalar(0),
				tensor(f32, nn.TemporaryVariable, 0, 2, 3), tensor(f32, nn.SubgraphOutput, 0, 2, 3)},
			Operations: []nn.Operation{
				{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}},
				{Type: nn.OpMul, Inputs: []uint32{3, 1, 2}, Outputs: []uint32{4}},
			},
			Inputs: []uint32{0, 1}, Outputs: []uint32{4},
		}},
	}
}

// TestEveryDevice: each mutant of each kind ends in INVALID_ARGUMENT in the
// support query, in preparing and in compiling, on every device.
func TestEveryDevice(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
	registry := require.V(registry.New(list[0], list[1:]...))(t)
	if len(mutation.Kinds) != 22 {
		t.Fatalf("%d kinds, VTS has 22", len(mutation.Kinds))
	}
	made := map[string]int{}
	for name, m := range models() {
		require.NoError(t, nnrt.Validate(m), name)
		for _, d := range list {
			if _, err := d.SupportedOperations(mutation.Clone(m)); err != nil {
				t.Errorf("%s on %s: the model itself: %v", name, d.Name(), err)
			}
		}
		for _, k := range mutation.Kinds {
			for _, x := range k.Mutants(m) {
				made[k.Name]++
				for _, d := range list {
					if _, err := d.SupportedOperations(x.Model); !x.OnlyPrepare && hal.StatusOf(err) != hal.InvalidArgument {
						t.Errorf("%s, %s on %s: %s: support query: %v", k.Name, name, d.Name(), x.What, err)
					}
					if p, err := d.PrepareModel(x.Model, x.Options); hal.StatusOf(err) != hal.InvalidArgument || p != nil {
						t.Errorf("%s, %s on %s: %s: preparing: %v", k.Name, name, d.Name(), x.What, err)
					}
					o := nnrt.CompileOptions{Preference: nnrt.Prefer(x.Options.Preference), Priority: nnrt.Rank(x.Options.Priority)}
					if _, err := nnrt.Compile(registry, x.Model, d.Name(), o); hal.StatusOf(err) != hal.InvalidArgument {
						t.Errorf("%s, %s on %s: %s: compiling: %v", k.Name, name, d.Name(), x.What, err)
					}
				}
			}
		}
	}
	for _, k := range mutation.Kinds {
		require.Check(t, made[k.Name] != 0, "%s made no mutant", k.Name)
	}
}
