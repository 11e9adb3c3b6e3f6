package driver

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// BurstChecks returns the checks of bursts and their queues.
func BurstChecks() []check.Check {
	return []check.Check{
		{Name: "a burst computes what synchronous execution computes", Rows: []string{"A5-9", "A6-8", "E1-2"}, Run: burstComputes, EachDevice: true},
		{Name: "a burst without callback or valid queue is refused", Rows: []string{"A6-1"}, Run: burstArguments, EachDevice: true},
		{Name: "kinds, order and sizes of datums", Rows: []string{"A6-3", "A6-4", "A6-5", "A6-6", "A6-12", "E4-5", "I4-19"}, Run: burstDatums},
		{Name: "packets travel in one piece", Rows: []string{"A6-2", "A6-7"}, Run: queuePackets},
		{Name: "malformed packets are answered and the burst goes on", Rows: []string{"A6-9", "E4-1", "E4-2", "E4-3", "E4-6", "I4-8"}, Run: burstMalformed, EachDevice: true},
		{Name: "a result that the queue cannot hold is an error", Rows: []string{"A6-10", "E4-4"}, Run: burstSmallResults, EachDevice: true},
		{Name: "a request that the queue cannot hold goes another way", Rows: []string{"A6-11", "A6-21", "I4-8"}, Run: burstFallback, EachDevice: true},
		{Name: "slots name memories while they are held", Rows: []string{"A6-15"}, Run: slotNumbers},
		{Name: "memories travel as slots and are asked for once", Rows: []string{"A6-13", "A6-14", "A6-16", "A6-17", "E3-3"}, Run: burstSlots, EachDevice: true},
		{Name: "an end of a burst has one execution at a time", Rows: []string{"A6-8"}, Run: oneAtATime},
		{Name: "a driver polls unless power is dear", Rows: []string{"A6-18"}, Run: pollWindow, EachDevice: true, InProcess: true},
		{Name: "a burst ends, and a dead peer is noticed", Rows: []string{"A6-19", "A6-20"}, Run: burstEnds, EachDevice: true},
	}
}

func burstComputes(t *check.T) {
	p, m := t.Adder()
	b := check.V(p.ConfigureExecutionBurst())(t, "configureExecutionBurst")
	defer b.Close()
	for range 3 {
		buffers, want := check.Sums(m)
		res := check.V(b.Execute(buffers.Request(), hal.ExecuteOptions{MeasureTiming: true}))(t, "burst")
		t.Same("burst", buffers.Outputs[0], want)
		t.Check(len(res.OutputDimensions) == 1 && slices.Equal(res.OutputDimensions[0], []uint32{2, 3}), "shapes %v", res.OutputDimensions)
		check.Measured(t, res)
	}
	for range 80 { // more memories than an end keeps mapped
		buffers, want := check.Sums(m)
		_, err := b.Execute(buffers.Request(), hal.ExecuteOptions{})
		t.OK("burst with another memory", err)
		t.Same("burst with another memory", buffers.Outputs[0], want)
	}
}

// server is a burst served by a prepared model on queues that the check holds.
type server struct {
	requests, results *burst.Queue
	requested         [][]int32
	memories          map[int32]*hal.Memory
	burst.Context
}

// GetMemories implements burst.Callback.
func (s *server) GetMemories(slots []int32) ([]*hal.Memory, error) {
	s.requested = append(s.requested, slices.Clone(slots))
	var list []*hal.Memory
	for _, slot := range slots {
		if s.memories[slot] == nil {
			return nil, hal.Errorf(hal.InvalidArgument, "slot %d", slot)
		}
		list = append(list, s.memories[slot])
	}
	return list, nil
}

// oneAtATime: while the client's end waits for a result, another execution is refused at once.
func oneAtATime(t *check.T) {
	c := &burst.Controller{Slots: burst.NewSlots(func(int32) {}), Requests: burst.NewQueue(64), Results: burst.NewQueue(64), Context: noContext{}}
	m := check.AddModel(nn.TensorFloat32)
	ended := make(chan error, 2)
	execute := func() {
		b, _ := check.Sums(m)
		_, err := c.Execute(b.Request(), hal.ExecuteOptions{})
		ended <- err
	}
	go execute()
	_, err := c.Requests.Read(0) // sent: the first waits for its result
	t.OK("the first request", err)
	go execute()
	select {
	case err := <-ended:
		t.Status("a second execution", err, hal.GeneralFailure)
	case <-time.After(check.DisconnectLimit / 4):
		t.Errorf("a second execution waits for the first")
	}
	c.Results.Invalidate()
	t.Status("the first without a driver", <-ended, hal.GeneralFailure)
}

