package compat_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// recorder is a driver that keeps the options of executions and allocates nothing, but says that it was asked to.
type recorder struct {
	hal.Device
	options *hal.ExecuteOptions
}

var errAsked = errors.New("the driver was asked")

func (d recorder) Allocate(hal.BufferDesc, []hal.PreparedModel, []hal.BufferRole, []hal.BufferRole) (hal.Buffer, error) {
	return nil, errAsked
}

func (d recorder) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return recorderModel{p, d.options}, err
}

type recorderModel struct {
	hal.PreparedModel
	options *hal.ExecuteOptions
}

func (p recorderModel) Execute(_ *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	*p.options = o
	return &hal.Result{OutputDimensions: [][]uint32{{2}}, Insufficient: []bool{false}, Timing: hal.Timing{OnDevice: 1, InDriver: 2}}, nil
}

func (p recorderModel) ConfigureExecutionBurst() (hal.Burst, error) { return recorderBurst{p: p}, nil }

type recorderBurst struct {
	hal.Burst
	p recorderModel
}

func (b recorderBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return b.p.Execute(r, o)
}

// alone is the first operation of mixed, RELU, which every version expresses.
func alone() *nn.Model {
	m := mixed()
	m.Main.Operations, m.Main.Operands = m.Main.Operations[:1], m.Main.Operands[:2]
	m.Main.Operands[1].Lifetime, m.Main.Outputs = nn.SubgraphOutput, []uint32{1}
	return m
}

// TestAdaptedOptions: a version brings its driver, and its client, only what it has: timing and shapes since 1.2, a
// deadline and a loop timeout since 1.3; in a burst as well. Device memory before 1.3 does not reach the driver.
func TestAdaptedOptions(t *testing.T) {
	deadline := hal.TimePoint(7)
	all := hal.ExecuteOptions{MeasureTiming: true, Deadline: &deadline, LoopTimeout: time.Second}
	for v, want := range map[compat.Version]hal.ExecuteOptions{compat.V1_0: {}, compat.V1_1: {}, compat.V1_2: {MeasureTiming: true}} {
		var got hal.ExecuteOptions
		old := compat.Adapt(v, recorder{cpudriver.New(cpudriver.Config{}), &got})
		leveled, ok := old.(interface{ FeatureLevel() int })
		require.Check(t, ok, "a device of HAL %v has no feature level", v)
		require.Same(t, map[compat.Version]int{compat.V1_0: 27, compat.V1_1: 28, compat.V1_2: 29}[v], leveled.FeatureLevel(), "feature level of", v)
		p := require.V(old.PrepareModel(alone(), hal.PrepareOptions{Preference: hal.FastSingleAnswer}))(t)
		r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 8)}, Outputs: [][]byte{make([]byte, 8)}}).Request()
		res := require.V(p.Execute(r, all))(t)
		require.Equal(t, want, got, "options of", v)
		timed := v >= compat.V1_2
		require.Check(t, (res.Timing != hal.NoTiming) == timed && (res.OutputDimensions != nil) == timed, "HAL %v reports %+v", v, res)
		_, err := old.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)
		require.Check(t, err != nil && !errors.Is(err, errAsked), "HAL %v allocates: %v", v, err)
		if !timed {
			continue
		}
		b := require.V(p.ConfigureExecutionBurst())(t)
		require.V(b.Execute(r, all))(t)
		require.Equal(t, want, got, "options of a burst")
		r.Pools[0] = hal.RequestPool{Token: 1} // which came with 1.3
		_, err = b.Execute(r, all)
		require.Same(t, hal.InvalidArgument, hal.StatusOf(err), "device memory in a burst", err)
	}
}

// TestSliceLeavesOut: a slice has nothing that its version lacks, and no states: its inputs and outputs are others.
func TestSliceLeavesOut(t *testing.T) {
	m := mixed()
	m.Relaxed, m.Extensions, m.States = true, []nn.ExtensionPrefix{{Name: "com.example", Prefix: 9}}, []nn.State{{}}
	for v, want := range map[compat.Version]*nn.Model{
		compat.V1_0: {}, compat.V1_1: {Relaxed: true}, compat.V1_2: {Relaxed: true, Extensions: m.Extensions},
	} {
		s, _ := compat.Slice(v, m)
		require.Check(t, s != nil, "no slice for %v", v)
		s.Main = nn.Subgraph{}
		require.Equal(t, want, s, "but for its operations, the slice for", v)
	}
}

// TestVersions: the lowest version of models, and the operations that another cannot express.
func TestVersions(t *testing.T) {
	scalar := alone() // a scalar has no dimensions and says nothing of its version
	scalar.Main.Operands = append(scalar.Main.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.SubgraphInput})
	scalar.Main.Inputs = append(scalar.Main.Inputs, 2)
	open := alone()
	open.Main.Operands[0].Dimensions = nil
	control := alone() // an IF of 1.3 whose branches are of 1.0 and later
	flag := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	g := &control.Main
	g.Operands = append(g.Operands, flag, nn.SubgraphOperand(0), nn.SubgraphOperand(1))
	g.Inputs = append(g.Inputs, 2)
	g.Operations = []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{2, 3, 4, 0}, Outputs: []uint32{1}}}
	control.Referenced = []nn.Subgraph{alone().Main, alone().Main}
	later := *control
	later.Referenced = []nn.Subgraph{alone().Main, alone().Main}
	later.Referenced[1].Operations = append(later.Referenced[1].Operations, nn.Operation{Type: nn.OpRelu}) // without operands: of no version
	for _, c := range []struct {
		name string
		m    *nn.Model
		want compat.Version
	}{
		{"RELU", alone(), compat.V1_0}, {"a scalar input", scalar, compat.V1_0}, {"an input of open rank", open, compat.V1_2},
		{"IF", control, compat.V1_3}, {"a branch of a later version", &later, compat.Later},
	} {
		require.Same(t, c.want, compat.ModelVersion(c.m), c.name)
		for v := compat.V1_0; v <= compat.V1_3; v++ {
			ok, list := compat.CompliantWith(v, c.m)
			// An open rank is no operation's fault.
			require.Check(t, ok == (v >= c.want) && (len(list) > 0) == (v < c.want && c.m != open), "%s with HAL %v: %v, operations %v", c.name, v, ok, list)
		}
	}
}

// TestFiguresOfGroups: before 1.2 there is one figure for relaxed float32, that of tensors.
func TestFiguresOfGroups(t *testing.T) {
	info := func(x float32) hal.PerformanceInfo { return hal.PerformanceInfo{ExecTime: x, PowerUsage: x} }
	c := hal.Capabilities{RelaxedScalar: info(1), RelaxedTensor: info(2), Operand: map[nn.OperandType]hal.PerformanceInfo{
		nn.Float32: info(3), nn.TensorFloat32: info(4), nn.TensorInt32: info(5), nn.TensorQuant8Asymm: info(6)}}
	require.Equal(t, compat.CapabilitiesV1_1{Float32Performance: info(4), Quantized8Performance: info(6), RelaxedFloat32toFloat16Performance: info(2)}, compat.ToV1_1(c))
	require.Equal(t, compat.CapabilitiesV1_0{Float32Performance: info(4), Quantized8Performance: info(6)}, compat.ToV1_0(c))
}
