package gpudriver

import (
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
)

// List implements engine.Program: every kernel with its grid and registers, instruction by instruction: byte
// offset, cycles in which the unit is occupied, source operation, text.
func (p *executable) List(w io.Writer) error {
	prog := p.program
	fmt.Fprintf(w, "; %s: %d kernels, %d bytes of constants, arena of %d bytes\n", p.dev.cfg.Spec.Name, len(prog.Launches), len(prog.Consts), prog.Arena)
	for i := range prog.Launches {
		l := &prog.Launches[i]
		k := l.Code
		if k.Insts == nil { // it comes from a compilation cache
			var err error
			if k, err = k.Decoded(); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "\n; kernel %d %s: operation %d %s, grid %v by %d, %d VGPRs, %d bytes, %d issue cycles per pass over the code\n",
			i, k.Name, l.Op, p.Graph.NameOf(l.Op), l.Grid.Lanes, l.Grid.Workgroup, k.VGPRs, len(k.Code), k.IssueCycles())
		if err := k.WriteListing(w); err != nil {
			return err
		}
	}
	return nil
}

// Steps implements engine.Program. The graph is lowered once more.
func (p *executable) Steps(w io.Writer) error {
	list, err := p.lowered()
	if err != nil {
		return err
	}
	return list.Write(w)
}

// lowered is the graph lowered once more.
func (p *executable) lowered() (*step.List, error) {
	machine := p.dev.machine()
	machine.Candidates = p.Candidates
	return lower.Graph(family.Table(), p.Graph, machine, p.dev.cfg.Lowerings)
}

// Plan implements engine.Program: launches and the ways to cut them.
func (p *executable) Plan() (*engine.Plan, error) {
	machine, err := p.dev.rates()
	if err != nil {
		return nil, err
	}
	list, err := p.lowered()
	if err != nil {
		return nil, err
	}
	again, err := p.dev.plan(list) // which orders the steps, and knows what a compilation cache does not
	if err != nil {
		return nil, err
	}
	cycles := launchEstimates(&machine, again.Launches)
	l := &engine.Plan{Cycles: p.launchCycles}
	for i := range again.Launches {
		x, own := &again.Launches[i], &list.Steps[i]
		s := engine.Step{Operation: x.Op, What: x.Code.Name, Estimated: cycles[i]}
		for _, c := range x.Cuts {
			own.Kernel.(kernel.Chooser).Select(c.Name)
			work := kernel.WorkOf(own.Kernel, own.Reads, own.Writes)
			s.Candidates = append(s.Candidates, engine.Candidate{
				Candidate: hal.Candidate{Name: c.Name, Cycles: cost.Estimate(&machine, work).Cycles(), Chosen: c.Chosen},
				Measure:   fmt.Sprintf("weighs %.0f", c.Weight), Verdict: verdict(&c, x.Cuts),
			})
		}
		s.Candidates = append(s.Candidates, order(&x.Compared)...)
		l.Steps = append(l.Steps, s)
	}
	return l, nil
}

// order is what a launch was compared with, beside others and behind them; nobody can request it.
func order(c *plan.Comparison) []engine.Candidate {
	if c.After == 0 {
		return nil
	}
	way := func(name string, cycles int64, chosen bool) engine.Candidate {
		return engine.Candidate{Candidate: hal.Candidate{Name: name, Cycles: cycles, Chosen: chosen}, Verdict: "slower", Impossible: true}
	}
	return []engine.Candidate{way(fmt.Sprintf("beside the launch of operation %d", c.With), c.Concurrent, c.Chosen), way("behind it", c.After, !c.Chosen)}
}

// launchCycles are the cycles of each launch in a run on zeros with cold caches.
func (p *executable) launchCycles() (cycles []int64, err error) {
	list := slices.Clone(p.program.Dispatches)
	for i := range list {
		list[i].Region = i
	}
	err = p.OnZeros(func(m *machine) error {
		report, err := p.dev.core.Run(&m.space, list, gpu.Options{State: m.state})
		if err != nil {
			return err
		}
		took := engine.Regions(report)
		for i := range list {
			cycles = append(cycles, took[i])
		}
		return nil
	})
	return cycles, err
}

// verdict is the reason why a cut of a kernel was not chosen.
func verdict(c *kernel.Cut, all []kernel.Cut) string {
	chosen := slices.IndexFunc(all, func(x kernel.Cut) bool { return x.Chosen })
	if chosen >= 0 && c.Weight < all[chosen].Weight {
		return "against the rule of the library"
	}
	return "weighs more"
}
