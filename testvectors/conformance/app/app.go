// Package app proves what an app may expect of the runtime, and the runtime of drivers.
package app

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// Checks returns the checks of devices, models and operations as an app sees them.
func Checks() []check.Check {
	return []check.Check{
		{Name: "devices as an app sees them", Rows: []string{"C0-1", "C3-1", "C3-3", "C3-5", "C4-1", "C4-2"}, Run: appDevices},
		{Name: "numbers and result codes", Rows: []string{"C0-8", "C0-9", "C0-10", "C0-11"}, Run: appCodes},
		{Name: "states of a model under construction", Rows: []string{"C1-1", "C1-10", "C1-11", "C1-12"}, Run: modelStates},
		{Name: "operands and operations of a model", Rows: []string{"C1-2", "C1-7", "C1-9"}, Run: modelOperands},
		{Name: "values of operands", Rows: []string{"C1-3", "C1-4", "C1-5", "C1-6"}, Run: modelValues},
		{Name: "trailing defaults and unused operands do not reach old drivers", Rows: []string{"C1-13", "C1-14", "C1-15"}, Run: trailingDefaults},
		{Name: "which operations devices support", Rows: []string{"C3-2"}, Run: appSupport},
	}
}

// nameless is a driver with invalid answers.
type nameless struct{ *check.Picky }

func (nameless) Version() string { return "" }

// hoarder needs more cache files than there may be.
type hoarder struct{ *check.Picky }

func (hoarder) NumberOfCacheFilesNeeded() (model, data int) { return hal.MaxCacheFiles + 1, 0 }

func appDevices(t *check.T) {
	old := compat.Adapt(compat.V1_1, check.Driver("old", nn.OpRelu))
	r := t.App(check.Driver("a", nn.OpRelu), nameless{check.Driver("broken", nn.OpRelu)}, hoarder{check.Driver("hoarder", nn.OpRelu)},
		&promising{Picky: check.NewPicky("backwards", nn.OpRelu), exec: -1, power: 1}, old)
	list := t.All(r)
	check.Equal(t, "devices, broken drivers left out", len(list), 3)
	for i, want := range []struct {
		name  string
		typ   hal.DeviceType
		level int
	}{{"a", hal.DeviceAccelerator, 30}, {"old", 0, 28}, {nnapi.ReferenceName, hal.DeviceCPU, 30}} {
		d := list[i]
		check.Equal(t, "name", d.Name(), want.name)
		check.Equal(t, d.Name()+": type", d.Type(), want.typ)
		check.Equal(t, d.Name()+": feature level", d.FeatureLevel(), want.level)
		t.OK(d.Name()+": wait", d.Wait())
		check.Equal(t, d.Name()+": support of an extension nobody has", d.ExtensionSupport("org.example.none"), false)
		t.Check(d.Version() != "", "%s has no version", d.Name())
	}
	check.Equal(t, "feature level of the runtime", nnapi.RuntimeFeatureLevel, 31)
	t.Code("a device past the last", check.Err(r.Device(3)), nnapi.BadData)
	_, err := nnapi.NewRuntime(check.TimedCPU(), check.Driver("a"), check.Driver("a"))
	t.Check(err != nil, "two drivers of one name")
}

