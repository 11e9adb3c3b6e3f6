package refcpu

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// controlKernels call subgraphs.
var controlKernels = []operation{
	{op: nn.OpIf, prepare: read(prepareIf), ownShapes: true},
	{op: nn.OpWhile, prepare: read(prepareWhile), ownShapes: true},
}

// ErrLoop is the error of a WHILE that does not end in time or within the
// limits of its execution.
var ErrLoop = errors.New("the loop does not end")

// maxDepth bounds the nesting of IF and WHILE.
const maxDepth = 32

// child is the program of the subgraph that an operand refers to.
func (x *Run) child(i uint32) (*Program, error) {
	n, ok := x.view.Operands[i].Subgraph()
	if !ok {
		return nil, fmt.Errorf("operand %d is no subgraph", i)
	}
	if uint64(n) >= uint64(len(x.prog.children)) {
		return nil, fmt.Errorf("operand %d refers to subgraph %d of %d", i, n, len(x.prog.children))
	}
	return x.prog.children[n], nil
}

// call runs a subgraph on tensors within the remaining limits. Its results count in the account until the caller frees
// them.
func (x *Run) call(p *Program, in []Tensor) ([]Tensor, error) {
	if len(in) != len(p.graph.Inputs) {
		return nil, fmt.Errorf("%d inputs for a subgraph of %d", len(in), len(p.graph.Inputs))
	}
	for i, idx := range p.graph.Inputs {
		if o := &p.graph.Operands[idx]; len(in[i].Data)%max(o.Type.ElementBytes(), 1) != 0 {
			return nil, fmt.Errorf("input %d of a subgraph is %s", i, o.Type)
		}
	}
	if x.depth >= maxDepth {
		return nil, fmt.Errorf("subgraphs nest more than %d deep", maxDepth)
	}
	bytes, reserved := x.budget.bytes, x.budget.reserved
	o := Options{Threads: x.threads, LoopTimeout: x.loop, Elapsed: x.elapsed}
	if x.work != nil {
		o.Work = func(_ int, w *opspec.Work) { x.work(x.op, w) }
	}
	out, err := p.execute(in, o, x.budget, x)
	x.budget.bytes = bytes
	x.budget.free(x.budget.reserved - reserved - bytesOf(out))
	return out, err
}

// bytesOf is the bytes of values.
func bytesOf(values []Tensor) (n int64) {
	for i := range values {
		n += int64(len(values[i].Data))
	}
	return n
}

// tensors are the values of operands.
func (x *Run) tensors(list []uint32) []Tensor {
	values := make([]Tensor, len(list))
	for k, i := range list {
		d := x.view.Operands[i].Dimensions
		if d == nil {
			d = []uint32{}
		}
		values[k] = Tensor{Dimensions: d, Data: x.Bytes(i)}
	}
	return values
}

// store makes tensors the outputs of an operation.
func (x *Run) store(op *nn.Operation, values []Tensor) error {
	if len(values) < len(op.Outputs) {
		return fmt.Errorf("%d results for %d outputs", len(values), len(op.Outputs))
	}
	for i, idx := range op.Outputs {
		if err := x.view.SetDims(idx, values[i].Dimensions); err != nil {
			return fmt.Errorf("output %d (operand %d): %w", i, idx, err)
		}
		o := &x.view.Operands[idx]
		if n := int64(len(values[i].Data)); n != o.Bytes() {
			return fmt.Errorf("output %d (operand %d): %d bytes for %s %v", i, idx, n, o.Type, o.Dimensions)
		}
		if err := x.reserve(idx, o.Bytes()); err != nil {
			return err
		}
		copy(x.alloc(idx, len(values[i].Data)), values[i].Data)
	}
	return nil
}

// truth reads a condition: one TENSOR_BOOL8 element.
func truth(b []byte) (bool, error) {
	if len(b) != 1 {
		return false, fmt.Errorf("the condition has %d elements, 1 needed", len(b))
	}
	return b[0] != 0, nil
}

// prepareIf is IF: one of two subgraphs runs on the remaining inputs.
func prepareIf(_ opspec.View, op *nn.Operation, o opspec.If) (Kernel, error) {
	return func(x *Run) error {
		yes, err := truth(x.Bytes(o.Condition))
		if err != nil {
			return err
		}
		branch := o.Else
		if yes {
			branch = o.Then
		}
		p, err := x.child(branch)
		if err != nil {
			return err
		}
		out, err := x.call(p, x.tensors(o.Inputs))
		if err != nil {
			return err
		}
		err = x.store(op, out)
		x.budget.free(bytesOf(out))
		return err
	}, nil
}

// prepareWhile is WHILE: while the condition subgraph returns true, the body replaces the state, which is the first
// inputs.
func prepareWhile(v opspec.View, op *nn.Operation, o opspec.While) (Kernel, error) {
	return func(x *Run) error {
		condition, err := x.child(o.Condition)
		if err != nil {
			return err
		}
		body, err := x.child(o.Body)
		if err != nil {
			return err
		}
		state := x.tensors(o.Inputs)
		if len(body.graph.Outputs) > len(state) {
			return fmt.Errorf("the body gives %d values for a state of %d", len(body.graph.Outputs), len(state))
		}
		outer := x.deadline
		defer func() { x.deadline = outer }()
		x.deadline = min(outer, x.elapsed()+x.loop)
		held := int64(0) // of the state, in the account
		for {
			c, err := x.call(condition, state)
			if err != nil {
				return loopError(err)
			}
			if len(c) != 1 {
				return fmt.Errorf("the condition returns %d values", len(c))
			}
			more, err := truth(c[0].Data)
			x.budget.free(bytesOf(c))
			if err != nil {
				return err
			}
			if !more {
				err := x.store(op, state)
				x.budget.free(held)
				return err
			}
			if x.elapsed() >= x.deadline {
				return fmt.Errorf("%w within %v of simulated time", ErrLoop, x.loop)
			}
			next, err := x.call(body, state)
			if err != nil {
				return loopError(err)
			}
			copy(state, next)
			x.budget.free(held)
			held = bytesOf(next)
		}
	}, nil
}

// loopError marks the exhaustion of the limits inside a loop.
func loopError(err error) error {
	if errors.Is(err, errLimit) {
		return fmt.Errorf("%w: %w", ErrLoop, err)
	}
	return err
}

// errLimit marks an execution that exceeds its limits.
var errLimit = errors.New("limit")
