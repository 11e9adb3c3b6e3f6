package service

import (
	"errors"
	"time"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// maxFences bounds what one execution waits for.
const maxFences = 1 << 10

// ExecuteFenced implements the service. It occupies no place among the calls that a
// client may have at a time: it may wait for another one.
func (s *Server) ExecuteFenced(stream grpc.BidiStreamingServer[pb.FencedRequest, pb.FencedReply]) (err error) {
	defer func() { err = wire.ToStatus(err) }()
	defer hal.Contain(&err, s.device.Name(), "ExecuteFenced")
	end, err := s.executeFenced(stream)
	if err != nil {
		return err
	}
	return stream.Send(&pb.FencedReply{Part: &pb.FencedReply_End{End: end}})
}

// executeFenced answers the launch and waits for the end. When it returns, the execution
// counts no longer against the client's quotas.
func (s *Server) executeFenced(stream grpc.BidiStreamingServer[pb.FencedRequest, pb.FencedReply]) (*pb.FencedEnd, error) {
	first, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	defer s.wire.free(first)
	launch := first.GetLaunch()
	x, err := s.session(stream.Context(), launch.GetRequest().GetSession())
	if err != nil {
		return nil, err
	}
	if launch.GetFences() > maxFences {
		return nil, hal.Errorf(hal.InvalidArgument, "service: %d fences, at most %d", launch.GetFences(), maxFences)
	}
	c := cost{fencedExecutions: 1}
	if err := x.client.reserve(c); err != nil {
		return nil, err
	}
	defer x.client.free(c)
	m, p, err := x.private(launch.GetRequest())
	if err != nil {
		return nil, err
	}
	defer p.free()
	w := newFenceRelay(p, int(launch.GetFences()))
	if len(w.fences) == 0 {
		if err := p.load(); err != nil {
			return nil, err
		}
	}
	o, trace := traced(launch.GetRequest())
	o.Account = p
	f, err := m.ExecuteFenced(&p.request, w.fences, o, time.Duration(launch.GetAfterFenceNs()))
	if err != nil {
		return nil, err
	}
	if err := stream.Send(&pb.FencedReply{Part: &pb.FencedReply_Launched{Launched: &pb.Empty{}}}); err != nil {
		w.abandon()
		<-f.Fence.Done()
		return nil, err
	}
	ended := make(chan struct{})
	go func() { // until the client ends its part, or this handler returns
		defer close(ended)
		for {
			r, err := stream.Recv()
			if err != nil {
				return
			}
			w.signal(r.GetSignal())
			s.wire.free(r)
		}
	}()
	select {
	case <-f.Fence.Done():
	case <-ended: // no signal can come any more
		w.abandon()
		<-f.Fence.Done()
	}
	return fencedEnd(f, p, trace), nil
}

// fencedEnd is the message of how an execution ended.
func fencedEnd(f *hal.FencedExecution, p *privateRequest, trace *spans) *pb.FencedEnd {
	at, _ := f.Fence.SignalTime()
	info, err := f.ExecutionInfo()
	end := &pb.FencedEnd{At: uint64(at), Launched: wire.ToTiming(hal.NoTiming), Fenced: wire.ToTiming(hal.NoTiming)}
	if err == nil {
		err = p.store()
	}
	if err == nil {
		end.Result = wire.ToReply(info.Result, nil)
		err = trace.into(end.Result)
	}
	if err != nil {
		end.Status, end.Message = int32(hal.StatusOf(err)), err.Error()
		return end
	}
	end.Launched, end.Fenced = wire.ToTiming(info.TimingLaunched), wire.ToTiming(info.TimingFenced)
	return end
}

// fenceRelay passes signals of a client's fences on to fences of the driver. It is used
// by one goroutine at a time.
type fenceRelay struct {
	request *privateRequest
	fences  []*hal.SyncFence
	pending int
}

func newFenceRelay(p *privateRequest, n int) *fenceRelay {
	w := &fenceRelay{request: p, fences: make([]*hal.SyncFence, n), pending: n}
	for i := range w.fences {
		w.fences[i] = hal.NewSyncFence()
	}
	return w
}

// signal passes one signal on. The inputs are copied before the last, when whatever
// writes them has ended.
func (w *fenceRelay) signal(s *pb.FenceSignal) {
	if s == nil || uint64(s.Fence) >= uint64(len(w.fences)) || w.fences[s.Fence].State() != hal.FenceActive {
		return
	}
	var err error
	if s.Error != "" {
		err = errors.New(s.Error)
	}
	if w.pending--; w.pending == 0 && err == nil {
		err = w.request.load()
	}
	w.fences[s.Fence].Signal(hal.TimePoint(s.At), err)
}

// abandon ends the wait for signals that will not come.
func (w *fenceRelay) abandon() {
	for _, f := range w.fences {
		f.Signal(0, hal.Errorf(hal.GeneralFailure, "service: the client is gone"))
	}
}
