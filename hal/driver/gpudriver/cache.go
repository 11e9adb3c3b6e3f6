package gpudriver

import (
	"fmt"
	"io"
	"math"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Code implements engine.Program: sizes, kernels with their code, and constants.
func (p *executable) Code(c *cache.Coder) (sizes []int) {
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
		for _, n := range []*int{&k.VGPRs, &k.Registers, &k.SGPRs, &k.LDSBytes} {
			cache.Number(c, n, 0, math.MaxInt32)
		}
		cache.Number(c, &k.WorkItemIDs, 0, 2)
		for _, b := range []*bool{&k.WGP, &l.Concurrent} {
			n := 0
			if *b {
				n = 1
			}
			cache.Number(c, &n, 0, 1)
			*b = n == 1
		}
		c.Bytes(&k.Code)
		cache.List(c, &k.Source, func(s *int32) { cache.Number(c, s, math.MinInt32, math.MaxInt32) })
	})
	return []int{inArena: prog.Arena, inConsts: len(prog.Consts)}
}

// load restores a program from a compilation cache.
func (d *Device) load(g *graph.Graph, r *cache.Reader) (compile.Executable, error) {
	p := newExecutable(d, g, &plan.Program{})
	if err := p.Executable.Load(r); err != nil {
		return nil, err
	}
	p.program.Dispatch()
	return p, nil
}

// Write implements engine.Program: per launch the code, its resources and its grid, then constants.
func (p *executable) Write(w io.Writer) {
	prog := p.program
	for i := range prog.Dispatches {
		d := &prog.Dispatches[i]
		k := d.Kernel
		fmt.Fprintln(w, d.Region, d.Grid, d.Workgroup, k.Base, k.WaveSize, k.VGPRs, k.LDSBytes, k.WorkItemIDs, len(k.Code))
		if d.Concurrent {
			fmt.Fprintln(w, "beside")
		}
		w.Write(k.Code)
		w.Write(d.Kernarg)
	}
	fmt.Fprintln(w, prog.Arena, len(prog.Consts), len(prog.Pages))
	w.Write(prog.Consts)
	w.Write(prog.Pages)
}
