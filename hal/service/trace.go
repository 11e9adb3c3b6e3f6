package service

import (
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// maxSpans bounds the spans of one execution that a reply carries.
const maxSpans = 1 << 17

// spans collects those of an execution for a client in another process. It implements
// hal.Tracer.
type spans struct {
	mu   sync.Mutex
	list []*pb.Span
	lost bool
}

// Span implements hal.Tracer.
func (t *spans) Span(s hal.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost = len(t.list) >= maxSpans; !t.lost {
		t.list = append(t.list, &pb.Span{Track: s.Track, Name: s.Name, Operation: int32(s.Operation), StartFs: s.StartFs, EndFs: s.EndFs})
	}
}

// traced are the options of a call, and where its spans are collected if it requests them.
func traced(r *pb.ExecuteRequest) (hal.ExecuteOptions, *spans) {
	o := executeOptions(r)
	if !r.GetTrace() {
		return o, nil
	}
	t := &spans{}
	o.Trace = t
	return o, t
}

// into adds the spans to a reply.
func (t *spans) into(reply *pb.ExecuteReply) error {
	if t == nil || reply == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost {
		return hal.Errorf(hal.GeneralFailure, "service: a trace of more than %d spans", maxSpans)
	}
	reply.Spans = t.list
	return nil
}

// replay gives the spans of a reply to the client's tracer.
func replay(r *pb.ExecuteReply, to hal.Tracer) {
	if to == nil {
		return
	}
	for _, s := range r.GetSpans() {
		to.Span(hal.Span{Track: s.GetTrack(), Name: s.GetName(), Operation: int(s.GetOperation()), StartFs: s.GetStartFs(), EndFs: s.GetEndFs()})
	}
}