// directServer is a burst on queues of the check, nil where the driver is in another process.
func directServer(t *check.T, p hal.PreparedModel) *server {
	if _, ok := p.(base.BurstServer); !ok {
		return nil
	}
	return serve(t, p, burst.ChannelLength)
}

// watchedQueue records how long a reader polls.
type watchedQueue struct {
	*burst.Queue
	polls chan time.Duration
}

func (q *watchedQueue) Read(poll time.Duration) ([]burst.Datum, error) {
	select {
	case q.polls <- poll:
	default:
	}
	return q.Queue.Read(poll)
}

// pollWindow: a driver polls for the next request for a while, unless the client wants low power.
func pollWindow(t *check.T) {
	t.InDriver()
	m := t.Supported(check.AddModel)
	for preference, want := range map[hal.Preference]bool{hal.LowPower: false, hal.FastSingleAnswer: true, hal.SustainedSpeed: true} {
		p, ok := t.Prepare(m, hal.PrepareOptions{Preference: preference}).(base.BurstServer)
		if !ok {
			t.Skipf("%s serves no bursts on foreign queues", t.Device.Name())
		}
		q := &watchedQueue{burst.NewQueue(burst.ChannelLength), make(chan time.Duration, 1)}
		s := check.V(p.ServeBurst(&server{}, q, burst.NewQueue(burst.ChannelLength)))(t, "configureExecutionBurst")
		if poll := <-q.polls; (poll > 0) != want {
			t.Errorf("with preference %d the driver polls for %v", preference, poll)
		}
		s.Close()
	}
}

// serve opens a burst whose result queue has n datums.
func serve(t *check.T, p hal.PreparedModel, n int) *server {
	s := &server{requests: burst.NewQueue(burst.ChannelLength), results: burst.NewQueue(n), memories: map[int32]*hal.Memory{}}
	x, ok := p.(base.BurstServer)
	if !ok {
		t.Skipf("%s serves no bursts on foreign queues", t.Device.Name())
	}
	s.Context = check.V(x.ServeBurst(s, s.requests, s.results))(t, "configureExecutionBurst")
	return s
}

// send writes a packet and reads the answer.
func send(t *check.T, s *server, packet []burst.Datum) *burst.ResultMessage {
	t.OK("write", s.requests.Write(packet))
	answer := check.V(s.results.Read(0))(t, "read")
	r := check.V(burst.ParseResult(answer))(t, "result packet")
	return r
}

// message is the request of an adder as a packet, with the memories as slots 0 to 2.
func message(s *server, b *hal.Buffers) *burst.RequestMessage {
	r := b.Request()
	m := &burst.RequestMessage{Inputs: r.Inputs, Outputs: r.Outputs, MeasureTiming: true}
	for i := range r.Pools {
		s.memories[int32(i)] = r.Pools[i].Memory
		m.Slots = append(m.Slots, int32(i))
	}
	return m
}

func burstArguments(t *check.T) {
	p, _ := t.Adder()
	x, ok := p.(base.BurstServer)
	if !ok {
		t.Skipf("no bursts on foreign queues")
	}
	q := burst.NewQueue(8)
	dead := burst.NewQueue(8)
	dead.Invalidate()
	for name, f := range map[string]func() (burst.Context, error){
		"no callback":   func() (burst.Context, error) { return x.ServeBurst(nil, q, q) },
		"no queue":      func() (burst.Context, error) { return x.ServeBurst(&server{}, nil, q) },
		"invalid queue": func() (burst.Context, error) { return x.ServeBurst(&server{}, q, dead) },
	} {
		s, err := f()
		t.Status(name, err, hal.InvalidArgument)
		t.Check(s == nil, "%s: there is a context", name)
	}
}

