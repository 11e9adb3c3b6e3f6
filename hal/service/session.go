package service

import (
	"maps"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// Quotas bound what one client can hold and do; 0 takes the default.
type Quotas struct {
	Memory   int64 // bytes of shared memory; default 1 GiB
	Prepared int   // prepared models; default 256
	Bursts   int   // default 256
	Calls    int   // that run at a time; default 16
}

func (q Quotas) withDefaults() Quotas {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	if q.Memory <= 0 {
		q.Memory = 1 << 30
	}
	set(&q.Prepared, 256)
	set(&q.Bursts, 256)
	set(&q.Calls, 16)
	return q
}

// session is what a client holds.
type session struct {
	id     uint64
	pid    int
	quotas Quotas
	calls  chan struct{} // one element per call that runs
	// running is held for reading while memory is in use, for writing to end the session.
	running sync.RWMutex

	mu       sync.Mutex
	ended    bool
	next     uint64 // the id given last
	bytes    int64
	memories map[uint64]*memory
	prepared map[uint64]hal.PreparedModel
	bursts   map[uint64]*burstEnd
}

// memory is a mapped region of a client.
type memory struct {
	region *shm.Region
	view   *hal.Memory
	bytes  int
	use    sync.RWMutex // held for reading while somebody looks at the bytes
	gone   bool
}

func newSession(id uint64, pid int, q Quotas) *session {
	return &session{
		id: id, pid: pid, quotas: q, calls: make(chan struct{}, q.Calls),
		memories: map[uint64]*memory{}, prepared: map[uint64]hal.PreparedModel{}, bursts: map[uint64]*burstEnd{},
	}
}

// share maps a memory of the client.
func (s *session) share(fd int32, n uint64, readOnly bool) (uint64, error) {
	if n > uint64(s.quotas.Memory) {
		return 0, hal.Errorf(hal.ResourceExhaustedPersistent, "service: a memory of %d bytes, a client has at most %d", n, s.quotas.Memory)
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return 0, errEnded
	}
	if s.bytes+int64(n) > s.quotas.Memory {
		s.mu.Unlock()
		return 0, hal.Errorf(hal.ResourceExhaustedTransient, "service: %d bytes more than the %d in use, a client has at most %d", n, s.bytes, s.quotas.Memory)
	}
	s.bytes += int64(n)
	s.mu.Unlock()
	r, err := shm.Open(s.pid, int(fd), n, readOnly)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.bytes -= int64(n)
		return 0, hal.Errorf(hal.InvalidArgument, "service: %w", err)
	}
	if s.ended {
		_ = r.Close()
		return 0, errEnded
	}
	s.next++
	s.memories[s.next] = &memory{region: r, bytes: len(r.Data), view: &hal.Memory{Name: hal.MmapFd, Data: r.Data, ReadOnly: readOnly}}
	return s.next, nil
}

// errEnded is the error of a call after its session.
var errEnded = hal.Errorf(hal.InvalidArgument, "service: the session has ended")

// keep gives a thing a number, if the quota allows.
func keep[T any](s *session, what string, m map[uint64]T, most int, v T) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, errEnded
	}
	if len(m) >= most {
		return 0, hal.Errorf(hal.ResourceExhaustedTransient, "service: a client has at most %d %s", most, what)
	}
	s.next++
	m[s.next] = v
	return s.next, nil
}

// find is the thing with a number.
func find[T any](s *session, what string, m map[uint64]T, id uint64) (v T, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := m[id]
	if !ok {
		return v, hal.Errorf(hal.InvalidArgument, "service: no %s %d", what, id)
	}
	return v, nil
}

// copyOut copies a part of a client's memory.
func (m *memory) copyOut(dst []byte, offset int) error {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.gone || offset > len(m.view.Data) || len(dst) > len(m.view.Data)-offset {
		return hal.Errorf(hal.InvalidArgument, "service: %d bytes at %d of a memory of %d", len(dst), offset, len(m.view.Data))
	}
	copy(dst, m.view.Data[offset:])
	return nil
}

// copyIn writes a part of a client's memory.
func (m *memory) copyIn(src []byte, offset int) error {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.gone || m.view.ReadOnly || offset > len(m.view.Data) || len(src) > len(m.view.Data)-offset {
		return hal.Errorf(hal.InvalidArgument, "service: %d bytes to %d of a memory of %d that may be read only", len(src), offset, len(m.view.Data))
	}
	copy(m.view.Data[offset:], src)
	return nil
}

// close unmaps the memory when nobody looks at it any more.
func (m *memory) close() {
	m.use.Lock()
	defer m.use.Unlock()
	if !m.gone {
		m.gone = true
		m.view.Data = nil
		_ = m.region.Close()
	}
}

// release frees whatever has a number.
func (s *session) release(id uint64) error {
	s.mu.Lock()
	m, isMemory := s.memories[id]
	_, isPrepared := s.prepared[id]
	b, isBurst := s.bursts[id]
	if isMemory {
		s.bytes -= int64(m.bytes)
	}
	delete(s.memories, id)
	delete(s.prepared, id)
	delete(s.bursts, id)
	s.mu.Unlock()
	switch {
	case isMemory:
		m.close()
	case isBurst:
		b.close()
	case !isPrepared:
		return hal.Errorf(hal.InvalidArgument, "service: nothing has the number %d", id)
	}
	return nil
}

