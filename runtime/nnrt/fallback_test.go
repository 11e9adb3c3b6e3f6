package nnrt

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// failing prepares what it is given and fails every execution.
type failing struct {
	picky
	err error // nil panics
}

// errNothing stands for an execution that returns neither result nor error.
var errNothing = errors.New("nothing")

func (d *failing) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.picky.PrepareModel(m, o)
	return &failingModel{p, d.err}, err
}

type failingModel struct {
	hal.PreparedModel
	err error
}

func (p *failingModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	if p.err == nil {
		panic("out of bounds")
	}
	if p.err == errNothing {
		return nil, nil
	}
	return nil, p.err
}

// TestExecutionFallsBack: a part whose device fails or crashes runs on the CPU
// and is reported; a missed deadline, an explicit device and WithoutFallback are errors.
func TestExecutionFallsBack(t *testing.T) {
	gone := hal.Errorf(hal.DeviceUnavailable, "it is gone")
	late := hal.Errorf(hal.MissedDeadlinePersistent, "too late")
	for _, c := range []struct {
		name, device string
		err          error
		mode         Partitioning
		want         string // of the fallback; "" is an error
	}{
		{"fails", ByStrategy, gone, WithFallback, "it is gone"},
		{"crashes", ByStrategy, nil, WithFallback, "panic in Execute: out of bounds"},
		{"returns nothing", ByStrategy, errNothing, WithFallback, "without a result and without an error"},
		{"misses its deadline", ByStrategy, late, WithFallback, ""},
		{"fails, asked for by name", "bad", gone, WithFallback, ""},
		{"fails, without fallback", ByStrategy, gone, WithoutFallback, ""},
	} {
		r := require.V(registry.New(testCPU(), &failing{picky{name: "bad"}, c.err}))(t)
		m := model()
		x := require.V(Compile(r, m, c.device, CompileOptions{Partitioning: c.mode}))(t)
		res, err := x.Execute([][]byte{input()}, ExecuteOptions{})
		if c.want == "" {
			require.Check(t, hal.StatusOf(err) == hal.StatusOf(c.err), "%s: error %v, want %v", c.name, err, c.err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := require.V(cpudriver.ReferenceTensors(m, [][]byte{input()}))(t)
		require.Report(t, compare.Err(Compare(m, want, res)), c.name)
		if len(res.Fallbacks) != len(m.Main.Operations) || !strings.Contains(res.Fallbacks[0].Reason, c.want) {
			t.Errorf("%s: fallbacks %v, want %q", c.name, res.Fallbacks, c.want)
		}
		for _, p := range res.Parts {
			require.Same(t, "cpu", p.Device, c.name, "a part on")
		}
	}
}

// ailing is a processor as a device of another name, with memory of its own, whose executions fail.
type ailing struct{ hal.Device }

func (d *ailing) Name() string         { return "bad" }
func (d *ailing) Type() hal.DeviceType { return hal.DeviceAccelerator }

func (d *ailing) Capabilities() hal.Capabilities {
	return hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: {ExecTime: 0.5, PowerUsage: 0.5}}}
}

func (d *ailing) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return &failingModel{p, hal.Errorf(hal.GeneralFailure, "it is ill")}, err
}

func (d *ailing) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, in, out []hal.BufferRole) (hal.Buffer, error) {
	var own []hal.PreparedModel
	for _, m := range models {
		own = append(own, m.(*failingModel).PreparedModel)
	}
	return d.Device.Allocate(desc, own, in, out)
}

// TestFallbackKeepsMemoryAndTime: what falls back reads and writes the memory of the device that failed, and a
// deadline, which was of that device's clock, does not end it.
func TestFallbackKeepsMemoryAndTime(t *testing.T) {
	late := hal.NewClock()
	late.Advance(time.Hour)
	r := require.V(registry.New(testCPUOf(late), &ailing{testCPU()}))(t)
	m := model()
	c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
	in, want := values(t, m)
	var buffers [2]hal.Buffer
	for k, input := range []bool{true, false} {
		roles, ok := c.Roles(input, 0)
		require.Check(t, ok && roles[0].Device.Name() == "bad", "roles %v", roles)
		buffers[k] = require.V(Allocate(roles, nil))(t)
	}
	require.NoError(t, buffers[0].CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: in[0]}, nil))
	o := ExecuteOptions{InputBuffers: buffers[:1], OutputBuffers: buffers[1:], Timeout: time.Minute}
	res := require.V(c.Execute(make([][]byte, 1), o))(t)
	require.Same(t, len(m.Main.Operations), len(res.Fallbacks), "fallbacks")
	out := hal.NewMemory(len(in[0]))
	require.NoError(t, buffers[1].CopyTo(out))
	res.Outputs = [][]byte{out.Data}
	require.Report(t, compare.Err(Compare(m, want, res)))

	in[0][3] ^= 0x80 // the sign of the first number
	want = require.V(cpudriver.ReferenceTensors(m, in))(t)
	require.NoError(t, buffers[0].CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: in[0]}, nil))
	whole := require.V(c.runOnCPU(make([][]byte, 1), ExecuteOptions{InputBuffers: buffers[:1], OutputBuffers: buffers[1:]}, "all of it"))(t)
	require.NoError(t, buffers[1].CopyTo(out))
	require.Check(t, whole.Outputs[0] == nil, "an output that device memory holds is returned too: %d bytes", len(whole.Outputs[0]))
	whole.Outputs = [][]byte{out.Data}
	require.Report(t, compare.Err(Compare(m, want, whole)))
}

