package run

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// runFlags are the flags of run.
type runFlags struct {
	input.Flags
	devices    []string
	labels     string
	functional bool
	trace      measure.TraceFlags
	profile    measure.ProfileFlags
	outputDir  string
	preference string
	socs       []string
	html       string
	limits     machine.Limits
	candidates machine.CandidateFlag
	layers     bool
	all        bool
	concurrent bool
	sampled    bool
	exact      bool
	priorities []string
	pace       measure.Pace
}

// New returns the command run.
func New(a *cli.App) *cobra.Command {
	f := runFlags{Flags: input.Flags{Norm: tensor.DefaultNormalization}}
	cmd := &cobra.Command{
		Use:   "run [MODEL]...",
		Short: "run a network on each device and compare with the reference CPU",
		Long: `run executes a TensorFlow Lite network on the CPU and on every device of the SoC,
compares each output with the reference CPU and prints latency, cycles of the engine and
energy. The latency is the mean of invocations on a machine that has warmed up, back to back, as
TensorFlow Lite's benchmark_model measures it: --cold, --interval-us and --burst change
that. docs/Time.md says what a latency is made of.
With --duration it continues for simulated minutes: the phone warms up, and its rules lower
the clocks. It prints a dozen samples; --json has up to a thousand, --csv writes them.
With several --soc it runs on each and prints one table.
Without --duration --csv writes every operation of every device; --all prints them, with
sums by type. --json always has them.
Without MODEL it runs MobileNet v1 1.0 224 with deterministic synthetic weights, in its
quantized form on the devices for 8-bit integers and in its float form on others.

With --concurrent it runs several networks, each on one device, first alone, then beside
each other on one phone until each has completed the requested invocations, and prints how they
slow each other down. Networks on the same device queue for it, by --priority.
--device and --priority then have one value per network, in their order; --shape names
the network by its number: 2:NAME=1,224,224,3.`,
		Example: `  nnsoc run
  nnsoc run mobilenet.tflite --input grace_hopper.bmp --labels labels.txt
  nnsoc run model.tflite --device dsp --trace dsp.json --output tensors
  nnsoc run model.tflite --device gpu --profile gpu.pb.gz && go tool pprof -top -lines gpu.pb.gz
  nnsoc run model.tflite --device gpu --interval-us 200000 --invocations 10 --json
  nnsoc run model.tflite --device gpu --duration 10m --csv gpu.csv
  nnsoc run mobilenet_v1_0.25_128_quant --soc pixel4 --soc ethos-u65-512 --device npu
  nnsoc run model.onnx --device gpu --place 3=dsp --place SOFTMAX=cpu
  nnsoc run a.tflite b.tflite --concurrent --device dsp --device gpu`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.concurrent {
				return severalModels(args)
			}
			if len(args) > 1 {
				return cli.Usage(fmt.Errorf("%s accepts at most one MODEL, got %d arguments (several with --concurrent)", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if f.concurrent {
				return input.CompleteModels(cmd, args, prefix)
			}
			return input.CompleteModel(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return start(a, &f, cmd, args) },
	}
	fl := cmd.Flags()
	fl.Var(&machines{a, &f.socs}, "soc", "SoC preset, or the path of a SoC file (.toml); several are compared in one table")
	fl.Var(cli.NameList{Names: &f.devices, Once: false}, "device", "devices to run on: names of the SoC's devices, or auto: a plan by prediction, or aosp: divided by Android's rule (default: all)")
	fl.Var(cli.NameList{Names: &f.Inputs, Once: false}, "input", "picture, .npy or raw tensor, one per model input, or one .npz for all (default: reproducible noise)")
	f.Choice.Add(cmd)
	fl.StringVar(&f.labels, "labels", "", "text file with the name of class N on line N+1")
	fl.BoolVar(&f.Relaxed, "relaxed", false, "allow float32 operations to compute in float16")
	fl.BoolVar(&f.functional, "functional", false, "compute the tensors only: no cycles, no energy")
	f.trace.Add(fl)
	f.profile.Add(fl)
	f.pace.Add(fl)
	fl.Lookup("invocations").Usage += fmt.Sprintf(" (with --concurrent %d unless given)", measure.ConcurrentInvocations)
	f.pace.AddDuration(fl)
	fl.BoolVar(&f.concurrent, "concurrent", false, "run several networks beside each other, each on its device")
	fl.Var(cli.NameList{Names: &f.priorities, Once: false}, "priority", "with --concurrent: low, medium or high for each network (default: medium)")
	fl.StringVar(&f.outputDir, "output", "", "write the output tensors as .npy files to this folder, or to one .npz file")
	fl.StringVar(&f.html, "html", "", "write a report to look at to this file")
	cli.MarkFile(fl, "html")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.Var((*cli.Finite)(&f.Norm.Mean), "mean", "float inputs from pictures are (pixel-mean)/std")
	fl.Var((*cli.Finite)(&f.Norm.Std), "std", "see --mean")
	f.limits.Add(cmd)
	machine.AddCache(a, cmd)
	f.candidates.Add(fl)
	fl.BoolVar(&f.layers, "check-layers", false, "compare the output of every operation, name the first that leaves the rule")
	fl.BoolVar(&f.sampled, "sampled", false, "simulate some executions at the same clocks, on the GPU a part of each, for the others; prints the differences that it measures")
	fl.BoolVar(&f.exact, "exact", false, "simulate every execution that begins in another state; without it executions repeat once three were alike within 0.5 %")
	fl.BoolVar(&f.all, "all", false, "print every operation of every device, and their sums by type")
	machine.CompleteDevices(a, cmd, machine.Plans...)
	return cmd
}

// start runs one network or several, after a look at the flags that go together.
func start(a *cli.App, f *runFlags, cmd *cobra.Command, args []string) (err error) {
	defer try.Catch(&err)
	if f.concurrent {
		if len(f.socs) > 1 {
			return cli.Usage(errors.New("--concurrent runs on one SoC, --soc names several"))
		}
		try.E(cli.Exclude(cmd, "concurrent", "html", "functional", "check-layers", "profile", "profile-value", "sampled", "exact", "cold", "interval-us", "candidate", "input", "labels", "mean", "std", "output", "duration", "csv", "all"))
		if !cmd.Flags().Changed("invocations") {
			f.pace.Invocations = measure.ConcurrentInvocations
		}
		return runConcurrent(a, f, args)
	}
	if cmd.Flags().Changed("priority") {
		return cli.Usage(errors.New("--priority does nothing without --concurrent"))
	}
	if err := cli.Distinct(f.devices); err != nil {
		return cli.Usage(fmt.Errorf("--device: %w", err))
	}
	try.E(cli.Exclude(cmd, "functional", "html", "trace", "trace-format", "profile", "profile-value", "sampled", "exact", "preference", "invocations", "interval-us", "cold", "burst", "duration", "csv", "all"))
	try.E(cli.Exclude(cmd, "duration", "html", "invocations", "cold", "trace", "trace-format", "profile", "profile-value", "sampled", "exact"))
	try.E(cli.Exclude(cmd, "sampled", "exact"))
	if f.candidates.Given() && len(f.devices) != 1 {
		return cli.Usage(errors.New("--candidate names kernels of one device: give one --device"))
	}
	f.Normalized = cmd.Flags().Changed("mean") || cmd.Flags().Changed("std")
	if len(f.socs) > 1 {
		return runMachines(a, f, cmd, args)
	}
	return run(a, f, args)
}

// runMachine checks what all runs have in common and opens their machine.
func runMachine(a *cli.App, f *runFlags) (_ *machine.Machine, _ hal.Preference, err error) {
	defer try.Catch(&err)
	pref := try.V(machine.ParsePreference(f.preference))
	try.E(f.pace.Check())
	m := try.V(machine.OpenLive(a, pref))
	return m, pref, m.Limit(&f.limits)
}

func run(a *cli.App, f *runFlags, args []string) (err error) {
	defer try.Catch(&err)
	report := try.V(collect(a, f, args))
	if f.html != "" {
		page := try.V(report.page(report.data.Model))
		try.E(writeHTML(f.html, page))
	}
	if a.JSON {
		err = cli.PrintJSON(a.Out, report.object())
	} else {
		err = report.print(a.Out)
	}
	if err != nil {
		return err
	}
	return report.verdict()
}

// collect runs a network on the devices of a machine.
func collect(a *cli.App, f *runFlags, args []string) (_ *report, err error) {
	defer try.Catch(&err)
	m, _ := try.V2(runMachine(a, f))
	chosen := try.V(m.Choose(f.devices))
	labels := try.V(input.ReadLabels(f.labels))
	w := try.V(input.NewWorkload(a, args, &f.Flags))
	try.E(m.CheckLimits(w.Primary.Model))
	try.E(input.CheckLabels(f.labels, labels, w.Primary.Model))
	var to files
	defer to.discard()
	try.E(to.open(f))
	a.VLog(vlog.Model).Str("name", w.Primary.Model.Name).Int("operations", len(w.Primary.Model.Main.Operations)).
		Int64("macs", opspec.MACs(w.Primary.Model)).Int("inputs", len(w.Primary.Inputs)).Msg("read")
	a.VLogGraph(w.Primary.Model)
	p := a.Progress()
	defer p.Done()
	report := &report{machine: m, data: *session.NewReport(m.Phone, w.Primary.Model), drawn: to.drawn, all: f.all, style: a.Style()}
	for i, name := range chosen {
		p.Part(i, len(chosen))
		form := try.V(w.Form(name, m))
		p.Update("%s: reference", form.Model.Name)
		try.E(input.Reference(form))
		o := try.V(f.options(form, name))
		o.Labels, o.Progress = labels, p.Update
		to.follow(name, &o)
		r, err := runDevice(a, m, form, o)
		if err != nil && m.Lost(name, err) {
			report.data.Add(session.FailedRun(name, err)) // the others have their rows
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		try.E(to.out.Add(name, form.Model, r.Result))
		report.data.Add(r)
	}
	p.Done()
	report.data.Answer = report.data.Summary()
	return report, to.commit(report)
}

// options are the flags that concern the run on a device.
func (f *runFlags) options(form *input.Form, device string) (session.RunOptions, error) {
	candidates, err := f.candidates.For(form.Model, device)
	return session.RunOptions{
		Device: device, Pace: f.pace.Pace, Candidates: candidates, Functional: f.functional, Sampled: f.sampled, Exact: f.exact, CheckLayers: f.layers, FirstUse: true,
	}, err
}

// runDevice runs a network on a device and logs what happens.
func runDevice(a *cli.App, m *machine.Machine, form *input.Form, o session.RunOptions) (*session.Run, error) {
	name := o.Device
	falls := func(moved nnrt.Fallback, l *zerolog.Event) {
		l.Str("run", name).Int("operation", moved.Operation).Str("reason", moved.Reason).Msg("falls back to the CPU")
	}
	o.Compiled = func(c *nnrt.Compilation) {
		for i := range c.Steps() {
			s := c.Step(i)
			a.VLog(vlog.Compilation).Str("run", name).Int("part", i).Str("device", s.Device).Ints("operations", s.Operations).Msg("prepared")
		}
		for _, moved := range c.Fallbacks {
			falls(moved, a.VLog(vlog.Compilation))
		}
	}
	r, err := m.Run(form, o)
	if err != nil || r.Result == nil {
		return r, machine.CandidateError(err)
	}
	for _, d := range r.Result.Devices {
		a.VLog(vlog.Execution).Str("run", name).Str("device", d.Device).Int("executions", d.Parts).Int64("cycles", d.Cycles).
			Float64("us", cli.Microseconds(d.TimeFs)).Float64("uj", d.EnergyPJ/1e6).Msg("executed")
	}
	for _, moved := range r.Result.Fallbacks {
		falls(moved, a.VLog(vlog.Execution))
	}
	return r, nil
}

// files are the files that a run writes beside its report.
type files struct {
	out      *cli.Output
	timeline *measure.Timeline
	drawn    *htmlreport.Recorder // of the timeline, nil without --html
	profile  *measure.Profile
	samples  *samplesFile
}

func (x *files) open(f *runFlags) (err error) {
	defer try.Catch(&err)
	x.out = try.V(cli.OpenOutput(f.outputDir))
	x.timeline = try.V(f.trace.Open())
	if f.html != "" {
		x.drawn = htmlreport.NewRecorder()
		x.timeline = x.timeline.Also(x.drawn)
	}
	x.profile = try.V(f.profile.Open())
	x.samples, err = openSamples(f.pace.CSV, f.pace.Duration > 0)
	return err
}

// commit puts them in their places.
func (x *files) commit(r *report) error {
	for _, commit := range []func() error{x.out.Commit, x.timeline.Commit, x.profile.Commit, func() error { return x.samples.commit(r) }} {
		if err := commit(); err != nil {
			return err
		}
	}
	return nil
}

// discard removes those that are not in their places.
func (x *files) discard() {
	x.out.Discard()
	x.timeline.Discard()
	x.profile.Discard()
	x.samples.discard()
}

// follow makes a run write its timeline and profile.
func (x *files) follow(name string, o *session.RunOptions) {
	if t := x.timeline; t != nil {
		o.Trace = func(devices []string) nnrt.Tracer { return t.Tracer(name, devices...) }
	}
	if x.profile != nil {
		o.Profile = x.profile.Of(name)
	}
}
