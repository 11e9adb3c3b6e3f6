package dsp

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/sim"
)

// threadSpans collects the spans of hardware threads, in the order of the jobs.
type threadSpans []hal.Span

func (s *threadSpans) Span(x hal.Span) {
	if strings.HasPrefix(x.Track, "thread") {
		*s = append(*s, x)
	}
}

// jobCycles runs the program on inputs of zeros and cold caches, and returns what each job
// takes from the end of the one before. The first begins when the threads have woken up.
func (p *executable) jobCycles() ([]int64, error) {
	var inputs [][]byte
	for _, x := range p.places.Inputs {
		inputs = append(inputs, make([]byte, x.Bytes()))
	}
	var spans threadSpans
	run, err := p.Run(inputs, base.RunOptions{Trace: &spans})
	if err != nil {
		return nil, err
	}
	run.Release()
	clock := sim.Clock{Hz: p.dev.cfg.Spec.ClockHz}
	list, last := make([]int64, len(p.jobs)), int64(0)
	for i := range p.jobs {
		end := last
		for range p.jobs[i].Threads {
			if i == 0 && last == 0 {
				last = spans[0].StartFs
			}
			end = max(end, spans[0].EndFs)
			spans = spans[1:]
		}
		list[i] = clock.Cycle(sim.Time(end)) - clock.Cycle(sim.Time(last))
		last = end
	}
	return list, nil
}

// Explain implements base.Explainer: each step with the estimated and the simulated cycles of its
// jobs, and the kernels that it could have used; then the forms of values that could have another.
func (p *executable) Explain(w io.Writer) error {
	if p.plan == nil {
		return errors.New("dsp: a program from a compilation cache has no steps")
	}
	took, err := p.jobCycles()
	if err != nil {
		return err
	}
	rows, at := []engine.StepCost{}, map[*step.Step]int{}
	for i, j := range p.plan {
		k, known := at[j.Step]
		if !known {
			k, at[j.Step] = len(rows), len(rows)
			rows = append(rows, engine.StepCost{Operation: j.Step.Op, Name: p.graph.NameOf(j.Step.Op), What: j.Step.Name, Choices: choices(j.Step)})
		}
		c := &rows[k]
		c.Estimated, c.Simulated, c.Guess = c.Estimated+int64(j.Cost.Cycles), c.Simulated+took[i], c.Guess || j.Cost.Guess
	}
	if err := engine.WriteCosts(w, rows); err != nil {
		return err
	}
	return writeForms(w, p.forms)
}

// writeForms prints the forms of values that have several, with the cycles that all operations around such
// values are estimated to take with each.
func writeForms(w io.Writer, forms []step.FormChoice) error {
	var b strings.Builder
	for i, x := range forms {
		if i == 0 {
			fmt.Fprintln(&b, "forms of values, by the operations around all of them")
		}
		fmt.Fprintf(&b, "operand %d [%d %d %d %d]:", x.Operand, x.Shape.N, x.Shape.H, x.Shape.W, x.Shape.C)
		costs := x.Costs()
		for k, f := range x.Forms {
			text := fmt.Sprintf("%d cycles", costs[k])
			if costs[k] >= layout.Impossible {
				text = "impossible"
			}
			if f == x.Chosen {
				text += ", chosen"
			}
			if k+1 < len(x.Forms) {
				text += ";"
			}
			fmt.Fprintf(&b, " %s %s", f, text)
		}
		fmt.Fprintln(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// choices prints the candidates of a step, the best estimate first; none where there was one only.
func choices(s *step.Step) (list []string) {
	if len(s.Choices) < 2 {
		return nil
	}
	for _, c := range s.Choices {
		verdict := [...]string{cost.Slower: "slower", cost.Chosen: "chosen", cost.NoRegisters: "needs too many registers", cost.PassedOver: "passed over"}[c.Verdict]
		list = append(list, fmt.Sprintf("%s: %d cycles, %s", c.Kernel.Name(), c.Cycles, verdict))
	}
	return list
}

// Choices implements base.Chooser.
func (p *executable) Choices() (list []hal.Choice, err error) {
	if p.plan == nil {
		return nil, errors.New("dsp: a program from a compilation cache has no steps")
	}
	for _, s := range p.steps {
		if len(s.Choices) < 2 {
			continue
		}
		c := hal.Choice{Operation: s.Op}
		for _, x := range s.Choices {
			if x.Verdict != cost.NoRegisters {
				c.Candidates = append(c.Candidates, hal.Candidate{Name: x.Kernel.Name(), Cycles: int64(x.Cycles), Chosen: x.Verdict == cost.Chosen})
			}
		}
		list = append(list, c)
	}
	return list, nil
}
