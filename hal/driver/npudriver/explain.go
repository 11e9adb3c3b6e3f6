package npudriver

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// cycles returns the cycles of each mark of the program, and of all of it, in a run with its parameters on chip: they do not
// depend on data.
func (p *executable) cycles() (marks map[int]int64, all int64, err error) {
	err = p.OnZeros(func(m *machine) error {
		report, err := m.core.Run(&p.prog.Code, &m.regions, npu.Options{State: m.state, TimingOnly: true, Enter: p.prog.Enter})
		if err == nil {
			marks, all = engine.Regions(report), report.Cycles
		}
		return err
	})
	return marks, all, err
}

// List implements engine.Program: the command stream with the operation each part was made from and its
// cycles.
func (p *executable) List(w io.Writer) error {
	cycles, all, err := p.cycles()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "; %s: %d command words, %d bytes of constants, %d on chip, %d spilled, %d cycles\n",
		p.dev.cfg.Spec.Name, len(p.prog.Code.Commands), len(p.prog.Consts), p.prog.Sizes[layout.RegionArena], p.prog.Sizes[layout.RegionSpill], all)
	if n := p.prog.Enter; n > 0 {
		fmt.Fprintf(w, "; the first %d words load parameters, which stay on chip until another program runs\n", n)
	}
	words, mark := p.prog.Code.Commands, 0
	for at := 0; at < len(words); {
		for mark < len(p.prog.Code.Marks) && p.prog.Code.Marks[mark].Word <= at {
			id := p.prog.Code.Marks[mark].ID
			if id < 0 {
				fmt.Fprintf(w, "; inputs and outputs: %d cycles\n", cycles[id])
			} else {
				fmt.Fprintf(w, "; operation %d %s: %d cycles in all\n", id, p.Graph.NameOf(id), cycles[id])
			}
			mark++
		}
		c, err := ethosu.Next(words, at)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, c.Text(4*at))
		at += c.Words()
	}
	return nil
}

// Steps implements engine.Program: with cascades.
func (p *executable) Steps(w io.Writer) error {
	list, _, err := p.planned()
	if err != nil {
		return err
	}
	return list.Write(w)
}

// Cascades implements hal.Cascader; a program from a cache has none.
func (p *executable) Cascades() (list []hal.Cascade) {
	if p.prog.Steps == nil {
		return nil
	}
	for i := range p.prog.Steps.Steps {
		s := &p.prog.Steps.Steps[i]
		if s.Cascade.ID == 0 {
			continue
		}
		if s.Cascade.ID > len(list) {
			list = append(list, hal.Cascade{})
		}
		c := &list[s.Cascade.ID-1]
		if c.Parts++; !slices.Contains(c.Operations, s.Op) {
			c.Operations = append(c.Operations, s.Op)
		}
	}
	for i := range list {
		slices.Sort(list[i].Operations)
	}
	return list
}

// explained is how many blocks of a kernel Explain prints beside the chosen one.
const explained = 3

// Plan implements engine.Program: each kernel and copy, and the blocks that it was chosen from. The parts of a
// kernel in a cascade are one step. Cycles are measured on a program with a mark for each step in place of each
// operation.
func (p *executable) Plan() (*engine.Plan, error) {
	list, estimates, err := p.planned()
	if err != nil {
		return nil, err
	}
	l := &engine.Plan{}
	stages := map[step.Cascade]int{} // steps of the stages of cascades
	marks := *list
	marks.Steps = slices.Clone(list.Steps)
	for i := range marks.Steps {
		x := &marks.Steps[i]
		stage := step.Cascade{ID: x.Cascade.ID, Stage: x.Cascade.Stage}
		at, more := stages[stage]
		if !more || stage.ID == 0 {
			at = len(l.Steps)
			stages[stage] = at
			s := engine.Step{Operation: x.Op, What: x.Kernel.Kind.String(), Candidates: candidates(&p.dev.cfg.Spec, &x.Kernel), Most: 1 + explained}
			if stage.ID != 0 {
				s.What += fmt.Sprintf(", cascade %d", stage.ID)
			}
			l.Steps = append(l.Steps, s)
		}
		l.Steps[at].Estimated += int64(estimates[i])
		x.Part = at + 1
	}
	l.Cycles = func() (cycles []int64, err error) {
		marked, err := plan.Build(p.dev.target(), &marks)
		if err != nil {
			return nil, err
		}
		took, _, err := assemble(p.dev, p.Graph, marked).cycles()
		for i := range l.Steps {
			cycles = append(cycles, took[i])
		}
		return cycles, err
	}
	return l, nil
}

// planned returns the steps of the graph's program, with the estimated cycles of each. The graph is
// lowered and planned once more.
func (p *executable) planned() (*step.List, []float64, error) {
	list, err := lower.Graph(family.Table(), &p.dev.cfg.Spec, p.Graph, p.dev.cfg.Lowerings, p.Candidates)
	if err != nil {
		return nil, nil, err
	}
	prog, err := plan.New(p.dev.target(), list)
	if err != nil {
		return nil, nil, err
	}
	return prog.Steps, prog.Estimates, nil
}

// candidates are the chosen block of a kernel and the others, the best first; none where there was nothing to
// choose.
func candidates(s *npu.Spec, k *kernel.Kernel) (list []engine.Candidate) {
	if k.Kind == kernel.Copy {
		return nil
	}
	all := cost.Blocks(s, k, math.MaxInt)
	at := slices.IndexFunc(all, func(c cost.Candidate) bool { return c.Block == k.Block })
	if at < 0 {
		return nil
	}
	chosen := all[at]
	for i, c := range slices.Insert(slices.Delete(all, at, at+1), 0, chosen) {
		list = append(list, engine.Candidate{
			Candidate: hal.Candidate{Name: c.Name(), Cycles: c.Cycles, Chosen: i == 0},
			Measure:   fmt.Sprintf("%d bytes", c.Bytes), Verdict: verdict(&c, &chosen),
		})
	}
	return list
}

// verdict is the reason why another block was chosen.
func verdict(c, chosen *cost.Candidate) string {
	switch {
	case c.Bytes > chosen.Bytes:
		return "moves more"
	case c.Bytes < chosen.Bytes && c.Cycles > chosen.Cycles:
		return "slower"
	case c.Bytes < chosen.Bytes:
		return "passed over"
	}
	return "moves as much"
}
