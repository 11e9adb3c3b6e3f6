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

// create makes a region and shares it. When the client's quota is exhausted, regions kept
// for later calls are freed.
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

// get returns a free region of at least n bytes, for one call.
func (s *sharedMemories) get(n int) (*sharedRegion, error) {
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

// put keeps a region for a later call; the largest goes when there are many.
func (s *sharedMemories) put(r *sharedRegion) {
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
	copies []*sharedCopy // by pool; nil for what is shared anyway and for device memory
}

// sharedCopy is a region with the contents of a memory that is not shared.
type sharedCopy struct {
	memory *hal.Memory
	region *sharedRegion
}

// pass shares the pools of a request. A memory in several pools is one region.
func (s *sharedMemories) pass(r *hal.Request) (*passed, error) {
	p := &passed{shared: s}
	for i := range r.Pools {
		m := r.Pools[i].Memory
		if m == nil {
			p.pools, p.copies = append(p.pools, &pb.Pool{Token: r.Pools[i].Token}), append(p.copies, nil)
			continue
		}
		id, err := p.add(m)
		if err != nil {
			p.done(nil)
			return nil, err
		}
		p.pools = append(p.pools, &pb.Pool{Memory: id, Name: string(m.Name), ReadOnly: m.ReadOnly})
	}
	return p, nil
}

// add adds a memory and returns its number in the driver.
func (p *passed) add(m *hal.Memory) (id uint64, err error) {
	if own := p.shared.own(m); own != nil {
		p.copies = append(p.copies, nil)
		return own.id, nil
	}
	for _, l := range p.copies {
		if l != nil && l.memory == m {
			p.copies = append(p.copies, l)
			return l.region.id, nil
		}
	}
	region, err := p.shared.get(max(len(m.Data), 1))
	if err != nil {
		return 0, err
	}
	p.copies = append(p.copies, &sharedCopy{m, region})
	return region.id, nil
}

// parts calls f for each argument in a memory that is not shared.
func (p *passed) parts(list []hal.RequestArgument, f func(own, shared []byte, l hal.DataLocation)) {
	for i := range list {
		if l := list[i].Location; !list[i].HasNoValue && uint64(l.PoolIndex) < uint64(len(p.copies)) && p.copies[l.PoolIndex] != nil {
			x := p.copies[l.PoolIndex]
			f(x.memory.Data, x.region.region.Data, l)
		}
	}
}

// load copies arguments to the driver, before it reads them. Of outputs it reads what is
// behind their values.
func (p *passed) load(lists ...[]hal.RequestArgument) {
	for _, list := range lists {
		p.parts(list, func(own, shared []byte, l hal.DataLocation) { copyPart(shared, own, l) })
	}
}

// done ends the use of the pools. outputs are those that the driver has written: nothing
// else of a memory is touched, because it may be in use elsewhere.
func (p *passed) done(outputs []hal.RequestArgument) {
	p.parts(outputs, func(own, shared []byte, l hal.DataLocation) { copyPart(own, shared, l) })
	given := map[*sharedCopy]bool{nil: true}
	for _, l := range p.copies {
		if !given[l] {
			given[l] = true
			p.shared.put(l.region)
		}
	}
	p.copies = nil
}

// copyPart copies the bytes of a location, if both memories have them.
func copyPart(dst, src []byte, l hal.DataLocation) {
	end := uint64(l.Offset) + uint64(l.Length)
	if end <= uint64(len(dst)) && end <= uint64(len(src)) {
		copy(dst[l.Offset:end], src[l.Offset:end])
	}
}
