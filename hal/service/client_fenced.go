package service

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
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
	// An error of Send is told by Recv.
	_ = stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Launch{Launch: &pb.FencedLaunch{
		Request: call, Fences: uint32(len(waitFor)), AfterFenceNs: int64(afterFence),
	}}})
	if _, err := stream.Recv(); err != nil {
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

// forward tells the driver that a fence has signalled. The inputs are copied before the
// last, when whatever writes them has ended.
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
		x.err = hal.Errorf(hal.Status(end.Status), "%s", end.Message)
	default:
		x.info.TimingLaunched, x.info.TimingFenced = wire.FromTiming(end.Launched), wire.FromTiming(end.Fenced)
		replay(end.Result, x.trace)
		x.info.Result, x.err = wire.FromReply(end.Result)
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
