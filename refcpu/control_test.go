package refcpu

import (
	"errors"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/timing"
)

// TestLoopTimeout: a WHILE whose condition always holds ends by its timeout.
func TestLoopTimeout(t *testing.T) {
	const f32 = nn.TensorFloat32
	condition, body, main := &graph{}, &graph{}, &graph{}
	c := condition.input(f32, 0, 0, 1)
	condition.op(nn.OpEqual, []uint32{condition.output(nn.TensorBool8, 0, 0, 1)}, c, c)
	b := body.input(f32, 0, 0, 1)
	body.op(nn.OpAdd, []uint32{body.output(f32, 0, 0, 1)}, b, b, body.int32(0))
	ref := func(i uint32) uint32 {
		return main.add(nn.SubgraphOperand(i))
	}
	x := main.input(f32, 0, 0, 1)
	main.op(nn.OpWhile, []uint32{main.output(f32, 0, 0, 1)}, ref(0), ref(1), x)
	m := main.model()
	m.Referenced = []nn.Subgraph{condition.Subgraph, body.Subgraph}
	p := require.V(Compile(m))(t)
	_, err := p.Execute([]Tensor{{Data: floatBytes(1)}}, Options{LoopTimeout: 5 * time.Millisecond})
	require.Check(t, errors.Is(err, ErrLoop), "error %v", err)
}

// counting is a WHILE that adds one to a float until it reaches 8; the body also
// multiplies a matrix of size x size.
func counting(size uint32) *nn.Model {
	const f32 = nn.TensorFloat32
	condition, body, main := &graph{}, &graph{}, &graph{}
	c, cm := condition.input(f32, 0, 0, 1), condition.input(f32, 0, 0, size, size)
	_ = cm
	limit := condition.constant(f32, 0, 0, floatBytes(8), 1)
	condition.op(nn.OpLess, []uint32{condition.output(nn.TensorBool8, 0, 0, 1)}, c, limit)
	b, bm := body.input(f32, 0, 0, 1), body.input(f32, 0, 0, size, size)
	one := body.constant(f32, 0, 0, floatBytes(1), 1)
	body.op(nn.OpAdd, []uint32{body.output(f32, 0, 0, 1)}, b, one, body.int32(0))
	weights := body.constant(f32, 0, 0, make([]byte, 4*size*size), size, size)
	bias := body.constant(f32, 0, 0, make([]byte, 4*size), size)
	body.op(nn.OpFullyConnected, []uint32{body.output(f32, 0, 0, size, size)}, bm, weights, bias, body.int32(0))
	ref := func(i uint32) uint32 {
		return main.add(nn.SubgraphOperand(i))
	}
	x, xm := main.input(f32, 0, 0, 1), main.input(f32, 0, 0, size, size)
	main.op(nn.OpWhile, []uint32{main.output(f32, 0, 0, 1), main.output(f32, 0, 0, size, size)}, ref(0), ref(1), x, xm)
	m := main.model()
	m.Referenced = []nn.Subgraph{condition.Subgraph, body.Subgraph}
	return m
}

// TestLoopsCostTheirTrips: the body of a WHILE is charged to it once per trip,
// and the condition once more.
func TestLoopsCostTheirTrips(t *testing.T) {
	const size = 64
	cache := timing.CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20}
	single := timing.CoreSpec{Threads: 1, ClockHz: 1e9, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32, L1: cache, L2: cache,
		Kernels: timing.KernelSpec{GroupedCycles: 1, PatchBytes: 8}}
	for k := range single.Kernels.Efficiency {
		for precision := range single.Kernels.Efficiency[k] {
			single.Kernels.Efficiency[k][precision] = 0.5
		}
	}
	core := &timing.CPUSpec{Cores: []timing.CoreSpec{single}, DRAMPerSecond: 15e9, L3: cache}
	p := require.V(Compile(counting(size)))(t)
	run := func(start float32) *timing.Timing {
		meter := require.V(core.NewMeter(1))(t)
		in := []Tensor{{Data: floatBytes(start)}, {Data: make([]byte, 4*size*size)}}
		require.V(p.Execute(in, Options{Work: meter.Add}))(t)
		return meter.Timing()
	}
	none, one, five := run(8), run(7), run(3)
	if none.Operations[0].MACs != 0 || one.Operations[0].MACs != size*size*size || five.Operations[0].MACs != 5*size*size*size {
		t.Errorf("%d, %d and %d multiply-accumulates in 0, 1 and 5 trips", none.Operations[0].MACs, one.Operations[0].MACs, five.Operations[0].MACs)
	}
	trip := one.Cycles - none.Cycles
	if trip <= 0 || five.Cycles-none.Cycles != 5*trip || five.Cycles != five.Operations[0].Cycles {
		t.Errorf("%d, %d and %d cycles in 0, 1 and 5 trips", none.Cycles, one.Cycles, five.Cycles)
	}
}
