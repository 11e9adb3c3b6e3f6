package service

import (
	"runtime"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// Allocate implements hal.Device.
func (d *Device) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	r := &pb.AllocateRequest{Session: d.about.Session, Dimensions: desc.Dimensions, Inputs: wire.ToRoles(inputs), Outputs: wire.ToRoles(outputs)}
	for i, m := range models {
		p, ok := m.(*prepared)
		if !ok || p == nil || p.device != d {
			return nil, hal.Errorf(hal.InvalidArgument, "service: prepared model %d is not one of this device", i)
		}
		r.Prepared = append(r.Prepared, p.id)
	}
	b, err := d.client.Allocate(d.ctx, r)
	runtime.KeepAlive(models)
	if err != nil {
		return nil, d.failed(err)
	}
	return &deviceBuffer{d, b}, nil
}

// deviceBuffer is device memory in another process. It implements hal.Buffer.
type deviceBuffer struct {
	device *Device
	about  *pb.Buffer
}

// Token implements hal.Buffer.
func (b *deviceBuffer) Token() uint32 { return b.about.Token }

// Bytes implements hal.Buffer.
func (b *deviceBuffer) Bytes() int { return int(b.about.Bytes) }

// CopyTo implements hal.Buffer.
func (b *deviceBuffer) CopyTo(dst *hal.Memory) error {
	return b.copy(dst, nil, true)
}

// CopyFrom implements hal.Buffer.
func (b *deviceBuffer) CopyFrom(src *hal.Memory, dimensions []uint32) error {
	return b.copy(src, dimensions, false)
}

func (b *deviceBuffer) copy(m *hal.Memory, dimensions []uint32, out bool) error {
	if m == nil {
		return hal.Errorf(hal.InvalidArgument, "service: no memory")
	}
	d := b.device
	p := &passed{shared: &d.shared}
	id, err := p.add(m)
	if err != nil {
		return err
	}
	whole := []hal.RequestArgument{{Location: hal.DataLocation{Length: uint32(len(m.Data))}}}
	r := &pb.CopyRequest{Session: d.about.Session, Buffer: b.about.Id, Memory: id, Bytes: uint64(len(m.Data)), Name: string(m.Name), Dimensions: dimensions}
	var written []hal.RequestArgument
	if out {
		if _, err = d.client.CopyTo(d.ctx, r); err == nil {
			written = whole
		}
	} else {
		p.load(whole)
		_, err = d.client.CopyFrom(d.ctx, r)
	}
	p.done(written)
	return d.failed(err)
}

// Release implements hal.Buffer.
func (b *deviceBuffer) Release() { b.device.release(b.about.Id) }
