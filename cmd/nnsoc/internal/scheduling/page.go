package scheduling

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// page writes the page of all scenarios.
func (r *scheduleReport) page(file string) error {
	p := report.Schedule{Title: "Schedules"}
	var names []string
	for _, e := range r.Scenarios {
		p.Scenarios = append(p.Scenarios, e.page())
		names = append(names, e.Scenario.Name+" on "+e.SoC)
	}
	if len(names) <= 3 {
		p.Title = strings.Join(names, ", ")
	}
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		return err
	}
	return cli.WriteFile(file, b.Bytes())
}

// page is a scenario of the page.
func (e *scenarioEntry) page() report.ScheduleScenario {
	s := report.ScheduleScenario{Name: e.Scenario.Name, DurationMS: e.Scenario.DurationMS, Engines: deviceNames(e.Strategies)}
	for i := range e.Scenario.Networks {
		name := e.Scenario.Networks[i].Model
		for slices.Contains(s.Networks, name) { // a network that arrives in two ways
			name += "'"
		}
		s.Networks = append(s.Networks, name)
	}
	jobs := e.Scenario.Jobs()
	for _, x := range e.Strategies {
		s.Strategies = append(s.Strategies, strategyPage(&s, x, jobs))
	}
	return s
}

const femtosecondsPerMS = 1e12

func strategyPage(s *report.ScheduleScenario, x *scenario.Summary, jobs []scenario.Job) report.ScheduleStrategy {
	p := report.ScheduleStrategy{Name: x.Strategy, Missed: x.Missed, MeanMS: x.MeanMS, EnergyUJ: x.EnergyUJ}
	for i := range x.Run.Jobs {
		j, d := &jobs[i], &x.Run.Jobs[i]
		lost := d.EndFs - j.ArrivalFs - (d.StartFs - j.ArrivalFs) - d.QueueFs - d.AloneFs
		p.Jobs = append(p.Jobs, report.ScheduleJob{
			Network: j.Network, ArrivalMS: float64(j.ArrivalFs) / femtosecondsPerMS, EndMS: float64(d.EndFs) / femtosecondsPerMS,
			DeadlineMS: float64(j.DeadlineFs) / femtosecondsPerMS, LostMS: float64(lost) / femtosecondsPerMS,
		})
		for _, span := range d.Spans {
			if e := slices.Index(s.Engines, span.Device); e >= 0 {
				p.Spans = append(p.Spans, report.ScheduleSpan{Engine: e, Network: j.Network, StartMS: float64(span.StartFs) / femtosecondsPerMS, EndMS: float64(span.EndFs) / femtosecondsPerMS})
			}
		}
	}
	return p
}
