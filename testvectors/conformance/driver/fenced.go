package driver

import (
	"context"
	"errors"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// FencedChecks returns the checks of fenced executions.
func FencedChecks() []check.Check {
	return []check.Check{
		{Name: "an execution waits for fences and signals one", Rows: []string{"A9-4", "A9-7", "A11-6", "E1-5", "D3-13"}, Run: fences, EachDevice: true},
		{Name: "bad fences and open outputs are refused", Rows: []string{"A9-5", "A9-6", "E3-4", "I4-6"}, Run: fencedArguments, EachDevice: true},
		{Name: "an error, a deadline or a timeout ends in the fence", Rows: []string{"A9-7", "A9-8", "A9-10"}, Run: fencedFailures, EachDevice: true},
		{Name: "execution info before and after", Rows: []string{"A9-9"}, Run: executionInfo, EachDevice: true},
		{Name: "device memory is looked at when the execution starts", Rows: []string{"A9-11"}, Run: fencedMemory, EachDevice: true},
	}
}

func fences(t *check.T) {
	p, m := t.Adder()
	first, second := hal.NewSyncFence(), hal.NewSyncFence()
	b, want := check.Sums(m)
	f := check.V(p.ExecuteFenced(b.Request(), []*hal.SyncFence{first, second}, hal.ExecuteOptions{}, 0))(t, "executeFenced")
	c, _ := check.Sums(m)
	c.Inputs[1] = c.Inputs[0]
	next := check.V(p.ExecuteFenced(c.Request(), []*hal.SyncFence{f.Fence}, hal.ExecuteOptions{}, 0))(t, "executeFenced")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	second.Signal(7, nil)
	check.Equal(t, "state before the last fence", f.Fence.Wait(ended), hal.FenceActive)
	first.Signal(t.Device.Now(), nil)
	check.Equal(t, "state after the fences", f.Fence.Wait(context.Background()), hal.FenceSignaled)
	t.Same("fenced", b.Outputs[0], want)
	check.Equal(t, "state of the next in the chain", next.Fence.Wait(context.Background()), hal.FenceSignaled)
	at, _ := f.Fence.SignalTime()
	after, _ := next.Fence.SignalTime()
	t.Check(after > at, "the next execution ends at %d, the one before at %d", after, at)
	early, late := hal.NewSyncFence(), hal.NewSyncFence()
	d, _ := check.Sums(m)
	f = check.V(p.ExecuteFenced(d.Request(), []*hal.SyncFence{early, late}, hal.ExecuteOptions{}, 0))(t, "executeFenced")
	early.Signal(t.Device.Now(), nil)
	soon, done := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer done()
	check.Equal(t, "state when the last fence is late", f.Fence.Wait(soon), hal.FenceActive)
	late.Signal(t.Device.Now(), nil)
	check.Equal(t, "state when all have signalled", f.Fence.Wait(context.Background()), hal.FenceSignaled)
	check.Equal(t, "state of no fence", (*hal.SyncFence)(nil).State(), hal.FenceUnknown)
	for s, want := range []string{"ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"} {
		check.Equal(t, "name of a state", hal.FenceState(s).String(), want)
	}
}

func fencedArguments(t *check.T) {
	p, m := t.Adder()
	b, _ := check.Sums(m)
	for name, list := range map[string][]*hal.SyncFence{"null": {nil}, "empty": {{}}, "a good and a null": {hal.NewSyncFence(), nil}} {
		f, err := p.ExecuteFenced(b.Request(), list, hal.ExecuteOptions{}, 0)
		t.Status(name+" fence", err, hal.InvalidArgument)
		t.Check(f == nil, "%s fence: there is an execution", name)
	}
	open := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ) })
	n := 6 * open.Main.Operands[0].Type.ElementBytes()
	c := &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}}
	q := t.Prepare(open, hal.PrepareOptions{})
	t.Status("an open output", check.Err(q.ExecuteFenced(c.Request(), nil, hal.ExecuteOptions{}, 0)), hal.InvalidArgument)
	r := c.Request()
	r.Outputs[0].Dimensions = []uint32{0, 3}
	t.Status("an output of no rows", check.Err(q.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)), hal.InvalidArgument)
	r.Outputs[0].Dimensions = []uint32{2, 3}
	f := check.V(q.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0))(t, "an output that the request completes")
	check.Equal(t, "its fence", f.Fence.Wait(context.Background()), hal.FenceSignaled)
}

