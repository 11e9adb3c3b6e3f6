package run

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// print writes the report for a person.
func (r *report) print(w io.Writer) (err error) {
	defer try.Catch(&err)
	m := &r.data
	fmt.Fprintf(w, "%s: %d operations, %.1f million MACs, on %s (%s)\n", m.Model, m.OperationCount, float64(m.MACs)/1e6, r.data.SoC, r.machine.Config.SoC.Description)
	if x := r.data.Tensors; x != nil {
		fmt.Fprintf(w, "%.1f KB of constants, at most %.1f KB of other tensors at a time (operation %d)\n", float64(x.ConstantBytes)/1e3, float64(x.PeakBytes)/1e3, x.PeakOperation)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "device\tlatency us\tcycles\tenergy uJ\tspeed\tenergy\tmismatches\tprepare s\texecute s\t")
	cpu := r.find(r.machine.Registry.CPU().Name())
	for i := range r.data.Runs {
		r.row(t, &r.data.Runs[i], cpu)
	}
	try.E(t.Flush())
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

// row writes a run and, when several devices shared it, a row of each: cycles
// belong to one clock.
func (r *report) row(t io.Writer, e, cpu *deviceEntry) {
	if e.Status == StatusUnsupported || e.Status == StatusFailed {
		fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%s\t-\t-\t\n", e.Device, e.Status)
		return
	}
	name := e.Device
	if e.Model != "" {
		name += " (float form)"
	}
	mismatches := 0
	for _, o := range e.Outputs {
		mismatches += o.Mismatches
	}
	host := fmt.Sprintf("%.2f\t%.2f", e.Host.Prepare, e.Host.Execute)
	if e.LatencyUS == nil { // a functional run
		fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%d\t%s\t\n", name, mismatches, host)
		return
	}
	speed, energy, cycles := "-", "-", "-"
	if cpu != nil && *cpu.EnergyUJ > 0 {
		speed = fmt.Sprintf("%.2fx", *cpu.LatencyUS / *e.LatencyUS)
		energy = fmt.Sprintf("%.2fx", *e.EnergyUJ / *cpu.EnergyUJ)
	}
	if e.EngineCycles != nil {
		cycles = fmt.Sprint(*e.EngineCycles)
	}
	fmt.Fprintf(t, "%s\t%.1f\t%s\t%.1f\t%s\t%s\t%d\t%s\t\n", name, *e.LatencyUS, cycles, *e.EnergyUJ, speed, energy, mismatches, host)
	if len(e.Devices) < 2 {
		return
	}
	for _, d := range e.Devices {
		fmt.Fprintf(t, "on %s\t%.1f\t%d\t%.1f\t\t\t\t\t\t\n", d.Device, d.TimeUS, d.EngineCycles, d.EnergyUJ)
	}
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

// differences are those of a comparison.
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
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		if e.Model != "" {
			fmt.Fprintf(w, "%s runs %s and is compared with that form's reference; speed and energy are relative to the quantized network on the CPU.\n", e.Device, e.Model)
		}
		if e.Outside != "" {
			fmt.Fprintf(w, "%s is a driver from outside in the place of the %s: host path, clocks, energy and heat are this phone's; its memory is its own and cold when an execution begins: what the system-level cache keeps and other engines do to it is missing.\n", e.Device, e.Outside)
		}
		if e.PredictedUS > 0 && e.LatencyUS != nil {
			fmt.Fprintf(w, "%s: %.1f us predicted, %.1f measured: the estimate is off by %+.1f %%\n", e.Device, e.PredictedUS, *e.LatencyUS, 100*(e.PredictedUS / *e.LatencyUS - 1))
		}
		if e.Fallback > 0 {
			fmt.Fprintf(w, "%s leaves %d of %d operations to the CPU:\n", e.Device, e.Fallback, r.data.OperationCount)
			cli.WriteFallbacks(w, e.Fallbacks)
		}
		if s := e.Sampled; s != nil {
			fmt.Fprintln(w, sampledText(e.Device, s))
		}
		if b := e.Bounded; b != nil {
			fmt.Fprintf(w, "%s: of %d executions of parts that no state repeats %d were simulated; the others use the result of their program at the nearest clocks.\n", e.Device, b.Executions, b.Simulated)
		}
		if e.Layers != nil {
			fmt.Fprintf(w, "%s: %s\n", e.Device, e.Layers.text())
		}
		for _, o := range e.Outputs {
			if o.Difference != "" {
				fmt.Fprintf(w, "%s differs from the reference: %s\n", e.Device, o.Difference)
			}
		}
	}
}

