package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npu/plan"
	core "github.com/nnsoc/nnsoc/npu"
)

// Save implements base.Saver: command words and what they were made from, constants,
// sizes of the memories, and the places of inputs and outputs.
func (p *executable) Save(w *cache.Writer) {
	g := p.prog
	w.Uint32s(g.Code.Commands)
	w.Uint(uint64(len(g.Code.Marks)))
	for _, m := range g.Code.Marks {
		w.Uint(uint64(m.Word))
		w.Int(int64(m.ID))
	}
	w.Constants(g.Consts)
	for _, n := range g.Sizes {
		w.Uint(uint64(n))
	}
	for _, list := range [2][]layout.Buffer{g.Inputs, g.Outputs} {
		w.Uint(uint64(len(list)))
		for _, b := range list {
			w.Uint(uint64(b.Region))
			w.Uint(uint64(b.Addr))
			w.Uint(uint64(b.Bytes))
		}
	}
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	const most = 1 << 31 // bytes of a memory
	p := &plan.Program{Map: d.target().Map}
	p.Code.Commands = r.Uint32s()
	for range r.Count() {
		p.Code.Marks = append(p.Code.Marks, core.Mark{Word: r.IntUpTo(most), ID: r.IntIn(math.MinInt32, math.MaxInt32)})
	}
	p.Consts = r.Constants()
	for i := range p.Sizes {
		p.Sizes[i] = r.IntUpTo(most)
	}
	for k, list := range [2]*[]layout.Buffer{&p.Inputs, &p.Outputs} {
		operands := [2][]uint32{g.Inputs, g.Outputs}[k]
		if n := r.Count(); n != len(operands) {
			return nil, fmt.Errorf("npu: places of %d tensors, the graph has %d", n, len(operands))
		}
		for i := range operands {
			b := layout.Buffer{Region: r.IntUpTo(core.NumRegions - 1), Addr: r.IntUpTo(most), Bytes: r.IntUpTo(most)}
			if size := p.Region(b.Region); b.Addr+b.Bytes > size || k == 1 && int64(b.Bytes) != g.Operands[operands[i]].Bytes() {
				return nil, fmt.Errorf("npu: a tensor of %d bytes at %d of %d", b.Bytes, b.Addr, size)
			}
			*list = append(*list, b)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &executable{dev: d.Device, graph: g, prog: p}, nil
}
