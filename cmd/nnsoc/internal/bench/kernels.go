package bench

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// kernelsReport is the JSON object of bench kernels.
type kernelsReport struct {
	SchemaVersion int `json:"schema_version"`
	session.ModelReport
	SoC        string           `json:"soc"`
	Device     string           `json:"device"`
	Cycles     int64            `json:"cycles"`
	Host       session.HostTime `json:"host_time"`
	Operations []kernelEntry    `json:"operations"`
	Total      kernelEntry      `json:"total"`
}

// kernelEntry is the use of the machine by one operation, or by all of them.
type kernelEntry struct {
	Index  int      `json:"index"`
	Type   string   `json:"type"`
	Output []uint32 `json:"output_shape,omitempty"`
	MACs   int64    `json:"macs"`
	Cycles int64    `json:"cycles"`
	// Packets counts the packets of all threads; MACsPerPacket are the operation's multiply-accumulates per packet,
	// ProductsPerPacket the products of its instructions, padding included.
	Packets           int64   `json:"packets"`
	MACsPerPacket     float64 `json:"macs_per_packet"`
	ProductsPerPacket float64 `json:"products_per_packet"`
	// InnerLoop is MACs per packet of the products phase alone, as in published figures of inner loops.
	InnerLoop float64 `json:"inner_loop_macs_per_packet"`
	// OfPeak is MACs relative to the peak in every packet issued, OfMachine relative to
	// the peak in every packet that the threads had time for.
	OfPeak    float64 `json:"peak_share"`
	OfMachine float64 `json:"machine_share"`
	// Multipliers is the share of packet multipliers in use.
	Multipliers float64 `json:"multiplier_share"`
	// Phases are the packets by phase, Threads the cycles of all threads by reason, with "idle" for a thread that waits
	// for the others.
	Phases  map[string]int64 `json:"phase_packets"`
	Threads map[string]int64 `json:"thread_cycles"`

	slots, units, products int64
}

// packetMACs is the peak of a packet: a vrmpyz, or two vrmpy where the DSP has no Z window.
func packetMACs(c *soc.Config) int64 {
	if c.DSP != nil && c.DSP.ISAVersion() < 66 {
		return 256
	}
	return 512
}

func newBenchKernels(a *cli.App) *cobra.Command {
	var device, path, network string
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "show how well each operation of a network uses the DSP's multipliers",
		Long: `kernels runs a network once on the DSP and lists, operation by operation, the
multiply-accumulates per packet, their share of the peak (512 by a vrmpyz; on a V65, which has
none, 256 by two vrmpy), the packets by purpose (products, zero-point correction,
requantization, other) and what the
cycles of all threads were spent on: issue, waiting for operands, instruction fetch, L1, L2, DRAM,
launching jobs, and idle where a thread had less work than the others. "MAC/packet" counts
all packets of an operation. "inner loop" counts only those of products: the multiplications,
their additions, and the loads, interleaving and shifting of their operands. It is comparable
with figures published for the inner loops of other libraries. A packet with instructions of
several kinds counts for each in proportion, so "inner loop" may pass the peak where other
work shares the packets of products. "of machine" counts the multiply-accumulates against
all packets that the threads had time for. The network is a file or a name that
"nnsoc models" lists (--model), or a short name of one of those (--network).`,
		Example: "  nnsoc bench kernels --model mobilenet.tflite --device dsp\n  nnsoc bench kernels --network inception_v3 --json",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path != "" && cmd.Flags().Changed("network") {
				return cli.Usage(errors.New("--model and --network each name a network"))
			}
			return benchKernels(a, path, network, device)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&path, "model", "", "TensorFlow Lite file, or a name that nnsoc models lists")
	fl.StringVar(&network, "network", "mobilenet_v1", "short name of a quantized network: "+strings.Join(networkNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("network", cobra.FixedCompletions(networkNames(), cobra.ShellCompDirectiveNoFileComp))
	fl.StringVar(&device, "device", "dsp", "device to measure; it must count packets")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd)
	_ = cmd.RegisterFlagCompletionFunc("model", input.CompleteModel)
	return cmd
}

// builtIn are short names of quantized networks of the zoo.
var builtIn = map[string]string{
	"inception_v3":      "inception_v3_quant",
	"mobilenet_v1":      "mobilenet_v1_1.0_224_quant",
	"mobilenet_v1_0.25": "mobilenet_v1_0.25_224_quant",
	"mobilenet_v2":      "mobilenet_v2_1.0_224_quant",
}

func networkNames() []string { return slices.Sorted(maps.Keys(builtIn)) }

// kernelsNetwork is the network of a MODEL or, without one, that of the short name.
func kernelsNetwork(a *cli.App, path, name string) (*input.Form, error) {
	if path == "" {
		path = builtIn[name]
		if path == "" {
			return nil, cli.Usage(fmt.Errorf("network %q is none of %s", name, strings.Join(networkNames(), ", ")))
		}
	}
	m, err := input.ReadModel(a, path, input.Choice{})
	if err != nil {
		return nil, err
	}
	return input.NewForm(m, &input.Flags{})
}

