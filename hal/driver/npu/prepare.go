package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// program is a model as a command stream and the memory it needs.
type program struct {
	code    core.Program
	consts  []byte
	arena   int // bytes of on-chip activations
	spill   int // bytes of activations in DRAM
	weights int // bytes of on-chip weight buffers
	io      int // bytes of inputs and outputs
	inputs  []buffer
	outputs []buffer
}

// compile lowers a whole graph.
func compile(s *core.Spec, onChip int, g *graph.Graph) (*program, error) {
	l := newLowering(s, g)
	p := &program{}
	if err := l.inputs(p); err != nil {
		return nil, err
	}
	for i := range l.graph.Operations {
		if err := l.operation(i); err != nil {
			return nil, fmt.Errorf("operation %d (%v): %w", l.op, l.graph.Operations[i].Type, err)
		}
	}
	if err := l.outputs(p); err != nil {
		return nil, err
	}
	slot := 0
	for i := range l.list {
		w := &l.list[i]
		if err := l.consts.layOut(s, w); err != nil {
			return nil, fmt.Errorf("operation %d (%s): %w", w.op, g.NameOf(w.op), err)
		}
		slot = max(slot, w.fetch.bytes)
	}
	p.consts = append(l.consts.data, make([]byte, align(len(l.consts.data))-len(l.consts.data))...)
	p.weights = ringSlots * slot
	l.lives()
	p.arena, p.spill = place(l.values, max(onChip-p.weights, 0))
	l.resolve()
	e := &emitter{b: ethosu.NewBuilder(s.Product), spec: s, slotSize: slot, luts: s.LUTBase(), writer: map[int]int{}}
	e.program(l.list)
	var err error
	if p.code.Commands, err = e.b.Words(); err != nil {
		return nil, err
	}
	p.code.Marks = e.marks
	return p, nil
}

// ioBuffer reserves a part of the input and output region.
func (p *program) ioBuffer(n int) buffer {
	b := buffer{regionIO, p.io, n}
	p.io += align(n)
	return b
}

// inputs copies the model's inputs on chip.
func (l *lowering) inputs(p *program) error {
	l.op = -1
	for _, x := range l.graph.Inputs {
		if o := &l.graph.Operands[x]; o.IsConst() || o.Lifetime == nn.NoValue {
			p.inputs = append(p.inputs, buffer{}) // a parameter, or left out
			continue
		}
		o, err := l.operand(x)
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		n := int(o.Bytes())
		b := p.ioBuffer(n)
		p.inputs = append(p.inputs, b)
		l.value[x] = l.temporary(n)
		l.list = append(l.list, work{op: -1, kind: kindCopy, ifm: ioRef(b), ofm: ref{l.value[x], dense(0, 1, 1, n, 1, false)}})
	}
	return nil
}

// outputs copies the model's outputs to memory.
func (l *lowering) outputs(p *program) error {
	for _, x := range l.graph.Outputs {
		o, err := l.operand(x)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if l.value[x] < 0 {
			return fmt.Errorf("output operand %d has no value", x)
		}
		n := int(o.Bytes())
		b := p.ioBuffer(n)
		p.outputs = append(p.outputs, b)
		l.list = append(l.list, work{op: -1, kind: kindCopy, ifm: ref{l.value[x], dense(0, 1, 1, n, 1, false)}, ofm: ioRef(b)})
	}
	return nil
}

func ioRef(b buffer) ref {
	r := ref{placed, dense(b.addr, 1, 1, b.bytes, 1, false)}
	r.region = regionIO
	return r
}

// lives sets the first and last piece of work that uses each value.
func (l *lowering) lives() {
	for i := range l.list {
		for _, r := range l.list[i].refs() {
			if r.value == placed {
				continue
			}
			v := &l.values[r.value]
			if v.first < 0 {
				v.first = i
			}
			v.last = i
		}
	}
}

func (w *work) refs() []*ref {
	if w.ifm2 != nil {
		return []*ref{&w.ifm, w.ifm2, &w.ofm}
	}
	return []*ref{&w.ifm, &w.ofm}
}

// resolve makes the addresses of all feature maps final.
func (l *lowering) resolve() {
	for i := range l.list {
		for _, r := range l.list[i].refs() {
			if r.value != placed {
				at := l.values[r.value].at
				r.region = at.region
				r.addr += at.addr
			}
		}
	}
}
