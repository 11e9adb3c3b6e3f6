package conformance

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt/nnapi"
	"github.com/nnsoc/nnsoc/refcpu/timing"
)

func appChecks() []Check {
	return []Check{
		{Name: "devices as an app sees them", Rows: []string{"C0-1", "C3-1", "C3-3", "C3-5", "C4-1", "C4-2"}, Run: appDevices},
		{Name: "numbers and result codes", Rows: []string{"C0-8", "C0-9", "C0-10", "C0-11"}, Run: appCodes},
		{Name: "states of a model under construction", Rows: []string{"C1-1", "C1-10", "C1-11", "C1-12"}, Run: modelStates},
		{Name: "operands and operations of a model", Rows: []string{"C1-2", "C1-7", "C1-9"}, Run: modelOperands},
		{Name: "values of operands", Rows: []string{"C1-3", "C1-4", "C1-5", "C1-6"}, Run: modelValues},
		{Name: "trailing defaults and unused operands do not reach old drivers", Rows: []string{"C1-13", "C1-14", "C1-15"}, Run: trailingDefaults},
		{Name: "which operations devices support", Rows: []string{"C3-2"}, Run: appSupport},
	}
}

// code checks the result code of an error.
func (t *T) code(what string, err error, want nnapi.ResultCode) {
	if got := nnapi.CodeOf(err); got != want {
		t.Errorf("%s: %v, want %v: %v", what, got, want, err)
	}
}

// timedCPU is a CPU of one core with round figures: it tells what executions take.
func timedCPU() hal.Device {
	l1 := timing.CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20}
	l2 := timing.CacheSpec{Bytes: 512 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46}
	core := timing.CoreSpec{Name: "core", Threads: 1, ClockHz: 1e9, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32, PowerUW: 400, L1: l1, L2: l2,
		Kernels: timing.KernelSpec{GroupedCycles: 1, PatchBytes: 8, ScalarCycles: 1, OperationCycles: 1000}}
	for c := range core.Kernels.Efficiency {
		for p := range core.Kernels.Efficiency[c] {
			core.Kernels.Efficiency[c][p] = 0.5
		}
	}
	s := timing.CPUSpec{Name: "round", Cores: []timing.CoreSpec{core}, L3: l2, DRAMPerSecond: 1e10}
	return cpu.New(cpu.Config{Spec: s, Description: "round"})
}

// driver is a picky driver that tells what executions take.
func driver(name string, takes ...nn.OperationType) *picky {
	d := newPicky(name, takes...)
	d.Device = timedCPU()
	return d
}

// Type is that of an accelerator: the CPU is another device.
func (d *picky) Type() hal.DeviceType { return hal.DeviceAccelerator }

// app is a runtime with drivers.
func (t *T) app(drivers ...hal.Device) *nnapi.Runtime {
	r, err := nnapi.NewRuntime(timedCPU(), drivers...)
	t.OK("runtime", err)
	return r
}

// all lists the devices of a runtime.
func (t *T) all(r *nnapi.Runtime) (list []*nnapi.Device) {
	for i := range r.DeviceCount() {
		d, err := r.Device(i)
		t.OK("getDevice", err)
		list = append(list, d)
	}
	return list
}

// vector is a TENSOR_FLOAT32 of six elements.
func vector() nnapi.OperandType {
	return nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{2, 3}}
}

// built builds a chain of unary operations on a vector.
func (t *T) built(ops ...nn.OperationType) *nnapi.Model {
	m := nnapi.NewModel()
	t.OK("operand", m.AddOperand(vector()))
	for i, op := range ops {
		t.OK("operand", m.AddOperand(vector()))
		t.OK("operation", m.AddOperation(op, []uint32{uint32(i)}, []uint32{uint32(i + 1)}))
	}
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{uint32(len(ops))}))
	t.OK("finish", m.Finish())
	return m
}

// finished compiles for devices, all when none is named.
func (t *T) finished(r *nnapi.Runtime, m *nnapi.Model, devices ...*nnapi.Device) *nnapi.Compilation {
	c, err := r.NewCompilation(m)
	if devices != nil {
		c, err = r.NewCompilationForDevices(m, devices)
	}
	t.OK("compilation", err)
	t.OK("finish", c.Finish())
	return c
}

// execution is one of a chain with its input set.
func (t *T) execution(c *nnapi.Compilation, out []byte, in ...float32) *nnapi.Execution {
	e, err := nnapi.NewExecution(c)
	t.OK("execution", err)
	t.OK("input", e.SetInput(0, nil, floats(in...)))
	if out != nil {
		t.OK("output", e.SetOutput(0, nil, out))
	}
	return e
}

