package service

import (
	"errors"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
)

// ServeBurst serves a burst on queues of the caller: it carries packets, whatever is in
// them, between these and the rings that the driver serves. It is how the protocol itself
// is tested across the boundary.
func (p *prepared) ServeBurst(callback burst.Callback, requests, results burst.Channel) (burst.Context, error) {
	for _, q := range []burst.Channel{requests, results} {
		if q == nil || !q.Valid() {
			return nil, hal.Errorf(hal.InvalidArgument, "service: a queue is not valid")
		}
	}
	if callback == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no callback")
	}
	l, err := p.openBurst(requests.Len(), results.Len())
	if errors.Is(err, errUnimplemented) {
		s, err := burst.Serve(p.Execute, burst.PollWindow, callback, requests, results)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	r := &burstRelay{link: l, callback: callback, requests: requests, results: results, done: make(chan struct{}), slots: map[int32]*slot{}}
	go r.serve()
	return r, nil
}

// burstRelay carries packets between two pairs of queues. It implements burst.Context.
type burstRelay struct {
	link              *burstLink
	callback          burst.Callback
	requests, results burst.Channel
	done              chan struct{}

	mu    sync.Mutex
	slots map[int32]*slot // that the driver knows
}

// serve carries packets until a queue is no longer valid.
func (r *burstRelay) serve() {
	defer close(r.done)
	for {
		packet, err := r.requests.Read(burst.PollWindow)
		if err != nil {
			return
		}
		asked, used := r.prepare(packet)
		if r.link.requests.Write(packet) != nil {
			return
		}
		answer, err := r.link.results.Read(burst.PollWindow)
		if err != nil {
			return
		}
		if m, err := burst.ParseResult(answer); err == nil && m.Status == hal.StatusNone {
			parts(asked.Outputs, used, (*slot).store)
		}
		if r.results.Write(answer) != nil {
			return
		}
	}
}

// prepare makes the memories of a request known to the driver. What the caller does not
// have, the driver will miss.
func (r *burstRelay) prepare(packet []burst.Datum) (m *burst.RequestMessage, used []*slot) {
	m, err := burst.ParseRequest(packet)
	if err != nil {
		return &burst.RequestMessage{}, nil
	}
	if missing := r.missing(m.Slots); len(missing) > 0 {
		list, err := r.callback.GetMemories(missing) // without the lock: it may be freeing others
		if err != nil || len(list) != len(missing) {
			return m, nil
		}
		for i, memory := range list {
			if memory == nil || !r.know(missing[i], memory) {
				return m, nil
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range m.Slots {
		s := r.slots[n]
		if s == nil { // freed meanwhile
			return m, nil
		}
		used = append(used, s)
	}
	parts(m.Inputs, used, (*slot).load)
	parts(m.Outputs, used, (*slot).load)
	return m, used
}

// missing are the slots that the driver does not know, each once.
func (r *burstRelay) missing(slots []int32) (list []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range slots {
		if r.slots[n] == nil && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// know maps a slot to a memory in the driver.
func (r *burstRelay) know(n int32, memory *hal.Memory) bool {
	s, err := r.link.prepared.device.shared.newSlot(memory)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots[n] = s
	if r.link.setSlot(n, s.region.id) != nil {
		r.drop(n)
		return false
	}
	return true
}

// parts calls f for each argument with its slot.
func parts(list []hal.RequestArgument, slots []*slot, f func(*slot, hal.DataLocation)) {
	for i := range list {
		if l := list[i].Location; !list[i].HasNoValue && uint64(l.PoolIndex) < uint64(len(slots)) {
			f(slots[l.PoolIndex], l)
		}
	}
}

// FreeMemory implements burst.Context.
func (r *burstRelay) FreeMemory(n int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.link.setSlot(n, 0)
	r.drop(n)
}

func (r *burstRelay) drop(n int32) {
	if s := r.slots[n]; s != nil && s.mirror {
		r.link.prepared.device.shared.put(s.region)
	}
	delete(r.slots, n)
}

// Close implements burst.Context.
func (r *burstRelay) Close() {
	r.requests.Invalidate()
	r.results.Invalidate()
	r.link.requests.Invalidate()
	r.link.results.Invalidate()
	<-r.done
	r.link.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range r.slots {
		r.drop(n)
	}
}
