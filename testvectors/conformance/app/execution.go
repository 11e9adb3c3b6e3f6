package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// ExecutionChecks returns the checks of apps' executions.
func ExecutionChecks() []check.Check {
	return []check.Check{
		{Name: "states and arguments of an execution", Rows: []string{"C0-4", "C7-1", "C7-2", "C7-4"}, Run: executionStates},
		{Name: "arguments in memories", Rows: []string{"C7-3", "C8-1", "C8-2"}, Run: memoryArguments},
		{Name: "timing and timeouts need one device", Rows: []string{"C3-4", "C7-5", "C7-6"}, Run: executionTiming, EachDevice: true},
		{Name: "durations are microseconds of drivers and nanoseconds of apps", Rows: []string{"C7-9", "I4-25"}, Run: durations},
		{Name: "parts with fences count from the fence before", Rows: []string{"C7-9"}, Run: fencedParts},
		{Name: "the ways to compute", Rows: []string{"C0-6", "C7-6b", "C7-7", "C7-8"}, Run: waysToCompute, EachDevice: true},
		{Name: "a burst carries one execution at a time", Rows: []string{"C7-8"}, Run: busyBurst},
		{Name: "executions wait for fences of drivers and signal their own", Rows: []string{"C0-5", "C7-9"}, Run: appFences, EachDevice: true},
		{Name: "executions that drivers cannot fence wait in the runtime", Rows: []string{"C7-10"}, Run: fencedFallback},
		{Name: "shapes of outputs, and buffers that are too small", Rows: []string{"C7-11", "C7-12"}, Run: appOutputShapes},
		{Name: "a driver that fails an execution", Rows: []string{"C7-13"}, Run: failedExecution},
		{Name: "the CPU's executor", Rows: []string{"C7-15"}, Run: cpuExecutor},
		{Name: "device memory of an app", Rows: []string{"C0-7", "C8-3", "C8-4", "C8-6", "C8-7", "C2-11"}, Run: appMemory, EachDevice: true},
		{Name: "memory that no single device can hold", Rows: []string{"C8-5"}, Run: sharedMemory},
		{Name: "device memory when a driver fails", Rows: []string{"C7-14"}, Run: memoryInFallback},
		{Name: "outputs that a driver began and the CPU ends", Rows: []string{"C7-13", "C7-11", "C7-12", "C6-6"}, Run: outputsInFallback},
		{Name: "a driver that cannot say how large an output is", Rows: []string{"C6-6", "A5-3"}, Run: undersizedOutputs},
	}
}

func executionStates(t *check.T) {
	r := t.App(check.Driver("a", nn.OpRelu))
	c := t.Finished(r, t.Built(nn.OpRelu))
	t.Code("no compilation", check.Err(nnapi.NewExecution(nil)), nnapi.UnexpectedNull)
	unfinished := check.V(r.NewCompilation(t.Built(nn.OpRelu)))(t, "create")
	t.Code("a compilation that is not finished", check.Err(nnapi.NewExecution(unfinished)), nnapi.BadState)
	e := check.V(nnapi.NewExecution(c))(t, "create")
	t.Code("input 1 of 1", e.SetInput(1, nil, nil), nnapi.BadData)
	t.Code("a short input", e.SetInput(0, nil, make([]byte, 23)), nnapi.BadData)
	t.Code("a long input", e.SetInput(0, nil, make([]byte, 25)), nnapi.BadData)
	t.Code("an input of no bytes, which is not left out", e.SetInput(0, nil, []byte{}), nnapi.BadData)
	other := check.Vector()
	other.Dimensions = []uint32{3, 2}
	t.Code("another shape", e.SetInput(0, &other, make([]byte, 24)), nnapi.BadData)
	t.Code("nothing set", e.Compute(), nnapi.BadData)
	out := make([]byte, 24)
	t.OK("input", e.SetInput(0, nil, check.Floats(-1, 0, 0.5, 1, 5, 9)))
	t.Code("input again", e.SetInput(0, nil, make([]byte, 24)), nnapi.BadState)
	t.Code("padding after an argument", e.EnableInputAndOutputPadding(true), nnapi.BadState)
	t.Code("no output", e.Compute(), nnapi.BadData)
	half := check.V(nnapi.NewExecution(c))(t, "create")
	t.OK("output", half.SetOutput(0, nil, make([]byte, 24)))
	t.Code("no input", half.Compute(), nnapi.BadData)
	t.OK("output", e.SetOutput(0, nil, out))
	t.OK("compute", e.Compute())
	t.Same("compute", out, check.Floats(0, 0, 0.5, 1, 5, 9))
	t.Code("compute again", e.Compute(), nnapi.BadState)
	t.Code("a setter after computing", e.SetReusable(true), nnapi.BadState)
	padded := check.V(nnapi.NewExecution(c))(t, "create")
	t.OK("padding", padded.EnableInputAndOutputPadding(true))
	t.OK("reusable", padded.SetReusable(true))
	in := append(check.Floats(1, 2, 3, 4, 5, 6), 7, 7, 7, 7)
	out = make([]byte, 32)
	t.OK("a long input", padded.SetInput(0, nil, in))
	t.OK("a long output", padded.SetOutput(0, nil, out))
	for _, x := range []float32{7, 8, 9} {
		copy(in, check.Floats(x))
		t.OK("compute again", padded.Compute())
		t.Same("compute again", out[:8], check.Floats(x, 2))
	}
}

