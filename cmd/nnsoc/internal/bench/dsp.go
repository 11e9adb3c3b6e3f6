package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// anchorReport is the JSON object of bench dsp.
type anchorReport struct {
	SchemaVersion int    `json:"schema_version"`
	SoC           string `json:"soc"`
	Description   string `json:"description"`
	// CheckRatio is the geometric mean of the ratios of the rows that are checks
	// and no bounds.
	CheckRatio float64     `json:"check_ratio"`
	Rows       []anchorRow `json:"rows"`
}

// anchorRow is one published figure beside ours.
type anchorRow struct {
	Figure string `json:"figure"`
	Unit   string `json:"unit"`
	// Role is "input" when the preset is built from the figure, "check" when it
	// is independent of the preset.
	Role      string  `json:"role"`
	Published float64 `json:"published"`
	AtMost    bool    `json:"at_most,omitempty"` // the source has an upper bound
	Source    string  `json:"source"`
	Measured  float64 `json:"simulated_value"`
	// Rate marks a figure that is better when larger.
	Rate bool `json:"rate,omitempty"`
	// Ratio is above 1 where ours is slower, or uses more energy: simulated / published, of a rate the inverse.
	Ratio  float64 `json:"ratio"`
	Reason string  `json:"reason"`
}

// anchor is a published figure and how to measure ours.
type anchor struct {
	row     anchorRow
	measure func(x *anchorRun) (float64, error)
}

// anchors are the public figures on V65 and V66 Hexagons with HVX. None of them is fitted: the inputs are in the preset
// with the same source.
var anchors = []anchor{
	{anchorRow{"two vrmpy in every packet, all contexts", "MAC/cycle", "input", 512, false,
		"4 contexts of 256 MAC, a packet every 2 cycles (HVX manual 4.6, AnandTech 13680)", 0, true, 0,
		"issue interval and contexts are those of the source; the rest is the loop's frame"}, (*anchorRun).peak},
	{anchorRow{"vector read and write of VTCM", "per packet", "input", 2, false,
		"continuous read and write every packet (HVX manual 3.2)", 0, true, 0, "modelled without bank conflicts (D-65)"}, (*anchorRun).vtcm},
	{anchorRow{"scalar load that misses L1, from L2", "thread cycles", "input", 6, false,
		"Hexagon DSP user guide 80-VB419-108", 0, false, 0, "hit_cycles of L2 is this figure in core cycles"}, (*anchorRun).l2},
	{anchorRow{"scalar load from DRAM, random rows", "ns", "input", 250, false,
		"Hexagon DSP user guide 80-VB419-108", 0, false, 0, "memory_ns is what the figure leaves when DRAM and fabric of the SoC are taken off; the rest is row conflicts and refresh"}, (*anchorRun).dramNs},
	{anchorRow{"pointwise convolutions of MobileNet v1", "MAC/packet", "check", 256, false,
		"inner loop of Hexagon NN's V60 convolution: 4 packets, 8 vrmpy", 0, true, 0,
		"ours counts every packet of the operation: zero-point sums, requantization and loop ends beside the inner loop; on a V66 that is one of vrmpyz, 512 in a packet, where the estimate is less"}, (*anchorRun).pointwise},
	{anchorRow{"depthwise convolutions of MobileNet v1", "MAC/packet", "check", 118, false,
		"inner loop of Hexagon NN's depthwise kernels: 118 to 128", 0, true, 0,
		"as above; strides and small maps add packets without products"}, (*anchorRun).depthwise},
	{anchorRow{"MobileNet v1 1.0 224 quant, Pixel 3, NNAPI on HVX (V65)", "ms", "check", 6.0, false,
		"TensorFlow Lite hosted models", 0, false, 0,
		"a Snapdragon 845 has half the vector pipes and a launch of about 2.4 ms; ours is V66 with a launch like it"}, network("mobilenet_v1_1.0_224_quant", latencyMs)},
	{anchorRow{"MobileNet v1 1.0 224 quant, Pixel 4, NNAPI", "ms", "check", 3.2, false,
		"TensorFlow Lite performance measurements", 0, false, 0,
		"the source does not say which of the phone's engines ran it; the clock of the DSP is not public (D-49)"}, network("mobilenet_v1_1.0_224_quant", latencyMs)},
	{anchorRow{"MobileNet v1 0.25 224 quant, Pixel 3, NNAPI on HVX (V65)", "ms", "check", 2.9, false,
		"TensorFlow Lite hosted models", 0, false, 0,
		"almost all of the published time is the fixed cost of a call"}, network("mobilenet_v1_0.25_224_quant", latencyMs)},
	{anchorRow{"fixed cost of a call, Pixel 3, NNAPI on HVX", "ms", "check", 2.4, false,
		"intercept of the two rows of TensorFlow Lite hosted models", 0, false, 0,
		"the sum of runtime, binder, FastRPC, cache maintenance and the wake-ups of three cores, in a loop of executions that compute nothing"}, (*anchorRun).launch},
	{anchorRow{"MobileNet v2 1.0 224 quant, SA8155, SNPE DSP", "ms", "check", 5, true,
		"discuss.tvm.apache.org/t/2421", 0, false, 0, "an upper bound"}, network("mobilenet_v2_1.0_224_quant", latencyMs)},
	{anchorRow{"Inception v3 quant, QRB5165 (V66), \"3DSP\"", "ms", "check", 1e3 / 124.7, false,
		"docs.qualcomm.com 80-88500-4/151: 124.7 inferences/s", 0, false, 0,
		"ours has a launch of 4 ms, which three runtimes overlap as they do their waits; the engine works 8.4 ms at an assumed clock (D-49), with vrmpyz where the estimate is less (D-60)"}, network("inception_v3_quant", latencyMs)},
	{anchorRow{"Inception v3 quant, energy", "pJ/MAC", "check", 4.99, false,
		"3.56 W at 124.7 inferences/s of 5.72 GMAC (docs.qualcomm.com 80-88500-4/151)", 0, false, 0,
		"the published power may hold more than the DSP and its DRAM; ours is per event from 7 nm figures with assumed register and control energies (D-51)"}, network("inception_v3_quant", picojoules)},
	{anchorRow{"quantized operations, time relative to the CPU", "x", "check", 0.7, false,
		"getCapabilities of Qualcomm's hvxservice 1.0", 0, false, 0, "a coarse vendor promise for V60 to V65; ours is MobileNet v1 against four big cores"}, (*anchorRun).relativeTime},
	{anchorRow{"quantized operations, energy relative to the CPU", "x", "check", 0.7, false,
		"getCapabilities of Qualcomm's hvxservice 1.0", 0, false, 0, "as above; the phone's base power is not ours to count (D-06)"}, (*anchorRun).relativeEnergy},
}

