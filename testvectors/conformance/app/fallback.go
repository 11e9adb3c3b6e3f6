package app

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// broken is a driver whose executions fail with a status.
type broken struct {
	*check.Picky
	status hal.Status
}

func (d *broken) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &brokenModel{p, d.status}, err
}

// Allocate implements hal.Device.
func (d *broken) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, in, out []hal.BufferRole) (hal.Buffer, error) {
	own := make([]hal.PreparedModel, len(models))
	for i, m := range models {
		own[i] = m.(*brokenModel).PreparedModel
	}
	return d.Picky.Allocate(desc, own, in, out)
}

type brokenModel struct {
	hal.PreparedModel
	status hal.Status
}

func (p *brokenModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	return nil, hal.Errorf(p.status, "broken")
}

func failedExecution(t *check.T) {
	for status, code := range map[hal.Status]nnapi.ResultCode{
		hal.GeneralFailure: nnapi.NoError, hal.DeviceUnavailable: nnapi.NoError, hal.InvalidArgument: nnapi.NoError,
		hal.MissedDeadlineTransient: nnapi.MissedDeadlineTransient, hal.MissedDeadlinePersistent: nnapi.MissedDeadlinePersistent,
	} {
		r := t.App(&broken{Picky: check.Driver("broken", nn.OpRelu6), status: status})
		c := t.Finished(r, t.Built(nn.OpRelu, nn.OpRelu6, nn.OpRelu1))
		out := make([]byte, 24)
		t.Code(status.String()+" with the CPU to fall back on", t.Execution(c, out, -1, 0, 0.5, 1, 5, 9).Compute(), code)
		if code == nnapi.NoError {
			t.Same(status.String(), out, check.Floats(0, 0, 0.5, 1, 1, 1))
		}
		c = t.Finished(r, t.Built(nn.OpRelu6), t.All(r)[0])
		t.Code(status.String()+" of the one device", t.Execution(c, out, 0, 0, 0, 0, 0, 0).Compute(), nnapi.FromStatus(status))
	}
}

func memoryInFallback(t *check.T) {
	d := &broken{Picky: check.Driver("broken", nn.OpRelu), status: hal.GeneralFailure}
	c := t.Finished(t.App(d), t.Built(nn.OpRelu))
	x := check.V(described(t, c, nil))(t, "memory")
	y := check.V(described(t, nil, c))(t, "memory")
	in, out := nnapi.NewMemory(24), nnapi.NewMemory(24)
	copy(in.Data(), check.Floats(-1, 2, -3, 4, -5, 6))
	t.OK("copy", nnapi.CopyMemory(in, x))
	e := check.V(nnapi.NewExecution(c))(t, "create")
	t.OK("input", e.SetInputFromMemory(0, nil, x, 0, 0))
	t.OK("output", e.SetOutputFromMemory(0, nil, y, 0, 0))
	t.OK("a driver that fails with device memory", e.Compute())
	t.OK("copy", nnapi.CopyMemory(y, out))
	t.Same("device memory after a fallback", out.Data(), check.Floats(0, 2, 0, 4, 0, 6))
}

// misled is a driver that writes over its outputs, reports a shape that the first cannot hold, and fails
// in the next execution.
type misled struct {
	*check.Picky
	reported []uint32
}

func (d *misled) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &misledModel{PreparedModel: p, reported: d.reported}, err
}

type misledModel struct {
	hal.PreparedModel
	reported      []uint32
	wrongReported bool
}

func (p *misledModel) Execute(r *hal.Request, _ hal.ExecuteOptions) (*hal.Result, error) {
	_, outputs, _ := r.Buffers()
	for _, b := range outputs {
		for i := range b {
			b[i] = 0xa5
		}
	}
	if p.wrongReported || p.reported == nil {
		return nil, hal.Errorf(hal.GeneralFailure, "misled")
	}
	p.wrongReported = true
	return &hal.Result{OutputDimensions: [][]uint32{p.reported}}, hal.Errorf(hal.OutputInsufficientSize, "too small")
}

