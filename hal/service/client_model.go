package service

import (
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/nn"
)

// prepared is a prepared model in another process. It implements hal.PreparedModel. The
// driver frees it when nobody here refers to it.
type prepared struct {
	device     *Device
	id         uint64
	preparedFs int64
	outputs    nn.Model // the outputs of the model alone; empty when it came from a cache
}

func newPrepared(d *Device, h *pb.Handle) *prepared {
	p := &prepared{device: d, id: h.Id, preparedFs: h.PreparedFs}
	hold(d, h.Id, p)
	runtime.AddCleanup(p, func(id uint64) { go d.release(id) }, h.Id)
	return p
}

// signature is the outputs of a model without the rest of it.
func signature(m *nn.Model) (s nn.Model) {
	for i, x := range m.Main.Outputs {
		if int(x) >= len(m.Main.Operands) { // the driver should have refused it
			return nn.Model{}
		}
		o := m.Main.Operands[x]
		s.Main.Operands = append(s.Main.Operands, nn.Operand{Type: o.Type, Dimensions: slices.Clone(o.Dimensions)})
		s.Main.Outputs = append(s.Main.Outputs, uint32(i))
	}
	return s
}

// request is a request as it travels, on the pools that it needs. The driver must not
// read them before load.
func (p *prepared) request(r *hal.Request, o *hal.ExecuteOptions) (*pb.ExecuteRequest, *passed, error) {
	if r == nil {
		return nil, nil, hal.Errorf(hal.InvalidArgument, "service: no request")
	}
	if o.Profile != nil {
		return nil, nil, hal.Errorf(hal.InvalidArgument, "service: profiles are of devices in the same process, the driver of %s is not", p.device.Name())
	}
	pools, err := p.device.shared.pass(r)
	if err != nil {
		return nil, nil, err
	}
	return &pb.ExecuteRequest{
		Session: p.device.about.Session, Prepared: p.id, Inputs: wire.ToArguments(r.Inputs), Outputs: wire.ToArguments(r.Outputs), Pools: pools.pools,
		MeasureTiming: o.MeasureTiming, Deadline: (*uint64)(o.Deadline), LoopTimeoutNs: int64(o.LoopTimeout),
		Functional: o.Functional, Detail: o.Detail, Trace: o.Trace != nil, InBurst: o.InBurst,
		EngineOnly: o.EngineOnly, Clock: wire.ToClock(o.Clock),
	}, pools, nil
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request, o hal.ExecuteOptions) (res *hal.Result, err error) {
	call, pools, err := p.request(r, &o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			pools.done(nil)
		} else {
			pools.done(r.Outputs)
		}
	}()
	pools.load(r.Inputs, r.Outputs)
	reply, err := p.device.client.Execute(p.device.ctx, call)
	runtime.KeepAlive(p)
	if err != nil {
		return nil, p.device.failed(err)
	}
	replay(reply, o.Trace)
	return wire.FromReply(p.device.path, reply)
}

// CreateReusableExecution implements hal.PreparedModel.
func (p *prepared) CreateReusableExecution(r *hal.Request, o hal.ExecuteOptions) (hal.Execution, error) {
	call, pools, err := p.request(r, &o)
	if err != nil {
		return nil, err
	}
	defer pools.done(nil)
	if _, err := p.device.client.CreateReusableExecution(p.device.ctx, call); err != nil {
		return nil, p.device.failed(err)
	}
	return &execution{prepared: p, request: r, options: o}, nil
}

// execution is a request that is computed often. It implements hal.Execution.
type execution struct {
	prepared *prepared
	request  *hal.Request
	options  hal.ExecuteOptions
	mu       sync.Mutex // held by the computation that runs
}

// Compute implements hal.Execution.
func (e *execution) Compute() (*hal.Result, error) {
	if !e.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "service: a computation of this execution has not ended")
	}
	defer e.mu.Unlock()
	return e.prepared.Execute(e.request, e.options)
}

// ComputeFenced implements hal.Execution.
func (e *execution) ComputeFenced(waitFor []*hal.SyncFence, afterFence time.Duration) (*hal.FencedExecution, error) {
	if !e.mu.TryLock() {
		return nil, hal.Errorf(hal.GeneralFailure, "service: a computation of this execution has not ended")
	}
	started := false
	defer func() {
		if !started { // a panic as well
			e.mu.Unlock()
		}
	}()
	f, err := e.prepared.ExecuteFenced(e.request, waitFor, e.options, afterFence)
	if err != nil {
		return nil, err
	}
	started = true
	go func() {
		<-f.Fence.Done()
		e.mu.Unlock()
	}()
	return f, nil
}

// text is what the driver writes about the model.
func (p *prepared) text(w io.Writer, r *pb.Text, err error) error {
	runtime.KeepAlive(p)
	if err != nil {
		return p.device.failed(err)
	}
	_, err = w.Write(r.Text)
	return err
}

func (p *prepared) handle() *pb.HandleRequest {
	return &pb.HandleRequest{Session: p.device.about.Session, Id: p.id}
}

// WriteListing implements hal.PreparedModel.
func (p *prepared) WriteListing(w io.Writer) error {
	r, err := p.device.client.WriteListing(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// WriteProgram implements hal.PreparedModel.
func (p *prepared) WriteProgram(w io.Writer) error {
	r, err := p.device.client.WriteProgram(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// WriteSteps implements hal.StepPrinter.
func (p *prepared) WriteSteps(w io.Writer) error {
	r, err := p.device.client.WriteSteps(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// Explain implements hal.Explainer.
func (p *prepared) Explain(w io.Writer) error {
	r, err := p.device.client.Explain(p.device.ctx, p.handle())
	return p.text(w, r, err)
}

// PreparedFs implements hal.Preparing.
func (p *prepared) PreparedFs() int64 { return p.preparedFs }
