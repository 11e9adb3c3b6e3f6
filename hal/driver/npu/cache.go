package npu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npu/plan"
	core "github.com/nnsoc/nnsoc/npu"
)

// Save implements base.Saver.
func (p *executable) Save(w *cache.Writer) { p.code(w.Coder()) }

// code saves and loads command words and what they were made from, constants, sizes of the memories, and the
// places of inputs and outputs.
func (p *executable) code(c *cache.Coder) {
	const most = 1 << 31 // bytes of a memory
	g := p.prog
	c.Uint32s(&g.Code.Commands)
	cache.List(c, &g.Code.Marks, func(m *core.Mark) {
		cache.Number(c, &m.Word, 0, most)
		cache.Number(c, &m.ID, math.MinInt32, math.MaxInt32)
	})
	c.Constants(&g.Consts)
	for i := range g.Sizes {
		cache.Number(c, &g.Sizes[i], 0, most)
	}
	sizes := make([]int, core.NumRegions)
	for i := range sizes {
		sizes[i] = g.Region(i)
	}
	p.places.Code(c, p.graph, sizes...)
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	p := &executable{dev: d.Device, graph: g, prog: &plan.Program{Map: d.target().Map}}
	if p.code(r.Coder()); r.Err() != nil {
		return nil, r.Err()
	}
	return p, nil
}
