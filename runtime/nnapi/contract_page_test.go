package nnapi_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// answer is what a call returns in a case, as AOSP's runtime does. rows are those of docs/CONFORMANCE.md that demand it.
type answer struct {
	call, when string
	code       nnapi.ResultCode
	rows       string
	make       func(p *handset) error
}

// handset is a runtime, with what the calls of the table need. Each case has one of its own.
type handset struct {
	*testing.T
	*nnapi.Runtime
}

var (
	tensor = sizes(nn.TensorFloat32, 2)
	open   = sizes(nn.TensorFloat32, 0)
	whole  = nnapi.OperandType{Type: nn.Int32}
	bytes8 = scaledBy(sizes(nn.TensorQuant8Asymm, 2), 0.5, 3)
	ok     = nnapi.NoError
)

// model has operands of these types.
func (p *handset) model(types ...nnapi.OperandType) *nnapi.Model {
	m := nnapi.NewModel()
	for _, o := range types {
		require.NoError(p, m.AddOperand(o))
	}
	return m
}

// relu is a finished model of RELU.
func (p *handset) relu(of nnapi.OperandType) *nnapi.Model { return reluOf(p.T, of) }

// broken is a model whose Finish failed.
func (p *handset) broken() *nnapi.Model {
	m := p.model(tensor, tensor)
	require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	want(p.T, "a model without inputs", m.Finish(), nnapi.BadData)
	return m
}

// odd is a finished model of ADD with activation 999.
func (p *handset) odd() *nnapi.Model {
	m := p.model(tensor, tensor, whole, tensor)
	require.NoError(p, m.SetOperandValue(2, []byte{0xe7, 3, 0, 0}))
	require.NoError(p, m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}))
	require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0, 1}, []uint32{3}))
	require.NoError(p, m.Finish())
	return m
}

// misshapen is a finished model of RELU whose output has an element too many.
func (p *handset) misshapen() *nnapi.Model {
	m := p.model(tensor, sizes(nn.TensorFloat32, 3))
	require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	require.NoError(p, m.Finish())
	return m
}

// failed is a compilation whose Finish failed.
func (p *handset) failed() *nnapi.Compilation {
	c := require.V(p.NewCompilation(p.odd()))(p)
	want(p.T, "a model that no driver accepts", c.Finish(), nnapi.BadData)
	return c
}

// dying is an execution on a driver that has died since it was compiled, explicitly or by the runtime's choice.
func (p *handset) dying(explicit bool) (*nnapi.Execution, *nnapi.Compilation) {
	inner := phoneDevices(p.T)
	r := require.V(nnapi.NewRuntime(inner["cpu"], mortal{inner["gpu"]}))(p)
	q := handset{p.T, r}
	var names []string
	if explicit {
		names = []string{"gpu"}
	}
	c := q.compiled(tensor, names...)
	return q.with(c), c
}

func first[T, U any](x T, _ U) T { return x }

// phoneDevices are those of the default phone by name.
func phoneDevices(t *testing.T) map[string]hal.Device {
	t.Helper()
	all := map[string]hal.Device{}
	for _, d := range require.V(devices.Open(require.V(soc.Load(soc.Default))(t), hal.FastSingleAnswer, devices.Cold()))(t) {
		all[d.Name()] = d
	}
	return all
}

// mortal is a driver that dies before its first execution.
type mortal struct{ hal.Device }

func (d mortal) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return mortalModel{p}, err
}

type mortalModel struct{ hal.PreparedModel }

var errDead = hal.Errorf(hal.DeviceUnavailable, "the driver is gone")

func (mortalModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	return nil, errDead
}

func (mortalModel) ConfigureExecutionBurst() (hal.Burst, error) { return nil, errDead }

// device is one by its name.
func (p *handset) device(name string) *nnapi.Device {
	for i := range p.DeviceCount() {
		if d := require.V(p.Device(i))(p); d.Name() == name {
			return d
		}
	}
	p.Fatalf("no device %s", name)
	return nil
}

// begun is a compilation that is not finished, for devices or for all.
func (p *handset) begun(of nnapi.OperandType, devices ...string) *nnapi.Compilation {
	if devices == nil {
		return require.V(p.NewCompilation(p.relu(of)))(p)
	}
	var list []*nnapi.Device
	for _, d := range devices {
		list = append(list, p.device(d))
	}
	return require.V(p.NewCompilationForDevices(p.relu(of), list))(p)
}

func (p *handset) compiled(of nnapi.OperandType, devices ...string) *nnapi.Compilation {
	c := p.begun(of, devices...)
	require.NoError(p, c.Finish())
	return c
}

// execution is one without arguments, ready one with both.
func (p *handset) execution(of nnapi.OperandType, devices ...string) *nnapi.Execution {
	return require.V(nnapi.NewExecution(p.compiled(of, devices...)))(p)
}

func (p *handset) ready(devices ...string) *nnapi.Execution {
	return p.with(p.compiled(tensor, devices...))
}

func (p *handset) with(c *nnapi.Compilation) *nnapi.Execution {
	e := require.V(nnapi.NewExecution(c))(p)
	require.NoError(p, e.SetInput(0, nil, make([]byte, 8)))
	require.NoError(p, e.SetOutput(0, nil, make([]byte, 8)))
	return e
}

// computed is an execution that has ended.
func (p *handset) computed(devices ...string) *nnapi.Execution {
	e := p.ready(devices...)
	require.NoError(p, e.Compute())
	return e
}

// measured is one that measured.
func (p *handset) measured() *nnapi.Execution {
	e := p.ready("gpu")
	require.NoError(p, e.SetMeasureTiming(true))
	require.NoError(p, e.Compute())
	return e
}

// short is one whose output has not room enough.
func (p *handset) short() *nnapi.Execution {
	e := require.V(nnapi.NewExecution(p.compiled(open)))(p)
	require.NoError(p, e.SetInput(0, &tensor, make([]byte, 8)))
	require.NoError(p, e.SetOutput(0, nil, make([]byte, 4)))
	want(p.T, "a short output", e.Compute(), nnapi.OutputInsufficientSize)
	return e
}

// description has the first input of a compilation for a role.
func (p *handset) description(c *nnapi.Compilation) *nnapi.MemoryDesc {
	d := &nnapi.MemoryDesc{}
	require.NoError(p, d.AddInputRole(c, 0, 1))
	return d
}