func appCodes(t *check.T) {
	names := "[NO_ERROR OUT_OF_MEMORY INCOMPLETE UNEXPECTED_NULL BAD_DATA OP_FAILED BAD_STATE UNMAPPABLE OUTPUT_INSUFFICIENT_SIZE UNAVAILABLE_DEVICE " +
		"MISSED_DEADLINE_TRANSIENT MISSED_DEADLINE_PERSISTENT RESOURCE_EXHAUSTED_TRANSIENT RESOURCE_EXHAUSTED_PERSISTENT DEAD_OBJECT]"
	var codes []nnapi.ResultCode
	for c := nnapi.NoError; c <= nnapi.DeadObject; c++ {
		codes = append(codes, c)
	}
	check.Equal(t, "codes 0 to 14", fmt.Sprint(codes), names)
	for s, want := range map[hal.Status]nnapi.ResultCode{
		hal.StatusNone: 0, hal.DeviceUnavailable: 9, hal.GeneralFailure: 5, hal.OutputInsufficientSize: 8, hal.InvalidArgument: 4,
		hal.MissedDeadlineTransient: 10, hal.MissedDeadlinePersistent: 11, hal.ResourceExhaustedTransient: 12, hal.ResourceExhaustedPersistent: 13,
	} {
		check.Equal(t, s.String(), nnapi.FromStatus(s), want)
		check.Equal(t, s.String()+" back", want.Status(), s)
	}
	for _, c := range []nnapi.ResultCode{1, 2, 6, 7, 14} {
		check.Equal(t, c.String()+" as a status", c.Status(), hal.GeneralFailure)
	}
	check.Equal(t, "UNEXPECTED_NULL as a status", nnapi.UnexpectedNull.Status(), hal.InvalidArgument)
	check.Equal(t, "priorities", fmt.Sprint(int(nnapi.PriorityLow), int(nnapi.PriorityMedium), int(nnapi.PriorityHigh), int(nnapi.PriorityDefault)), "90 100 110 100")
	check.Equal(t, "preferences", fmt.Sprint(int(hal.LowPower), int(hal.FastSingleAnswer), int(hal.SustainedSpeed)), "0 1 2")
	check.Equal(t, "device types", fmt.Sprint(int(hal.DeviceOther), int(hal.DeviceCPU), int(hal.DeviceGPU), int(hal.DeviceAccelerator)), "1 2 3 4")
	check.Equal(t, "durations", fmt.Sprint(int(nnapi.OnHardware), int(nnapi.InDriver), int(nnapi.FencedOnHardware), int(nnapi.FencedInDriver)), "0 1 2 3")
	check.Equal(t, "default loop timeout", nnapi.DefaultLoopTimeout, 2*time.Second)
	check.Equal(t, "maximum loop timeout", nnapi.MaximumLoopTimeout, 15*time.Second)
}

func modelStates(t *check.T) {
	m := nnapi.NewModel()
	for range 4 {
		t.OK("operand", m.AddOperand(check.Vector()))
	}
	// Added against the order of execution; finish sorts.
	t.OK("operation", m.AddOperation(nn.OpRelu1, []uint32{2}, []uint32{3}))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{1}, []uint32{2}))
	t.Code("an index of no operand", m.IdentifyInputsAndOutputs([]uint32{4}, []uint32{3}), nnapi.BadData)
	t.Code("an operand in both lists", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{0}), nnapi.BadData)
	t.Code("an operand twice", m.IdentifyInputsAndOutputs([]uint32{0, 0}, []uint32{3}), nnapi.BadData)
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}))
	t.Code("a second call", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}), nnapi.BadData)
	t.OK("relaxed", m.RelaxComputationFloat32toFloat16(true))
	t.OK("finish", m.Finish())
	for what, err := range map[string]error{
		"addOperand": m.AddOperand(check.Vector()), "setOperandValue": m.SetOperandValue(0, nil), "addOperation": m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}),
		"relax": m.RelaxComputationFloat32toFloat16(false), "identify": m.IdentifyInputsAndOutputs(nil, nil), "finish": m.Finish(),
	} {
		t.Code(what+" after finish", err, nnapi.BadState)
	}
	r := t.App()
	t.Relus("operations in the order of their values", t.Finished(r, m), 0, 0, 0.5, 1, 1, 1)
	for what, ops := range map[string][][2]uint32{"a cycle": {{2, 1}, {1, 2}}, "an operand that nothing writes": {{1, 2}}} {
		bad := nnapi.NewModel()
		for range 3 {
			t.OK("operand", bad.AddOperand(check.Vector()))
		}
		for _, op := range ops {
			t.OK("operation", bad.AddOperation(nn.OpRelu, op[:1], op[1:]))
		}
		t.OK("outputs", bad.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
		t.Code(what, bad.Finish(), nnapi.BadData)
		t.Code("a call after "+what, bad.AddOperand(check.Vector()), nnapi.BadState)
		t.Code("a compilation after "+what, check.Err(r.NewCompilation(bad)), nnapi.BadState)
	}
}