// relus runs a chain of RELU or RELU6 and RELU1 on six values.
func (t *T) relus(what string, c *nnapi.Compilation, want ...float32) {
	out := make([]byte, 24)
	t.OK(what, t.execution(c, out, -1, 0, 0.5, 1, 5, 9).Compute())
	t.same(what, out, floats(want...))
}

// nameless is a driver whose answers are invalid.
type nameless struct{ *picky }

func (nameless) Version() string { return "" }

// hoarder needs more cache files than there may be.
type hoarder struct{ *picky }

func (hoarder) NumberOfCacheFilesNeeded() (model, data int) { return hal.MaxCacheFiles + 1, 0 }

func appDevices(t *T) {
	old := compat.Adapt(compat.V1_1, driver("old", nn.OpRelu))
	r := t.app(driver("a", nn.OpRelu), nameless{driver("broken", nn.OpRelu)}, hoarder{driver("hoarder", nn.OpRelu)},
		&promising{picky: newPicky("backwards", nn.OpRelu), exec: -1, power: 1}, old)
	list := t.all(r)
	Equal(t, "devices, broken drivers left out", len(list), 3)
	for i, want := range []struct {
		name  string
		typ   hal.DeviceType
		level int
	}{{"a", hal.DeviceAccelerator, 30}, {"old", 0, 28}, {nnapi.ReferenceName, hal.DeviceCPU, 30}} {
		d := list[i]
		Equal(t, "name", d.Name(), want.name)
		Equal(t, d.Name()+": type", d.Type(), want.typ)
		Equal(t, d.Name()+": feature level", d.FeatureLevel(), want.level)
		t.OK(d.Name()+": wait", d.Wait())
		Equal(t, d.Name()+": support of an extension nobody has", d.ExtensionSupport("org.example.none"), false)
		if d.Version() == "" {
			t.Errorf("%s has no version", d.Name())
		}
	}
	Equal(t, "feature level of the runtime", nnapi.FeatureLevel, 30)
	_, err := r.Device(3)
	t.code("a device past the last", err, nnapi.BadData)
	_, err = nnapi.NewRuntime(timedCPU(), driver("a"), driver("a"))
	if err == nil {
		t.Errorf("two drivers of one name")
	}
}

func appCodes(t *T) {
	names := "[NO_ERROR OUT_OF_MEMORY INCOMPLETE UNEXPECTED_NULL BAD_DATA OP_FAILED BAD_STATE UNMAPPABLE OUTPUT_INSUFFICIENT_SIZE UNAVAILABLE_DEVICE " +
		"MISSED_DEADLINE_TRANSIENT MISSED_DEADLINE_PERSISTENT RESOURCE_EXHAUSTED_TRANSIENT RESOURCE_EXHAUSTED_PERSISTENT DEAD_OBJECT]"
	var codes []nnapi.ResultCode
	for c := nnapi.NoError; c <= nnapi.DeadObject; c++ {
		codes = append(codes, c)
	}
	Equal(t, "codes 0 to 14", fmt.Sprint(codes), names)
	for s, want := range map[hal.Status]nnapi.ResultCode{
		hal.StatusNone: 0, hal.DeviceUnavailable: 9, hal.GeneralFailure: 5, hal.OutputInsufficientSize: 8, hal.InvalidArgument: 4,
		hal.MissedDeadlineTransient: 10, hal.MissedDeadlinePersistent: 11, hal.ResourceExhaustedTransient: 12, hal.ResourceExhaustedPersistent: 13,
	} {
		Equal(t, s.String(), nnapi.FromStatus(s), want)
		Equal(t, s.String()+" back", want.Status(), s)
	}
	for _, c := range []nnapi.ResultCode{1, 2, 6, 7, 14} {
		Equal(t, c.String()+" as a status", c.Status(), hal.GeneralFailure)
	}
	Equal(t, "UNEXPECTED_NULL as a status", nnapi.UnexpectedNull.Status(), hal.InvalidArgument)
	Equal(t, "priorities", fmt.Sprint(int(nnapi.PriorityLow), int(nnapi.PriorityMedium), int(nnapi.PriorityHigh), int(nnapi.PriorityDefault)), "90 100 110 100")
	Equal(t, "preferences", fmt.Sprint(int(hal.LowPower), int(hal.FastSingleAnswer), int(hal.SustainedSpeed)), "0 1 2")
	Equal(t, "device types", fmt.Sprint(int(hal.DeviceOther), int(hal.DeviceCPU), int(hal.DeviceGPU), int(hal.DeviceAccelerator)), "1 2 3 4")
	Equal(t, "durations", fmt.Sprint(int(nnapi.OnHardware), int(nnapi.InDriver), int(nnapi.FencedOnHardware), int(nnapi.FencedInDriver)), "0 1 2 3")
	Equal(t, "default loop timeout", nnapi.DefaultLoopTimeout, 2*time.Second)
	Equal(t, "maximum loop timeout", nnapi.MaximumLoopTimeout, 15*time.Second)
}

