package base

import (
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// CreateReusableExecution implements hal.PreparedModel.
func (p *prepared) CreateReusableExecution(r *hal.Request, o hal.ExecuteOptions) (e hal.Execution, err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "CreateReusableExecution")
	b, err := p.bind(r, o)
	if err != nil {
		return nil, err
	}
	return &execution{prepared: p, request: r, bound: b}, nil
}

// execution is a request bound to a prepared model. It implements hal.Execution.
type execution struct {
	prepared *prepared
	request  *hal.Request
	mu       sync.Mutex // held by the computation that runs
	bound    *bound
}

// Compute implements hal.Execution.
func (e *execution) Compute() (res *hal.Result, err error) {
	defer hal.Contain(&err, e.prepared.device.cfg.Name, "Compute")
	if !e.mu.TryLock() {
		return nil, e.busy()
	}
	defer e.mu.Unlock()
	return e.prepared.execute(e.copyOf(), e.prepared.device.clock.NowFs())
}

// ComputeFenced implements hal.Execution.
func (e *execution) ComputeFenced(waitFor []*hal.SyncFence, afterFence time.Duration) (f *hal.FencedExecution, err error) {
	defer hal.Contain(&err, e.prepared.device.cfg.Name, "ComputeFenced")
	if !e.mu.TryLock() {
		return nil, e.busy()
	}
	if f, err = e.prepared.executeFenced(e.request, e.copyOf(), waitFor, afterFence); err != nil {
		e.mu.Unlock()
		return nil, err
	}
	go func() {
		<-f.Fence.Done()
		e.mu.Unlock()
	}()
	return f, nil
}

// copyOf is the bound request with state of its own.
func (e *execution) copyOf() *bound {
	b := *e.bound
	b.buffers.Inputs = append([][]byte(nil), b.buffers.Inputs...)
	b.buffers.Outputs = append([][]byte(nil), b.buffers.Outputs...)
	b.buffers.InputDimensions = append([][]uint32(nil), b.buffers.InputDimensions...)
	b.partial = append([]bool(nil), b.partial...)
	return &b
}

func (e *execution) busy() error {
	return hal.Errorf(hal.GeneralFailure, "%s driver: a computation of this execution has not ended", e.prepared.device.cfg.Name)
}
