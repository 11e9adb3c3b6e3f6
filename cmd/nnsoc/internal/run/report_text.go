package run

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/try"
)

// print writes the report for a person.
func (r *report) print(w io.Writer) (err error) {
	defer try.Catch(&err)
	m := &r.data
	fmt.Fprintf(w, "%s on %s: %d operations, %.1f million MACs\n", m.Model, r.data.SoC, m.OperationCount, float64(m.MACs)/1e6)
	if x := r.data.Tensors; x != nil {
		fmt.Fprintf(w, "%.1f KB of constants, at most %.1f KB of other tensors at a time (operation %d)\n", float64(x.ConstantBytes)/1e3, float64(x.PeakBytes)/1e3, x.PeakOperation)
	}
	if m.Answer != nil {
		fmt.Fprintln(w)
		fmt.Fprintln(w, r.style.Bold(cli.Wrap(m.Answer[0])))
		for _, line := range m.Answer[1:] {
			fmt.Fprintln(w, cli.Wrap(line))
		}
	}
	fmt.Fprintln(w)
	try.E(table.WriteText(w, deviceColumns.Without("soc").Without("clock").Without("bound by"), r.deviceRows()))
	if line := m.HostLine(); line != "" {
		fmt.Fprintln(w, line)
	}
	r.notes(w)
	r.spread(w)
	try.E(r.courses(w))
	r.classes(w)
	try.E(r.energies(w))
	try.E(r.memory(w))
	try.E(r.hostParts(w))
	try.E(r.firstUses(w))
	if r.all {
		return r.everything(w)
	}
	return r.expensive(w)
}

// deviceRows are the runs, each followed by a row for each of several devices that shared it: cycles belong to one clock.
func (r *report) deviceRows() []deviceRow {
	var rows []deviceRow
	cpu := r.find(r.machine.Registry.CPU().Name())
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		rows = append(rows, deviceRow{run: e, base: cpu})
		if e.LatencyUS == nil || len(e.Devices) < 2 {
			continue
		}
		for k := range e.Devices {
			rows = append(rows, deviceRow{run: e, part: &e.Devices[k]})
		}
	}
	return rows
}

// sampledText reports the savings of --sampled, and the differences that it has measured.
func sampledText(device string, s *devices.Sampling) string {
	text := fmt.Sprintf("%s, sampled: %d of %d executions that no state repeats were simulated", device, s.Simulated, s.Executions)
	if s.Measured == 0 {
		text += ", none was taken for another."
	} else {
		text += fmt.Sprintf("; %d of them measured how far what was taken lies from a simulation: %s at most.", s.Measured, differences(s.Latency, s.Energy, s.Counter, s.CounterName))
	}
	if p := s.Parts; p != nil {
		text += fmt.Sprintf("\n%s, sampled inside executions: %.0f %% of the instructions were simulated in time", device, 100*float64(p.Simulated)/float64(p.Instructions))
		if p.Measured > 0 {
			text += fmt.Sprintf("; %d comparisons of what was taken for the rest with a simulation: %s in sum", p.Measured, differences(p.Latency, p.Energy, p.Counter, p.CounterName))
		}
		text += "."
	}
	return text
}

// differences writes how two runs differ.
func differences(latency, energy, counter float64, name string) string {
	text := fmt.Sprintf("latency %.2f %%, energy %.2f %%", 100*latency, 100*energy)
	if name != "" {
		text += fmt.Sprintf(", counters %.2f %% (%s)", 100*counter, name)
	}
	return text
}

// notes are facts without a column in the table.
func (r *report) notes(w io.Writer) {
	fmt.Fprintln(w)
	say := func(format string, args ...any) { fmt.Fprintln(w, cli.Wrap(fmt.Sprintf(format, args...))) }
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		if e.Model != "" {
			say("%s runs %s and is compared with that form's reference; speed and energy are relative to the quantized network on the CPU.", e.Device, e.Model)
		}
		if e.Outside != "" {
			say("%s is a driver from outside in the place of the %s. Host path, clocks, energy and heat are this phone's. Its memory is its own and cold when an execution begins: what the system-level cache keeps and what other engines do to it is missing.", e.Device, e.Outside)
		}
		if e.PredictedUS > 0 && e.LatencyUS != nil {
			say("%s: %.1f us predicted, %.1f us simulated (%+.1f %%).", e.Device, e.PredictedUS, *e.LatencyUS, 100*(e.PredictedUS / *e.LatencyUS - 1))
		}
		if e.Fallback > 0 {
			fmt.Fprintf(w, "%s leaves %d of %d operations to the CPU:\n", e.Device, e.Fallback, r.data.OperationCount)
			cli.WriteFallbacks(w, e.Fallbacks)
		}
		if s := e.Sampled; s != nil {
			fmt.Fprintln(w, sampledText(e.Device, s))
		}
		if b := e.Bounded; b != nil {
			say("%s: %d executions of parts were simulated; %d more take the time of the same program at the nearest clocks.", e.Device, b.Simulated, b.Executions-b.Simulated)
		}
		if x := e.Repeated; x != nil {
			say("%s: %d executions were simulated, until three in a row lay within %.2f %% of each other; %d more repeat one of the three (--exact simulates all).", e.Device, x.Simulated, 100*x.Spread, x.Executions-x.Simulated)
		}
		if e.Layers != nil {
			fmt.Fprintf(w, "%s: %s\n", e.Device, e.Layers.String())
		}
		for _, o := range e.Outputs {
			if o.Difference != "" {
				fmt.Fprintln(w, r.style.Bad(fmt.Sprintf("%s differs from the reference: %s", e.Device, o.Difference)))
			}
		}
	}
}

