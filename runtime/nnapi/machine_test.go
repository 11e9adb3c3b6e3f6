package nnapi_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// phone is a runtime on one machine.
func phone(t testing.TB) (*nnapi.Runtime, *devices.Machine) {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	list := m.Devices()
	r := require.V(nnapi.NewRuntime(list[0], list[1:]...))(t)
	r.SetMachine(m)
	t.Cleanup(func() { must(r.Close()) })
	return r, m
}

// sumOf adds a tensor of n KiB to itself.
func sumOf(n uint32) *nnapi.Model {
	m := nnapi.NewModel()
	tensor := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, n, 32, 32}, Scale: 1}
	must(m.AddOperand(tensor))
	must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	must(m.SetOperandValue(1, make([]byte, 4)))
	must(m.AddOperand(tensor))
	must(m.AddOperation(nn.OpAdd, []uint32{0, 0, 1}, []uint32{2}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
	must(m.Finish())
	return m
}

// app compiles sums for a device of a runtime.
type app struct {
	c  *nnapi.Compilation
	kb uint32
}

func newApp(r *nnapi.Runtime, device string, kb uint32, p nnapi.Priority) *app {
	for i := range r.DeviceCount() {
		d, err := r.Device(i)
		must(err)
		if d.Name() != device {
			continue
		}
		c, err := r.NewCompilationForDevices(sumOf(kb), []*nnapi.Device{d})
		must(err)
		must(c.SetPriority(p))
		must(c.Finish())
		return &app{c, kb}
	}
	panic("no device " + device)
}

// execution is one of an app, and what it must come to.
func (a *app) execution(x byte) (e *nnapi.Execution, out, want []byte) {
	e, err := nnapi.NewExecution(a.c)
	must(err)
	must(e.SetMeasureTiming(true))
	in := bytes.Repeat([]byte{x}, int(a.kb)<<10)
	out = make([]byte, len(in))
	must(e.SetInput(0, nil, in))
	must(e.SetOutput(0, nil, out))
	return e, out, bytes.Repeat([]byte{2 * x}, len(in))
}

// TestExecutionsShareThePhone: executions that were started and not waited for run beside
// each other; one that depends on another begins at its end; of those that wait for an
// engine the one of higher priority goes first; the same happens twice.
func TestExecutionsShareThePhone(t *testing.T) {
	var first string
	for range 2 {
		r, m := phone(t)
		dsp, npu := newApp(r, "dsp", 256, nnapi.PriorityMedium), newApp(r, "npu", 256, nnapi.PriorityMedium)
		alone := func(a *app) float64 {
			e, _, _ := a.execution(1)
			must(e.Compute())
			start := m.SoC().Now()
			e, _, _ = a.execution(1)
			must(e.Compute())
			return (m.SoC().Now() - start).Microseconds()
		}
		one, other := alone(dsp), alone(npu)

		start := m.SoC().Now()
		a, aOut, aWant := dsp.execution(3)
		b, bOut, bWant := npu.execution(4)
		after, cOut, cWant := npu.execution(5)
		va := require.V(a.StartCompute())(t)
		vb := require.V(b.StartCompute())(t)
		vc := require.V(after.StartComputeWithDependencies([]*nnapi.Event{va, vb}, 0))(t)
		must(va.Wait())
		must(vb.Wait())
		both := (m.SoC().Now() - start).Microseconds()
		must(vc.Wait())
		must(vc.Wait()) // again
		all := (m.SoC().Now() - start).Microseconds()
		require.Check(t, both < one+other && both >= max(one, other), "%v us together, %v and %v us alone", both, one, other)
		require.Check(t, all >= both+0.5*other, "%v us with one more after them, %v us without", all, both)
		require.Check(t, bytes.Equal(aOut, aWant) && bytes.Equal(bOut, bWant) && bytes.Equal(cOut, cWant), "wrong sums")

		// Three wait for the DSP behind a fourth.
		var events []*nnapi.Event
		var list []*nnapi.Execution
		big := newApp(r, "dsp", 2048, nnapi.PriorityMedium)
		for i, p := range []nnapi.Priority{nnapi.PriorityMedium, nnapi.PriorityLow, nnapi.PriorityMedium, nnapi.PriorityHigh} {
			x := big
			if i > 0 {
				x = newApp(r, "dsp", 2048, p)
			}
			e, _, _ := x.execution(byte(i))
			v := require.V(e.StartCompute())(t)
			list, events = append(list, e), append(events, v)
		}
		var took []uint64
		for i, v := range events {
			must(v.Wait())
			ns := require.V(list[i].Duration(nnapi.InDriver))(t)
			took = append(took, ns)
		}
		if !(took[3] < took[2] && took[2] < took[1]) {
			t.Errorf("low, medium and high priority take %v ns", took[1:])
		}
		text := fmt.Sprint(one, other, both, all, took)
		require.Check(t, first == "" || text == first, "%s, then %s", first, text)
		first = text
	}
}

// TestManyExecutions: 64 threads of an application that compute and start executions on
// all engines of one phone get their own results, and nothing is left of executions that
// nobody has waited for.
func TestManyExecutions(t *testing.T) {
	before := runtime.NumGoroutine()
	r, _ := phone(t)
	apps := []*app{newApp(r, "dsp", 4, nnapi.PriorityLow), newApp(r, "npu", 4, nnapi.PriorityHigh), newApp(r, nnapi.ReferenceName, 4, nnapi.PriorityMedium)}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			a := apps[i%len(apps)]
			e, out, want := a.execution(byte(i))
			f, fOut, fWant := apps[(i+1)%len(apps)].execution(byte(i + 1))
			v, err := f.StartCompute()
			must(err)
			must(e.Compute())
			if i%4 > 0 {
				must(v.Wait())
				require.Check(t, bytes.Equal(fOut, fWant), "thread %d: the started execution is wrong", i)
			}
			require.Check(t, bytes.Equal(out, want), "thread %d: wrong sum", i)
		})
	}
	wg.Wait()
	must(r.Close())
	for range 6000 { // goroutines end a moment after their last word; on a busy host a long one
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
