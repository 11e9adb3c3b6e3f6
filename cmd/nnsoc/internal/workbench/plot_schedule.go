package workbench

import (
	"cmp"
	"encoding/json"
	"fmt"

	"gonum.org/v1/plot/plotter"

	"github.com/nnsoc/nnsoc/bench/plot"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
)

// scheduled is what strategies did for one scenario of a file of nnsoc schedule --json.
type scheduled struct {
	Scenario   struct{ Name string }
	SoC        string
	Strategies []scheduledStrategy
}

// scheduledStrategy is a strategy there.
type scheduledStrategy struct {
	Strategy    string
	Missed      int
	JobCount    int       `json:"job_count"`
	MeanMS      float64   `json:"mean_ms"`
	EnergyUJ    float64   `json:"energy_uj"`
	Percentiles []float64 `json:"latency_percentiles_ms"`
}

// label names a strategy of a scenario, of several with the scenario's name.
func (x *scheduled) label(strategy string, several bool) string {
	if several {
		return strategy + ": " + x.Scenario.Name
	}
	return strategy
}

// schedules reads files of nnsoc schedule --json. of names the scenario where there is one.
func schedules(files []string) (list []scheduled, of string, err error) {
	for _, name := range files {
		data, err := input.ReadModelFile(name)
		if err != nil {
			return nil, "", err
		}
		var f struct{ Scenarios []scheduled }
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		for i := range f.Scenarios {
			if len(f.Scenarios[i].Strategies) == 0 {
				return nil, "", fmt.Errorf("%s: scenario %d has no strategies (nnsoc schedule --json)", name, i)
			}
		}
		list = append(list, f.Scenarios...)
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("%s: no scenarios (nnsoc schedule --json)", files[0])
	}
	if len(list) == 1 {
		of = list[0].Scenario.Name + " on " + list[0].SoC
	}
	return list, of, nil
}

// strategies are what one makes of each strategy of each scenario, and title the plot's where none was given.
func strategies[T any](f *plotFlags, files []string, one func(x *scheduled, s *scheduledStrategy, label string) (T, error)) (list []T, err error) {
	scenarios, of, err := schedules(files)
	if err != nil {
		return nil, err
	}
	for i := range scenarios {
		x := &scenarios[i]
		for k := range x.Strategies {
			s := &x.Strategies[k]
			y, err := one(x, s, x.label(s.Strategy, len(scenarios) > 1))
			if err != nil {
				return nil, err
			}
			list = append(list, y)
		}
	}
	f.title = cmp.Or(f.title, of)
	return list, nil
}

// latencies draws the distribution of latencies of each strategy.
func latencies(f *plotFlags, files []string) (*plot.Figure, error) {
	list, err := strategies(f, files, func(x *scheduled, s *scheduledStrategy, label string) (plot.Series, error) {
		y := plot.Series{Name: label}
		if len(s.Percentiles) < 2 {
			return y, fmt.Errorf("%s by %s has no latency_percentiles_ms", x.Scenario.Name, s.Strategy)
		}
		for k, ms := range s.Percentiles {
			y.Points = append(y.Points, plotter.XY{X: ms, Y: 100 * float64(k) / float64(len(s.Percentiles)-1)})
		}
		return y, nil
	})
	if err != nil {
		return nil, err
	}
	return plot.Distribution(f.title, list)
}

// misses draws the share of deadlines that each strategy misses.
func misses(f *plotFlags, files []string) (*plot.Figure, error) {
	list, err := strategies(f, files, func(_ *scheduled, s *scheduledStrategy, label string) (plot.Bar, error) {
		return plot.Bar{Name: label, Value: 100 * float64(s.Missed) / float64(max(1, s.JobCount))}, nil
	})
	if err != nil {
		return nil, err
	}
	return plot.Bars(f.title, "missed deadlines in percent", list)
}
