package service

import (
	"context"
	"runtime"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// maxSlots is how many memories a burst keeps mapped for later requests.
const maxSlots = 64

// clientBurst is the client's end of a burst. It implements hal.Burst.
type clientBurst struct {
	burst.Controller
	prepared *prepared
	id       uint64
	rings    *sharedRegion
	closed   chan struct{}
	watched  chan struct{} // closed when watch has ended

	mu    sync.Mutex // held by the execution that runs
	slots map[*hal.Memory]*slot
}

// slot is a memory of the client that the driver knows under a number.
type slot struct {
	view    *hal.Memory // what requests in the rings name
	region  *sharedRegion
	mirror  bool // region stands for a memory that is not shared
	release func()
}

// free tells the driver that a slot is free.
func (b *clientBurst) free(n int32) { _ = b.setSlot(n, 0) }

func (b *clientBurst) setSlot(n int32, memory uint64) error {
	d := b.prepared.device
	ctx, cancel := context.WithTimeout(d.ctx, attachTimeout)
	defer cancel()
	_, err := d.client.SetSlot(ctx, &pb.SlotRequest{Session: d.about.Session, Burst: b.id, Slot: n, Memory: memory})
	return d.failed(err)
}

// burstContext is what ends a burst in the driver. It implements burst.Context.
type burstContext struct{ *clientBurst }

// FreeMemory implements burst.Context.
func (c burstContext) FreeMemory(n int32) { c.free(n) }

// Close implements burst.Context; the controller calls it once.
func (c burstContext) Close() {
	b := c.clientBurst
	d := b.prepared.device
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.closed)
	<-b.watched // it writes to the rings
	b.Requests.Invalidate()
	b.Results.Invalidate()
	d.release(b.id)
	for m := range b.slots {
		b.drop(m)
	}
	d.release(b.rings.id)
	_ = b.rings.region.Close()
	runtime.KeepAlive(b.prepared)
}

// slotOf makes a memory known to the driver.
func (b *clientBurst) slotOf(m *hal.Memory) (*slot, error) {
	if s := b.slots[m]; s != nil {
		return s, nil
	}
	shared := &b.prepared.device.shared
	s := &slot{view: m, region: shared.own(m)}
	if s.region == nil {
		var err error
		if s.region, err = shared.take(max(len(m.Data), 1)); err != nil {
			return nil, err
		}
		s.mirror = true
		s.view = &hal.Memory{Name: m.Name, Data: s.region.region.Data[:len(m.Data):len(m.Data)], ReadOnly: m.ReadOnly}
	}
	n, release, err := b.Slots.Hold(s.view)
	if err == nil {
		s.release = release
		err = b.setSlot(n, s.region.id)
	}
	b.slots[m] = s
	if err != nil {
		b.drop(m)
		return nil, err
	}
	return s, nil
}

// drop forgets a memory.
func (b *clientBurst) drop(m *hal.Memory) {
	s := b.slots[m]
	if s == nil {
		return
	}
	delete(b.slots, m)
	if s.release != nil {
		s.release()
	}
	if s.mirror {
		b.prepared.device.shared.give(s.region)
	}
}

// CacheMemory implements hal.Burst.
func (b *clientBurst) CacheMemory(m *hal.Memory) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m == nil {
		return func() {}
	}
	if _, err := b.slotOf(m); err != nil {
		return func() {}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.drop(m)
	}
}

// Execute implements hal.Burst.
func (b *clientBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if r == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no request")
	}
	if !b.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: an execution has not ended")
	}
	defer b.mu.Unlock()
	request := &hal.Request{Inputs: r.Inputs, Outputs: r.Outputs}
	for i := range r.Pools {
		if r.Pools[i].Memory == nil {
			return b.prepared.Execute(r, o) // says why not
		}
		s, err := b.slotOf(r.Pools[i].Memory)
		if err != nil {
			return nil, err
		}
		if s.mirror {
			copy(s.view.Data, r.Pools[i].Memory.Data)
		}
		request.Pools = append(request.Pools, hal.RequestPool{Memory: s.view})
	}
	res, err := b.Controller.Execute(request, o)
	if err == nil {
		for i := range r.Pools {
			if m := r.Pools[i].Memory; b.slots[m].mirror && !m.ReadOnly {
				copy(m.Data, b.slots[m].view.Data)
			}
		}
	}
	for m := range b.slots {
		if len(b.slots) <= maxSlots {
			break
		}
		b.drop(m)
	}
	return res, err
}

// watch ends the wait for a driver that died, which says nothing in the rings.
func (b *clientBurst) watch() {
	defer close(b.watched)
	select {
	case <-b.prepared.device.gone:
		b.Requests.Invalidate()
		b.Results.Invalidate()
	case <-b.closed:
	}
}
