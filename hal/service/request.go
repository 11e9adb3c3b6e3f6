package service

import (
	"math"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// privateRequest is a request of a client on copies: the client may change its memory at
// any time, and would only change its own results. It is the hal.MemoryAccount of its execution.
type privateRequest struct {
	request         hal.Request
	inputs, outputs []part
	client          *client

	mu    sync.Mutex
	bytes int64 // reserved
}

// part is the copy of a part of a client's memory.
type part struct {
	data   []byte
	memory *memory
	offset int
}

// clientPool is a pool as a client names it.
type clientPool struct {
	memory   *memory // nil for device memory
	name     hal.MemoryName
	readOnly bool
	token    uint32
}

// clientPools finds the pools of a request.
func (x *session) clientPools(list []*pb.Pool) ([]clientPool, error) {
	pools := make([]clientPool, len(list))
	for i, p := range list {
		switch {
		case p.GetMemory() != 0:
			m, err := find[*memory](x, p.GetMemory())
			if err != nil {
				return nil, err
			}
			pools[i] = clientPool{memory: m, name: hal.MemoryName(p.GetName()), readOnly: p.GetReadOnly()}
		case x.hasToken(p.GetToken()):
			pools[i].token = p.GetToken()
		default:
			return nil, hal.Errorf(hal.InvalidArgument, "service: pool %d: no device memory of this client has token %d", i, p.GetToken())
		}
	}
	return pools, nil
}

// hasToken reports whether device memory of the session has a token.
func (x *session) hasToken(token uint32) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range x.objects {
		if b, ok := h.object.(*buffer); ok && b.Token() == token {
			return true
		}
	}
	return false
}

// newPrivate allocates memory for the arguments of a request. free ends its use.
func newPrivate(c *client, inputs, outputs []hal.RequestArgument, pools []clientPool) (*privateRequest, error) {
	p := &privateRequest{client: c}
	bytes := int64(0)
	for _, list := range [2][]hal.RequestArgument{inputs, outputs} {
		for i := range list {
			l := list[i].Location
			if list[i].HasNoValue || uint64(l.PoolIndex) >= uint64(len(pools)) || pools[l.PoolIndex].memory == nil {
				continue
			}
			if m := pools[l.PoolIndex].memory; uint64(l.Offset)+uint64(l.Length) > uint64(m.bytes) {
				return nil, hal.Errorf(hal.InvalidArgument, "service: %d bytes at %d of a memory of %d", l.Length, l.Offset, m.bytes)
			}
			bytes += int64(l.Length)
		}
	}
	if err := p.Reserve(bytes); err != nil {
		return nil, err
	}
	// The pools of the client stand first, without bytes, so that the driver checks their
	// kinds and tokens; each argument has a pool of its own behind them.
	for i := range pools {
		pool := hal.RequestPool{Token: pools[i].token}
		if pools[i].memory != nil {
			pool.Memory = &hal.Memory{Name: pools[i].name, ReadOnly: pools[i].readOnly}
		}
		p.request.Pools = append(p.request.Pools, pool)
	}
	p.request.Inputs, p.inputs = p.arguments(inputs, pools)
	p.request.Outputs, p.outputs = p.arguments(outputs, pools)
	return p, nil
}

// arguments gives each argument in a memory of the client a copy.
func (p *privateRequest) arguments(list []hal.RequestArgument, pools []clientPool) (own []hal.RequestArgument, parts []part) {
	own = make([]hal.RequestArgument, len(list))
	for i, a := range list {
		l := a.Location
		switch {
		case a.HasNoValue:
		case uint64(l.PoolIndex) >= uint64(len(pools)):
			a.Location.PoolIndex = math.MaxUint32 // and not the pool of another argument
		case pools[l.PoolIndex].memory != nil:
			from := pools[l.PoolIndex]
			data := make([]byte, l.Length)
			a.Location = hal.DataLocation{PoolIndex: uint32(len(p.request.Pools)), Length: l.Length}
			p.request.Pools = append(p.request.Pools, hal.RequestPool{Memory: &hal.Memory{Name: from.name, ReadOnly: from.readOnly, Data: data}})
			parts = append(parts, part{data, from.memory, int(l.Offset)})
		}
		own[i] = a
	}
	return own, parts
}

// reserveTemporaries reserves what an execution computes besides its arguments, and what the program has grown by. After an
// error the request is freed.
func (p *privateRequest) reserveTemporaries(m *model) error {
	if err := m.charge(); err != nil {
		p.free()
		return err
	}
	x, ok := hal.As[interface{ TemporaryBytes(*hal.Request) int64 }](m.PreparedModel)
	if !ok {
		return nil
	}
	if err := p.Reserve(x.TemporaryBytes(&p.request)); err != nil {
		p.free()
		return hal.Errorf(hal.StatusOf(err), "temporaries of an execution: %w", err)
	}
	return nil
}

// Reserve implements hal.MemoryAccount.
func (p *privateRequest) Reserve(bytes int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.client.reserve(cost{memoryBytes: bytes}); err != nil {
		return err
	}
	p.bytes += bytes
	return nil
}

// Free implements hal.MemoryAccount.
func (p *privateRequest) Free(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client.free(cost{memoryBytes: bytes})
	p.bytes -= bytes
}

// free returns the memory of the copies and temporaries.
func (p *privateRequest) free() {
	p.mu.Lock()
	n := p.bytes
	p.mu.Unlock()
	p.Free(n)
}

// load copies the inputs, and what is in the outputs: a driver may leave bytes behind a
// value as they are.
func (p *privateRequest) load() error {
	for _, list := range [2][]part{p.inputs, p.outputs} {
		for _, x := range list {
			if err := x.memory.copyOut(x.data, x.offset); err != nil {
				return err
			}
		}
	}
	return nil
}

// store copies the outputs back.
func (p *privateRequest) store() error {
	for _, x := range p.outputs {
		if err := x.memory.copyIn(x.data, x.offset); err != nil {
			return err
		}
	}
	return nil
}

// execute runs a request on copies of its inputs, and copies its outputs back when they
// are whole. A panic of the driver is an error here: in a burst no call contains it.
func (p *privateRequest) execute(m hal.PreparedModel, o hal.ExecuteOptions) (res *hal.Result, err error) {
	defer hal.Contain(&err, "service", "Execute")
	if err := p.load(); err != nil {
		return nil, err
	}
	o.Account = p
	res, err = m.Execute(&p.request, o)
	if err == nil {
		err = p.store()
	}
	return res, err
}

// private is a request as a call names it, and its prepared model.
func (x *session) private(r *pb.ExecuteRequest) (*model, *privateRequest, error) {
	m, err := find[*model](x, r.GetPrepared())
	if err != nil {
		return nil, nil, err
	}
	pools, err := x.clientPools(r.GetPools())
	if err != nil {
		return nil, nil, err
	}
	p, err := newPrivate(x.client, wire.FromArguments(r.GetInputs()), wire.FromArguments(r.GetOutputs()), pools)
	if err != nil {
		return nil, nil, err
	}
	return m, p, p.reserveTemporaries(m)
}

// executeOptions reads the options of a call.
func executeOptions(r *pb.ExecuteRequest) hal.ExecuteOptions {
	return hal.ExecuteOptions{
		MeasureTiming: r.GetMeasureTiming(), Deadline: (*hal.TimePoint)(r.Deadline), LoopTimeout: time.Duration(r.GetLoopTimeoutNs()),
		Functional: r.GetFunctional(), Detail: r.GetDetail(), InBurst: r.GetInBurst(),
		EngineOnly: r.GetEngineOnly(), Clock: wire.FromClock(r.GetClock()),
	}
}
