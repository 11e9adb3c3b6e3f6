package nnrt

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// handover is a value that only parts of one device write and read. It is in memory of
// that device, so that no part maps it or maintains caches for it.
type handover struct {
	operand uint32
	roles   []Role
}

// findHandovers lists the values that stay on a device. AOSP's runtime keeps what goes
// from part to part in memory that all processors share, and so do plans that run as its
// own.
func (c *Compilation) findHandovers() (list []handover) {
	if c.links == nil || c.sequential {
		return nil
	}
	g := &c.Model.Main
	for i := range c.steps {
		s := &c.steps[i]
		for _, x := range s.outputs {
			if o := &g.Operands[x]; s.device == c.cpu || o.Lifetime != nn.TemporaryVariable || !o.Known() {
				continue
			}
			roles, ok := c.uses(x)
			if !ok || slices.ContainsFunc(roles, func(r Role) bool { return r.Device != s.device }) {
				continue
			}
			if b, err := Allocate(roles, nil); err == nil { // not every driver has memory of its own
				b.Release()
				list = append(list, handover{x, roles})
			}
		}
	}
	return list
}

// allocateDeviceMemory allocates memory of the devices for tensors that stay on one.
func (e *execution) allocateDeviceMemory() {
	for _, h := range e.handovers {
		if b, err := Allocate(h.roles, nil); err == nil {
			e.frames[0][h.operand].buffer = b
			e.deviceBuffers = append(e.deviceBuffers, b)
		}
	}
}

// release frees that memory. Executions that were started with it continue.
func (e *execution) release() {
	for _, b := range e.deviceBuffers {
		b.Release()
	}
	e.deviceBuffers = nil
}
