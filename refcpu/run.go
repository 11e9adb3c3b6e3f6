package refcpu

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
)

// Options steer an execution.
type Options struct {
	// Threads is the number of goroutines of an operation; 0 is GOMAXPROCS.
	// Results do not depend on it.
	Threads int
	// LoopTimeout bounds the simulated time of each WHILE; 0 is NNAPI's default of 2 s.
	LoopTimeout time.Duration
	// Elapsed is the simulated time of the execution so far. Without it an operation
	// counts 1 us and a step of its work 1 ns (assumed, D-500).
	Elapsed func() time.Duration
	// Observe is called after each operation of the main subgraph with its
	// outputs, which it must neither keep nor change.
	Observe func(op int, outputs [][]byte)
	// Work is called for each operation that has executed, those of subgraphs
	// included, with the operation of the main subgraph that it is part of. It must
	// not keep w.
	Work func(op int, w *opspec.Work)
	// Account, if there is one, pays for tensors whose shapes only the execution decides, before they are allocated.
	// Nothing of an execution that it pays for is kept for the next.
	Account Account
}

// Account counts memory that an execution allocates. An execution leaves what it has reserved for its main graph to
// the caller to take back.
type Account interface {
	Reserve(bytes int64) error
	Free(bytes int64)
}

// Tensor is a value with its shape.
type Tensor struct {
	Dimensions []uint32
	Data       []byte // dense, row-major, little-endian
}

// callWork is the work charged for running a subgraph at all.
const callWork = 64

// Run is the state of one execution.
type Run struct {
	prog    *Program
	view    opspec.View // bound
	threads int
	// buf[i] is the value of operand i with slack bytes after it; cap is the allocated size.
	buf    [][]byte
	arenas []buffer.Arena // one per thread
	budget *budget
	// loop bounds a WHILE; one inside another ends with it at deadline.
	loop     time.Duration
	deadline time.Duration
	elapsed  func() time.Duration
	depth    int // of nested subgraphs
	// fresh: an input was left out, so that nothing prepared earlier holds.
	fresh  bool
	shared buffer.Arena
	// work is Options.Work; op is the operation that executes.
	work func(op int, w *opspec.Work)
	op   int
	// scratch is the bytes that the operation has charged and holds no longer when it has ended.
	scratch int64
}

// Run executes the program once. The buffers are those of the main subgraph's
// inputs and outputs, in order; every shape must be known at compile time,
// otherwise use Execute. An output buffer may be longer than its value.
func (p *Program) Run(inputs, outputs [][]byte, o Options) error {
	g := p.graph
	if len(inputs) != len(g.Inputs) || len(outputs) != len(g.Outputs) {
		return fmt.Errorf("refcpu: %d inputs and %d outputs given, the model has %d and %d",
			len(inputs), len(outputs), len(g.Inputs), len(g.Outputs))
	}
	args := make([]Tensor, len(inputs))
	for i := range inputs {
		args[i].Data = inputs[i]
	}
	left := p.limits.budget(o.Account)
	x, err := p.start(args, o, &left)
	if err != nil {
		return fmt.Errorf("refcpu: %w", err)
	}
	defer p.leave(x)
	x.depth, x.deadline = 0, math.MaxInt64
	if err := x.execute(o); err != nil {
		return fmt.Errorf("refcpu: %w", err)
	}
	for i, idx := range g.Outputs {
		v := x.Bytes(idx)
		if len(outputs[i]) < len(v) {
			return fmt.Errorf("refcpu: output %d needs %d bytes, the buffer has %d", i, len(v), len(outputs[i]))
		}
		copy(outputs[i], v)
	}
	return nil
}

// Execute runs the program once and returns its outputs with their shapes. An
// input without Dimensions has the model's shape; with them, an entry 0 is an
// empty tensor.
func (p *Program) Execute(inputs []Tensor, o Options) ([]Tensor, error) {
	left := p.limits.budget(o.Account)
	out, err := p.execute(inputs, o, &left, nil)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	return out, nil
}

