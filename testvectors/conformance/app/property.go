package app

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// PropertyChecks returns the checks of properties that a phone sets.
func PropertyChecks() []check.Check {
	return []check.Check{
		{Name: "constants share the app's memory, or one copy", Rows: []string{"C1-16"}, Run: sharedConstants},
		{Name: "compilations and executions are reported to diagnostics", Rows: []string{"C2-13"}, Run: diagnostics},
		{Name: "a slice that breaks a rule fails under strict slicing", Rows: []string{"C5-15"}, Run: strictSlicing},
		{Name: "temporaries between steps lie in one pool", Rows: []string{"C6-3"}, Run: temporariesPool},
		{Name: "started executions can run in the caller's thread", Rows: []string{"C7-16"}, Run: syncExecution},
	}
}

// within reports whether bytes are in a memory, and where they begin.
func within(memory, b []byte) (offset int, ok bool) {
	d := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	return int(d), d <= uintptr(len(memory)) && uintptr(len(b)) <= uintptr(len(memory))-d
}

func sharedConstants(t *check.T) {
	const n = 33 // floats: more than are copied when they are set
	wide := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{n}}
	memory := nnapi.NewMemory(2 * 4 * n)
	shared := memory.Data()
	copy(shared, check.Floats(1))
	copy(shared[4*n:], check.Floats(2))
	pointed := [2][]byte{make([]byte, 4*n), make([]byte, 4*n)}
	m := nnapi.NewModel() // input + 2 in memory + 2 behind pointers
	for range 9 {
		t.OK("operand", m.AddOperand(wide))
	}
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	t.OK("activation", m.SetOperandValue(9, make([]byte, 4)))
	for i := range 2 {
		t.OK("a value in memory", m.SetOperandValueFromMemory(uint32(1+i), memory, 4*n*i, 4*n))
		t.OK("a value behind a pointer", m.SetOperandValue(uint32(3+i), pointed[i]))
	}
	for i, from := range []uint32{0, 5, 6, 7} {
		t.OK("operation", m.AddOperation(nn.OpAdd, []uint32{from, uint32(1 + i), 9}, []uint32{uint32(5 + i)}))
	}
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{8}))
	t.OK("finish", m.Finish())
	d := &check.QueryRecorder{Picky: check.Driver("a", nn.OpAdd)}
	r := t.App(d)
	c := t.Finished(r, m)
	if d.Query == nil {
		t.Fatalf("the driver was not asked")
	}
	for i := range 2 {
		at, ok := within(shared, d.Query.Main.Operands[1+i].Data)
		check.Equal(t, fmt.Sprintf("constant %d lies in the app's memory", i), ok, true)
		check.Equal(t, fmt.Sprintf("place of constant %d", i), at, 4*n*i)
		if _, ok := within(pointed[i], d.Query.Main.Operands[3+i].Data); ok {
			t.Errorf("constant %d behind a pointer was not copied", i)
		}
	}
	a, b := d.Query.Main.Operands[3].Data, d.Query.Main.Operands[4].Data
	if at, _ := within(a, b); at != 4*n {
		t.Errorf("copies of values behind pointers are %d bytes apart, want one pool and %d", at, 4*n)
	}
	memory.Free() // the model keeps it
	out := make([]byte, 4*n)
	t.OK("an execution after the app has freed the memory", t.Execution(c, out, make([]float32, n)...).Compute())
	t.Same("constants of freed memory", out[:4], check.Floats(3))
}

// diary records notifications of compilations and executions.
type diary struct {
	mu       sync.Mutex
	compiled []nnapi.CompilationInfo
	executed []nnapi.ExecutionInfo
}

func (d *diary) Compiled(x nnapi.CompilationInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compiled = append(d.compiled, x)
}

func (d *diary) Executed(x nnapi.ExecutionInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.executed = append(d.executed, x)
}

