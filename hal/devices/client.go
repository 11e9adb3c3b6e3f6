package devices

import (
	"errors"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// Client is a thread of an application on a machine. It implements hal.Client.
type Client struct {
	m      *Machine
	soc    *platform.Client // nil: the machine's own client
	warmed *warmUps         // nil but while it warms up
}

// Enter implements hal.Machine.
func (m *Machine) Enter(f func(hal.Client) error) error {
	return m.enter(func(c *Client) error { return f(c) })
}

func (m *Machine) enter(f func(*Client) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f(&Client{m: m})
}

// RunConcurrent runs clients concurrently in simulated time, from the present instant on, and
// returns when each ended: see platform.Machine.Go. A client is a function
// that executes prepared models of the machine's devices as the client that it is given.
func (m *Machine) RunConcurrent(clients ...func(*Client) error) (ends []sim.Time, err error) {
	err = m.enter(func(me *Client) error {
		var list []*Client
		for _, f := range clients {
			c, err := me.start(f)
			if err != nil {
				return err
			}
			list = append(list, c)
		}
		var errs []error
		for _, c := range list {
			errs = append(errs, me.Join(c))
			ends = append(ends, c.soc.Now())
		}
		return errors.Join(errs...)
	})
	return ends, err
}

// NowFs implements hal.Client.
func (c *Client) NowFs() int64 { return int64(c.m.soc.Now()) }

// WaitUntil implements hal.Client.
func (c *Client) WaitUntil(fs int64) { c.m.soc.Sleep(sim.Time(fs)) }

// AwaitTurn returns when no other client of the machine can still do anything before the present instant of this one.
func (c *Client) AwaitTurn() { c.m.soc.AwaitTurn() }

// Go implements hal.Client.
func (c *Client) Go(f func(hal.Client) error) (hal.Client, error) {
	return c.start(func(x *Client) error { return f(x) })
}

func (c *Client) start(f func(*Client) error) (*Client, error) {
	x := &Client{m: c.m}
	var err error
	if x.soc, err = c.m.soc.Go(func() error { return f(x) }); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	return x, nil
}

// Join implements hal.Client.
func (c *Client) Join(other hal.Client) error {
	x, ok := other.(*Client)
	if !ok || x.m != c.m || x.soc == nil {
		return hal.Errorf(hal.InvalidArgument, "no client that was started on this machine: %T", other)
	}
	return c.m.soc.Join(x.soc)
}

// Account implements hal.Client.
func (c *Client) Account() hal.Account { return account{c.m.soc.Account()} }

// account implements hal.Account.
type account struct{ shared *platform.Account }

func (a account) Components() []hal.ComponentEnergy { return components(&a.shared.PJ) }

// Warm warms the client up as Machine.Warm does, concurrently with the others: it calls f, whose
// executions find the clocks of their engines as after work without a pause, and repeats it with
// executions of the same costs until platform.WarmUp has passed.
func (c *Client) Warm(f func() error) error {
	c.warmed = &warmUps{known: map[any][]*remembered{}, most: maxSteadyRuns}
	defer func() { c.warmed = nil }()
	return c.m.warmUp(c.warmed, f)
}
