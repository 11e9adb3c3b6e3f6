package workbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/advise"
	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

type adviseFlags struct {
	device, preference string
	top, choices       int
	workers            int
	least              percentFlag
	pace               measure.Pace
}

// NewAdvise returns the command advise.
func NewAdvise(a *cli.App) *cobra.Command {
	f := &adviseFlags{least: 0.5}
	cmd := &cobra.Command{
		Use:   "advise MODEL",
		Short: "name the changes that make a network faster on a device",
		Long: `advise runs a network on a device, derives from its profile which changes may help -
to the network (operations that the device refuses, channels that do not fill the engine,
half precision), to how it is called, to the parameters of the SoC - predicts the gain of each,
and simulates the most promising. Of the lowering it simulates close alternatives:
kernels, tiles and blocks whose estimate is near that of the chosen one; then
all that save time together. It prints what was simulated: predicted and simulated latency side
by side, the largest gain first. A changed network computes something else; it is compared with
its own reference.`,
		Example:           "  nnsoc advise mobilenet_v1_0.25_128_quant --device npu\n  nnsoc advise model.tflite --device gpu --top 30 --json\n  nnsoc advise model.tflite --device dsp --top 0 --choices 40",
		Args:              cli.ExactlyOne,
		ValidArgsFunction: input.CompleteModel,
		RunE:              func(_ *cobra.Command, args []string) error { return runAdvise(a, f, args[0]) },
	}
	cli.PrintsLines(cmd, "changes[]")
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device to run on")
	fl.IntVar(&f.top, "top", 16, "changes to network, calls and machine to simulate, those of the largest predicted gain")
	fl.IntVar(&f.choices, "choices", 8, "choices of the lowering that were lost by little to simulate")
	fl.Var(&f.least, "least", "print changes that save at least so many percent")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "runs at the same time")
	f.pace.Add(fl)
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd)
	return cmd
}

// adviseReport is the JSON object of advise.
type adviseReport struct {
	SchemaVersion int         `json:"schema_version"`
	Model         string      `json:"model"`
	SoC           string      `json:"soc"`
	Device        string      `json:"device"`
	LatencyUS     float64     `json:"latency_us"`
	EnergyUJ      float64     `json:"energy_uj"`
	Proposed      int         `json:"proposed"`
	Changes       []adviceRow `json:"changes"` // all that were simulated, the largest gain first

	least float64 // percent that a printed change saves
}

// adviceRow is a simulated change.
type adviceRow struct {
	Kind        string   `json:"kind"`   // lowering, call, machine, network
	What        string   `json:"change"` // of the machine: as flags
	Why         string   `json:"reason"`
	PredictedUS float64  `json:"predicted_latency_us"`
	SimulatedUS float64  `json:"latency_us,omitempty"`
	Set         []string `json:"set,omitempty"` // of a change to the machine: the arguments of --set
	// Candidates names what a change to the lowering chooses, by operation.
	Candidates  map[int]string `json:"candidates,omitempty"`
	EnergyUJ    float64        `json:"energy_uj,omitempty"`
	GainPercent float64        `json:"gain_percent"` // of latency, simulated
	Status      string         `json:"status"`
	Error       string         `json:"error,omitempty"`
}

