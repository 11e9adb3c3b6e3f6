package nnapi_test

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// TestShapesOfTwoInputs: shapes that hold the same numbers, divided otherwise among the inputs, are not taken for each other.
func TestShapesOfTwoInputs(t *testing.T) {
	r := openRuntime()
	m := nnapi.NewModel()
	for range 4 {
		must(m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32}))
	}
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{2}))
	must(m.AddOperation(nn.OpRelu, []uint32{1}, []uint32{3}))
	must(m.IdentifyInputsAndOutputs([]uint32{0, 1}, []uint32{2, 3}))
	must(m.Finish())
	c := compiled(t, r, m)
	for _, shapes := range [][2][]uint32{{{2, 3}, {4}}, {{2}, {3, 4}}} {
		e := require.V(nnapi.NewExecution(c))(t)
		for i, dims := range shapes {
			n := nn.Elements(dims)
			must(e.SetInput(uint32(i), &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: dims}, floats(make([]float32, n)...)))
			must(e.SetOutput(uint32(i), nil, make([]byte, 4*n)))
		}
		must(e.Compute())
		for i, dims := range shapes {
			require.Equal(t, dims, require.V(e.OutputDimensions(uint32(i)))(t), "output", i)
		}
	}
}

// TestCacheOfOpenShapes: what an execution compiles for its shapes is neither saved under the app's token, which does not
// name them, nor taken from there.
func TestCacheOfOpenShapes(t *testing.T) {
	r := openRuntime()
	open := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{0}, Scale: 1}
	c := require.V(r.NewCompilationForDevices(reluOf(t, open), []*nnapi.Device{named(t, r, "dsp")}))(t)
	must(c.SetCaching(t.TempDir(), make([]byte, 32)))
	must(c.Finish())
	for _, n := range []uint32{4, 6} {
		e := require.V(nnapi.NewExecution(c))(t)
		shape := open
		shape.Dimensions = []uint32{n}
		in, out := bytes.Repeat([]byte{7}, int(n)), make([]byte, n)
		must(e.SetInput(0, &shape, in))
		must(e.SetOutput(0, nil, out))
		want(t, "compute", e.Compute(), nnapi.NoError)
		require.Equal(t, in, out, n, "elements")
	}
}

// releasing is a device that counts how often memory of it is released.
type releasing struct {
	hal.Device
	times *int
}

func (d releasing) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	b, err := d.Device.Allocate(desc, models, inputs, outputs)
	return released{b, d.times}, err
}

type released struct {
	hal.Buffer
	times *int
}

func (b released) Release() { *b.times++; b.Buffer.Release() }

// TestFreedTwice: device memory is released once, however often the app frees it.
func TestFreedTwice(t *testing.T) {
	times := 0
	inner := phoneDevices(t)
	r := require.V(nnapi.NewRuntime(inner["cpu"], releasing{inner["dsp"], &times}))(t)
	c := compiled(t, r, quantizedRelu(), named(t, r, "dsp"))
	d := &nnapi.MemoryDesc{}
	must(d.AddInputRole(c, 0, 1))
	must(d.Finish())
	m := require.V(nnapi.NewMemoryFromDesc(d))(t)
	m.Free()
	m.Free()
	require.Same(t, 1, times, "releases")
}

// picking is a device that supports operations of one type.
type picking struct {
	hal.Device
	only nn.OperationType
}

func (d picking) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	answers := make([]hal.Support, len(m.Main.Operations))
	for i := range answers {
		answers[i] = hal.Support{OK: m.Main.Operations[i].Type == d.only, Reason: "another type"}
	}
	return answers, nil
}

// TestSupportInOrderOfAddition: answers are in the order in which the app added the operations, whatever the order in which they run.
func TestSupportInOrderOfAddition(t *testing.T) {
	inner := phoneDevices(t)
	r := require.V(nnapi.NewRuntime(inner["cpu"], picking{inner["dsp"], nn.OpRelu}))(t)
	m := nnapi.NewModel()
	for range 3 {
		must(m.AddOperand(bytes8))
	}
	must(m.AddOperation(nn.OpRelu6, []uint32{1}, []uint32{2}))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
	must(m.Finish())
	require.Equal(t, []bool{false, true}, require.V(r.SupportedOperations(m, []*nnapi.Device{named(t, r, "dsp")}))(t))
}

// TestEventOfAnotherRuntime: an execution may wait for an event of another runtime, whose machine has a time of its own.
func TestEventOfAnotherRuntime(t *testing.T) {
	one, _ := phone(t)
	other, _ := phone(t)
	before, _, _ := newApp(one, "dsp", 1, nnapi.PriorityMedium).execution(1)
	after, out, want := newApp(other, "dsp", 1, nnapi.PriorityMedium).execution(2)
	v := require.V(before.StartCompute())(t)
	must(require.V(after.StartComputeWithDependencies([]*nnapi.Event{v}, 0))(t).Wait())
	require.Check(t, bytes.Equal(out, want), "wrong sums")
}

// TestCloseEndsWhatWasStarted: executions that nobody has waited for have ended when the runtime is closed.
func TestCloseEndsWhatWasStarted(t *testing.T) {
	r, _ := phone(t)
	e, out, want := newApp(r, "dsp", 1, nnapi.PriorityMedium).execution(3)
	require.V(e.StartCompute())(t)
	must(r.Close())
	require.Check(t, bytes.Equal(out, want), "it has not ended")
}
