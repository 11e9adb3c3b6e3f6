package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/importer/tensor"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

// runFlags are the flags of run.
type runFlags struct {
	devices    []string
	inputs     []string
	shapes     shapeFlag
	labels     string
	relaxed    bool
	functional bool
	trace      traceFlags
	outputDir  string
	preference string
	limits     limits
	layers     bool
	concurrent bool
	priorities []string
	pace       pace
	norm       tensor.Normalization
	normalized bool // norm is the user's
}

func newRun(a *app) *cobra.Command {
	f := runFlags{norm: tensor.DefaultNormalization}
	cmd := &cobra.Command{
		Use:   "run [MODEL]...",
		Short: "run a network on each device and compare with the reference CPU",
		Long: `run executes a TensorFlow Lite network on the CPU and on every device of the SoC,
compares each output with the reference CPU and prints latency, cycles and energy. The
latency is the mean of invocations on a machine that has warmed up, back to back, as
TensorFlow Lite's benchmark_model measures it: --cold, --interval-us and --burst change
that. docs/Time.md says what a latency is made of.
With --duration it goes on for simulated minutes: the phone warms up, and its rules lower
the clocks. It prints a dozen samples; --json has up to a thousand, --csv writes them.
Without MODEL it runs MobileNet v1 1.0 224 with deterministic synthetic weights, in its
quantized form on the devices for 8-bit integers and in its float form on the GPU.

With --concurrent it runs several networks, each on one device, first alone, then beside
each other on one phone until each has run as often as asked for, and prints what they
cost each other. Networks on the same device wait for it; --priority says who goes first.
--device and --priority then are of the networks in their order.`,
		Example: `  nnsoc run
  nnsoc run mobilenet.tflite --input grace_hopper.bmp --labels labels.txt
  nnsoc run model.tflite --device dsp --trace dsp.json --output tensors
  nnsoc run model.tflite --device gpu --interval-us 200000 --invocations 10 --json
  nnsoc run model.tflite --device gpu --duration 10m --csv gpu.csv
  nnsoc run a.tflite b.tflite --concurrent --device dsp --device gpu`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.concurrent {
				return severalModels(args)
			}
			if len(args) > 1 {
				return usage(fmt.Errorf("%s takes one MODEL, got %d arguments (several with --concurrent)", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if f.concurrent {
				return completeModels(cmd, args, prefix)
			}
			return completeModel(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.concurrent {
				if err := exclude(cmd, "concurrent", "functional", "check-layers", "cold", "interval-us", "input", "shape", "labels", "mean", "std", "output", "duration", "csv"); err != nil {
					return err
				}
				if !cmd.Flags().Changed("invocations") {
					f.pace.invocations = concurrentInvocations
				}
				return a.runConcurrent(&f, args)
			}
			if cmd.Flags().Changed("priority") {
				return usage(errors.New("--priority does nothing without --concurrent"))
			}
			if err := distinct(f.devices); err != nil {
				return usage(fmt.Errorf("--device: %w", err))
			}
			if err := exclude(cmd, "functional", "trace", "trace-format", "preference", "invocations", "interval-us", "cold", "burst", "duration", "csv"); err != nil {
				return err
			}
			if err := exclude(cmd, "duration", "invocations", "cold", "trace", "trace-format"); err != nil {
				return err
			}
			f.normalized = cmd.Flags().Changed("mean") || cmd.Flags().Changed("std")
			return a.run(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.Var(nameList{&f.devices, false}, "device", "devices to run on: names of the SoC's devices, or auto (default: all)")
	fl.Var(nameList{&f.inputs, false}, "input", "picture, .npy or raw tensor, one per model input (default: reproducible noise)")
	f.shapes.add(fl)
	fl.StringVar(&f.labels, "labels", "", "text file with the name of class N on line N+1")
	fl.BoolVar(&f.relaxed, "relaxed", false, "allow float32 operations to compute in float16")
	fl.BoolVar(&f.functional, "functional", false, "compute the tensors only: no cycles, no energy")
	f.trace.add(fl)
	f.pace.add(fl)
	f.pace.endurance.add(fl)
	fl.BoolVar(&f.concurrent, "concurrent", false, "run several networks beside each other, each on its device")
	fl.Var(nameList{&f.priorities, false}, "priority", "with --concurrent: low, medium or high for each network (default: medium)")
	fl.StringVar(&f.outputDir, "output", "", "write the output tensors as .npy files to this folder")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.Var((*finite)(&f.norm.Mean), "mean", "float inputs from pictures are (pixel-mean)/std")
	fl.Var((*finite)(&f.norm.Std), "std", "see --mean")
	f.limits.add(cmd)
	fl.BoolVar(&f.layers, "check-layers", false, "compare the output of every operation, name the first that leaves the rule")
	completeDevices(a, cmd)
	return cmd
}

var preferences = map[string]hal.Preference{
	"fast": hal.FastSingleAnswer, "sustained": hal.SustainedSpeed, "low-power": hal.LowPower,
}

// runMachine checks what all runs have in common and opens their machine.
func (a *app) runMachine(f *runFlags) (*machine, hal.Preference, error) {
	pref, ok := preferences[f.preference]
	if !ok {
		return nil, 0, usage(fmt.Errorf("unknown preference %q; there are fast, sustained, low-power", f.preference))
	}
	if err := f.pace.check(); err != nil {
		return nil, 0, err
	}
	m, err := a.live(pref)
	if err != nil {
		return nil, 0, err
	}
	return m, pref, m.limit(&f.limits)
}

func (a *app) run(f *runFlags, args []string) error {
	m, pref, err := a.runMachine(f)
	if err != nil {
		return err
	}
	devices, err := m.choose(f.devices)
	if err != nil {
		return err
	}
	labels, err := readLabels(f.labels)
	if err != nil {
		return err
	}
	w, err := newWorkload(args, f)
	if err != nil {
		return err
	}
	if err := checkLabels(f.labels, labels, w.primary.model); err != nil {
		return err
	}
	out, err := openOutput(f.outputDir)
	if err != nil {
		return err
	}
	timeline, err := f.trace.open()
	if err != nil {
		return err
	}
	defer timeline.discard()
	samples, err := openSamples(f.pace.csv)
	if err != nil {
		return err
	}
	defer samples.discard()

	a.vlog(vlog.Model).Str("name", w.primary.model.Name).Int("operations", len(w.primary.model.Main.Operations)).
		Int64("macs", nnrt.MACs(w.primary.model)).Int("inputs", len(w.primary.inputs)).Msg("read")
	a.vlogGraph(w.primary.model)
	p := a.progress()
	defer p.done()
	report := newReport(m, w.primary)
	for _, name := range devices {
		form, err := w.form(name, m)
		if err != nil {
			return err
		}
		p.say("%s: reference", form.model.Name)
		if err := form.reference(m); err != nil {
			return err
		}
		r, err := a.runDevice(m, form, name, pref, f, timeline, p)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.layers && r.result != nil {
			if r.layers, err = a.checkLayers(m, form, name, pref, p); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := out.add(name, form.model, r.result); err != nil {
			return err
		}
		report.add(r, form, labels)
	}
	p.done()
	if err := out.commit(); err != nil {
		return err
	}
	if err := timeline.commit(); err != nil {
		return err
	}
	if err := samples.commit(report); err != nil {
		return err
	}
	if a.json {
		err = printJSON(a.out, report.object())
	} else {
		err = report.print(a.out)
	}
	if err != nil {
		return err
	}
	return report.verdict()
}

// deviceRun is one finished run.
type deviceRun struct {
	device      string
	compilation *nnrt.Compilation
	result      *nnrt.Result // nil when the device runs none of the model
	prepareUser time.Duration
	executeUser time.Duration // of one execution that was simulated
	layers      *layerCheck   // with --check-layers
	invocations *invocations  // nil: a functional run
}

func (a *app) runDevice(m *machine, form *form, name string, pref hal.Preference, f *runFlags, t *timeline, p *progress) (*deviceRun, error) {
	p.say("%s: compile", name)
	start := userTime()
	o := nnrt.CompileOptions{Preference: nnrt.Prefer(pref)}
	var c *nnrt.Compilation
	var err error
	if name == nnrt.Auto {
		c, err = a.planner(m, o, f.pace, p).compile(form)
	} else {
		c, err = nnrt.Compile(m.registry, form.model, name, o)
	}
	if err != nil {
		return nil, err
	}
	r := &deviceRun{device: name, compilation: c, prepareUser: userTime() - start}
	cpu := m.registry.CPU().Name()
	if name != cpu && name != nnrt.Auto && c.Accelerated(cpu) == 0 {
		return r, nil
	}
	p.say("%s: run", name)
	x := nnrt.ExecuteOptions{Functional: f.functional}
	for i := range c.Steps() {
		s := c.Step(i)
		a.vlog(vlog.Compilation).Str("run", name).Int("part", i).Str("device", s.Device).Ints("operations", s.Operations).Msg("prepared")
	}
	for _, moved := range c.Fallbacks {
		a.vlog(vlog.Compilation).Str("run", name).Int("operation", moved.Operation).Str("reason", moved.Reason).Msg("falls back to the CPU")
	}
	if t != nil {
		x.Trace = t.tracer(name)
	}
	pace := f.pace
	pace.say = func(share float64) { p.say("%s: %.0f %% of %v", name, 100*share, pace.duration) }
	start = userTime()
	before := m.live.Simulated()
	r.result, r.invocations, err = pace.invoke(m, c, form.inputs, x)
	r.executeUser = userTime() - start
	if err == nil {
		parts := 0
		for _, d := range r.result.Devices {
			parts += d.Parts
		}
		if n := m.live.Simulated() - before; n > parts {
			r.executeUser = r.executeUser * time.Duration(parts) / time.Duration(n)
		}
		for _, d := range r.result.Devices {
			a.vlog(vlog.Execution).Str("run", name).Str("device", d.Device).Int("executions", d.Parts).Int64("cycles", d.Cycles).
				Float64("us", microseconds(d.TimeFs)).Float64("uj", d.EnergyPJ/1e6).Msg("executed")
		}
		for _, moved := range r.result.Fallbacks {
			a.vlog(vlog.Execution).Str("run", name).Int("operation", moved.Operation).Str("reason", moved.Reason).Msg("falls back to the CPU")
		}
	}
	return r, err
}

// outputsOf lists the operands that a model's outputs are.
func outputsOf(m *nn.Model) []*nn.Operand {
	var l []*nn.Operand
	for _, x := range m.Main.Outputs {
		l = append(l, &m.Main.Operands[x])
	}
	return l
}