func runAdvise(a *cli.App, f *adviseFlags, model string) (err error) {
	defer try.Catch(&err)
	l := try.V(newLab(a, f.preference, f.pace))
	switch {
	case f.device == "":
		return cli.Usage(errors.New("no device: give --device"))
	case session.Divides(f.device):
		return cli.Usage(fmt.Errorf("--device %s: advise is about one device; \"nnsoc partition\" compares divisions", f.device))
	case f.top < 0 || f.top > 1000:
		return cli.Usage(fmt.Errorf("--top %d, want 0 to 1000", f.top))
	case f.choices < 0 || f.choices > 1000:
		return cli.Usage(fmt.Errorf("--choices %d, want 0 to 1000", f.choices))
	case f.top+f.choices == 0:
		return cli.Usage(errors.New("--top 0 --choices 0: nothing to simulate"))
	case !(f.least >= 0 && f.least < 100):
		return cli.Usage(fmt.Errorf("--least %v, want 0 to 100 percent", &f.least))
	case f.workers < 1 || f.workers > 1024:
		return cli.Usage(fmt.Errorf("--workers %d, want 1 to 1024", f.workers))
	}
	c := try.V(machine.LoadSoC(a))
	p := a.Progress()
	defer p.Done()
	base := try.V(l.run(c, model, f.device))
	if base.result == nil {
		return cli.Usage(fmt.Errorf("%s runs nothing of %s: %s", f.device, model, firstFallback(base.compilation)))
	}
	form := try.V(l.form(model))
	keys, err := soc.Keys(a.SoC, try.V(machine.Changes(a))...)
	if err != nil {
		return cli.Usage(err)
	}
	from := try.V(adviceRun(form, f, base, keys))
	changes := slices.DeleteFunc(advise.Propose(from), func(x advise.Change) bool { return l.refuses(x.Keys) })
	lost := advise.Close(from)
	r := &adviseReport{SchemaVersion: cli.SchemaVersion, Model: form.Model.Name, SoC: c.SoC.Name, Device: f.device, least: float64(f.least),
		LatencyUS: base.invocations.MeanUS, EnergyUJ: base.invocations.Energy, Proposed: len(changes) + len(lost), Changes: []adviceRow{}}
	changes = slices.Concat(changes[:min(f.top, len(changes))], lost[:min(f.choices, len(lost))])
	r.Changes = make([]adviceRow, len(changes))
	var wait sync.WaitGroup
	var mu sync.Mutex
	next, done := make(chan int), 0
	lines, failed := a.Lines(), make([]error, len(changes))
	for range min(f.workers, max(len(changes), 1)) {
		wait.Go(func() {
			for i := range next {
				r.Changes[i] = l.advice(&changes[i], c, form, f, base)
				failed[i] = lines.Add(i, &r.Changes[i])
				mu.Lock()
				done++
				p.Update("%d of %d changes", done, len(changes))
				mu.Unlock()
			}
		})
	}
	for i := range changes {
		next <- i
	}
	close(next)
	wait.Wait()
	try.E(errors.Join(failed...))
	if all := advise.Together(r.gaining(changes)); len(all.Candidates) > 1 {
		r.Changes = append(r.Changes, l.advice(&all, c, form, f, base))
		try.E(lines.Add(len(changes), &r.Changes[len(changes)]))
	}
	p.Done()
	slices.SortStableFunc(r.Changes, func(x, y adviceRow) int { return cmp.Compare(y.GainPercent, x.GainPercent) })
	if a.JSON {
		return a.PrintObject(r)
	}
	return r.print(a)
}

// refuses reports whether keys cannot have these values together, by a rule of the SoC that concerns several keys.
func (l *lab) refuses(keys []soc.Change) bool {
	_, err := l.load(keys...)
	return err != nil
}

// leastGain is the gain in percent of a change that a report names.
const leastGain = 0.05

// Best simulates the changes with the largest predicted gains of a network on a device, for the page of a report: until so many
// have shortened it, or twice as many were tried.
func Best(a *cli.App, preference string, pace measure.Pace, model, device string, top int) (*htmlreport.Advice, error) {
	f := &adviseFlags{device: device, preference: preference, pace: pace}
	l, err := newLab(a, preference, pace)
	if err != nil {
		return nil, err
	}
	c, err := machine.LoadSoC(a)
	if err != nil {
		return nil, err
	}
	base, err := l.run(c, model, device)
	if err != nil {
		return nil, err
	}
	if base.result == nil {
		return nil, nil
	}
	form, err := l.form(model)
	if err != nil {
		return nil, err
	}
	given, err := machine.Changes(a)
	if err != nil {
		return nil, err
	}
	keys, err := soc.Keys(a.SoC, given...)
	if err != nil {
		return nil, err
	}
	ran, err := adviceRun(form, f, base, keys)
	if err != nil {
		return nil, err
	}
	changes := slices.DeleteFunc(advise.Propose(ran), func(x advise.Change) bool { return l.refuses(x.Keys) })
	r := &htmlreport.Advice{Device: device, LatencyUS: base.invocations.MeanUS}
	p := a.Progress()
	defer p.Done()
	for i := 0; i < min(2*top, len(changes)) && len(r.Changes) < top; i++ {
		p.Update("%s: %.0f %% of %d changes", device, 100*float64(len(r.Changes))/float64(top), top)
		x := l.advice(&changes[i], c, form, f, base)
		if x.Status == session.StatusOK && x.GainPercent >= leastGain {
			r.Changes = append(r.Changes, htmlreport.Advised{What: x.What, Why: x.Why, PredictedUS: x.PredictedUS, SimulatedUS: x.SimulatedUS, GainPercent: x.GainPercent, Status: x.Status})
		}
	}
	slices.SortStableFunc(r.Changes, func(x, y htmlreport.Advised) int { return cmp.Compare(y.GainPercent, x.GainPercent) })
	return r, nil
}

