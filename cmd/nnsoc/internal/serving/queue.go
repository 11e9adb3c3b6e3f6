package serving

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// queue lets one execution run at a time, those of higher priority first. A waiting one runs at the latest when so many
// of higher priority have passed it: the retire rate of ARM's driver, so that low priorities are not starved.
type queue struct {
	retire int

	mu      sync.Mutex
	busy    bool
	waiting []*waiter // in the order of their calls
}

// waiter is an execution that waits.
type waiter struct {
	priority hal.Priority
	passed   int // executions of higher priority that ran before, whenever they arrived
	token    chan struct{}
}

// enter waits until an execution may run.
func (q *queue) enter(p hal.Priority) {
	q.mu.Lock()
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		return
	}
	w := &waiter{priority: p, token: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	<-w.token
}

// release ends an execution.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.next()
	if at < 0 {
		q.busy = false
		return
	}
	w := q.waiting[at]
	q.waiting = slices.Delete(q.waiting, at, at+1)
	for _, x := range q.waiting {
		if x.priority < w.priority {
			x.passed++
		}
	}
	close(w.token)
}

// next is the one to run next, -1 for none: the first that was passed too often, else the first of the highest
// priority.
func (q *queue) next() int {
	best := -1
	for i, w := range q.waiting {
		if w.passed >= q.retire {
			return i
		}
		if best < 0 || w.priority > q.waiting[best].priority {
			best = i
		}
	}
	return best
}
