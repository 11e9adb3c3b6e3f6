package base

import (
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
)

// ConfigureExecutionBurst implements hal.PreparedModel. The burst ends when it is closed
// or nobody refers to it.
func (p *prepared) ConfigureExecutionBurst() (hal.Burst, error) {
	link := &burstLink{requests: burst.NewQueue(burst.ChannelLength), results: burst.NewQueue(burst.ChannelLength)}
	link.slots = burst.NewSlots(link.free)
	s, err := p.serveBurst(link.slots, link.requests, link.results, link.note)
	if err != nil {
		return nil, err
	}
	link.server = s
	c := &burst.Controller{Slots: link.slots, Requests: link.requests, Results: link.results, Context: s, Fallback: p.Execute, Stats: link.stats}
	runtime.AddCleanup(c, func(s burst.Context) { go s.Close() }, s)
	return c, nil
}

// PollWindow is how long a server of bursts looks for the next request before it sleeps: not at all where the
// client prefers low power.
func (p *prepared) PollWindow() time.Duration {
	if p.options.Preference == hal.LowPower {
		return 0
	}
	return burst.PollWindow
}

// BurstServer is a prepared model that serves a burst on queues of the caller.
type BurstServer interface {
	// ServeBurst is IPreparedModel.configureExecutionBurst.
	ServeBurst(callback burst.Callback, requests, results burst.Channel) (burst.Context, error)
}

// ServeBurst implements BurstServer.
func (p *prepared) ServeBurst(callback burst.Callback, requests, results burst.Channel) (burst.Context, error) {
	return p.serveBurst(callback, requests, results, func(*hal.Result) {})
}

// serveBurst serves a burst; observe gets the result of each execution before its packet
// is sent.
func (p *prepared) serveBurst(callback burst.Callback, requests, results burst.Channel, observe func(*hal.Result)) (burst.Context, error) {
	poll := p.PollWindow()
	s, err := burst.NewServer(burst.ServerConfig{
		Callback: callback, Requests: requests, Results: results, Poll: poll,
		Execute: func(r *hal.Request, measure bool) (*hal.Result, error) {
			res, err := p.Execute(r, hal.ExecuteOptions{MeasureTiming: measure, InBurst: true})
			observe(res)
			return res, err
		},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// burstLink joins the two ends of a burst in one process.
type burstLink struct {
	slots             *burst.Slots
	requests, results *burst.Queue
	server            burst.Context

	mu   sync.Mutex
	last hal.Stats
}

func (l *burstLink) free(slot int32) { l.server.FreeMemory(slot) }

// note keeps the costs of an execution, which packets do not carry.
func (l *burstLink) note(res *hal.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = hal.Stats{}
	if res != nil {
		l.last = res.Stats
	}
}

func (l *burstLink) stats() hal.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
