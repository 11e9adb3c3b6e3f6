package nnapi

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
)

// SetMachine sets the phone that the devices are part of; it must precede the first
// compilation. Executions then share the phone's time: started executions
// run concurrently with what is computed before they are waited for, queue for engines by the priority of
// their compilation, and contend for memory. The application's own time advances when it
// computes or waits, so results follow from the order of its calls; otherwise started
// executions do not advance, and Close ends them.
func (r *Runtime) SetMachine(m hal.Machine) { r.machine = m }

// Close waits for all executions that were started. Nothing of them is left then.
func (r *Runtime) Close() error {
	for {
		r.mu.Lock()
		var next *Event
		if len(r.started) > 0 {
			next = r.started[0]
		}
		r.mu.Unlock()
		if next == nil {
			return nil
		}
		_ = next.Wait() // who needs the result has waited for it
		r.ended(next)
	}
}

// begun keeps an event until somebody has waited for it.
func (r *Runtime) begun(v *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, v)
}

func (r *Runtime) ended(v *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = slices.DeleteFunc(r.started, func(x *Event) bool { return x == v })
}

// now executes in the caller's goroutine, at the present time of the machine.
func (e *Execution) now(do func(hal.Client) error) (err error) {
	m := e.c.runtime.machine
	if m == nil {
		return do(nil)
	}
	return m.Enter(do)
}

// runConcurrent executes concurrently with what follows, after events. Where no clients of a machine do so, the
// event has a fence that signals on the clock of a driver; nil is no fence.
func (e *Execution) runConcurrent(call string, after []*Event, driver hal.Device, do func(hal.Client) error) (*Event, error) {
	r := e.c.runtime
	v := &Event{runtime: r}
	failed := func(err error) error {
		return e.end(nil, fail(OpFailed, "%s: a dependency failed: %w", call, err))
	}
	foreign := slices.ContainsFunc(after, func(x *Event) bool { return x.client == nil || x.runtime != r })
	if r.machine == nil || foreign {
		v.done = make(chan struct{})
		if driver != nil {
			v.fence = hal.NewSyncFence()
		}
		r.begun(v)
		go func() {
			defer r.ended(v)
			defer close(v.done)
			defer func() {
				if driver != nil {
					v.fence.Signal(driver.Now(), v.err)
				}
			}()
			for _, x := range after {
				if err := x.Wait(); err != nil {
					v.err = failed(err)
					return
				}
			}
			v.err = e.now(do)
		}()
		return v, nil
	}
	err := r.machine.Enter(func(me hal.Client) (err error) {
		v.client, err = me.Go(func(c hal.Client) error {
			v.err = func() error {
				for _, x := range after {
					if err := c.Join(x.client); err != nil {
						return failed(err)
					}
				}
				return do(c)
			}()
			return v.err
		})
		return err
	})
	if err != nil {
		return nil, e.end(nil, wrap(err))
	}
	r.begun(v)
	return v, nil
}

// join waits for a client in the machine's time.
func (v *Event) join() error {
	err := v.runtime.machine.Enter(func(me hal.Client) error { return me.Join(v.client) })
	v.runtime.ended(v)
	return wrap(err)
}