func memoryArguments(t *check.T) {
	c := t.Finished(t.App(check.Driver("a", nn.OpRelu)), t.Built(nn.OpRelu))
	path, remove := t.Folder()
	defer remove()
	name := filepath.Join(path, "values")
	t.OK("file", os.WriteFile(name, append(make([]byte, 4), check.Floats(-1, 2, -3, 4, -5, 6)...), 0o600))
	f := check.V(os.Open(name))(t, "file")
	defer func() { _ = f.Close() }()
	t.Code("a range past the end of the file", check.Err(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 8)), nnapi.Unmappable)
	t.Code("no file", check.Err(nnapi.NewMemoryFromFile(nil, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 0)), nnapi.UnexpectedNull)
	in := check.V(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 4))(t, "memory of a file")
	e := check.V(nnapi.NewExecution(c))(t, "create")
	out := nnapi.NewMemory(32)
	t.Code("no memory", e.SetInputFromMemory(0, nil, nil, 0, 24), nnapi.UnexpectedNull)
	t.Code("a range past the end", e.SetInputFromMemory(0, nil, in, 4, 24), nnapi.BadData)
	t.Code("no range", e.SetInputFromMemory(0, nil, in, 0, 0), nnapi.BadData)
	t.Code("a short range", e.SetInputFromMemory(0, nil, in, 0, 20), nnapi.BadData)
	t.OK("a range", e.SetInputFromMemory(0, nil, in, 0, 24))
	t.OK("an offset", e.SetOutputFromMemory(0, nil, out, 8, 24))
	t.OK("compute", e.Compute())
	t.Same("memories", out.Data(), append(make([]byte, 8), check.Floats(0, 2, 0, 4, 0, 6)...))
	t.Code("no hardware buffer", check.Err(nnapi.NewMemoryFromHardwareBuffer(nil)), nnapi.UnexpectedNull)
	for format, blob := range map[nnapi.HardwareBufferFormat]bool{nnapi.FormatBlob: true, nnapi.FormatRGBA8: false} {
		m, err := nnapi.NewMemoryFromHardwareBuffer(&nnapi.HardwareBuffer{Format: format, Data: check.Floats(-1, 2, -3, 4, -5, 6)})
		t.OK("hardware buffer", err)
		_, err = added(t, func(x *nnapi.Model) error { return x.SetOperandValueFromMemory(1, m, 0, 24) })
		e, _ := nnapi.NewExecution(c)
		ranged := e.SetInputFromMemory(0, nil, m, 0, 24)
		out := make([]byte, 24)
		t.OK("output", e.SetOutput(0, nil, out))
		if blob {
			t.OK("a constant in a blob", err)
			t.OK("a range of a blob", ranged)
			t.OK("a blob", e.Compute())
			t.Same("a blob", out, check.Floats(0, 2, 0, 4, 0, 6))
			continue
		}
		t.Code("a constant in another format", err, nnapi.BadData)
		t.Code("a range of another format", ranged, nnapi.BadData)
		t.OK("another format as a whole", e.SetInputFromMemory(0, nil, m, 0, 0))
		t.Code("another format", e.Compute(), nnapi.Unmappable)
		t.Code("a copy of another format", nnapi.CopyMemory(m, nnapi.NewMemory(24)), nnapi.BadData)
	}
}

