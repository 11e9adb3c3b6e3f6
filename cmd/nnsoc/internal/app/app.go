package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// machineVariable names a phone that several processes share, as --machine does.
const machineVariable = "NNSOC_MACHINE"

// libraryName is the file that programs load.
const libraryName = "libneuralnetworks.so"

// flags are the flags of app.
type flags struct {
	phone       string
	devices     []string
	report, dir string
	models      string
	check       bool
	trace       measure.TraceFlags
	traceable   int
}

// New returns the command app.
func New(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "app [flags] -- PROGRAM [ARGUMENT]...",
		Short: "start a program that uses NNAPI on the simulated phone, and report what it did",
		Long: `app starts a program that loads libneuralnetworks.so, as programs for Android do, with ours in its path, and prints
afterwards per compilation how the model was divided and why, compile time, parts that came from the cache, and of its
executions the latency (first, mean, percentiles) and energy on the phone. The program is not changed; processes that it
starts belong to it. Each process has a phone of its own (docs/Apps.md).

--check computes each execution with the reference as well and compares. --save-models writes each model that the
program compiles as a TensorFlow Lite file, which "nnsoc run" and all other commands take. With --json what the
program prints goes to stderr.

The exit code is the program's, 128 and the signal's number if a signal ended it; 1 where --check found a difference;
2 if it could not be started. "make libneuralnetworks" builds the library; it needs a C compiler.`,
		Example: "  nnsoc app -- ./classify image.rgb\n  nnsoc app --soc sd888 --device dsp --check --save-models models -- python3 demo.py\n  nnsoc app --report app.html --trace app.pftrace -- ./classify image.rgb",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.phone = cmp.Or(f.phone, os.Getenv(machineVariable)); f.phone != "" && (cmd.Flags().Changed("soc") || cmd.Flags().Changed("set")) {
				return cli.Usage(errors.New("--soc and --set do nothing with --machine: the phone is there"))
			}
			return run(a, &f, args)
		},
	}
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "drivers that the program finds besides the CPU: names of the SoC's devices (default: all)")
	fl.StringVar(&f.report, "report", "", "write a page of what the program did to this file")
	cli.MarkFile(fl, "report")
	f.trace.Add(fl)
	fl.IntVar(&f.traceable, "trace-executions", 100, "executions of each process that --trace draws with their operations; of later ones it draws the parts")
	fl.BoolVar(&f.check, "check", false, "compare each execution with the reference")
	fl.StringVar(&f.models, "save-models", "", "write each model that is compiled to this folder, as .tflite")
	fl.StringVar(&f.phone, "machine", "", "share the phone of \"nnsoc serve --machine\": its folder (default: $"+machineVariable+")")
	fl.StringVar(&f.dir, "library", "", "libneuralnetworks.so, or its folder (default: out/android beside nnsoc)")
	machine.CompleteDevices(a, cmd)
	return cmd
}

func run(a *cli.App, f *flags, args []string) (err error) {
	defer try.Catch(&err)
	if len(args) == 0 {
		return cli.Usage(errors.New("app needs a program to start: nnsoc app -- PROGRAM ARGUMENTS"))
	}
	if f.traceable < 0 {
		return cli.Usage(fmt.Errorf("--trace-executions %d, want 0 or more", f.traceable))
	}
	config := try.V(machine.LoadSoC(a))
	try.E(f.checkDevices(config))
	lib := try.V(machine.Native(f.dir, libraryName))
	program, err := exec.LookPath(args[0])
	if err != nil {
		return cli.Usage(err)
	}
	timeline := try.V(f.trace.Open())
	defer timeline.Discard()
	dir := try.V(os.MkdirTemp("", "nnsoc-app-"))
	defer os.RemoveAll(dir)
	cli.Temporaries.Add(dir)
	file := filepath.Join(dir, "log")
	cli.Temporaries.Add(file)
	c := exec.Command(program, args[1:]...)
	c.Args[0] = args[0]
	c.Env = append(os.Environ(), try.V(f.environment(a, lib, file))...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, direct(a.Out), direct(a.Err)
	if a.JSON {
		c.Stdout = c.Stderr
	}
	code := try.V(start(c))
	r := try.V(newReport(file, args[0], config.SoC.Name, code))
	try.E(r.write(a, f, timeline))
	return r.verdict()
}

// checkDevices refuses names that the SoC does not have.
func (f *flags) checkDevices(c *soc.Config) error {
	var names []string
	for _, e := range []struct {
		is    bool
		named soc.Engine
	}{{c.CPU != nil, soc.EngineCPU}, {c.GPU != nil, soc.EngineGPU}, {c.DSP != nil, soc.EngineDSP}, {c.NPU != nil, soc.EngineNPU}} {
		if e.is {
			names = append(names, e.named.String())
		}
	}
	for _, name := range f.devices {
		if !slices.Contains(names, name) {
			return cli.Usage(fmt.Errorf("no device %q; there are %s%s", name, strings.Join(names, ", "), spelling.DidYouMean(name, names)))
		}
	}
	return nil
}

// environment is what the program has besides that of this process.
func (f *flags) environment(a *cli.App, lib, file string) (env []string, err error) {
	defer try.Catch(&err)
	path := lib
	if old := os.Getenv("LD_LIBRARY_PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	if f.phone != "" {
		env = []string{machineVariable + "=" + try.V(filepath.Abs(f.phone))}
	}
	name := a.SoC
	if f.phone != "" {
		name = ""
	} else if strings.ContainsAny(name, "/.") {
		name = try.V(filepath.Abs(name)) // the program may change its folder
	}
	env = append(env,
		"LD_LIBRARY_PATH="+path, "NNSOC_SOC="+name, "NNSOC_SET="+strings.Join(a.Set, ","), "NNSOC_DEVICE="+strings.Join(f.devices, ","),
		applog.FileVariable+"="+file,
	)
	if f.check {
		env = append(env, applog.CheckVariable+"=1")
	}
	if f.trace.File != "" {
		env = append(env, applog.TracedVariable+"="+strconv.Itoa(f.traceable))
	}
	if f.models != "" {
		if err := os.MkdirAll(f.models, 0o777); err != nil {
			return nil, cli.Usage(err)
		}
		env = append(env, applog.ModelsVariable+"="+try.V(filepath.Abs(f.models)))
	}
	return env, nil
}

// direct is the file that a writer of the command line is, so that the program sees a terminal where there is one.
func direct(w io.Writer) io.Writer {
	if c, ok := w.(*cli.CheckedWriter); ok {
		return c.Writer
	}
	return w
}

// start runs a program to its end and returns its exit code. The signals that end this process end the program first: what it
// did until then is reported.
func start(c *exec.Cmd) (code int, err error) {
	if err := c.Start(); err != nil {
		return 0, cli.Usage(err)
	}
	defer cli.Children.Add(func() { _ = c.Process.Kill() })()
	defer cli.Children.Foreground(func(s os.Signal) { _ = c.Process.Signal(s) })() // it may have ended
	err = c.Wait()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return c.ProcessState.ExitCode(), nil
}
