package gpu

import (
	"fmt"
	"math"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Save implements base.Saver: sizes, kernels with their code, constants, and the places
// of inputs and outputs.
func (p *executable) Save(w *cache.Writer) {
	prog := p.program
	w.Uint(uint64(prog.arena))
	w.Bytes(prog.pages)
	w.Constants(prog.consts)
	w.Uint(uint64(len(prog.launches)))
	for _, l := range prog.launches {
		k := l.program
		w.Int(int64(l.op))
		for i := range l.grid {
			w.Uint(uint64(l.grid[i]))
			w.Uint(uint64(l.workgroup[i]))
		}
		w.String(k.Name)
		w.Uint(uint64(k.VGPRs))
		w.Uint(uint64(k.SGPRs))
		w.Uint(uint64(k.LDSBytes))
		w.Uint(uint64(k.WorkItemIDs))
		w.Bytes(k.Code)
		w.Uint(uint64(len(k.Source)))
		for _, s := range k.Source {
			w.Int(int64(s))
		}
	}
	for _, list := range [2][]*tensor{prog.inputs, prog.outputs} {
		w.Uint(uint64(len(list)))
		for _, t := range list {
			w.Bool(t != nil)
			if t != nil {
				w.Bool(t.region == consts)
				w.Uint(uint64(t.off))
				w.Uint(uint64(t.elem))
				w.Uint(uint64(t.n))
			}
		}
	}
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	p := &program{g: g, arena: r.IntUpTo(maxRegion), pages: r.Bytes(), consts: r.Constants()}
	if len(p.pages) > p.arena || len(p.consts) < guard {
		return nil, fmt.Errorf("gpu: %d bytes of constants and %d before an arena of %d", len(p.consts), len(p.pages), p.arena)
	}
	for range r.Count() {
		l := &launch{op: r.IntIn(math.MinInt32, math.MaxInt32)}
		for i := range l.grid {
			l.grid[i], l.workgroup[i] = r.IntUpTo(math.MaxInt32), r.IntUpTo(math.MaxInt32)
		}
		l.program = &rdna2.Program{Name: r.String(), VGPRs: r.IntUpTo(math.MaxInt32), SGPRs: r.IntUpTo(math.MaxInt32),
			LDSBytes: r.IntUpTo(math.MaxInt32), WorkItemIDs: r.IntUpTo(2), Code: r.Bytes()}
		l.program.Source = make([]int32, r.Count())
		for i := range l.program.Source {
			l.program.Source[i] = int32(r.IntIn(math.MinInt32, math.MaxInt32))
		}
		p.launches = append(p.launches, l)
	}
	p.inputs = loadTensors(r, p, len(g.Inputs))
	p.outputs = loadTensors(r, p, len(g.Outputs))
	if err := r.Err(); err != nil {
		return nil, err
	}
	for i, t := range p.outputs {
		if t == nil || int64(t.bytes()) != g.Operands[g.Outputs[i]].Bytes() {
			return nil, fmt.Errorf("gpu: output %d has no place of its size", i)
		}
	}
	p.dispatch()
	return &executable{dev: d.Device, program: p, idle: make(chan *machine, 4)}, nil
}

// loadTensors takes the places of inputs or outputs.
func loadTensors(r *cache.Reader, p *program, n int) []*tensor {
	if got := r.Count(); got != n {
		r.Fail("places of %d tensors, the graph has %d", got, n)
		return nil
	}
	list := make([]*tensor, n)
	for i := range list {
		if !r.Bool() {
			continue
		}
		t, room := &tensor{}, p.arena
		if r.Bool() {
			t.region, room = consts, len(p.consts)
		}
		t.off, t.elem, t.n = uint32(r.IntUpTo(math.MaxUint32)), element(r.IntUpTo(int64(i8))), r.IntUpTo(maxRegion)
		if int64(t.off)+int64(t.bytes()) > int64(room) {
			r.Fail("a tensor of %d bytes at %d of %d", t.bytes(), t.off, room)
		}
		list[i] = t
	}
	return list
}

// dispatch makes the launches commands of the core, their code one behind the other.
func (p *program) dispatch() {
	code, kargs := uint64(codeBase), kernelArguments()
	for _, l := range p.launches {
		k := &core.Kernel{
			Name: l.program.Name, Code: l.program.Code, Base: code, WaveSize: 32, VGPRs: l.program.VGPRs,
			LDSBytes: l.program.LDSBytes, WorkItemIDs: l.program.WorkItemIDs,
		}
		code += uint64(len(k.Code)+255) &^ 255
		p.dispatches = append(p.dispatches, core.Dispatch{Kernel: k, Kernarg: kargs, Grid: l.grid, Workgroup: l.workgroup, Region: l.op})
	}
}
