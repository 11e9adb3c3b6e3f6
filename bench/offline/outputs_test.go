package offline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// randomOutputs is a network of branches of convolutions, pools, sums, views and operations of the CPU. Some results,
// and the last, are outputs in an order of their own, whether later operations read them or not.
func randomOutputs(r *rand.Rand, outputs int) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: builder.Quant8Signed, Seed: r.Uint32()})
	side, channels := 3+r.Uint32N(6), 1+r.Uint32N(24)
	same := []builder.Tensor{b.Values("input", 1, side, side, channels)} // all of one shape
	pick := func() builder.Tensor { return same[max(0, len(same)-1-r.IntN(3))] }
	whole := []int32{int32(side * side), int32(channels)}
	var results []builder.Tensor
	for range outputs + r.IntN(5) {
		x := pick()
		var y builder.Tensor
		switch r.IntN(9) {
		case 0:
			y = b.Conv(x, builder.Conv{Out: channels, Kernel: 3, Act: builder.ReLU})
		case 1:
			y = b.Conv(x, builder.Conv{Out: channels, Kernel: 1})
		case 2:
			y = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU6})
		case 3:
			y = b.MaxPool(x, builder.Pool{Window: 3})
		case 4:
			y = b.Add(x, pick(), builder.NoActivation)
		case 5: // a view, which may be an output beside its source
			flat := b.Reshape(x, whole...)
			results = append(results, flat)
			y = b.Reshape(flat, 1, int32(side), int32(side), int32(channels))
		case 6: // its halves lie within one tensor
			joint := b.Concat(x, pick())
			results = append(results, joint)
			y = b.Conv(joint, builder.Conv{Out: channels, Kernel: 1})
		case 7: // of another shape and read by none
			results = append(results, b.Slice(x, []int32{0, 1, 0, 0}, []int32{1, int32(side) - 1, -1, -1}))
			y = b.Conv(x, builder.Conv{Out: channels, Kernel: 3, Dilation: 1 + r.Uint32N(2)})
		case 8: // of the CPU
			real := b.Apply(nn.OpDequantize, nn.TensorFloat32, builder.Quant{}, x)
			results = append(results, real)
			y = b.Apply(nn.OpQuantize, b.Type(), builder.Quant{Scale: 0.05}, real)
			b.SetSpread(y, b.SpreadOf(x))
		}
		same, results = append(same, y), append(results, y)
	}
	last := results[len(results)-1]
	results = results[:len(results)-1]
	r.Shuffle(len(results), func(i, k int) { results[i], results[k] = results[k], results[i] })
	results = append(results[:outputs-1], last)
	r.Shuffle(len(results), func(i, k int) { results[i], results[k] = results[k], results[i] })
	for i, y := range results {
		b.Output(y, fmt.Sprintf("output_%d", i))
	}
	return b.Model(fmt.Sprintf("outputs_%d", outputs))
}

// TestManyOutputs compiles random networks of 1 to 6 outputs for each accelerator and demands the reference's bytes of
// every output. Among them are files of several operators with steps of the CPU between.
func TestManyOutputs(t *testing.T) {
	operators, onCPU := 0, 0
	for _, accelerator := range ethosu.Accelerators() {
		for outputs := 1; outputs <= 6; outputs++ {
			t.Run(fmt.Sprintf("%s/%d", accelerator, outputs), func(t *testing.T) {
				for seed := range uint64(4) {
					m := require.V(randomOutputs(rand.New(rand.NewPCG(seed, uint64(outputs))), outputs))(t)
					if !reachesNPU(m) {
						continue
					}
					n, _, got := compiled(t, m, accelerator)
					operators, onCPU = max(operators, len(n.Operators)), max(onCPU, len(n.CPU))
					checkOutputs(t, m, got)
				}
			})
		}
	}
	require.Check(t, operators > 1 && onCPU > 0, "at most %d operators and %d operations of the CPU", operators, onCPU)
}

// reachesNPU reports whether the network is more than operations of the CPU.
func reachesNPU(m *nn.Model) bool {
	return slices.ContainsFunc(m.Main.Operations, func(o nn.Operation) bool { return o.Type != nn.OpDequantize && o.Type != nn.OpQuantize })
}

// TestOverlappingOutputs demands that a file two of whose outputs lie at the same place is refused.
func TestOverlappingOutputs(t *testing.T) {
	const name = "ethos-u55-128"
	a, c := require.V(ethosu.ParseConfig(name))(t), require.V(soc.Load(name))(t)
	m := require.V(randomOutputs(rand.New(rand.NewPCG(2, 3)), 3))(t)
	n := require.V(offline.Compile(m, c, a))(t)
	read := require.V(vela.Read(n.File))(t)
	machine := require.V(inference.NewMachine(c, hal.FastSingleAnswer))(t)
	read.Tensors[read.Outputs[2]].Offset = read.Tensors[read.Outputs[0]].Offset
	require.ErrorContains(t, require.Err(inference.New(read, machine)), "outputs 0 and 2 of the graph overlap in the arena", "overlapping outputs")
}
