// Package driver proves the HAL's requirements of a driver.
package driver

import (
	"errors"
	"fmt"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// StatusChecks returns the checks of statuses, versions and concurrent calls.
func StatusChecks() []check.Check {
	return []check.Check{
		{Name: "codes of statuses and their down-conversion", Rows: []string{"A0-1", "A0-2", "A0-3", "D3-2"}, Run: statusCodes},
		{Name: "a passed deadline persists, one missed on the way is transient", Rows: []string{"A0-4"}, Run: transient, EachDevice: true},
		{Name: "a device is available at start", Rows: []string{"A0-5", "A1-6", "E1-1"}, Run: available, EachDevice: true},
		{Name: "every version of the interface answers", Rows: []string{"A0-6", "A1-1", "A2-9", "A2-10", "A3-1", "A3-3", "A4-3", "A4-10", "A5-1", "A5-2", "A5-8", "A8-1", "A8-4", "A8-5", "A8-8", "A8-10", "A9-1", "A9-2"}, Run: versions, EachDevice: true},
		{Name: "codes of operand types and operations", Rows: []string{"A0-7", "A0-8", "A3-4", "A8-3", "D2-13", "G2-11"}, Run: codes},
		{Name: "calls from many threads do not disturb each other", Rows: []string{"A0-9", "A2-11", "J-8"}, Run: parallel, EachDevice: true},
	}
}

func statusCodes(t *check.T) {
	for code, want := range []string{"NONE", "DEVICE_UNAVAILABLE", "GENERAL_FAILURE", "OUTPUT_INSUFFICIENT_SIZE", "INVALID_ARGUMENT",
		"MISSED_DEADLINE_TRANSIENT", "MISSED_DEADLINE_PERSISTENT", "RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_PERSISTENT"} {
		s := hal.Status(code)
		check.Equal(t, fmt.Sprint("status ", code), s.String(), want)
		old := s
		if code > 4 {
			old = hal.GeneralFailure
		}
		check.Equal(t, want+" in HAL 1.2", s.ToV1_2(), old)
	}
	for s, old := range map[hal.Status]hal.Status{hal.ResourceExhaustedTransient: hal.GeneralFailure, hal.DeviceUnavailable: hal.DeviceUnavailable} {
		failing, err := sample.NewSynthetic("fails", check.NewPicky("fails", nn.OpAdd), map[sample.Call]sample.Fault{sample.CallPrepareModel: {Status: s}})
		t.OK("driver", err)
		d, m := compat.NewDevice(failing), check.AddModel(nn.TensorFloat32)
		told := make(chan hal.Status, 1)
		cb := func(s hal.Status, _ *compat.PreparedModel) { told <- s }
		d.PrepareModel_1_2(m, hal.FastSingleAnswer, hal.Cache{}, cb)
		check.Equal(t, s.String()+" in HAL 1.2", <-told, old)
		d.PrepareModel_1_3(m, hal.PrepareOptions{}, cb)
		check.Equal(t, s.String()+" in HAL 1.3", <-told, s)
		back, err := burst.ParseResult((&burst.ResultMessage{Status: s, Timing: hal.NoTiming}).Packet())
		t.OK(s.String()+" in a packet", err)
		check.Equal(t, s.String()+" in a packet", back.Status, old)
	}
	check.Equal(t, "status of a wrapped error", hal.StatusOf(fmt.Errorf("x: %w", hal.Errorf(hal.DeviceUnavailable, "y"))), hal.DeviceUnavailable)
	check.Equal(t, "status of any other error", hal.StatusOf(errors.New("x")), hal.GeneralFailure)
}

func transient(t *check.T) {
	p, m := t.Adder()
	b, _ := check.Sums(m)
	now := t.Device.Now()
	b.Deadline = &now
	t.Status("a deadline that has passed", check.Err(hal.Execute(p, b)), hal.MissedDeadlinePersistent)
	soon := t.Device.Now() + 1 // a nanosecond is shorter than any execution
	b.Deadline = &soon
	t.Status("a deadline during the execution", check.Err(hal.Execute(p, b)), hal.MissedDeadlineTransient)
	never := hal.MaxTimePoint
	b.Deadline = &never
	_, err := hal.Execute(p, b)
	t.OK("a deadline far away", err)
}

func available(t *check.T) {
	check.Equal(t, "status", t.Device.Status(), hal.DeviceAvailable)
	for s, want := range []string{"AVAILABLE", "BUSY", "OFFLINE", "UNKNOWN"} {
		check.Equal(t, "name of a status", hal.DeviceStatus(s).String(), want)
	}
}

// notified waits for a prepared model that a callback brings.
func notified(t *check.T, what string, call func(cb compat.PreparedModelCallback) hal.Status) *compat.PreparedModel {
	type reply struct {
		status hal.Status
		p      *compat.PreparedModel
	}
	ch := make(chan reply, 4)
	launch := call(func(s hal.Status, p *compat.PreparedModel) { ch <- reply{s, p} })
	a := <-ch
	if launch != hal.StatusNone {
		check.Equal(t, what+": callback", a.status, launch)
	}
	t.Check((a.p == nil) == (a.status != hal.StatusNone), "%s: status %v with prepared model %v", what, a.status, a.p != nil)
	if a.status != hal.StatusNone {
		t.Fatalf("%s: %v", what, a.status)
	}
	return a.p
}

func versions(t *check.T) {
	d := compat.NewDevice(t.Device)
	m := t.Supported(check.AddModel)
	for _, v := range []compat.Version{compat.V1_0, compat.V1_1, compat.V1_2, compat.V1_3} {
		status, answers := d.GetSupportedOperations(v, m)
		check.Equal(t, "getSupportedOperations", status, hal.StatusNone)
		check.Equal(t, "answers", len(answers), 1)
	}
	o := hal.PrepareOptions{Preference: hal.LowPower, Priority: hal.PriorityLow}
	for k, p := range []*compat.PreparedModel{
		notified(t, "prepareModel", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel(m, cb) }),
		notified(t, "prepareModel_1_1", func(cb compat.PreparedModelCallback) hal.Status {
			return d.PrepareModel_1_1(m, hal.SustainedSpeed, cb)
		}),
		notified(t, "prepareModel_1_2", func(cb compat.PreparedModelCallback) hal.Status {
			return d.PrepareModel_1_2(m, hal.FastSingleAnswer, hal.Cache{}, cb)
		}),
		notified(t, "prepareModel_1_3", func(cb compat.PreparedModelCallback) hal.Status { return d.PrepareModel_1_3(m, o, cb) }),
	} {
		var wait sync.WaitGroup
		wait.Add(1)
		b, want := check.Sums(m)
		calls := 0
		cb := func(s hal.Status, shapes []hal.OutputShape, timing hal.Timing) {
			defer wait.Done()
			calls++
			check.Equal(t, "execution", s, hal.StatusNone)
			t.Check(k != 0 || shapes == nil && timing == hal.NoTiming, "notify of HAL 1.0 has shapes or timing")
			t.Check(k != 3 || len(shapes) == 1, "%d shapes", len(shapes))
		}
		var launch hal.Status
		switch k {
		case 0, 1:
			launch = p.Execute(b.Request(), cb)
		case 2:
			launch = p.Execute_1_2(b.Request(), true, cb)
		case 3:
			launch = p.Execute_1_3(b.Request(), true, nil, 0, cb)
		}
		check.Equal(t, "launch", launch, hal.StatusNone)
		wait.Wait()
		check.Equal(t, "calls of the callback", calls, 1)
		t.Same("asynchronous execution", b.Outputs[0], want)
		clear(b.Outputs[0])
		if k < 2 {
			continue
		}
		status, shapes, timing := p.ExecuteSynchronously(b.Request(), false)
		check.Equal(t, "executeSynchronously", status, hal.StatusNone)
		check.Equal(t, "shapes", len(shapes), 1)
		check.Equal(t, "timing that nobody asked for", timing, hal.NoTiming)
		t.Same("executeSynchronously", b.Outputs[0], want)
	}
}