func fencedFailures(t *check.T) {
	p, m := t.Adder()
	b, _ := check.Sums(m)
	run := func(waitFor []*hal.SyncFence, o hal.ExecuteOptions, f func(f *hal.FencedExecution), want ...hal.Status) {
		x := check.V(p.ExecuteFenced(b.Request(), waitFor, o, 1))(t, "executeFenced")
		f(x)
		check.Equal(t, "fence", x.Fence.Wait(context.Background()), hal.FenceError)
		info, err := x.ExecutionInfo()
		t.Status("execution info", err, want...)
		t.Check(info.TimingLaunched == hal.NoTiming && info.TimingFenced == hal.NoTiming, "timing of a failed execution")
	}
	measure := hal.ExecuteOptions{MeasureTiming: true}
	broken := hal.NewSyncFence()
	run([]*hal.SyncFence{broken, hal.NewSyncFence()}, measure, func(*hal.FencedExecution) { broken.Signal(0, errors.New("lost")) }, hal.GeneralFailure)
	// 1 ns after the fence is too short for any execution.
	good := hal.NewSyncFence()
	good.Signal(t.Device.Now(), nil)
	run([]*hal.SyncFence{good}, measure, func(*hal.FencedExecution) {}, hal.MissedDeadlineTransient)
	// The time after the fences counts from their signal, and of two bounds the nearer holds.
	later := hal.NewSyncFence()
	later.Signal(t.Device.Now().Add(10*time.Second), nil)
	x, err := p.ExecuteFenced(b.Request(), []*hal.SyncFence{later}, hal.ExecuteOptions{}, time.Second)
	t.OK("a second after a fence", err)
	check.Equal(t, "fence of an execution that has a second", x.Fence.Wait(context.Background()), hal.FenceSignaled)
	start := hal.NewSyncFence()
	start.Signal(t.Device.Now(), nil)
	near := t.Device.Now() + 1
	x, err = p.ExecuteFenced(b.Request(), []*hal.SyncFence{start}, hal.ExecuteOptions{Deadline: &near}, time.Hour)
	t.OK("a deadline before the timeout", err)
	check.Equal(t, "fence of an execution whose deadline is nearer", x.Fence.Wait(context.Background()), hal.FenceError)
	far := hal.MaxTimePoint
	x, err = p.ExecuteFenced(b.Request(), []*hal.SyncFence{start}, hal.ExecuteOptions{Deadline: &far}, 1)
	t.OK("a timeout before the deadline", err)
	check.Equal(t, "fence of an execution whose timeout is nearer", x.Fence.Wait(context.Background()), hal.FenceError)
	now := t.Device.Now()
	measure.Deadline = &now
	run([]*hal.SyncFence{good}, measure, func(*hal.FencedExecution) {}, hal.MissedDeadlinePersistent, hal.MissedDeadlineTransient)
	// The deadline passes while a fence does not signal: others' work moves the clock.
	soon := t.Device.Now() + 1
	measure.Deadline = &soon
	run([]*hal.SyncFence{hal.NewSyncFence()}, measure, func(*hal.FencedExecution) { t.Compute("another execution", p, m) }, hal.MissedDeadlineTransient)
}

func executionInfo(t *check.T) {
	p, m := t.Adder()
	for _, measure := range []bool{false, true} {
		early, fence := hal.NewSyncFence(), hal.NewSyncFence()
		early.Signal(t.Device.Now(), nil)
		b, _ := check.Sums(m)
		f, err := p.ExecuteFenced(b.Request(), []*hal.SyncFence{early, fence}, hal.ExecuteOptions{MeasureTiming: measure}, 0)
		t.OK("executeFenced", err)
		t.Status("before the end", check.Err(f.ExecutionInfo()), hal.GeneralFailure)
		const waited = 3e6 // ns
		fence.Signal(t.Device.Now()+waited, nil)
		<-f.Fence.Done()
		info := check.V(f.ExecutionInfo())(t, "after the end")
		if !measure {
			t.Check(info.TimingLaunched == hal.NoTiming && info.TimingFenced == hal.NoTiming, "timing that nobody asked for")
			continue
		}
		if info.TimingFenced.InDriver == hal.NoTime || info.TimingLaunched.InDriver < info.TimingFenced.InDriver+waited/1000-1 {
			t.Errorf("%d us since the call, %d since the fence that signalled 3 ms after it", info.TimingLaunched.InDriver, info.TimingFenced.InDriver)
		}
	}
}

func fencedMemory(t *check.T) {
	p, m := t.Adder()
	buffer := t.Allocate(p, 1, 0)
	fence := hal.NewSyncFence()
	write, _ := check.ShareOutput(m, buffer)
	f := check.V(p.ExecuteFenced(write, []*hal.SyncFence{fence}, hal.ExecuteOptions{}, 0))(t, "the writer")
	read, out, want := check.ShareInput(m, buffer)
	g, err := p.ExecuteFenced(read, []*hal.SyncFence{f.Fence}, hal.ExecuteOptions{}, 0)
	t.OK("a reader of memory that is not written yet", err)
	fence.Signal(0, nil)
	check.Equal(t, "the reader", g.Fence.Wait(context.Background()), hal.FenceSignaled)
	if len(want) > 0 {
		t.Same("the reader", out, want)
	}
}