func diagnostics(t *check.T) {
	r := t.App(check.Driver("a", nn.OpRelu), &unprepared{check.Driver("bad", nn.OpRelu6)})
	d := &diary{}
	r.SetDiagnostics(d)
	list := t.All(r)
	whole := t.Finished(r, t.Built(nn.OpRelu))
	explicit := t.Finished(r, t.Built(nn.OpRelu), list[0])
	t.Finished(r, t.Built(nn.OpRelu6))
	failing := check.V(r.NewCompilationForDevices(t.Built(nn.OpRelu6), list[1:2]))(t, "create")
	t.Code("a driver that fails", failing.Finish(), nnapi.OpFailed)
	if len(d.compiled) != 4 {
		t.Fatalf("%d compilations were reported, want 4", len(d.compiled))
	}
	for i, want := range []struct {
		devices       string
		introspection bool
		fallback      bool
		result        nnapi.ResultCode
	}{
		{"a=" + list[0].Version() + ",bad=" + list[1].Version() + "," + nnapi.ReferenceName + "=" + list[2].Version(), false, false, nnapi.NoError},
		{"a=" + list[0].Version(), true, false, nnapi.NoError},
		{"a=" + list[0].Version() + ",bad=" + list[1].Version() + "," + nnapi.ReferenceName + "=" + list[2].Version(), false, true, nnapi.NoError},
		{"bad=" + list[1].Version(), true, false, nnapi.OpFailed},
	} {
		x := &d.compiled[i]
		check.Equal(t, fmt.Sprintf("compilation %d: devices", i), x.Devices, want.devices)
		check.Equal(t, fmt.Sprintf("compilation %d: devices named by the app", i), x.Introspection, want.introspection)
		check.Equal(t, fmt.Sprintf("compilation %d: fallback", i), x.FallbackToCPU, want.fallback)
		check.Equal(t, fmt.Sprintf("compilation %d: result", i), x.Result, want.result)
		check.Equal(t, fmt.Sprintf("compilation %d: control flow, cache, dynamic temporaries", i), x.HasControlFlow || x.Cache || x.HasDynamicTemporaries, false)
		t.Check(x.Duration >= 0, "compilation %d took %v", i, x.Duration)
	}
	check.Equal(t, "two models of one architecture have one hash", d.compiled[0].Model, d.compiled[1].Model)
	t.Check(d.compiled[0].Model != d.compiled[2].Model, "RELU and RELU6 have one hash")

	in := check.Floats(-1, 2, 3, 4, 5, 9)
	plain := func(c *nnapi.Compilation) *nnapi.Execution {
		e := check.V(nnapi.NewExecution(c))(t, "execution")
		t.OK("input", e.SetInput(0, nil, in))
		t.OK("output", e.SetOutput(0, nil, make([]byte, len(in))))
		return e
	}
	t.OK("compute", plain(whole).Compute())
	v := check.V(plain(explicit).StartCompute())(t, "startCompute")
	t.OK("wait", v.Wait())
	b := check.V(nnapi.NewBurst(explicit))(t, "burst")
	t.OK("burstCompute", plain(explicit).BurstCompute(b))
	t.OK("free", b.Free())
	v = check.V(plain(explicit).StartComputeWithDependencies(nil, 0))(t, "startComputeWithDependencies")
	t.OK("wait", v.Wait())
	var modes []nnapi.ExecutionMode
	for i := range d.executed {
		x := &d.executed[i]
		modes = append(modes, x.Mode)
		check.Equal(t, fmt.Sprintf("execution %d: result", i), x.Result, nnapi.NoError)
		check.Equal(t, fmt.Sprintf("execution %d: classes of data", i), fmt.Sprint(x.Input, x.Output), fmt.Sprint(nnapi.DataFloat32, nnapi.DataFloat32))
		check.Equal(t, fmt.Sprintf("execution %d: model", i), x.Model, d.compiled[0].Model)
		if !(x.Hardware <= x.Driver && x.Driver <= x.Runtime && x.Runtime != nnapi.NoDuration) {
			t.Errorf("execution %d: %d ns on hardware, %d in the driver, %d in the runtime", i, x.Hardware, x.Driver, x.Runtime)
		}
	}
	if want := []nnapi.ExecutionMode{nnapi.Synchronous, nnapi.Asynchronous, nnapi.ThroughBurst, nnapi.WithDependencies}; !slices.Equal(modes, want) {
		t.Errorf("modes %v, want %v", modes, want)
	}
	r.SetDiagnostics(nil)
	t.OK("compute", plain(whole).Compute())
	check.Equal(t, "executions reported without a listener", len(d.executed), 4)
}

// badlySliced is a driver whose slices break a rule.
type badlySliced struct{ *check.Picky }

func (badlySliced) CheckSlice(*nn.Model) error { return errors.New("an input that nothing reads") }

