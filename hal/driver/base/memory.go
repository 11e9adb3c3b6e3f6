package base

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
)

// memories is the device memory that clients hold, by token.
type memories struct {
	mu   sync.Mutex
	last uint32
	live map[uint32]*buffer
}

// role is a use of device memory.
type role struct {
	model *prepared
	input bool
	io    uint32
}

// buffer is device memory. It implements hal.Buffer.
type buffer struct {
	device  *Device
	token   uint32
	operand nn.Operand // type, quantization and shape that all roles agree on
	roles   map[role]bool

	mu          sync.Mutex
	data        []byte
	initialized bool
}

// Allocate implements hal.Device. Memory of unknown size is not supported: the error has
// status GENERAL_FAILURE.
func (d *Device) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (b hal.Buffer, err error) {
	defer hal.Contain(&err, d.cfg.Name, "Allocate")
	own := make([]*prepared, len(models))
	graphs := make([]*nn.Model, len(models))
	for i, m := range models {
		p, ok := m.(*prepared)
		if !ok || p == nil || p.device != d {
			return nil, hal.Errorf(hal.InvalidArgument, "%s driver: prepared model %d is not one of this device", d.cfg.Name, i)
		}
		own[i], graphs[i] = p, p.original
	}
	operand, err := validate.MemoryDesc(desc, graphs, inputs, outputs)
	if err != nil {
		return nil, err
	}
	if !operand.Known() {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: device memory of unknown shape %v is not supported", d.cfg.Name, operand.Dimensions)
	}
	x := &buffer{device: d, operand: operand, roles: map[role]bool{}, data: make([]byte, operand.Bytes())}
	for k, list := range [2][]hal.BufferRole{inputs, outputs} {
		for _, r := range list {
			x.roles[role{own[r.ModelIndex], k == 0, r.IOIndex}] = true
		}
	}
	d.memories.add(x)
	d.Log(vlog.Memory, "allocate: token %d, %d bytes, %d roles", x.token, len(x.data), len(x.roles))
	return x, nil
}

// add gives a buffer a token that no living buffer has.
func (m *memories) add(b *buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live == nil {
		m.live = map[uint32]*buffer{}
	}
	for m.last++; m.last == 0 || m.live[m.last] != nil; m.last++ {
	}
	b.token = m.last
	m.live[b.token] = b
}

// find is the living buffer of a token, nil when there is none.
func (m *memories) find(token uint32) *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[token]
}

// Token implements hal.Buffer.
func (b *buffer) Token() uint32 { return b.token }

// Bytes implements hal.Buffer.
func (b *buffer) Bytes() int { return len(b.data) }

// Release implements hal.Buffer. Executions that use the buffer continue.
func (b *buffer) Release() {
	m := &b.device.memories
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, b.token)
	b.device.Log(vlog.Memory, "release: token %d", b.token)
}

// CopyTo implements hal.Buffer.
func (b *buffer) CopyTo(dst *hal.Memory) error {
	if err := validate.Pool(dst); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(dst.Data) != len(b.data):
		return hal.Errorf(hal.InvalidArgument, "copyTo: a memory of %d bytes for a value of %d", len(dst.Data), len(b.data))
	case !b.initialized:
		return hal.Errorf(hal.GeneralFailure, "copyTo: device memory %d is uninitialized", b.token)
	}
	copy(dst.Data, b.data)
	return nil
}

// CopyFrom implements hal.Buffer. After an error the buffer is uninitialized.
func (b *buffer) CopyFrom(src *hal.Memory, dimensions []uint32) error {
	if err := validate.Pool(src); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.initialized = false
	switch {
	case len(dimensions) > 0 && !slices.Equal(dimensions, b.operand.Dimensions):
		return hal.Errorf(hal.InvalidArgument, "copyFrom: dimensions %v for device memory of %v", dimensions, b.operand.Dimensions)
	case len(src.Data) != len(b.data):
		return hal.Errorf(hal.InvalidArgument, "copyFrom: a memory of %d bytes for a value of %d", len(src.Data), len(b.data))
	}
	copy(b.data, src.Data)
	b.initialized = true
	return nil
}

// roleUse is one argument of a request that is device memory.
type roleUse struct {
	input bool
	io    int
	*buffer
}

// uses lists the device memory of a request and checks its roles.
func (p *prepared) uses(r *hal.Request) ([]*roleUse, error) {
	var list []*roleUse
	invalid := func(format string, args ...any) error {
		return hal.Errorf(hal.InvalidArgument, p.device.cfg.Name+" driver: "+format, args...)
	}
	for k, args := range [2][]hal.RequestArgument{r.Inputs, r.Outputs} {
		what := [2]string{"input", "output"}[k]
		for i := range args {
			if args[i].HasNoValue || r.Pools[args[i].Location.PoolIndex].Memory != nil {
				continue
			}
			token := r.Pools[args[i].Location.PoolIndex].Token
			b := p.device.memories.find(token)
			switch {
			case b == nil:
				return nil, invalid("%s %d: no device memory has token %d", what, i, token)
			case !b.roles[role{p, k == 0, uint32(i)}]:
				return nil, invalid("%s %d: device memory %d was not allocated for this use", what, i, token)
			case len(args[i].Dimensions) > 0 && !slices.Equal(args[i].Dimensions, b.operand.Dimensions):
				return nil, invalid("%s %d: dimensions %v for device memory of %v", what, i, args[i].Dimensions, b.operand.Dimensions)
			}
			for _, u := range list {
				if u.buffer == b && k == 1 {
					return nil, invalid("device memory %d is used twice, once as an output", token)
				}
			}
			list = append(list, &roleUse{k == 0, i, b})
		}
	}
	return list, nil
}

// acquire makes the device memory of a request its buffers. It looks at the state when
// the execution begins, because an earlier one with fences may have changed it.
func (p *prepared) acquire(b *bound) error {
	for _, u := range b.memory {
		u.mu.Lock()
		ready := u.initialized
		u.mu.Unlock()
		if u.input && !ready {
			return hal.Errorf(hal.GeneralFailure, "%s driver: input %d: device memory %d is uninitialized", p.device.cfg.Name, u.io, u.token)
		}
	}
	b.buffers.DeviceInputs, b.buffers.DeviceOutputs = make([]bool, len(b.buffers.Inputs)), make([]bool, len(b.buffers.Outputs))
	for _, u := range b.memory {
		if u.input {
			b.buffers.DeviceInputs[u.io] = true
			b.buffers.Inputs[u.io] = u.data
			b.buffers.InputDimensions[u.io] = u.operand.Dimensions
			continue
		}
		u.mu.Lock()
		u.initialized = false
		u.mu.Unlock()
		b.buffers.DeviceOutputs[u.io] = true
		b.buffers.Outputs[u.io] = u.data
		b.partial[u.io] = false
	}
	return nil
}

// markWritten records whether the device memory of the outputs holds a value: after an
// execution that failed, also one with another output that is too small, it does not.
func (b *bound) markWritten(ok bool) {
	for _, u := range b.memory {
		if !u.input {
			u.mu.Lock()
			u.initialized = ok
			u.mu.Unlock()
		}
	}
}
