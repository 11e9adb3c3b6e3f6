package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// gemmReport is the JSON object of bench gemm. Rates are per second of user
// CPU of this process, spent on executing the compiled operation.
type gemmReport struct {
	SchemaVersion int              `json:"schema_version"`
	SoC           string           `json:"soc"`
	Device        string           `json:"device"`
	Type          string           `json:"type"`
	Size          int              `json:"size"`
	Repeat        int              `json:"repeat"`
	MACs          int64            `json:"macs"`
	Cycles        int64            `json:"cycles,omitempty"` // of a timed execution, as are the latency and the figures derived from both
	Instructions  int64            `json:"instructions"`
	LatencyUS     float64          `json:"latency_us,omitempty"`
	MACsPerCycle  float64          `json:"macs_per_cycle,omitempty"`
	Mismatches    int              `json:"mismatches"`
	Host          session.HostTime `json:"host_time"`
	// Rates of the execution; absent when it was shorter than cputime.Resolution.
	MACsPerS        float64 `json:"macs_per_s,omitempty"`
	InstructionsPS  float64 `json:"instructions_per_s,omitempty"`
	LaneInstrPerSec float64 `json:"lane_instructions_per_s,omitempty"`
}

// New returns the command bench with its parts.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "measure the simulator on single operations",
		Example: "  nnsoc bench gemm --device dsp --type u8 --size 512",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchGemm(a), newBenchCliffs(a), newBenchBudget(a), newBenchCPU(a), newBenchDSP(a), newBenchGPU(a), newBenchKernels(a), newBenchDRAM(a), newBenchStreams(a), newBenchArray(a), newBenchVela(a), newBenchService(a), newBenchAnchors(a), newBenchPhones(a), newBenchEnergy(a))
	return cmd
}

// gemmFlags are the flags of bench gemm.
type gemmFlags struct {
	device, typ  string
	size, repeat int
	functional   bool
}

func newBenchGemm(a *cli.App) *cobra.Command {
	var f gemmFlags
	cmd := &cobra.Command{
		Use:   "gemm",
		Short: "multiply two square matrices on one device",
		Long: `gemm compiles a FULLY_CONNECTED of size x size x size, checks the result against the
reference CPU, then runs it --repeat times and reports simulated cycles and the speed of
the simulator: multiply-accumulates, instructions and, for the GPU, lane-instructions
(wave instructions times wave size) per second of user CPU.`,
		Example: "  nnsoc bench gemm --device dsp --type u8 --size 512 --json\n  nnsoc bench gemm --device gpu --type f32 --size 256",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return measureGemm(a, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "dsp", "device to measure")
	fl.StringVar(&f.typ, "type", "u8", "element type: u8, i8, f32 or f16")
	fl.IntVar(&f.size, "size", 512, "rows, columns and depth")
	fl.IntVar(&f.repeat, "repeat", 3, "executions to add up")
	fl.BoolVar(&f.functional, "functional", false, "skip the timing model")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd)
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions([]string{"u8", "i8", "f32", "f16"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// measureGemm measures a product on a device.
func measureGemm(a *cli.App, f *gemmFlags) (err error) {
	defer try.Catch(&err)
	if f.repeat < 1 || f.repeat > 1000 {
		return cli.Usage(fmt.Errorf("--repeat %d is not in 1..1000", f.repeat))
	}
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	if _, err := m.Registry.Find(f.device); err != nil {
		return cli.Usage(err)
	}
	model, err := bench.Gemm(f.typ, f.size)
	if err != nil {
		return cli.Usage(err)
	}
	r := gemmReport{
		SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Device: f.device, Type: f.typ, Size: f.size,
		Repeat: f.repeat, MACs: opspec.MACs(model) * int64(f.repeat),
	}
	p := a.Progress()
	defer p.Done()
	p.Update("%s: compile", f.device)
	start := cputime.User()
	c := try.V(nnrt.Compile(m.Registry, model, f.device, nnrt.CompileOptions{}))
	if len(c.Fallbacks) > 0 {
		return cli.Usage(fmt.Errorf("%s does not support FULLY_CONNECTED of type %s: %s", f.device, f.typ, c.Fallbacks[0].Reason))
	}
	r.Host.Prepare = (cputime.User() - start).Seconds()
	in := [][]byte{bench.GemmInput(model)}
	p.Update("%s: run", f.device)
	res := try.V(r.execute(c, in, f.functional))
	p.Done()
	expected := try.V(cpudriver.ReferenceTensors(model, in))
	for _, c := range nnrt.Compare(model, expected, res) {
		r.Mismatches += c.Mismatches
	}
	try.E(printGemm(a, &r))
	if r.Mismatches > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d elements differ from the reference", r.Mismatches)}
	}
	return nil
}

// execute fills in the figures of the executions and returns the last result.
func (r *gemmReport) execute(c *nnrt.Compilation, in [][]byte, functional bool) (res *nnrt.Result, err error) {
	lanes := 0.
	start := cputime.User()
	for range r.Repeat {
		if res, err = c.Execute(in, nnrt.ExecuteOptions{Functional: functional}); err != nil {
			return nil, err
		}
		r.Cycles += res.On(r.Device).Cycles
		r.Instructions += res.Instructions
		r.LatencyUS += float64(res.LatencyFs) / 1e9
		lanes += laneInstructions(res)
	}
	spent := cputime.User() - start
	r.Host.Execute = spent.Seconds()
	if s := spent.Seconds(); spent >= cputime.Resolution {
		r.MACsPerS, r.InstructionsPS, r.LaneInstrPerSec = float64(r.MACs)/s, float64(r.Instructions)/s, lanes/s
	}
	if r.Cycles > 0 {
		r.MACsPerCycle = float64(r.MACs) / float64(r.Cycles)
	}
	return res, nil
}

// laneInstructions is the count that a GPU reports, 0 elsewhere.
func laneInstructions(r *nnrt.Result) float64 {
	for i := range r.Devices {
		for _, c := range r.Devices[i].Counters {
			if c.Name == "lane_instructions" {
				return float64(c.Value)
			}
		}
	}
	return 0
}

func printGemm(a *cli.App, r *gemmReport) error {
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	fmt.Fprintf(a.Out, "%s %s GEMM %d^3 x%d", r.Device, r.Type, r.Size, r.Repeat)
	if r.Cycles > 0 {
		fmt.Fprintf(a.Out, ": %d cycles, %.1f MAC/cycle, %.1f us simulated", r.Cycles, r.MACsPerCycle, r.LatencyUS)
	}
	fmt.Fprintf(a.Out, "\nhost: %.3f s user CPU", r.Host.Execute)
	if r.MACsPerS > 0 {
		fmt.Fprintf(a.Out, ", %.3g MAC/s", r.MACsPerS)
	}
	if r.InstructionsPS > 0 {
		fmt.Fprintf(a.Out, ", %.3g instructions/s", r.InstructionsPS)
	}
	if r.LaneInstrPerSec > 0 {
		fmt.Fprintf(a.Out, ", %.3g lane-instructions/s", r.LaneInstrPerSec)
	}
	_, err := fmt.Fprintf(a.Out, "\nmismatches against the reference: %d\n", r.Mismatches)
	return err
}