// execute runs a subgraph within the remaining limits.
func (p *Program) execute(inputs []Tensor, o Options, left *budget, caller *Run) ([]Tensor, error) {
	x, err := p.start(inputs, o, left)
	if err != nil {
		return nil, err
	}
	x.depth, x.deadline = 0, math.MaxInt64
	if caller != nil {
		x.depth, x.deadline = caller.depth+1, caller.deadline
	}
	defer p.leave(x)
	if err := x.execute(o); err != nil {
		return nil, err
	}
	if err := left.reserve(bytesOf(x.tensors(p.graph.Outputs))); err != nil {
		return nil, err
	}
	out := make([]Tensor, len(p.graph.Outputs))
	for i, idx := range p.graph.Outputs {
		out[i].Dimensions = append([]uint32(nil), x.view.Operands[idx].Dimensions...)
		out[i].Data = append([]byte(nil), x.Bytes(idx)...)
	}
	return out, nil
}

// leave keeps a run state for the next execution, unless an account pays for its memory.
func (p *Program) leave(x *Run) {
	if x.budget.account == nil {
		p.states.Put(x, nil)
	}
}

// start allocates a run state and copies the inputs into it.
func (p *Program) start(inputs []Tensor, o Options, left *budget) (*Run, error) {
	g := p.graph
	if len(inputs) != len(g.Inputs) {
		return nil, fmt.Errorf("%d inputs given, the model has %d", len(inputs), len(g.Inputs))
	}
	x, _ := p.states.Acquire(nil)
	if x == nil {
		x = &Run{prog: p, buf: make([][]byte, len(g.Operands))}
		x.view = opspec.View{Operands: make([]nn.Operand, len(g.Operands)), Bound: true, Table: p.table.spec}
	}
	copy(x.view.Operands, g.Operands)
	x.fresh = false
	x.budget = left
	x.scratch = 0
	x.loop = o.LoopTimeout
	if x.loop <= 0 {
		x.loop = 2 * time.Second
	}
	if x.elapsed = o.Elapsed; x.elapsed == nil {
		x.elapsed = left.nominal
	}
	x.threads = o.Threads
	if x.threads <= 0 {
		x.threads = runtime.GOMAXPROCS(0)
	}
	for len(x.arenas) < x.threads {
		x.arenas = append(x.arenas, buffer.Arena{})
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		if o.IsConst() || o.Lifetime == nn.NoValue || o.Lifetime == nn.LifetimeSubgraph {
			x.buf[i] = o.Data
		}
	}
	for i, idx := range g.Inputs {
		o := &x.view.Operands[idx]
		if d := inputs[i].Dimensions; d != nil {
			if err := compatible(g.Operands[idx].Dimensions, d); err != nil {
				return nil, fmt.Errorf("input %d: %w", i, err)
			}
			o.Dimensions = d
		}
		if len(inputs[i].Data) == 0 && inputs[i].Dimensions == nil {
			// An optional input left out, or an empty tensor.
			o.Lifetime, o.Data = nn.NoValue, nil
			x.buf[idx] = nil
			x.fresh = true
			continue
		}
		want := int64(o.Type.ElementBytes())
		if !o.Type.IsScalar() {
			want = o.Bytes()
		}
		if int64(len(inputs[i].Data)) != want {
			return nil, fmt.Errorf("input %d (operand %d) has %d bytes, %s %v has %d",
				i, idx, len(inputs[i].Data), o.Type, o.Dimensions, want)
		}
		if err := x.reserve(idx, want); err != nil {
			return nil, err
		}
		copy(x.alloc(idx, len(inputs[i].Data)), inputs[i].Data)
	}
	return x, nil
}

// compatible reports whether a shape completes the model's.
func compatible(model, given []uint32) error {
	if len(model) == 0 {
		return nil
	}
	if len(model) != len(given) {
		return fmt.Errorf("shape %v does not match %v of the model", given, model)
	}
	for i, d := range model {
		if d != 0 && d != given[i] {
			return fmt.Errorf("shape %v does not match %v of the model", given, model)
		}
	}
	return nil
}

