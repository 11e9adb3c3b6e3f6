package service

import (
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// Quotas bound the resources that the process of a client can hold, with all its sessions
// together, and the memory that all clients can; 0 is the default.
type Quotas struct {
	// Memory are bytes of shared memory, copies of models, programs, device memory, and of
	// copies and temporaries of executions that run; default 1 GiB.
	Memory int64
	// All bounds the same over all clients, with the messages that are being answered;
	// default 4 times Memory.
	All      int64
	Sessions int // default 256
	Prepared int // prepared models; default 256
	Buffers  int // of device memory; default 1024
	Bursts   int // default 256
	Fenced   int // executions that wait for fences or run; default 256
	Calls    int // that run at a time; default 16
}

// maxBursts bounds the bursts of all clients: one that nobody reads costs the driver a
// thread, of which the Go runtime allows 10,000.
const maxBursts = 4096

func (q Quotas) withDefaults() Quotas {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	if q.Memory <= 0 {
		q.Memory = 1 << 30
	}
	if q.All <= 0 {
		q.All = 4 * q.Memory
	}
	set(&q.Sessions, 256)
	set(&q.Prepared, 256)
	set(&q.Buffers, 1024)
	set(&q.Bursts, 256)
	set(&q.Fenced, 256)
	set(&q.Calls, 16)
	return q
}

// resource is what a quota bounds.
type resource int

const (
	memoryBytes resource = iota
	openSessions
	preparedModels
	deviceBuffers
	openBursts
	fencedExecutions
	resources
)

var resourceNames = [resources]string{"bytes of memory", "sessions", "prepared models", "buffers", "bursts", "executions with fences"}

// quotaFlags are the flags of nnsoc serve that set the quotas.
var quotaFlags = [resources]string{"--memory-mib", "--max-sessions", "--max-prepared", "--max-buffers", "--max-bursts", "--max-fenced"}

// cost is an amount of each resource.
type cost [resources]int64

func (q Quotas) limits() cost {
	return cost{
		memoryBytes: q.Memory, openSessions: int64(q.Sessions), preparedModels: int64(q.Prepared),
		deviceBuffers: int64(q.Buffers), openBursts: int64(q.Bursts), fencedExecutions: int64(q.Fenced),
	}
}

// usage counts what a client uses of its quotas, or all clients of the driver's.
type usage struct {
	whose  string
	all    *usage // of all clients; nil for that itself
	limits cost   // 0 is none

	mu   sync.Mutex
	used cost
}

// reserve adds a cost, or fails: RESOURCE_EXHAUSTED_PERSISTENT when it never fits,
// RESOURCE_EXHAUSTED_TRANSIENT when it does not now.
func (u *usage) reserve(c cost) error {
	if err := u.add(c); err != nil || u.all == nil {
		return err
	}
	if err := u.all.add(c); err != nil {
		u.subtract(c)
		return err
	}
	return nil
}

// free returns a cost that was reserved.
func (u *usage) free(c cost) {
	u.subtract(c)
	if u.all != nil {
		u.all.subtract(c)
	}
}

// add counts a cost here alone.
func (u *usage) add(c cost) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r, n := range c {
		limit := u.limits[r]
		if n == 0 || limit == 0 || n <= limit-u.used[r] {
			continue
		}
		status := hal.ResourceExhaustedTransient
		if n > limit {
			status = hal.ResourceExhaustedPersistent
		}
		return hal.Errorf(status, "service: %d %s more than the %d in use, %s at most %d (%s)", n, resourceNames[r], u.used[r], u.whose, limit, quotaFlags[r])
	}
	for r, n := range c {
		u.used[r] += n
	}
	return nil
}

// subtract subtracts a cost from this account and from no other.
func (u *usage) subtract(c cost) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r, n := range c {
		u.used[r] -= n
	}
}

// client is a process that has sessions.
type client struct {
	usage
	pid      int
	calls    chan struct{} // one element per call that runs
	sessions int           // guarded by the server
}
