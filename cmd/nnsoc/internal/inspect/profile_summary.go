package inspect

import (
	"fmt"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/pprof"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// profileSummary is the JSON object of trace-summary of a profile.
type profileSummary struct {
	SchemaVersion int          `json:"schema_version"`
	File          string       `json:"file"`
	Total         profileRow   `json:"total"`
	Operations    []profileRow `json:"by_operation"`
	Programs      []profileRow `json:"by_program"`
	Stalls        []profileRow `json:"by_stall"`
	Instructions  []profileRow `json:"by_instruction"`
}

type profileRow struct {
	Device     string  `json:"device,omitempty"`
	Name       string  `json:"name,omitempty"`
	Text       string  `json:"instruction,omitempty"`
	Cycles     int64   `json:"cycles"`
	TimeUs     float64 `json:"time_us"`
	EnergyUJ   float64 `json:"energy_uj"`
	Executions int64   `json:"executions"`
}

func newProfileRow(r *pprof.Row) profileRow {
	c := &r.Costs
	return profileRow{r.Device, r.Name, r.Text, c[pprof.Cycles], float64(c[pprof.Time]) / 1e3, float64(c[pprof.Energy]) / 1e6, c[pprof.Executions]}
}

func newProfileRows(list []pprof.Row) []profileRow {
	rows := []profileRow{}
	for i := range list {
		rows = append(rows, newProfileRow(&list[i]))
	}
	return rows
}

// profileRows is how many rows of a kind are printed; --json has all.
const profileRows = 15

func printProfileSummary(a *cli.App, path string, s *pprof.Summary) error {
	if a.JSON {
		return cli.PrintJSON(a.Out, profileSummary{
			SchemaVersion: cli.SchemaVersion, File: path, Total: newProfileRow(&pprof.Row{Costs: s.Total}), Operations: newProfileRows(s.Operations),
			Programs: newProfileRows(s.Programs), Stalls: newProfileRows(s.Stalls), Instructions: newProfileRows(s.Places),
		})
	}
	fmt.Fprintf(a.Out, "%d cycles, %.1f us, %.1f uJ\n", s.Total[pprof.Cycles], float64(s.Total[pprof.Time])/1e3, float64(s.Total[pprof.Energy])/1e6)
	for _, t := range []struct {
		title string
		rows  []pprof.Row
	}{{"operation", s.Operations}, {"program", s.Programs}, {"reason", s.Stalls}, {"instruction", s.Places}} {
		if len(t.rows) == 0 {
			continue
		}
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "\n%s\tdevice\tcycles\ttime us\tshare\tenergy uJ\t\n", t.title)
		for i := range t.rows[:min(len(t.rows), profileRows)] {
			r := newProfileRow(&t.rows[i])
			fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%.1f %%\t%.3f\t%s\n", r.Name, r.Device, r.Cycles, r.TimeUs, 100*float64(t.rows[i].Costs[pprof.Time])/float64(max(s.Total[pprof.Time], 1)), r.EnergyUJ, r.Text)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if n := len(t.rows) - profileRows; n > 0 {
			fmt.Fprintf(a.Out, "%d more\n", n)
		}
	}
	return nil
}
