package devices

import (
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// foreignModel is a prepared model of a driver from outside.
type foreignModel struct {
	hal.PreparedModel
	device     *foreign
	options    hal.PrepareOptions
	operations int // of the model; most that there can be when it comes from a cache
}

// Unwrap is the driver's prepared model.
func (p *foreignModel) Unwrap() hal.PreparedModel { return p.PreparedModel }

// execution is an execution of the driver, on its way.
type execution func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error)

// Execute implements hal.PreparedModel.
func (p *foreignModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return p.execute(r, o, p.PreparedModel.Execute)
}

// execute carries an execution of the driver to the engine and back.
func (p *foreignModel) execute(r *hal.Request, o hal.ExecuteOptions, f execution) (*hal.Result, error) {
	d, start := p.device, p.device.clock.NowFs()
	if o.Functional || r == nil {
		o.Deadline = d.driverDeadline(o.Deadline)
		return f(r, o)
	}
	if o.Deadline != nil && d.clock.Now() >= *o.Deadline {
		return nil, hal.Errorf(hal.MissedDeadlinePersistent, "%s: the deadline has passed", d.Name())
	}
	b := &hal.Buffers{ExecuteOptions: o}
	b.Inputs, b.DeviceInputs = arguments(r, r.Inputs)
	b.Outputs, b.DeviceOutputs = arguments(r, r.Outputs)
	call := &base.Call{Options: p.options, Buffers: b, Program: p}
	short := error(nil)
	res, err := d.host.Execute(call, func(to hal.Tracer, at base.Place) (*hal.Result, error) {
		inner := o
		inner.Client, inner.Trace, inner.EngineOnly, inner.Clock = nil, to, true, clockOf(at.Points)
		if inner.Deadline = nil; at.Until > 0 {
			end := d.Device.Now().Add(time.Duration((at.Until + sim.Nanosecond - 1) / sim.Nanosecond))
			inner.Deadline = &end
		}
		if at.Rehearsal {
			inner.Profile = nil
		}
		res, err := f(r, inner)
		if at.Until > 0 && hal.StatusOf(err) == hal.MissedDeadlineTransient {
			return nil, &sim.Late{At: at.Until}
		}
		if res == nil || err != nil && hal.StatusOf(err) != hal.OutputInsufficientSize {
			return res, err
		}
		if bad := res.Stats.Check(p.operations); bad != nil {
			return nil, hal.Errorf(hal.GeneralFailure, "%s: costs that the driver reports: %w", d.Name(), bad)
		}
		engineOf(&res.Stats)
		short = err
		return res, nil
	})
	if err != nil || res == nil {
		return res, err
	}
	end := start + res.Stats.LatencyFs
	if o.Deadline != nil && hal.TimePoint((end+999_999)/1e6) > *o.Deadline {
		d.clock.AdvanceTo(int64(*o.Deadline) * 1e6)
		return nil, hal.Errorf(hal.MissedDeadlineTransient, "%s: the execution would end after its deadline", d.Name())
	}
	d.clock.AdvanceTo(end)
	if res.Timing != hal.NoTiming {
		res.Timing = base.Timing(&res.Stats)
	}
	return res, short
}

// clockOf are operating points in the terms of the contract.
func clockOf(points []sim.Change) (list []hal.ClockPoint) {
	for _, c := range points {
		list = append(list, hal.ClockPoint{AtFs: int64(c.At), Hz: c.OPP.Hz, Volts: c.OPP.Volts, Cluster: c.Cluster})
	}
	return list
}

// engineOf reduces costs to those of the engine: a driver that ignores EngineOnly may have
// added those of a machine.
func engineOf(s *hal.Stats) {
	if len(s.Parts) == 0 {
		return
	}
	var fs int64
	var pj float64
	for _, p := range s.Parts {
		if p.Name == platform.PartExecution {
			fs += p.TimeFs
			pj += p.EnergyPJ
		}
	}
	list := s.Operations
	s.Operations = nil
	for _, o := range list {
		if o.Index != hal.LaunchIndex {
			s.Operations = append(s.Operations, o)
			continue
		}
		s.Cycles -= o.Cycles
		for _, x := range o.Stalls {
			for i := range s.Stalls {
				if s.Stalls[i].Reason == x.Reason {
					s.Stalls[i].Cycles -= x.Cycles
				}
			}
		}
	}
	s.LatencyFs, s.EnergyPJ, s.Parts, s.Components = fs, pj, nil, nil
}