func codes(t *check.T) {
	types := map[nn.OperandType]string{0: "FLOAT32", 1: "INT32", 2: "UINT32", 3: "TENSOR_FLOAT32", 4: "TENSOR_INT32", 5: "TENSOR_QUANT8_ASYMM",
		6: "BOOL", 7: "TENSOR_QUANT16_SYMM", 8: "TENSOR_FLOAT16", 9: "TENSOR_BOOL8", 10: "FLOAT16", 11: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
		12: "TENSOR_QUANT16_ASYMM", 13: "TENSOR_QUANT8_SYMM", 14: "TENSOR_QUANT8_ASYMM_SIGNED", 15: "SUBGRAPH"}
	for code, want := range types {
		check.Equal(t, "operand type", code.String(), want)
		v := compat.V1_0
		if code > 5 {
			v = compat.V1_2
		}
		if code > 13 {
			v = compat.V1_3
		}
		check.Equal(t, "version of "+want, compat.OperandTypeVersion(code), v)
	}
	t.Check(!nn.OperandType(16).Valid() && !nn.OperandType(-1).Valid(), "there are more operand types")
	for code, want := range map[nn.OperationType]string{0: "ADD", 28: "TANH", 29: "BATCH_TO_SPACE_ND", 37: "TRANSPOSE", 38: "ABS", 94: "RESIZE_NEAREST_NEIGHBOR", 95: "QUANTIZED_LSTM", 101: "RANK"} {
		check.Equal(t, "operation", code.String(), want)
	}
	const later = 102 // operations from here on are of no HIDL interface
	numbers := map[compat.Version]int{}
	for op := range nn.OperationType(later) {
		row := opspec.Standard().Lookup(op)
		if row == nil || row.Since > opspec.V13 {
			t.Errorf("%s is no operation up to HAL 1.3", op)
			continue
		}
		for v := compat.Version(row.Since - opspec.V10); v <= compat.V1_3; v++ {
			numbers[v]++
		}
	}
	check.Equal(t, "operations by version", fmt.Sprint(numbers), "map[1.0:29 1.1:38 1.2:95 1.3:102]")
	for code, want := range []string{"TEMPORARY_VARIABLE", "SUBGRAPH_INPUT", "SUBGRAPH_OUTPUT", "CONSTANT_COPY", "CONSTANT_REFERENCE", "NO_VALUE", "SUBGRAPH"} {
		check.Equal(t, "lifetime", (nn.TemporaryVariable + nn.Lifetime(code)).String(), want)
	}
}

