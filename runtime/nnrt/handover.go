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
