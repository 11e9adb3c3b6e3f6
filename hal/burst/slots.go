package burst

import (
	"fmt"
	"math"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// Slots names the memories of a client by slot. A memory keeps its slot while somebody
// holds it; a slot that was freed is the next to be given away.
type Slots struct {
	free func(slot int32) // notifies the driver

	mu       sync.Mutex
	slot     map[*hal.Memory]int32
	memories []*hal.Memory // by slot; nil when free
	refs     []int         // by slot
	freed    []int32       // last freed last
}

// NewSlots returns an empty cache; free is called when a slot has no holder any more, with
// no lock held.
func NewSlots(free func(slot int32)) *Slots {
	return &Slots{free: free, slot: map[*hal.Memory]int32{}}
}

// Acquire gives a memory a slot until release is called, once.
func (s *Slots) Acquire(m *hal.Memory) (slot int32, release func(), err error) {
	if m == nil {
		return 0, nil, hal.Errorf(hal.InvalidArgument, "burst: no memory")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.slot[m]
	if !ok {
		switch n := len(s.freed); {
		case n > 0:
			slot, s.freed = s.freed[n-1], s.freed[:n-1]
		case len(s.memories) == math.MaxInt32:
			return 0, nil, hal.Errorf(hal.ResourceExhaustedTransient, "burst: %d memories are in use", len(s.memories))
		default:
			slot = int32(len(s.memories))
			s.memories, s.refs = append(s.memories, nil), append(s.refs, 0)
		}
		s.slot[m], s.memories[slot] = slot, m
	}
	s.refs[slot]++
	return slot, sync.OnceFunc(func() { s.drop(slot) }), nil
}

// drop ends one hold. The driver is notified without the lock, since it may be requesting memories.
func (s *Slots) drop(slot int32) {
	if !s.unhold(slot) {
		return
	}
	s.free(slot)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed = append(s.freed, slot) // only now can it be given to another memory
}

// unhold releases one hold; after the last one the slot refers to no memory.
func (s *Slots) unhold(slot int32) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs[slot]--; s.refs[slot] > 0 {
		return false
	}
	delete(s.slot, s.memories[slot])
	s.memories[slot] = nil
	return true
}

// GetMemories is IBurstCallback.getMemories: the memories of slots, or INVALID_ARGUMENT
// and none when one of the slots is not in use.
func (s *Slots) GetMemories(slots []int32) ([]*hal.Memory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*hal.Memory, len(slots))
	for i, slot := range slots {
		if slot < 0 || int(slot) >= len(s.memories) || s.memories[slot] == nil {
			return nil, hal.Errorf(hal.InvalidArgument, "%v", fmt.Errorf("burst: slot %d is not in use", slot))
		}
		list[i] = s.memories[slot]
	}
	return list, nil
}
