package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	core "github.com/nnsoc/nnsoc/npu"
)

// Save implements base.Saver: command words and what they were made from, constants,
// sizes of the memories, and the places of inputs and outputs.
func (p *executable) Save(w *cache.Writer) {
	g := p.prog
	w.Uint32s(g.code.Commands)
	w.Uint(uint64(len(g.code.Marks)))
	for _, m := range g.code.Marks {
		w.Uint(uint64(m.Word))
		w.Int(int64(m.ID))
	}
	w.Constants(g.consts)
	for _, n := range []int{g.arena, g.spill, g.weights, g.io} {
		w.Uint(uint64(n))
	}
	for _, list := range [2][]buffer{g.inputs, g.outputs} {
		w.Uint(uint64(len(list)))
		for _, b := range list {
			w.Uint(uint64(b.region))
			w.Uint(uint64(b.addr))
			w.Uint(uint64(b.bytes))
		}
	}
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	const most = 1 << 31 // bytes of a memory
	p := &program{}
	p.code.Commands = r.Uint32s()
	for range r.Count() {
		p.code.Marks = append(p.code.Marks, core.Mark{Word: r.IntUpTo(most), ID: r.IntIn(math.MinInt32, math.MaxInt32)})
	}
	p.consts = r.Constants()
	for _, n := range []*int{&p.arena, &p.spill, &p.weights, &p.io} {
		*n = r.IntUpTo(most)
	}
	for k, list := range [2]*[]buffer{&p.inputs, &p.outputs} {
		operands := [2][]uint32{g.Inputs, g.Outputs}[k]
		if n := r.Count(); n != len(operands) {
			return nil, fmt.Errorf("npu: places of %d tensors, the graph has %d", n, len(operands))
		}
		for i := range operands {
			b := buffer{r.IntUpTo(core.NumRegions - 1), r.IntUpTo(most), r.IntUpTo(most)}
			if b.addr+b.bytes > p.io || k == 1 && int64(b.bytes) != g.Operands[operands[i]].Bytes() {
				return nil, fmt.Errorf("npu: a tensor of %d bytes at %d of %d", b.bytes, b.addr, p.io)
			}
			*list = append(*list, b)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &executable{dev: d.Device, graph: g, prog: p}, nil
}
