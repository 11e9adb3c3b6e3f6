package nnapi_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// The tests of this file hold which call reports an error, as AOSP's ModelBuilder, CompilationBuilder,
// ExecutionBuilder and Memory do.

// sizes are a tensor type with dimensions.
func sizes(t nn.OperandType, dims ...uint32) nnapi.OperandType {
	return nnapi.OperandType{Type: t, Dimensions: dims}
}

// scaledBy is a quantized type.
func scaledBy(t nnapi.OperandType, scale float32, zeroPoint int32) nnapi.OperandType {
	t.Scale, t.ZeroPoint = scale, zeroPoint
	return t
}

// TestOperationIsChecked: what an operation demands of its operands, whatever their values, is checked when it is added.
func TestOperationIsChecked(t *testing.T) {
	bytes := sizes(nn.TensorQuant8Asymm, 2, 2)
	number := nnapi.OperandType{Type: nn.Int32}
	for _, c := range []struct {
		name    string
		op      nn.OperationType
		in, out []nnapi.OperandType
		code    nnapi.ResultCode
	}{
		{"RELU", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, nnapi.NoError},
		{"another scale", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.25, 3)}, nnapi.BadData},
		{"another zero point", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.5, 4)}, nnapi.BadData},
		{"LOGISTIC of another scale than 1/256", nn.OpLogistic, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.5, 0)}, nnapi.BadData},
		{"two inputs", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3), scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, nnapi.BadData},
		{"two outputs", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{scaledBy(bytes, 0.5, 3), scaledBy(bytes, 0.5, 3)}, nnapi.BadData},
		{"another type", nn.OpRelu, []nnapi.OperandType{scaledBy(bytes, 0.5, 3)}, []nnapi.OperandType{sizes(nn.TensorFloat32, 2, 2)}, nnapi.BadData},
		{"a rank of 3", nn.OpDepthToSpace, []nnapi.OperandType{sizes(nn.TensorFloat32, 2, 2, 4), number}, []nnapi.OperandType{sizes(nn.TensorFloat32, 4, 4, 1)}, nnapi.BadData},
		{"an unknown rank", nn.OpDepthToSpace, []nnapi.OperandType{sizes(nn.TensorFloat32), number}, []nnapi.OperandType{sizes(nn.TensorFloat32)}, nnapi.NoError},
		{"IF of no models", nn.OpIf, []nnapi.OperandType{sizes(nn.TensorBool8, 1), {Type: nn.SubgraphRef}, {Type: nn.SubgraphRef}}, []nnapi.OperandType{sizes(nn.TensorFloat32, 1)}, nnapi.BadData},
	} {
		m := nnapi.NewModel()
		var in, out []uint32
		for i, o := range append(append([]nnapi.OperandType(nil), c.in...), c.out...) {
			require.NoError(t, m.AddOperand(o))
			if i < len(c.in) {
				in = append(in, uint32(i))
			} else {
				out = append(out, uint32(i))
			}
		}
		want(t, c.name, m.AddOperation(c.op, in, out), c.code)
	}
}

// TestActivationMayComeLater: the value of a scalar may be set after the operation was added.
func TestActivationMayComeLater(t *testing.T) {
	m := nnapi.NewModel()
	for _, o := range []nnapi.OperandType{sizes(nn.TensorFloat32, 2), sizes(nn.TensorFloat32, 2), {Type: nn.Int32}, sizes(nn.TensorFloat32, 2)} {
		require.NoError(t, m.AddOperand(o))
	}
	want(t, "ADD", m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}), nnapi.NoError)
	want(t, "its activation", m.SetOperandValue(2, make([]byte, 4)), nnapi.NoError)
	want(t, "inputs", m.IdentifyInputsAndOutputs([]uint32{0, 1}, []uint32{3}), nnapi.NoError)
	want(t, "finish", m.Finish(), nnapi.NoError)
}

