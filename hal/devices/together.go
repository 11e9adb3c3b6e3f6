package devices

import (
	"sync"
	"time"
)

// Together lets executions without a client that callers in several goroutines begin run beside each other in the
// machine's time, as those of processes that share a phone: they run in rounds, and those of a round begin at one instant,
// share engines by priority, and contend for memory. A caller of the last round, or one that waited for it, is expected in
// the next, which begins without it after wait of the host's time. It must precede the first execution.
func (m *Machine) Together(wait time.Duration) {
	m.together = &rounds{machine: m, wait: wait, arrived: make(chan struct{}, 1)}
}

// maxRound bounds the executions of a round.
const maxRound = 64

// rounds gathers executions. See Together.
type rounds struct {
	machine *Machine
	wait    time.Duration
	arrived chan struct{} // a caller has come

	mu      sync.Mutex
	waiting []*turn
	leading bool // a goroutine runs rounds
}

// turn is an execution of a round, as a client of the machine; as the only one without.
type turn struct {
	run  func(*Client)
	done chan struct{}
}

// do runs an execution in the next round.
func (r *rounds) do(run func(*Client)) {
	t := &turn{run, make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, t)
	if !r.leading {
		r.leading = true
		go r.lead()
	}
	r.mu.Unlock()
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	<-t.done
}

// lead runs rounds as long as there are callers.
func (r *rounds) lead() {
	expected := 1
	for {
		round := r.gather(expected)
		if round == nil {
			return
		}
		r.machine.round(round)
		r.mu.Lock()
		expected = len(round) + len(r.waiting)
		r.mu.Unlock()
		for _, t := range round {
			close(t.done)
		}
	}
}

// gather returns the next round; nil when nobody waits any more.
func (r *rounds) gather(expected int) []*turn {
	late := time.NewTimer(r.wait)
	defer late.Stop()
	for over := expected <= 1; ; {
		r.mu.Lock()
		if n := len(r.waiting); n > 0 && (over || n >= expected) || over {
			round := r.waiting[:min(n, maxRound)]
			r.waiting = r.waiting[len(round):]
			r.leading = len(round) > 0
			r.mu.Unlock()
			if len(round) == 0 {
				return nil
			}
			return round
		}
		r.mu.Unlock()
		select {
		case <-r.arrived:
		case <-late.C:
			over = true
		}
	}
}

// round runs executions beside each other.
func (m *Machine) round(list []*turn) {
	if len(list) == 1 {
		list[0].run(nil)
		return
	}
	var clients []func(*Client) error
	for _, t := range list {
		clients = append(clients, func(c *Client) error { t.run(c); return nil })
	}
	if _, err := m.RunConcurrent(clients...); err != nil {
		panic(err) // none of the functions has an error
	}
}