// slow reports the same timing for every execution, and keeps the bounds passed with the last.
type slow struct {
	hal.Device
	deadline *hal.TimePoint
	after    time.Duration
}

func (d *slow) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return &slowModel{p, d}, err
}

type slowModel struct {
	hal.PreparedModel
	device *slow
}

func (p *slowModel) ExecuteFenced(r *hal.Request, _ []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (*hal.FencedExecution, error) {
	p.device.deadline, p.device.after = o.Deadline, after
	res, err := p.PreparedModel.Execute(r, hal.ExecuteOptions{Functional: true})
	if err != nil {
		return nil, err
	}
	fence := hal.NewSyncFence()
	fence.Signal(0, nil)
	return hal.NewFencedExecution(fence, func() (hal.FencedInfo, error) {
		return hal.FencedInfo{TimingLaunched: hal.Timing{OnDevice: 17, InDriver: 19}, TimingFenced: hal.Timing{OnDevice: 7, InDriver: 9}, Result: res}, nil
	}), nil
}

func durations(t *check.T) {
	d := &slow{Device: check.NewPicky("slow", nn.OpRelu, nn.OpRelu1, nn.OpRelu6)}
	own := t.On(d)
	c, _, n := own.OnDevice()
	e := own.Plain(c, n)
	t.OK("timing", e.SetMeasureTiming(true))
	t.OK("timeout", e.SetTimeout(time.Minute))
	begin := hal.NewSyncFence()
	begin.Signal(0, nil)
	event := check.V(nnapi.NewEventFromSyncFence(begin))(t, "event")
	v := check.V(e.StartComputeWithDependencies([]*nnapi.Event{event}, time.Second))(t, "start")
	t.OK("wait", v.Wait())
	check.Equal(t, "the bound behind the fences", d.after, time.Second)
	if d.deadline == nil || *d.deadline < d.Now() || *d.deadline > d.Now().Add(time.Minute) {
		t.Errorf("deadline %v of a timeout of a minute", d.deadline)
	}
	for kind, want := range map[nnapi.DurationCode]uint64{nnapi.FencedOnHardware: 7000, nnapi.FencedInDriver: 9000} {
		got := check.V(e.Duration(kind))(t, "duration")
		check.Equal(t, fmt.Sprint("ns of duration ", kind), got, want)
	}
}

func fencedParts(t *check.T) {
	a, b := &slow{Device: check.NewPicky("a", nn.OpRelu, nn.OpRelu1)}, &slow{Device: check.NewPicky("b", nn.OpRelu6)}
	c := t.Compiled(check.Chain(nn.TensorFloat32), a, b)
	f, err := c.ExecuteFenced([][]byte{check.Floats(-1, 0, 0.5, 1, 5, 9)}, [][]byte{make([]byte, 24)}, nil, nnrt.ExecuteOptions{}, 0)
	t.OK("start", err)
	res, err := f.Wait()
	t.OK("wait", err)
	check.Equal(t, "since the call", res.Launched, hal.Timing{OnDevice: 17 + 2*7, InDriver: 19 + 2*9})
	check.Equal(t, "since the fences", res.AfterFences, hal.Timing{OnDevice: 3 * 7, InDriver: 3 * 9})
}

func executionTiming(t *check.T) {
	c, r, n := t.OnDevice()
	m, _ := t.Small()
	any := t.Plain(t.Finished(r, m), n)
	t.Code("timing for all devices", any.SetMeasureTiming(true), nnapi.BadData)
	t.Code("a timeout for all devices", any.SetTimeout(time.Second), nnapi.BadData)
	t.Code("a duration for all devices", check.Err(any.StartComputeWithDependencies(nil, time.Second)), nnapi.BadData)
	e := t.Plain(c, n)
	t.OK("timing", e.SetMeasureTiming(true))
	t.OK("a timeout", e.SetTimeout(time.Hour))
	t.OK("a loop timeout", e.SetLoopTimeout(time.Hour))
	t.Code("a duration before computing", check.Err(e.Duration(nnapi.InDriver)), nnapi.BadState)
	t.OK("compute", e.Compute())
	t.Code("duration 9", check.Err(e.Duration(9)), nnapi.BadData)
	in := check.V(e.Duration(nnapi.InDriver))(t, "in the driver")
	on := check.V(e.Duration(nnapi.OnHardware))(t, "on hardware")
	t.Check(on <= in, "%d ns on hardware, %d in the driver", on, in)
	quiet := t.Plain(c, n)
	t.OK("compute", quiet.Compute())
	t.Code("a duration that was not asked for", check.Err(quiet.Duration(nnapi.InDriver)), nnapi.BadState)
}

func waysToCompute(t *check.T) {
	c, r, n := t.OnDevice()
	t.OK("compute", t.Plain(c, n).Compute())
	v := check.V(t.Plain(c, n).StartCompute())(t, "startCompute")
	t.OK("wait", v.Wait())
	w := check.V(t.Plain(c, n).StartComputeWithDependencies([]*nnapi.Event{v}, 0))(t, "startComputeWithDependencies")
	t.OK("wait", w.Wait())
	b := check.V(nnapi.NewBurst(c))(t, "burst")
	e := t.Plain(c, n)
	t.OK("reusable", e.SetReusable(true))
	for range 3 {
		t.OK("burstCompute", e.BurstCompute(b))
	}
	t.Code("no burst", e.BurstCompute(nil), nnapi.UnexpectedNull)
	m, _ := t.Small()
	other := check.V(nnapi.NewBurst(t.Finished(r, m)))(t, "burst")
	t.Code("a burst of another compilation", e.BurstCompute(other), nnapi.BadData)
	t.OK("free", b.Free())
	t.OK("free", other.Free())
	t.Code("a burst of no compilation", check.Err(nnapi.NewBurst(nil)), nnapi.UnexpectedNull)
	t.Code("a null event", check.Err(t.Plain(c, n).StartComputeWithDependencies([]*nnapi.Event{nil}, 0)), nnapi.UnexpectedNull)
}

// gated is a driver whose bursts report the arrival of an execution and wait until it may continue.
type gated struct {
	*check.Picky
	entered, proceed chan struct{}
}

type gatedModel struct {
	hal.PreparedModel
	d *gated
}

type gatedBurst struct {
	hal.Burst
	d *gated
}

func (d *gated) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &gatedModel{p, d}, err
}