func newBenchDSP(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dsp",
		Short: "compare the DSP with published figures of real ones",
		Long: `dsp measures the SoC's DSP with small programs and whole networks and prints each
published figure of V65 and V66 Hexagons with HVX beside ours: source, ratio and why they
differ. A ratio above 1 is slower than published, or more energy. A figure of role "input" is one that the preset is built from; a "check" is
independent of it. Nothing is fitted to a check.`,
		Example: "  nnsoc bench dsp\n  nnsoc bench dsp --soc sd888 --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			x := try.V(newAnchorRun(a))
			r := anchorReport{SchemaVersion: cli.SchemaVersion, SoC: x.machine.Config.SoC.Name,
				Description: fmt.Sprintf("%s at %.0f MHz (%s)", x.spec.Name, float64(x.spec.ClockHz)/1e6, x.machine.Config.SoC.Name)}
			p := a.Progress()
			defer p.Done()
			for i := range anchors {
				row := anchors[i].row
				p.Part(i, len(anchors))
				p.Update("%s", row.Figure)
				var err error
				if row.Measured, err = anchors[i].measure(x); err != nil {
					return fmt.Errorf("%s: %w", row.Figure, err)
				}
				row.compare()
				r.Rows = append(r.Rows, row)
			}
			p.Done()
			r.CheckRatio = checkRatio(r.Rows)
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			return r.print(a.Out)
		},
	}
	machine.AddCache(a, cmd)
	return cmd
}

// compare fills in the ratio.
func (r *anchorRow) compare() {
	if r.Ratio = r.Measured / r.Published; r.Rate {
		r.Ratio = r.Published / r.Measured
	}
}

// checkRatio is the geometric mean of the ratios of checks that are no bounds.
func checkRatio(rows []anchorRow) float64 {
	var ratios []float64
	for _, row := range rows {
		if row.Role == "check" && !row.AtMost {
			ratios = append(ratios, row.Ratio)
		}
	}
	return stat.GeometricMean(ratios, nil)
}

func (r *anchorReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s beside published figures of V65 and V66 Hexagons:\n\n", r.Description)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tfigure\trole\tpublished\tours\tslower\tunit")
	for i := range r.Rows {
		row := &r.Rows[i]
		bound := ""
		if row.AtMost {
			bound = "< "
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s%s\t%s\t%.2f\t%s\n", i+1, row.Figure, row.Role, bound, significant(row.Published), significant(row.Measured), row.Ratio, row.Unit)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\ngeometric mean of the checks: ours takes %.2f times the published time or energy\n", r.CheckRatio)
	fmt.Fprintln(w, "\nSources, and why ours differs:")
	for i := range r.Rows {
		if _, err := fmt.Fprintf(w, "%3d  %s\n     %s\n", i+1, r.Rows[i].Source, strings.ReplaceAll(cli.Wrap(r.Rows[i].Reason), "\n", "\n     ")); err != nil {
			return err
		}
	}
	return nil
}

// significant writes three digits or all before the point.
func significant(v float64) string {
	digits := 2 - int(math.Floor(math.Log10(max(math.Abs(v), 1e-6))))
	return fmt.Sprintf("%.*f", min(max(digits, 0), 4), v)
}