// TestUnwrittenOperand: an operand that nothing writes is refused when the model is finished, also where nothing reads it.
func TestUnwrittenOperand(t *testing.T) {
	for name, set := range map[string]func(m *nnapi.Model) error{
		"left alone": nil, "a constant": func(m *nnapi.Model) error { return m.SetOperandValue(2, make([]byte, 8)) },
		"left out": func(m *nnapi.Model) error { return m.SetOperandValue(2, nil) },
	} {
		m := nnapi.NewModel()
		for range 3 {
			require.NoError(t, m.AddOperand(sizes(nn.TensorFloat32, 2)))
		}
		code := nnapi.BadData
		if set != nil {
			require.NoError(t, set(m))
			code = nnapi.NoError
		}
		require.NoError(t, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
		require.NoError(t, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
		want(t, name, m.Finish(), code)
	}
}

// TestOEMOperands: only a driver knows what their scale and their values' size mean; a scalar has no dimensions all the same.
func TestOEMOperands(t *testing.T) {
	m := nnapi.NewModel()
	want(t, "a scalar with a scale", m.AddOperand(scaledBy(nnapi.OperandType{Type: nn.OEM}, 3, 7)), nnapi.NoError)
	want(t, "a scalar with dimensions", m.AddOperand(sizes(nn.OEM, 2)), nnapi.BadData)
	want(t, "bytes", m.AddOperand(scaledBy(sizes(nn.TensorOEMByte, 2), -1, 700)), nnapi.NoError)
	want(t, "too many bytes", m.AddOperand(sizes(nn.TensorOEMByte, math.MaxUint32, 2)), nnapi.BadData)
	want(t, "a value of any size", m.SetOperandValue(0, make([]byte, 13)), nnapi.NoError)
	want(t, "another number of bytes", m.SetOperandValue(1, make([]byte, 3)), nnapi.BadData)
}

// phoneOf is a runtime on the default phone, each device with a time of its own.
func phoneOf(t *testing.T) *nnapi.Runtime {
	t.Helper()
	all := require.V(devices.Open(require.V(soc.Load(soc.Default))(t), hal.FastSingleAnswer, devices.Cold()))(t)
	return require.V(nnapi.NewRuntime(all[0], all[1:]...))(t)
}

// reluOf is a finished model of RELU.
func reluOf(t *testing.T, of nnapi.OperandType) *nnapi.Model {
	t.Helper()
	m := nnapi.NewModel()
	require.NoError(t, m.AddOperand(of))
	require.NoError(t, m.AddOperand(of))
	require.NoError(t, m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	require.NoError(t, m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	require.NoError(t, m.Finish())
	return m
}

// TestArgumentsOfExecutions: the order in which the calls that set arguments check them.
func TestArgumentsOfExecutions(t *testing.T) {
	r := phoneOf(t)
	c := compiled(t, r, reluOf(t, sizes(nn.TensorFloat32, 2)))
	e := require.V(nnapi.NewExecution(c))(t)
	want(t, "a buffer of no bytes", e.SetInput(0, nil, []byte{}), nnapi.BadData)
	want(t, "another shape", e.SetInput(0, &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{3}}, make([]byte, 12)), nnapi.BadData)
	want(t, "a type that is none", e.SetInput(0, &nnapi.OperandType{Type: 99, Dimensions: []uint32{2}}, make([]byte, 8)), nnapi.BadData)
	want(t, "a quantized type without a scale", e.SetInput(0, &nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}}, make([]byte, 8)), nnapi.BadData)
	want(t, "an input", e.SetInput(0, nil, make([]byte, 8)), nnapi.NoError)
	want(t, "an input again, of a wrong length", e.SetInput(0, nil, make([]byte, 7)), nnapi.BadState)
	want(t, "an input again, of no shape", e.SetInput(0, &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{3}}, make([]byte, 8)), nnapi.BadData)
	want(t, "timing without one device", e.SetMeasureTiming(true), nnapi.BadData)
	want(t, "an output that is left out", e.SetOutput(0, nil, nil), nnapi.NoError)
	want(t, "computing it", e.Compute(), nnapi.OpFailed)
	want(t, "timing without one device, afterwards", e.SetMeasureTiming(true), nnapi.BadData)
	want(t, "a timeout without one device, afterwards", e.SetTimeout(1), nnapi.BadData)
}

// TestRolesOfDescriptions: roles of unfinished compilations and dimensions of scalars are BAD_DATA at once.
func TestRolesOfDescriptions(t *testing.T) {
	r := phoneOf(t)
	model := reluOf(t, sizes(nn.TensorFloat32, 2))
	d := &nnapi.MemoryDesc{}
	want(t, "a role of an unfinished compilation", d.AddInputRole(require.V(r.NewCompilation(model))(t), 0, 1), nnapi.BadData)
	want(t, "no roles", d.Finish(), nnapi.BadData)

	m := nnapi.NewModel()
	for _, o := range []nnapi.OperandType{sizes(nn.TensorFloat32, 2), sizes(nn.TensorFloat32, 2), {Type: nn.Int32}, sizes(nn.TensorFloat32, 2)} {
		require.NoError(t, m.AddOperand(o))
	}
	require.NoError(t, m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}))
	require.NoError(t, m.IdentifyInputsAndOutputs([]uint32{0, 1, 2}, []uint32{3}))
	require.NoError(t, m.Finish())
	c := compiled(t, r, m)
	scalar := &nnapi.MemoryDesc{}
	want(t, "a role of a scalar", scalar.AddInputRole(c, 2, 1), nnapi.NoError)
	want(t, "dimensions of a scalar", scalar.SetDimensions([]uint32{1}), nnapi.BadData)
	want(t, "no dimensions", scalar.SetDimensions(nil), nnapi.NoError)
	shaped := &nnapi.MemoryDesc{}
	want(t, "dimensions before roles", shaped.SetDimensions([]uint32{1}), nnapi.NoError)
	want(t, "a role of a scalar where there are dimensions", shaped.AddInputRole(c, 2, 1), nnapi.BadData)
}

// TestFailedCopy: after a copy that failed, for whatever reason, opaque memory holds no value.
func TestFailedCopy(t *testing.T) {
	r := phoneOf(t)
	c := compiled(t, r, reluOf(t, sizes(nn.TensorFloat32, 2)))
	opaque := func() *nnapi.Memory {
		d := &nnapi.MemoryDesc{}
		require.NoError(t, d.AddInputRole(c, 0, 1))
		require.NoError(t, d.Finish())
		return require.V(nnapi.NewMemoryFromDesc(d))(t)
	}
	m := opaque()
	compute := func() error {
		e := require.V(nnapi.NewExecution(c))(t)
		require.NoError(t, e.SetInputFromMemory(0, nil, m, 0, 0))
		require.NoError(t, e.SetOutput(0, nil, make([]byte, 8)))
		return e.Compute()
	}
	for name, src := range map[string]*nnapi.Memory{"of another size": nnapi.NewMemory(9), "that was never written": opaque()} {
		want(t, "a copy", nnapi.CopyMemory(nnapi.NewMemory(8), m), nnapi.NoError)
		want(t, "an execution", compute(), nnapi.NoError)
		want(t, "a copy to itself", nnapi.CopyMemory(m, m), nnapi.NoError)
		want(t, "a copy from memory "+name, nnapi.CopyMemory(src, m), nnapi.BadData)
		want(t, "an execution after a copy from memory "+name, compute(), nnapi.BadData)
	}
}
