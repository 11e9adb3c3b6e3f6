package base

import (
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// ConfigureExecutionBurst implements hal.PreparedModel.
func (p *prepared) ConfigureExecutionBurst() (hal.Burst, error) { return &burst{prepared: p}, nil }

// burst executes requests of one client one after the other. It implements hal.Burst.
type burst struct {
	prepared *prepared
	mu       sync.Mutex // held by the execution that runs
	closed   bool
}

// CacheMemory implements hal.Burst: memory of the same process is mapped already.
func (b *burst) CacheMemory(*hal.Memory) (release func()) { return func() {} }

// Execute implements hal.Burst.
func (b *burst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if !b.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: an execution of this burst has not ended", b.prepared.device.cfg.Name)
	}
	defer b.mu.Unlock()
	if b.closed {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: the burst is closed", b.prepared.device.cfg.Name)
	}
	o.InBurst = true
	return b.prepared.Execute(r, o)
}

// Close implements hal.Burst.
func (b *burst) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}