func burstDatums(t *check.T) {
	in := hal.RequestArgument{Location: hal.DataLocation{PoolIndex: 1, Offset: 2, Length: 3}, Dimensions: []uint32{4, 5}}
	m := &burst.RequestMessage{Inputs: []hal.RequestArgument{in, {HasNoValue: true}}, Outputs: []hal.RequestArgument{in}, Slots: []int32{7, 8}, MeasureTiming: true}
	kinds := func(list []burst.Datum) (k []burst.Kind) {
		for _, d := range list {
			k = append(k, burst.Kind(d[0]))
		}
		return k
	}
	list := m.Packet()
	want := []burst.Kind{burst.RequestPacket, burst.InputOperand, burst.InputDimension, burst.InputDimension, burst.InputOperand,
		burst.OutputOperand, burst.OutputDimension, burst.OutputDimension, burst.PoolIdentifier, burst.PoolIdentifier, burst.MeasureTiming}
	if !slices.Equal(kinds(list), want) {
		t.Errorf("request of kinds %v", kinds(list))
	}
	check.Equal(t, "packetSize", int(list[0][8]), 2+3+2+4)
	back := check.V(burst.ParseRequest(list))(t, "request")
	t.Check(slices.Equal(back.Packet(), list), "a request does not survive: %+v", back)
	r := &burst.ResultMessage{Status: hal.OutputInsufficientSize, Shapes: []hal.OutputShape{{Dimensions: []uint32{2, 3}, IsSufficient: true}, {}}, Timing: hal.NoTiming}
	results := r.Packet()
	if k := kinds(results); !slices.Equal(k, []burst.Kind{burst.ResultPacket, burst.ResultOperand, burst.ResultDimension, burst.ResultDimension, burst.ResultOperand, burst.ExecutionTiming}) {
		t.Errorf("result of kinds %v", k)
	}
	out := check.V(burst.ParseResult(results))(t, "result")
	t.Check(slices.Equal(out.Packet(), results) && out.Timing == hal.NoTiming, "a result does not survive: %+v", out)
	for _, by := range []byte{1, 255} { // a number in the head that is one off
		for word := range 4 {
			wrong := slices.Clone(list)
			wrong[0][8+4*word] += by
			if _, err := burst.ParseRequest(wrong); err == nil {
				t.Errorf("word %d of the head is %d instead of %d", word, wrong[0][8+4*word], list[0][8+4*word])
			}
		}
	}
	longer := append(slices.Clone(list), list[len(list)-1])
	longer[0][8]++
	t.Check(check.Err(burst.ParseRequest(longer)) != nil, "a datum behind the end is accepted")
	// Bytes that a kind does not use are zero, and a reader insists on it.
	used := map[burst.Kind]int{burst.RequestPacket: 16, burst.InputOperand: 20, burst.OutputOperand: 20}
	for i := range list {
		n := used[burst.Kind(list[i][0])]
		n = cmp.Or(n, 4)
		if !bytes.Equal(list[i][1:8], make([]byte, 7)) || !bytes.Equal(list[i][8+n:], make([]byte, burst.DatumBytes-8-n)) {
			t.Errorf("datum %d has padding %v", i, list[i])
		}
		dirty := slices.Clone(list)
		dirty[i][burst.DatumBytes-1] = 1
		t.Check(check.Err(burst.ParseRequest(dirty)) != nil, "datum %d with dirty padding is accepted", i)
	}
}

func queuePackets(t *check.T) {
	check.Equal(t, "length of a channel", burst.ChannelLength, 1024)
	q := burst.NewQueue(5)
	datum := func(b byte) (d burst.Datum) { d[8] = b; return d }
	for round := range 7 { // around the ring
		packet := []burst.Datum{datum(byte(round)), datum(2), datum(3)}
		t.OK("write", q.Write(packet))
		got := check.V(q.Read(0))(t, "read")
		t.Check(slices.Equal(got, packet), "round %d: read %v", round, got)
	}
	if err := q.Write(make([]burst.Datum, 6)); !errors.Is(err, burst.ErrTooLarge) {
		t.Errorf("a packet of 6 datums in a queue of 5: %v", err)
	}
	done := make(chan []burst.Datum)
	go func() { // a reader that waits sees the whole packet
		got, _ := q.Read(0)
		done <- got
	}()
	t.OK("write", q.Write(make([]burst.Datum, 5)))
	check.Equal(t, "datums read", len(<-done), 5)
}