// TestShapeOfAFailedRun: the shape that a device reports before it fails is not that of the CPU's results.
func TestShapeOfAFailedRun(t *testing.T) {
	r := require.V(registry.New(testCPU(), &stubborn{picky{name: "x"}, [][]uint32{{7}}}))(t)
	p := require.V(NewProblem(r, filled(), CompileOptions{}))(t)
	c := require.V(CompilePlan(r, p, partition.Plan{Device: []int{1, 1}}, CompileOptions{}))(t)
	res := require.V(c.Execute([][]byte{{3, 0, 0, 0}}, ExecuteOptions{}))(t)
	require.Same(t, 2, len(res.Fallbacks), "fallbacks")
	require.Check(t, len(res.Outputs[0]) == 12 && slices.Equal(res.Dimensions[0], []uint32{3}), "%d bytes of shape %v", len(res.Outputs[0]), res.Dimensions[0])
}

// specialist takes operations of some types, and fails each execution.
type specialist struct {
	ailing
	name  string
	takes []nn.OperationType
}

func (d *specialist) Name() string { return d.name }

func (d *specialist) SupportedOperations(m *nn.Model) (list []hal.Support, err error) {
	for _, op := range m.Main.Operations {
		list = append(list, hal.Support{OK: slices.Contains(d.takes, op.Type), Reason: "another's"})
	}
	return list, nil
}

// inParts compiles model for two accelerators, whose first parts do not wait for each other.
func inParts(t *testing.T, r *registry.Registry, m *nn.Model) *Compilation {
	t.Helper()
	p := require.V(NewProblem(r, m, CompileOptions{}))(t)
	return require.V(CompilePlan(r, p, partition.Plan{Device: []int{1, 2, 0, 1}}, CompileOptions{}))(t)
}

// TestPartsFallBackInTurn: parts that would overlap on two devices follow each other on the CPU.
func TestPartsFallBackInTurn(t *testing.T) {
	a := &specialist{ailing{testCPU()}, "a", []nn.OperationType{nn.OpRelu, nn.OpAdd, nn.OpRelu6}}
	b := &specialist{ailing{testCPU()}, "b", []nn.OperationType{nn.OpMul}}
	r := require.V(registry.New(testCPU(), a, b))(t)
	m := model()
	c := inParts(t, r, m)
	in, want := values(t, m)
	res := require.V(c.Execute(in, ExecuteOptions{}))(t)
	require.Report(t, compare.Err(Compare(m, want, res)))
	require.Same(t, 4, len(res.Parts), "parts")
	for i, p := range res.Parts {
		require.Same(t, "cpu", p.Device, "device of part", i)
		if i > 0 && p.StartFs < res.Parts[i-1].EndFs {
			t.Errorf("part %d starts at %d, part %d ends at %d", i, p.StartFs, i-1, res.Parts[i-1].EndFs)
		}
	}
}

// wholesale is a processor that executes models of at least so many operations only.
type wholesale struct {
	hal.Device
	least int
}

func (d *wholesale) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	if len(m.Main.Operations) < d.least {
		return &failingModel{p, hal.Errorf(hal.GeneralFailure, "too small")}, err
	}
	return p, err
}

// TestTwoPartsMoveWhole: where a part of two fails on its device and on the CPU, the CPU executes the whole model; a
// model of one part has nothing more to move.
func TestTwoPartsMoveWhole(t *testing.T) {
	for _, takes := range [][]nn.OperationType{{nn.OpRelu, nn.OpMul, nn.OpAdd}, {nn.OpRelu, nn.OpMul, nn.OpAdd, nn.OpRelu6}} {
		m := model()
		whole := len(takes) == len(m.Main.Operations)
		cpu := &wholesale{testCPU(), len(m.Main.Operations)}
		if whole {
			cpu.least++
		}
		r := require.V(registry.New(cpu, &specialist{ailing{testCPU()}, "a", takes}))(t)
		c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
		in, want := values(t, m)
		res, err := c.Execute(in, ExecuteOptions{})
		if whole {
			require.ErrorContains(t, err, "too small")
			continue
		}
		require.NoError(t, err)
		require.Report(t, compare.Err(Compare(m, want, res)))
		require.Same(t, 3, len(res.Fallbacks), "fallbacks")
		require.Check(t, strings.Contains(res.Fallbacks[0].Reason, "and on the CPU: "), "reason %q", res.Fallbacks[0].Reason)
	}
}
