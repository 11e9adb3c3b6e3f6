package dsp

import (
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
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
	for _, x := range p.inputs {
		inputs = append(inputs, make([]byte, x.to-x.from))
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
