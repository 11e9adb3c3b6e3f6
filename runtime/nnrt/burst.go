package nnrt

import (
	"errors"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
)

// Burst is a burst to each part of a compilation: a fast path for executions that
// follow each other closely, one at a time.
type Burst struct {
	parts map[hal.PreparedModel]hal.Burst
}

// NewBurst opens the bursts. A part whose device has none is executed without.
func (c *Compilation) NewBurst() *Burst {
	b := &Burst{parts: map[hal.PreparedModel]hal.Burst{}}
	for i := range c.steps {
		switch p := c.steps[i].prepared.(type) {
		case unprepared, *jump, *view:
		default:
			if part, err := guarded.ConfigureBurst(c.steps[i].device, p); err == nil {
				b.parts[p] = part
			}
		}
	}
	return b
}

// of is the burst of a prepared model, nil when there is none.
func (b *Burst) of(p hal.PreparedModel) hal.Burst {
	if b == nil {
		return nil
	}
	return b.parts[p]
}

// Close ends the bursts.
func (b *Burst) Close() error {
	var errs []error
	for _, p := range b.parts {
		errs = append(errs, p.Close())
	}
	clear(b.parts)
	return errors.Join(errs...)
}