// anchorRun is the measured machine and its runs so far.
type anchorRun struct {
	machine *machine.Machine
	spec    dsp.Spec
	core    *dsp.Core // jobs start at once
	nets    map[string]*networkRun
}

type networkRun struct {
	model *nn.Model
	res   *nnrt.Result
}

func newAnchorRun(a *cli.App) (*anchorRun, error) {
	m, err := machine.Open(a, hal.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	if m.Config.DSP == nil {
		return nil, cli.Usage(fmt.Errorf("%s has no DSP", m.Config.SoC.Name))
	}
	x := &anchorRun{machine: m, nets: map[string]*networkRun{}}
	if x.spec, err = dsp.FromSoC(m.Config, sim.FastSingleAnswer); err != nil {
		return nil, cli.Usage(err)
	}
	micro := x.spec
	micro.JobStartCycles, micro.BarrierCycles = 0, 0
	x.core, err = dsp.New(micro)
	return x, err
}

// run executes a model once on a device.
func (x *anchorRun) run(device string, m *nn.Model) (*networkRun, error) {
	key := device + " " + m.Name
	if n := x.nets[key]; n != nil {
		return n, nil
	}
	c, err := nnrt.Compile(x.machine.Registry, m, device, nnrt.CompileOptions{})
	if err != nil {
		return nil, err
	}
	if len(c.Fallbacks) > 0 {
		return nil, fmt.Errorf("operation %d of %s does not run on %s: %s", c.Fallbacks[0].Operation, m.Name, device, c.Fallbacks[0].Reason)
	}
	n := &networkRun{model: m}
	in := [][]byte{tensor.Synthetic(&m.Main.Operands[m.Main.Inputs[0]], 1)}
	if n.res, err = c.Execute(in, nnrt.ExecuteOptions{Detail: true}); err != nil {
		return nil, err
	}
	x.nets[key] = n
	return n, nil
}

// network measures a model on the DSP.
func network(name string, value func(n *networkRun) float64) func(x *anchorRun) (float64, error) {
	return func(x *anchorRun) (float64, error) {
		n, err := x.run("dsp", zoo.MustBuild(name))
		if err != nil {
			return 0, err
		}
		return value(n), nil
	}
}

func latencyMs(n *networkRun) float64 { return float64(n.res.LatencyFs) / 1e12 }
func picojoules(n *networkRun) float64 {
	return n.res.EnergyPJ / float64(opspec.MACs(n.model))
}

// launch is a request that the DSP completes at once, in a loop.
func (x *anchorRun) launch() (float64, error) {
	m, err := platform.NewMachine(x.machine.Config)
	if err != nil {
		return 0, err
	}
	r := platform.Request{Engine: soc.EngineDSP, Preference: sim.FastSingleAnswer, Buffers: 2, In: 4, Out: 4}
	if err := m.Repeat(r, platform.Outcome{}, platform.WarmUp); err != nil {
		return 0, err
	}
	e, err := m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return platform.Outcome{}, nil })
	return e.Latency.Microseconds() / 1e3, err
}

func (x *anchorRun) relative(value func(n *networkRun) float64) (float64, error) {
	ours, err := x.run("dsp", zoo.MustBuild("mobilenet_v1_1.0_224_quant"))
	if err != nil {
		return 0, err
	}
	cpu, err := x.run("cpu", zoo.MustBuild("mobilenet_v1_1.0_224_quant"))
	if err != nil {
		return 0, err
	}
	return value(ours) / value(cpu), nil
}

func (x *anchorRun) relativeTime() (float64, error)   { return x.relative(latencyMs) }
func (x *anchorRun) relativeEnergy() (float64, error) { return x.relative(picojoules) }

// perPacket is MACs per packet of the operations of MobileNet v1 that match.
func (x *anchorRun) perPacket(match func(g *nn.Subgraph, op *nn.Operation) bool) (float64, error) {
	n, err := x.run("dsp", zoo.MustBuild("mobilenet_v1_1.0_224_quant"))
	if err != nil {
		return 0, err
	}
	g := &n.model.Main
	var sum kernelEntry
	for i := range n.res.Operations {
		o := &n.res.Operations[i]
		if match(g, &g.Operations[o.Index]) {
			e := newKernelEntry(o)
			sum.MACs += opspec.OperationMACs(g, o.Index)
			sum.Packets += e.Packets
		}
	}
	sum.rates(packetMACs(x.machine.Config))
	return sum.MACsPerPacket, nil
}

func (x *anchorRun) pointwise() (float64, error) {
	return x.perPacket(func(g *nn.Subgraph, op *nn.Operation) bool {
		if op.Type != nn.OpConv2D {
			return false
		}
		c, err := opspec.Read[opspec.Conv](opspec.ModelView(g), op)
		return err == nil && c.KH == 1 && c.OutH > 1 // not the classifier
	})
}

func (x *anchorRun) depthwise() (float64, error) {
	return x.perPacket(func(_ *nn.Subgraph, op *nn.Operation) bool { return op.Type == nn.OpDepthwiseConv2D })
}
