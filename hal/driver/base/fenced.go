package base

import (
	"math"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
)

// ExecuteFenced implements hal.PreparedModel.
func (p *prepared) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, afterFence time.Duration) (f *hal.FencedExecution, err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "ExecuteFenced")
	b, err := p.bind(r, o)
	if err != nil {
		return nil, err
	}
	return p.executeFenced(r, b, waitFor, afterFence)
}

// executeFenced starts a bound request when its fences have signalled.
func (p *prepared) executeFenced(r *hal.Request, b *bound, waitFor []*hal.SyncFence, afterFence time.Duration) (*hal.FencedExecution, error) {
	if err := validate.Fenced(p.original, r, waitFor, afterFence); err != nil {
		return nil, err
	}
	if b.buffers.Client != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%s driver: a client of a machine waits for its executions and cannot use fences", p.device.cfg.Name)
	}
	launched := p.device.clock.NowFs()
	x := &fenced{prepared: p, bound: b, waitFor: waitFor, after: afterFence, launchedFs: launched, fence: hal.NewSyncFence()}
	if err := p.device.missed(b.buffers.Deadline); err != nil {
		x.finish(launched, nil, err)
	} else {
		go x.work()
	}
	return hal.NewFencedExecution(x.fence, x.executionInfo), nil
}

// fenced is an execution between two fences.
type fenced struct {
	*prepared
	*bound
	waitFor    []*hal.SyncFence
	after      time.Duration
	launchedFs int64
	fence      *hal.SyncFence

	// Written before the fence signals.
	info hal.FencedInfo
	err  error
}

// executionInfo is getExecutionInfo.
func (x *fenced) executionInfo() (hal.FencedInfo, error) {
	if x.fence.State() == hal.FenceActive {
		return hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming},
			hal.Errorf(hal.GeneralFailure, "%s driver: the execution has not ended", x.device.cfg.Name)
	}
	return x.info, x.err
}

// work waits for the fences, executes and signals.
func (x *fenced) work() {
	startFs, err := x.wait()
	if err != nil {
		x.finish(max(startFs, x.device.clock.NowFs()), nil, err)
		return
	}
	if x.after > 0 && len(x.waitFor) > 0 {
		limit := hal.TimePoint(startFs / 1e6).Add(x.after)
		if d := x.buffers.Deadline; d == nil || limit < *d {
			x.buffers.Deadline = &limit
		}
	}
	res, err := x.contained(startFs)
	end := x.device.clock.NowFs()
	if res != nil {
		end = startFs + res.Stats.LatencyFs
	}
	if hal.StatusOf(err) == hal.OutputInsufficientSize {
		err = hal.Errorf(hal.GeneralFailure, "%w", err) // the shapes were known, so the driver is wrong
	}
	if err == nil && x.buffers.MeasureTiming {
		waited := startFs - x.launchedFs
		x.info.TimingFenced = res.Timing
		x.info.TimingLaunched = hal.Timing{OnDevice: plus(res.Timing.OnDevice, waited), InDriver: plus(res.Timing.InDriver, waited)}
	}
	x.finish(end, res, err)
}

// plus adds femtoseconds to a time in microseconds that may be unknown.
func plus(us uint64, fs int64) uint64 {
	if us == hal.NoTime {
		return us
	}
	return us + uint64(fs/1e9)
}

// contained executes; a panic of the driver is an error.
func (x *fenced) contained(startFs int64) (res *hal.Result, err error) {
	defer hal.Contain(&err, x.device.cfg.Name, "ExecuteFenced")
	return x.execute(x.bound, startFs)
}

// wait returns the instant at which the last fence signalled; an error when one signals
// an error or the deadline passes first.
func (x *fenced) wait() (startFs int64, err error) {
	startFs = x.launchedFs
	var late <-chan struct{}
	if d := x.buffers.Deadline; d != nil {
		ch, stop := x.device.clock.Reached(*d)
		defer stop()
		late = ch
	}
	for i, f := range x.waitFor {
		select {
		case <-f.Done():
		case <-late:
			return startFs, hal.Errorf(hal.MissedDeadlineTransient, "%s driver: fence %d has not signalled before the deadline", x.device.cfg.Name, i)
		}
		at, err := f.SignalTime()
		if fs := int64(min(at, math.MaxInt64/1_000_000)) * 1e6; fs > startFs {
			startFs = fs
		}
		if err != nil {
			return startFs, hal.Errorf(hal.GeneralFailure, "%s driver: fence %d signals an error: %w", x.device.cfg.Name, i, err)
		}
	}
	return startFs, nil
}

// finish records the end and signals the fence.
func (x *fenced) finish(endFs int64, res *hal.Result, err error) {
	if err != nil || !x.buffers.MeasureTiming {
		x.info.TimingLaunched, x.info.TimingFenced = hal.NoTiming, hal.NoTiming
	}
	x.info.Result, x.err = res, err
	if err != nil {
		x.info.Result = nil
	}
	x.fence.Signal(hal.TimePoint((endFs+999_999)/1e6), err)
}