// gaining are the changes to the lowering that save time, each with its saving.
func (r *adviseReport) gaining(changes []advise.Change) (list []advise.Change) {
	for i, x := range r.Changes {
		if c := changes[i]; c.Kind == advise.Lowering && x.Status == session.StatusOK && x.GainPercent > 0 {
			c.PredictedUS = r.LatencyUS - x.SimulatedUS
			list = append(list, c)
		}
	}
	return list
}

func firstFallback(c *nnrt.Compilation) string {
	if len(c.Fallbacks) == 0 {
		return "it has no operations"
	}
	return c.Fallbacks[0].Reason
}

// adviceRun is the run that changes are derived from.
func adviceRun(form *input.Form, f *adviseFlags, base *trial, keys []soc.Key) (*advise.Run, error) {
	r := &advise.Run{Model: form.Model, Device: f.device, LatencyUS: base.invocations.MeanUS, Parts: base.invocations.Parts, Burst: f.pace.Burst, Keys: keys}
	reasons := map[int]string{}
	for _, x := range slices.Concat(base.compilation.Fallbacks, base.result.Fallbacks) {
		reasons[x.Operation] = x.Reason
	}
	for _, o := range slices.Concat(base.result.Operations, base.result.Overheads) {
		x := advise.Operation{Index: o.Index, Device: o.Device, US: float64(o.TimeFs) / 1e9, Reason: reasons[o.Index], Stalls: map[string]float64{}}
		for _, s := range o.Stalls {
			x.Stalls[s.Reason] += float64(s.Cycles) / float64(max(o.Cycles, 1))
		}
		r.Operations = append(r.Operations, x)
	}
	var err error
	if f.choices > 0 {
		r.Choices, err = base.compilation.Choices()
	}
	return r, err
}

// advice simulates a change.
func (l *lab) advice(x *advise.Change, c *soc.Config, form *input.Form, f *adviseFlags, base *trial) adviceRow {
	row := adviceRow{Kind: x.Kind, What: x.What, Why: x.Why, Candidates: x.Candidates, PredictedUS: base.invocations.MeanUS - x.PredictedUS}
	for _, k := range x.Keys {
		row.Set = append(row.Set, k.String())
	}
	t, err := l.changed(x, c, form, f)
	switch {
	case err != nil:
		row.Status, row.Error = session.StatusFailed, err.Error()
	case t.result == nil:
		row.Status = session.StatusUnsupported
	default:
		row.Status, row.Error = t.status, t.difference
		row.SimulatedUS, row.EnergyUJ = t.invocations.MeanUS, t.invocations.Energy
		row.GainPercent = 100 * (1 - row.SimulatedUS/base.invocations.MeanUS)
	}
	return row
}

// changed runs a network with a change.
func (l *lab) changed(x *advise.Change, c *soc.Config, form *input.Form, f *adviseFlags) (_ *trial, err error) {
	defer try.Catch(&err)
	if len(x.Keys) > 0 {
		c = try.V(l.load(x.Keys...))
	}
	if x.Model != nil {
		form = try.V(input.NewForm(x.Model, &input.Flags{Norm: tensor.DefaultNormalization}))
		try.E(input.Reference(form))
	}
	h := runOptions{pace: l.pace, candidates: x.Candidates}
	h.pace.Burst = h.pace.Burst || x.Burst
	return l.runForm(c, form, f.device, h)
}