func modelOperands(t *check.T) {
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
		t.Code(what, m.AddOperand(x), nnapi.BadData)
	}
	t.OK("unknown dimensions", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0, 3}}))
	t.OK("unknown rank", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32}))
	t.OK("per channel", m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{2, 1, 1, 1}}))
	scales := func(dim uint32, s ...float32) nn.ChannelQuant { return nn.ChannelQuant{Dim: dim, Scales: s} }
	t.Code("scales of another type", m.SetOperandSymmPerChannelQuantParams(0, scales(0, 1, 1)), nnapi.BadData)
	t.Code("one scale of two", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1)), nnapi.BadData)
	t.Code("a scale of 0", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1, 0)), nnapi.BadData)
	t.Code("a dimension of no tensor", m.SetOperandSymmPerChannelQuantParams(2, scales(4, 1, 1)), nnapi.BadData)
	t.OK("two scales", m.SetOperandSymmPerChannelQuantParams(2, scales(0, 1, 2)))
	t.Code("an operation on no operand", m.AddOperation(nn.OpRelu, []uint32{3}, []uint32{1}), nnapi.BadData)
	t.Code("an operation without outputs", m.AddOperation(nn.OpRelu, []uint32{0}, nil), nnapi.BadData)
	t.Code("an operation that there is not", m.AddOperation(12345, []uint32{0}, []uint32{1}), nnapi.BadData)
	t.Code("ADD of one operand", m.AddOperation(nn.OpAdd, []uint32{0}, []uint32{1}), nnapi.BadData)
	t.Code("RELU with an output of another type", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{2}), nnapi.BadData)
	t.OK("RELU", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
}

// added is a model that adds a constant to a vector.
func added(t *check.T, set func(m *nnapi.Model) error) (*nnapi.Model, error) {
	m := nnapi.NewModel()
	for range 3 {
		t.OK("operand", m.AddOperand(check.Vector()))
	}
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	t.OK("activation", m.SetOperandValue(3, make([]byte, 4)))
	if err := set(m); err != nil {
		return nil, err
	}
	t.OK("operation", m.AddOperation(nn.OpAdd, []uint32{0, 1, 3}, []uint32{2}))
	return m, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2})
}

