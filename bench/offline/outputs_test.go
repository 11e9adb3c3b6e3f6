package offline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// randomOutputs is a network of additions of an input and of earlier results, some of which, and the last, are outputs
// in an order of its own.
func randomOutputs(r *rand.Rand, outputs int) *nn.Model {
	g := nn.Subgraph{}
	shape := []uint32{1, 1 + r.Uint32N(6), 1 + r.Uint32N(6), 1 + r.Uint32N(20)}
	operand := func(l nn.Lifetime) uint32 {
		g.Operands = append(g.Operands, nn.Operand{Type: nn.TensorQuant8AsymmSigned, Dimensions: shape, Scale: 0.05 + r.Float32()/10, ZeroPoint: int32(r.IntN(9)) - 4, Lifetime: l})
		return uint32(len(g.Operands) - 1)
	}
	have := []uint32{operand(nn.SubgraphInput)}
	g.Inputs = []uint32{have[0]}
	none := uint32(len(g.Operands))
	g.Operands = append(g.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)})
	total := outputs + r.IntN(4)
	chosen := r.Perm(total)[:outputs]
	used := map[int]bool{}
	for _, i := range chosen {
		used[i] = true
	}
	for i := range total {
		a, b := have[r.IntN(len(have))], have[len(have)-1]
		y := operand(nn.TemporaryVariable)
		if used[i] {
			g.Operands[y].Lifetime = nn.SubgraphOutput
		}
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpAdd, Inputs: []uint32{a, b, none}, Outputs: []uint32{y}})
		have = append(have, y)
	}
	for _, i := range chosen {
		g.Outputs = append(g.Outputs, have[1+i])
	}
	return &nn.Model{Main: g}
}

// TestManyOutputs compiles random networks of 1 to 6 outputs for each accelerator and demands the reference's bytes of
// every output.
func TestManyOutputs(t *testing.T) {
	for _, accelerator := range ethosu.Accelerators() {
		for outputs := 1; outputs <= 6; outputs++ {
			t.Run(fmt.Sprintf("%s/%d", accelerator, outputs), func(t *testing.T) {
				for seed := range uint64(4) {
					m := randomOutputs(rand.New(rand.NewPCG(seed, uint64(outputs))), outputs)
					_, _, got := compiled(t, m, accelerator)
					checkOutputs(t, m, got)
				}
			})
		}
	}
}

// TestOverlappingOutputs demands that a file two of whose outputs lie at the same place is refused.
func TestOverlappingOutputs(t *testing.T) {
	const name = "ethos-u55-128"
	a, c := require.V(ethosu.ParseConfig(name))(t), require.V(soc.Load(name))(t)
	n := require.V(offline.Compile(randomOutputs(rand.New(rand.NewPCG(1, 1)), 3), c, a))(t)
	read := require.V(vela.Read(n.File))(t)
	machine := require.V(inference.NewMachine(c, hal.FastSingleAnswer))(t)
	read.Tensors[read.Outputs[2]].Offset = read.Tensors[read.Outputs[0]].Offset
	require.ErrorContains(t, require.Err(inference.New(read, machine)), "outputs 0 and 2 of the graph overlap in the arena", "overlapping outputs")
}
