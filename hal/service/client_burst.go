package service

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// burstLink is a burst that a driver serves on two rings in shared memory.
type burstLink struct {
	prepared          *prepared
	id                uint64
	rings             *sharedRegion
	requests, results *shm.Ring
	closed            chan struct{}
	watched           chan struct{} // closed when watch has ended
	once              sync.Once
}

// openBurst makes rings of these numbers of datums and has the driver serve them.
func (p *prepared) openBurst(requests, results int) (*burstLink, error) {
	if requests <= 0 || results <= 0 || requests > shm.MaxRing || results > shm.MaxRing {
		return nil, hal.Errorf(hal.InvalidArgument, "service: queues of %d and %d datums, want 1 to %d", requests, results, shm.MaxRing)
	}
	d := p.device
	rings, err := d.shared.create(shm.RingBytes(requests) + shm.RingBytes(results))
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*burstLink, error) {
		d.release(rings.id)
		_ = rings.region.Close()
		return nil, err
	}
	l := &burstLink{prepared: p, rings: rings, closed: make(chan struct{}), watched: make(chan struct{})}
	if l.requests, l.results, err = shm.NewRings(rings.region.Data, requests, results); err != nil {
		return fail(hal.Errorf(hal.InvalidArgument, "service: %w", err))
	}
	h, err := d.client.ConfigureExecutionBurst(d.ctx, &pb.BurstRequest{
		Session: d.about.Session, Prepared: p.id, Memory: rings.id, Requests: uint32(requests), Results: uint32(results),
	})
	if isUnimplemented(err) {
		return fail(errUnimplemented)
	}
	if err != nil {
		return fail(d.failed(err))
	}
	l.id = h.Id
	go l.watch()
	return l, nil
}

// watch ends the wait for a driver that died, which leaves no mark in the rings.
func (l *burstLink) watch() {
	defer close(l.watched)
	select {
	case <-l.prepared.device.closed:
		l.requests.Invalidate()
		l.results.Invalidate()
	case <-l.closed:
	}
}

func (l *burstLink) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// setSlot maps a slot to a memory in the driver; 0 is none.
func (l *burstLink) setSlot(n int32, memory uint64) error {
	d := l.prepared.device
	ctx, cancel := context.WithTimeout(d.ctx, attachTimeout)
	defer cancel()
	_, err := d.client.SetSlot(ctx, &pb.SlotRequest{Session: d.about.Session, Burst: l.id, Slot: n, Memory: memory})
	return d.failed(err)
}

// close ends the burst in the driver. Nobody may use the rings any more.
func (l *burstLink) close() {
	l.once.Do(func() {
		d := l.prepared.device
		close(l.closed)
		<-l.watched // it writes to the rings
		l.requests.Invalidate()
		l.results.Invalidate()
		d.release(l.id)
		d.release(l.rings.id)
		_ = l.rings.region.Close()
	})
}

// slot is a memory of the client that the driver knows under a number.
type slot struct {
	memory  *hal.Memory
	view    *hal.Memory // what requests in the rings name
	region  *sharedRegion
	mirror  bool // region stands for a memory that is not shared
	release func()
	users   int  // users: executions and callers of CacheMemory
	forget  bool // goes with its last user
}

// newSlot shares a memory.
func (s *sharedMemories) newSlot(m *hal.Memory) (*slot, error) {
	if own := s.own(m); own != nil {
		return &slot{memory: m, view: m, region: own}, nil
	}
	region, err := s.get(max(len(m.Data), 1))
	if err != nil {
		return nil, err
	}
	view := &hal.Memory{Name: m.Name, Data: region.region.Data[:len(m.Data):len(m.Data)], ReadOnly: m.ReadOnly}
	return &slot{memory: m, view: view, region: region, mirror: true}, nil
}

// load copies an argument to the driver.
func (s *slot) load(l hal.DataLocation) {
	if s.mirror {
		copyPart(s.view.Data, s.memory.Data, l)
	}
}

// store copies an output that the driver wrote.
func (s *slot) store(l hal.DataLocation) {
	if s.mirror {
		copyPart(s.memory.Data, s.view.Data, l)
	}
}

// maxSlots is how many memories that nobody uses a burst keeps mapped for later requests.
const maxSlots = 64

// clientBurst is the client's end of a burst.
type clientBurst struct {
	burst.Controller
	link    *burstLink
	running sync.Mutex // held by the execution that runs

	mu    sync.Mutex
	slots map[*hal.Memory]*slot
}

// burstHandle is what the client has of a burst, which ends when nobody refers to it. It
// implements hal.Burst.
type burstHandle struct{ *clientBurst }