func (p *gatedModel) ConfigureExecutionBurst() (hal.Burst, error) {
	b, err := p.PreparedModel.ConfigureExecutionBurst()
	return &gatedBurst{b, p.d}, err
}

func (b *gatedBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	b.d.entered <- struct{}{}
	<-b.d.proceed
	return b.Burst.Execute(r, o)
}

func busyBurst(t *check.T) {
	d := &gated{check.Driver("a", nn.OpRelu), make(chan struct{}), make(chan struct{})}
	c := t.Finished(t.App(d), t.Built(nn.OpRelu))
	b := check.V(nnapi.NewBurst(c))(t, "burst")
	compute := func() chan error {
		e := t.Execution(c, make([]byte, 24), -1, 0, 0.5, 1, 5, 9)
		end := make(chan error, 1)
		go func() { end <- e.BurstCompute(b) }()
		return end
	}
	first := compute()
	<-d.entered
	second := compute()
	select {
	case err := <-second:
		t.Code("an execution on a burst at work", err, nnapi.BadState)
	case <-d.entered:
		t.Errorf("two executions at once on a burst")
		d.proceed <- struct{}{}
	}
	d.proceed <- struct{}{}
	t.OK("the first", <-first)
	third := compute()
	<-d.entered
	d.proceed <- struct{}{}
	t.OK("the burst when it is free again", <-third)
	t.OK("free", b.Free())
}

