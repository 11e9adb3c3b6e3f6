package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

type npuExecFlags struct {
	inputs      []string
	outputDir   string
	trace       measure.TraceFlags
	profile     measure.ProfileFlags
	functional  bool
	timingOnly  bool
	csv         string
	singleRound bool
	operations  bool
	estimator   string
	limit       int64
	norm        tensor.Normalization
	normalized  bool // norm is the user's
}

func newNPUExec(a *cli.App) *cobra.Command {
	f := npuExecFlags{norm: tensor.DefaultNormalization}
	cmd := &cobra.Command{
		Use:   "exec NET_vela.tflite",
		Short: "run a network that Vela compiled and report its cycles",
		Long: `exec runs a TensorFlow Lite file that Arm's Vela compiled: its ethos-u operators on the
NPU core, the operators that Vela left to the CPU on the reference CPU. It prints cycles,
what they went to, the beats of each AXI port and a digest of every output.

The NPU and its memories are those of the SoC named like the accelerator that the file
was compiled for (ethos-u55-32 to ethos-u65-512: Vela's systems Ethos_U55_High_End_Embedded
and Ethos_U65_High_End); --soc chooses another SoC, whose NPU must be of that
configuration. Cycles are of the NPU's clock; active cycles leave out the launch, as the
counter NPU_ACTIVE does. A beat is 8 bytes on U55, 16 on U65; AXI0 is the SRAM, AXI1 flash
or external memory.

With --estimator vela nothing is timed: cycles are those that Vela's own performance model
estimates for each operation, as in the column NPU of its per-layer table where it has not cut
the operation into slices.

Of each operation the report has cycles, energy, bytes of each memory, utilization of the
multipliers, what of the array pads, and what it is bound by: compute, weight decode, output unit,
scratchpad, DRAM, DMA, dependency (a kernel in front), fill and drain, commands, or launch, the class
of most of its cycles. In JSON, "bound_by" is the largest of the row's "stall_cycles". The rows
add up to the run, their cycles to those of the NPU.

With --timing-only kernels compute nothing: the same cycles, sooner, and no outputs. --csv writes
the operations in the columns of Vela's per-layer table. In JSON, "pmu" has the names of Arm's
events of the performance monitor.

Without --input the inputs are reproducible noise.`,
		Example: "  nnsoc npu exec net_vela.tflite\n  nnsoc npu exec net_vela.tflite --input picture.png --operations\n  nnsoc npu exec net_vela.tflite --input in0.npy,in1.npy --output tensors --json\n  nnsoc npu exec net_vela.tflite --estimator vela --operations",
		Args:    cli.ExactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.normalized = cmd.Flags().Changed("mean") || cmd.Flags().Changed("std")
			return npuExec(a, args[0], &f, cmd.Flags().Changed("soc"))
		},

		ValidArgsFunction: cli.CompleteFiles("tflite"),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.inputs, "input", nil, "picture, .npy or raw tensor, one per input, or one .npz for all (default: reproducible noise)")
	fl.StringVar(&f.outputDir, "output", "", "write the output tensors as .npy files to this folder")
	f.trace.Add(fl)
	f.profile.Add(fl)
	fl.BoolVar(&f.functional, "functional", false, "compute the tensors only: no cycles, no energy")
	fl.BoolVar(&f.timingOnly, "timing-only", false, "count cycles only: no arithmetic on the NPU, no outputs")
	fl.StringVar(&f.csv, "csv", "", "write the operations to this file, in the columns of Vela's per-layer table")
	cli.MarkFile(fl, "csv")
	fl.BoolVar(&f.singleRound, "single-rounding", false, "convolutions round once, as TensorFlow Lite's int8 kernels; the hardware rounds twice")
	fl.BoolVar(&f.operations, "operations", false, "list the operations with their cycles")
	fl.StringVar(&f.estimator, "estimator", "", "estimate cycles instead of simulating them: vela")
	fl.Int64Var(&f.limit, "limit", npu.DefaultMaxWork, "end an operator that needs more multiply-accumulates and elements")
	fl.Var((*cli.Finite)(&f.norm.Mean), "mean", "float inputs from pictures are (pixel-mean)/std")
	fl.Var((*cli.Finite)(&f.norm.Std), "std", "see --mean")
	return cmd
}

