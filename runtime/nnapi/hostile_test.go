package nnapi_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// TestAddOperation: number and types of arguments are checked where an operation is added.
func TestAddOperation(t *testing.T) {
	m := nnapi.NewModel()
	must(m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{2}}))
	must(m.AddOperand(nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{2}}))
	must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	for _, x := range []struct {
		what            string
		op              nn.OperationType
		inputs, outputs []uint32
		code            nnapi.ResultCode
	}{
		{"no such operation", 12345, []uint32{0}, []uint32{1}, nnapi.BadData},
		{"too many inputs", nn.OpRelu, []uint32{0, 0}, []uint32{1}, nnapi.BadData},
		{"too few inputs", nn.OpAdd, []uint32{0}, []uint32{1}, nnapi.BadData},
		{"no inputs", nn.OpRelu, nil, []uint32{1}, nnapi.BadData},
		{"another type", nn.OpRelu, []uint32{2}, []uint32{1}, nnapi.BadData},
		{"another type of the output", nn.OpRelu, []uint32{0}, []uint32{2}, nnapi.BadData},
		{"values that are given later", nn.OpAdd, []uint32{0, 0, 2}, []uint32{1}, nnapi.NoError},
	} {
		want(t, x.what, m.AddOperation(x.op, x.inputs, x.outputs), x.code)
	}
	must(m.SetOperandValue(2, make([]byte, 4)))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	want(t, "finish without what was refused", m.Finish(), nnapi.NoError)
}

// TestValueTakenBack: a null value removes one that was set before.
func TestValueTakenBack(t *testing.T) {
	m := nnapi.NewModel()
	matrix := func(d ...uint32) nnapi.OperandType {
		return nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: d}
	}
	for _, x := range []nnapi.OperandType{matrix(1, 1), matrix(40, 1), matrix(40, 3), matrix(40), matrix(1, 120), {Type: nn.Int32}, {Type: nn.Int32}, matrix(1, 120), matrix(1, 40)} {
		must(m.AddOperand(x))
	}
	must(m.SetOperandValue(5, []byte{1, 0, 0, 0}))
	must(m.SetOperandValue(6, make([]byte, 4)))
	must(m.SetOperandValue(3, make([]byte, 160))) // the bias of SVDF, larger than what is copied at once
	want(t, "null", m.SetOperandValue(3, nil), nnapi.NoError)
	must(m.AddOperation(nn.OpSvdf, []uint32{0, 1, 2, 3, 4, 5, 6}, []uint32{7, 8}))
	must(m.IdentifyInputsAndOutputs([]uint32{0, 1, 2, 4}, []uint32{7, 8}))
	want(t, "finish", m.Finish(), nnapi.NoError)
}

// TestModelsNameEachOther: neither waits for the other.
func TestModelsNameEachOther(t *testing.T) {
	a, b := nnapi.NewModel(), nnapi.NewModel()
	for _, m := range []*nnapi.Model{a, b} {
		must(m.AddOperand(nnapi.OperandType{Type: nn.SubgraphRef}))
	}
	want(t, "a model inside itself", a.SetOperandValueFromModel(0, a), nnapi.BadState)
	done := make(chan struct{})
	go func() {
		var wait sync.WaitGroup
		for range 1000 {
			wait.Go(func() { want(t, "unfinished", a.SetOperandValueFromModel(0, b), nnapi.BadState) })
			wait.Go(func() { want(t, "unfinished", b.SetOperandValueFromModel(0, a), nnapi.BadState) })
		}
		wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("two models wait for each other")
	}
}

// TestNoScales: scales per channel need channels.
func TestNoScales(t *testing.T) {
	m := nnapi.NewModel()
	must(m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8SymmPerChannel, Dimensions: []uint32{0, 2}}))
	want(t, "no scales of an unknown dimension", m.SetOperandSymmPerChannelQuantParams(0, nn.ChannelQuant{}), nnapi.BadData)
}

// TestShapeOfArgument: a type that is given with an argument has the rank of the operand, and
// its dimensions where they are known.
func TestShapeOfArgument(t *testing.T) {
	c := compiled(t, openRuntime(), twoOperations())
	for what, dims := range map[string][]uint32{"no rank": nil, "unknown": {0, 0}, "partly unknown": {3, 0}, "another rank": {12}, "others": {4, 3}} {
		e := require.V(nnapi.NewExecution(c))(t)
		x := &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: dims}
		want(t, what+", input", e.SetInput(0, x, make([]byte, 48)), nnapi.BadData)
		want(t, what+", output", e.SetOutput(0, x, make([]byte, 48)), nnapi.BadData)
		want(t, what+", memory", e.SetInputFromMemory(0, x, nnapi.NewMemory(48), 0, 48), nnapi.BadData)
	}
}

