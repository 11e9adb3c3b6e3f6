package gpu

import (
	"fmt"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// program is a compiled model. It does not change.
type program struct {
	g               *graph.Graph
	launches        []*launch
	dispatches      []core.Dispatch
	consts          []byte
	arena           int
	pages           []byte    // the arena's first bytes, which nothing writes
	inputs, outputs []*tensor // as the client sees them
}

// compile lowers a graph whose operations are all supported.
func compile(g *graph.Graph) (*program, error) {
	l := newLowering(g)
	l.storage = g.Storage()
	p := &program{g: l.g}
	client, err := l.clients(l.g.Inputs, true)
	if err != nil {
		return nil, err
	}
	p.inputs = client
	for i := range l.g.Operations {
		if err := l.lower(i); err != nil {
			return nil, fmt.Errorf("operation %d: %w", l.op, err)
		}
	}
	if p.outputs, err = l.clients(l.g.Outputs, false); err != nil {
		return nil, err
	}
	l.lifetimes(p.inputs, p.outputs)
	p.pages = l.pages()
	if p.arena, err = placeTensors(l.tensors, len(p.pages)); err != nil {
		return nil, err
	}
	code := uint64(codeBase)
	kargs := kernelArguments()
	for _, j := range l.jobs {
		l.op = j.op
		la, err := j.emit(l)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", j.op, err)
		}
		la.op = j.op
		p.launches = append(p.launches, la)
		k := &core.Kernel{
			Name: la.program.Name, Code: la.program.Code, Base: code, WaveSize: 32, VGPRs: la.program.VGPRs,
			LDSBytes: la.program.LDSBytes, WorkItemIDs: la.program.WorkItemIDs,
		}
		code += uint64(len(k.Code)+255) &^ 255
		p.dispatches = append(p.dispatches, core.Dispatch{
			Kernel: k, Kernarg: kargs, Grid: la.grid, Workgroup: la.workgroup, Region: j.op,
		})
	}
	if len(l.consts.data) > maxRegion {
		return nil, fmt.Errorf("gpu: constants need %d bytes, at most %d", len(l.consts.data), maxRegion)
	}
	p.consts = append(l.consts.data, make([]byte, guard)...)
	return p, nil
}

// clients are the tensors that exchange data with the client for model inputs
// or outputs: where the storage differs from the operand's type, a tensor of
// that type and a conversion.
func (l *lowering) clients(operands []uint32, input bool) ([]*tensor, error) {
	var out []*tensor
	for _, x := range operands {
		o := &l.g.Operands[x]
		if input && (o.IsConst() || o.Lifetime == nn.NoValue) { // a parameter, or left out
			out = append(out, nil)
			continue
		}
		if !o.Known() || o.Type.IsScalar() {
			return nil, fmt.Errorf("operand %d: %s of shape %v as input or output is not supported", x, o.Type, o.Dimensions)
		}
		t, err := l.value(x)
		if err != nil {
			return nil, fmt.Errorf("operand %d: %w", x, err)
		}
		if o.Type == nn.TensorFloat32 && t.elem == f16 {
			c := l.temporary(f32, t.n)
			l.op = l.neighbour(x, input)
			if input {
				l.convert(c, t)
			} else {
				l.convert(t, c)
			}
			t = c
		}
		out = append(out, t)
	}
	return out, nil
}

// neighbour is the operation that a conversion is charged to: the first reader
// of a model input, the writer of an output.
func (l *lowering) neighbour(x uint32, input bool) int {
	for i := range l.g.Operations {
		list := l.g.Operations[i].Outputs
		if input {
			list = l.g.Operations[i].Inputs
		}
		for _, y := range list {
			if x == y {
				return l.g.Origin[i]
			}
		}
	}
	return 0
}

// lifetimes finds the first and last job of every tensor. Model inputs are
// there before the first job, outputs behind the last.
func (l *lowering) lifetimes(inputs, outputs []*tensor) {
	for j, job := range l.jobs {
		for _, list := range [2][]*tensor{job.reads, job.writes} {
			for _, t := range list {
				if t.first < 0 {
					t.first = j
				}
				t.last = j
			}
		}
	}
	for _, t := range inputs {
		if t != nil {
			t.first = 0
		}
	}
	for _, t := range outputs {
		t.first = max(t.first, 0)
		t.last = len(l.jobs)
	}
	for _, t := range l.tensors {
		t.first = max(t.first, 0)
	}
}
