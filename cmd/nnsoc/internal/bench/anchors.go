package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/gputimes"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// latencyReport is the JSON object of bench anchors.
type latencyReport struct {
	SchemaVersion int            `json:"schema_version"`
	SoC           string         `json:"soc"`
	Engines       []engineEntry  `json:"engines"`
	Rows          []latencyEntry `json:"rows"`

	kernels  []gputimes.Group // of single kernels of the GPU, in docs/FIDELITY.md
	networks *networksReport
	edgeTPU  *latencyReport // of the preset coral
}

// engineEntry sums up the rows of an engine that are checks or fitted.
type engineEntry struct {
	Engine string  `json:"engine"`
	Checks int     `json:"checks"`
	Misses int     `json:"missed_checks"`
	Fitted int     `json:"fitted"`        // rows by which a number of the preset was chosen
	Ratio  float64 `json:"ratio"`         // geometric mean of ours / published, of checks and fitted rows
	Line   *line   `json:"fit,omitempty"` // where there are checks of several networks
}

// line compares two lines of latency over multiply-accumulates, ours / published.
type line struct {
	Intercept float64 `json:"intercept_ratio"`
	Slope     float64 `json:"slope_ratio"`
}

// String follows the mean of ratios; "" without a line.
func (l *line) String() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("; a line over multiply-accumulates has %.2f of the intercept, %.2f of the slope", l.Intercept, l.Slope)
}

// latencyEntry is a published latency beside ours.
type latencyEntry struct {
	Engine      string  `json:"engine"`
	Network     string  `json:"model"`
	Phone       string  `json:"phone"`
	Measure     string  `json:"measure"` // latency, as the application sees it, or kernels; in float16, where float32 is computed so
	PublishedMS float64 `json:"published_ms"`
	MeasuredMS  float64 `json:"simulated_ms"`
	Ratio       float64 `json:"ratio"`            // simulated / published
	ExecutionMS float64 `json:"execution_ms"`     // of the latency, on the engine
	BurstMS     float64 `json:"burst_latency_ms"` // through burst objects
	Role        string  `json:"role"`             // check, fit, or other engine
	Tolerance   float64 `json:"tolerance,omitempty"`
	Verdict     string  `json:"verdict"` // ok, miss; - of another engine
	Source      string  `json:"source"`
	Reason      string  `json:"reason,omitempty"` // why ours differs

	macs float64
}

func newBenchAnchors(a *cli.App) *cobra.Command {
	var engines []string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "anchors",
		Short: "compare latencies of networks with published ones",
		Long: `anchors runs networks of the zoo in a loop, as "nnsoc run" does, and prints published
latencies beside ours. Where the source measured the latency that an application sees, ours is
the mean latency with driver and transport; where it sums the times of kernels, ours
is the time on the engine. A latency of another phone's engine is no check, nor is one by
which a number of the SoC was chosen (role fit). On the GPU
a network takes up to minutes.`,
		Example: "  nnsoc bench anchors --engine dsp,npu\n  nnsoc bench anchors --json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return latencies(a, engines, markdown) },
	}
	cli.PrintsLines(cmd, "rows[]")
	cmd.Flags().Var(cli.NameList{Names: &engines, Once: true}, "engine", "only these engines: cpu, gpu, dsp, npu (default: all)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/FIDELITY.md")
	machine.AddCache(a, cmd)
	return cmd
}

func latencies(a *cli.App, engines []string, markdown bool) (err error) {
	defer try.Catch(&err)
	if markdown && a.JSON {
		return cli.Usage(fmt.Errorf("--json and --markdown contradict each other"))
	}
	m := try.V(machine.OpenLive(a, hal.FastSingleAnswer))
	for _, e := range engines {
		if _, err := m.Registry.Find(e); err != nil {
			return cli.Usage(err)
		}
	}
	p := a.Progress()
	defer p.Done()
	lines := a.Lines()
	r := try.V(measureLatencies(m, engines, p, lines))
	switch {
	case a.JSON:
		return a.PrintObject(r)
	case markdown:
		if slices.ContainsFunc(r.Rows, func(e latencyEntry) bool { return e.Engine == "gpu" }) {
			r.kernels = try.V(kernelGroups(m.Config, p))
			r.networks = try.V(measureNetworks(m, 1, p))
		}
		r.edgeTPU = try.V(measureEdgeTPU(a, p, lines))
		return r.markdown(a.Out)
	}
	return r.text(a.Out)
}

