package nnapi_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// want checks the result code of a call.
func want(t *testing.T, what string, err error, code nnapi.ResultCode) {
	t.Helper()
	if got := nnapi.CodeOf(err); got != code {
		t.Errorf("%s: %v (%v), want %v", what, got, err, code)
	}
}

func compiled(t *testing.T, r *nnapi.Runtime, m *nnapi.Model, devices ...*nnapi.Device) *nnapi.Compilation {
	t.Helper()
	c, err := r.NewCompilation(m)
	if devices != nil {
		c, err = r.NewCompilationForDevices(m, devices)
	}
	require.NoError(t, err)
	require.NoError(t, c.Finish())
	return c
}

func TestCodes(t *testing.T) {
	for code := nnapi.NoError; code <= nnapi.DeadObject; code++ {
		back := nnapi.FromStatus(code.Status())
		switch code {
		case nnapi.OutOfMemory, nnapi.Incomplete, nnapi.BadState, nnapi.Unmappable, nnapi.DeadObject:
			require.Same(t, nnapi.OpFailed, back, code, "returns as")
		case nnapi.UnexpectedNull:
			require.Same(t, nnapi.BadData, back, code, "returns as")
		default:
			require.Check(t, back == code, "%v returns as %v", code, back)
		}
	}
}

func TestModelRules(t *testing.T) {
	m := nnapi.NewModel()
	vector := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{2}}
	want(t, "no type", m.AddOperand(nnapi.OperandType{Type: 99}), nnapi.BadData)
	want(t, "scalar with dimensions", m.AddOperand(nnapi.OperandType{Type: nn.Int32, Dimensions: []uint32{1}}), nnapi.BadData)
	want(t, "quantized without scale", m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}}), nnapi.BadData)
	want(t, "zero point", m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1, ZeroPoint: 256}), nnapi.BadData)
	want(t, "too large", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{1 << 16, 1 << 15}}), nnapi.BadData)
	want(t, "operand", m.AddOperand(vector), nnapi.NoError)
	want(t, "operand", m.AddOperand(vector), nnapi.NoError)
	want(t, "operand", m.AddOperand(vector), nnapi.NoError)
	want(t, "value of no operand", m.SetOperandValue(3, nil), nnapi.BadData)
	want(t, "length", m.SetOperandValue(0, make([]byte, 7)), nnapi.BadData)
	want(t, "per channel of float", m.SetOperandSymmPerChannelQuantParams(0, nn.ChannelQuant{}), nnapi.BadData)
	want(t, "memory", m.SetOperandValueFromMemory(0, nil, 0, 8), nnapi.UnexpectedNull)
	want(t, "range", m.SetOperandValueFromMemory(0, nnapi.NewMemory(8), 1, 8), nnapi.BadData)
	want(t, "operation on no operand", m.AddOperation(nn.OpRelu, []uint32{9}, []uint32{1}), nnapi.BadData)
	want(t, "operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}), nnapi.NoError)
	want(t, "operation", m.AddOperation(nn.OpRelu, []uint32{1}, []uint32{2}), nnapi.NoError)
	want(t, "input twice", m.IdentifyInputsAndOutputs([]uint32{0, 0}, []uint32{2}), nnapi.BadData)
	want(t, "inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}), nnapi.NoError)
	want(t, "inputs again", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}), nnapi.BadData)
	r := openRuntime()
	_, err := r.NewCompilation(m)
	want(t, "compilation of an unfinished model", err, nnapi.BadState)
	want(t, "finish", m.Finish(), nnapi.NoError)
	want(t, "finish again", m.Finish(), nnapi.BadState)
	want(t, "late operand", m.AddOperand(vector), nnapi.BadState)

	cycle := nnapi.NewModel()
	for range 3 {
		want(t, "operand", cycle.AddOperand(vector), nnapi.NoError)
	}
	want(t, "operation", cycle.AddOperation(nn.OpRelu, []uint32{2}, []uint32{1}), nnapi.NoError)
	want(t, "operation", cycle.AddOperation(nn.OpRelu, []uint32{1}, []uint32{2}), nnapi.NoError)
	want(t, "outputs", cycle.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}), nnapi.NoError)
	want(t, "cycle", cycle.Finish(), nnapi.BadData)
	want(t, "call on an invalid model", cycle.AddOperand(vector), nnapi.BadState)
	_, err = r.NewCompilation(cycle)
	want(t, "compilation of an invalid model", err, nnapi.BadState)
}

// TestCopiedValues: small values are copied when they are set, large ones when
// the model is finished.
func TestCopiedValues(t *testing.T) {
	r := openRuntime()
	for _, n := range []int{32, 33} { // 128 bytes and more
		m := nnapi.NewModel()
		vector := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{uint32(n)}}
		for range 3 {
			must(m.AddOperand(vector))
		}
		must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
		ones := make([]float32, n)
		for i := range ones {
			ones[i] = 1
		}
		value := floats(ones...)
		must(m.SetOperandValue(1, value))
		must(m.SetOperandValue(3, make([]byte, 4)))
		must(m.AddOperation(nn.OpAdd, []uint32{0, 1, 3}, []uint32{2}))
		must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
		changed := n*4 > nnapi.MaxCopiedValue
		copy(value, floats(5))
		must(m.Finish())
		copy(value, floats(7))
		out := make([]byte, 4*n)
		e := require.V(nnapi.NewExecution(compiled(t, r, m)))(t)
		must(e.SetInput(0, nil, make([]byte, 4*n)))
		must(e.SetOutput(0, nil, out))
		must(e.Compute())
		first := floats(1)
		if changed {
			first = floats(5)
		}
		require.Equal(t, first, out[:4], 4*n, "bytes", "the constant is")
	}
}