// TestShapeOfOutput: an output whose shape the model leaves open has the one that the app gives
// with it, or the execution fails.
func TestShapeOfOutput(t *testing.T) {
	m := nnapi.NewModel()
	open := func(d ...uint32) *nnapi.OperandType {
		return &nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: d}
	}
	must(m.AddOperand(*open(0, 0)))
	must(m.AddOperand(*open(0, 0)))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	must(m.Finish())
	c := compiled(t, openRuntime(), m)
	for _, x := range []struct {
		given *nnapi.OperandType
		room  int
		code  nnapi.ResultCode
	}{
		{nil, 32, nnapi.NoError}, {open(1, 4), 16, nnapi.NoError}, {open(0, 4), 32, nnapi.NoError}, {open(0, 4), 15, nnapi.OutputInsufficientSize},
		{open(2, 4), 32, nnapi.OpFailed}, {open(0, 8), 32, nnapi.OpFailed},
	} {
		e := require.V(nnapi.NewExecution(c))(t)
		must(e.SetInput(0, open(1, 4), floats(1, 2, 3, 4)))
		must(e.SetOutput(0, x.given, make([]byte, x.room)))
		want(t, "compute", e.Compute(), x.code)
	}
	e := require.V(nnapi.NewExecution(c))(t)
	must(e.EnableInputAndOutputPadding(true))
	want(t, "a shape beyond all memory", e.SetInput(0, open(1<<16, 1<<16), make([]byte, 16)), nnapi.BadData)
}

// TestFreed: what an app has freed it cannot use.
func TestFreed(t *testing.T) {
	r := openRuntime()
	c := compiled(t, r, quantizedRelu(), named(t, r, "dsp"))
	burst := require.V(nnapi.NewBurst(c))(t)
	e := require.V(nnapi.NewExecution(c))(t)
	must(e.SetInput(0, nil, make([]byte, 4)))
	must(e.SetOutput(0, nil, make([]byte, 4)))
	must(burst.Free())
	must(burst.Free())
	want(t, "a freed burst", e.BurstCompute(burst), nnapi.BadState)
	want(t, "the execution without it", e.Compute(), nnapi.NoError)

	var d nnapi.MemoryDesc
	must(d.AddInputRole(c, 0, 1))
	must(d.Finish())
	x := require.V(nnapi.NewMemoryFromDesc(&d))(t)
	y := require.V(nnapi.NewMemoryFromDesc(&d))(t)
	must(nnapi.CopyMemory(nnapi.NewMemory(4), x))
	x.Free()
	x.Free()
	want(t, "copy to freed memory", nnapi.CopyMemory(nnapi.NewMemory(4), x), nnapi.BadState)
	want(t, "copy of freed memory", nnapi.CopyMemory(x, y), nnapi.BadState)
	e = require.V(nnapi.NewExecution(c))(t)
	want(t, "freed memory as an input", e.SetInputFromMemory(0, nil, x, 0, 0), nnapi.BadState)
	must(nnapi.CopyMemory(nnapi.NewMemory(4), y))
	want(t, "other memory", e.SetInputFromMemory(0, nil, y, 0, 0), nnapi.NoError)
}

// counter is a WHILE that adds 1 to a number as long as it is below 10.
func counter() *nnapi.Model {
	number := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{1}}
	inner := func(op nn.OperationType, result nnapi.OperandType, constant float32) *nnapi.Model {
		m := nnapi.NewModel()
		must(m.AddOperand(number))
		must(m.AddOperand(number))
		must(m.AddOperand(result))
		must(m.SetOperandValue(1, floats(constant)))
		inputs := []uint32{0, 1}
		if op == nn.OpAdd {
			must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
			must(m.SetOperandValue(3, make([]byte, 4)))
			inputs = append(inputs, 3)
		}
		must(m.AddOperation(op, inputs, []uint32{2}))
		must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
		must(m.Finish())
		return m
	}
	m := nnapi.NewModel()
	must(m.AddOperand(nnapi.OperandType{Type: nn.SubgraphRef}))
	must(m.AddOperand(nnapi.OperandType{Type: nn.SubgraphRef}))
	must(m.AddOperand(number))
	must(m.AddOperand(number))
	must(m.SetOperandValueFromModel(0, inner(nn.OpLess, nnapi.OperandType{Type: nn.TensorBool8, Dimensions: []uint32{1}}, 10)))
	must(m.SetOperandValueFromModel(1, inner(nn.OpAdd, number, 1)))
	must(m.AddOperation(nn.OpWhile, []uint32{0, 1, 2}, []uint32{3}))
	must(m.IdentifyInputsAndOutputs([]uint32{2}, []uint32{3}))
	must(m.Finish())
	return m
}

// TestTimes: times below 0 are no times, and a loop without time ends before its first round.
func TestTimes(t *testing.T) {
	r := openRuntime()
	c := compiled(t, r, counter())
	run := func(from float32, limit time.Duration, code nnapi.ResultCode) {
		e := require.V(nnapi.NewExecution(c))(t)
		must(e.SetLoopTimeout(limit))
		must(e.SetInput(0, nil, floats(from)))
		must(e.SetOutput(0, nil, make([]byte, 4)))
		want(t, "a loop within "+limit.String(), e.Compute(), code)
	}
	run(0, time.Second, nnapi.NoError)
	run(0, math.MaxInt64, nnapi.NoError)
	run(0, 0, nnapi.MissedDeadlineTransient)
	run(10, 0, nnapi.NoError) // no round
	one := require.V(r.NewCompilationForDevices(quantizedRelu(), []*nnapi.Device{named(t, r, "dsp")}))(t)
	want(t, "time to compile", one.SetTimeout(-1), nnapi.BadData)
	must(one.Finish())
	e := require.V(nnapi.NewExecution(one))(t)
	want(t, "time of a loop", e.SetLoopTimeout(-1), nnapi.BadData)
	want(t, "time to execute", e.SetTimeout(-1), nnapi.BadData)
	must(e.SetInput(0, nil, make([]byte, 4)))
	must(e.SetOutput(0, nil, make([]byte, 4)))
	_, err := e.StartComputeWithDependencies(nil, -1)
	want(t, "time after fences", err, nnapi.BadData)
}
