package app

import (
	"fmt"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// draw draws the executions on the phone's clock: each process of the program has tracks for its threads, and one process
// per device with its units, or the parts of executions without spans.
func (r *report) draw(w trace.Writer) {
	names := map[int]string{}
	for _, p := range r.Processes {
		names[p.ID] = p.Program
		if len(r.Processes) > 1 {
			names[p.ID] = fmt.Sprintf("%s %d", p.Program, p.ID)
		}
		w.Processes(names[p.ID])
	}
	for i := range r.log.Executions {
		drawExecution(w, names[r.log.Executions[i].Process], len(r.Processes) > 1, &r.log.Executions[i])
	}
}

// drawExecution draws one execution of a process.
func drawExecution(w trace.Writer, process string, several bool, e *applog.Execution) {
	fs := func(us float64) int64 { return int64((e.StartUs + us) * 1e9) }
	on := func(device string) string {
		if several {
			return process + ": " + device
		}
		return device
	}
	name := fmt.Sprintf("%s of compilation %d", e.Mode, e.Compilation)
	w.Span(process, "NNAPI", name, fs(0), fs(e.LatencyUs), trace.Arg{Key: "result", Value: e.Result}, trace.Arg{Key: "energy_uj", Value: e.EnergyUj})
	for _, s := range e.Spans {
		if s.Device == applog.Application {
			w.Span(process, s.Track, s.Name, fs(s.StartUs), fs(s.EndUs))
		} else {
			w.Span(on(s.Device), s.Track, s.Name, fs(s.StartUs), fs(s.EndUs))
		}
	}
	if len(e.Spans) > 0 {
		return
	}
	for i, p := range e.Parts {
		w.Span(on(p.Device), "parts", fmt.Sprintf("part %d of compilation %d", i+1, e.Compilation), fs(p.StartUs), fs(p.EndUs))
	}
}