// classes writes the highest scores of outputs that have some: in one line where all devices have the same.
func (r *report) classes(w io.Writer) {
	type line struct{ output, classes string }
	var devices []string
	of := map[line][]string{} // devices
	var lines []line
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		some := false
		for _, o := range e.Outputs {
			if len(o.Top5) == 0 {
				continue
			}
			var classes []string
			for _, c := range o.Top5 {
				classes = append(classes, c.String())
			}
			l := line{classes: strings.Join(classes, "; ")}
			if len(e.Outputs) > 1 {
				l.output = " " + o.Name
			}
			if of[l] == nil {
				lines = append(lines, l)
			}
			of[l] = append(of[l], e.Device)
			some = true
		}
		if some {
			devices = append(devices, e.Device)
		}
	}
	for _, l := range lines {
		who := strings.Join(of[l], ", ")
		if len(devices) > 1 && len(of[l]) == len(devices) {
			who = "all devices"
		}
		fmt.Fprintln(w, cli.Wrap(fmt.Sprintf("%s%s: class %s", who, l.output, l.classes)))
	}
}

// find is the timed run on a device, nil when there is none.
func (r *report) find(device string) *session.Run {
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; e.Device == device && e.LatencyUS != nil && *e.LatencyUS > 0 {
			return e
		}
	}
	return nil
}

// expensive lists the ten longest rows of the fastest run.
func (r *report) expensive(w io.Writer) (err error) {
	defer try.Catch(&err)
	best := -1
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; e.LatencyUS != nil && (best < 0 || *e.LatencyUS < *r.data.Runs[best].LatencyUS) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	e := &r.data.Runs[best]
	rows := operationRows(e)
	slices.SortStableFunc(rows, func(a, b operationRow) int { return cmp.Compare(b.TimeUS, a.TimeUS) })
	fmt.Fprintf(w, "\nMost expensive operations on %s%s:\n", e.Device, rowsOf(e))
	try.E(operationTable(w, e, rows[:min(10, len(rows))]))
	fmt.Fprintf(w, "\nTypes of operations on %s%s:\n", e.Device, rowsOf(e))
	try.E(table.WriteText(w, typeColumns.Without("device").Without("energy").Without("DRAM"), r.typeRows(e, 8)))
	fmt.Fprintln(w, "\nEvery word of these tables: nnsoc explain WORD. What to change: nnsoc advise. A page to look at: nnsoc report.\nAll operations: --all.")
	return nil
}

// rowsOf names the invocation whose operations are shown where it is not like the mean.
func rowsOf(e *session.Run) string {
	x := e.RowsOf
	if x == nil || math.Abs(x.LatencyUS-*e.LatencyUS) < 0.05 {
		return ""
	}
	which := "last"
	if e.Invocations.Course != nil {
		which = "first"
	}
	return fmt.Sprintf(", %s invocation (%.1f us, %.1f uJ)", which, x.LatencyUS, x.EnergyUJ)
}

// operationTable writes rows of a run, with their devices where there are several.
func operationTable(w io.Writer, e *session.Run, rows []operationRow) error {
	columns := operationColumns
	if len(e.Devices) < 2 {
		columns = columns.Without("device")
	}
	if !slices.ContainsFunc(rows, func(o operationRow) bool { return o.Name() != "" }) {
		columns = columns.Without("name")
	}
	if !slices.ContainsFunc(rows, func(o operationRow) bool { return o.Host != "" }) {
		columns = columns.Without("place")
	}
	return table.WriteText(w, columns, rows)
}

// spread writes how invocations that differ are spread.
func (r *report) spread(w io.Writer) {
	for i := range r.data.Runs {
		if x := r.data.Runs[i].Invocations; x != nil && x.MaxUS-x.MinUS > 0.0005*x.MeanUS {
			fmt.Fprintf(w, "%s: %d invocations in us: first %.1f, min %.1f, max %.1f, standard deviation %.1f; p50 %.1f, p90 %.1f, p99 %.1f\n",
				r.data.Runs[i].Device, x.Count, x.FirstUS, x.MinUS, x.MaxUS, x.StdUS, x.P50US, x.P90US, x.P99US)
		}
	}
}
