package burst

import (
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// Callback is IBurstCallback: where a server requests memories that it has not mapped.
type Callback interface {
	GetMemories(slots []int32) ([]*hal.Memory, error)
}

// PollWindow is how long a server looks for the next request before it sleeps, in host
// time. A driver of a prepared model with preference LOW_POWER passes 0.
const PollWindow = 50 * time.Microsecond

// ServerConfig configures a server.
type ServerConfig struct {
	Callback          Callback
	Requests, Results Channel
	Poll              time.Duration
	// Execute runs a request and answers with status, shapes and timing.
	Execute func(r *hal.Request, measure bool) (*hal.Result, error)
}

// Server is the driver's end of a burst: IBurstContext and the thread behind it.
type Server struct {
	cfg  ServerConfig
	done chan struct{}

	mu     sync.Mutex
	memory map[int32]*hal.Memory // mapped slots
	freed  map[int32]bool        // during a request for memories; nil outside
}

// NewServer is configureExecutionBurst: it checks its arguments and begins to serve.
func NewServer(cfg ServerConfig) (*Server, error) {
	for _, q := range []Channel{cfg.Requests, cfg.Results} {
		if q == nil || !q.Valid() {
			return nil, hal.Errorf(hal.InvalidArgument, "burst: a queue is not valid")
		}
	}
	if cfg.Callback == nil || cfg.Execute == nil {
		return nil, hal.Errorf(hal.InvalidArgument, "burst: no callback")
	}
	s := &Server{cfg: cfg, done: make(chan struct{}), memory: map[int32]*hal.Memory{}}
	go s.serve()
	return s, nil
}

// FreeMemory is IBurstContext.freeMemory: the server forgets a slot. An unknown
// slot is no error.
func (s *Server) FreeMemory(slot int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memory, slot)
	if s.freed != nil {
		s.freed[slot] = true
	}
}

// Close ends the server after the execution that runs.
func (s *Server) Close() {
	s.cfg.Requests.Invalidate()
	s.cfg.Results.Invalidate()
	<-s.done
}

// serve answers requests until a queue is no longer valid.
func (s *Server) serve() {
	defer close(s.done)
	for {
		packet, err := s.cfg.Requests.Read(s.cfg.Poll)
		if err != nil {
			return
		}
		answer := s.respond(packet)
		list := answer.Packet()
		if len(list) > s.cfg.Results.Len() {
			list = failure(hal.GeneralFailure).Packet() // the result exceeds the client's queue
		}
		if s.cfg.Results.Write(list) != nil {
			return
		}
	}
}

// failure is a result without shapes and timing.
func failure(status hal.Status) *ResultMessage {
	return &ResultMessage{Status: status, Timing: hal.NoTiming}
}

// respond executes what a packet requests.
func (s *Server) respond(packet []Datum) *ResultMessage {
	m, err := ParseRequest(packet)
	if err != nil {
		return failure(hal.GeneralFailure)
	}
	pools, err := s.pools(m.Slots)
	if err != nil {
		return failure(hal.StatusOf(err))
	}
	res, err := s.cfg.Execute(&hal.Request{Inputs: m.Inputs, Outputs: m.Outputs, Pools: pools}, m.MeasureTiming)
	status := hal.StatusOf(err)
	if status != hal.StatusNone && status != hal.OutputInsufficientSize {
		return failure(status)
	}
	if res == nil {
		return failure(hal.GeneralFailure)
	}
	if status != hal.StatusNone || !m.MeasureTiming {
		res.Timing = hal.NoTiming
	}
	return &ResultMessage{Status: status, Shapes: res.OutputShapes(), Timing: res.Timing}
}

// pools maps slots and requests those not mapped yet from the client. The request is made
// without the lock, since the client may be freeing others. What it frees meanwhile is not kept.
func (s *Server) pools(slots []int32) ([]hal.RequestPool, error) {
	pools := make([]hal.RequestPool, len(slots))
	missing := s.mapped(slots, pools)
	if len(missing) == 0 {
		return pools, nil
	}
	list, err := s.cfg.Callback.GetMemories(missing)
	if err == nil && len(list) != len(missing) {
		err = hal.Errorf(hal.InvalidArgument, "burst: %d memories for %d slots", len(list), len(missing))
	}
	if err != nil {
		s.mapSlots(nil, nil)
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	if i := slices.Index(list, nil); i >= 0 {
		s.mapSlots(nil, nil)
		return nil, hal.Errorf(hal.InvalidArgument, "burst: slot %d has no memory", missing[i])
	}
	for i, slot := range slots {
		if pools[i].Memory == nil {
			pools[i].Memory = list[slices.Index(missing, slot)]
		}
	}
	s.mapSlots(missing, list)
	return pools, nil
}

// mapped fills in the memories of slots that are mapped and returns the others, each once.
// Until keep, slots that the client frees are noted.
func (s *Server) mapped(slots []int32, pools []hal.RequestPool) (missing []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, slot := range slots {
		if pools[i].Memory = s.memory[slot]; pools[i].Memory == nil && !slices.Contains(missing, slot) {
			missing = append(missing, slot)
		}
	}
	if len(missing) > 0 {
		s.freed = map[int32]bool{}
	}
	return missing
}

// mapSlots maps slots, but for those that were freed since they were requested.
func (s *Server) mapSlots(slots []int32, list []*hal.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, slot := range slots {
		if !s.freed[slot] {
			s.memory[slot] = list[i]
		}
	}
	s.freed = nil
}
