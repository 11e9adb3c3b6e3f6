package nnapi_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// named is the device of a name.
func named(t *testing.T, r *nnapi.Runtime, name string) *nnapi.Device {
	t.Helper()
	for i := range r.DeviceCount() {
		d := require.V(r.Device(i))(t)
		if d.Name() == name {
			return d
		}
	}
	t.Fatalf("no device %s", name)
	return nil
}

// quantizedRelu is RELU of four 8-bit integers, which DSP and NPU run.
func quantizedRelu() *nnapi.Model {
	m := nnapi.NewModel()
	q := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 4}, Scale: 1, ZeroPoint: 10}
	must(m.AddOperand(q))
	must(m.AddOperand(q))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	must(m.Finish())
	return m
}

// relu runs quantizedRelu.
func relu(t *testing.T, c *nnapi.Compilation) {
	t.Helper()
	e := require.V(nnapi.NewExecution(c))(t)
	out := make([]byte, 4)
	must(e.SetInput(0, nil, []byte{0, 9, 10, 11}))
	must(e.SetOutput(0, nil, out))
	must(e.Compute())
	require.Check(t, bytes.Equal(out, []byte{10, 10, 10, 11}), "relu is %v", out)
}

// TestCaching: the second compilation with a token comes from the files of the first,
// on each driver; another token, preference or model's damage does not.
func TestCaching(t *testing.T) {
	r := openRuntime()
	m := quantizedRelu()
	token := bytes.Repeat([]byte{0x1f}, 32)
	for _, name := range []string{"dsp", "npu"} {
		d, dir := named(t, r, name), t.TempDir()
		compile := func(token []byte, p nnapi.Preference) int {
			c := require.V(r.NewCompilationForDevices(m, []*nnapi.Device{d}))(t)
			must(c.SetPreference(p))
			must(c.SetCaching(dir, token))
			must(c.Finish())
			relu(t, c)
			want(t, "after finish", c.SetCaching(dir, token), nnapi.BadState)
			return c.CacheHits()
		}
		steps := []struct {
			what   string
			token  byte
			pref   nnapi.Preference
			damage bool
			hits   int
		}{
			{"first", 0x1f, hal.FastSingleAnswer, false, 0},
			{"again", 0x1f, hal.FastSingleAnswer, false, 1},
			{"another token", 0x20, hal.FastSingleAnswer, false, 0},
			{"another preference", 0x1f, hal.LowPower, false, 0},
			{"damaged files", 0x1f, hal.FastSingleAnswer, true, 0},
			{"written anew", 0x1f, hal.FastSingleAnswer, false, 1},
		}
		for _, s := range steps {
			if s.damage {
				files := require.V(filepath.Glob(filepath.Join(dir, "*")))(t)
				for _, f := range files {
					must(os.Truncate(f, 40))
				}
			}
			if got := compile(bytes.Repeat([]byte{s.token}, 32), s.pref); got != s.hits {
				t.Errorf("%s, %s: %d parts from the cache, want %d", name, s.what, got, s.hits)
			}
		}
		files := require.V(os.ReadDir(dir))(t)
		require.Same(t, 2*3, len(files), name, "files")
		for _, f := range files {
			if n := f.Name(); len(n) != 66 || (n[64:] != "10" && n[64:] != "20") {
				t.Errorf("a cache file is named %s", n)
			}
		}
	}
	c := require.V(r.NewCompilation(m))(t)
	want(t, "no token", c.SetCaching(t.TempDir(), nil), nnapi.UnexpectedNull)
	want(t, "short token", c.SetCaching(t.TempDir(), token[:31]), nnapi.BadData)
	must(c.SetCaching(filepath.Join(t.TempDir(), "none"), token)) // files cannot be made there
	must(c.Finish())
	relu(t, c)
}

