package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// The same bytes come out on machines with fewer or more threads, with no
// VTCM, one too small for the weights and one that holds a part of them, and
// with DMA, where VTCM also holds one fetch, two, or all.
func TestMachines(t *testing.T) {
	cfg := device(t).cfg
	base := cfg.Spec
	dma := &dsp.DMASpec{BurstBytes: 128, Outstanding: 2, StartCycles: 500, IssueCycles: 1, Queue: 1} // slow: waits matter
	type machine struct {
		threads int
		vtcm    uint32
		dma     *dsp.DMASpec
	}
	list := []machine{{2, 200 << 10, dma}, {4, 4 << 20, dma}, {1, 4 << 20, dma}}
	for _, threads := range []int{1, 3, 6} {
		for _, vtcm := range []uint32{0, 32 << 10, 80 << 10} {
			list = append(list, machine{threads, vtcm, nil}, machine{threads, vtcm, dma})
		}
	}
	for _, k := range list {
		s := base
		s.Threads, s.Contexts, s.VTCMBytes, s.DMA = k.threads, k.threads, k.vtcm, k.dma
		d := require.V(New(Config{Spec: s, NewMemory: cfg.NewMemory}))(t)
		t.Run(fmt.Sprintf("threads%d_vtcm%d_dma%v", k.threads, k.vtcm>>10, k.dma != nil), func(t *testing.T) {
			m, in := smallNetwork()
			drivertest.Exact(t, d, m, [][]byte{in}, false)
			// Weights that come with the execution, behind others that are known.
			inputs := [][]byte{in}
			for _, i := range m.Main.Operations[2].Inputs[1:3] {
				o := &m.Main.Operands[i]
				inputs = append(inputs, o.Data)
				o.Lifetime, o.Data = nn.SubgraphInput, nil
				m.Main.Inputs = append(m.Main.Inputs, i)
			}
			drivertest.Exact(t, d, m, inputs, false)
			// Used by 12 positions: chunks of 26 kB of weights, and of 154 kB, more than
			// VTCM holds, which go through L2 in two parts.
			for _, size := range [][2]int{{700, 200}, {640, 1200}} {
				b := newBuilder(rand.New(rand.NewPCG(5, 5)))
				x := b.activation(nn.TensorQuant8Asymm, 12, size[1])
				i := b.input(x)
				f, bias := b.weights(x, size[:], size[0], 0)
				w := &b.m.Main.Operands[f]
				w.Type, w.Channel, w.Scale, w.ZeroPoint = nn.TensorQuant8Asymm, nil, 0.02, 100
				b.m.Main.Operands[bias].Scale = x.Scale * w.Scale
				y := b.activation(x.Type, 12, size[0])
				y.Scale = 0.5
				b.add(nn.OpFullyConnected, []uint32{i, f, bias, b.int32(0)}, b.output(y))
				drivertest.Exact(t, d, &b.m, [][]byte{b.bytes(12 * size[1])}, false)
			}
		})
	}
}
