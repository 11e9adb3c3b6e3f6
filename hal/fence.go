package hal

import (
	"context"
	"sync"
)

// FenceState is the state of a sync fence.
type FenceState int

// States of a fence.
const (
	FenceActive FenceState = iota
	FenceSignaled
	FenceError
	FenceUnknown // there is no fence
)

var fenceStateNames = [...]string{"ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"}

// String returns Android's name of the state.
func (s FenceState) String() string {
	if s >= 0 && int(s) < len(fenceStateNames) {
		return fenceStateNames[s]
	}
	return "UNKNOWN"
}

// SyncFence signals once: that work is done, or that it failed.
type SyncFence struct {
	done chan struct{}
	once sync.Once
	at   TimePoint
	err  error
}

// NewSyncFence returns an active fence.
func NewSyncFence() *SyncFence { return &SyncFence{done: make(chan struct{})} }

// Signal ends the wait for a fence at an instant of the machine's clock; a non-nil err marks
// the work as failed. Only the first call has an effect.
func (f *SyncFence) Signal(at TimePoint, err error) {
	f.once.Do(func() {
		f.at, f.err = at, err
		close(f.done)
	})
}

// Done is closed when the fence has signalled.
func (f *SyncFence) Done() <-chan struct{} { return f.done }

// State is the state now; that of no fence is FenceUnknown.
func (f *SyncFence) State() FenceState {
	if f == nil || f.done == nil {
		return FenceUnknown
	}
	select {
	case <-f.done:
	default:
		return FenceActive
	}
	if f.err != nil {
		return FenceError
	}
	return FenceSignaled
}

// SignalTime is the instant at which the fence signalled and why it did with an error.
// The fence must not be active.
func (f *SyncFence) SignalTime() (TimePoint, error) { return f.at, f.err }

// Wait is syncWait: the state when the fence has signalled or the context has ended.
func (f *SyncFence) Wait(ctx context.Context) FenceState {
	if f.State() != FenceActive {
		return f.State()
	}
	select {
	case <-f.done:
	case <-ctx.Done():
	}
	return f.State()
}
