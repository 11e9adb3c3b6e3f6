package base_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
)

// refused reports a call that does not end with INVALID_ARGUMENT and this text.
func refused(t *testing.T, name string, err error, text string) {
	t.Helper()
	if hal.StatusOf(err) != hal.InvalidArgument || err.Error() != "toy driver: "+text {
		t.Errorf("%s: %v, want %s", name, err, text)
	}
}

// TestDeviceMemory: device memory holds a value from when it is copied to or written by an execution that succeeds until
// one that writes it begins, in its roles only, and once where it is an output.
func TestDeviceMemory(t *testing.T) {
	d := behaved()
	dev := device(d)
	p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{}))(t)
	d.execute = func(b *hal.Buffers) (*hal.Result, error) {
		for i := range b.Outputs[0] {
			b.Outputs[0][i] = b.Inputs[0][i] + 1
		}
		return &hal.Result{OutputDimensions: [][]uint32{{4}}}, nil
	}
	allocate := func(input, output bool) hal.Buffer {
		t.Helper()
		var roles [2][]hal.BufferRole
		for k, has := range [2]bool{input, output} {
			if has {
				roles[k] = []hal.BufferRole{{Frequency: 1}}
			}
		}
		b := require.V(dev.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, roles[0], roles[1]))(t)
		return b
	}
	in, out, both := allocate(true, false), allocate(false, true), allocate(true, true)
	run := func(in, out hal.Buffer) error {
		r := request().Request()
		for k, b := range [2]hal.Buffer{in, out} {
			if b != nil {
				r.Pools[k] = hal.RequestPool{Token: b.Token()}
				args := [2][]hal.RequestArgument{r.Inputs, r.Outputs}[k]
				args[0].Location.Length = 0
			}
		}
		_, err := p.Execute(r, hal.ExecuteOptions{})
		return err
	}
	value := func(b hal.Buffer) (byte, error) {
		m := hal.NewMemory(16)
		err := b.CopyTo(m)
		return m.Data[0], err
	}
	status := func(name string, err error, want hal.Status) {
		t.Helper()
		if hal.StatusOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	status("read before it has a value", run(in, nil), hal.GeneralFailure)
	_, err := value(out)
	status("copied before it has a value", err, hal.GeneralFailure)
	m := hal.NewMemory(16)
	m.Data[0] = 5
	status("copy", in.CopyFrom(m, nil), hal.StatusNone)
	status("in and out", run(in, out), hal.StatusNone)
	if v, err := value(out); v != 6 || err != nil {
		t.Errorf("output %d, %v", v, err)
	}
	refused(t, "an output as input", run(out, nil), "input 0: device memory 2 was not allocated for this use")
	refused(t, "an input as output", run(nil, in), "output 0: device memory 1 was not allocated for this use")
	status("output alone", run(nil, both), hal.StatusNone)
	status("written, then read", run(both, out), hal.StatusNone)
	refused(t, "both at once", run(both, both), "device memory 3 is used twice, once as an output")
	if v, err := value(out); v != 2 || err != nil {
		t.Errorf("output %d, %v", v, err)
	}
	d.execute = func(*hal.Buffers) (*hal.Result, error) { return nil, errors.New("bad") }
	status("an execution that fails", run(in, out), hal.GeneralFailure)
	_, err = value(out)
	status("what it should have written", err, hal.GeneralFailure)
	if v, err := value(in); v != 5 || err != nil {
		t.Errorf("input %d, %v", v, err)
	}
	in.Release()
	refused(t, "released", run(in, nil), "input 0: no device memory has token 1")
}

// TestDeviceMemoryShape: a request may name the shape of device memory, and no other.
func TestDeviceMemoryShape(t *testing.T) {
	dev, m := device(behaved()), relu()
	m.Main.Operands[0].Dimensions = []uint32{0}
	p := require.V(dev.PrepareModel(m, hal.PrepareOptions{}))(t)
	b := require.V(dev.Allocate(hal.BufferDesc{Dimensions: []uint32{4}}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil))(t)
	require.NoError(t, b.CopyFrom(hal.NewMemory(16), nil))
	for dim, refusal := range map[uint32]string{4: "", 3: "input 0: dimensions [3] for device memory of [4]"} {
		r := request().Request()
		r.Pools[0], r.Inputs[0].Location.Length, r.Inputs[0].Dimensions = hal.RequestPool{Token: b.Token()}, 0, []uint32{dim}
		if _, err := p.Execute(r, hal.ExecuteOptions{}); refusal != "" {
			refused(t, "another shape", err, refusal)
		} else {
			require.NoError(t, err)
		}
	}
}

// TestHardwareBuffer: no argument may be one, of whose layout a driver knows nothing.
func TestHardwareBuffer(t *testing.T) {
	p := require.V(device(behaved()).PrepareModel(relu(), hal.PrepareOptions{}))(t)
	for k := range 2 {
		r := request().Request()
		r.Pools[k].Memory.Name = hal.HardwareBuffer
		_, err := p.Execute(r, hal.ExecuteOptions{})
		require.ErrorContains(t, err, fmt.Sprintf("toy driver: pool %d is a hardware buffer", k), "pool", k)
	}
}