func parallel(t *check.T) {
	var models [2]*nn.Model
	models[0] = t.Supported(check.AddModel)
	models[1] = t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, 2, 3) })
	var prepared [2]hal.PreparedModel
	for i, m := range models {
		prepared[i] = t.Prepare(m, hal.PrepareOptions{})
	}
	var wait sync.WaitGroup
	errs := make(chan error, 64)
	for k := range 16 {
		wait.Go(func() {
			if k%4 == 3 { // others query and compile meanwhile
				if _, err := t.Device.SupportedOperations(models[1]); err != nil {
					errs <- err
				}
				if _, err := t.Device.PrepareModel(models[0], hal.PrepareOptions{}); err != nil {
					errs <- err
				}
				return
			}
			b, want := check.Sums(models[0])
			if k%2 == 1 {
				in := []byte{2, 3, 4, 2, 9, 2}
				if models[1].Main.Operands[0].Type == nn.TensorFloat32 {
					in = make([]byte, 24)
				}
				b, want = &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, len(in))}}, in
			}
			if _, err := hal.Execute(prepared[k%2], b); err != nil {
				errs <- err
			} else if string(b.Outputs[0]) != string(want) {
				errs <- fmt.Errorf("execution %d gives %v, want %v", k, b.Outputs[0], want)
			}
		})
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		t.Errorf("%v", err)
	}
}
