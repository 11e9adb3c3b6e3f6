package service

import (
	"context"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service/internal/unixpeer"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// session is what a client holds through one connection: objects, by number.
type session struct {
	id     uint64
	from   *unixpeer.Process // the connection that opened it, and that alone may use it
	client *client

	mu      sync.Mutex
	ended   bool
	next    uint64 // the number given last
	objects map[uint64]entry
}

// object is a thing that a session holds: a memory, a prepared model, a burst or device
// memory.
type object interface {
	kind() string // works on nil
	close()
}

// entry is an object with what it counts against the client's quotas.
type entry struct {
	object
	cost cost
}

func newSession(id uint64, from *unixpeer.Process, c *client) *session {
	return &session{id: id, from: from, client: c, objects: map[uint64]entry{}}
}

type sessionKey struct{}

// sessionOf is the session of a call; the server's interceptor has found it.
func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// errEnded is the error of a call after its session.
var errEnded = hal.Errorf(hal.InvalidArgument, "service: the session has ended")

// create produces an object within the client's quotas and registers it by number.
func create[T object](x *session, c cost, produce func() (T, error)) (id uint64, o T, err error) {
	if err := x.client.reserve(c); err != nil {
		return 0, o, err
	}
	if o, err = produce(); err != nil {
		x.client.free(c)
		return 0, o, err
	}
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		o.close()
		x.client.free(c)
		return 0, o, errEnded
	}
	defer x.mu.Unlock()
	x.next++
	x.objects[x.next] = entry{o, c}
	return x.next, o, nil
}

// find is the object of a kind with a number.
func find[T object](x *session, id uint64) (T, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o, ok := x.objects[id].object.(T)
	if !ok {
		return o, hal.Errorf(hal.InvalidArgument, "service: no %s has the number %d", o.kind(), id)
	}
	return o, nil
}

// release frees the object with a number.
func (x *session) release(id uint64) error {
	x.mu.Lock()
	h, ok := x.objects[id]
	delete(x.objects, id)
	x.mu.Unlock()
	if !ok {
		return hal.Errorf(hal.InvalidArgument, "service: nothing has the number %d", id)
	}
	h.close()
	x.client.free(h.cost)
	return nil
}

// end frees all that the client held. What is in use is freed when that use ends; it
// holds up nothing else.
func (x *session) end() {
	x.mu.Lock()
	x.ended = true
	objects := x.objects
	x.objects = nil
	x.mu.Unlock()
	var wait sync.WaitGroup
	for _, h := range objects {
		wait.Go(func() {
			h.close()
			x.client.free(h.cost)
		})
	}
	wait.Wait()
}

// Holdings count what clients hold.
type Holdings struct {
	Sessions, Memories, Prepared, Buffers, Bursts int
}

// Total is the sum.
func (h Holdings) Total() int { return h.Sessions + h.Memories + h.Prepared + h.Buffers + h.Bursts }

func (x *session) count(h *Holdings) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h.Sessions++
	for _, o := range x.objects {
		switch o.object.(type) {
		case *memory:
			h.Memories++
		case *model:
			h.Prepared++
		case *buffer:
			h.Buffers++
		case *burstEnd:
			h.Bursts++
		}
	}
}

// model is a prepared model of a client.
type model struct {
	hal.PreparedModel
	client *client

	mu      sync.Mutex
	program cost // of code and constants, which are known when they are there
}

func (*model) kind() string { return "prepared model" }
func (m *model) close()     { m.client.free(m.program) }

// charge counts what the program holds by now: one of open shapes grows with the shapes that it meets.
func (m *model) charge() error {
	s, ok := hal.As[interface{ ProgramBytes() int64 }](m.PreparedModel)
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := s.ProgramBytes() - m.program[memoryBytes]
	if n < 0 {
		m.client.free(cost{memoryBytes: -n})
	} else if err := m.client.reserve(cost{memoryBytes: n}); err != nil {
		return err
	}
	m.program[memoryBytes] += n
	return nil
}

// buffer is device memory of a client.
type buffer struct {
	hal.Buffer
	client *client
}

func (*buffer) kind() string { return "device memory" }

func (b *buffer) close() {
	b.Release()
	b.client.free(cost{memoryBytes: int64(b.Bytes())})
}

// memory is a mapped region of a client.
type memory struct {
	region   *shm.Region
	view     *hal.Memory // its identity; Data is nil when the memory is unmapped
	bytes    int
	use      sync.RWMutex // held for reading while somebody looks at the bytes
	unmapped bool
}

func (*memory) kind() string { return "memory" }

// share maps a memory of the client.
func (x *session) share(fd int32, n uint64, readOnly bool) (uint64, error) {
	if n == 0 || n > shm.MaxBytes {
		return 0, hal.Errorf(hal.InvalidArgument, "service: a memory of %d bytes, want 1 to %d", n, shm.MaxBytes)
	}
	id, _, err := create(x, cost{memoryBytes: int64(n)}, func() (*memory, error) {
		r, err := shm.Open(x.client.pid, int(fd), n, readOnly)
		if err != nil {
			return nil, hal.Errorf(hal.InvalidArgument, "service: %w", err)
		}
		return &memory{region: r, bytes: len(r.Data), view: &hal.Memory{Name: hal.MmapFd, Data: r.Data, ReadOnly: readOnly}}, nil
	})
	return id, err
}

// copyOut copies a part of a client's memory.
func (m *memory) copyOut(dst []byte, offset int) error {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.unmapped || offset > m.bytes || len(dst) > m.bytes-offset {
		return hal.Errorf(hal.InvalidArgument, "service: %d bytes at %d of a memory of %d", len(dst), offset, m.bytes)
	}
	copy(dst, m.view.Data[offset:])
	return nil
}

// copyIn writes a part of a client's memory.
func (m *memory) copyIn(src []byte, offset int) error {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.unmapped || m.view.ReadOnly || offset > m.bytes || len(src) > m.bytes-offset {
		return hal.Errorf(hal.InvalidArgument, "service: %d bytes to %d of a memory of %d that may be read only", len(src), offset, m.bytes)
	}
	copy(m.view.Data[offset:], src)
	return nil
}

// close unmaps the memory when nobody looks at it any more.
func (m *memory) close() {
	m.use.Lock()
	defer m.use.Unlock()
	if !m.unmapped {
		m.unmapped = true
		m.view.Data = nil
		_ = m.region.Close()
	}
}