// CreateReusableExecution implements hal.PreparedModel.
func (p *foreignModel) CreateReusableExecution(r *hal.Request, o hal.ExecuteOptions) (hal.Execution, error) {
	inner := o
	inner.Client, inner.Trace, inner.EngineOnly, inner.Deadline = nil, nil, true, p.device.driverDeadline(o.Deadline)
	x, err := p.PreparedModel.CreateReusableExecution(r, inner)
	if err != nil || x == nil {
		return nil, err
	}
	return &foreignExecution{x, p, r, o}, nil
}

// foreignExecution is a request that is computed often.
type foreignExecution struct {
	hal.Execution
	model   *foreignModel
	request *hal.Request
	options hal.ExecuteOptions
}

// Compute implements hal.Execution. The driver does not receive the clocks, which were unknown when it
// bound the request. A deadline is converted to the driver's clock anew for each execution.
func (x *foreignExecution) Compute() (*hal.Result, error) {
	if x.options.Deadline != nil {
		return x.model.Execute(x.request, x.options)
	}
	return x.model.execute(x.request, x.options, func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) { return x.Execution.Compute() })
}

// ComputeFenced implements hal.Execution.
func (x *foreignExecution) ComputeFenced(waitFor []*hal.SyncFence, after time.Duration) (*hal.FencedExecution, error) {
	f, err := x.Execution.ComputeFenced(waitFor, after)
	return x.model.fenced(x.request, x.options, f, err)
}

// ExecuteFenced implements hal.PreparedModel.
func (p *foreignModel) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (*hal.FencedExecution, error) {
	inner := o
	inner.Deadline, inner.EngineOnly = p.device.driverDeadline(o.Deadline), true
	f, err := p.PreparedModel.ExecuteFenced(r, waitFor, inner, after)
	return p.fenced(r, o, f, err)
}

// fenced is a fenced execution of the driver whose end is at the machine's time: the path to the
// engine and back is added when the driver's execution has ended, since its fences hide the start.
func (p *foreignModel) fenced(r *hal.Request, o hal.ExecuteOptions, deadline *hal.FencedExecution, err error) (*hal.FencedExecution, error) {
	if err != nil || deadline == nil {
		return nil, err
	}
	fence := hal.NewSyncFence()
	var info hal.FencedInfo
	var failed error
	go func() {
		<-deadline.Fence.Done()
		_, signalled := deadline.Fence.SignalTime()
		info, failed = deadline.ExecutionInfo()
		stopped := hal.StatusOf(failed) == hal.MissedDeadlineTransient && o.Deadline != nil && p.device.clock.Now() < *o.Deadline
		if failed == nil && info.Result != nil || stopped {
			result, err := info.Result, failed
			info.Result, failed = p.execute(r, o, func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) { return result, err })
			if failed == nil && info.TimingFenced != hal.NoTiming {
				info.TimingLaunched, info.TimingFenced = info.Result.Timing, info.Result.Timing
			}
		}
		if signalled == nil {
			signalled = failed
		}
		fence.Signal(p.device.clock.Now(), signalled)
	}()
	return hal.NewFencedExecution(fence, func() (hal.FencedInfo, error) {
		if fence.State() == hal.FenceActive {
			return deadline.ExecutionInfo()
		}
		return info, failed
	}), nil
}

// ConfigureExecutionBurst implements hal.PreparedModel.
func (p *foreignModel) ConfigureExecutionBurst() (hal.Burst, error) {
	b, err := p.PreparedModel.ConfigureExecutionBurst()
	if err != nil || b == nil {
		return nil, err
	}
	return &foreignBurst{b, p}, nil
}

// foreignBurst is a burst of a driver from outside.
type foreignBurst struct {
	hal.Burst
	model *foreignModel
}

// Execute implements hal.Burst.
func (b *foreignBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	o.InBurst = true
	return b.model.execute(r, o, b.Burst.Execute)
}
