package run

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// ConcurrentReport is the JSON object of run --concurrent.
type ConcurrentReport struct {
	SchemaVersion int              `json:"schema_version"`
	SoC           string           `json:"soc"`
	Networks      []contenderEntry `json:"models"`
	// TogetherUS is the simulated time until every network has run as often as requested.
	TogetherUS float64 `json:"makespan_us"`
	DRAMGBps   float64 `json:"dram_gbps"` // of all networks together
	PeakGBps   float64 `json:"dram_peak_gbps"`
}

// contenderEntry is a network alone and beside the others. The mismatches are those of
// all its executions.
type contenderEntry struct {
	Model      string     `json:"model"`
	Device     string     `json:"device"`
	Priority   string     `json:"priority"`
	Status     string     `json:"status"`
	Mismatches int        `json:"mismatches"`
	Difference string     `json:"first_mismatch,omitempty"`
	Slowdown   *float64   `json:"slowdown,omitempty"` // of the mean latency; none when it starved
	Alone      ShareEntry `json:"alone"`
	Together   ShareEntry `json:"together"`
}

// ShareEntry is a network's share of the phone. Latencies and energies are per execution.
type ShareEntry struct {
	Invocations      int                `json:"invocation_count"`
	LatencyUS        float64            `json:"latency_us"` // the mean
	MinUS            float64            `json:"min_us"`
	MaxUS            float64            `json:"max_us"`
	EnergyUJ         float64            `json:"energy_uj"`
	EnergyComponents map[string]float64 `json:"energy_components_uj"`
	LatencyParts     map[string]float64 `json:"latency_parts_us"`
	DRAMGBps         float64            `json:"dram_gbps"`
	MemoryStallShare float64            `json:"memory_stall_share"` // of the engines' cycles
}

func newContenderEntry(c *contender, alone *measured) contenderEntry {
	return contenderEntry{
		Model: c.Model.Name, Device: c.device, Priority: c.priority, Status: session.StatusOK,
		Mismatches: alone.mismatches, Difference: alone.difference, Alone: alone.share(),
	}
}

// join adds the results of a network beside the others.
func (e *contenderEntry) join(r *measured) {
	e.Together = r.share()
	if r.Count > 0 {
		slowdown := e.Together.LatencyUS / e.Alone.LatencyUS
		e.Slowdown = &slowdown
	}
	e.Mismatches += r.mismatches
	e.Difference = cmp.Or(e.Difference, r.difference)
	if e.Mismatches > 0 || e.Difference != "" {
		e.Status = session.StatusMismatch
	}
}

func (r *measured) share() ShareEntry {
	s := ShareEntry{Invocations: r.Count, LatencyUS: r.MeanUS, MinUS: r.MinUS, MaxUS: r.MaxUS, EnergyUJ: r.Energy, EnergyComponents: r.Components, LatencyParts: r.Parts}
	if span := r.endFs - r.startFs; span > 0 {
		s.DRAMGBps = float64(r.dramBytes) / float64(span) * 1e6
	}
	if r.cycles > 0 {
		s.MemoryStallShare = float64(r.memory) / float64(r.cycles)
	}
	return s
}

// print writes the report for a person.
func (r *ConcurrentReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%d networks on one %s: %.1f us together, DRAM %.2f GB/s of %.1f\n\n", len(r.Networks), r.SoC, r.TogetherUS, r.DRAMGBps, r.PeakGBps)
	r.answer(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\t\t\tlatency us\t\t\tqueue us\tDRAM GB/s\t\tmemory stalls\t\t\t")
	fmt.Fprintln(t, "network\tdevice\tpriority\talone\ttogether\tslowdown\ttogether\talone\ttogether\talone\ttogether\tmismatches\t")
	for i := range r.Networks {
		e := &r.Networks[i]
		if e.Slowdown == nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\tstarved\t-\t-\t%.2f\t-\t%.1f %%\t-\t%d\t\n", e.Model, e.Device, e.Priority, e.Alone.LatencyUS, e.Alone.DRAMGBps, 100*e.Alone.MemoryStallShare, e.Mismatches)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%.1f\t%.2fx\t%.1f\t%.2f\t%.2f\t%.1f %%\t%.1f %%\t%d\t\n", e.Model, e.Device, e.Priority,
			e.Alone.LatencyUS, e.Together.LatencyUS, *e.Slowdown, e.Together.LatencyParts[platform.PartQueue],
			e.Alone.DRAMGBps, e.Together.DRAMGBps, 100*e.Alone.MemoryStallShare, 100*e.Together.MemoryStallShare, e.Mismatches)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	var rows []energyRow
	for i := range r.Networks {
		e := &r.Networks[i]
		rows = append(rows, energyRow{e.Model + " on " + e.Device + ", alone", e.Alone.EnergyUJ, e.Alone.EnergyComponents})
		if e.Slowdown != nil {
			rows = append(rows, energyRow{"together", e.Together.EnergyUJ, e.Together.EnergyComponents})
		}
	}
	if err := writeEnergies(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range r.Networks {
		e := &r.Networks[i]
		fmt.Fprintf(w, "%s on %s: %d executions alone, %d together, %.1f to %.1f us\n", e.Model, e.Device, e.Alone.Invocations, e.Together.Invocations, e.Together.MinUS, e.Together.MaxUS)
		if e.Difference != "" {
			fmt.Fprintf(w, "%s on %s differs from the reference: %s\n", e.Model, e.Device, e.Difference)
		}
	}
	return nil
}

// answer says which network suffers most from the others.
func (r *ConcurrentReport) answer(w io.Writer) {
	var worst *contenderEntry
	for i := range r.Networks {
		e := &r.Networks[i]
		if e.Slowdown == nil {
			fmt.Fprintf(w, "%s starves: it has no result beside the others.\n\n", e.Model)
			return
		}
		if worst == nil || *e.Slowdown > *worst.Slowdown {
			worst = e
		}
	}
	switch {
	case worst == nil:
	case *worst.Slowdown < 1.005:
		fmt.Fprint(w, "No network is slower beside the others than alone.\n\n")
	default:
		fmt.Fprintf(w, "%s on %s suffers most: it takes %.2f times as long beside the others as alone.\n\n", worst.Model, worst.Device, *worst.Slowdown)
	}
}

// verdict is an error when a result differs from the reference.
func (r *ConcurrentReport) verdict() error {
	var bad []string
	for _, e := range r.Networks {
		if e.Status == session.StatusMismatch {
			bad = append(bad, e.Model+" on "+e.Device)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("results of %s differ from the reference", strings.Join(bad, ", "))}
}
