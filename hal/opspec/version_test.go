package opspec

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// TestWithoutDefaults gives a CONV_2D every combination of its optional operands and
// counts the inputs that remain.
func TestWithoutDefaults(t *testing.T) {
	scalar := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	flag := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{v}}
	}
	tensor := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4, 4, 1}, Lifetime: nn.SubgraphInput}
	required := []nn.Operand{tensor, tensor, tensor, scalar(1), scalar(1), scalar(1), scalar(0)}
	input := flag(0)
	input.Lifetime, input.Data = nn.SubgraphInput, nil
	for _, c := range []struct {
		name     string
		optional []nn.Operand
		want     int
	}{
		{"none", nil, 7},
		{"layout", []nn.Operand{flag(0)}, 7},
		{"other layout", []nn.Operand{flag(1)}, 8},
		{"layout that is an input", []nn.Operand{input}, 8},
		{"all", []nn.Operand{flag(0), scalar(1), scalar(1)}, 7},
		{"other layout, dilation of 1", []nn.Operand{flag(1), scalar(1), scalar(1)}, 8},
		{"one dilation of 2", []nn.Operand{flag(0), scalar(2), scalar(1)}, 10},
		{"the other of 2", []nn.Operand{flag(0), scalar(1), scalar(2)}, 10},
	} {
		g := nn.Subgraph{Operands: append(append([]nn.Operand{}, required...), c.optional...)}
		op := nn.Operation{Type: nn.OpConv2D}
		for i := range g.Operands {
			op.Inputs = append(op.Inputs, uint32(i))
		}
		out := tensor
		out.Lifetime = nn.SubgraphOutput
		g.Operands, op.Outputs = append(g.Operands, out), []uint32{uint32(len(g.Operands))}
		a, err := ModelView(&g).Bind(&op)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := len(a.WithoutDefaults()); got != c.want {
			t.Errorf("%s: %d inputs remain, want %d", c.name, got, c.want)
		}
	}
}