// print writes the best change, then a row per change, its reason below it.
func (r *adviseReport) print(a *cli.App) error {
	fmt.Fprintf(a.Out, "%s on %s of %s: %.1f us, %.1f uJ; %d changes proposed, %d simulated\n", r.Model, r.Device, r.SoC, r.LatencyUS, r.EnergyUJ, r.Proposed, len(r.Changes))
	without, broken, saving := 0, []adviceRow{}, []adviceRow{}
	for _, x := range r.Changes {
		switch {
		case x.Status != session.StatusOK:
			broken = append(broken, x)
		case x.GainPercent < r.least:
			without++
		default:
			saving = append(saving, x)
		}
	}
	if len(saving) > 0 {
		best := &saving[0]
		fmt.Fprintf(a.Out, "\n%s\n\n", a.Style().Bold(cli.Wrap(fmt.Sprintf("The best is a change of %s: %s. It takes %.1f us in place of %.1f (%+.1f %%) and %+.1f %% energy.",
			best.subject(), best.What, best.SimulatedUS, r.LatencyUS, -best.GainPercent, 100*(best.EnergyUJ/r.EnergyUJ-1)))))
		if err := r.table(a.Out, saving); err != nil {
			return err
		}
	}
	if without > 0 {
		fmt.Fprintf(a.Out, "\n%d more save less than %g %%\n", without, r.least)
	}
	for _, x := range broken {
		fmt.Fprintf(a.Out, "not possible: %s: %s %s\n", x.What, x.Status, x.Error)
	}
	return nil
}

// subject is what a change changes, in a sentence.
func (x *adviceRow) subject() string {
	if x.Kind == advise.Lowering || x.Kind == advise.Network || x.Kind == advise.Machine {
		return "the " + x.Kind
	}
	return x.Kind
}

// adviceColumns is the most characters of a line of a change in the table.
const adviceColumns = 64

// table writes changes with their figures, each over its reason.
func (r *adviseReport) table(w io.Writer, changes []adviceRow) error {
	type line struct {
		*adviceRow
		text string
	}
	figure := func(of func(x *adviceRow) float64) func(line) any {
		return func(l line) any {
			if l.adviceRow == nil {
				return ""
			}
			return of(l.adviceRow)
		}
	}
	columns := table.Columns[line]{
		{Name: "latency", Unit: "%", Digits: 1, Meaning: "change of the latency", Cell: figure(func(x *adviceRow) float64 { return -x.GainPercent })},
		{Name: "energy", Unit: "%", Digits: 1, Meaning: "change of the energy", Cell: figure(func(x *adviceRow) float64 { return 100 * (x.EnergyUJ/r.EnergyUJ - 1) })},
		{Name: "simulated", Unit: "us", Digits: 1, Meaning: "latency with the change", Cell: figure(func(x *adviceRow) float64 { return x.SimulatedUS })},
		{Name: "predicted", Unit: "us", Digits: 1, Meaning: "the same before it was simulated", Cell: figure(func(x *adviceRow) float64 { return x.PredictedUS })},
		{Name: "kind", Meaning: "what is changed", Cell: func(l line) any {
			if l.adviceRow == nil {
				return ""
			}
			return l.Kind
		}},
		{Name: "change, and why", Meaning: "the change, then its reason", Cell: func(l line) any { return l.text }},
	}
	var lines []line
	for i := range changes {
		x := &changes[i]
		what, more, _ := strings.Cut(cli.WrapTo(adviceColumns, x.What), "\n")
		lines = append(lines, line{x, what})
		for _, text := range append(strings.Split(more, "\n"), strings.Split(cli.WrapTo(adviceColumns, x.Why), "\n")...) {
			if text != "" {
				lines = append(lines, line{nil, "  " + strings.TrimSpace(text)})
			}
		}
	}
	return table.WriteText(w, columns, lines)
}
