package scheduling

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
)

// checkSeeds checks --seeds beside the other flags.
func (f *flags) checkSeeds() error {
	switch {
	case f.seeds < 1 || f.seeds > scenario.MaxSeeds:
		return fmt.Errorf("--seeds %d, want 1 to %d", f.seeds, scenario.MaxSeeds)
	case f.seeds > 1 && (f.rates || f.csv || f.html != "" || f.write != ""):
		return errors.New("--seeds prints means of several runs as text or --json, and has no --highest-rate, --csv, --html or --write")
	}
	return nil
}

// seeded is each scenario with its arrivals by several seeds.
func seeded(list []*scenario.Scenario, seeds int) (all []*scenario.Scenario) {
	for _, s := range list {
		for k := range seeds {
			x := s.Reseeded(k)
			if k > 0 {
				x.Name = fmt.Sprintf("%s#%d", s.Name, k)
			}
			all = append(all, x)
		}
	}
	return all
}

// overSeeds runs a scenario with several arrivals. The entry is that of its own.
func overSeeds(a *cli.App, f *flags, s *scenario.Scenario, strategies []scenario.Strategy, p *cli.Progress) (_ *scenarioEntry, err error) {
	defer try.Catch(&err)
	var first *scenarioEntry
	var runs [][]*scenario.Summary
	for k, x := range seeded([]*scenario.Scenario{s}, f.seeds) {
		p.Part(k, f.seeds)
		e := try.V(compare(a, f, x, strategies, p))
		if first == nil {
			first = e
		}
		runs = append(runs, e.Strategies)
	}
	first.Seeds, first.Ranking = f.seeds, scenario.Rank(runs)
	return first, nil
}

// rankingText prints what several seeds tell about the strategies, and no order that they do not tell.
func (e *scenarioEntry) rankingText(w io.Writer) error {
	fmt.Fprintf(w, "%s on %s: %s, %g ms, arrivals by %d seeds\n\n", e.Scenario.Name, e.SoC, cli.Count(len(e.Scenario.Networks), "network"), e.Scenario.DurationMS, e.Seeds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "strategy\tmissed\t+-\tmean ms\t+-\tbeside %s\tfrom\tto\tenergy\t\n", e.Ranking[0].Strategy)
	var tied []string
	for _, x := range e.Ranking {
		fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", x.Strategy, x.MissedPercent, x.MissedHalfWidth, x.MeanMS, x.MeanHalfWidthMS, x.Ratio, x.RatioLow, x.RatioHigh, x.EnergyRatio)
		if x.Tied {
			tied = append(tied, x.Strategy)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	best := e.Ranking[0].Strategy
	fmt.Fprintf(w, "\nMeans over seeds with 95 %% confidence intervals; latency and energy beside %s are geometric means of each seed's ratio.\n", best)
	if len(tied) > 0 {
		fmt.Fprintf(w, "These seeds do not tell %s from %s: none of them is the best.\n", best, strings.Join(tied, ", "))
	} else {
		fmt.Fprintf(w, "%s is the best.\n", best)
	}
	return nil
}
