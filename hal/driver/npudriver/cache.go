package npudriver

import (
	"fmt"
	"io"
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/npu"
)

// Code implements engine.Program: command words and what they were made from, constants, and sizes of the
// memories.
func (p *executable) Code(c *cache.Coder) (sizes []int) {
	const most = 1 << 31 // bytes of a memory
	g := p.prog
	c.Uint32s(&g.Code.Commands)
	cache.List(c, &g.Code.Marks, func(m *npu.Mark) {
		cache.Number(c, &m.Word, 0, most)
		cache.Number(c, &m.ID, math.MinInt32, math.MaxInt32)
		m.Operation = m.ID // a program that is kept is one of operations
	})
	cache.Number(c, &g.Enter, 0, int64(len(g.Code.Commands)))
	c.Constants(&g.Consts)
	for i := range g.Sizes {
		cache.Number(c, &g.Sizes[i], 0, most)
	}
	for i := range npu.NumRegions {
		sizes = append(sizes, g.Region(i))
	}
	return sizes
}

// load restores a program from a compilation cache.
func (d *Device) load(g *graph.Graph, r *cache.Reader) (compile.Executable, error) {
	p := newExecutable(d, g, &plan.Program{Map: d.target().Map})
	err := p.Executable.Load(r)
	p.idle.KeepsParameters = p.prog.Enter > 0
	return p, err
}

// Write implements engine.Program: command words, constants, and sizes of the memory regions.
func (p *executable) Write(w io.Writer) {
	g := p.prog
	fmt.Fprintln(w, g.Code.Commands, len(g.Consts), g.Sizes[1:])
	w.Write(g.Consts)
}
