package service

import (
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// prepared is a prepared model in another process. It implements hal.PreparedModel. The
// driver frees it when nobody here refers to it.
type prepared struct {
	device *Device
	id     uint64
}

func newPrepared(d *Device, id uint64) *prepared {
	p := &prepared{d, id}
	runtime.AddCleanup(p, func(id uint64) { go d.release(id) }, id)
	return p
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	d := p.device
	if r == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no request")
	}
	pools, err := d.shared.pass(r)
	if err != nil {
		return nil, err
	}
	written := false
	defer func() { pools.done(&d.shared, written) }()
	reply, err := d.client.Execute(d.ctx, &pb.ExecuteRequest{
		Session: d.about.Session, Prepared: p.id, Inputs: toArguments(r.Inputs), Outputs: toArguments(r.Outputs), Pools: pools.ids,
		MeasureTiming: o.MeasureTiming, Deadline: (*uint64)(o.Deadline), LoopTimeoutNs: int64(o.LoopTimeout),
		Functional: o.Functional, Detail: o.Detail,
	})
	runtime.KeepAlive(p)
	if err != nil {
		return nil, d.failed(err)
	}
	res := &hal.Result{Timing: hal.Timing{OnDevice: reply.TimeOnDevice, InDriver: reply.TimeInDriver}}
	for _, s := range reply.Shapes {
		res.OutputDimensions = append(res.OutputDimensions, s.Dimensions)
	}
	if res.Stats, err = fromStats(reply.Stats); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%s: %w", d.path, err)
	}
	if s := hal.Status(reply.Status); s != hal.StatusNone {
		for _, x := range reply.Shapes {
			res.Insufficient = append(res.Insufficient, x.Insufficient)
		}
		return res, hal.Errorf(s, "%s", reply.Message)
	}
	written = true
	return res, nil
}

// ExecuteFenced implements hal.PreparedModel: the client waits for the fences.
func (p *prepared) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, afterFence time.Duration) (*hal.FencedExecution, error) {
	if r == nil || afterFence < 0 {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no request, or a timeout below 0")
	}
	for i, f := range waitFor {
		if f.State() == hal.FenceUnknown {
			return nil, hal.Errorf(hal.InvalidArgument, "service: fence %d is none", i)
		}
	}
	x := &fenced{fence: hal.NewSyncFence(), info: hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}}
	go func() {
		at := p.device.Now()
		for i, f := range waitFor {
			select {
			case <-f.Done():
			case <-p.device.gone:
				x.err = hal.Errorf(hal.DeviceUnavailable, "%s: the driver is gone", p.device.path)
			}
			if x.err == nil && f.State() == hal.FenceError {
				x.err = hal.Errorf(hal.GeneralFailure, "service: fence %d failed", i)
			}
			if x.err != nil {
				x.fence.Signal(at, x.err)
				return
			}
		}
		if end := p.device.Now() + hal.TimePoint(afterFence); afterFence > 0 && (o.Deadline == nil || end < *o.Deadline) {
			o.Deadline = &end
		}
		if x.info.Result, x.err = p.Execute(r, o); x.err == nil {
			x.info.TimingLaunched, x.info.TimingFenced = x.info.Result.Timing, x.info.Result.Timing
		}
		x.fence.Signal(p.device.Now(), x.err)
	}()
	return hal.NewFencedExecution(x.fence, func() (hal.FencedInfo, error) {
		if x.fence.State() == hal.FenceActive {
			return hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}, hal.Errorf(hal.GeneralFailure, "service: the execution has not ended")
		}
		return x.info, x.err
	}), nil
}

// fenced is an execution between two fences; the fields are written before it signals.
type fenced struct {
	fence *hal.SyncFence
	info  hal.FencedInfo
	err   error
}

// CreateReusableExecution implements hal.PreparedModel.
func (p *prepared) CreateReusableExecution(r *hal.Request, o hal.ExecuteOptions) (hal.Execution, error) {
	if r == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no request")
	}
	return &execution{prepared: p, request: r, options: o}, nil
}

// execution is a request that is computed often. It implements hal.Execution.
type execution struct {
	prepared *prepared
	request  *hal.Request
	options  hal.ExecuteOptions
	mu       sync.Mutex // held by the computation that runs
}

// Compute implements hal.Execution.
func (e *execution) Compute() (*hal.Result, error) {
	if !e.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "service: a computation of this execution has not ended")
	}
	defer e.mu.Unlock()
	return e.prepared.Execute(e.request, e.options)
}

// ComputeFenced implements hal.Execution.
func (e *execution) ComputeFenced(waitFor []*hal.SyncFence, afterFence time.Duration) (*hal.FencedExecution, error) {
	if !e.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "service: a computation of this execution has not ended")
	}
	f, err := e.prepared.ExecuteFenced(e.request, waitFor, e.options, afterFence)
	if err != nil {
		e.mu.Unlock()
		return nil, err
	}
	go func() {
		<-f.Fence.Done()
		e.mu.Unlock()
	}()
	return f, nil
}

// text is what the driver writes about the model.
func (p *prepared) text(w io.Writer, r *pb.Text, err error) error {
	runtime.KeepAlive(p)
	if err != nil {
		return p.device.failed(err)
	}
	_, err = w.Write(r.Text)
	return err
}

func (p *prepared) handle() *pb.HandleRequest {
	return &pb.HandleRequest{Session: p.device.about.Session, Id: p.id}
}

// WriteListing implements hal.PreparedModel.
func (p *prepared) WriteListing(w io.Writer) error {
	r, err := p.device.client.WriteListing(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// WriteProgram implements hal.PreparedModel.
func (p *prepared) WriteProgram(w io.Writer) error {
	r, err := p.device.client.WriteProgram(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// ConfigureExecutionBurst implements hal.PreparedModel: two rings in shared memory.
func (p *prepared) ConfigureExecutionBurst() (hal.Burst, error) {
	d, n := p.device, shm.RingBytes(RingLength)
	rings, err := d.shared.create(2 * n)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (hal.Burst, error) {
		d.release(rings.id)
		_ = rings.region.Close()
		return nil, err
	}
	requests, err := shm.NewRing(rings.region.Data, RingLength)
	if err != nil {
		return fail(err)
	}
	results, err := shm.NewRing(rings.region.Data[n:], RingLength)
	if err != nil {
		return fail(err)
	}
	h, err := d.client.ConfigureExecutionBurst(d.ctx, &pb.BurstRequest{Session: d.about.Session, Prepared: p.id, Memory: rings.id})
	if err != nil {
		return fail(d.failed(err))
	}
	b := &clientBurst{prepared: p, id: h.Id, rings: rings, slots: map[*hal.Memory]*slot{}, closed: make(chan struct{}), watched: make(chan struct{})}
	b.Slots, b.Requests, b.Results, b.Context, b.Fallback = burst.NewSlots(b.free), requests, results, burstContext{b}, p.Execute
	go b.watch()
	return b, nil
}
