package dspdriver

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
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

// jobCycles runs the program on inputs of zeros and cold caches, and returns the cycles of each
// job from the end of the previous one. The first begins when the threads have woken up.
func (p *executable) jobCycles() (list []int64, err error) {
	var spans threadSpans
	err = p.OnZeros(func(m *memory) error {
		_, err := p.Execute(m, &compile.RunOptions{Trace: &spans})
		return err
	})
	if err != nil {
		return nil, err
	}
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

// Steps implements engine.Program.
func (p *executable) Steps(w io.Writer) error { return step.Write(w, p.planned.Steps, p.Graph.NameOf) }

// Plan implements engine.Program: each step with the sums of its jobs, and the kernels that it could have
// used; then the forms of values that could have another.
func (p *executable) Plan() (*engine.Plan, error) {
	l, at := &engine.Plan{}, map[*step.Step]int{}
	for _, j := range p.planned.Jobs {
		k, known := at[j.Step]
		if !known {
			k, at[j.Step] = len(l.Steps), len(l.Steps)
			l.Steps = append(l.Steps, engine.Step{Operation: j.Step.Op, What: j.Step.Name, Candidates: candidates(j.Step)})
		}
		s := &l.Steps[k]
		s.Estimated, s.Uncertain = s.Estimated+int64(j.Cost.Cycles), s.Uncertain || j.Cost.Uncertain
	}
	l.Cycles = func() ([]int64, error) {
		took, err := p.jobCycles()
		cycles := make([]int64, len(l.Steps))
		for i, n := range took {
			cycles[at[p.planned.Jobs[i].Step]] += n
		}
		return cycles, err
	}
	l.Notes = forms(p.planned.Forms)
	return l, nil
}

// candidates are the candidates of a step, the best estimate first.
func candidates(s *step.Step) (list []engine.Candidate) {
	for _, c := range s.Choices {
		list = append(list, engine.Candidate{
			Candidate: hal.Candidate{Name: c.Kernel.Name(), Cycles: int64(c.Cycles), Chosen: c.Verdict == cost.Chosen},
			Verdict:   c.Verdict.String(), Impossible: c.Verdict == cost.NoRegisters,
		})
	}
	return list
}

// forms prints the forms of values that have several, each with the estimated cycles of all operations
// around such values.
func forms(list []step.FormChoice) string {
	var b strings.Builder
	for i, x := range list {
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
	return b.String()
}
