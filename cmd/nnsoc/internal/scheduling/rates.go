package scheduling

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// rateEntry is how fast a scenario may go with a strategy.
type rateEntry struct {
	Strategy string  `json:"strategy"`          // name of the strategy
	Rate     float64 `json:"highest_rate"`      // times the scenario's own, without a missed deadline; 0: it misses some at 1/64
	Relative float64 `json:"relative_to_first"` // to that of the first strategy; 0: that has none
}

// highestRates fills in the rates of strategies. prepare completes the problem of each rate.
func (e *scenarioEntry) highestRates(r *scenario.Runner, prepare func(*scenario.Problem) error, strategies []scenario.Strategy, progress *cli.Progress) error {
	for _, s := range strategies {
		progress.Update("%s: highest rate of %s", e.Scenario.Name, s.Name())
		rate, err := r.HighestRate(s, prepare)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
		x := rateEntry{Strategy: s.Name(), Rate: rate}
		if first := append(e.Rates, x)[0].Rate; first > 0 {
			x.Relative = rate / first
		}
		e.Rates = append(e.Rates, x)
	}
	return nil
}

// rateText prints the rates, and which strategies are the best: those within the precision of the search.
func (e *scenarioEntry) rateText(w io.Writer) error {
	best := 0.0
	for _, x := range e.Rates {
		best = max(best, x.Rate)
	}
	fmt.Fprintf(w, "%s on %s: how many times as fast it may go before a deadline is missed, to 2 %%\n\n", e.Scenario.Name, e.SoC)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "strategy\trate\tbeside %s\t\n", e.Rates[0].Strategy)
	for _, x := range e.Rates {
		mark := ""
		if best > 0 && x.Rate*scenario.RatePrecision >= best {
			mark = "  best"
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%s\n", x.Strategy, x.Rate, x.Relative, mark)
	}
	return t.Flush()
}
