package guarded

import (
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// SupportedOperations queries a device that is not trusted: it may panic or
// return too few results.
func SupportedOperations(d hal.Device, m *nn.Model) (s []hal.Support, err error) {
	defer hal.Contain(&err, d.Name(), "SupportedOperations")
	if s, err = d.SupportedOperations(m); err == nil && len(s) != len(m.Main.Operations) {
		err = hal.Errorf(hal.GeneralFailure, "%s: answers for %d of %d operations", d.Name(), len(s), len(m.Main.Operations))
	}
	return s, err
}

// PrepareModel prepares a part on a device, which may panic.
func PrepareModel(d hal.Device, m *nn.Model, o hal.PrepareOptions) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.Name(), "PrepareModel")
	if p, err = d.PrepareModel(m, o); err == nil && p == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: prepared nothing and gives no error", d.Name())
	}
	return p, err
}

// PrepareModelFromCache prepares a part that a device has saved.
func PrepareModelFromCache(d hal.Device, deadline *hal.TimePoint, c hal.Cache) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.Name(), "PrepareModelFromCache")
	if p, err = d.PrepareModelFromCache(deadline, c); err == nil && p == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: prepared nothing from its cache and gives no error", d.Name())
	}
	return p, err
}

// Execute runs a prepared part, through its burst where there is one. The driver may
// panic.
func Execute(d hal.Device, p hal.PreparedModel, b hal.Burst, r *hal.Request, o hal.ExecuteOptions) (res *hal.Result, err error) {
	defer hal.Contain(&err, d.Name(), "Execute")
	if b != nil {
		res, err = b.Execute(r, o)
	} else {
		res, err = p.Execute(r, o)
	}
	if res == nil && err == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: an execution without a result and without an error", d.Name())
	}
	return res, err
}

// ConfigureBurst opens a burst to a prepared part, which may panic.
func ConfigureBurst(d hal.Device, p hal.PreparedModel) (b hal.Burst, err error) {
	defer hal.Contain(&err, d.Name(), "ConfigureExecutionBurst")
	if b, err = p.ConfigureExecutionBurst(); err == nil && b == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: no burst and no error", d.Name())
	}
	return b, err
}

// ExecuteFenced starts a prepared part, which may panic.
func ExecuteFenced(d hal.Device, p hal.PreparedModel, r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, afterFence time.Duration) (f *hal.FencedExecution, err error) {
	defer hal.Contain(&err, d.Name(), "ExecuteFenced")
	if f, err = p.ExecuteFenced(r, waitFor, o, afterFence); err == nil && (f == nil || f.Fence == nil) {
		err = hal.Errorf(hal.GeneralFailure, "%s: a fenced execution without a fence", d.Name())
	}
	return f, err
}

// Allocate makes device memory; the driver may panic.
func Allocate(d hal.Device, desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (b hal.Buffer, err error) {
	defer hal.Contain(&err, d.Name(), "Allocate")
	if b, err = d.Allocate(desc, models, inputs, outputs); err == nil && b == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: allocated nothing and gives no error", d.Name())
	}
	return b, err
}