// end frees all that the client held, after the calls that run.
func (s *session) end() {
	s.mu.Lock()
	s.ended = true
	bursts, memories := slices.Collect(maps.Values(s.bursts)), slices.Collect(maps.Values(s.memories))
	clear(s.bursts)
	clear(s.memories)
	clear(s.prepared)
	s.mu.Unlock()
	for _, b := range bursts {
		b.close()
	}
	s.running.Lock()
	defer s.running.Unlock()
	for _, m := range memories {
		m.close()
	}
}

// held counts what the session holds.
func (s *session) held() (memories, prepared, bursts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.memories), len(s.prepared), len(s.bursts)
}

// burstEnd is the driver's end of a burst of a client. Its rings lie in a memory of the
// client, which the burst keeps mapped.
type burstEnd struct {
	session *session
	model   hal.PreparedModel
	rings   *memory
	server  *burst.Server
	once    sync.Once

	mu    sync.Mutex
	slots map[int32]*memory
}

// RingLength is the number of datums of each ring of a burst.
const RingLength = burst.ChannelLength

func (s *session) openBurst(model hal.PreparedModel, rings *memory) (*burstEnd, error) {
	n := shm.RingBytes(RingLength)
	if len(rings.view.Data) < 2*n || rings.view.ReadOnly {
		return nil, hal.Errorf(hal.InvalidArgument, "service: %d bytes for two rings, takes %d to write", len(rings.view.Data), 2*n)
	}
	requests, err := shm.NewRing(rings.view.Data, RingLength)
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: %w", err)
	}
	results, err := shm.NewRing(rings.view.Data[n:], RingLength)
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: %w", err)
	}
	rings.use.RLock() // until the burst is closed
	if rings.gone {
		rings.use.RUnlock()
		return nil, errEnded
	}
	b := &burstEnd{session: s, model: model, rings: rings, slots: map[int32]*memory{}}
	b.server, err = burst.NewServer(burst.ServerConfig{Callback: b, Requests: requests, Results: results, Poll: burst.PollWindow, Execute: b.execute})
	if err != nil {
		rings.use.RUnlock()
		return nil, err
	}
	return b, nil
}

func (b *burstEnd) close() {
	b.once.Do(func() {
		b.server.Close()
		b.rings.use.RUnlock()
	})
}

// set says which memory a slot is; nil forgets it.
func (b *burstEnd) set(slot int32, m *memory) {
	b.mu.Lock()
	if delete(b.slots, slot); m != nil {
		b.slots[slot] = m
	}
	b.mu.Unlock()
	b.server.FreeMemory(slot) // not inside: the server asks for slots while it is locked
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
	pools := make([]*memory, len(r.Pools))
	b.mu.Lock()
	for i := range r.Pools {
		for _, m := range b.slots {
			if m.view == r.Pools[i].Memory {
				pools[i] = m
			}
		}
	}
	b.mu.Unlock()
	return execute(b.model, r, pools, hal.ExecuteOptions{MeasureTiming: measure, InBurst: true})
}

// execute runs a request whose pools are memories of a client, on copies of its inputs,
// and copies its outputs back when they are whole.
func execute(model hal.PreparedModel, r *hal.Request, pools []*memory, o hal.ExecuteOptions) (*hal.Result, error) {
	private := &hal.Request{}
	pool := func(a hal.RequestArgument) (hal.RequestArgument, *memory, error) {
		if a.HasNoValue {
			return a, nil, nil
		}
		l := a.Location
		if uint64(l.PoolIndex) >= uint64(len(pools)) || pools[l.PoolIndex] == nil {
			return a, nil, hal.Errorf(hal.InvalidArgument, "service: pool %d of %d", l.PoolIndex, len(pools))
		}
		m := pools[l.PoolIndex]
		if uint64(l.Offset)+uint64(l.Length) > uint64(m.bytes) {
			return a, nil, hal.Errorf(hal.InvalidArgument, "service: %d bytes at %d of a memory of %d", l.Length, l.Offset, m.bytes)
		}
		private.Pools = append(private.Pools, hal.RequestPool{Memory: hal.NewMemory(int(l.Length))})
		a.Location = hal.DataLocation{PoolIndex: uint32(len(private.Pools) - 1), Length: l.Length}
		return a, m, nil
	}
	for _, a := range r.Inputs {
		p, m, err := pool(a)
		if err != nil {
			return nil, err
		}
		if m != nil {
			if err := m.copyOut(private.Pools[p.Location.PoolIndex].Memory.Data, int(a.Location.Offset)); err != nil {
				return nil, err
			}
		}
		private.Inputs = append(private.Inputs, p)
	}
	type back struct {
		data   []byte
		to     *memory
		offset int
	}
	var outputs []back
	for _, a := range r.Outputs {
		p, m, err := pool(a)
		if err != nil {
			return nil, err
		}
		if m != nil {
			outputs = append(outputs, back{private.Pools[p.Location.PoolIndex].Memory.Data, m, int(a.Location.Offset)})
		}
		private.Outputs = append(private.Outputs, p)
	}
	res, err := model.Execute(private, o)
	if err != nil {
		return res, err
	}
	for _, b := range outputs {
		if err := b.to.copyIn(b.data, b.offset); err != nil {
			return nil, err
		}
	}
	return res, nil
}