func npuExec(a *cli.App, path string, f *npuExecFlags, socGiven bool) error {
	switch {
	case f.functional && f.trace.File != "":
		return cli.Usage(fmt.Errorf("--trace needs times, --functional has none"))
	case f.functional && f.profile.File != "":
		return cli.Usage(fmt.Errorf("--profile needs times, --functional has none"))
	}
	switch {
	case f.estimator != "" && f.estimator != "vela":
		return cli.Usage(fmt.Errorf("--estimator %q: there is vela", f.estimator))
	case f.timingOnly && (f.functional || f.estimator != "" || f.outputDir != "" || len(f.inputs) > 0):
		return cli.Usage(fmt.Errorf("--timing-only computes no tensors, --functional, --estimator, --input and --output go without it"))
	case f.csv != "" && f.functional:
		return cli.Usage(fmt.Errorf("--csv needs times, --functional has none"))
	case f.estimator != "" && (f.functional || f.trace.File+f.profile.File != ""):
		return cli.Usage(fmt.Errorf("--estimator gives cycles without a simulation, --functional, --trace and --profile go without it"))
	}
	if f.limit < 1 {
		return cli.Usage(fmt.Errorf("--limit %d: want a number above 0", f.limit))
	}
	return input.UseModelFile(path, func(data []byte) error { return npuExecFile(a, path, data, f, socGiven) })
}

func npuExecFile(a *cli.App, path string, data []byte, f *npuExecFlags, socGiven bool) (err error) {
	defer try.Catch(&err)
	net, err := vela.Read(data)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	place, err := openNPU(a, path, net, socGiven)
	if err != nil {
		return cli.Usage(err)
	}
	inputs, err := readInputs(inference.Operands(net, net.Inputs), f)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	out := try.V(cli.OpenOutput(f.outputDir))
	defer out.Discard()
	timeline := try.V(f.trace.Open())
	defer timeline.Discard()
	profile := try.V(f.profile.Open())
	defer profile.Discard()
	res, err := place.session.Run(inputs, f.options(timeline, profile))
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	if f.estimator != "" {
		res.EstimateVela()
	}
	operands := inference.Operands(net, net.Outputs)
	if !f.timingOnly {
		try.E(out.AddTensors("npu", operands, res.Outputs))
	}
	try.E(out.Commit())
	try.E(timeline.Commit())
	try.E(profile.Commit())
	r := newNPUReport(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), place.config, place.machine, net, res)
	r.Accelerator = place.accelerator.String()
	r.Functional, r.TimingOnly, r.Estimator = f.functional, f.timingOnly, f.estimator
	if !f.timingOnly {
		r.outputs(operands, res.Outputs)
	}
	if f.csv != "" {
		table := try.V(perLayer(net, res, &place.machine.Spec))
		try.E(cli.WriteFile(f.csv, table))
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.print(a.Out, f.operations)
}

// npuPlace is where a compiled network runs.
type npuPlace struct {
	accelerator ethosu.Config
	config      *soc.Config
	machine     *inference.Machine
	session     *inference.Session
}

// openNPU opens the chosen SoC for a network, or the accelerator that it is compiled for. Errors name path.
func openNPU(a *cli.App, path string, net *vela.Network, socGiven bool) (p npuPlace, err error) {
	if p.accelerator, err = inference.Accelerator(net); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	name := a.SoC
	if !socGiven {
		name = p.accelerator.String()
	}
	if p.config, err = machine.LoadNamed(a, name); err != nil {
		return p, fmt.Errorf("%s: compiled for %v: %w", path, p.accelerator, err)
	}
	if p.machine, err = inference.NewMachine(p.config, hal.FastSingleAnswer); err != nil {
		return p, err
	}
	p.session, err = inference.New(net, p.machine)
	switch {
	case err != nil && socGiven:
		err = fmt.Errorf("%s: compiled for %v, --soc %s cannot run it: %w", path, p.accelerator, a.SoC, err)
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	}
	return p, err
}