// TestDeviceMemory: memory whose roles are of one device is on the device, and is copied
// to it and back, and to that of another device.
func TestDeviceMemory(t *testing.T) {
	r := openRuntime()
	m := quantizedRelu()
	allocate := func(name string) (*nnapi.Compilation, *nnapi.Memory) {
		c := compiled(t, r, m, named(t, r, name))
		var d nnapi.MemoryDesc
		must(d.AddInputRole(c, 0, 1))
		must(d.AddOutputRole(c, 0, 1))
		must(d.Finish())
		x := require.V(nnapi.NewMemoryFromDesc(&d))(t)
		return c, x
	}
	dsp, a := allocate("dsp")
	npu, b := allocate("npu")
	in, out := nnapi.NewMemory(4), nnapi.NewMemory(4)
	copy(in.Data(), []byte{0, 9, 10, 12})
	want(t, "copy of memory never written", nnapi.CopyMemory(a, out), nnapi.BadData)
	must(nnapi.CopyMemory(in, a))
	must(nnapi.CopyMemory(a, b)) // from one device to the other
	run := func(c *nnapi.Compilation, from, to *nnapi.Memory) {
		t.Helper()
		e := require.V(nnapi.NewExecution(c))(t)
		must(e.SetInputFromMemory(0, nil, from, 0, 0))
		must(e.SetOutputFromMemory(0, nil, to, 0, len(to.Data())))
		must(e.Compute())
	}
	run(npu, b, out)
	require.Check(t, bytes.Equal(out.Data(), []byte{10, 10, 10, 12}), "relu is %v", out.Data())
	e := require.V(nnapi.NewExecution(dsp))(t)
	want(t, "memory of another compilation", e.SetInputFromMemory(0, nil, b, 0, 0), nnapi.BadData)
	want(t, "a range of device memory", e.SetInputFromMemory(0, nil, a, 1, 2), nnapi.BadData)
	must(e.SetInputFromMemory(0, nil, a, 0, 0))
	must(e.SetOutputFromMemory(0, nil, out, 0, 4))
	a.Free()
	want(t, "compute with freed memory", e.Compute(), nnapi.BadData) // the driver does not know it any more
}

// TestSyncFences: executions on a driver wait for fences and signal one; an event
// without fence, or a part on the CPU, makes the runtime wait.
func TestSyncFences(t *testing.T) {
	r := openRuntime()
	m := quantizedRelu()
	c := compiled(t, r, m, named(t, r, "dsp"))
	execution := func(in, out *nnapi.Memory) *nnapi.Execution {
		e := require.V(nnapi.NewExecution(c))(t)
		must(e.SetMeasureTiming(true))
		must(e.SetInputFromMemory(0, nil, in, 0, 4))
		must(e.SetOutputFromMemory(0, nil, out, 0, 4))
		return e
	}
	fence := hal.NewSyncFence()
	begin := require.V(nnapi.NewEventFromSyncFence(fence))(t)
	x, y, z := nnapi.NewMemory(4), nnapi.NewMemory(4), nnapi.NewMemory(4)
	first, second := execution(x, y), execution(y, z)
	v := require.V(first.StartComputeWithDependencies([]*nnapi.Event{begin}, 0))(t)
	w := require.V(second.StartComputeWithDependencies([]*nnapi.Event{v}, 0))(t)
	f := require.V(w.SyncFence())(t)
	require.Same(t, hal.FenceActive, f.State(), "the last fence is", "before the first has signalled")
	copy(x.Data(), []byte{1, 2, 30, 40}) // an input is read when the fences have signalled
	fence.Signal(5_000_000, nil)
	must(w.Wait())
	must(v.Wait())
	must(begin.Wait())
	if at, err := f.SignalTime(); err != nil || at <= 5_000_000 {
		t.Errorf("signalled at %d ns, error %v", at, err)
	}
	require.Check(t, bytes.Equal(z.Data(), []byte{10, 10, 30, 40}), "got %v", z.Data())
	after := require.V(first.Duration(nnapi.FencedInDriver))(t)
	require.Check(t, after != 0 && after < 5_000_000, "%d ns after the fences", after)

	broken := hal.NewSyncFence()
	bad := require.V(nnapi.NewEventFromSyncFence(broken))(t)
	v = require.V(execution(x, y).StartComputeWithDependencies([]*nnapi.Event{bad}, 0))(t)
	broken.Signal(1, errors.New("lost"))
	want(t, "a fence that signals an error", v.Wait(), nnapi.OpFailed)
	want(t, "its event", bad.Wait(), nnapi.OpFailed)

	plain := require.V(execution(x, y).StartCompute())(t)
	_, err := plain.SyncFence()
	want(t, "fence of a plain event", err, nnapi.BadData)
	v = require.V(execution(x, y).StartComputeWithDependencies([]*nnapi.Event{plain}, 0))(t)
	f = require.V(v.SyncFence())(t)
	must(v.Wait())
	require.Same(t, hal.FenceSignaled, f.State(), "the fence of an execution that has ended is")
	_, err = nnapi.NewEventFromSyncFence(nil)
	want(t, "event of no fence", err, nnapi.BadData)
	reference := compiled(t, r, m, named(t, r, nnapi.ReferenceName))
	e := require.V(nnapi.NewExecution(reference))(t)
	must(e.SetInput(0, nil, make([]byte, 4)))
	must(e.SetOutput(0, nil, make([]byte, 4)))
	v = require.V(e.StartComputeWithDependencies([]*nnapi.Event{begin}, 0))(t)
	must(v.Wait())
	_, err = v.SyncFence()
	want(t, "fence of the CPU", err, nnapi.BadData)
}

