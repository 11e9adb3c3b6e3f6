package burst

import (
	"errors"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// Context is IBurstContext as the client sees it.
type Context interface {
	FreeMemory(slot int32)
	Close()
}

// Controller is the client's end of a burst. It implements hal.Burst.
type Controller struct {
	Slots             *Slots
	Requests, Results Channel
	// Fallback executes what a burst cannot carry: PreparedModel.Execute.
	Fallback func(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error)
	Context  Context
	// Stats returns the costs of the last execution when the driver lives in this
	// process; packets do not carry them.
	Stats func() hal.Stats

	mu     sync.Mutex // held by the execution that runs
	closed bool
}

// CacheMemory implements hal.Burst.
func (c *Controller) CacheMemory(m *hal.Memory) (release func()) {
	_, release, err := c.Slots.Acquire(m)
	if err != nil {
		return func() {}
	}
	return release
}

// Execute implements hal.Burst.
func (c *Controller) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if !c.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: an execution has not ended")
	}
	defer c.mu.Unlock()
	if c.closed {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: it is closed")
	}
	if r == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "burst: no request")
	}
	o.InBurst = true
	if !carries(r, &o) {
		return c.Fallback(r, o)
	}
	m := &RequestMessage{Inputs: r.Inputs, Outputs: r.Outputs, MeasureTiming: o.MeasureTiming}
	for i := range r.Pools {
		slot, release, err := c.Slots.Acquire(r.Pools[i].Memory)
		if err != nil {
			return nil, err
		}
		defer release()
		m.Slots = append(m.Slots, slot)
	}
	if err := c.Requests.Write(m.Packet()); err != nil { // nothing was sent
		return c.Fallback(r, o)
	}
	return c.receive()
}

// carries reports whether packets can express a request and its options.
func carries(r *hal.Request, o *hal.ExecuteOptions) bool {
	for i := range r.Pools {
		if r.Pools[i].Memory == nil {
			return false
		}
	}
	return o.Deadline == nil && o.LoopTimeout == 0 && !o.Functional && !o.Detail && o.Trace == nil && o.Profile == nil && o.Client == nil && !o.EngineOnly
}

// receive waits for the result of the request that was sent. It is not sent again: the
// driver may have executed it.
func (c *Controller) receive() (*hal.Result, error) {
	packet, err := c.Results.Read(PollWindow)
	if errors.Is(err, ErrInvalid) {
		return nil, hal.Errorf(hal.GeneralFailure, "burst: the driver is gone: %w", err)
	}
	m, err := ParseResult(packet)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "the driver's result: %w", err)
	}
	res := &hal.Result{Timing: m.Timing}
	for _, s := range m.Shapes {
		res.OutputDimensions = append(res.OutputDimensions, s.Dimensions)
		res.Insufficient = append(res.Insufficient, !s.IsSufficient)
	}
	switch m.Status {
	case hal.StatusNone:
		if c.Stats != nil {
			res.Stats = c.Stats()
		}
		return res, nil
	case hal.OutputInsufficientSize:
		return res, hal.Errorf(m.Status, "burst: the driver answers %s", m.Status)
	}
	return nil, hal.Errorf(m.Status, "burst: the driver answers %s", m.Status)
}

// Close implements hal.Burst.
func (c *Controller) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.Context.Close()
	}
	return nil
}
