package compat

import (
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// PreparedModel is a hal.PreparedModel behind the interfaces IPreparedModel of HAL 1.0 to
// 1.3.
type PreparedModel struct {
	model  hal.PreparedModel
	device hal.Device
}

// HAL is the prepared model itself.
func (p *PreparedModel) HAL() hal.PreparedModel { return p.model }

// ExecutionCallback is IExecutionCallback.notify, notify_1_2 and notify_1_3. The first has
// neither shapes nor timing.
type ExecutionCallback func(status hal.Status, shapes []hal.OutputShape, timing hal.Timing)

// Execute is execute of HAL 1.0 and 1.1.
func (p *PreparedModel) Execute(r *hal.Request, cb ExecutionCallback) hal.Status {
	if cb == nil {
		return hal.InvalidArgument
	}
	return p.execute(V1_0, r, hal.ExecuteOptions{}, func(status hal.Status, _ []hal.OutputShape, _ hal.Timing) {
		cb(status, nil, hal.NoTiming)
	})
}

// Execute_1_2 starts an execution of HAL 1.2, which ends by a call back.
func (p *PreparedModel) Execute_1_2(r *hal.Request, measure bool, cb ExecutionCallback) hal.Status {
	return p.execute(V1_2, r, hal.ExecuteOptions{MeasureTiming: measure}, cb)
}

// Execute_1_3 starts an execution of HAL 1.3, which ends by a call back.
func (p *PreparedModel) Execute_1_3(r *hal.Request, measure bool, deadline *hal.TimePoint, loopTimeout time.Duration, cb ExecutionCallback) hal.Status {
	return p.execute(V1_3, r, hal.ExecuteOptions{MeasureTiming: measure, Deadline: deadline, LoopTimeout: loopTimeout}, cb)
}

// execute checks a request at the launch and executes it in the background.
func (p *PreparedModel) execute(v Version, r *hal.Request, o hal.ExecuteOptions, cb ExecutionCallback) hal.Status {
	if cb == nil {
		return hal.InvalidArgument
	}
	var e hal.Execution
	err := request(v, r)
	if err == nil {
		e, err = p.model.CreateReusableExecution(r, o)
	}
	if err != nil {
		status := visible(v, hal.StatusOf(err))
		cb(status, nil, hal.NoTiming)
		return status
	}
	go func() {
		res, err := p.compute(e)
		cb(report(v, res, err))
	}()
	return hal.StatusNone
}

// compute runs an execution of the driver, which may panic.
func (p *PreparedModel) compute(e hal.Execution) (res *hal.Result, err error) {
	defer hal.Contain(&err, p.device.Name(), "Compute")
	return e.Compute()
}

// request checks that a version can express a request.
func request(v Version, r *hal.Request) error {
	if r == nil {
		return hal.Errorf(hal.InvalidArgument, "compat: no request")
	}
	if !RequestCompliantWith(v, r) {
		return hal.Errorf(hal.InvalidArgument, "compat: HAL %v cannot express the request's pools", v)
	}
	return nil
}

// report returns a result as a version reports it.
func report(v Version, res *hal.Result, err error) (hal.Status, []hal.OutputShape, hal.Timing) {
	status := hal.StatusOf(err)
	switch {
	case status == hal.StatusNone && res != nil:
		return status, res.OutputShapes(), res.Timing
	case status == hal.OutputInsufficientSize && res != nil:
		return status, res.OutputShapes(), hal.NoTiming
	case status == hal.StatusNone:
		status = hal.GeneralFailure
	}
	return visible(v, status), nil, hal.NoTiming
}

// ExecuteSynchronously executes a request of HAL 1.2 and returns when it has ended.
func (p *PreparedModel) ExecuteSynchronously(r *hal.Request, measure bool) (hal.Status, []hal.OutputShape, hal.Timing) {
	return p.synchronously(V1_2, r, hal.ExecuteOptions{MeasureTiming: measure})
}

// ExecuteSynchronously_1_3 executes a request of HAL 1.3 and returns when it has ended.
func (p *PreparedModel) ExecuteSynchronously_1_3(r *hal.Request, measure bool, deadline *hal.TimePoint, loopTimeout time.Duration) (hal.Status, []hal.OutputShape, hal.Timing) {
	return p.synchronously(V1_3, r, hal.ExecuteOptions{MeasureTiming: measure, Deadline: deadline, LoopTimeout: loopTimeout})
}

func (p *PreparedModel) synchronously(v Version, r *hal.Request, o hal.ExecuteOptions) (hal.Status, []hal.OutputShape, hal.Timing) {
	if err := request(v, r); err != nil {
		return report(v, nil, err)
	}
	res, err := p.model.Execute(r, o)
	return report(v, res, err)
}

// FencedExecutionCallback is IFencedExecutionCallback.getExecutionInfo.
type FencedExecutionCallback func() (status hal.Status, launched, fenced hal.Timing)

// ExecuteFenced starts an execution of HAL 1.3 that waits for fences and signals one. Fence and callback are nil unless the status is NONE.
func (p *PreparedModel) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, measure bool, deadline *hal.TimePoint, loopTimeout, afterFence time.Duration) (hal.Status, *hal.SyncFence, FencedExecutionCallback) {
	f, err := p.model.ExecuteFenced(r, waitFor, hal.ExecuteOptions{MeasureTiming: measure, Deadline: deadline, LoopTimeout: loopTimeout}, afterFence)
	if err != nil {
		return hal.StatusOf(err), nil, nil
	}
	return hal.StatusNone, f.Fence, func() (hal.Status, hal.Timing, hal.Timing) {
		info, err := f.ExecutionInfo()
		return hal.StatusOf(err), info.TimingLaunched, info.TimingFenced
	}
}