func modelStates(t *T) {
	m := nnapi.NewModel()
	for range 4 {
		t.OK("operand", m.AddOperand(vector()))
	}
	// Added against the order of execution; finish sorts.
	t.OK("operation", m.AddOperation(nn.OpRelu1, []uint32{2}, []uint32{3}))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{1}, []uint32{2}))
	t.code("an index of no operand", m.IdentifyInputsAndOutputs([]uint32{4}, []uint32{3}), nnapi.BadData)
	t.code("an operand in both lists", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{0}), nnapi.BadData)
	t.code("an operand twice", m.IdentifyInputsAndOutputs([]uint32{0, 0}, []uint32{3}), nnapi.BadData)
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}))
	t.code("a second call", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}), nnapi.BadData)
	t.OK("relaxed", m.RelaxComputationFloat32toFloat16(true))
	t.OK("finish", m.Finish())
	for what, err := range map[string]error{
		"addOperand": m.AddOperand(vector()), "setOperandValue": m.SetOperandValue(0, nil), "addOperation": m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}),
		"relax": m.RelaxComputationFloat32toFloat16(false), "identify": m.IdentifyInputsAndOutputs(nil, nil), "finish": m.Finish(),
	} {
		t.code(what+" after finish", err, nnapi.BadState)
	}
	r := t.app()
	t.relus("operations in the order of their values", t.finished(r, m), 0, 0, 0.5, 1, 1, 1)
	for what, ops := range map[string][][2]uint32{"a cycle": {{2, 1}, {1, 2}}, "an operand that nothing writes": {{1, 2}}} {
		bad := nnapi.NewModel()
		for range 3 {
			t.OK("operand", bad.AddOperand(vector()))
		}
		for _, op := range ops {
			t.OK("operation", bad.AddOperation(nn.OpRelu, op[:1], op[1:]))
		}
		t.OK("outputs", bad.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
		t.code(what, bad.Finish(), nnapi.BadData)
		t.code("a call after "+what, bad.AddOperand(vector()), nnapi.BadState)
		_, err := r.NewCompilation(bad)
		t.code("a compilation after "+what, err, nnapi.BadData)
	}
}

func modelOperands(t *T) {
	m := nnapi.NewModel()
	for what, x := range map[string]nnapi.OperandType{
		"no type":                   {Type: 99},
		"a scalar with dimensions":  {Type: nn.Int32, Dimensions: []uint32{1}},
		"scale 0":                   {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}},
		"a negative scale":          {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: -1},
		"a scale that is no number": {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: float32(math.NaN())},
		"a scale of floats":         {Type: nn.TensorFloat32, Dimensions: []uint32{1}, Scale: 1},
		"zero point 256":            {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1, ZeroPoint: 256},
		"zero point 1 of QUANT16":   {Type: nn.TensorQuant16Symm, Dimensions: []uint32{1}, Scale: 1, ZeroPoint: 1},
		"more than 32 bits of size": {Type: nn.TensorFloat32, Dimensions: []uint32{1 << 16, 1 << 15}},
	} {
		t.code(what, m.AddOperand(x), nnapi.BadData)
	}
	t.OK("unknown dimensions", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0, 3}}))
	t.OK("unknown rank", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32}))
	t.OK("per channel", m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2, 1, 1, 1}}))
	scales := func(dim uint32, s ...float32) nn.ChannelQuant { return nn.ChannelQuant{Dim: dim, Scales: s} }
	t.code("scales of another type", m.SetOperandSymmPerChannelQuantParams(0, scales(0, 1, 1)), nnapi.BadData)
	t.code("one scale of two", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1)), nnapi.BadData)
	t.code("a scale of 0", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1, 0)), nnapi.BadData)
	t.code("a dimension of no tensor", m.SetOperandSymmPerChannelQuantParams(2, scales(4, 1, 1)), nnapi.BadData)
	t.OK("two scales", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1, 2)))
	t.code("an operation on no operand", m.AddOperation(nn.OpRelu, []uint32{3}, []uint32{1}), nnapi.BadData)
	t.code("an operation without outputs", m.AddOperation(nn.OpRelu, []uint32{0}, nil), nnapi.BadData)
	t.code("an operation that there is not", m.AddOperation(12345, []uint32{0}, []uint32{1}), nnapi.BadData)
	t.code("ADD of one operand", m.AddOperation(nn.OpAdd, []uint32{0}, []uint32{1}), nnapi.BadData)
	t.code("RELU with an output of another type", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{2}), nnapi.BadData)
	t.OK("RELU", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
}