// measureEdgeTPU compares the preset coral.
func measureEdgeTPU(a *cli.App, p *cli.Progress, lines *cli.Lines) (*latencyReport, error) {
	c, err := soc.Load("coral")
	if err != nil {
		return nil, err
	}
	m, err := machine.OpenConfig(a, c, hal.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	return measureLatencies(m, nil, p, lines)
}

// measureLatencies measures the networks of published latencies on a machine, and prints each row as it comes.
func measureLatencies(m *machine.Machine, engines []string, p *cli.Progress, lines *cli.Lines) (*latencyReport, error) {
	r := &latencyReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Rows: []latencyEntry{}}
	own := ""
	for i := range bench.Latencies {
		if bench.Latencies[i].SoC() == r.SoC {
			own = r.SoC
		}
	}
	known := map[string][2]*session.Invocations{}
	for i := range bench.Latencies {
		row := &bench.Latencies[i]
		p.Part(i, len(bench.Latencies))
		if row.SoC() != own || len(engines) > 0 && !slices.Contains(engines, row.Engine) {
			continue
		}
		if _, err := m.Registry.Find(row.Engine); err != nil {
			continue // the SoC has no such engine
		}
		key := fmt.Sprint(row.Engine, " ", row.Network, row.Half)
		x, ok := known[key]
		if !ok {
			p.Update("%s on %s", row.Network, row.Engine)
			var err error
			if x, err = measureNetwork(m, row); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", row.Network, row.Engine, err)
			}
			known[key] = x
		}
		e := newLatencyEntry(row, x[0], x[1])
		if n, ok := zoo.Find(row.Network); ok {
			outline, _, err := n.Outline()
			if err != nil {
				return nil, err
			}
			e.macs = float64(opspec.MACs(outline))
		}
		r.Rows = append(r.Rows, e)
		if err := lines.Append(&e); err != nil {
			return nil, err
		}
	}
	r.sumUp()
	return r, nil
}

// measureNetwork runs a network in a loop, and in one through burst objects.
func measureNetwork(m *machine.Machine, row *bench.Published) (x [2]*session.Invocations, err error) {
	l, err := newRepeated(m, row.Network, row.Engine, row.Half)
	if err != nil {
		return x, err
	}
	for i, burst := range [2]bool{false, true} {
		if x[i], err = l.run(burst); err != nil {
			return x, err
		}
	}
	return x, nil
}

// repeated is a network of one input that an engine executes again and again.
type repeated struct {
	machine *machine.Machine
	network *nnrt.Compilation
	inputs  [][]byte
}

// newRepeated compiles a network of the zoo, relaxed to float16 or not, for one engine, which must support all of it.
func newRepeated(m *machine.Machine, network, engine string, relaxed bool) (*repeated, error) {
	model, err := zoo.Build(network)
	if err != nil {
		return nil, err
	}
	model.Relaxed = relaxed
	c, err := nnrt.Compile(m.Registry, model, engine, nnrt.CompileOptions{})
	if err != nil {
		return nil, err
	}
	if len(c.Fallbacks) > 0 {
		return nil, fmt.Errorf("operation %d runs elsewhere: %s", c.Fallbacks[0].Operation, c.Fallbacks[0].Reason)
	}
	return &repeated{m, c, [][]byte{tensor.Synthetic(&model.Main.Operands[model.Main.Inputs[0]], 1)}}, nil
}

// run measures the loop, through burst objects or not.
func (l *repeated) run(burst bool) (*session.Invocations, error) {
	pace := session.PlanPace()
	pace.Burst = burst
	_, x, err := pace.Invoke(l.machine.Phone, l.network, l.inputs, nnrt.ExecuteOptions{})
	return x, err
}

func newLatencyEntry(p *bench.Published, loop, burst *session.Invocations) latencyEntry {
	e := latencyEntry{Engine: p.Engine, Network: p.Network, Phone: p.Phone, Measure: "latency", PublishedMS: p.Ms, Source: p.Source, Reason: p.Reason,
		MeasuredMS: loop.MeanUS / 1e3, ExecutionMS: loop.Parts[platform.PartExecution] / 1e3, BurstMS: burst.MeanUS / 1e3, Role: p.Role(), Verdict: "-"}
	if p.Kernels {
		e.Measure, e.MeasuredMS = "kernels", e.ExecutionMS
	}
	if p.Half {
		e.Measure += ", float16"
	}
	e.Ratio = e.MeasuredMS / e.PublishedMS
	if e.Role == bench.Check || e.Role == bench.Fit {
		e.Tolerance, e.Verdict = p.Tolerance(), "miss"
		if math.Abs(e.Ratio-1) <= e.Tolerance {
			e.Verdict = "ok"
		}
	}
	return e
}

