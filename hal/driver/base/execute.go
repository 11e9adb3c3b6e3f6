package base

import (
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request, o hal.ExecuteOptions) (res *hal.Result, err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "Execute")
	b, err := p.bind(r, o)
	if err != nil {
		return nil, err
	}
	return p.execute(b, p.device.clock.NowFs())
}

// bound is a valid request with its buffers.
type bound struct {
	buffers hal.Buffers
	memory  []*roleUse // device memory of the request
	partial []bool     // outputs whose shape the client's model leaves open
}

// bind checks a request and finds its buffers.
func (p *prepared) bind(r *hal.Request, o hal.ExecuteOptions) (*bound, error) {
	if err := validate.Request(p.original, r); err != nil {
		return nil, err
	}
	b := &bound{buffers: hal.Buffers{ExecuteOptions: o}}
	var err error
	if b.memory, err = p.uses(r); err != nil {
		return nil, err
	}
	for _, list := range [2][]hal.RequestArgument{r.Inputs, r.Outputs} {
		for i := range list {
			if l := list[i].Location; !list[i].HasNoValue && r.Pools[l.PoolIndex].Memory != nil && r.Pools[l.PoolIndex].Memory.Name == hal.HardwareBuffer {
				return nil, hal.Errorf(hal.GeneralFailure, "%s driver: pool %d is a hardware buffer whose layout is its maker's, which cannot be mapped", p.device.cfg.Name, l.PoolIndex)
			}
		}
	}
	plain := *r
	if len(b.memory) > 0 {
		plain.Pools = slices.Clone(r.Pools)
		for i := range plain.Pools {
			if plain.Pools[i].Memory == nil {
				plain.Pools[i].Memory = &hal.Memory{} // of no bytes, as the argument is
			}
		}
	}
	if b.buffers.Inputs, b.buffers.Outputs, err = plain.Buffers(); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%s driver: request: %w", p.device.cfg.Name, err)
	}
	b.buffers.InputDimensions = make([][]uint32, len(r.Inputs))
	for i := range r.Inputs {
		b.buffers.InputDimensions[i] = r.Inputs[i].Dimensions
	}
	for i, x := range p.original.Main.Outputs {
		operand := &p.original.Main.Operands[x]
		b.partial = append(b.partial, !operand.Known() && !complete(r.Outputs[i].Dimensions))
	}
	return b, nil
}

// complete reports whether the dimensions of a request are a whole shape.
func complete(dims []uint32) bool {
	return len(dims) > 0 && !slices.Contains(dims, 0)
}

// execute runs a bound request from an instant on.
func (p *prepared) execute(b *bound, startFs int64) (res *hal.Result, err error) {
	if err := p.acquire(b); err != nil {
		return nil, err
	}
	defer func() { b.markWritten(err == nil) }()
	buffers := b.buffers
	short := p.short(&buffers)
	if short != nil {
		if dims, all := p.known(); all {
			return p.insufficient(&hal.Result{OutputDimensions: dims}, b, short)
		}
		buffers = p.roomy(&buffers) // the other shapes are known after an execution
	}
	if res, err = p.run(&buffers, startFs); err == nil {
		if err = p.check(&buffers, res); err != nil {
			return nil, err
		}
		err = short
	}
	if hal.StatusOf(err) == hal.OutputInsufficientSize {
		return p.insufficient(res, b, err)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// short is the error of an output buffer that is smaller than the model's inputs and
// constants require.
func (p *prepared) short(b *hal.Buffers) error {
	g := &p.model.Main
	for i, data := range b.Outputs {
		if o := &g.Operands[g.Outputs[i]]; o.Known() && int64(len(data)) < o.Bytes() {
			return hal.Errorf(hal.OutputInsufficientSize, "%s driver: output %d has %d bytes, %s %v needs %d",
				p.device.cfg.Name, i, len(data), o.Type, o.Dimensions, o.Bytes())
		}
	}
	return nil
}

// insufficient marks the outputs that are too small. Device memory never is: a value that
// does not fit is a failure.
func (p *prepared) insufficient(res *hal.Result, b *bound, err error) (*hal.Result, error) {
	if res == nil || len(res.OutputDimensions) != len(b.buffers.Outputs) {
		return nil, p.device.outputs("OUTPUT_INSUFFICIENT_SIZE without the shapes of the outputs")
	}
	g := &p.model.Main
	res.Timing = hal.NoTiming
	res.Insufficient = make([]bool, len(res.OutputDimensions))
	for i, dims := range res.OutputDimensions {
		n := int64(g.Operands[g.Outputs[i]].Type.ElementBytes()) * nn.Elements(dims)
		res.Insufficient[i] = n < 0 || n > int64(len(b.buffers.Outputs[i]))
	}
	for _, u := range b.memory {
		if !u.input && res.Insufficient[u.io] {
			return nil, hal.Errorf(hal.GeneralFailure, "%s driver: a value does not fit device memory: %w", p.device.cfg.Name, err)
		}
	}
	for i, short := range res.Insufficient {
		if short && !b.partial[i] {
			return nil, p.device.outputs("output %d of shape %v does not have the shape of the model", i, res.OutputDimensions[i])
		}
	}
	if !slices.Contains(res.Insufficient, true) {
		return nil, p.device.outputs("OUTPUT_INSUFFICIENT_SIZE, but every output fits")
	}
	return res, err
}

// known are the shapes of the outputs, and whether the model states all.
func (p *prepared) known() (dims [][]uint32, all bool) {
	g := &p.model.Main
	all = true
	for _, x := range g.Outputs {
		o := &g.Operands[x]
		dims, all = append(dims, o.Dimensions), all && o.Known()
	}
	return dims, all
}

// roomy is like b with no output of known shape too short.
func (p *prepared) roomy(b *hal.Buffers) hal.Buffers {
	c, g := *b, &p.model.Main
	c.Outputs = slices.Clone(b.Outputs)
	for i, data := range c.Outputs {
		if o := &g.Operands[g.Outputs[i]]; o.Known() && int64(len(data)) < o.Bytes() {
			c.Outputs[i] = make([]byte, o.Bytes())
		}
	}
	return c
}

// check compares what an execution reports with the model.
func (p *prepared) check(b *hal.Buffers, res *hal.Result) error {
	g := &p.model.Main
	if res == nil || len(res.OutputDimensions) != len(g.Outputs) {
		return p.device.outputs("no shapes of the outputs")
	}
	for i, x := range g.Outputs {
		o, dims := &g.Operands[x], res.OutputDimensions[i]
		if n := int64(o.Type.ElementBytes()) * nn.Elements(dims); n < 0 || n > int64(len(b.Outputs[i])) {
			return p.device.outputs("output %d of shape %v, reported as done, has a buffer of %d bytes", i, dims, len(b.Outputs[i]))
		}
	}
	return nil
}

// outputs is an error about what a driver answered for the outputs.
func (d *Device) outputs(format string, args ...any) error {
	return hal.Errorf(hal.GeneralFailure, d.cfg.Name+" driver: "+format, args...)
}

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
	defer func() {
		if f == nil { // an error or a panic
			e.mu.Unlock()
			return
		}
		go func() {
			<-f.Fence.Done()
			e.mu.Unlock()
		}()
	}()
	return e.prepared.executeFenced(e.request, e.copyOf(), waitFor, afterFence)
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
