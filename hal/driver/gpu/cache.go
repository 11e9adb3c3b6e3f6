package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/plan"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Save implements base.Saver: sizes, kernels with their code, constants, and the places
// of inputs and outputs.
func (p *executable) Save(w *cache.Writer) {
	prog := p.program
	w.Uint(uint64(prog.Arena))
	w.Bytes(prog.Pages)
	w.Constants(prog.Consts)
	w.Uint(uint64(len(prog.Launches)))
	for i := range prog.Launches {
		l := &prog.Launches[i]
		k := l.Code
		w.Int(int64(l.Op))
		for _, n := range l.Grid.Lanes {
			w.Uint(uint64(n))
		}
		w.Uint(uint64(l.Grid.Workgroup))
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
	w.Uint(uint64(len(prog.Faults)))
	words := make([]*layout.Tensor, len(prog.Faults))
	for i, f := range prog.Faults {
		words[i] = f.Word
		w.Int(int64(f.Op))
		w.String(f.Reason)
	}
	for _, list := range [][]*layout.Tensor{prog.Inputs, prog.Outputs, prog.Counts, words} {
		w.Uint(uint64(len(list)))
		for _, t := range list {
			w.Bool(t != nil)
			if t != nil {
				w.Bool(t.Region == layout.Consts)
				w.Uint(uint64(t.Off))
				w.Uint(uint64(t.Elem))
				w.Uint(uint64(t.N))
			}
		}
	}
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	p := &plan.Program{Arena: r.IntUpTo(layout.MaxRegion), Pages: r.Bytes(), Consts: r.Constants()}
	if len(p.Pages) > p.Arena || len(p.Consts) < layout.Guard {
		return nil, fmt.Errorf("gpu: %d bytes of constants and %d before an arena of %d", len(p.Consts), len(p.Pages), p.Arena)
	}
	for range r.Count() {
		l := plan.Launch{Op: r.IntIn(math.MinInt32, math.MaxInt32)}
		for i := range l.Grid.Lanes {
			l.Grid.Lanes[i] = r.IntUpTo(math.MaxInt32)
		}
		l.Grid.Workgroup = r.IntUpTo(math.MaxInt32)
		l.Code = &rdna2.Program{Name: r.String(), VGPRs: r.IntUpTo(math.MaxInt32), SGPRs: r.IntUpTo(math.MaxInt32),
			LDSBytes: r.IntUpTo(math.MaxInt32), WorkItemIDs: r.IntUpTo(2), Code: r.Bytes()}
		l.Code.Source = make([]int32, r.Count())
		for i := range l.Code.Source {
			l.Code.Source[i] = int32(r.IntIn(math.MinInt32, math.MaxInt32))
		}
		p.Launches = append(p.Launches, l)
	}
	p.Faults = make([]step.Fault, r.Count())
	for i := range p.Faults {
		p.Faults[i] = step.Fault{Op: r.IntIn(math.MinInt32, math.MaxInt32), Reason: r.String()}
	}
	p.Inputs = loadTensors(r, p, len(g.Inputs))
	p.Outputs = loadTensors(r, p, len(g.Outputs))
	p.Counts = loadTensors(r, p, len(g.Outputs))
	words := loadTensors(r, p, len(p.Faults))
	if err := r.Err(); err != nil {
		return nil, err
	}
	for i, t := range p.Outputs {
		if t == nil || int64(t.Bytes()) != g.Operands[g.Outputs[i]].Bytes() {
			return nil, fmt.Errorf("gpu: output %d has no place of its size", i)
		}
	}
	for _, t := range append(slices.Clone(words), p.Counts...) {
		if t != nil && (t.Region != layout.Arena || t.Bytes() != 4) {
			return nil, fmt.Errorf("gpu: a word of %d bytes", t.Bytes())
		}
	}
	for i, t := range words {
		if p.Faults[i].Word = t; t == nil {
			return nil, fmt.Errorf("gpu: fault %d has no word", i)
		}
	}
	p.Dispatch()
	return &executable{dev: d.Device, graph: g, program: p}, nil
}

// loadTensors takes the places of inputs or outputs.
func loadTensors(r *cache.Reader, p *plan.Program, n int) []*layout.Tensor {
	if got := r.Count(); got != n {
		r.Fail("places of %d tensors, the graph has %d", got, n)
		return nil
	}
	list := make([]*layout.Tensor, n)
	for i := range list {
		if !r.Bool() {
			continue
		}
		t, room := &layout.Tensor{}, p.Arena
		if r.Bool() {
			t.Region, room = layout.Consts, len(p.Consts)
		}
		t.Off, t.Elem, t.N = uint32(r.IntUpTo(math.MaxUint32)), layout.Element(r.IntUpTo(int64(layout.U8))), r.IntUpTo(layout.MaxRegion)
		if int64(t.Off)+int64(t.Bytes()) > int64(room) {
			r.Fail("a tensor of %d bytes at %d of %d", t.Bytes(), t.Off, room)
		}
		list[i] = t
	}
	return list
}
