package npu

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npu/plan"
	"github.com/nnsoc/nnsoc/hal/driver/npu/step"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
)

// cycles are those of each mark of the program, and of all of it, in a run on zeros: they do not
// depend on data.
func (p *executable) cycles() (marks map[int]int64, all int64, err error) {
	return engine.Cycles(p, &p.places, func(m *machine) (*sim.Report, error) {
		return m.core.Run(&p.prog.Code, &m.regions, core.Options{State: m.state})
	})
}

// explained is how many blocks of a kernel Explain prints beside the chosen one.
const explained = 3

// Explain implements base.Explainer: each kernel and copy with its estimated and its simulated
// cycles, and the blocks that it was chosen from. The graph is lowered once more, with a mark
// for each step in place of each operation; the parts of a kernel in a cascade are one row.
func (p *executable) Explain(w io.Writer) error {
	s := &p.dev.cfg.Spec
	list, estimates, err := p.planned()
	if err != nil {
		return err
	}
	var rows []engine.StepCost
	stages := map[step.Cascade]int{} // rows of the stages of cascades
	marks := *list
	marks.Steps = slices.Clone(list.Steps)
	for i := range marks.Steps {
		x := &marks.Steps[i]
		stage := step.Cascade{ID: x.Cascade.ID, Stage: x.Cascade.Stage}
		at, more := stages[stage]
		if !more || stage.ID == 0 {
			at = len(rows)
			stages[stage] = at
			rows = append(rows, engine.StepCost{Operation: x.Op, Name: "in or out", What: x.Kernel.Kind.String()})
			blocks := candidates(s, &x.Kernel, explained)
			for k := range blocks {
				rows[at].Choices = append(rows[at].Choices, describe(&blocks[k], &blocks[0]))
			}
			if x.Op >= 0 {
				rows[at].Name = p.graph.NameOf(x.Op)
			}
			if stage.ID != 0 {
				rows[at].What += fmt.Sprintf(", cascade %d", stage.ID)
			}
		}
		rows[at].Estimated += int64(estimates[i])
		x.Op = at
	}
	marked, err := plan.Build(p.dev.target(), &marks)
	if err != nil {
		return err
	}
	cycles, _, err := assemble(p.dev, p.graph, marked).cycles()
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Simulated = cycles[i]
	}
	return engine.WriteCosts(w, rows)
}

// planned is the steps that the graph's program is made of, with what each is estimated to take. The graph
// is lowered and planned once more: a program from a cache does not have them.
func (p *executable) planned() (*step.List, []float64, error) {
	list, err := lower.Graph(&p.dev.cfg.Spec, p.graph, p.dev.cfg.Lowerings, p.candidates)
	if err != nil {
		return nil, nil, err
	}
	prog, err := plan.New(p.dev.target(), list)
	if err != nil {
		return nil, nil, err
	}
	return prog.Steps, prog.Estimates, nil
}

// candidates are the chosen block of a kernel and the best others, at most so many; none where
// there was nothing to choose.
func candidates(s *core.Spec, k *kernel.Kernel, most int) []cost.Candidate {
	if k.Kind == kernel.Copy {
		return nil
	}
	all := cost.Blocks(s, k, math.MaxInt)
	i := slices.IndexFunc(all, func(c cost.Candidate) bool { return c.Block == k.Block })
	if len(all) < 2 || i < 0 {
		return nil
	}
	chosen := all[i]
	all = slices.Insert(slices.Delete(all, i, i+1), 0, chosen)
	return all[:1+min(most, len(all)-1)]
}

// describe prints a block beside the chosen one, with what it is estimated to take.
func describe(c, chosen *cost.Candidate) string {
	verdict := "moves as much"
	switch {
	case c == chosen:
		verdict = "chosen"
	case c.Bytes > chosen.Bytes:
		verdict = "moves more"
	case c.Bytes < chosen.Bytes && c.Cycles > chosen.Cycles:
		verdict = "slower"
	case c.Bytes < chosen.Bytes:
		verdict = "passed over"
	}
	return fmt.Sprintf("%s: %d cycles, %d bytes, %s", c.Name(), c.Cycles, c.Bytes, verdict)
}

// Choices implements base.Chooser. The graph is lowered once more.
func (p *executable) Choices() (list []hal.Choice, err error) {
	planned, _, err := p.planned()
	if err != nil {
		return nil, err
	}
	for i := range planned.Steps {
		s := &planned.Steps[i]
		c := hal.Choice{Operation: s.Op}
		for k, x := range candidates(&p.dev.cfg.Spec, &s.Kernel, math.MaxInt) {
			c.Candidates = append(c.Candidates, hal.Candidate{Name: x.Name(), Cycles: x.Cycles, Chosen: k == 0})
		}
		if len(c.Candidates) > 1 {
			list = append(list, c)
		}
	}
	return list, nil
}
