package service

import (
	"context"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// ConfigureExecutionBurst implements the service.
func (s *Server) ConfigureExecutionBurst(ctx context.Context, r *pb.BurstRequest) (*pb.Handle, error) {
	x := sessionOf(ctx)
	p, err := find[*model](x, r.Prepared)
	if err != nil {
		return nil, err
	}
	m, err := find[*memory](x, r.Memory)
	if err != nil {
		return nil, err
	}
	id, _, err := create(x, cost{openBursts: 1}, func() (*burstEnd, error) {
		return openBurst(x.client, p, m, int(min(r.Requests, shm.MaxRing+1)), int(min(r.Results, shm.MaxRing+1)))
	})
	return &pb.Handle{Id: id}, err
}

// SetSlot implements the service.
func (s *Server) SetSlot(ctx context.Context, r *pb.SlotRequest) (*pb.Empty, error) {
	x := sessionOf(ctx)
	b, err := find[*burstEnd](x, r.Burst)
	if err != nil {
		return nil, err
	}
	var m *memory
	if r.Memory != 0 {
		if m, err = find[*memory](x, r.Memory); err != nil {
			return nil, err
		}
	}
	return &pb.Empty{}, b.set(r.Slot, m)
}

// burstEnd is the driver's end of a burst of a client. Its rings lie in a memory of the
// client, which the burst keeps mapped.
type burstEnd struct {
	client *client
	model  *model
	rings  *memory
	server *burst.Server
	once   sync.Once

	mu    sync.Mutex
	slots map[int32]*memory
}

func (*burstEnd) kind() string { return "burst" }

// maxBurstSlots bounds the slots of a burst.
const maxBurstSlots = 1 << 12

func openBurst(c *client, model *model, rings *memory, requests, results int) (*burstEnd, error) {
	if rings.view.ReadOnly {
		return nil, hal.Errorf(hal.InvalidArgument, "service: the rings are in a memory to read only")
	}
	rings.use.RLock() // until the burst is closed
	b := &burstEnd{client: c, model: model, rings: rings, slots: map[int32]*memory{}}
	if err := b.serve(requests, results); err != nil {
		rings.use.RUnlock()
		return nil, err
	}
	return b, nil
}

// serve starts the server on the rings.
func (b *burstEnd) serve(requests, results int) error {
	if b.rings.unmapped {
		return errEnded
	}
	in, out, err := shm.NewRings(b.rings.view.Data, requests, results)
	if err != nil {
		return hal.Errorf(hal.InvalidArgument, "service: %w", err)
	}
	poll := burst.PollWindow
	if x, ok := hal.As[interface{ PollWindow() time.Duration }](b.model.PreparedModel); ok {
		poll = x.PollWindow()
	}
	b.server, err = burst.NewServer(burst.ServerConfig{Callback: b, Requests: in, Results: out, Poll: poll, Execute: b.execute})
	return err
}

func (b *burstEnd) close() {
	b.once.Do(func() {
		b.server.Close()
		b.rings.use.RUnlock()
	})
}

// set maps a slot to a memory; nil removes it.
func (b *burstEnd) set(slot int32, m *memory) error {
	b.mu.Lock()
	if delete(b.slots, slot); m != nil && len(b.slots) < maxBurstSlots {
		b.slots[slot] = m
	}
	full := m != nil && b.slots[slot] == nil
	b.mu.Unlock()
	b.server.FreeMemory(slot) // not inside: the server requests slots while it is locked
	if full {
		return hal.Errorf(hal.ResourceExhaustedTransient, "service: a burst has at most %d slots", maxBurstSlots)
	}
	return nil
}

// GetMemories implements burst.Callback. The views are names: execute copies what they
// show.
func (b *burstEnd) GetMemories(slots []int32) ([]*hal.Memory, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*hal.Memory
	for _, slot := range slots {
		m := b.slots[slot]
		if m == nil {
			return nil, hal.Errorf(hal.InvalidArgument, "service: slot %d has no memory", slot)
		}
		list = append(list, m.view)
	}
	return list, nil
}

// execute runs a request of the burst on copies.
func (b *burstEnd) execute(r *hal.Request, measure bool) (*hal.Result, error) {
	pools := make([]clientPool, len(r.Pools))
	b.mu.Lock()
	for i := range r.Pools {
		for _, m := range b.slots {
			if m.view == r.Pools[i].Memory {
				pools[i] = clientPool{memory: m, name: m.view.Name, readOnly: m.view.ReadOnly}
			}
		}
	}
	b.mu.Unlock()
	p, err := newPrivate(b.client, r.Inputs, r.Outputs, pools)
	if err != nil {
		return nil, err
	}
	if err := p.reserveTemporaries(b.model); err != nil {
		return nil, err
	}
	defer p.free()
	return p.execute(b.model, hal.ExecuteOptions{MeasureTiming: measure, InBurst: true})
}
