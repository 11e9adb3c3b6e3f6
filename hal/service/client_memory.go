package service

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// sharedRegion is a region that the driver has mapped, too.
type sharedRegion struct {
	region *shm.Region
	id     uint64
}

// Bounds of the regions that are kept for later calls.
const (
	maxFree    = 32
	leastShare = 1 << 12 // bytes
)

// create makes a region and shares it. When the driver has no room, what is kept for
// later calls goes.
func (s *sharedMemories) create(n int) (*sharedRegion, error) {
	r, err := shm.Create(n)
	if err != nil {
		return nil, hal.Errorf(hal.ResourceExhaustedTransient, "service: %w", err)
	}
	d := s.device
	share := func() (*pb.Handle, error) {
		h, err := d.client.ShareMemory(d.ctx, &pb.ShareMemoryRequest{Session: d.about.Session, Fd: int32(r.FD()), Bytes: uint64(n)})
		return h, d.failed(err)
	}
	h, err := share()
	if hal.StatusOf(err) == hal.ResourceExhaustedTransient && s.shrink() {
		h, err = share()
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &sharedRegion{r, h.Id}, nil
}

// shrink frees what is kept for later calls; false when that is nothing.
func (s *sharedMemories) shrink() bool {
	s.mu.Lock()
	list := s.free
	s.free = nil
	s.mu.Unlock()
	for _, r := range list {
		s.device.release(r.id)
		_ = r.region.Close()
	}
	return len(list) > 0
}

// take is a region of at least n bytes for one call.
func (s *sharedMemories) take(n int) (*sharedRegion, error) {
	s.mu.Lock()
	if i, _ := slices.BinarySearchFunc(s.free, n, func(r *sharedRegion, n int) int { return len(r.region.Data) - n }); i < len(s.free) && len(s.free[i].region.Data) <= 4*max(n, leastShare) {
		r := s.free[i]
		s.free = slices.Delete(s.free, i, i+1)
		s.mu.Unlock()
		return r, nil
	}
	s.mu.Unlock()
	size := leastShare
	for size < n {
		size += size / 2 &^ 7
	}
	return s.create(size)
}

// give keeps a region for a later call; the largest goes when there are many.
func (s *sharedMemories) give(r *sharedRegion) {
	s.mu.Lock()
	i, _ := slices.BinarySearchFunc(s.free, len(r.region.Data), func(r *sharedRegion, n int) int { return len(r.region.Data) - n })
	s.free = slices.Insert(s.free, i, r)
	var drop *sharedRegion
	if len(s.free) > maxFree || s.closed {
		drop = s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
	}
	s.mu.Unlock()
	if drop != nil {
		s.device.release(drop.id)
		_ = drop.region.Close()
	}
}

// close unmaps what is kept. Memories of NewMemory stay mapped: their users hold them.
func (s *sharedMemories) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, r := range s.free {
		_ = r.region.Close()
	}
	s.free = nil
}

// NewMemory is a memory that client and driver share: requests that name it are not
// copied by the client. release frees it when no request uses it any more.
func (d *Device) NewMemory(n int) (m *hal.Memory, release func(), err error) {
	r, err := d.shared.create(n)
	if err != nil {
		return nil, nil, err
	}
	m = &hal.Memory{Name: hal.MmapFd, Data: r.region.Data[:n:n]}
	s := &d.shared
	s.mu.Lock()
	if s.owned == nil {
		s.owned = map[*hal.Memory]*sharedRegion{}
	}
	s.owned[m] = r
	s.mu.Unlock()
	return m, func() {
		s.mu.Lock()
		_, there := s.owned[m]
		delete(s.owned, m)
		s.mu.Unlock()
		if there {
			m.Data = nil
			d.release(r.id)
			_ = r.region.Close()
		}
	}, nil
}

// own is the region of a memory of NewMemory, nil for another.
func (s *sharedMemories) own(m *hal.Memory) *sharedRegion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned[m]
}

// passed are the pools of a request in shared memory.
type passed struct {
	shared *sharedMemories
	pools  []*pb.Pool
	lent   []lent
}

// lent is a region that stands for a memory that is not shared.
type lent struct {
	memory *hal.Memory
	region *sharedRegion
}

// pass shares the pools of a request.
func (s *sharedMemories) pass(r *hal.Request) (*passed, error) {
	p := &passed{shared: s}
	for i := range r.Pools {
		m := r.Pools[i].Memory
		if m == nil {
			p.pools = append(p.pools, &pb.Pool{Token: r.Pools[i].Token})
			continue
		}
		id, err := p.lend(m)
		if err != nil {
			p.done(false)
			return nil, err
		}
		p.pools = append(p.pools, &pb.Pool{Memory: id, Name: string(m.Name), ReadOnly: m.ReadOnly})
	}
	return p, nil
}

// lend is the number of a memory in the driver.
func (p *passed) lend(m *hal.Memory) (id uint64, err error) {
	if own := p.shared.own(m); own != nil {
		return own.id, nil
	}
	region, err := p.shared.take(max(len(m.Data), 1))
	if err != nil {
		return 0, err
	}
	p.lent = append(p.lent, lent{m, region})
	return region.id, nil
}

// load copies what is not shared, before the driver reads it.
func (p *passed) load() {
	for _, l := range p.lent {
		copy(l.region.region.Data, l.memory.Data)
	}
}

// done ends the use of the pools; results says that the driver has written outputs.
func (p *passed) done(results bool) {
	for _, l := range p.lent {
		if results && !l.memory.ReadOnly {
			copy(l.memory.Data, l.region.region.Data)
		}
		p.shared.give(l.region)
	}
	p.lent = nil
}