func TestIntrospection(t *testing.T) {
	r := openRuntime()
	last, err := r.Device(r.DeviceCount() - 1)
	require.Check(t, err == nil && last.Name() == nnapi.ReferenceName && last.Type() == hal.DeviceCPU, "the last device is %v, error %v", last, err)
	gpu := require.V(r.Device(0))(t)
	m := twoOperations()
	ok, err := r.SupportedOperations(m, []*nnapi.Device{gpu})
	require.Check(t, err == nil && len(ok) == 2 && ok[0] && ok[1], "%s supports %v, error %v", gpu.Name(), ok, err)
	_, err = r.SupportedOperations(m, nil)
	want(t, "no devices", err, nnapi.BadData)
	_, err = r.SupportedOperations(m, []*nnapi.Device{gpu, gpu})
	want(t, "twice", err, nnapi.BadData)
	_, err = r.SupportedOperations(m, []*nnapi.Device{nil})
	want(t, "null", err, nnapi.UnexpectedNull)
	_, err = r.SupportedOperations(nnapi.NewModel(), []*nnapi.Device{gpu})
	want(t, "unfinished", err, nnapi.BadState)
	dsp := require.V(r.Device(1))(t)
	c := require.V(r.NewCompilationForDevices(m, []*nnapi.Device{dsp}))(t)
	want(t, "float on the DSP alone", c.Finish(), nnapi.BadData)
	want(t, "finish again", c.Finish(), nnapi.BadState)
}

func TestExecutionStates(t *testing.T) {
	r := openRuntime()
	m := twoOperations()
	gpu := require.V(r.Device(0))(t)
	all, one := compiled(t, r, m), compiled(t, r, m, gpu)
	e := require.V(nnapi.NewExecution(all))(t)
	want(t, "timing for all devices", e.SetMeasureTiming(true), nnapi.BadData)
	want(t, "timeout for all devices", e.SetTimeout(time.Second), nnapi.BadData)
	want(t, "input of no index", e.SetInput(2, nil, nil), nnapi.BadData)
	want(t, "short input", e.SetInput(0, nil, make([]byte, 44)), nnapi.BadData)
	want(t, "shape", e.SetInput(0, &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{4, 3}}, make([]byte, 48)), nnapi.BadData)
	want(t, "input", e.SetInput(0, nil, make([]byte, 48)), nnapi.NoError)
	want(t, "input twice", e.SetInput(0, nil, make([]byte, 48)), nnapi.BadState)
	want(t, "padding after an input", e.EnableInputAndOutputPadding(true), nnapi.BadState)
	want(t, "arguments missing", e.Compute(), nnapi.BadData)

	e = require.V(nnapi.NewExecution(one))(t)
	must(e.SetMeasureTiming(true))
	must(e.EnableInputAndOutputPadding(true))
	memory := nnapi.NewMemory(160)
	copy(memory.Data()[16:], floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
	must(e.SetInputFromMemory(0, nil, memory, 16, 64))
	must(e.SetInput(1, nil, make([]byte, 48)))
	must(e.SetOutputFromMemory(0, nil, memory, 96, 64))
	must(e.SetReusable(true))
	_, err := e.Duration(nnapi.InDriver)
	want(t, "duration before", err, nnapi.BadState)
	_, err = e.OutputDimensions(0)
	want(t, "dimensions before", err, nnapi.BadState)
	burst := require.V(nnapi.NewBurst(one))(t)
	for range 3 {
		must(e.BurstCompute(burst))
	}
	must(burst.Free())
	driver := require.V(e.Duration(nnapi.InDriver))(t)
	hardware, err := e.Duration(nnapi.OnHardware)
	if err != nil || !(0 < hardware && hardware < driver) {
		t.Errorf("%d ns in the driver, %d on hardware, error %v", driver, hardware, err)
	}
	want(t, "setting after computing", e.SetMeasureTiming(false), nnapi.BadState)
	other := require.V(nnapi.NewBurst(all))(t)
	want(t, "burst of another compilation", e.BurstCompute(other), nnapi.BadData)
}