// failed checks an answer without shapes and timing.
func failed(t *check.T, what string, r *burst.ResultMessage) {
	if r.Status == hal.StatusNone || len(r.Shapes) > 0 || r.Timing != hal.NoTiming {
		t.Errorf("%s: status %v, shapes %v, timing %v", what, r.Status, r.Shapes, r.Timing)
	}
}

func burstMalformed(t *check.T) {
	p, m := t.Adder()
	s := serve(t, p, burst.ChannelLength)
	defer s.Close()
	b, want := check.Sums(m)
	good := message(s, b).Packet()
	var wrong []burst.Datum
	for k := range burst.Kind(8) {
		var d burst.Datum
		d[0] = byte(k)
		wrong = append(wrong, d)
	}
	for i := range good {
		failed(t, "a datum removed", send(t, s, slices.Delete(slices.Clone(good), i, i+1)))
		for _, w := range wrong {
			failed(t, "a datum added", send(t, s, slices.Insert(slices.Clone(good), i, w)))
			if w[0] != good[i][0] {
				changed := slices.Clone(good)
				changed[i] = w
				failed(t, "a datum of another kind", send(t, s, changed))
			}
		}
	}
	clear(b.Outputs[0])
	r := send(t, s, good)
	check.Equal(t, "status of a good packet after bad ones", r.Status, hal.StatusNone)
	t.Same("a good packet after bad ones", b.Outputs[0], want)
}

func burstSmallResults(t *check.T) {
	p, m := t.Adder()
	for _, n := range []int{burst.ChannelLength, 2} {
		s := serve(t, p, n)
		b, want := check.Sums(m)
		r := send(t, s, message(s, b).Packet())
		if n == 2 {
			failed(t, "a result queue of 2 datums", r)
		} else {
			check.Equal(t, "status", r.Status, hal.StatusNone)
			t.Same("a result queue of 1024 datums", b.Outputs[0], want)
		}
		s.Close()
	}
}

func burstFallback(t *check.T) {
	p, m := t.Adder()
	ways := 0
	c := &burst.Controller{Slots: burst.NewSlots(func(int32) {}), Requests: burst.NewQueue(4), Results: burst.NewQueue(4), Context: noContext{},
		Fallback: func(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) { ways++; return p.Execute(r, o) }}
	b, want := check.Sums(m)
	_, err := c.Execute(b.Request(), hal.ExecuteOptions{})
	t.OK("a request larger than its queue", err)
	t.Same("a request larger than its queue", b.Outputs[0], want)
	check.Equal(t, "synchronous executions", ways, 1)
	for name, o := range map[string]hal.ExecuteOptions{
		"a deadline": {Deadline: hal.MakeDeadline(t.Device, 1e15)}, "a loop timeout": {LoopTimeout: 1},
	} {
		_, err := c.Execute(b.Request(), o)
		t.OK(name, err)
	}
	check.Equal(t, "synchronous executions", ways, 3)
	real := check.V(p.ConfigureExecutionBurst())(t, "configureExecutionBurst")
	defer real.Close()
	now := t.Device.Now()
	_, err = real.Execute(b.Request(), hal.ExecuteOptions{Deadline: &now})
	t.Status("a burst after its deadline", err, hal.MissedDeadlinePersistent)
}

type noContext struct{}

func (noContext) FreeMemory(int32) {}
func (noContext) Close()           {}