// options returns the options of the run, which fills a timeline and a profile if present.
func (f *npuExecFlags) options(timeline *measure.Timeline, profile *measure.Profile) inference.Options {
	o := inference.Options{Functional: f.functional || f.estimator != "", TimingOnly: f.timingOnly, ConvSingle: f.singleRound, MaxWork: f.limit}
	if timeline != nil {
		o.Span = func(device string, s hal.Span) {
			name := s.Name
			if s.Operation >= 0 {
				name = fmt.Sprintf("%d %s", s.Operation, s.Name)
			}
			timeline.Writer.Span(device, s.Track, name, s.StartFs, s.EndFs)
		}
	}
	if profile != nil {
		o.Profile = func(list *sim.Profile, hz int64, operation func(region int) string) {
			profile.Core("npu", list, hz, operation, "", nil)
		}
	}
	return o
}

// readInputs reads a tensor for each operand, or makes noise where there are
// no files, and zeros where nothing is computed.
func readInputs(operands []*nn.Operand, f *npuExecFlags) ([][]byte, error) {
	if f.normalized {
		if err := input.CheckNormalization(operands, f.inputs, f.norm); err != nil {
			return nil, err
		}
	}
	if len(f.inputs) > 0 {
		return tensor.ReadAll(f.inputs, operands, f.norm)
	}
	var inputs [][]byte
	for i, o := range operands {
		if f.timingOnly {
			inputs = append(inputs, make([]byte, o.Bytes()))
			continue
		}
		inputs = append(inputs, tensor.Synthetic(o, 0x9E3779B9^uint32(i)))
	}
	return inputs, nil
}

// npuReport is the JSON object of npu exec.
type npuReport struct {
	SchemaVersion int               `json:"schema_version"`
	Network       string            `json:"model"`
	Accelerator   string            `json:"accelerator"`
	SoC           string            `json:"soc"`
	Steps         string            `json:"operator_sequence"`
	Functional    bool              `json:"functional,omitempty"`
	TimingOnly    bool              `json:"timing_only,omitempty"`
	Estimator     string            `json:"estimator,omitempty"` // of the cycles; without, they are simulated
	Cycles        int64             `json:"cycles"`
	ActiveCycles  int64             `json:"active_cycles"`
	ClockMHz      float64           `json:"clock_mhz"`
	TimeUs        float64           `json:"time_us"`
	NPUUs         float64           `json:"npu_us"`
	CPUUs         float64           `json:"cpu_us"`
	EnergyUJ      float64           `json:"energy_uj"`
	Stalls        map[string]int64  `json:"stall_cycles"`
	AXI           []axiPort         `json:"axi"`
	Counters      map[string]int64  `json:"counters"`
	PMU           map[string]int64  `json:"pmu,omitempty"` // events of Arm's performance monitor
	Operations    []npuOperation    `json:"operations"`
	Outputs       []npuOutputTensor `json:"outputs"`

	stalls sim.StallTable
}

// axiPort is the traffic of a port in beats of so many bytes.
type axiPort struct {
	Port       int    `json:"port"`
	Memory     string `json:"memory_area"`
	BeatBytes  int    `json:"beat_bytes"`
	ReadBeats  int64  `json:"read_beats"`
	WriteBeats int64  `json:"write_beats"`
}

// npuOperation is a command that starts work, or an operator of the CPU. Shapes
// are height, width, depth.
type npuOperation struct {
	Index  int     `json:"index"`
	Step   int     `json:"step"`
	Device string  `json:"device"`
	Name   string  `json:"name"`
	Offset *int    `json:"offset,omitempty"` // from the start of the commands
	IFM    *[3]int `json:"ifm,omitempty"`
	IFM2   *[3]int `json:"ifm2,omitempty"`
	OFM    *[3]int `json:"ofm,omitempty"`
	Kernel *[2]int `json:"filter_shape,omitempty"`
	Stride *[2]int `json:"strides,omitempty"`
	Block  *[3]int `json:"block,omitempty"`
	MACs   int64   `json:"macs,omitempty"`
	// Of the multipliers: the share of the operation's cycles spent on its multiply-accumulates, and the share of the
	// array's spent on padding of micro-blocks, channels and taps.
	Utilization  float64          `json:"utilization,omitempty"`
	PaddingWaste float64          `json:"padding_share,omitempty"`
	Traffic      []portTraffic    `json:"traffic,omitempty"`
	Bytes        int              `json:"bytes,omitempty"` // of a copy
	Cycles       int64            `json:"cycles"`
	TimeUs       float64          `json:"time_us"`
	EnergyUJ     float64          `json:"energy_uj"`
	BoundBy      string           `json:"bound_by,omitempty"`
	Stalls       map[string]int64 `json:"stall_cycles,omitempty"`
	bound        string           // the class of most cycles, of the text
}