// fillModel is FILL with a length that an execution brings, then RELU1 and RELU6. FILL and RELU6 are outputs.
func fillModel(t *check.T) *nnapi.Model {
	m := nnapi.NewModel()
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.TensorInt32, Dimensions: []uint32{1}}))
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.Float32}))
	t.OK("value", m.SetOperandValue(1, check.Floats(2)))
	for range 3 {
		t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{0}}))
	}
	t.OK("operation", m.AddOperation(nn.OpFill, []uint32{0, 1}, []uint32{2}))
	t.OK("operation", m.AddOperation(nn.OpRelu1, []uint32{2}, []uint32{3}))
	t.OK("operation", m.AddOperation(nn.OpRelu6, []uint32{3}, []uint32{4}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2, 4}))
	t.OK("finish", m.Finish())
	return m
}

// checkFill computes what fillModel computes of three elements, with buffers of a size.
func checkFill(t *check.T, what string, d hal.Device, m *nnapi.Model, capacity int) {
	e := check.V(nnapi.NewExecution(t.Finished(t.App(d), m)))(t, "execution")
	outputs := [2][]byte{make([]byte, capacity), make([]byte, capacity)}
	t.OK("input", e.SetInput(0, nil, []byte{3, 0, 0, 0}))
	t.OK("output", e.SetOutput(0, nil, outputs[0]))
	t.OK("output", e.SetOutput(1, nil, outputs[1]))
	want := nnapi.NoError
	if capacity < 12 {
		want = nnapi.OutputInsufficientSize
	}
	t.Code(what, e.Compute(), want)
	for i, v := range []float32{2, 1} {
		dims, err := e.OutputDimensions(uint32(i))
		t.Code(fmt.Sprintf("%s: shape of output %d", what, i), err, want)
		check.Equal(t, what+": shape", fmt.Sprint(dims), "[3]")
		if want == nnapi.NoError {
			t.Same(what, outputs[i][:12], check.Floats(v, v, v))
		}
	}
}

// outputsInFallback lets the CPU run what a driver has begun: outputs have the CPU's values and shapes.
func outputsInFallback(t *check.T) {
	m := fillModel(t)
	for _, operations := range [][]nn.OperationType{{nn.OpFill}, {nn.OpRelu1}, {nn.OpRelu6}, {nn.OpFill, nn.OpRelu1, nn.OpRelu6}} {
		for _, shape := range [][]uint32{nil, {2}, {3}, {9}, {1 << 31}, {0}, {3, 1}} {
			for _, size := range []int{8, 12, 20} {
				d := &misled{Picky: check.Driver("misled", operations...), reported: shape}
				checkFill(t, fmt.Sprintf("a driver of %v that reports %v, buffers of %d bytes", operations, shape, size), d, m, size)
			}
		}
	}
}

// undersized is a driver whose outputs need larger buffers and which does not report their size.
type undersized struct {
	*check.Picky
	runs int
}

func (d *undersized) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Picky.PrepareModel(m, o)
	return &undersizedModel{p, d}, err
}

type undersizedModel struct {
	hal.PreparedModel
	d *undersized
}

func (p *undersizedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	p.d.runs++
	res, err := p.PreparedModel.Execute(r, o)
	if err != nil {
		for k := range res.OutputDimensions {
			res.OutputDimensions[k] = []uint32{0}
		}
	}
	return res, err
}

// undersizedOutputs checks that buffers of outputs are doubled until they suffice.
func undersizedOutputs(t *check.T) {
	m := fillModel(t)
	for _, size := range []int{8, 12, 20} {
		d := &undersized{Picky: check.Driver("undersized", nn.OpFill)}
		checkFill(t, fmt.Sprintf("buffers of %d bytes", size), d, m, size)
		check.Equal(t, "executions with buffers of 1, 2 and 4 elements", d.runs, 3)
	}
}