// added is a model that adds a constant to a vector.
func (t *T) added(set func(m *nnapi.Model) error) (*nnapi.Model, error) {
	m := nnapi.NewModel()
	for range 3 {
		t.OK("operand", m.AddOperand(vector()))
	}
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	t.OK("activation", m.SetOperandValue(3, make([]byte, 4)))
	if err := set(m); err != nil {
		return nil, err
	}
	t.OK("operation", m.AddOperation(nn.OpAdd, []uint32{0, 1, 3}, []uint32{2}))
	return m, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2})
}

func modelValues(t *T) {
	_, err := t.added(func(m *nnapi.Model) error { return m.SetOperandValue(1, make([]byte, 23)) })
	t.code("a value of another length", err, nnapi.BadData)
	_, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValue(1, make([]byte, 25)) })
	t.code("a value that is longer", err, nnapi.BadData)
	_, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValue(9, make([]byte, 24)) })
	t.code("a value of no operand", err, nnapi.BadData)
	_, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, nnapi.NewMemory(24), 4, 24) })
	t.code("a value past the end of a memory", err, nnapi.BadData)
	_, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, nil, 0, 24) })
	t.code("a value in no memory", err, nnapi.UnexpectedNull)
	_, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValueFromModel(1, t.built(nn.OpRelu)) })
	t.code("a model as the value of a tensor", err, nnapi.BadData)

	small := floats(1, 1, 1, 1, 1, 1)
	m, err := t.added(func(m *nnapi.Model) error { return m.SetOperandValue(1, small) })
	t.OK("a small value", err)
	copy(small, floats(9)) // it was copied
	t.OK("finish", m.Finish())
	r := t.app()
	t.relus("a small value", t.finished(r, m), 0, 1, 1.5, 2, 6, 10)
	memory := nnapi.NewMemory(32)
	copy(memory.Data()[8:], floats(2, 2, 2, 2, 2, 2))
	m, err = t.added(func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, memory, 8, 24) })
	t.OK("a value in a memory", err)
	t.OK("finish", m.Finish())
	t.relus("a value in a memory", t.finished(r, m), 1, 2, 2.5, 3, 7, 11)

	large := nnapi.NewModel() // more than 128 bytes: read by finish
	wide := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{33}}
	for range 3 {
		t.OK("operand", large.AddOperand(wide))
	}
	t.OK("operand", large.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	t.OK("activation", large.SetOperandValue(3, make([]byte, 4)))
	value := make([]byte, 4*33)
	t.OK("a large value", large.SetOperandValue(1, value))
	t.OK("operation", large.AddOperation(nn.OpAdd, []uint32{0, 1, 3}, []uint32{2}))
	t.OK("inputs", large.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
	copy(value, floats(3))
	t.OK("finish", large.Finish())
	copy(value, floats(7))
	out := make([]byte, 4*33)
	t.OK("a large value", t.execution(t.finished(r, large), out, make([]float32, 33)...).Compute())
	t.same("a large value", out[:4], floats(3))

	choice := func(then, other *nnapi.Model) (*nnapi.Model, error) {
		m := nnapi.NewModel()
		for _, x := range []nnapi.OperandType{{Type: nn.TensorBool8, Dimensions: []uint32{1}}, {Type: nn.SubgraphRef}, {Type: nn.SubgraphRef}, vector(), vector()} {
			t.OK("operand", m.AddOperand(x))
		}
		for i, inner := range []*nnapi.Model{then, other} {
			if err := m.SetOperandValueFromModel(uint32(1+i), inner); err != nil {
				return nil, err
			}
		}
		t.OK("operation", m.AddOperation(nn.OpIf, []uint32{0, 1, 2, 3}, []uint32{4}))
		t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0, 3}, []uint32{4}))
		return m, m.Finish()
	}
	_, err = choice(nnapi.NewModel(), t.built(nn.OpRelu))
	t.code("an inner model that is not finished", err, nnapi.BadState)
	_, err = choice(nil, t.built(nn.OpRelu))
	t.code("no inner model", err, nnapi.UnexpectedNull)
	m, err = choice(t.built(nn.OpRelu1), t.built(nn.OpRelu6))
	t.OK("IF", err)
	c := t.finished(t.app(driver("a", nn.OpRelu1)), m)
	for condition, want := range map[byte]float32{1: 1, 0: 6} {
		e, err := nnapi.NewExecution(c)
		t.OK("execution", err)
		out := make([]byte, 24)
		t.OK("condition", e.SetInput(0, nil, []byte{condition}))
		t.OK("input", e.SetInput(1, nil, floats(9, 9, 9, 9, 9, 9)))
		t.OK("output", e.SetOutput(0, nil, out))
		t.OK("IF", e.Compute())
		t.same("IF", out[:4], floats(want))
	}
}