// portTraffic is the bytes of an operation through a port.
type portTraffic struct {
	Port         int    `json:"port"`
	Memory       string `json:"memory_area"`
	ReadBytes    int64  `json:"read_bytes"`
	WrittenBytes int64  `json:"write_bytes"`
}

type npuOutputTensor struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Shape  []uint32 `json:"shape"`
	Bytes  int      `json:"bytes"`
	SHA256 string   `json:"sha256"`
}

func newNPUReport(name string, c *soc.Config, m *inference.Machine, n *vela.Network, res *inference.Result) *npuReport {
	r := &npuReport{
		SchemaVersion: cli.SchemaVersion, Network: name, SoC: c.SoC.Name, Steps: n.String(), Cycles: res.Cycles, ActiveCycles: res.ActiveCycles, ClockMHz: float64(res.Hz) / 1e6,
		TimeUs: cli.Microseconds(res.TimeFs), NPUUs: cli.Microseconds(res.NPUTimeFs), CPUUs: cli.Microseconds(res.CPUTimeFs), EnergyUJ: res.EnergyPJ / 1e6,
		Stalls: stallCycles(&res.Stalls), Counters: map[string]int64{}, stalls: res.Stalls,
	}
	for i, p := range res.Ports {
		r.AXI = append(r.AXI, axiPort{Port: i, Memory: p.Memory, BeatBytes: m.Spec.BeatBytes(), ReadBeats: p.ReadBeats, WriteBeats: p.WriteBeats})
	}
	for _, c := range res.Counters {
		r.Counters[c.Name] = c.Value
	}
	r.PMU = pmu(res)
	for i := range res.Operations {
		r.Operations = append(r.Operations, newNPUOperation(i, &res.Operations[i], &m.Spec))
	}
	return r
}

func newNPUOperation(index int, x *inference.Operation, s *npu.Spec) npuOperation {
	o := npuOperation{Index: index, Step: x.Step, Device: "npu", Name: x.NPU.Name, MACs: x.NPU.MACs, Bytes: x.NPU.Bytes,
		Cycles: x.Cycles, TimeUs: cli.Microseconds(x.TimeFs), EnergyUJ: x.EnergyPJ / 1e6}
	if x.CPU {
		o.Device, o.Name = "cpu", x.Type.String()
		return o
	}
	offset := 4 * x.NPU.Word
	o.Offset = &offset
	o.Stalls = stallCycles(&x.Stalls)
	if len(o.Stalls) > 0 {
		o.BoundBy, o.bound = x.Stalls.Largest().String(), npu.BoundBy(&x.Stalls).String()
	}
	if x.NPU.OFM != [3]int{} {
		o.IFM, o.OFM, o.Kernel, o.Stride, o.Block = &x.NPU.IFM, &x.NPU.OFM, &x.NPU.Kernel, &x.NPU.Stride, &x.NPU.Block
	}
	if len(x.Work.Ports) > 0 {
		o.Utilization, o.PaddingWaste = x.Utilization(s), x.PaddingWaste(s)
		for i, p := range x.Work.Ports {
			if p != (inference.Traffic{}) {
				o.Traffic = append(o.Traffic, portTraffic{i, s.Memories[i].Name, p.Read, p.Written})
			}
		}
	}
	if x.NPU.IFM2 != [3]int{} {
		o.IFM2 = &x.NPU.IFM2
	}
	return o
}

// stallCycles lists the reasons with cycles.
func stallCycles(t *sim.StallTable) map[string]int64 {
	m := map[string]int64{}
	for reason, n := range t {
		if n != 0 {
			m[sim.Reason(reason).String()] = n
		}
	}
	return m
}

func (r *npuReport) outputs(operands []*nn.Operand, data [][]byte) {
	for i, o := range operands {
		sum := sha256.Sum256(data[i])
		r.Outputs = append(r.Outputs, npuOutputTensor{o.Name, o.Type.String(), o.Dimensions, len(data[i]), hex.EncodeToString(sum[:])})
	}
}