func modelValues(t *check.T) {
	_, err := added(t, func(m *nnapi.Model) error { return m.SetOperandValue(1, make([]byte, 23)) })
	t.Code("a value of another length", err, nnapi.BadData)
	_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValue(1, make([]byte, 25)) })
	t.Code("a value that is longer", err, nnapi.BadData)
	_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValue(9, make([]byte, 24)) })
	t.Code("a value of no operand", err, nnapi.BadData)
	_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, nnapi.NewMemory(24), 4, 24) })
	t.Code("a value past the end of a memory", err, nnapi.BadData)
	_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, nil, 0, 24) })
	t.Code("a value in no memory", err, nnapi.UnexpectedNull)
	_, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValueFromModel(1, t.Built(nn.OpRelu)) })
	t.Code("a model as the value of a tensor", err, nnapi.BadData)

	small := check.Floats(1, 1, 1, 1, 1, 1)
	m := check.V(added(t, func(m *nnapi.Model) error { return m.SetOperandValue(1, small) }))(t, "a small value")
	copy(small, check.Floats(9)) // it was copied
	t.OK("finish", m.Finish())
	r := t.App()
	t.Relus("a small value", t.Finished(r, m), 0, 1, 1.5, 2, 6, 10)
	memory := nnapi.NewMemory(32)
	copy(memory.Data()[8:], check.Floats(2, 2, 2, 2, 2, 2))
	m, err = added(t, func(m *nnapi.Model) error { return m.SetOperandValueFromMemory(1, memory, 8, 24) })
	t.OK("a value in a memory", err)
	t.OK("finish", m.Finish())
	t.Relus("a value in a memory", t.Finished(r, m), 1, 2, 2.5, 3, 7, 11)

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
	copy(value, check.Floats(3))
	t.OK("finish", large.Finish())
	copy(value, check.Floats(7))
	out := make([]byte, 4*33)
	t.OK("a large value", t.Execution(t.Finished(r, large), out, make([]float32, 33)...).Compute())
	t.Same("a large value", out[:4], check.Floats(3))

	choice := func(then, other *nnapi.Model) (*nnapi.Model, error) {
		m := nnapi.NewModel()
		for _, x := range []nnapi.OperandType{{Type: nn.TensorBool8, Dimensions: []uint32{1}}, {Type: nn.SubgraphRef}, {Type: nn.SubgraphRef}, check.Vector(), check.Vector()} {
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
	t.Code("an inner model that is not finished", check.Err(choice(nnapi.NewModel(), t.Built(nn.OpRelu))), nnapi.BadState)
	t.Code("no inner model", check.Err(choice(nil, t.Built(nn.OpRelu))), nnapi.UnexpectedNull)
	m = check.V(choice(t.Built(nn.OpRelu1), t.Built(nn.OpRelu6)))(t, "IF")
	c := t.Finished(t.App(check.Driver("a", nn.OpRelu1)), m)
	for condition, want := range map[byte]float32{1: 1, 0: 6} {
		e := check.V(nnapi.NewExecution(c))(t, "execution")
		out := make([]byte, 24)
		t.OK("condition", e.SetInput(0, nil, []byte{condition}))
		t.OK("input", e.SetInput(1, nil, check.Floats(9, 9, 9, 9, 9, 9)))
		t.OK("output", e.SetOutput(0, nil, out))
		t.OK("IF", e.Compute())
		t.Same("IF", out[:4], check.Floats(want))
	}
}

func trailingDefaults(t *check.T) {
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
		d := &check.QueryRecorder{Picky: check.Driver("old", nn.OpMaxPool2D)}
		r := t.App(compat.Adapt(compat.V1_0, d))
		ok := check.V(r.SupportedOperations(pool(layout), t.All(r)[:1]))(t, "getSupportedOperationsForDevices")
		check.Equal(t, fmt.Sprintf("layout %d on a driver of 1.0", layout), ok[0], supported)
		if !supported {
			continue
		}
		check.Equal(t, "arguments that the driver gets", len(d.Query.Main.Operations[0].Inputs), 7)
		for i := range d.Query.Main.Operands {
			if x := &d.Query.Main.Operands[i]; x.Type == nn.Bool {
				t.Errorf("operand %d, which nothing uses any more, reaches the driver", i)
			}
		}
		t.Finished(r, pool(layout), t.All(r)[0])
	}
}

// unprepared is a driver that prepares nothing.
type unprepared struct{ *check.Picky }

func (*unprepared) PrepareModel(*nn.Model, hal.PrepareOptions) (hal.PreparedModel, error) {
	return nil, hal.Errorf(hal.GeneralFailure, "out of memory")
}

func appSupport(t *check.T) {
	r := t.App(check.Driver("a", nn.OpRelu), check.Driver("b", nn.OpRelu1))
	list := t.All(r)
	m := nnapi.NewModel() // RELU1 of RELU6 of RELU, the last added first
	for range 4 {
		t.OK("operand", m.AddOperand(check.Vector()))
	}
	t.OK("operation", m.AddOperation(nn.OpRelu1, []uint32{2}, []uint32{3}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{1}, []uint32{2}))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.Code("a model that is not finished", check.Err(r.SupportedOperations(m, list[:1])), nnapi.BadState)
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{3}))
	t.OK("finish", m.Finish())
	for want, devices := range map[string][]*nnapi.Device{
		"[false false true]": list[:1], "[true false false]": list[1:2], "[true false true]": list[:2], "[true true true]": list,
	} {
		got := check.V(r.SupportedOperations(m, devices))(t, "getSupportedOperationsForDevices")
		check.Equal(t, "support in the order of addOperation", fmt.Sprint(got), want)
	}
	t.Code("no devices", check.Err(r.SupportedOperations(m, nil)), nnapi.BadData)
	t.Code("a device twice", check.Err(r.SupportedOperations(m, []*nnapi.Device{list[0], list[0]})), nnapi.BadData)
	_, err := r.SupportedOperations(m, slices.Insert(slices.Clone(list), 0, nil))
	t.Code("a null device", err, nnapi.UnexpectedNull)
}