func strictSlicing(t *check.T) {
	for _, strict := range []bool{false, true} {
		r := t.App(badlySliced{check.Driver("old", nn.OpRelu)})
		r.SetStrictSlicing(strict)
		c := check.V(r.NewCompilation(t.Built(nn.OpRelu)))(t, "create")
		err := c.Finish()
		if want := nnapi.NoError; !strict {
			t.Code("a bad slice", err, want)
		} else {
			t.Code("a bad slice under strict slicing", err, nnapi.OpFailed)
		}
	}
	m := check.Chain(nn.TensorFloat32)
	m.Main.Operations[1].Type = nn.OpNeg // of 1.2
	for v := compat.V1_0; v <= compat.V1_3; v++ {
		for what, m := range map[string]*nn.Model{"a chain": m, "IF": check.ChoiceModel(), "WHILE": check.LoopModel(false), "open shapes": check.FillModel()} {
			r, err := registry.New(check.TimedCPU(), compat.Adapt(v, check.NewPicky("old", nn.OpRelu, nn.OpRelu1, nn.OpAdd)))
			t.OK("registry", err)
			r.SetStrictSlicing(true)
			_, err = nnrt.Compile(r, m, nnrt.ByStrategy, nnrt.CompileOptions{})
			t.OK(fmt.Sprintf("%s for a driver of %v under strict slicing", what, v), err)
		}
	}
}

// argumentRecorder is a driver that keeps the addresses of its executions' arguments.
type argumentRecorder struct {
	*check.Picky
	inputs, outputs *[][]byte
}

func (d argumentRecorder) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &argumentRecorderModel{p, d}, err
}

type argumentRecorderModel struct {
	hal.PreparedModel
	by argumentRecorder
}

func (p *argumentRecorderModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	in, out, err := r.Buffers()
	if err != nil {
		return nil, err
	}
	*p.by.inputs, *p.by.outputs = append(*p.by.inputs, in...), append(*p.by.outputs, out...)
	return p.PreparedModel.Execute(r, o)
}

func temporariesPool(t *check.T) {
	var in, out [][]byte
	a := argumentRecorder{check.NewPicky("a", nn.OpRelu, nn.OpRelu1, nn.OpAdd), &in, &out}
	b := argumentRecorder{check.NewPicky("b", nn.OpRelu6), &in, &out}
	m := fan() // RELU and RELU1 on a, RELU6 on b, ADD on a
	c := t.Compiled(m, a, b)
	check.Equal(t, "parts", check.Owners(c), "[a b a]")
	for range 2 {
		in, out = nil, nil
		t.Agrees("temporaries in a pool", m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
		// a writes RELU's and RELU1's, b reads the first and writes RELU6's, a reads two.
		if len(out) != 4 || len(in) != 4 {
			t.Fatalf("%d inputs and %d outputs, want 4 and 4", len(in), len(out))
		}
		pool := unsafe.Slice(unsafe.SliceData(out[0]), 3*64)
		for i, want := range []int{0, 64, 128} {
			at, _ := within(pool, out[i])
			check.Equal(t, fmt.Sprintf("place of temporary %d in the pool", i), at, want)
		}
		for _, x := range in[1:] {
			t.Check(slices.ContainsFunc(out, func(y []byte) bool { return &x[0] == &y[0] }), "an input of a later step is a copy")
		}
		if at, ok := within(pool, out[3]); ok {
			t.Errorf("the output of the model lies in the pool, at %d", at)
		}
	}
}

// blocking is a driver whose executions wait until they are released.
type blocking struct {
	*check.Picky
	begun, release chan struct{}
}

func (d blocking) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &blockingModel{p, d}, err
}

type blockingModel struct {
	hal.PreparedModel
	by blocking
}

func (p *blockingModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	p.by.begun <- struct{}{}
	<-p.by.release
	return p.PreparedModel.Execute(r, o)
}

func syncExecution(t *check.T) {
	d := blocking{check.Driver("a", nn.OpRelu), make(chan struct{}, 1), make(chan struct{}, 1)}
	r := t.App(d)
	c := t.Finished(r, t.Built(nn.OpRelu))
	out := make([]byte, 24)
	// By default the call returns while the driver still computes.
	v := check.V(t.Execution(c, out, -1, 2, 3, 4, 5, 9).StartCompute())(t, "startCompute")
	<-d.begun
	d.release <- struct{}{}
	t.OK("wait", v.Wait())
	// In the caller's thread it returns with the results.
	r.SetSyncExecution(true)
	d.release <- struct{}{}
	clear(out)
	v = check.V(t.Execution(c, out, -1, 2, 3, 4, 5, 9).StartCompute())(t, "startCompute")
	check.Equal(t, "executions that the driver has had when the call returns", len(d.begun), 1)
	t.Same("results when the call returns", out, check.Floats(0, 2, 3, 4, 5, 9))
	t.OK("wait", v.Wait())
}