// ConfigureExecutionBurst implements hal.PreparedModel.
func (p *prepared) ConfigureExecutionBurst() (hal.Burst, error) {
	l, err := p.openBurst(burst.ChannelLength, burst.ChannelLength)
	if errors.Is(err, errUnimplemented) {
		c, err := burst.Local(p.Execute, burst.PollWindow)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	b := &clientBurst{link: l, slots: map[*hal.Memory]*slot{}}
	b.Slots, b.Requests, b.Results, b.Context, b.Fallback = burst.NewSlots(func(n int32) { _ = l.setSlot(n, 0) }), l.requests, l.results, burstContext{b}, p.Execute
	h := &burstHandle{b}
	hold(p.device, l.id, h)
	runtime.AddCleanup(h, func(b *clientBurst) { go func() { _ = b.Close() }() }, b)
	return h, nil
}

// Execute implements hal.Burst. Packets carry no spans: with a tracer the request goes as a
// call.
func (h *burstHandle) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	defer runtime.KeepAlive(h)
	if o.Trace != nil || o.Profile != nil {
		o.InBurst = true
		return h.link.prepared.Execute(r, o)
	}
	return h.clientBurst.Execute(r, o)
}

// burstContext is what ends a burst in the driver. It implements burst.Context.
type burstContext struct{ *clientBurst }

// FreeMemory implements burst.Context.
func (c burstContext) FreeMemory(n int32) { _ = c.link.setSlot(n, 0) }

// Close implements burst.Context; the controller calls it once. It waits for the execution
// that runs.
func (c burstContext) Close() {
	c.running.Lock()
	defer c.running.Unlock()
	c.link.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slots {
		c.drop(s)
	}
}

// acquire maps a memory in the driver until its users have released it.
func (b *clientBurst) acquire(m *hal.Memory) (*slot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.slots[m]; s != nil {
		s.users++
		return s, nil
	}
	s, err := b.link.prepared.device.shared.newSlot(m)
	if err != nil {
		return nil, err
	}
	n, release, err := b.Slots.Acquire(s.view)
	if err == nil {
		s.release = release
		err = b.link.setSlot(n, s.region.id)
	}
	b.slots[m] = s
	if err != nil {
		b.drop(s)
		return nil, err
	}
	s.users = 1
	return s, nil
}

// release ends uses of memories. What nobody uses stays mapped unless it is to be forgotten
// or there is too much of it.
func (b *clientBurst) release(forget bool, list ...*slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range list {
		s.users--
		s.forget = s.forget || forget
		if s.users == 0 && s.forget {
			b.drop(s)
		}
	}
	for _, s := range b.slots {
		if len(b.slots) <= maxSlots {
			break
		}
		if s.users == 0 {
			b.drop(s)
		}
	}
}

// drop forgets a memory, once. It is called with the lock.
func (b *clientBurst) drop(s *slot) {
	if b.slots[s.memory] != s {
		return
	}
	delete(b.slots, s.memory)
	if s.release != nil {
		s.release()
	}
	if s.mirror {
		b.link.prepared.device.shared.put(s.region)
	}
}

// CacheMemory implements hal.Burst.
func (b *clientBurst) CacheMemory(m *hal.Memory) (release func()) {
	if m == nil || b.link.isClosed() {
		return func() {}
	}
	s, err := b.acquire(m)
	if err != nil {
		return func() {}
	}
	return sync.OnceFunc(func() { b.release(true, s) })
}

// Execute implements hal.Burst.
func (b *clientBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if r == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no request")
	}
	if !b.running.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: an execution has not ended")
	}
	defer b.running.Unlock()
	if b.link.isClosed() {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: it is closed")
	}
	request := &hal.Request{Inputs: r.Inputs, Outputs: r.Outputs}
	var used []*slot
	defer func() { b.release(false, used...) }()
	for i := range r.Pools {
		if r.Pools[i].Memory == nil { // packets cannot name device memory
			o.InBurst = true
			return b.link.prepared.Execute(r, o)
		}
		s, err := b.acquire(r.Pools[i].Memory)
		if err != nil {
			return nil, err
		}
		used = append(used, s)
		request.Pools = append(request.Pools, hal.RequestPool{Memory: s.view})
	}
	parts(r.Inputs, used, (*slot).load)
	parts(r.Outputs, used, (*slot).load)
	res, err := b.Controller.Execute(request, o)
	if err == nil {
		parts(r.Outputs, used, (*slot).store)
	}
	return res, err
}
