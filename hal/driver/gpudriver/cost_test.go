package gpudriver

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestCost holds the estimates of launches against the simulator: the time of a network
// and of its operations.
func TestCost(t *testing.T) {
	gemm := require.V(bench.Gemm("f32", 256))(t)
	models := []*nn.Model{gemm, zoo.MustBuild("mobilenet_v1_0.25_128_float")}
	for _, units := range []uint32{64, 512, 4096} {
		models = append(models, denseModel(nn.TensorFloat32, 512, units), denseModel(nn.TensorFloat16, 1024, units))
	}
	const worstNetwork, worstMedian = 0.52, 0.52
	for _, machine := range []string{"pixel4", "xclipse920"} {
		c := require.V(soc.Load(machine))(t)
		spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
		rates := require.V(c.MemoryRates(spec.L2.Line, spec.L2.MSHRs))(t)
		m := &cost.Machine{Spec: &spec, MemoryBytesPerSecond: rates.StreamPerSecond, MemoryNs: rates.Alone.Seconds()*1e9 + spec.MemoryNs}
		d, err := New(Config{Spec: spec, Texels: c.GPU.Driver.Texels, NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err }})
		require.NoError(t, err)
		for _, model := range models {
			drivertest.Estimates(t, d, model, estimates(t, d, m, model), worstNetwork, worstMedian)
		}
	}
}

// denseModel is a FULLY_CONNECTED of one row whose weights are inputs.
func denseModel(e nn.OperandType, depth, units uint32) *nn.Model {
	m := &nn.Model{Name: fmt.Sprintf("%d to %d, %s weights of run time", depth, units, e)}
	g := &m.Main
	for _, dims := range [][]uint32{{1, depth}, {units, depth}, {units}} {
		g.Inputs = append(g.Inputs, uint32(len(g.Operands)))
		g.Operands = append(g.Operands, nn.Operand{Type: e, Dimensions: dims, Lifetime: nn.SubgraphInput})
	}
	g.Operands = append(g.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, nn.Operand{Type: e, Dimensions: []uint32{1, units}, Lifetime: nn.SubgraphOutput})
	g.Operations = []nn.Operation{{Type: nn.OpFullyConnected, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}}
	g.Outputs = []uint32{4}
	return m
}

// graphOf is a model made canonical.
func graphOf(t *testing.T, model *nn.Model) *graph.Graph {
	t.Helper()
	g := graph.New(model)
	require.NoError(t, family.Table().Passes.Run(g, nil))
	return g
}

// estimates returns the estimated cycles of a network's operations.
func estimates(t *testing.T, d *Device, m *cost.Machine, model *nn.Model) map[int]float64 {
	prog := require.V(newProgram(graphOf(t, model), d.machine()))(t)
	cycles := map[int]float64{}
	for i := range prog.Launches {
		l := &prog.Launches[i]
		cycles[l.Op] += float64(cost.Estimate(m, l.Work).Cycles())
	}
	return cycles
}