// TestDependencies: a chain of executions over opaque memories, and one that a
// failure stops.
func TestDependencies(t *testing.T) {
	r := openRuntime()
	c := compiled(t, r, twoOperations())
	var d nnapi.MemoryDesc
	want(t, "no roles", d.Finish(), nnapi.BadData)
	must(d.AddOutputRole(c, 0, 1))
	want(t, "a role twice", d.AddOutputRole(c, 0, 1), nnapi.BadData)
	want(t, "frequency", d.AddInputRole(c, 0, 0), nnapi.BadData)
	must(d.AddInputRole(c, 0, 0.5))
	want(t, "dimensions", d.SetDimensions([]uint32{4, 3}), nnapi.BadData)
	must(d.Finish())
	want(t, "after finish", d.AddInputRole(c, 1, 1), nnapi.BadState)
	opaque := require.V(nnapi.NewMemoryFromDesc(&d))(t)
	twos := floats(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
	first := require.V(nnapi.NewExecution(c))(t)
	must(first.SetInput(0, nil, make([]byte, 48)))
	must(first.SetInput(1, nil, twos))
	must(first.SetOutputFromMemory(0, nil, opaque, 0, 0))
	second := require.V(nnapi.NewExecution(c))(t)
	out := make([]byte, 48)
	must(second.SetInputFromMemory(0, nil, opaque, 0, 0))
	want(t, "role that was not stated", second.SetInputFromMemory(1, nil, opaque, 0, 0), nnapi.BadData)
	must(second.SetInput(1, nil, twos))
	must(second.SetOutput(0, nil, out))
	want(t, "memory never written", second.Compute(), nnapi.BadData)
	must(first.Compute())
	event := require.V(second.StartComputeWithDependencies(nil, 0))(t)
	must(event.Wait())
	if !bytes.Equal(out[:4], floats(6)) { // ((0 + 1) * 2 + 1) * 2
		t.Errorf("got % x", out[:4])
	}
	region := nnapi.NewMemory(48)
	must(nnapi.CopyMemory(opaque, region))
	if !bytes.Equal(region.Data()[:4], floats(2)) {
		t.Errorf("copied % x", region.Data()[:4])
	}
	want(t, "copy of another size", nnapi.CopyMemory(region, nnapi.NewMemory(8)), nnapi.BadData)
	_, err := second.StartCompute()
	want(t, "an execution that is not reusable", err, nnapi.BadState)
}

// TestRunningExecution: an execution that has begun and not ended changes by no call, reusable or not.
func TestRunningExecution(t *testing.T) {
	c := compiled(t, openRuntime(), twoOperations())
	for _, reusable := range []bool{false, true} {
		e := require.V(nnapi.NewExecution(c))(t)
		in, out := make([]byte, 48), make([]byte, 48)
		must(e.SetInput(0, nil, in))
		must(e.SetInput(1, nil, in))
		must(e.SetOutput(0, nil, out))
		must(e.SetReusable(reusable))
		fence := hal.NewSyncFence()
		before := require.V(nnapi.NewEventFromSyncFence(fence))(t)
		event := require.V(e.StartComputeWithDependencies([]*nnapi.Event{before}, 0))(t)
		want(t, "computing", e.Compute(), nnapi.BadState)
		_, err := e.StartCompute()
		want(t, "starting", err, nnapi.BadState)
		want(t, "setting", e.SetReusable(!reusable), nnapi.BadState)
		want(t, "an input", e.SetInput(0, nil, in), nnapi.BadState)
		fence.Signal(0, nil)
		must(event.Wait())
		state := nnapi.BadState
		if reusable {
			state = nnapi.NoError
		}
		want(t, "computing again", e.Compute(), state)
		want(t, "setting after the end", e.SetReusable(!reusable), nnapi.BadState)
	}
}

// TestOpenShapes: an input of unknown size gets its shape with the execution;
// an output that does not fit reports the needed size.
func TestOpenShapes(t *testing.T) {
	r := openRuntime()
	m := nnapi.NewModel()
	open := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0}}
	must(m.AddOperand(open))
	must(m.AddOperand(open))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	must(m.Finish())
	c := compiled(t, r, m)
	three := &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{3}}
	for _, room := range []int{8, 12} {
		e := require.V(nnapi.NewExecution(c))(t)
		want(t, "an input of unknown size", e.SetInput(0, nil, make([]byte, 12)), nnapi.BadData)
		must(e.SetInput(0, three, floats(-1, 2, 3)))
		out := make([]byte, room)
		must(e.SetOutput(0, nil, out))
		code := nnapi.NoError
		if room == 8 {
			code = nnapi.OutputInsufficientSize
		}
		want(t, "compute", e.Compute(), code)
		dims, err := e.OutputDimensions(0)
		want(t, "dimensions", err, code)
		require.Check(t, len(dims) == 1 && dims[0] == 3, "dimensions %v", dims)
		require.Check(t, room != 12 || bytes.Equal(out, floats(0, 2, 3)), "got % x", out)
	}
}

// TestConcurrent: 64 executions of one compilation.
func TestConcurrent(t *testing.T) {
	c := compiled(t, openRuntime(), twoOperations())
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			e, err := nnapi.NewExecution(c)
			must(err)
			out := make([]byte, 48)
			must(e.SetInput(0, nil, floats(float32(i), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
			must(e.SetInput(1, nil, floats(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
			must(e.SetOutput(0, nil, out))
			must(e.Compute())
			if !bytes.Equal(out[:4], floats(float32(2*i+2))) {
				t.Errorf("execution %d: % x", i, out[:4])
			}
		})
	}
	wait.Wait()
}