// opaque is memory of the first input of a compilation.
func (p *handset) opaque(c *nnapi.Compilation) *nnapi.Memory {
	d := p.description(c)
	require.NoError(p, d.Finish())
	return require.V(nnapi.NewMemoryFromDesc(d))(p)
}

// file is one of 100 bytes.
func (p *handset) file() *os.File {
	f := require.V(os.Create(filepath.Join(p.TempDir(), "f")))(p)
	p.Cleanup(func() { _ = f.Close() })
	require.NoError(p, f.Truncate(100))
	return f
}

func drop[T any](_ T, err error) error { return err }

// duration is the time of an execution by a code.
func duration(e *nnapi.Execution, code nnapi.DurationCode) error {
	n, err := e.Duration(code)
	if err != nil && n != nnapi.NoDuration {
		return fmt.Errorf("a failed query returns %d", n)
	}
	return err
}

// modelAnswers are those of calls that build models.
var modelAnswers = []answer{
	{"Model_addOperand", "a type that is none", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(nnapi.OperandType{Type: 99}) }},
	{"Model_addOperand", "a scalar with dimensions", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(sizes(nn.Int32, 1)) }},
	{"Model_addOperand", "unknown dimensions, or an unknown rank", ok, "C1-2", func(p *handset) error { p.model(sizes(nn.TensorFloat32)); return p.model().AddOperand(open) }},
	{"Model_addOperand", "TENSOR_QUANT8_ASYMM of scale 0", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(scaledBy(bytes8, 0, 3)) }},
	{"Model_addOperand", "TENSOR_QUANT8_ASYMM of zero point 256", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(scaledBy(bytes8, 1, 256)) }},
	{"Model_addOperand", "TENSOR_QUANT8_ASYMM_SIGNED of zero point 128", nnapi.BadData, "C1-2", func(p *handset) error {
		return p.model().AddOperand(scaledBy(sizes(nn.TensorQuant8AsymmSigned, 2), 1, 128))
	}},
	{"Model_addOperand", "TENSOR_QUANT8_SYMM of zero point 1", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(scaledBy(sizes(nn.TensorQuant8Symm, 2), 1, 1)) }},
	{"Model_addOperand", "TENSOR_QUANT16_SYMM of zero point 1", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(scaledBy(sizes(nn.TensorQuant16Symm, 2), 1, 1)) }},
	{"Model_addOperand", "TENSOR_QUANT16_ASYMM of zero point 65536", nnapi.BadData, "C1-2", func(p *handset) error {
		return p.model().AddOperand(scaledBy(sizes(nn.TensorQuant16Asymm, 2), 1, 65536))
	}},
	{"Model_addOperand", "TENSOR_FLOAT32 with a scale or a zero point", nnapi.BadData, "C1-2", func(p *handset) error {
		want(p.T, "a zero point", p.model().AddOperand(scaledBy(tensor, 0, 1)), nnapi.BadData)
		return p.model().AddOperand(scaledBy(tensor, 1, 0))
	}},
	{"Model_addOperand", "TENSOR_INT32 with a scale", ok, "C1-2", func(p *handset) error { return p.model().AddOperand(scaledBy(sizes(nn.TensorInt32, 2), 1, 0)) }},
	{"Model_addOperand", "TENSOR_INT32 with a zero point or a scale below 0, which finish refuses", ok, "C1-2", func(p *handset) error {
		want(p.T, "a scale below 0", p.model().AddOperand(scaledBy(sizes(nn.TensorInt32, 2), -1, 0)), ok)
		return p.model().AddOperand(scaledBy(sizes(nn.TensorInt32, 2), 1, 7))
	}},
	{"Model_addOperand", "2^32 bytes and more", nnapi.BadData, "C1-2", func(p *handset) error { return p.model().AddOperand(sizes(nn.TensorFloat32, math.MaxUint32, 2)) }},
	{"Model_addOperand", "an operand of an extension that the model has not asked for", nnapi.BadData, "C1-2", func(p *handset) error {
		return p.model().AddOperand(nnapi.OperandType{Type: 0x7fff0001})
	}},
	{"Model_addOperand", "a finished model", nnapi.BadState, "C1-1", func(p *handset) error { return p.relu(tensor).AddOperand(tensor) }},
	{"Model_addOperand", "a model whose finish failed", nnapi.BadState, "C1-1", func(p *handset) error { return p.broken().AddOperand(tensor) }},

	{"Model_setOperandValue", "an index that is none", nnapi.BadData, "C1-3", func(p *handset) error { return p.model(tensor).SetOperandValue(1, make([]byte, 8)) }},
	{"Model_setOperandValue", "another length", nnapi.BadData, "C1-3", func(p *handset) error { return p.model(tensor).SetOperandValue(0, make([]byte, 7)) }},
	{"Model_setOperandValue", "an operand of unknown dimensions", nnapi.BadData, "C1-3", func(p *handset) error { return p.model(open).SetOperandValue(0, make([]byte, 8)) }},
	{"Model_setOperandValue", "an input", nnapi.BadData, "C1-3", func(p *handset) error {
		m := p.model(tensor, tensor)
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		return m.SetOperandValue(0, make([]byte, 8))
	}},
	{"Model_setOperandValue", "no value, which omits the operand", ok, "C1-3", func(p *handset) error { return p.model(open).SetOperandValue(0, nil) }},
	{"Model_setOperandValue", "a finished model", nnapi.BadState, "C1-1", func(p *handset) error { return p.relu(tensor).SetOperandValue(0, make([]byte, 8)) }},
	{"Model_setOperandValueFromMemory", "an index that is none", nnapi.BadData, "C1-5", func(p *handset) error { return p.model(tensor).SetOperandValueFromMemory(1, nnapi.NewMemory(8), 0, 8) }},
	{"Model_setOperandValueFromMemory", "offset and length beyond the memory", nnapi.BadData, "C1-5", func(p *handset) error { return p.model(tensor).SetOperandValueFromMemory(0, nnapi.NewMemory(8), 1, 8) }},
	{"Model_setOperandValueFromMemory", "offset and length whose sum overflows", nnapi.BadData, "C1-5", func(p *handset) error {
		return p.model(tensor).SetOperandValueFromMemory(0, nnapi.NewMemory(8), math.MaxInt, 8)
	}},
	{"Model_setOperandValueFromMemory", "another length than the operand's", nnapi.BadData, "C1-5", func(p *handset) error { return p.model(tensor).SetOperandValueFromMemory(0, nnapi.NewMemory(8), 0, 7) }},
	{"Model_setOperandValueFromMemory", "memory of a description", nnapi.BadData, "C1-5", func(p *handset) error {
		return p.model(tensor).SetOperandValueFromMemory(0, p.opaque(p.compiled(tensor)), 0, 0)
	}},
	{"Model_setOperandValueFromMemory", "a hardware buffer of another format than blob", nnapi.BadData, "C1-5", func(p *handset) error {
		b := require.V(nnapi.NewMemoryFromHardwareBuffer(&nnapi.HardwareBuffer{Format: nnapi.FormatRGBA8, Data: make([]byte, 8)}))(p)
		return p.model(tensor).SetOperandValueFromMemory(0, b, 0, 8)
	}},
	{"Model_setOperandValueFromMemory", "a finished model", nnapi.BadState, "C1-1", func(p *handset) error { return p.relu(tensor).SetOperandValueFromMemory(0, nnapi.NewMemory(8), 0, 8) }},
	{"Model_setOperandValueFromModel", "a model that is not finished", nnapi.BadState, "C1-6", func(p *handset) error {
		return p.model(nnapi.OperandType{Type: nn.SubgraphRef}).SetOperandValueFromModel(0, p.model())
	}},
	{"Model_setOperandValueFromModel", "an operand of another type than MODEL", nnapi.BadData, "C1-6", func(p *handset) error { return p.model(tensor).SetOperandValueFromModel(0, p.relu(tensor)) }},
	{"Model_setOperandSymmPerChannelQuantParams", "an operand of another type", nnapi.BadData, "C1-7", func(p *handset) error {
		return p.model(bytes8).SetOperandSymmPerChannelQuantParams(0, nn.ChannelQuant{Scales: []float32{1, 1}})
	}},
	{"Model_setOperandSymmPerChannelQuantParams", "no scales, another number of them, one that is not above 0, a dimension that is none", nnapi.BadData, "C1-7", func(p *handset) error {
		m := p.model(sizes(nn.TensorQuant8SymmPerChannel, 2, 3))
		for _, q := range []nn.ChannelQuant{{Dim: 0}, {Dim: 0, Scales: []float32{1, 1, 1}}, {Dim: 0, Scales: []float32{1, 0}}} {
			want(p.T, fmt.Sprint(q), m.SetOperandSymmPerChannelQuantParams(0, q), nnapi.BadData)
		}
		return m.SetOperandSymmPerChannelQuantParams(0, nn.ChannelQuant{Dim: 2, Scales: []float32{1}})
	}},
	{"Model_setOperandExtensionData", "an operand of no extension", nnapi.BadData, "C1-8", func(p *handset) error { return p.model(tensor).SetOperandExtensionData(0, []byte{1}) }},
	{"Model_addOperation", "an operation that is none", nnapi.BadData, "C1-9", func(p *handset) error { return p.model(tensor, tensor).AddOperation(9999, []uint32{0}, []uint32{1}) }},
	{"Model_addOperation", "an operand that is none", nnapi.BadData, "C1-9", func(p *handset) error {
		want(p.T, "an output", p.model(tensor, tensor).AddOperation(nn.OpRelu, []uint32{0}, []uint32{2}), nnapi.BadData)
		return p.model(tensor, tensor).AddOperation(nn.OpRelu, []uint32{2}, []uint32{1})
	}},
	{"Model_addOperation", "another number or other types of operands, another scale of the output", nnapi.BadData, "C1-9", func(p *handset) error {
		want(p.T, "two inputs", p.model(tensor, tensor).AddOperation(nn.OpRelu, []uint32{0, 0}, []uint32{1}), nnapi.BadData)
		want(p.T, "a scale", p.model(bytes8, scaledBy(bytes8, 1, 3)).AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}), nnapi.BadData)
		return p.model(tensor, bytes8).AddOperation(nn.OpRelu, []uint32{0}, []uint32{1})
	}},
	{"Model_addOperation", "an activation that is none, which only a driver judges", ok, "C1-9", func(p *handset) error {
		m := p.model(tensor, tensor, whole, tensor)
		require.NoError(p, m.SetOperandValue(2, []byte{0xe7, 3, 0, 0}))
		return m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3})
	}},
	{"Model_addOperation", "a finished model", nnapi.BadState, "C1-1", func(p *handset) error { return p.relu(tensor).AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}) }},
	{"Model_identifyInputsAndOutputs", "an index that is none", nnapi.BadData, "C1-10", func(p *handset) error {
		return p.model(tensor, tensor).IdentifyInputsAndOutputs([]uint32{0}, []uint32{2})
	}},
	{"Model_identifyInputsAndOutputs", "an operand twice, as input and output, or again", nnapi.BadData, "C1-10", func(p *handset) error {
		want(p.T, "twice", p.model(tensor, tensor).IdentifyInputsAndOutputs([]uint32{0, 0}, []uint32{1}), nnapi.BadData)
		want(p.T, "both", p.model(tensor, tensor).IdentifyInputsAndOutputs([]uint32{0}, []uint32{0}), nnapi.BadData)
		m := p.model(tensor, tensor)
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		return m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1})
	}},
	{"Model_identifyInputsAndOutputs", "a constant", nnapi.BadData, "C1-10", func(p *handset) error {
		m := p.model(tensor, tensor)
		require.NoError(p, m.SetOperandValue(0, make([]byte, 8)))
		return m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1})
	}},
	{"Model_identifyInputsAndOutputs", "a finished model", nnapi.BadState, "C1-1", func(p *handset) error { return p.relu(tensor).IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}) }},
	{"Model_relaxComputationFloat32toFloat16", "a finished model", nnapi.BadState, "C1-11", func(p *handset) error { return p.relu(tensor).RelaxComputationFloat32toFloat16(true) }},
	{"Model_finish", "no operations, or no inputs and outputs", nnapi.BadData, "C1-12", func(p *handset) error { p.broken(); return p.model().Finish() }},
	{"Model_finish", "a cycle", nnapi.BadData, "C1-12", func(p *handset) error {
		m := p.model(tensor, tensor, tensor, whole, tensor)
		require.NoError(p, m.SetOperandValue(3, make([]byte, 4)))
		require.NoError(p, m.AddOperation(nn.OpAdd, []uint32{0, 2, 3}, []uint32{1}))
		require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{1}, []uint32{2}))
		require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{2}, []uint32{4}))
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{4}))
		return m.Finish()
	}},
	{"Model_finish", "an operand that two operations write", nnapi.BadData, "C1-12", func(p *handset) error {
		m := p.model(tensor, tensor)
		require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
		require.NoError(p, m.AddOperation(nn.OpRelu6, []uint32{0}, []uint32{1}))
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		return m.Finish()
	}},
	{"Model_finish", "an operand that nobody writes or reads", nnapi.BadData, "C1-12", func(p *handset) error {
		m := p.model(tensor, tensor, tensor)
		require.NoError(p, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		return m.Finish()
	}},
	{"Model_finish", "TENSOR_INT32 with a zero point", nnapi.BadData, "C1-12", func(p *handset) error {
		m := p.model(scaledBy(sizes(nn.TensorInt32, 2), 0, 7), sizes(nn.TensorInt32, 2))
		require.NoError(p, m.AddOperation(nn.OpAbs, []uint32{0}, []uint32{1}))
		require.NoError(p, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		return m.Finish()
	}},
	{"Model_finish", "an activation that is none, which only a driver judges", ok, "C1-12", func(p *handset) error { p.odd(); return nil }},
	{"Model_finish", "an output of another shape than its operation gives, which only a driver judges", ok, "C1-12", func(p *handset) error { p.misshapen(); return nil }},
	{"Model_finish", "a finished model, or one whose finish failed", nnapi.BadState, "C1-1", func(p *handset) error {
		want(p.T, "finished", p.relu(tensor).Finish(), nnapi.BadState)
		return p.broken().Finish()
	}},
	{"Model_getSupportedOperationsForDevices", "a model that is not finished, or is invalid", nnapi.BadState, "C3-2", func(p *handset) error {
		want(p.T, "invalid", drop(p.SupportedOperations(p.broken(), []*nnapi.Device{p.device("gpu")})), nnapi.BadState)
		return drop(p.SupportedOperations(p.model(tensor), []*nnapi.Device{p.device("gpu")}))
	}},
	{"Model_getSupportedOperationsForDevices", "no devices, or one twice", nnapi.BadData, "C3-2", func(p *handset) error {
		want(p.T, "none", drop(p.SupportedOperations(p.relu(tensor), nil)), nnapi.BadData)
		return drop(p.SupportedOperations(p.relu(tensor), []*nnapi.Device{p.device("gpu"), p.device("gpu")}))
	}},
	{"Model_getSupportedOperationsForDevices", "a null device", nnapi.UnexpectedNull, "C3-2", func(p *handset) error {
		return drop(p.SupportedOperations(p.relu(tensor), []*nnapi.Device{nil}))
	}},
	{"Model_getSupportedOperationsForDevices", "an activation or a shape that no driver accepts, of which none is supported", ok, "C3-2", func(p *handset) error {
		for _, m := range []*nnapi.Model{p.odd(), p.misshapen()} {
			for i := range p.DeviceCount() {
				answers := require.V(p.SupportedOperations(m, []*nnapi.Device{require.V(p.Device(i))(p)}))(p)
				require.Check(p, len(answers) == 1 && !answers[0], "device %d: %v", i, answers)
			}
		}
		return nil
	}},
	{"getDevice", "an index that is none", nnapi.BadData, "C3-1", func(p *handset) error { return drop(p.Device(p.DeviceCount())) }},
}

// compilationAnswers are those of calls on compilations.
var compilationAnswers = []answer{
	{"Compilation_create", "a model that is not finished, or is invalid", nnapi.BadState, "C2-1", func(p *handset) error {
		want(p.T, "invalid", drop(p.NewCompilation(p.broken())), nnapi.BadState)
		return drop(p.NewCompilation(p.model(tensor)))
	}},
	{"Compilation_createForDevices", "no devices, or one twice", nnapi.BadData, "C2-2", func(p *handset) error {
		want(p.T, "none", drop(p.NewCompilationForDevices(p.relu(tensor), nil)), nnapi.BadData)
		return drop(p.NewCompilationForDevices(p.relu(tensor), []*nnapi.Device{p.device("gpu"), p.device("gpu")}))
	}},
	{"Compilation_createForDevices", "a null device", nnapi.UnexpectedNull, "C2-2", func(p *handset) error {
		return drop(p.NewCompilationForDevices(p.relu(tensor), []*nnapi.Device{nil}))
	}},
	{"Compilation_setPreference", "3, or -1", nnapi.BadData, "C2-4", func(p *handset) error {
		want(p.T, "-1", p.begun(tensor).SetPreference(-1), nnapi.BadData)
		return p.begun(tensor).SetPreference(3)
	}},
	{"Compilation_setPreference", "a finished compilation", nnapi.BadState, "C2-4", func(p *handset) error { return p.compiled(tensor).SetPreference(hal.LowPower) }},
	{"Compilation_setPriority", "0", nnapi.BadData, "C2-5", func(p *handset) error { return p.begun(tensor).SetPriority(0) }},
	{"Compilation_setPriority", "a finished compilation", nnapi.BadState, "C2-5", func(p *handset) error { return p.compiled(tensor).SetPriority(nnapi.PriorityLow) }},
	{"Compilation_setTimeout", "not for one explicit device", nnapi.BadData, "C2-6, C3-4", func(p *handset) error {
		want(p.T, "two", p.begun(tensor, "gpu", "dsp").SetTimeout(time.Second), nnapi.BadData)
		return p.begun(tensor).SetTimeout(time.Second)
	}},
	{"Compilation_setTimeout", "0, which is no bound", ok, "C2-6", func(p *handset) error {
		c := p.begun(tensor, "gpu")
		require.NoError(p, c.SetTimeout(1))
		require.NoError(p, c.SetTimeout(0))
		return c.Finish()
	}},
	{"Compilation_setTimeout", "a finished compilation", nnapi.BadState, "C2-6", func(p *handset) error { return p.compiled(tensor, "gpu").SetTimeout(time.Second) }},
	{"Compilation_setCaching", "a finished compilation", nnapi.BadState, "C2-7", func(p *handset) error {
		return p.compiled(tensor).SetCaching(p.TempDir(), make([]byte, 32))
	}},
	{"Compilation_finish", "an activation or a shape that no driver accepts", nnapi.BadData, "C2-8", func(p *handset) error {
		want(p.T, "a shape", require.V(p.NewCompilation(p.misshapen()))(p).Finish(), nnapi.BadData)
		want(p.T, "one device", require.V(p.NewCompilationForDevices(p.odd(), []*nnapi.Device{p.device("gpu")}))(p).Finish(), nnapi.BadData)
		return require.V(p.NewCompilation(p.odd()))(p).Finish()
	}},
	{"Compilation_finish", "a compilation whose finish failed", nnapi.BadState, "C2-8", func(p *handset) error { return p.failed().Finish() }},
	{"Compilation_setPreference", "a compilation whose finish failed", nnapi.BadState, "C2-4", func(p *handset) error { return p.failed().SetPreference(hal.LowPower) }},
	{"Compilation_finish", "a finished compilation", nnapi.BadState, "C2-8", func(p *handset) error { return p.compiled(tensor).Finish() }},
	{"Compilation_getPreferredMemoryAlignmentForInput", "a compilation that is not finished", nnapi.BadState, "C6-12", func(p *handset) error {
		return drop(p.begun(tensor).PreferredMemoryAlignmentForInput(0))
	}},
	{"Compilation_getPreferredMemoryPaddingForOutput", "an index that is none", nnapi.BadData, "C6-12", func(p *handset) error {
		return drop(p.compiled(tensor).PreferredMemoryPaddingForOutput(1))
	}},
	{"Burst_create", "a compilation that is not finished, or whose finish failed", nnapi.BadState, "C7-8", func(p *handset) error {
		want(p.T, "failed", drop(nnapi.NewBurst(p.failed())), nnapi.BadState)
		return drop(nnapi.NewBurst(p.begun(tensor)))
	}},
	{"MemoryDesc_addInputRole", "a compilation that is not finished, or whose finish failed", nnapi.BadData, "C8-3", func(p *handset) error {
		want(p.T, "failed", (&nnapi.MemoryDesc{}).AddInputRole(p.failed(), 0, 1), nnapi.BadData)
		return (&nnapi.MemoryDesc{}).AddInputRole(p.begun(tensor), 0, 1)
	}},
	{"MemoryDesc_addInputRole", "an index that is none", nnapi.BadData, "C8-3", func(p *handset) error {
		return (&nnapi.MemoryDesc{}).AddInputRole(p.compiled(tensor), 1, 1)
	}},
	{"MemoryDesc_addInputRole", "a frequency of 0, below it, or above 1", nnapi.BadData, "C8-3", func(p *handset) error {
		c := p.compiled(tensor)
		for _, f := range []float32{0, -1, 1.01} {
			want(p.T, fmt.Sprint(f), (&nnapi.MemoryDesc{}).AddInputRole(c, 0, f), nnapi.BadData)
		}
		return (&nnapi.MemoryDesc{}).AddInputRole(c, 0, 2)
	}},
	{"MemoryDesc_addInputRole", "a role twice", nnapi.BadData, "C8-3", func(p *handset) error {
		c := p.compiled(tensor)
		return p.description(c).AddInputRole(c, 0, 1)
	}},
	{"MemoryDesc_addOutputRole", "an operand of another type, scale, zero point or shape", nnapi.BadData, "C8-3", func(p *handset) error {
		d := p.description(p.compiled(bytes8))
		want(p.T, "a scale", d.AddOutputRole(p.compiled(scaledBy(bytes8, 1, 3)), 0, 1), nnapi.BadData)
		want(p.T, "a zero point", d.AddOutputRole(p.compiled(scaledBy(bytes8, 0.5, 4)), 0, 1), nnapi.BadData)
		want(p.T, "a shape", d.AddOutputRole(p.compiled(scaledBy(sizes(nn.TensorQuant8Asymm, 3), 0.5, 3)), 0, 1), nnapi.BadData)
		return d.AddOutputRole(p.compiled(tensor), 0, 1)
	}},
	{"MemoryDesc_addOutputRole", "a finished description", nnapi.BadState, "C8-3", func(p *handset) error {
		c := p.compiled(tensor)
		d := p.description(c)
		require.NoError(p, d.Finish())
		return d.AddOutputRole(c, 0, 1)
	}},
	{"MemoryDesc_setDimensions", "others than those of a role", nnapi.BadData, "C8-3", func(p *handset) error {
		want(p.T, "a rank", p.description(p.compiled(tensor)).SetDimensions([]uint32{2, 1}), nnapi.BadData)
		return p.description(p.compiled(tensor)).SetDimensions([]uint32{3})
	}},
	{"MemoryDesc_setDimensions", "a finished description", nnapi.BadState, "C8-3", func(p *handset) error {
		d := p.description(p.compiled(tensor))
		require.NoError(p, d.Finish())
		return d.SetDimensions([]uint32{2})
	}},
	{"MemoryDesc_finish", "no roles", nnapi.BadData, "C8-3", func(p *handset) error { return (&nnapi.MemoryDesc{}).Finish() }},
	{"MemoryDesc_finish", "a finished description", nnapi.BadState, "C8-3", func(p *handset) error {
		d := p.description(p.compiled(tensor))
		require.NoError(p, d.Finish())
		return d.Finish()
	}},
	{"Memory_createFromDesc", "a description that is not finished", nnapi.BadState, "C8-3", func(p *handset) error {
		return drop(nnapi.NewMemoryFromDesc(p.description(p.compiled(tensor))))
	}},
	{"Memory_createFromDesc", "dimensions that nobody knows", nnapi.OpFailed, "C8-5", func(p *handset) error {
		d := p.description(p.compiled(open))
		require.NoError(p, d.Finish())
		return drop(nnapi.NewMemoryFromDesc(d))
	}},
	{"Memory_createFromFd", "no bytes", nnapi.BadData, "C0-7", func(p *handset) error { return drop(nnapi.NewMemoryFromFile(p.file(), nnapi.ProtectRead, 0, 0)) }},
	{"Memory_createFromFd", "more bytes than the file has", nnapi.Unmappable, "C0-7", func(p *handset) error {
		return drop(nnapi.NewMemoryFromFile(p.file(), nnapi.ProtectRead, 100, 1))
	}},
	{"Memory_copy", "from memory of a description that was never written", nnapi.BadData, "C8-6", func(p *handset) error {
		return nnapi.CopyMemory(p.opaque(p.compiled(tensor)), nnapi.NewMemory(8))
	}},
	{"Memory_copy", "from memory of a description that a failed execution was to write again", nnapi.BadData, "C8-6", func(p *handset) error {
		c := p.compiled(tensor)
		d := &nnapi.MemoryDesc{}
		require.NoError(p, d.AddOutputRole(c, 0, 1))
		require.NoError(p, d.Finish())
		m := require.V(nnapi.NewMemoryFromDesc(d))(p)
		first := require.V(nnapi.NewExecution(c))(p)
		require.NoError(p, first.SetInput(0, nil, make([]byte, 8)))
		require.NoError(p, first.SetOutputFromMemory(0, nil, m, 0, 0))
		require.NoError(p, first.Compute())
		require.NoError(p, nnapi.CopyMemory(m, nnapi.NewMemory(8)))
		second := require.V(nnapi.NewExecution(c))(p)
		b := require.V(nnapi.NewMemoryFromHardwareBuffer(&nnapi.HardwareBuffer{Format: nnapi.FormatRGBA8, Data: make([]byte, 8)}))(p)
		require.NoError(p, second.SetInputFromMemory(0, nil, b, 0, 0))
		require.NoError(p, second.SetOutputFromMemory(0, nil, m, 0, 0))
		want(p.T, "an input that nobody reads", second.Compute(), nnapi.Unmappable)
		return nnapi.CopyMemory(m, nnapi.NewMemory(8))
	}},
	{"Memory_copy", "to itself", ok, "C8-6", func(p *handset) error { m := nnapi.NewMemory(8); return nnapi.CopyMemory(m, m) }},
	{"Memory_copy", "of another size", nnapi.BadData, "C8-6", func(p *handset) error { return nnapi.CopyMemory(nnapi.NewMemory(8), nnapi.NewMemory(9)) }},
	{"Memory_copy", "a hardware buffer of another format than blob", nnapi.BadData, "C8-6", func(p *handset) error {
		b := require.V(nnapi.NewMemoryFromHardwareBuffer(&nnapi.HardwareBuffer{Format: nnapi.FormatRGBA8, Data: make([]byte, 8)}))(p)
		return nnapi.CopyMemory(b, nnapi.NewMemory(8))
	}},
}

// executionAnswers are those of calls on executions.
var executionAnswers = []answer{
	{"Execution_create", "a compilation that is not finished, or whose finish failed", nnapi.BadState, "C7-1", func(p *handset) error {
		want(p.T, "failed", drop(nnapi.NewExecution(p.failed())), nnapi.BadState)
		return drop(nnapi.NewExecution(p.begun(tensor)))
	}},
	{"Execution_setInput", "an index that is none", nnapi.BadData, "C7-2", func(p *handset) error { return p.execution(tensor).SetInput(1, nil, make([]byte, 8)) }},
	{"Execution_setInput", "another length", nnapi.BadData, "C7-2", func(p *handset) error {
		want(p.T, "longer", p.execution(tensor).SetInput(0, nil, make([]byte, 9)), nnapi.BadData)
		return p.execution(tensor).SetInput(0, nil, make([]byte, 7))
	}},
	{"Execution_setInput", "no length, but a buffer", nnapi.BadData, "C7-2", func(p *handset) error { return p.execution(tensor).SetInput(0, nil, []byte{}) }},
	{"Execution_setInput", "a type of another rank, or of another known dimension", nnapi.BadData, "C7-2", func(p *handset) error {
		for _, d := range [][]uint32{{2, 1}, {3}} {
			o := sizes(nn.TensorFloat32, d...)
			want(p.T, fmt.Sprint(d), p.execution(tensor).SetInput(0, &o, make([]byte, 8)), nnapi.BadData)
		}
		o := sizes(nn.TensorFloat32)
		return p.execution(tensor).SetInput(0, &o, make([]byte, 8))
	}},
	{"Execution_setInput", "dimensions that neither the model nor the type gives", nnapi.BadData, "C7-2", func(p *handset) error {
		want(p.T, "a type that leaves them open", p.execution(open).SetInput(0, &open, make([]byte, 8)), nnapi.BadData)
		return p.execution(open).SetInput(0, nil, make([]byte, 8))
	}},
	{"Execution_setInput", "a type that addOperand refuses", nnapi.BadData, "C7-2", func(p *handset) error {
		o := scaledBy(bytes8, 0, 0)
		return p.execution(bytes8).SetInput(0, &o, make([]byte, 2))
	}},
	{"Execution_setInput", "a type of another kind, scale or zero point, where AOSP looks at the dimensions alone (D-2306)", nnapi.BadData, "C7-2", func(p *handset) error {
		o := scaledBy(bytes8, 1, 3)
		want(p.T, "a scale", p.execution(bytes8).SetInput(0, &o, make([]byte, 2)), nnapi.BadData)
		o = scaledBy(bytes8, 0.5, 4)
		want(p.T, "a zero point", p.execution(bytes8).SetInput(0, &o, make([]byte, 2)), nnapi.BadData)
		o = sizes(nn.TensorInt32, 2)
		return p.execution(tensor).SetInput(0, &o, make([]byte, 8))
	}},
	{"Execution_setInput", "an input that is set", nnapi.BadState, "C7-2", func(p *handset) error { return p.ready().SetInput(0, nil, make([]byte, 8)) }},
	{"Execution_setInput", "padding that is enabled, and too few bytes", nnapi.BadData, "C7-2", func(p *handset) error {
		e := p.execution(tensor)
		require.NoError(p, e.EnableInputAndOutputPadding(true))
		return e.SetInput(0, nil, make([]byte, 7))
	}},
	{"Execution_setInput", "padding that is enabled, and more bytes", ok, "C7-2", func(p *handset) error {
		e := p.execution(tensor)
		require.NoError(p, e.EnableInputAndOutputPadding(true))
		return e.SetInput(0, nil, make([]byte, 64))
	}},
	{"Execution_setInput", "an execution that has begun", nnapi.BadState, "C7-1", func(p *handset) error { return p.computed().SetInput(0, nil, make([]byte, 8)) }},
	{"Execution_setInputFromMemory", "an index that is none", nnapi.BadData, "C7-3", func(p *handset) error {
		return p.execution(tensor).SetInputFromMemory(1, nil, nnapi.NewMemory(8), 0, 8)
	}},
	{"Execution_setInputFromMemory", "offset and length beyond the memory, or whose sum overflows", nnapi.BadData, "C7-3", func(p *handset) error {
		want(p.T, "beyond", p.execution(tensor).SetInputFromMemory(0, nil, nnapi.NewMemory(8), 1, 8), nnapi.BadData)
		return p.execution(tensor).SetInputFromMemory(0, nil, nnapi.NewMemory(8), math.MaxInt, 8)
	}},
	{"Execution_setInputFromMemory", "offset and length 0 of sized memory", nnapi.BadData, "C7-3", func(p *handset) error {
		return p.execution(tensor).SetInputFromMemory(0, nil, nnapi.NewMemory(8), 0, 0)
	}},
	{"Execution_setInputFromMemory", "memory of a description without the role", nnapi.BadData, "C7-3", func(p *handset) error {
		return p.execution(tensor).SetInputFromMemory(0, nil, p.opaque(p.compiled(tensor)), 0, 0)
	}},
	{"Execution_setInputFromMemory", "memory of a description with offset or length", nnapi.BadData, "C7-3", func(p *handset) error {
		c := p.compiled(tensor)
		return require.V(nnapi.NewExecution(c))(p).SetInputFromMemory(0, nil, p.opaque(c), 0, 8)
	}},
	{"Execution_setInputFromMemory", "an input that is set", nnapi.BadState, "C7-2", func(p *handset) error { return p.ready().SetInputFromMemory(0, nil, nnapi.NewMemory(8), 0, 8) }},
	{"Execution_setOutput", "an index that is none", nnapi.BadData, "C7-2", func(p *handset) error { return p.execution(tensor).SetOutput(1, nil, make([]byte, 8)) }},
	{"Execution_setOutput", "another length", nnapi.BadData, "C7-2", func(p *handset) error { return p.execution(tensor).SetOutput(0, nil, make([]byte, 7)) }},
	{"Execution_setOutput", "any length, where dimensions are unknown", ok, "C7-2", func(p *handset) error { return p.execution(open).SetOutput(0, nil, make([]byte, 1)) }},
	{"Execution_setOutput", "a type of another known dimension", nnapi.BadData, "C7-2", func(p *handset) error {
		o := sizes(nn.TensorFloat32, 3)
		return p.execution(tensor).SetOutput(0, &o, make([]byte, 12))
	}},
	{"Execution_setOutput", "an output that is set", nnapi.BadState, "C7-2", func(p *handset) error { return p.ready().SetOutput(0, nil, make([]byte, 8)) }},
	{"Execution_setOutputFromMemory", "offset and length beyond the memory", nnapi.BadData, "C7-3", func(p *handset) error {
		return p.execution(tensor).SetOutputFromMemory(0, nil, nnapi.NewMemory(8), 4, 8)
	}},
	{"Execution_setOutputFromMemory", "offset and length 0 of sized memory, also where dimensions are unknown", nnapi.BadData, "C7-3", func(p *handset) error {
		want(p.T, "known", p.execution(tensor).SetOutputFromMemory(0, nil, nnapi.NewMemory(8), 0, 0), nnapi.BadData)
		return p.execution(open).SetOutputFromMemory(0, nil, nnapi.NewMemory(8), 0, 0)
	}},
	{"Execution_setOutputFromMemory", "memory of a description that is an input alone", nnapi.BadData, "C7-3", func(p *handset) error {
		c := p.compiled(tensor)
		return require.V(nnapi.NewExecution(c))(p).SetOutputFromMemory(0, nil, p.opaque(c), 0, 0)
	}},
	{"Execution_compute", "an argument that is not set", nnapi.BadData, "C7-4", func(p *handset) error {
		e := p.execution(tensor)
		require.NoError(p, e.SetInput(0, nil, make([]byte, 8)))
		return e.Compute()
	}},
	{"Execution_compute", "after the argument that was not set has been, too", ok, "C7-4", func(p *handset) error {
		e := p.execution(tensor)
		require.NoError(p, e.SetInput(0, nil, make([]byte, 8)))
		want(p.T, "without output", e.Compute(), nnapi.BadData)
		require.NoError(p, e.SetOutput(0, nil, make([]byte, 8)))
		return e.Compute()
	}},
	{"Execution_compute", "again", nnapi.BadState, "C7-1", func(p *handset) error { return p.computed().Compute() }},
	{"Execution_compute", "again, of a reusable execution", ok, "C7-1", func(p *handset) error {
		e := p.ready()
		require.NoError(p, e.SetReusable(true))
		require.NoError(p, e.Compute())
		return e.Compute()
	}},
	{"Execution_compute", "an input in memory of a description that was never written", nnapi.BadData, "C8-2", func(p *handset) error {
		c := p.compiled(tensor)
		e := require.V(nnapi.NewExecution(c))(p)
		require.NoError(p, e.SetInputFromMemory(0, nil, p.opaque(c), 0, 0))
		require.NoError(p, e.SetOutput(0, nil, make([]byte, 8)))
		return e.Compute()
	}},
	{"Execution_compute", "an output that turns out too short", nnapi.OutputInsufficientSize, "C7-12", func(p *handset) error {
		e := require.V(nnapi.NewExecution(p.compiled(open)))(p)
		require.NoError(p, e.SetInput(0, &tensor, make([]byte, 8)))
		require.NoError(p, e.SetOutput(0, nil, make([]byte, 4)))
		return e.Compute()
	}},
	{"Execution_compute", "an output of unknown dimensions that is left out", nnapi.OutputInsufficientSize, "C7-12", func(p *handset) error {
		e := require.V(nnapi.NewExecution(p.compiled(open)))(p)
		require.NoError(p, e.SetInput(0, &tensor, make([]byte, 8)))
		require.NoError(p, e.SetOutput(0, nil, nil))
		return e.Compute()
	}},
	{"Execution_compute", "a WHILE that does not end within its bound", nnapi.MissedDeadlineTransient, "C7-6", func(p *handset) error {
		c := require.V(p.NewCompilation(counter()))(p)
		require.NoError(p, c.Finish())
		e := require.V(nnapi.NewExecution(c))(p)
		require.NoError(p, e.SetLoopTimeout(0))
		require.NoError(p, e.SetInput(0, nil, make([]byte, 4)))
		require.NoError(p, e.SetOutput(0, nil, make([]byte, 4)))
		return e.Compute()
	}},
	{"Execution_compute", "a driver that has died, of one explicit device", nnapi.UnavailableDevice, "C7-13", func(p *handset) error { return first(p.dying(true)).Compute() }},
	{"Execution_compute", "a driver that has died, where the CPU may take over", ok, "C7-13", func(p *handset) error { return first(p.dying(false)).Compute() }},
	{"Execution_startCompute", "after compute", nnapi.BadState, "C7-7", func(p *handset) error { return drop(p.computed().StartCompute()) }},
	{"Execution_startComputeWithDependencies", "a duration, but not one explicit device", nnapi.BadData, "C7-6", func(p *handset) error {
		return drop(p.ready().StartComputeWithDependencies(nil, time.Second))
	}},
	{"Execution_startComputeWithDependencies", "a null event", nnapi.UnexpectedNull, "C7-9", func(p *handset) error {
		return drop(p.ready().StartComputeWithDependencies([]*nnapi.Event{nil}, 0))
	}},
	{"Execution_startComputeWithDependencies", "after compute", nnapi.BadState, "C7-7", func(p *handset) error {
		return drop(p.computed().StartComputeWithDependencies(nil, 0))
	}},
	{"Execution_burstCompute", "a burst of another compilation", nnapi.BadData, "C7-8", func(p *handset) error {
		return p.ready().BurstCompute(require.V(nnapi.NewBurst(p.compiled(tensor)))(p))
	}},
	{"Execution_burstCompute", "a driver that has died, of one explicit device", nnapi.UnavailableDevice, "C7-8", func(p *handset) error {
		e, c := p.dying(true)
		return e.BurstCompute(require.V(nnapi.NewBurst(c))(p))
	}},
	{"Execution_setMeasureTiming", "not for one explicit device", nnapi.BadData, "C7-5, C3-4", func(p *handset) error { return p.execution(tensor).SetMeasureTiming(true) }},
	{"Execution_setMeasureTiming", "an execution that has begun", nnapi.BadState, "C7-1", func(p *handset) error { return p.computed("gpu").SetMeasureTiming(true) }},
	{"Execution_getDuration", "before the end", nnapi.BadState, "C7-5", func(p *handset) error {
		e := p.ready("gpu")
		require.NoError(p, e.SetMeasureTiming(true))
		return duration(e, nnapi.OnHardware)
	}},
	{"Execution_getDuration", "an execution that did not measure", nnapi.BadState, "C7-5", func(p *handset) error { return duration(p.computed("gpu"), nnapi.OnHardware) }},
	{"Execution_getDuration", "a code that is none", nnapi.BadData, "C7-5", func(p *handset) error { return duration(p.measured(), 4) }},
	{"Execution_getDuration", "an execution that measured", ok, "C7-5", func(p *handset) error { return duration(p.measured(), nnapi.FencedInDriver) }},
	{"Execution_setTimeout", "not for one explicit device", nnapi.BadData, "C7-6, C3-4", func(p *handset) error { return p.execution(tensor).SetTimeout(time.Second) }},
	{"Execution_setTimeout", "an execution that has begun", nnapi.BadState, "C7-6", func(p *handset) error { return p.computed("gpu").SetTimeout(time.Second) }},
	{"Execution_setLoopTimeout", "more than 15 s, which is 15 s", ok, "C7-6", func(p *handset) error { return p.execution(tensor).SetLoopTimeout(time.Hour) }},
	{"Execution_setLoopTimeout", "an execution that has begun", nnapi.BadState, "C7-6", func(p *handset) error { return p.computed().SetLoopTimeout(time.Second) }},
	{"Execution_enableInputAndOutputPadding", "after an argument was set", nnapi.BadState, "C7-2", func(p *handset) error { return p.ready().EnableInputAndOutputPadding(true) }},
	{"Execution_enableInputAndOutputPadding", "an execution that has begun", nnapi.BadState, "C7-1", func(p *handset) error { return p.computed().EnableInputAndOutputPadding(true) }},
	{"Execution_setReusable", "an execution that has begun", nnapi.BadState, "C7-1", func(p *handset) error { return p.computed().SetReusable(true) }},
	{"Execution_getOutputOperandRank", "before the end", nnapi.BadState, "C7-11", func(p *handset) error { return drop(p.ready().OutputDimensions(0)) }},
	{"Execution_getOutputOperandRank", "an index that is none", nnapi.BadData, "C7-11", func(p *handset) error { return drop(p.computed().OutputDimensions(1)) }},
	{"Execution_getOutputOperandRank", "an output that was too short", nnapi.OutputInsufficientSize, "C7-11", func(p *handset) error { return drop(p.short().OutputDimensions(0)) }},
	{"Event_wait", "an execution that waits for one that fails", nnapi.OpFailed, "C7-9", func(p *handset) error {
		first := require.V(nnapi.NewExecution(p.compiled(open)))(p)
		require.NoError(p, first.SetInput(0, &tensor, make([]byte, 8)))
		require.NoError(p, first.SetOutput(0, nil, make([]byte, 4)))
		failing := require.V(first.StartCompute())(p)
		v := require.V(p.ready().StartComputeWithDependencies([]*nnapi.Event{failing}, 0))(p)
		want(p.T, "the first", failing.Wait(), nnapi.OutputInsufficientSize)
		return v.Wait()
	}},
	{"Event_wait", "an execution that waits for a fence with an error, or the fence itself", nnapi.OpFailed, "C7-9", func(p *handset) error {
		f := hal.NewSyncFence()
		fence := require.V(nnapi.NewEventFromSyncFence(f))(p)
		e := p.ready("gpu")
		v := require.V(e.StartComputeWithDependencies([]*nnapi.Event{fence}, 0))(p)
		f.Signal(0, hal.Errorf(hal.GeneralFailure, "whoever signals it has failed"))
		want(p.T, "the fence", fence.Wait(), nnapi.OpFailed)
		err := v.Wait()
		want(p.T, "its dimensions", drop(e.OutputDimensions(0)), nnapi.BadState)
		return err
	}},
	{"Event_wait", "an execution whose duration after its dependencies is over", nnapi.MissedDeadlineTransient, "C7-6", func(p *handset) error {
		before := require.V(p.ready().StartCompute())(p) // which has no fence
		return require.V(p.ready("gpu").StartComputeWithDependencies([]*nnapi.Event{before}, 1))(p).Wait()
	}},
	{"Event_createFromSyncFenceFd", "a descriptor of 0 or below", nnapi.BadData, "C7-9", func(p *handset) error { return drop(nnapi.NewEventFromSyncFence(nil)) }},
	{"Event_getSyncFenceFd", "an event without a fence", nnapi.BadData, "C7-9", func(p *handset) error {
		v := require.V(p.ready().StartCompute())(p)
		require.NoError(p, v.Wait())
		return drop(v.SyncFence())
	}},
}

// TestContractPage holds the table of docs/Contract.md: each row is a call, which returns that code.
func TestContractPage(t *testing.T) {
	r := phoneOf(t)
	var rows []string
	for _, a := range slices.Concat(modelAnswers, compilationAnswers, executionAnswers) {
		want(t, a.call+": "+a.when, a.make(&handset{t, r}), a.code)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", a.call, a.when, strings.TrimPrefix(a.code.String(), "ANEURALNETWORKS_"), a.rows))
	}
	doctable.Check(t, "../../docs/Contract.md", "| call | when | code | rows |", rows)
}