// sumUp fills the engines.
func (r *latencyReport) sumUp() {
	r.Engines = []engineEntry{}
	for _, engine := range []string{"cpu", "gpu", "dsp", "npu"} {
		e := engineEntry{Engine: engine}
		var ratios, macs, ours, published []float64
		for _, row := range r.Rows {
			if row.Engine != engine || row.Role != bench.Check && row.Role != bench.Fit {
				continue
			}
			ratios = append(ratios, row.Ratio)
			macs, ours, published = append(macs, row.macs), append(ours, row.MeasuredMS), append(published, row.PublishedMS)
			switch {
			case row.Role == bench.Fit:
				e.Fitted++
			case row.Verdict != "ok":
				e.Misses++
			}
		}
		if e.Checks = len(ratios) - e.Fitted; len(ratios) > 0 {
			e.Ratio = stat.GeometricMean(ratios, nil)
			if len(ratios) >= 5 && engine == "npu" {
				a, b := stat.LinearRegression(macs, ours, nil, false)
				c, d := stat.LinearRegression(macs, published, nil, false)
				e.Line = &line{Intercept: a / c, Slope: b / d}
			}
			r.Engines = append(r.Engines, e)
		}
	}
}

func (r *latencyReport) text(w io.Writer) error {
	fmt.Fprintf(w, "%s beside published latencies, ms:\n\n", r.SoC)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "engine\tnetwork\tphone\tmeasure\trole\tpublished\tours\tratio\texecution\tin a burst\tverdict")
	for i := range r.Rows {
		fmt.Fprintln(t, strings.Join(r.Rows[i].cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, e := range r.Engines {
		if _, err := fmt.Fprintf(w, "%s: %d of %d checks miss their tolerance, %d rows are fitted, geometric mean of ours / published %.2f%s\n", e.Engine, e.Misses, e.Checks, e.Fitted, e.Ratio, e.Line); err != nil {
			return err
		}
	}
	return nil
}

// cells are a row of a table.
func (e *latencyEntry) cells() []string {
	verdict := e.Verdict
	if e.Tolerance > 0 {
		verdict += fmt.Sprintf(" (%.0f %%)", 100*e.Tolerance)
	}
	return []string{e.Engine, e.Network, e.Phone, e.Measure, e.Role, significant(e.PublishedMS), significant(e.MeasuredMS), fmt.Sprintf("%.2f", e.Ratio),
		significant(e.ExecutionMS), significant(e.BurstMS), verdict}
}

// fidelityHead begins docs/FIDELITY.md.
const fidelityHead = `# Fidelity

How far latencies of preset %s are from published ones. Written by ` + "`make fidelity`" + `.

## What to trust

Ratios ours / published, the least and the largest of each engine:

%s
Differences between two programs, networks or machines are more certain than one time: what both share, right or wrong, is the
same on both sides. Trust the order of two designs whose times differ by more than the spread of their engine; below that look at
what the cycles are charged to. Results are exact: quantized tensors equal the reference, whatever the times.

## Networks

"Ours" is the mean over a loop of invocations after a warm-up, as ` + "`nnsoc run`" + ` measures: with runtime, binder, cache
maintenance, messages to the engine and waking up (docs/Time.md). Where a source adds up the times of kernels it is the
time on the engine. "Execution" is that time in every row, "in a burst" the latency through burst objects. A figure of an
engine that the preset does not have is no check. Rows with role fit are no checks either: by these six the clock of the NPU was
chosen among four (D-1740). Two rules of the GPU's driver, how a product of one row waits and which depthwise kernels have lanes of
2 x 2 positions, were chosen with measured kernels in view (D-2204, D-2205): they are no proof for their two classes. Nothing else is
fitted to rows of this page. The CPU by cores and threads is in
` + "`nnsoc bench cpu`" + `, single figures of the Hexagon in ` + "`nnsoc bench dsp`" + `, of Ethos-U in docs/EthosUTiming.md,
of DRAM in docs/Memory.md.

| engine | network | phone | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |
|---|---|---|---|---|---|---|---|---|---|---|
`

// trustLines have for each engine the spread of its checks, or of the figures that a number was chosen by.
func trustLines(r *latencyReport) string {
	var b strings.Builder
	for _, e := range r.Engines {
		low, high, n, fitted := math.Inf(1), 0.0, 0, ""
		for i := range r.Rows {
			x := &r.Rows[i]
			if x.Engine != e.Engine || x.Role != bench.Check && x.Role != bench.Fit {
				continue
			}
			low, high, n = min(low, x.Ratio), max(high, x.Ratio), n+1
			if x.Role == bench.Fit {
				fitted = ", by which a number of the preset was chosen"
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "* %s of %s: %.2f to %.2f, %d networks%s\n", e.Engine, r.SoC, low, high, n, fitted)
		}
	}
	return b.String()
}

// edgeTPUHead begins the rows of an Edge TPU that is no phone's.
const edgeTPUHead = `
An Edge TPU behind USB, the machine of the Pixel 4's NPU at its own clock, is preset %s (` + "`nnsoc bench anchors --soc coral`" + `):

| engine | network | part | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |
|---|---|---|---|---|---|---|---|---|---|---|
`

// enginesHead begins the sums.
const enginesHead = `
Intercept and slope are those of lines of latency over multiply-accumulates, ours / published.

| engine | preset | checks | miss | fitted | geometric mean of ours / published | intercept | slope |
|---|---|---|---|---|---|---|---|
`

// cells are a row of the sums.
func (e *engineEntry) cells(preset string) []string {
	intercept, slope := "-", "-"
	if e.Line != nil {
		intercept, slope = fmt.Sprintf("%.2f", e.Line.Intercept), fmt.Sprintf("%.2f", e.Line.Slope)
	}
	return []string{e.Engine, preset, fmt.Sprint(e.Checks), fmt.Sprint(e.Misses), fmt.Sprint(e.Fitted), fmt.Sprintf("%.2f", e.Ratio), intercept, slope}
}

// kernelsHead begins the classes of single kernels. Their rows, as all of the GPU's, begin with its name.
const kernelsHead = `
Single float16 kernels of a Pixel 4's GPU, ours / published, at the top clock with cold caches (` + "`nnsoc bench gpu`" + `, which
has each, and microbenchmarks):

| gpu class | rows | median | a tenth is below | a tenth is above | between 2/3 and 3/2 |
|---|---|---|---|---|---|
`

// networksHead begins the networks in float16.
const networksHead = `
Float16 networks on a Pixel 4's GPU in a loop, ms (` + "`nnsoc bench gpu --networks`" + `):

| gpu network | published | ours | ratio | kernels, published | ours | ratio |
|---|---|---|---|---|---|---|
`

// kernelGroups are the classes of single kernels of the GPU.
func kernelGroups(c *soc.Config, p *cli.Progress) ([]gputimes.Group, error) {
	list, err := gputimes.Kernels()
	if err != nil {
		return nil, err
	}
	i := 0
	rows, err := gputimes.Run(c, list, func() {
		i++
		p.Update("gpu: %d of %d kernels", i, len(list))
	})
	return gputimes.Groups(rows), err
}

func (r *latencyReport) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, fidelityHead, r.SoC, trustLines(r)+trustLines(r.edgeTPU))
	for i := range r.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.Rows[i].cells(), " | "))
	}
	x := r.edgeTPU
	fmt.Fprintf(&b, edgeTPUHead, x.SoC)
	for i := range x.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(x.Rows[i].cells(), " | "))
	}
	b.WriteString(enginesHead)
	for _, e := range r.Engines {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(e.cells(r.SoC), " | "))
	}
	for _, e := range x.Engines {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(e.cells(x.SoC), " | "))
	}
	if len(r.kernels) > 0 {
		b.WriteString(kernelsHead)
	}
	for _, g := range r.kernels {
		fmt.Fprintf(&b, "| gpu %s | %d | %.2f | %.2f | %.2f | %.0f %% |\n", g.Class, g.Rows, g.Median, g.Low, g.High, 100*g.Within)
	}
	if r.networks != nil {
		b.WriteString(networksHead)
		for i := range r.networks.Rows {
			fmt.Fprintf(&b, "| gpu %s |\n", strings.Join(cellsOf(&r.networks.Rows[i]), " | "))
		}
		fmt.Fprintf(&b, "| gpu median | | | %.2f | | | %.2f |\n", r.networks.Latency.Median, r.networks.Kernels.Median)
	}
	b.WriteString("\nWhy ours differs, where it does:\n\n")
	var reasons []string
	for _, row := range slices.Concat(r.Rows, x.Rows) {
		if row.Reason != "" && row.Verdict != "ok" && !slices.Contains(reasons, row.Engine+row.Reason) {
			reasons = append(reasons, row.Engine+row.Reason)
			fmt.Fprintf(&b, "* %s, %s: %s\n", row.Engine, row.Phone, row.Reason)
		}
	}
	b.WriteString("\nSources:\n\n")
	var sources []string
	for _, row := range slices.Concat(r.Rows, x.Rows) {
		if !slices.Contains(sources, row.Source) {
			sources = append(sources, row.Source)
			fmt.Fprintf(&b, "* %s\n", row.Source)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
