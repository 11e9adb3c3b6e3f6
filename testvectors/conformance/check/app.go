package check

import (
	"os"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// Code checks the result code of an error.
func (t *T) Code(what string, err error, want nnapi.ResultCode) {
	if got := nnapi.CodeOf(err); got != want {
		t.Errorf("%s: %v, want %v: %v", what, got, want, err)
	}
}

// App is a runtime with drivers.
func (t *T) App(drivers ...hal.Device) *nnapi.Runtime {
	r := V(nnapi.NewRuntime(TimedCPU(), drivers...))(t, "runtime")
	return r
}

// All lists the devices of a runtime.
func (t *T) All(r *nnapi.Runtime) (list []*nnapi.Device) {
	for i := range r.DeviceCount() {
		d := V(r.Device(i))(t, "getDevice")
		list = append(list, d)
	}
	return list
}

// Vector is a TENSOR_FLOAT32 of six elements.
func Vector() nnapi.OperandType {
	return nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{2, 3}}
}

// Built builds a chain of unary operations on a vector.
func (t *T) Built(ops ...nn.OperationType) *nnapi.Model {
	m := nnapi.NewModel()
	t.OK("operand", m.AddOperand(Vector()))
	for i, op := range ops {
		t.OK("operand", m.AddOperand(Vector()))
		t.OK("operation", m.AddOperation(op, []uint32{uint32(i)}, []uint32{uint32(i + 1)}))
	}
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{uint32(len(ops))}))
	t.OK("finish", m.Finish())
	return m
}

// Finished compiles for devices, all when none is named.
func (t *T) Finished(r *nnapi.Runtime, m *nnapi.Model, devices ...*nnapi.Device) *nnapi.Compilation {
	c, err := r.NewCompilation(m)
	if devices != nil {
		c, err = r.NewCompilationForDevices(m, devices)
	}
	t.OK("compilation", err)
	t.OK("finish", c.Finish())
	return c
}

// Execution is one of a chain with its input set.
func (t *T) Execution(c *nnapi.Compilation, out []byte, in ...float32) *nnapi.Execution {
	e := V(nnapi.NewExecution(c))(t, "execution")
	t.OK("input", e.SetInput(0, nil, Floats(in...)))
	if out != nil {
		t.OK("output", e.SetOutput(0, nil, out))
	}
	return e
}

// Relus runs a chain of RELU or RELU6 and RELU1 on six values.
func (t *T) Relus(what string, c *nnapi.Compilation, want ...float32) {
	out := make([]byte, 24)
	t.OK(what, t.Execution(c, out, -1, 0, 0.5, 1, 5, 9).Compute())
	t.Same(what, out, Floats(want...))
}

// Folder is a new folder, and a function that removes it.
func (t *T) Folder() (path string, remove func()) {
	path = V(os.MkdirTemp("", "nnsoc-conformance"))(t, "folder")
	return path, func() { _ = os.RemoveAll(path) }
}

// Small is the first of a float and a quantized RELU6 that the device runs, as an app
// builds it, with the size of its input.
func (t *T) Small() (m *nnapi.Model, bytes int) {
	typ := t.Supported(func(typ nn.OperandType) *nn.Model { return ReluModel(typ, 2, 3) }).Main.Operands[0].Type
	x := nnapi.OperandType{Type: typ, Dimensions: []uint32{2, 3}}
	bytes = 24
	if typ.IsQuant8() {
		x.Scale, x.ZeroPoint, bytes = 0.5, 2, 6
	}
	m = nnapi.NewModel()
	t.OK("operand", m.AddOperand(x))
	t.OK("operand", m.AddOperand(x))
	t.OK("operation", m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	t.OK("finish", m.Finish())
	return m, bytes
}

// OnDevice compiles small for the device under test alone, or skips when it is the CPU.
func (t *T) OnDevice() (c *nnapi.Compilation, r *nnapi.Runtime, bytes int) {
	if t.Device.Type() == hal.DeviceCPU {
		t.Skipf("%s is the runtime's own", t.Device.Name())
	}
	m, bytes := t.Small()
	r = t.App(t.Device)
	return t.Finished(r, m, t.All(r)[0]), r, bytes
}

// Plain is an execution of small on zeros.
func (t *T) Plain(c *nnapi.Compilation, bytes int) *nnapi.Execution {
	e := V(nnapi.NewExecution(c))(t, "create")
	t.OK("input", e.SetInput(0, nil, make([]byte, bytes)))
	t.OK("output", e.SetOutput(0, nil, make([]byte, bytes)))
	return e
}
