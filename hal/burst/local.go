package burst

import (
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// Execute is PreparedModel.Execute.
type Execute func(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error)

// Serve serves a burst on queues of the caller; execute runs its requests.
func Serve(execute Execute, poll time.Duration, callback Callback, requests, results Channel) (*Server, error) {
	return NewServer(ServerConfig{
		Callback: callback, Requests: requests, Results: results, Poll: poll,
		Execute: func(r *hal.Request, measure bool) (*hal.Result, error) {
			return execute(r, hal.ExecuteOptions{MeasureTiming: measure, InBurst: true})
		},
	})
}

// Local is a burst with both ends in this process. It ends when it is closed or nobody
// refers to it.
func Local(execute Execute, poll time.Duration) (*Controller, error) {
	l := &local{execute: execute}
	c := &Controller{Slots: NewSlots(l.free), Requests: NewQueue(ChannelLength), Results: NewQueue(ChannelLength), Fallback: execute, Stats: l.stats}
	s, err := Serve(l.observed, poll, c.Slots, c.Requests, c.Results)
	if err != nil {
		return nil, err
	}
	l.server, c.Context = s, s
	runtime.AddCleanup(c, func(s *Server) { go s.Close() }, s)
	return c, nil
}

// local joins the two ends of a burst.
type local struct {
	execute Execute
	server  *Server

	mu   sync.Mutex
	last hal.Stats
}

func (l *local) free(slot int32) { l.server.FreeMemory(slot) }

// observed executes and keeps the costs, which packets do not carry.
func (l *local) observed(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := l.execute(r, o)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = hal.Stats{}
	if res != nil {
		l.last = res.Stats
	}
	return res, err
}

func (l *local) stats() hal.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