// execute runs all operations in order.
func (x *Run) execute(o Options) error {
	g := x.prog.graph
	if x.prog.static && !x.fresh {
		if x.budget.work -= x.prog.work + callWork; x.budget.work < 0 {
			return fmt.Errorf("the execution exceeds %d steps of work: %w", x.prog.limits.Work, errLimit)
		}
	}
	var observed [][]byte
	x.work = o.Work
	for i := range g.Operations {
		op := &g.Operations[i]
		x.op = i
		x.budget.operations++
		k := x.prog.kernels[i]
		if !x.prog.static || x.fresh {
			var err error
			if k, err = x.bind(op, k); err != nil {
				return fmt.Errorf("operation %d: %w", i, err)
			}
		}
		if !x.prog.operations[i].ownShapes {
			for _, idx := range op.Outputs {
				x.alloc(idx, int(x.view.Operands[idx].Bytes()))
			}
		}
		x.shared.Reset()
		if err := k(x); err != nil {
			return fmt.Errorf("operation %d: %s: %w", i, op.Type, err)
		}
		x.budget.free(x.scratch)
		x.scratch = 0
		if o.Work != nil {
			w, err := x.view.Work(op)
			if err != nil {
				return fmt.Errorf("operation %d: %w", i, err)
			}
			o.Work(i, &w)
		}
		if o.Observe != nil {
			observed = observed[:0]
			for _, idx := range op.Outputs {
				observed = append(observed, x.Bytes(idx))
			}
			o.Observe(i, observed)
		}
	}
	return nil
}

// bind sets the shapes of an operation's outputs and prepares the operation unless that happened at compile time.
func (x *Run) bind(op *nn.Operation, k Kernel) (Kernel, error) {
	impl := &x.prog.operations[x.op]
	if impl.ownShapes {
		return impl.prepare(x.view, op)
	}
	dims, err := x.view.OutputDims(op)
	if err != nil {
		return nil, err
	}
	if err := x.view.CheckOpen(op, dims); err != nil {
		return nil, err
	}
	if !x.budget.operation(x.view, op, dims) {
		return nil, fmt.Errorf("%s: the execution exceeds %d steps of work: %w", op.Type, x.prog.limits.Work, errLimit)
	}
	for i, idx := range op.Outputs {
		if err := x.view.SetDims(idx, dims[i]); err != nil {
			return nil, fmt.Errorf("%s: output %d (operand %d): %w", op.Type, i, idx, err)
		}
		if !x.budget.tensor(&x.view.Operands[idx]) {
			return nil, fmt.Errorf("%s: tensors of the execution exceed %d bytes: %w", op.Type, x.prog.limits.Bytes, errLimit)
		}
		if err := x.reserve(idx, x.view.Operands[idx].Bytes()); err != nil {
			return nil, fmt.Errorf("%s: output %d (operand %d): %w", op.Type, i, idx, err)
		}
	}
	if k != nil && !x.fresh {
		return k, nil
	}
	return impl.prepare(x.view, op)
}

// reserve has the account pay for the value of operand i, unless the program's shapes tell its size.
func (x *Run) reserve(i uint32, bytes int64) error {
	if x.prog.graph.Operands[i].Known() {
		return nil
	}
	return x.budget.reserve(bytes)
}

// alloc allocates a buffer of n bytes for operand i.
func (x *Run) alloc(i uint32, n int) []byte {
	o := &x.view.Operands[i]
	if cap(x.buf[i]) < n+buffer.Slack || o.IsConst() {
		x.buf[i] = buffer.Aligned(n + buffer.Slack)
	}
	x.buf[i] = x.buf[i][: n+buffer.Slack : cap(x.buf[i])]
	o.Data = x.buf[i][:n]
	return o.Data
}

// Bytes is the value of operand i.
func (x *Run) Bytes(i uint32) []byte { return x.view.Operands[i].Data }

// padded is the value of operand i with slack readable bytes after it.
func (x *Run) padded(i uint32) []byte { return x.buf[i][:cap(x.buf[i])] }

// Parallel calls f for [0, n) cut into ranges of at least grain, one per
// thread. worker numbers the thread.
func (x *Run) Parallel(n, grain int, f func(worker, lo, hi int)) {
	threads := min(x.threads, (n+grain-1)/max(grain, 1))
	if threads <= 1 {
		if n > 0 {
			x.arenas[0].Reset()
			f(0, 0, n)
		}
		return
	}
	var wg sync.WaitGroup
	var failed atomic.Pointer[any] // value of a worker's panic
	for w := range threads {
		lo, hi := n*w/threads, n*(w+1)/threads
		x.arenas[w].Reset()
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					failed.Store(&v)
				}
			}()
			f(w, lo, hi)
		})
	}
	wg.Wait()
	if v := failed.Load(); v != nil {
		panic(*v) // where the caller can recover it
	}
}
