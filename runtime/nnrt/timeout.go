package nnrt

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// WithTimeout is a device that is given up when a call of it does not return within a
// time of the host's clock: that call and all later ones fail with DEVICE_UNAVAILABLE, so
// that the CPU runs its parts where that is allowed. It is for drivers in separate
// processes. An abandoned call continues in a goroutine until it returns, on separate
// buffers. Devices of a machine must not be given up: a simulated execution always ends,
// and the machine would be left within it.
func WithTimeout(d hal.Device, limit time.Duration) hal.Device {
	return &watched{Device: d, limit: limit}
}

// watched implements WithTimeout.
type watched struct {
	hal.Device
	limit time.Duration
	lost  atomic.Bool
}

// Unwrap is the device that is watched: interactive calls on it have no time limit.
func (w *watched) Unwrap() hal.Device { return w.Device }

// watch calls f, or gives it up.
func watch[T any](w *watched, call string, f func() (T, error)) (value T, err error) {
	if w.lost.Load() {
		return value, hal.Errorf(hal.DeviceUnavailable, "%s: %s: the device was given up", w.Name(), call)
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		defer hal.Contain(&r.err, w.Name(), call)
		r.value, r.err = f()
	}()
	timer := time.NewTimer(w.limit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		w.lost.Store(true)
		return value, hal.Errorf(hal.DeviceUnavailable, "%s: %s has not returned within %v: the device is given up", w.Name(), call, w.limit)
	}
}

// Status implements hal.Device.
func (w *watched) Status() hal.DeviceStatus {
	if w.lost.Load() {
		return hal.DeviceOffline
	}
	return w.Device.Status()
}

// SupportedOperations implements hal.Device.
func (w *watched) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	return watch(w, "SupportedOperations", func() ([]hal.Support, error) { return w.Device.SupportedOperations(m) })
}

// PrepareModel implements hal.Device.
func (w *watched) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	return w.prepared("PrepareModel", func() (hal.PreparedModel, error) { return w.Device.PrepareModel(m, o) })
}

// PrepareModelFromCache implements hal.Device.
func (w *watched) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	return w.prepared("PrepareModelFromCache", func() (hal.PreparedModel, error) { return w.Device.PrepareModelFromCache(deadline, c) })
}

func (w *watched) prepared(call string, f func() (hal.PreparedModel, error)) (hal.PreparedModel, error) {
	p, err := watch(w, call, f)
	if err != nil || p == nil {
		return nil, err
	}
	return &watchedModel{p, w}, nil
}

// Allocate implements hal.Device.
func (w *watched) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	models = slices.Clone(models)
	for i, p := range models {
		if m, ok := p.(*watchedModel); ok {
			models[i] = m.PreparedModel
		}
	}
	return watch(w, "Allocate", func() (hal.Buffer, error) { return w.Device.Allocate(desc, models, inputs, outputs) })
}

// watchedModel is a prepared model of a watched device.
type watchedModel struct {
	hal.PreparedModel
	device *watched
}

// Unwrap is the prepared model of the device that is watched.
func (p *watchedModel) Unwrap() hal.PreparedModel { return p.PreparedModel }

// Execute implements hal.PreparedModel.
func (p *watchedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return p.device.execute(r, o, p.PreparedModel.Execute)
}

// ExecuteFenced implements hal.PreparedModel. The call returns before the execution,
// whose fence signals its end.
func (p *watchedModel) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (*hal.FencedExecution, error) {
	return watch(p.device, "ExecuteFenced", func() (*hal.FencedExecution, error) { return p.PreparedModel.ExecuteFenced(r, waitFor, o, after) })
}

// ConfigureExecutionBurst implements hal.PreparedModel.
func (p *watchedModel) ConfigureExecutionBurst() (hal.Burst, error) {
	b, err := watch(p.device, "ConfigureExecutionBurst", p.PreparedModel.ConfigureExecutionBurst)
	if err != nil || b == nil {
		return nil, err
	}
	return &watchedBurst{b, p.device}, nil
}

// watchedBurst is a burst of a watched device.
type watchedBurst struct {
	hal.Burst
	device *watched
}

// Execute implements hal.Burst.
func (b *watchedBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return b.device.execute(r, o, b.Burst.Execute)
}

// execute runs a request on copies of its memories, which a call that is given up keeps.
func (w *watched) execute(r *hal.Request, o hal.ExecuteOptions, f func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error)) (*hal.Result, error) {
	if r == nil {
		return f(r, o)
	}
	own := *r
	own.Pools = slices.Clone(r.Pools)
	for i := range own.Pools {
		if m := own.Pools[i].Memory; m != nil {
			own.Pools[i].Memory = &hal.Memory{Name: m.Name, Data: bytes.Clone(m.Data), ReadOnly: m.ReadOnly}
		}
	}
	var spans spanList
	trace := o.Trace
	if trace != nil {
		o.Trace = &spans
	}
	var samples partProfile
	profile := o.Profile
	if profile != nil {
		o.Profile = &samples
	}
	res, err := watch(w, "Execute", func() (*hal.Result, error) { return f(&own, o) })
	if w.lost.Load() && hal.StatusOf(err) == hal.DeviceUnavailable {
		return nil, err
	}
	for i := range own.Pools {
		if m := r.Pools[i].Memory; m != nil && !m.ReadOnly {
			copy(m.Data, own.Pools[i].Memory.Data)
		}
	}
	for _, s := range spans {
		trace.Span(s)
	}
	for i := range samples.samples {
		profile.Sample(&samples.samples[i])
	}
	return res, err
}

// spanList keeps the spans of an execution that may be given up.
type spanList []hal.Span

// Span implements hal.Tracer.
func (l *spanList) Span(s hal.Span) { *l = append(*l, s) }
