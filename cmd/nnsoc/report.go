package main

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/hal/nn"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

// schemaVersion counts incompatible changes of the JSON objects.
const schemaVersion = 1

// runReport is the JSON object of run.
type runReport struct {
	SchemaVersion int           `json:"schema_version"`
	Model         modelReport   `json:"model"`
	SoC           string        `json:"soc"`
	Runs          []deviceEntry `json:"runs"`
}

type modelReport struct {
	Name       string `json:"name"`
	Operations int    `json:"operations"`
	MACs       int64  `json:"macs"`
}

type deviceEntry struct {
	Device    string  `json:"device"`
	Model     string  `json:"model,omitempty"` // when it is another form than the report's
	Status    string  `json:"status"`
	LatencyUS float64 `json:"latency_us"`
	Cycles    int64   `json:"cycles"`
	EnergyUJ  float64 `json:"energy_uj"`
	// HostUserS is the user CPU that the execution took; compiling is not in it.
	HostUserS  float64          `json:"host_user_s"`
	Fallback   int              `json:"fallback_operations"`
	Fallbacks  []fallbackEntry  `json:"fallbacks,omitempty"`
	Stalls     map[string]int64 `json:"stalls"`
	Operations []operationEntry `json:"operations"`
	Outputs    []outputEntry    `json:"outputs"`
}

type fallbackEntry struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

type operationEntry struct {
	Index   int    `json:"index"`
	Type    string `json:"type"`
	Device  string `json:"device"`
	Cycles  int64  `json:"cycles"`
	BoundBy string `json:"bound_by"`
}

type outputEntry struct {
	Name       string  `json:"name"`
	Elements   int     `json:"elements"`
	Mismatches int     `json:"mismatches"`
	MaxAbsDiff float64 `json:"max_abs_diff"`
	Top1       int     `json:"top1"`
	Difference string  `json:"difference,omitempty"` // the first one
	label      string
}

// Statuses of a run.
const (
	statusOK          = "ok"
	statusMismatch    = "mismatch"
	statusUnsupported = "unsupported"
)

// report collects the runs of a command.
type report struct {
	machine *machine
	data    runReport
	runs    []*deviceRun
}

func newReport(m *machine, f *form) *report {
	return &report{machine: m, data: runReport{
		SchemaVersion: schemaVersion, SoC: m.config.SoC.Name, Runs: []deviceEntry{},
		Model: modelReport{f.model.Name, len(f.model.Main.Operations), nnrt.MACs(f.model)},
	}}
}

func (r *report) object() any { return r.data }

func (r *report) add(d *deviceRun, f *form, labels []string) {
	e := deviceEntry{
		Device: d.device, Status: statusOK, Fallback: len(d.compilation.Fallbacks),
		Stalls: map[string]int64{}, Operations: []operationEntry{}, Outputs: []outputEntry{},
	}
	if f.model.Name != r.data.Model.Name {
		e.Model = f.model.Name
	}
	for _, x := range d.compilation.Fallbacks {
		e.Fallbacks = append(e.Fallbacks, fallbackEntry{x.Operation, f.model.Main.Operations[x.Operation].Type.String(), x.Reason})
	}
	r.runs = append(r.runs, d)
	if d.result == nil {
		e.Status = statusUnsupported
		r.data.Runs = append(r.data.Runs, e)
		return
	}
	res := d.result
	e.LatencyUS, e.Cycles, e.EnergyUJ = float64(res.LatencyFs)/1e9, res.Cycles, res.EnergyPJ/1e6
	e.HostUserS = d.hostUser.Seconds()
	for _, s := range res.Stalls {
		e.Stalls[s.Reason] = s.Cycles
	}
	for _, o := range res.Operations {
		e.Operations = append(e.Operations, operationEntry{o.Index, o.Type.String(), o.Device, o.Cycles, o.BoundBy})
	}
	outputs := outputsOf(f.model)
	for i, c := range nnrt.Compare(f.model, f.expected, res) {
		out := outputEntry{Elements: c.Elements, Mismatches: c.Mismatches, MaxAbsDiff: c.MaxAbsDiff, Top1: c.Top1}
		if i < len(outputs) {
			out.Name = outputName(outputs[i], i)
		}
		if c.Top1 < len(labels) {
			out.label = labels[c.Top1]
		}
		if c.First != nil {
			e.Status, out.Difference = statusMismatch, c.First.Error()
		}
		e.Outputs = append(e.Outputs, out)
	}
	r.data.Runs = append(r.data.Runs, e)
}

func outputName(o *nn.Operand, i int) string {
	if o.Name != "" {
		return o.Name
	}
	return fmt.Sprintf("output%d", i)
}

