package scheduling

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/scenario"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/sweep"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/internal/try"
)

// campaignReport is the JSON object of schedule --out.
type campaignReport struct {
	SchemaVersion int                   `json:"schema_version"`
	Scenarios     int                   `json:"scenario_count"`  // of the arguments
	Shard         int                   `json:"shard_scenarios"` // of them in this shard
	Before        int                   `json:"done_before"`     // of the shard, done before
	Done          int                   `json:"done"`            // in the folder, by all shards so far
	CSV           string                `json:"csv"`
	Strategies    []*scenario.Aggregate `json:"strategies"` // over all that is done; the first is what others are compared with
}

// resultsFile is the table of all scenarios that are done.
const resultsFile = "results.csv"

// campaign runs scenarios whose results are kept.
func campaign(a *cli.App, f *flags, scenarios []*scenario.Scenario, strategies []scenario.Strategy) (err error) {
	defer try.Catch(&err)
	if f.html != "" {
		return cli.Usage(errors.New("--html and --out contradict each other: a page has the jobs of each scenario, which a folder does not keep"))
	}
	shard := sweep.Shard{Index: 1, Count: 1}
	if f.shard != "" {
		if shard, err = sweep.ParseShard(f.shard); err != nil {
			return cli.Usage(err)
		}
	}
	store, err := scenario.OpenStore(f.out, shard.Index, shard.Count)
	if err != nil {
		return cli.Usage(err)
	}
	defer store.Close()
	r := &campaignReport{SchemaVersion: cli.SchemaVersion, Scenarios: len(scenarios), CSV: filepath.Join(f.out, resultsFile)}
	p := a.Progress()
	defer p.Done()
	lines := a.Lines()
	for i, s := range scenarios {
		if !shard.Has(&sweep.Point{Index: i}) {
			continue
		}
		key := try.V(f.key(a, s, strategies))
		if r.Shard++; store.Done(key) {
			r.Before++
			continue
		}
		p.Part(i, len(scenarios))
		entry := try.V(compare(a, f, s, strategies, p))
		try.E(store.Add(key, i, entry))
		try.E(lines.Append(entry))
	}
	p.Done()
	all := &scheduleReport{SchemaVersion: cli.SchemaVersion}
	var summaries [][]*scenario.Summary
	for _, e := range try.V(store.Entries()) {
		var x scenarioEntry
		if err := json.Unmarshal(e.Data, &x); err != nil || x.Scenario == nil {
			return cli.Usage(fmt.Errorf("%s: results of scenario %d cannot be read: %w", f.out, e.Index, err))
		}
		all.Scenarios, summaries = append(all.Scenarios, &x), append(summaries, x.Strategies)
	}
	r.Done, r.Strategies = len(all.Scenarios), scenario.Sum(summaries)
	var table bytes.Buffer
	try.E(all.csv(&table))
	try.E(cli.WriteFile(r.CSV, table.Bytes()))
	switch {
	case a.JSON:
		err = a.PrintObject(r)
	case f.csv:
		err = all.csv(a.Out)
	default:
		err = r.text(a.Out)
	}
	if err != nil {
		return err
	}
	return all.verdict()
}

// key identifies a scenario and the way in which it runs.
func (f *flags) key(a *cli.App, s *scenario.Scenario, strategies []scenario.Strategy) (string, error) {
	text, err := s.TOML()
	if err != nil {
		return "", err
	}
	c, err := config(a, s)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s %q %s %d %d %s\n", text, session.Fingerprint(c), f.objective, f.preference, f.most, f.parts, cache.Build())
	for _, x := range strategies {
		fmt.Fprintln(h, x.Name())
	}
	if f.table != nil {
		fmt.Fprintf(h, "%s\n%s", f.costs, f.text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16]), nil
}

// text prints the sums, and which differences are within the noise.
func (r *campaignReport) text(w io.Writer) error {
	fmt.Fprintf(w, "%d scenarios, %d of this shard, %d of them done before; %d done by all shards: %s\n\n", r.Scenarios, r.Shard, r.Before, r.Done, r.CSV)
	if len(r.Strategies) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "strategy\tscenarios\tmissed\t+-\tlatency ratio\tfrom\tto\tenergy ratio\tbest in\t\n")
	for _, x := range r.Strategies {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t%.1f %%\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t\n", x.Strategy, x.Scenarios, x.MissedPercent, x.MissedHalfWidth, x.Ratio, x.RatioLow, x.RatioHigh, x.EnergyRatio, x.Best)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nMeans over scenarios with 95 %% confidence intervals; ratios are geometric means beside %s.\n", r.Strategies[0].Strategy)
	for _, x := range r.Strategies[1:] {
		if x.Tied {
			fmt.Fprintf(w, "%s and %s differ by no more than the noise of %d scenarios.\n", x.Strategy, r.Strategies[0].Strategy, x.Scenarios)
		}
	}
	return nil
}