// classes writes the highest scores of outputs that have some.
func (r *report) classes(w io.Writer) {
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		for _, o := range e.Outputs {
			if len(o.Top5) == 0 {
				continue
			}
			var classes []string
			for _, c := range o.Top5 {
				classes = append(classes, c.text())
			}
			name := ""
			if len(e.Outputs) > 1 {
				name = " " + o.Name
			}
			fmt.Fprintf(w, "%s%s: class %s\n", e.Device, name, strings.Join(classes, "; "))
		}
	}
}

// find is the timed run on a device, nil when there is none.
func (r *report) find(device string) *deviceEntry {
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; e.Device == device && e.LatencyUS != nil && *e.LatencyUS > 0 {
			return e
		}
	}
	return nil
}

// expensive lists the ten longest rows of the fastest run.
func (r *report) expensive(w io.Writer) error {
	best := -1
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; e.LatencyUS != nil && (best < 0 || *e.LatencyUS < *r.data.Runs[best].LatencyUS) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	res := r.runs[best].result
	rows := slices.Concat(res.Operations, res.Inner, res.Overheads)
	slices.SortStableFunc(rows, func(a, b nnrt.OperationCost) int { return cmp.Compare(b.TimeFs, a.TimeFs) })
	fmt.Fprintf(w, "\nMost expensive operations on %s%s:\n", r.data.Runs[best].Device, r.data.Runs[best].rowsOf())
	return operationTable(w, res, rows[:min(10, len(rows))])
}

// rowsOf names the invocation whose operations are shown where it is not like the mean.
func (e *deviceEntry) rowsOf() string {
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

// operationTable writes rows of a run.
func operationTable(w io.Writer, res *nnrt.Result, rows []nnrt.OperationCost) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	mixed := len(res.Devices) > 1
	device := func(s string) string {
		if mixed {
			return s + "\t"
		}
		return ""
	}
	fmt.Fprintf(t, "  #\toperation\t%soutput\tMMAC\tus\tcycles\tshare\tMAC/cycle\tbound by\n", device("device"))
	for i := range rows {
		o := &rows[i]
		index, output, rate := "-", "", "-"
		if o.Index >= 0 {
			index, output = fmt.Sprint(o.Index), fmt.Sprint(o.Outputs[0])
		}
		if o.MACs > 0 && o.Cycles > 0 {
			rate = fmt.Sprintf("%.1f", float64(o.MACs)/float64(o.Cycles))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s%s\t%.1f\t%.1f\t%d\t%.1f %%\t%s\t%s\n", index, o.Name(), device(o.Device), output,
			float64(o.MACs)/1e6, cli.Microseconds(o.TimeFs), o.Cycles, 100*float64(o.TimeFs)/float64(max(res.LatencyFs, 1)), rate, o.BoundBy)
	}
	return t.Flush()
}

// spread writes how invocations that differ are spread.
func (r *report) spread(w io.Writer) {
	for i := range r.data.Runs {
		if x := r.data.Runs[i].Invocations; x != nil && x.MaxUS-x.MinUS > 0.0005*x.MeanUS {
			fmt.Fprintf(w, "%s: %d invocations, first %.1f us, min %.1f, max %.1f, standard deviation %.1f\n", r.data.Runs[i].Device, x.Count, x.FirstUS, x.MinUS, x.MaxUS, x.StdUS)
		}
	}
}