// verdict is an error when a result differs from the reference.
func (r *report) verdict() error {
	var bad []string
	for _, e := range r.data.Runs {
		if e.Status == statusMismatch {
			bad = append(bad, e.Device)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &exitError{exitMismatch, fmt.Errorf("results of %s differ from the reference", strings.Join(bad, ", "))}
}

// print writes the report for a person.
func (r *report) print(w io.Writer) error {
	m := &r.data.Model
	fmt.Fprintf(w, "%s: %d operations, %.1f million MACs, on %s (%s)\n\n", m.Name, m.Operations, float64(m.MACs)/1e6, r.data.SoC, r.machine.config.SoC.Description)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "device\tlatency us\tcycles\tenergy uJ\tspeed\tenergy\tmismatches\thost s\t")
	cpu := r.find(r.machine.registry.CPU().Name())
	for i := range r.data.Runs {
		e := &r.data.Runs[i]
		if e.Status == statusUnsupported {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\tunsupported\t-\t\n", e.Device)
			continue
		}
		speed, energy := "-", "-"
		if cpu != nil && e.LatencyUS > 0 && cpu.EnergyUJ > 0 {
			speed = fmt.Sprintf("%.2fx", cpu.LatencyUS/e.LatencyUS)
			energy = fmt.Sprintf("%.2fx", e.EnergyUJ/cpu.EnergyUJ)
		}
		mismatches := 0
		for _, o := range e.Outputs {
			mismatches += o.Mismatches
		}
		name := e.Device
		if e.Model != "" {
			name += " (float form)"
		}
		if e.LatencyUS == 0 { // a functional run
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%d\t%.2f\t\n", name, mismatches, e.HostUserS)
			continue
		}
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%.1f\t%s\t%s\t%d\t%.2f\t\n", name, e.LatencyUS, e.Cycles, e.EnergyUJ, speed, energy, mismatches, e.HostUserS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.notes(w)
	return r.expensive(w)
}

// notes are what the table has no column for.
func (r *report) notes(w io.Writer) {
	fmt.Fprintln(w)
	for _, e := range r.data.Runs {
		if e.Model != "" {
			fmt.Fprintf(w, "%s runs %s and is compared with that form's reference; speed and energy are relative to the quantized network on the CPU.\n", e.Device, e.Model)
		}
		if e.Fallback > 0 {
			f := e.Fallbacks[0]
			fmt.Fprintf(w, "%s leaves %d of %d operations to the CPU; first: operation %d (%s): %s\n",
				e.Device, e.Fallback, r.data.Model.Operations, f.Index, f.Type, f.Reason)
		}
		for _, o := range e.Outputs {
			if o.Difference != "" {
				fmt.Fprintf(w, "%s differs from the reference: %s\n", e.Device, o.Difference)
			}
			if o.label != "" {
				fmt.Fprintf(w, "%s: class %d, %s\n", e.Device, o.Top1, o.label)
			}
		}
	}
}

func (r *report) find(device string) *deviceEntry {
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; e.Device == device && e.Status != statusUnsupported {
			return e
		}
	}
	return nil
}

// expensive lists the ten costliest operations of the fastest device.
func (r *report) expensive(w io.Writer) error {
	best := -1
	for i, e := range r.data.Runs {
		if e.Status == statusUnsupported || e.LatencyUS == 0 {
			continue
		}
		if best < 0 || e.LatencyUS < r.data.Runs[best].LatencyUS {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	d := r.runs[best]
	g := &d.compilation.Model.Main
	ops := append([]nnrt.OperationCost(nil), d.result.Operations...)
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].Cycles > ops[j].Cycles })
	fmt.Fprintf(w, "\nMost expensive operations on %s:\n", d.device)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  #\toperation\toutput\tMMAC\tcycles\tshare\tMAC/cycle\tbound by")
	for _, o := range ops[:min(10, len(ops))] {
		macs := nnrt.OperationMACs(g, o.Index)
		rate := "-"
		if macs > 0 && o.Cycles > 0 {
			rate = fmt.Sprintf("%.1f", float64(macs)/float64(o.Cycles))
		}
		fmt.Fprintf(t, "  %d\t%v\t%v\t%.1f\t%d\t%.1f %%\t%s\t%s\n", o.Index, o.Type, g.Operands[g.Operations[o.Index].Outputs[0]].Dimensions,
			float64(macs)/1e6, o.Cycles, 100*float64(o.Cycles)/float64(max(d.result.Cycles, 1)), rate, o.BoundBy)
	}
	return t.Flush()
}