func (r *npuReport) print(w io.Writer, operations bool) error {
	fmt.Fprintf(w, "%s: compiled for %s (%s), on %s\n", r.Network, r.Accelerator, r.Steps, r.SoC)
	switch {
	case r.Estimator != "":
		fmt.Fprintf(w, "  NPU %d cycles as Vela estimates them (%.1f us)\n", r.Cycles, r.NPUUs)
	case !r.Functional:
		r.printTimes(w)
	}
	if operations {
		if err := r.printOperations(w); err != nil {
			return err
		}
	}
	for i := range r.Outputs {
		o := &r.Outputs[i]
		fmt.Fprintf(w, "  output %d  %s %s%v  sha256 %s\n", i, o.Name, o.Type, o.Shape, o.SHA256)
	}
	return nil
}

func (r *npuReport) printTimes(w io.Writer) {
	fmt.Fprintf(w, "  NPU %d cycles (%d active, %.1f us)", r.Cycles, r.ActiveCycles, r.NPUUs)
	if r.CPUUs > 0 {
		fmt.Fprintf(w, ", CPU %.1f us, %.1f us in all", r.CPUUs, r.TimeUs)
	}
	fmt.Fprintf(w, ", %.2f uJ\n  cycles bound by\n", r.EnergyUJ)
	for bound, n := range npu.Bounds(&r.stalls) {
		if n != 0 {
			fmt.Fprintf(w, "    %-14s %12d  %5.1f %%\n", npu.Bound(bound), n, 100*float64(n)/float64(max(r.Cycles, 1)))
		}
	}
	for _, p := range r.AXI {
		fmt.Fprintf(w, "  AXI%d (%s)  %d beats read, %d written, of %d bytes\n", p.Port, p.Memory, p.ReadBeats, p.WriteBeats, p.BeatBytes)
	}
}

// printOperations prints a row for each operation, one for the rest, and the sum, which is the run's: the cycles of the
// NPU, time and energy of all.
func (r *npuReport) printOperations(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "#\tdevice\toperation\toutput\tkernel\tMACs\tcycles\tus\tuJ\tutilization\tpadding\t"
	for _, p := range r.AXI {
		head += p.Memory + " bytes\t"
	}
	fmt.Fprintln(t, head+"bound by\t")
	var rest, all npuOperation
	rest.Cycles, rest.TimeUs, rest.EnergyUJ = r.Cycles, r.TimeUs, r.EnergyUJ
	traffic := make([]int64, len(r.AXI))
	row := func(index string, o *npuOperation, bytes []int64) {
		shape, kernel := "-", "-"
		switch {
		case o.OFM != nil:
			shape = fmt.Sprintf("%dx%dx%d", o.OFM[0], o.OFM[1], o.OFM[2])
			kernel = fmt.Sprintf("%dx%d", o.Kernel[0], o.Kernel[1])
		case o.Bytes > 0:
			shape = fmt.Sprintf("%d bytes", o.Bytes)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%.2f\t%.3f\t%.1f %%\t%.1f %%\t", index, o.Device, o.Name, shape, kernel, o.MACs, o.Cycles, o.TimeUs, o.EnergyUJ,
			100*o.Utilization, 100*o.PaddingWaste)
		for _, n := range bytes {
			fmt.Fprintf(t, "%d\t", n)
		}
		fmt.Fprintf(t, "%s\t\n", o.bound)
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		bytes := make([]int64, len(r.AXI))
		for _, p := range o.Traffic {
			bytes[p.Port] += p.ReadBytes + p.WrittenBytes
			traffic[p.Port] += p.ReadBytes + p.WrittenBytes
		}
		row(fmt.Sprint(o.Index), o, bytes)
		all.MACs += o.MACs
		rest.TimeUs, rest.EnergyUJ = rest.TimeUs-o.TimeUs, rest.EnergyUJ-o.EnergyUJ
		if o.Device == "npu" {
			rest.Cycles -= o.Cycles
		}
	}
	none := make([]int64, len(r.AXI))
	rest.Device, rest.Name, rest.bound = "-", "launch", npu.Launch.String()
	if rest.Cycles > 0 && r.Estimator == "" {
		row("", &rest, none)
	}
	all.Device, all.Name, all.Cycles, all.TimeUs, all.EnergyUJ = "-", "all", r.Cycles, r.TimeUs, r.EnergyUJ
	row("", &all, traffic)
	return t.Flush()
}
