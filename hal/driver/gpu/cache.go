package gpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Save implements base.Saver.
func (p *executable) Save(w *cache.Writer) { p.code(w.Coder()) }

// code saves and loads sizes, kernels with their code, constants, and the places of inputs and outputs.
func (p *executable) code(c *cache.Coder) {
	prog := p.program
	cache.Number(c, &prog.Arena, 0, layout.MaxRegion)
	c.Bytes(&prog.Pages)
	c.Constants(&prog.Consts)
	c.Check(len(prog.Pages) <= prog.Arena && len(prog.Consts) >= layout.Guard,
		"%d bytes of constants and %d before an arena of %d", len(prog.Consts), len(prog.Pages), prog.Arena)
	cache.List(c, &prog.Launches, func(l *plan.Launch) {
		if c.Reading() {
			l.Code = &rdna2.Program{}
		}
		cache.Number(c, &l.Op, math.MinInt32, math.MaxInt32)
		for i := range l.Grid.Lanes {
			cache.Number(c, &l.Grid.Lanes[i], 0, math.MaxInt32)
		}
		cache.Number(c, &l.Grid.Workgroup, 0, math.MaxInt32)
		k := l.Code
		c.String(&k.Name)
		for _, n := range []*int{&k.VGPRs, &k.SGPRs, &k.LDSBytes} {
			cache.Number(c, n, 0, math.MaxInt32)
		}
		cache.Number(c, &k.WorkItemIDs, 0, 2)
		c.Bytes(&k.Code)
		cache.List(c, &k.Source, func(s *int32) { cache.Number(c, s, math.MinInt32, math.MaxInt32) })
	})
	p.places.Code(c, p.graph, prog.Arena, len(prog.Consts))
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	p := &executable{dev: d.Device, graph: g, program: &plan.Program{}}
	if p.code(r.Coder()); r.Err() != nil {
		return nil, r.Err()
	}
	p.program.Dispatch()
	return p, nil
}