func benchKernels(a *cli.App, path, network, device string) (err error) {
	defer try.Catch(&err)
	// The core alone: memory shared with the other engines is not measured with it.
	m := try.V(machine.OpenChanged(a, hal.FastSingleAnswer, func(c *soc.Config) { c.SystemCache = nil }))
	if _, err := m.Registry.Find(device); err != nil {
		return cli.Usage(err)
	}
	f := try.V(kernelsNetwork(a, path, network))
	p := a.Progress()
	defer p.Done()
	p.Update("%s: compile %s", device, f.Model.Name)
	start := cputime.User()
	c := try.V(nnrt.Compile(m.Registry, f.Model, device, nnrt.CompileOptions{}))
	r := kernelsReport{
		SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Device: device, Operations: []kernelEntry{},
		ModelReport: session.NewModelReport(f.Model),
	}
	r.Host.Prepare = (cputime.User() - start).Seconds()
	p.Update("%s: run", device)
	start = cputime.User()
	res := try.V(c.Execute(f.Inputs, nnrt.ExecuteOptions{Detail: true}))
	p.Done()
	r.Host.Execute, r.Cycles = (cputime.User() - start).Seconds(), res.On(device).Cycles
	r.Total = kernelEntry{Index: -1, Type: "total", Phases: map[string]int64{}, Threads: map[string]int64{}}
	g := &f.Model.Main
	for i := range res.Operations {
		o := &res.Operations[i]
		if len(o.Counters) == 0 {
			continue
		}
		e := newKernelEntry(o)
		e.MACs = opspec.OperationMACs(g, o.Index)
		e.Output = g.Operands[g.Operations[o.Index].Outputs[0]].Dimensions
		r.Total.add(&e)
		e.rates(packetMACs(m.Config))
		r.Operations = append(r.Operations, e)
	}
	if len(r.Operations) == 0 {
		return cli.Usage(fmt.Errorf("%s does not count packets of %s", device, f.Model.Name))
	}
	r.Total.rates(packetMACs(m.Config))
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return errors.Join(r.print(a.Out), r.printThreads(a.Out))
}

func newKernelEntry(o *nnrt.OperationCost) kernelEntry {
	e := kernelEntry{Index: o.Index, Type: o.Type.String(), Cycles: o.Cycles, Phases: map[string]int64{}, Threads: map[string]int64{}}
	fields := map[string]*int64{"packets": &e.Packets, "packet_slots": &e.slots, "multiply_units": &e.units, "byte_products": &e.products}
	for _, c := range o.Counters {
		if to := fields[c.Name]; to != nil {
			*to = c.Value
		} else if phase, ok := strings.CutPrefix(c.Name, "packets_"); ok {
			e.Phases[phase] = c.Value
		}
	}
	for _, s := range o.Threads {
		e.Threads[s.Reason] = s.Cycles
	}
	return e
}

// add accumulates e.
func (t *kernelEntry) add(e *kernelEntry) {
	t.MACs += e.MACs
	t.Cycles += e.Cycles
	t.Packets += e.Packets
	t.slots += e.slots
	t.units += e.units
	t.products += e.products
	for k, n := range e.Phases {
		t.Phases[k] += n
	}
	for k, n := range e.Threads {
		t.Threads[k] += n
	}
}

// rates derives figures from the counts; peak is the multiply-accumulates of a packet.
func (t *kernelEntry) rates(peak int64) {
	ratio := func(a, b int64) float64 {
		if b == 0 {
			return 0
		}
		return float64(a) / float64(b)
	}
	t.MACsPerPacket, t.ProductsPerPacket = ratio(t.MACs, t.Packets), ratio(t.products, t.Packets)
	t.InnerLoop = ratio(t.MACs, t.Phases["products"])
	t.OfPeak, t.OfMachine = ratio(t.MACs, peak*t.Packets), ratio(t.MACs, peak*t.slots)
	t.Multipliers = ratio(t.units, 2*t.Packets)
}

// kernelPhases and threadReasons are the columns of the tables.
var (
	kernelPhases  = []string{"products", "zero point", "requantize", "other"}
	threadReasons = []string{"issue", "operand", "branch", "fetch", "l1", "l2", "dram", "scratchpad", "dma", "queue", "launch", "idle"}
)

func (r *kernelsReport) rows() []*kernelEntry {
	var rows []*kernelEntry
	for i := range r.Operations {
		rows = append(rows, &r.Operations[i])
	}
	return append(rows, &r.Total)
}

func (e *kernelEntry) label() string {
	if e.Index < 0 {
		return "\ttotal\t"
	}
	return fmt.Sprintf("%d\t%s\t%v", e.Index, e.Type, e.Output)
}

// print writes the table of packets.
func (r *kernelsReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s on %s of %s: %d cycles\n\n", r.Model, r.Device, r.SoC, r.Cycles)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "#\toperation\toutput\tMMAC\tcycles\tpackets\tMAC/packet\tinner loop\tof peak\tof machine\tmultipliers\t| packets: %s\t\n", strings.Join(kernelPhases, "\t"))
	for _, e := range r.rows() {
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%d\t%.1f\t%.1f\t%.0f %%\t%.0f %%\t%.0f %%", e.label(), float64(e.MACs)/1e6, e.Cycles, e.Packets,
			e.MACsPerPacket, e.InnerLoop, 100*e.OfPeak, 100*e.OfMachine, 100*e.Multipliers)
		for _, p := range kernelPhases {
			fmt.Fprintf(t, "\t%.0f %%", 100*float64(e.Phases[p])/float64(max(e.Packets, 1)))
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}

// printThreads writes the table of the threads' cycles by reason.
func (r *kernelsReport) printThreads(w io.Writer) error {
	fmt.Fprint(w, "\nCycles of all threads, percent by reason:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "#\toperation\toutput\t%s\t\n", strings.Join(threadReasons, "\t"))
	for _, e := range r.rows() {
		all := int64(0)
		for _, n := range e.Threads {
			all += n
		}
		fmt.Fprint(t, e.label())
		for _, reason := range threadReasons {
			fmt.Fprintf(t, "\t%.1f", 100*float64(e.Threads[reason])/float64(max(all, 1)))
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}