// TestOmittedInputs: an execution leaves out an optional input of the model; one that
// the operation needs is an error.
func TestOmittedInputs(t *testing.T) {
	r := openRuntime()
	m := nnapi.NewModel()
	matrix := func(d ...uint32) nnapi.OperandType {
		return nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: d}
	}
	// SVDF of one input, two units of rank 1, a memory of three; the bias is optional.
	for _, x := range []nnapi.OperandType{matrix(1, 1), matrix(2, 1), matrix(2, 3), matrix(2), matrix(1, 6), {Type: nn.Int32}, {Type: nn.Int32}, matrix(1, 6), matrix(1, 2)} {
		must(m.AddOperand(x))
	}
	must(m.SetOperandValue(5, []byte{1, 0, 0, 0}))
	must(m.SetOperandValue(6, make([]byte, 4)))
	must(m.AddOperation(nn.OpSvdf, []uint32{0, 1, 2, 3, 4, 5, 6}, []uint32{7, 8}))
	must(m.IdentifyInputsAndOutputs([]uint32{0, 1, 2, 3, 4}, []uint32{7, 8}))
	must(m.Finish())
	c := compiled(t, r, m)
	run := func(input, bias []byte) ([]byte, error) {
		e := require.V(nnapi.NewExecution(c))(t)
		out := make([]byte, 8)
		must(e.SetInput(0, nil, input))
		must(e.SetInput(1, nil, floats(2, 3)))
		must(e.SetInput(2, nil, floats(0, 0, 1, 0, 0, 1)))
		must(e.SetInput(3, nil, bias))
		must(e.SetInput(4, nil, make([]byte, 24)))
		must(e.SetOutput(0, nil, make([]byte, 24)))
		must(e.SetOutput(1, nil, out))
		return out, e.Compute()
	}
	with := require.V(run(floats(5), floats(1, 1)))(t)
	without := require.V(run(floats(5), nil))(t)
	require.Check(t, bytes.Equal(with, floats(11, 16)) && bytes.Equal(without, floats(10, 15)), "with bias % x, without % x", with, without)
	_, err := run(nil, nil)
	want(t, "without the input itself", err, nnapi.OpFailed)
}

// TestDeviceMemoryOfOpenShapes: a model with open shapes takes its inputs from device memory
// of a known shape and leaves its outputs there, each also alone.
func TestDeviceMemoryOfOpenShapes(t *testing.T) {
	r := openRuntime()
	m := nnapi.NewModel()
	open := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{0, 2}, Scale: 1, ZeroPoint: 10}
	must(m.AddOperand(open))
	must(m.AddOperand(open))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	must(m.Finish())
	full := open
	full.Dimensions = []uint32{3, 2}
	value, result := []byte{0, 9, 10, 12, 3, 40}, []byte{10, 10, 10, 12, 10, 40}
	for _, name := range []string{"gpu", "dsp", "npu", nnapi.ReferenceName} {
		c, err := r.NewCompilationForDevices(m, []*nnapi.Device{named(t, r, name)})
		must(err)
		must(c.Finish())
		allocate := func(input bool) *nnapi.Memory {
			var d nnapi.MemoryDesc
			if input {
				must(d.AddInputRole(c, 0, 1))
			} else {
				must(d.AddOutputRole(c, 0, 1))
			}
			must(d.SetDimensions(full.Dimensions))
			must(d.Finish())
			return require.V(nnapi.NewMemoryFromDesc(&d))(t)
		}
		for _, on := range [][2]bool{{true, false}, {false, true}, {true, true}} {
			e := require.V(nnapi.NewExecution(c))(t)
			in, out := nnapi.NewMemory(len(value)), nnapi.NewMemory(len(value))
			copy(in.Data(), value)
			if on[0] {
				x := allocate(true)
				must(nnapi.CopyMemory(in, x))
				must(e.SetInputFromMemory(0, nil, x, 0, 0))
			} else {
				must(e.SetInput(0, &full, value))
			}
			x := allocate(false)
			if on[1] {
				must(e.SetOutputFromMemory(0, nil, x, 0, 0))
			} else {
				must(e.SetOutputFromMemory(0, nil, out, 0, len(value)))
			}
			want(t, name, e.Compute(), nnapi.NoError)
			if on[1] {
				want(t, name+": copy", nnapi.CopyMemory(x, out), nnapi.NoError)
			}
			require.Check(t, bytes.Equal(out.Data(), result), "%s, device memory %v: %v", name, on, out.Data())
			dims := require.V(e.OutputDimensions(0))(t)
			require.Check(t, slices.Equal(dims, full.Dimensions), "%s, device memory %v: shape %v", name, on, dims)
		}
	}
}