func slotNumbers(t *check.T) {
	var freed []int32
	s := burst.NewSlots(func(slot int32) { freed = append(freed, slot) })
	var memory [4]*hal.Memory
	var release [4]func()
	for i := range memory {
		memory[i] = hal.NewMemory(1)
		slot, r := check.V2(s.Acquire(memory[i]))(t, "hold")
		check.Equal(t, "slot of a new memory", slot, int32(i))
		release[i] = r
	}
	again, r, _ := s.Acquire(memory[1])
	check.Equal(t, "slot of a held memory", again, 1)
	release[1]()
	check.Equal(t, "slots freed", len(freed), 0)
	r()
	release[2]()
	release[2]() // has no effect
	t.Check(slices.Equal(freed, []int32{1, 2}), "freed %v", freed)
	for _, slot := range freed {
		list, err := s.GetMemories([]int32{0, slot})
		if t.Status("memories of a freed slot", err, hal.InvalidArgument); len(list) > 0 {
			t.Errorf("getMemories gives %d memories with an error", len(list))
		}
	}
	for _, want := range []int32{2, 1, 4} { // last freed first
		slot, _, _ := s.Acquire(hal.NewMemory(1))
		check.Equal(t, "slot given again", slot, want)
	}
	t.Status("memories of an unknown slot", check.Err(s.GetMemories([]int32{0, 9})), hal.InvalidArgument)
	list := check.V(s.GetMemories([]int32{3, 0}))(t, "getMemories")
	t.Check(len(list) == 2 && list[0] == memory[3] && list[1] == memory[0], "getMemories gives others")
}

func burstSlots(t *check.T) {
	p, m := t.Adder()
	s := serve(t, p, burst.ChannelLength)
	defer s.Close()
	b, want := check.Sums(m)
	packet := message(s, b).Packet()
	for range 2 {
		check.Equal(t, "status", send(t, s, packet).Status, hal.StatusNone)
	}
	check.Equal(t, "questions for memories", len(s.requested), 1)
	s.FreeMemory(2)
	s.FreeMemory(2)
	s.FreeMemory(99)
	out := hal.NewMemory(len(want))
	s.memories[2] = out // the slot names another memory now
	check.Equal(t, "status", send(t, s, packet).Status, hal.StatusNone)
	t.Same("a slot that was freed and given again", out.Data, want)
	t.Check(len(s.requested) == 2 && slices.Equal(s.requested[1], []int32{2}), "asked for %v", s.requested)
	s.FreeMemory(0)
	delete(s.memories, 0)
	r := send(t, s, packet)
	failed(t, "a memory that the client does not have", r)
	check.Equal(t, "status of a missing memory", r.Status, hal.InvalidArgument)
	broken := message(s, b)
	s.memories[0] = hal.NewMemory(len(b.Inputs[0]))
	broken.Inputs = broken.Inputs[1:]
	r = send(t, s, broken.Packet())
	failed(t, "an input removed", r)
	check.Equal(t, "status of an input removed", r.Status, hal.InvalidArgument)
	check.Equal(t, "status of a good request afterwards", send(t, s, packet).Status, hal.StatusNone)
}

func burstEnds(t *check.T) {
	p, m := t.Adder()
	b := check.V(p.ConfigureExecutionBurst())(t, "configureExecutionBurst")
	t.OK("close", b.Close())
	t.OK("close again", b.Close())
	buffers, want := check.Sums(m)
	t.Check(check.Err(b.Execute(buffers.Request(), hal.ExecuteOptions{})) != nil, "a closed burst executes")
	t.Compute("the prepared model of a closed burst", p, m)
	// The driver dies before a request is sent: the client executes synchronously.
	ways := 0
	c := &burst.Controller{Slots: burst.NewSlots(func(int32) {}), Requests: burst.NewQueue(64), Results: burst.NewQueue(64), Context: noContext{},
		Fallback: func(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) { ways++; return p.Execute(r, o) }}
	c.Requests.Invalidate()
	_, err := c.Execute(buffers.Request(), hal.ExecuteOptions{})
	t.OK("a dead peer before sending", err)
	t.Same("a dead peer before sending", buffers.Outputs[0], want)
	if s := directServer(t, p); s != nil {
		s.Close()
		check.Equal(t, "queues after the end", [2]bool{s.requests.Valid(), s.results.Valid()}, [2]bool{})
	}
	// It dies after that: nothing runs twice.
	c.Requests = burst.NewQueue(64)
	c.Results.Invalidate()
	t.Status("a dead peer after sending", check.Err(c.Execute(buffers.Request(), hal.ExecuteOptions{})), hal.GeneralFailure)
	check.Equal(t, "synchronous executions", ways, 1)
}