func appFences(t *check.T) {
	c, _, n := t.OnDevice()
	fence := hal.NewSyncFence()
	begin := check.V(nnapi.NewEventFromSyncFence(fence))(t, "event")
	first := check.V(t.Plain(c, n).StartComputeWithDependencies([]*nnapi.Event{begin}, 0))(t, "first")
	last := check.V(t.Plain(c, n).StartComputeWithDependencies([]*nnapi.Event{begin, first}, 0))(t, "last")
	f, err := last.SyncFence()
	if err != nil {
		t.Skipf("%s has no fences", t.Device.Name())
	}
	check.Equal(t, "the last fence before the first", f.State(), hal.FenceActive)
	fence.Signal(1_000_000, nil)
	t.OK("wait", last.Wait())
	if at, err := f.SignalTime(); err != nil || at <= 1_000_000 {
		t.Errorf("the last fence signals at %d, error %v", at, err)
	}
	broken := hal.NewSyncFence()
	bad := check.V(nnapi.NewEventFromSyncFence(broken))(t, "event")
	v := check.V(t.Plain(c, n).StartComputeWithDependencies([]*nnapi.Event{bad}, 0))(t, "start")
	broken.Signal(0, errors.New("lost"))
	t.Code("a fence that signals an error", v.Wait(), nnapi.OpFailed)
	t.Code("an event of no fence", check.Err(nnapi.NewEventFromSyncFence(nil)), nnapi.BadData)
	plain := check.V(t.Plain(c, n).StartCompute())(t, "start")
	t.Code("the fence of a plain event", check.Err(plain.SyncFence()), nnapi.BadData)
	var none *nnapi.Event
	t.Code("no event", none.Wait(), nnapi.UnexpectedNull)
}

func fencedFallback(t *check.T) {
	r := t.App(check.Driver("a", nn.OpRelu))
	c := t.Finished(r, t.Built(nn.OpRelu, nn.OpRelu6)) // RELU6 is the CPU's
	fence := hal.NewSyncFence()
	begin := check.V(nnapi.NewEventFromSyncFence(fence))(t, "event")
	out := make([]byte, 24)
	v := check.V(t.Execution(c, out, -1, 2, 3, 4, 5, 9).StartComputeWithDependencies([]*nnapi.Event{begin}, 0))(t, "start")
	t.Code("the fence of an execution with a part on the CPU", check.Err(v.SyncFence()), nnapi.BadData)
	fence.Signal(0, nil)
	t.OK("wait", v.Wait())
	t.Same("after the fence", out, check.Floats(0, 2, 3, 4, 5, 6))

	last := t.Finished(r, t.Built(nn.OpRelu6, nn.OpRelu)) // the driver is last
	fence = hal.NewSyncFence()
	begin = check.V(nnapi.NewEventFromSyncFence(fence))(t, "event")
	v = check.V(t.Execution(last, out, -1, 2, 3, 4, 5, 9).StartComputeWithDependencies([]*nnapi.Event{begin}, 0))(t, "start")
	f := check.V(v.SyncFence())(t, "the fence of an execution whose last part is a driver's")
	check.Equal(t, "it, before the first fence", f.State(), hal.FenceActive)
	clear(out)
	fence.Signal(0, nil)
	<-f.Done()
	t.Same("after its fence", out, check.Floats(0, 2, 3, 4, 5, 6))
	t.OK("wait", v.Wait())
}