// TestFencedTiming: an execution between fences reports times if that is requested and it succeeds.
func TestFencedTiming(t *testing.T) {
	for _, c := range []struct{ measure, fails, want bool }{{false, false, false}, {true, false, true}, {true, true, false}, {false, true, false}} {
		d := behaved()
		dev := device(d)
		p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{}))(t)
		start := dev.Now()
		d.execute = func(*hal.Buffers) (*hal.Result, error) {
			return &hal.Result{OutputDimensions: [][]uint32{{4}}, Stats: hal.Stats{LatencyFs: 5e9}}, nil
		}
		if c.fails {
			d.execute = func(*hal.Buffers) (*hal.Result, error) { return nil, errors.New("bad") }
		}
		f := require.V(p.ExecuteFenced(request().Request(), nil, hal.ExecuteOptions{MeasureTiming: c.measure}, 0))(t)
		<-f.Fence.Done()
		if at, _ := f.Fence.SignalTime(); !c.fails && at != start+5000 {
			t.Errorf("ends at %d, begun at %d", at, start)
		}
		info, err := f.ExecutionInfo()
		if (err != nil) != c.fails || (info.TimingLaunched != hal.NoTiming) != c.want || (info.TimingFenced != hal.NoTiming) != c.want || (info.Result == nil) != c.fails {
			t.Errorf("%+v: %+v, %v", c, info, err)
		}
	}
}

// TestAfterFence: an execution has so long from the last of its fences on, where it has some, and none longer than its deadline.
func TestAfterFence(t *testing.T) {
	const at = hal.TimePoint(7_000_000)
	early := at + 1000
	for _, c := range []struct {
		what     string
		fences   int
		after    time.Duration
		deadline *hal.TimePoint
		want     hal.TimePoint // 0: none
	}{
		{"fences alone", 2, 0, nil, 0},
		{"a duration and fences", 2, 5000, nil, at + 5000},
		{"a duration without fences", 0, 5000, nil, 0},
		{"an earlier deadline", 1, 5000, &early, early},
		{"a later deadline", 1, 500, &early, at + 500},
	} {
		d := behaved()
		p := require.V(device(d).PrepareModel(relu(), hal.PrepareOptions{}))(t)
		var got hal.TimePoint
		d.execute = func(b *hal.Buffers) (*hal.Result, error) {
			if b.Deadline != nil {
				got = *b.Deadline
			}
			return &hal.Result{OutputDimensions: [][]uint32{{4}}}, nil
		}
		var fences []*hal.SyncFence
		for i := range c.fences {
			fences = append(fences, hal.NewSyncFence())
			fences[i].Signal(at-hal.TimePoint(i), nil)
		}
		f := require.V(p.ExecuteFenced(request().Request(), fences, hal.ExecuteOptions{Deadline: c.deadline}, c.after))(t)
		if <-f.Fence.Done(); got != c.want {
			_, err := f.ExecutionInfo()
			t.Errorf("%s: until %d, want %d; %v", c.what, got, c.want, err)
		}
	}
}

// TestBusy: a reusable execution computes one thing at a time.
func TestBusy(t *testing.T) {
	d := behaved()
	p := require.V(device(d).PrepareModel(relu(), hal.PrepareOptions{}))(t)
	e := require.V(p.CreateReusableExecution(request().Request(), hal.ExecuteOptions{}))(t)
	end := make(chan bool)
	behave := d.execute
	d.execute = func(b *hal.Buffers) (*hal.Result, error) { <-end; return behave(b) }
	for range 2 {
		f, err := e.ComputeFenced(nil, 0)
		for hal.StatusOf(err) == hal.GeneralFailure { // of the round before, whose fence has signalled
			f, err = e.ComputeFenced(nil, 0)
		}
		require.NoError(t, err)
		_, again := e.Compute()
		_, fenced := e.ComputeFenced(nil, 0)
		for _, err := range []error{again, fenced} {
			if err == nil || err.Error() != "toy driver: a computation of this execution has not ended" {
				t.Errorf("beside another: %v", err)
			}
		}
		end <- true
		<-f.Fence.Done()
	}
}

// TestPanicEnds: after a call that panicked, here about a request that the caller shortened, an execution computes again.
func TestPanicEnds(t *testing.T) {
	p := require.V(device(behaved()).PrepareModel(relu(), hal.PrepareOptions{}))(t)
	r := request().Request()
	e := require.V(p.CreateReusableExecution(r, hal.ExecuteOptions{}))(t)
	outputs := r.Outputs
	r.Outputs = nil
	_, err := e.ComputeFenced(nil, 0)
	require.Fails(t, err, "toy: panic in ComputeFenced: ")
	r.Outputs = outputs
	require.V(e.Compute())(t)
	f := require.V(e.ComputeFenced(nil, 0))(t)
	<-f.Fence.Done()
}
