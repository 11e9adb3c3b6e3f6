package service

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/validate"
)

// ExecuteFenced implements hal.PreparedModel.
func (p *prepared) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, afterFence time.Duration) (*hal.FencedExecution, error) {
	for i, f := range waitFor {
		if f.State() == hal.FenceUnknown {
			return nil, hal.Errorf(hal.InvalidArgument, "service: fence %d is none", i)
		}
	}
	call, pools, err := p.request(r, &o)
	if err != nil {
		return nil, err
	}
	if len(waitFor) == 0 {
		pools.load(r.Inputs, r.Outputs)
	}
	ctx, cancel := context.WithCancel(p.device.ctx)
	fail := func(err error) (*hal.FencedExecution, error) {
		cancel()
		pools.done(nil)
		return nil, p.device.failed(err)
	}
	stream, err := p.device.client.ExecuteFenced(ctx)
	if err != nil {
		return fail(err)
	}
	// Recv returns an error of Send.
	_ = stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Launch{Launch: &pb.FencedLaunch{
		Request: call, Fences: uint32(len(waitFor)), AfterFenceNs: int64(afterFence),
	}}})
	if _, err := stream.Recv(); isUnimplemented(err) {
		cancel()
		pools.done(nil)
		return p.emulateFenced(r, waitFor, o, afterFence)
	} else if err != nil {
		return fail(err)
	}
	x := &fenced{prepared: p, inputs: r.Inputs, outputs: r.Outputs, pools: pools, stream: stream, pending: len(waitFor), fence: hal.NewSyncFence(), trace: o.Trace}
	x.info = hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}
	for i, f := range waitFor {
		go x.forward(ctx, i, f)
	}
	go func() {
		defer cancel()
		x.finish()
	}()
	return hal.NewFencedExecution(x.fence, x.executionInfo), nil
}

// fenced is an execution between fences of this process.
type fenced struct {
	prepared *prepared
	inputs   []hal.RequestArgument
	outputs  []hal.RequestArgument
	pools    *passed
	stream   grpc.BidiStreamingClient[pb.FencedRequest, pb.FencedReply]
	fence    *hal.SyncFence
	trace    hal.Tracer

	mu      sync.Mutex // held to send
	pending int        // fences that have not signalled

	// Written before the fence signals.
	info hal.FencedInfo
	err  error
}

// forward signals a fence to the driver. The inputs are copied before the last one, when
// their writers have ended.
func (x *fenced) forward(ctx context.Context, i int, f *hal.SyncFence) {
	select {
	case <-f.Done():
	case <-ctx.Done():
		return
	}
	at, err := f.SignalTime()
	s := &pb.FenceSignal{Fence: uint32(i), At: uint64(at)}
	if err != nil {
		s.Error = "fence: " + err.Error()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pending--; x.pending == 0 && ctx.Err() == nil {
		x.pools.load(x.inputs, x.outputs)
	}
	_ = x.stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Signal{Signal: s}})
}

// finish waits for the end of the execution and signals its fence.
func (x *fenced) finish() {
	reply, err := x.stream.Recv()
	runtime.KeepAlive(x.prepared)
	end := reply.GetEnd()
	switch {
	case err != nil:
		x.err = x.prepared.device.failed(err)
	case end == nil:
		x.err = hal.Errorf(hal.GeneralFailure, "%s: no end of the execution", x.prepared.device.path)
	case end.Status != 0:
		x.err = wire.Ended(x.prepared.device.path, end.Status, end.Message)
	default:
		x.info.TimingLaunched, x.info.TimingFenced = wire.FromTiming(end.Launched), wire.FromTiming(end.Fenced)
		replay(end.Result, x.trace)
		x.info.Result, x.err = wire.FromReply(x.prepared.device.path, end.Result)
	}
	x.mu.Lock() // forward may copy
	if x.err != nil {
		x.outputs = nil
	}
	x.pools.done(x.outputs)
	x.mu.Unlock()
	x.fence.Signal(hal.TimePoint(end.GetAt()), x.err)
}

// executionInfo is getExecutionInfo.
func (x *fenced) executionInfo() (hal.FencedInfo, error) {
	if x.fence.State() == hal.FenceActive {
		return hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}, hal.Errorf(hal.GeneralFailure, "service: the execution has not ended")
	}
	return x.info, x.err
}

// What a driver leaves out its client does, as the adapters of Android do: bursts are
// served in the client's process, and the client waits for fences.

// errUnimplemented is the error of a call that the driver does not have.
var errUnimplemented = errors.New("service: the driver leaves this call out")