func appOutputShapes(t *check.T) {
	m := nnapi.NewModel()
	open := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0, 3}}
	t.OK("operand", m.AddOperand(open))
	t.OK("operand", m.AddOperand(open))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	t.OK("finish", m.Finish())
	c := t.Finished(t.App(check.Driver("a", nn.OpRelu)), m)
	x := check.Vector()
	for room, code := range map[int]nnapi.ResultCode{24: nnapi.NoError, 40: nnapi.NoError, 8: nnapi.OutputInsufficientSize} {
		e := check.V(nnapi.NewExecution(c))(t, "create")
		t.Code("an input of unknown size", e.SetInput(0, nil, make([]byte, 24)), nnapi.BadData)
		t.OK("input", e.SetInput(0, &x, make([]byte, 24)))
		t.OK("output", e.SetOutput(0, nil, make([]byte, room)))
		t.Code("dimensions before computing", check.Err(e.OutputDimensions(0)), nnapi.BadState)
		t.Code(fmt.Sprint(room, " bytes of buffer"), e.Compute(), code)
		dims, err := e.OutputDimensions(0)
		t.Code("dimensions", err, code)
		check.Equal(t, "dimensions", fmt.Sprint(dims), "[2 3]")
		t.Code("output 1 of 1", check.Err(e.OutputDimensions(1)), nnapi.BadData)
	}
}

func cpuExecutor(t *check.T) {
	r := t.App()
	c := t.Finished(r, t.Built(nn.OpRelu, nn.OpRelu6, nn.OpRelu1), t.All(r)...)
	t.Relus("the CPU alone", c, 0, 0, 0.5, 1, 1, 1)
	e := t.Execution(c, make([]byte, 24), 0, 0, 0, 0, 0, 0)
	t.OK("a timeout of 1 ns", e.SetTimeout(1))
	if code := nnapi.CodeOf(e.Compute()); code != nnapi.MissedDeadlineTransient && code != nnapi.MissedDeadlinePersistent {
		t.Errorf("an execution of 1 ns: %v", code)
	}
}

// described is memory with roles of input and output 0 of compilations.
func described(t *check.T, in, out *nnapi.Compilation) (*nnapi.Memory, error) {
	var d nnapi.MemoryDesc
	if in != nil {
		t.OK("input role", d.AddInputRole(in, 0, 1))
	}
	if out != nil {
		t.OK("output role", d.AddOutputRole(out, 0, 0.5))
	}
	t.OK("finish", d.Finish())
	return nnapi.NewMemoryFromDesc(&d)
}

