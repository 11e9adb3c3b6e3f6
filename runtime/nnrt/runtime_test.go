package nnrt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

func testCPU() hal.Device { return testCPUOf(hal.NewClock()) }

func testCPUOf(clock *hal.Clock) hal.Device {
	l1 := timing.CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20}
	l2 := timing.CacheSpec{Bytes: 512 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46}
	core := timing.CoreSpec{Name: "core", Threads: 1, ClockHz: 1e9, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32, PowerUW: 400, L1: l1, L2: l2,
		Kernels: timing.KernelSpec{GroupedCycles: 1, PatchBytes: 8, ScalarCycles: 1, OperationCycles: 1000}}
	for c := range core.Kernels.Efficiency {
		for p := range core.Kernels.Efficiency[c] {
			core.Kernels.Efficiency[c][p] = 0.5
		}
	}
	s := timing.CPUSpec{Name: "test", Cores: []timing.CoreSpec{core}, L3: l2, DRAMPerSecond: 1e10}
	return cpudriver.New(cpudriver.Config{Spec: s, Description: "test", Clock: clock})
}

// picky is a device that declines some operation types and runs the others on
// the reference CPU, one cycle each.
type picky struct {
	hal.UnimplementedDevice
	name     string
	declines map[nn.OperationType]bool
	prepare  error // of PrepareModel
	prepared int
}

func (d *picky) Name() string         { return d.name }
func (d *picky) Description() string  { return "" }
func (d *picky) Version() string      { return "1" }
func (d *picky) Type() hal.DeviceType { return hal.DeviceAccelerator }
func (d *picky) Capabilities() hal.Capabilities {
	return hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: {ExecTime: 0.5, PowerUsage: 0.5}}}
}

func (d *picky) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	var s []hal.Support
	for _, op := range m.Main.Operations {
		if d.declines[op.Type] {
			s = append(s, hal.Support{Reason: "declined"})
			continue
		}
		s = append(s, hal.Support{OK: true})
	}
	return s, nil
}

func (d *picky) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	if d.prepare != nil {
		return nil, d.prepare
	}
	d.prepared++
	p, err := refcpu.Compile(m)
	return &pickyModel{prog: p, n: len(m.Main.Operations)}, err
}

type pickyModel struct {
	hal.UnimplementedPreparedModel
	prog *refcpu.Program
	n    int
}

func (p *pickyModel) Execute(r *hal.Request, _ hal.ExecuteOptions) (*hal.Result, error) {
	in, out, err := r.Buffers()
	if err == nil {
		err = p.prog.Run(in, out, refcpu.Options{})
	}
	s := hal.Stats{Cycles: int64(p.n), LatencyFs: int64(p.n) * 1e6, ClockHz: 1e9, Stalls: []hal.StallCycles{{Reason: "issue", Cycles: int64(p.n)}}}
	for i := range p.n {
		s.Operations = append(s.Operations, hal.OperationStats{
			Index: i, Cycles: 1, TimeFs: 1e6, BoundBy: "issue", Stalls: []hal.StallCycles{{Reason: "issue", Cycles: 1}},
		})
	}
	return &hal.Result{Stats: s}, err
}

// model is relu(x) + 2*x, then relu6 of it.
func model() *nn.Model {
	t := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}, Lifetime: l}
	}
	two := t(nn.ConstantCopy)
	two.Dimensions = []uint32{1}
	two.Data = []byte{0, 0, 0, 0x40}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{t(nn.SubgraphInput), t(nn.TemporaryVariable), t(nn.TemporaryVariable), t(nn.TemporaryVariable), t(nn.SubgraphOutput), two, none},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpMul, Inputs: []uint32{0, 5, 6}, Outputs: []uint32{2}},
			{Type: nn.OpAdd, Inputs: []uint32{1, 2, 6}, Outputs: []uint32{3}},
			{Type: nn.OpRelu6, Inputs: []uint32{3}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{4},
	}}
}

func input() []byte {
	var b []byte
	for _, v := range []uint32{0xbf800000, 0, 0x3f800000, 0x40800000} { // -1 0 1 4
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// TestPartition runs a model in parts, by way of every way to cut it, and
// demands the reference's bytes.
func TestPartition(t *testing.T) {
	m := model()
	require.NoError(t, Validate(m))
	want := require.V(cpudriver.Reference(m, [][]byte{input()}))(t)
	types := []nn.OperationType{nn.OpRelu, nn.OpMul, nn.OpAdd, nn.OpRelu6}
	for mask := range 16 {
		d := &picky{name: "x", declines: map[nn.OperationType]bool{}}
		declined := 0
		for i, op := range types {
			if mask>>i&1 != 0 {
				d.declines[op] = true
				declined++
			}
		}
		r := require.V(registry.New(testCPU(), d))(t)
		for _, device := range []string{"x", ByStrategy} {
			c := require.V(Compile(r, m, device, CompileOptions{}))(t)
			res := require.V(c.Execute([][]byte{input()}, ExecuteOptions{}))(t)
			require.Check(t, bytes.Equal(res.Outputs[0], want[0]), "mask %04b: outputs %v, want %v", mask, res.Outputs[0], want[0])
			require.Check(t, device != "x" || len(c.Fallbacks) == declined, "mask %04b: %d fallbacks, want %d", mask, len(c.Fallbacks), declined)
			if err := addsUp(res); err != nil {
				t.Errorf("mask %04b: %v", mask, err)
			}
			for i, o := range res.Operations {
				onCPU := d.declines[types[i]]
				require.Check(t, (o.Device == "cpu") == onCPU && o.Index == i && o.Cycles != 0, "mask %04b operation %d: %+v", mask, i, o)
			}
		}
	}
}

// TestPrepareFails moves a part to the CPU when its device cannot prepare it.
func TestPrepareFails(t *testing.T) {
	d := &picky{name: "x", prepare: errors.New("too large")}
	r, _ := registry.New(testCPU(), d)
	c := require.V(Compile(r, model(), "x", CompileOptions{}))(t)
	if len(c.Fallbacks) != 4 || c.Fallbacks[0].Reason != "preparing its part of the model: too large" || c.Accelerated("cpu") != 0 || c.Steps() != 1 {
		t.Errorf("%d steps, fallbacks %v", c.Steps(), c.Fallbacks)
	}
}

func TestErrors(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x"}))(t)
	require.Fails(t, require.Err(registry.New(testCPU(), &picky{name: "cpu"})), "two devices of one name are accepted")
	require.ErrorContains(t, require.Err(Compile(r, model(), "y", CompileOptions{})), "cpu, x", "unknown device")
	c := require.V(Compile(r, model(), "x", CompileOptions{}))(t)
	for _, in := range [][][]byte{nil, {input()[:15]}, {input(), input()}} {
		if _, err := c.Execute(in, ExecuteOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%d inputs: %v", len(in), err)
		}
	}
}

// named is a device with another name.
type named struct {
	hal.Device
	name string
}

func (d named) Name() string { return d.name }

// TestNames: names in a registry differ, and can stand in lists of devices.
func TestNames(t *testing.T) {
	d := cpudriver.New(cpudriver.Config{})
	for name, want := range map[string]string{"b": "", "cpu": "two devices", "": "named", "auto": "named", "aosp": "named", "a,b": "named", "a\nb": "printable"} {
		if _, err := registry.New(d, named{d, name}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