// told is a driver that keeps what its support query was asked about.
type told struct {
	*picky
	asked *nn.Model
}

func (d *told) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	d.asked = m
	return d.picky.SupportedOperations(m)
}

func trailingDefaults(t *T) {
	pool := func(layout byte) *nnapi.Model {
		m := nnapi.NewModel()
		image := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2, 3, 1}}
		t.OK("operand", m.AddOperand(image))
		for range 5 {
			t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
		}
		t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
		t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Bool}))
		t.OK("operand", m.AddOperand(image))
		for i := range uint32(5) {
			t.OK("value", m.SetOperandValue(1+i, []byte{1, 0, 0, 0}))
		}
		t.OK("activation", m.SetOperandValue(6, make([]byte, 4)))
		t.OK("layout", m.SetOperandValue(7, []byte{layout}))
		t.OK("operation", m.AddOperation(nn.OpMaxPool2D, []uint32{0, 1, 2, 3, 4, 5, 6, 7}, []uint32{8}))
		t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{8}))
		t.OK("finish", m.Finish())
		return m
	}
	for layout, supported := range map[byte]bool{0: true, 1: false} {
		d := &told{picky: driver("old", nn.OpMaxPool2D)}
		r := t.app(compat.Adapt(compat.V1_0, d))
		ok, err := r.SupportedOperations(pool(layout), t.all(r)[:1])
		t.OK("getSupportedOperationsForDevices", err)
		Equal(t, fmt.Sprintf("layout %d on a driver of 1.0", layout), ok[0], supported)
		if !supported {
			continue
		}
		Equal(t, "arguments that the driver gets", len(d.asked.Main.Operations[0].Inputs), 7)
		for i := range d.asked.Main.Operands {
			if x := &d.asked.Main.Operands[i]; x.Type == nn.Bool {
				t.Errorf("operand %d, which nothing uses any more, reaches the driver", i)
			}
		}
		t.finished(r, pool(layout), t.all(r)[0])
	}
}

// unprepared is a driver that prepares nothing.
type unprepared struct{ *picky }

func (*unprepared) PrepareModel(*nn.Model, hal.PrepareOptions) (hal.PreparedModel, error) {
	return nil, hal.Errorf(hal.GeneralFailure, "out of memory")
}

func appSupport(t *T) {
	r := t.app(driver("a", nn.OpRelu), driver("b", nn.OpRelu1))
	list := t.all(r)
	m := nnapi.NewModel() // RELU1 of RELU6 of RELU, the last added first
	for range 4 {
		t.OK("operand", m.AddOperand(vector()))
	}
	t.OK("operation", m.AddOperation(nn.OpRelu1, []uint32{2}, []uint32{3}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{1}, []uint32{2}))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	_, err := r.SupportedOperations(m, list[:1])
	t.code("a model that is not finished", err, nnapi.BadState)
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}))
	t.OK("finish", m.Finish())
	for want, devices := range map[string][]*nnapi.Device{
		"[false false true]": list[:1], "[true false false]": list[1:2], "[true false true]": list[:2], "[true true true]": list,
	} {
		got, err := r.SupportedOperations(m, devices)
		t.OK("getSupportedOperationsForDevices", err)
		Equal(t, "support in the order of addOperation", fmt.Sprint(got), want)
	}
	_, err = r.SupportedOperations(m, nil)
	t.code("no devices", err, nnapi.BadData)
	_, err = r.SupportedOperations(m, []*nnapi.Device{list[0], list[0]})
	t.code("a device twice", err, nnapi.BadData)
	_, err = r.SupportedOperations(m, slices.Insert(slices.Clone(list), 0, nil))
	t.code("a null device", err, nnapi.UnexpectedNull)
}

// folder is a new folder, and what removes it.
func (t *T) folder() (path string, remove func()) {
	path, err := os.MkdirTemp("", "nnsoc-conformance")
	t.OK("folder", err)
	return path, func() { _ = os.RemoveAll(path) }
}