// isUnimplemented reports whether an error says that the driver lacks the call.
func isUnimplemented(err error) bool { return err != nil && status.Code(err) == codes.Unimplemented }

// emulateFenced is ExecuteFenced for a driver without fences. The launch is checked as a
// reusable execution is; the request is executed by a call when the fences have signalled.
func (p *prepared) emulateFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, afterFence time.Duration) (*hal.FencedExecution, error) {
	if len(p.outputs.Main.Outputs) <= len(r.Outputs) {
		if err := validate.Fenced(&p.outputs, r, waitFor, afterFence); err != nil {
			return nil, err
		}
	}
	if _, err := p.CreateReusableExecution(r, o); err != nil {
		return nil, err
	}
	x := &waiting{prepared: p, request: r, options: o, waitFor: waitFor, after: afterFence, launched: p.device.Now(), fence: hal.NewSyncFence()}
	x.info = hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}
	go x.work()
	return hal.NewFencedExecution(x.fence, x.executionInfo), nil
}

// waiting is an execution behind fences that the client waits for.
type waiting struct {
	*prepared
	request  *hal.Request
	options  hal.ExecuteOptions
	waitFor  []*hal.SyncFence
	after    time.Duration
	launched hal.TimePoint
	fence    *hal.SyncFence

	// Written before the fence signals.
	info hal.FencedInfo
	err  error
}

// executionInfo is getExecutionInfo.
func (x *waiting) executionInfo() (hal.FencedInfo, error) {
	if x.fence.State() == hal.FenceActive {
		return hal.FencedInfo{TimingLaunched: hal.NoTiming, TimingFenced: hal.NoTiming}, hal.Errorf(hal.GeneralFailure, "service: the execution has not ended")
	}
	return x.info, x.err
}

// work waits, executes and signals.
func (x *waiting) work() {
	at, err := x.wait()
	if err == nil {
		at, err = x.execute(at)
	}
	x.err = err
	x.fence.Signal(max(at, x.device.Now()), err)
}

// clockPeriod is how often the driver's clock is looked at while fences are waited for, in
// the host's time.
const clockPeriod = 10 * time.Millisecond

// wait returns when the last fence has signalled.
func (x *waiting) wait() (at hal.TimePoint, err error) {
	at = x.launched
	tick := time.NewTicker(clockPeriod)
	defer tick.Stop()
	for i, f := range x.waitFor {
		for f.State() == hal.FenceActive {
			select {
			case <-f.Done():
			case <-x.device.closed:
				return at, hal.Errorf(hal.DeviceUnavailable, "%s: the driver is gone", x.device.path)
			case <-tick.C:
				if d := x.options.Deadline; d != nil && x.device.Now() >= *d {
					return at, hal.Errorf(hal.MissedDeadlineTransient, "service: fence %d has not signalled before the deadline", i)
				}
			}
		}
		signalled, err := f.SignalTime()
		if err != nil {
			return at, hal.Errorf(hal.GeneralFailure, "service: fence %d signals an error: %w", i, err)
		}
		at = max(at, signalled)
	}
	return at, nil
}

// execute starts the execution at an instant that the driver's clock may not have reached,
// and returns when it ends.
func (x *waiting) execute(at hal.TimePoint) (hal.TimePoint, error) {
	at = max(at, x.device.Now())
	o := x.options
	if limit := at.Add(x.after); x.after > 0 && len(x.waitFor) > 0 && (o.Deadline == nil || limit < *o.Deadline) {
		o.Deadline = &limit
	}
	res, err := x.Execute(x.request, o)
	if hal.StatusOf(err) == hal.OutputInsufficientSize {
		err = hal.Errorf(hal.GeneralFailure, "%w", err) // the shapes were known, so the driver is wrong
	}
	if err != nil {
		return at, err
	}
	end := at.Add(time.Duration((res.Stats.LatencyFs + 999_999) / 1_000_000))
	if o.Deadline != nil && end > *o.Deadline {
		return end, hal.Errorf(hal.MissedDeadlineTransient, "service: the execution ends after its deadline")
	}
	x.info.Result = res
	if o.MeasureTiming && res.Timing != hal.NoTiming {
		waited := uint64(at-x.launched) / 1000 // us
		x.info.TimingFenced = res.Timing
		x.info.TimingLaunched = hal.Timing{OnDevice: res.Timing.OnDevice + waited, InDriver: res.Timing.InDriver + waited}
	}
	return end, nil
}
