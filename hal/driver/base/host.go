package base

import "github.com/nnsoc/nnsoc/hal"

// Host carries executions from a client to a device and back: the software in
// between, the clocks and idle states of the machine.
type Host interface {
	// Execute calls run once, when the device starts, unless it fails before. The
	// result has the costs of the whole way. Executions may come at once.
	Execute(c *Call, run func(hal.Tracer) (*hal.Result, error)) (*hal.Result, error)
}

// Call is an execution on its way.
type Call struct {
	Options hal.PrepareOptions // of the prepared model
	Buffers *hal.Buffers
}

// through executes a program on the device's host; a functional execution, or a device
// without one, has no way to go.
func (p *prepared) through(b *hal.Buffers) (*hal.Result, error) {
	host := p.device.cfg.Host
	if host == nil || b.Functional {
		return p.program.Execute(b)
	}
	return host.Execute(&Call{p.options, b}, func(t hal.Tracer) (*hal.Result, error) {
		inner := *b
		inner.Trace = t
		return p.program.Execute(&inner)
	})
}