func appMemory(t *check.T) {
	c, r, n := t.OnDevice()
	var d nnapi.MemoryDesc
	t.Code("a description without roles", d.Finish(), nnapi.BadData)
	for _, f := range []float32{0, -1, 1.5} {
		t.Code(fmt.Sprint("frequency ", f), d.AddInputRole(c, 0, f), nnapi.BadData)
	}
	t.Code("input 1 of 1", d.AddInputRole(c, 1, 1), nnapi.BadData)
	t.OK("role", d.AddInputRole(c, 0, 1))
	t.Code("the role again", d.AddInputRole(c, 0, 1), nnapi.BadData)
	t.Code("other dimensions", d.SetDimensions([]uint32{3, 2}), nnapi.BadData)
	t.Code("a description that is not finished", check.Err(nnapi.NewMemoryFromDesc(&d)), nnapi.BadState)
	t.OK("finish", d.Finish())
	t.Code("a role after finish", d.AddOutputRole(c, 0, 1), nnapi.BadState)

	a, err := described(t, c, c)
	if err != nil {
		t.Skipf("%s has no device memory: %v", t.Device.Name(), err)
	}
	b := check.V(described(t, nil, c))(t, "memory")
	region := nnapi.NewMemory(n)
	run := func(what string, from, to *nnapi.Memory, code nnapi.ResultCode) {
		e := check.V(nnapi.NewExecution(c))(t, "create")
		t.OK(what, e.SetInputFromMemory(0, nil, from, 0, 0))
		t.OK(what, e.SetOutputFromMemory(0, nil, to, 0, 0))
		t.Code(what, e.Compute(), code)
	}
	t.Code("a copy of memory never written", nnapi.CopyMemory(a, region), nnapi.BadData)
	run("memory never written", a, b, nnapi.BadData)
	e := check.V(nnapi.NewExecution(c))(t, "create")
	t.Code("a use that is no role", e.SetInputFromMemory(0, nil, b, 0, 0), nnapi.BadData)
	t.Code("a range of device memory", e.SetInputFromMemory(0, nil, a, 0, n), nnapi.BadData)
	for i := range region.Data() {
		region.Data()[i] = 0
	}
	t.OK("copy to the device", nnapi.CopyMemory(region, a))
	run("device memories", a, b, nnapi.NoError)
	out := nnapi.NewMemory(n)
	t.OK("copy from the device", nnapi.CopyMemory(b, out))
	plain := make([]byte, n)
	x := check.V(nnapi.NewExecution(c))(t, "create")
	t.OK("input", x.SetInput(0, nil, make([]byte, n)))
	t.OK("output", x.SetOutput(0, nil, plain))
	t.OK("compute", x.Compute())
	t.Same("device memory", out.Data(), plain)
	waiting, err := described(t, nil, c)
	t.OK("memory", err)
	begin := hal.NewSyncFence()
	event, err := nnapi.NewEventFromSyncFence(begin)
	t.OK("event", err)
	x, err = nnapi.NewExecution(c)
	t.OK("create", err)
	t.OK("input", x.SetInputFromMemory(0, nil, a, 0, 0))
	t.OK("output", x.SetOutputFromMemory(0, nil, waiting, 0, 0))
	v, err := x.StartComputeWithDependencies([]*nnapi.Event{event}, 0)
	t.OK("start", err)
	t.Code("a copy before the fence", nnapi.CopyMemory(waiting, out), nnapi.BadData)
	begin.Signal(0, nil)
	t.OK("wait", v.Wait())
	clear(out.Data())
	t.OK("copy behind the fence", nnapi.CopyMemory(waiting, out))
	t.Same("device memory behind a fence", out.Data(), plain)
	waiting.Free()
	t.OK("copy to itself", nnapi.CopyMemory(a, a))
	t.Code("a copy of another size", nnapi.CopyMemory(b, nnapi.NewMemory(n+1)), nnapi.BadData)
	a.Free()
	b.Free()
	_ = r
}

func sharedMemory(t *check.T) {
	a, b := check.Driver("a", nn.OpRelu), check.Driver("b", nn.OpRelu6)
	r := t.App(a, b)
	first, second := t.Built(nn.OpRelu), t.Built(nn.OpRelu6)
	out := make([]byte, 24)
	use := func(c, d *nnapi.Compilation) error {
		x, err := described(t, d, c)
		if err != nil {
			return err
		}
		e := check.V(nnapi.NewExecution(c))(t, "create")
		t.OK("input", e.SetInput(0, nil, check.Floats(-1, 2, 3, 4, 5, 9)))
		t.OK("output", e.SetOutputFromMemory(0, nil, x, 0, 0))
		t.OK("the first", e.Compute())
		_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, x, 0, 24) })
		t.Code("a constant in opaque memory", err, nnapi.BadData)
		e = check.V(nnapi.NewExecution(d))(t, "create")
		t.OK("input", e.SetInputFromMemory(0, nil, x, 0, 0))
		t.OK("output", e.SetOutput(0, nil, out))
		return e.Compute()
	}
	t.OK("roles of two devices", use(t.Finished(r, first), t.Finished(r, second)))
	t.Same("through shared memory", out, check.Floats(0, 2, 3, 4, 5, 6))
	list := t.All(r)
	t.Code("roles of two named devices", use(t.Finished(r, first, list[0]), t.Finished(r, second, list[1])), nnapi.OpFailed)
	m := nnapi.NewModel()
	for range 3 {
		t.OK("operand", m.AddOperand(check.Vector()))
	}
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{0}, []uint32{2}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1, 2}))
	t.OK("finish", m.Finish())
	_, err := described(t, t.Finished(r, m, list[:2]...), nil)
	t.Code("an input that two named devices read", err, nnapi.OpFailed)
}
