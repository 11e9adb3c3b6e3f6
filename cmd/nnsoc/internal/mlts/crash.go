package mlts

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/mlts/crash"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// crashFlags are the flags of mlts crash.
type crashFlags struct {
	devices, models          []string
	filter, via              string
	reference, referenceOnly bool
	scale                    float64
	seed                     uint64
}

func newCrash(a *cli.App) *cobra.Command {
	var f crashFlags
	cmd := &cobra.Command{
		Use:   "crash [MODE]...",
		Short: "put drivers under stress: the crash tests of the ML Test Suite",
		Long: `crash runs the crash tests of the ML Test Suite on each accelerator, every test in a
process of its own, with a small inference before and after it that must end in time.
A test ends with SUCCESS, with FAILURE (an assertion: an error of a call, a wrong result,
a leak), with CRASH (its process died) or with HANG (nothing heard within its duration and
30 s). Clients that are killed on purpose are no failure. Durations are those of Android;
--scale shortens them. The modes are

` + modeList() + `
Modes of several processes go through the driver's service, and with --via service all do.`,
		Example:           "  nnsoc mlts crash --scale 0.001\n  nnsoc mlts crash inference-stress parallel-inference-stress -f 'npu|dsp' --scale 0.05\n  nnsoc mlts crash --device faulty:hang-after=20 --scale 0.001",
		Args:              func(_ *cobra.Command, args []string) error { return cli.Usage(cli.Distinct(args)) },
		ValidArgsFunction: cobra.FixedCompletions(crash.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return runCrash(a, &f, args) },
	}
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "accelerators to test, sample and faulty drivers too (default: those of the SoC)")
	fl.Var(cli.NameList{Names: &f.models, Once: true}, "models", "networks under stress (default: small MobileNets that the device supports whole)")
	fl.StringVarP(&f.filter, "filter", "f", "", "test the devices whose name matches this regular expression")
	fl.BoolVarP(&f.reference, "reference", "r", false, "test the reference CPU as well")
	fl.BoolVar(&f.referenceOnly, "nnapi-reference-only", false, "test the reference CPU only")
	fl.StringVar(&f.via, "via", "device", "how drivers are reached: device (in the test's process) or service (in another one)")
	fl.Float64Var(&f.scale, "scale", 1, "multiply durations and numbers of random models")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of random models and of the choice of killed clients")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// modeList is a line for each mode.
func modeList() string {
	var b strings.Builder
	for _, m := range crash.Modes() {
		fmt.Fprintf(&b, "  %-36s %s\n", m.Name, m.About)
	}
	return b.String()
}

// crashReport is the JSON object of mlts crash.
type crashReport struct {
	SchemaVersion int             `json:"schema_version"`
	SoC           string          `json:"soc"`
	Scale         float64         `json:"scale"`
	Seed          uint64          `json:"seed"`
	Via           string          `json:"via"`
	Tests         []crash.Verdict `json:"tests"`
}

func runCrash(a *cli.App, f *crashFlags, modes []string) (err error) {
	defer try.Catch(&err)
	if f.via != "device" && f.via != "service" {
		return cli.Usage(fmt.Errorf("--via %s, want device or service", f.via))
	}
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	names := try.V(f.chosen(m))
	sockets := try.V(socketsOf(a))
	program := try.V(exec.LookPath(os.Args[0]))
	progress := a.Progress()
	defer progress.Done()
	c := &crash.Coordinator{
		Modes: modes, Devices: names, Service: f.via == "service", Models: f.models, Scale: f.scale, Seed: f.seed, Progress: progress.Update,
		Socket:  func(device string) string { return sockets[device] },
		Command: workerCommand(a, program),
	}
	list, err := c.Run()
	if err != nil {
		return cli.Usage(err)
	}
	progress.Done()
	r := &crashReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Scale: f.scale, Seed: f.seed, Via: f.via, Tests: list}
	if a.JSON {
		err = cli.PrintJSON(a.Out, r)
	} else {
		err = r.text(a.Out)
	}
	if err != nil {
		return err
	}
	return r.verdict()
}

// chosen are the devices under test.
func (f *crashFlags) chosen(m *machine.Machine) ([]string, error) {
	cpu := m.Registry.CPU().Name()
	var names []string
	switch {
	case f.referenceOnly && (f.reference || len(f.devices) > 0):
		return nil, cli.Usage(fmt.Errorf("--nnapi-reference-only stands alone"))
	case f.referenceOnly:
		names = []string{cpu}
	case len(f.devices) > 0:
		var err error
		if names, err = m.Choose(f.devices); err != nil {
			return nil, err
		}
	default:
		for _, d := range m.Registry.Devices()[1:] {
			names = append(names, d.Name())
		}
	}
	if f.reference {
		names = append([]string{cpu}, names...)
	}
	if i := slices.IndexFunc(names, session.Divides); i >= 0 {
		return nil, cli.Usage(fmt.Errorf("--device %s is no driver", names[i]))
	}
	if f.filter != "" {
		var err error
		if names, err = crash.Filter(names, f.filter); err != nil {
			return nil, cli.Usage(err)
		}
	}
	return names, nil
}

// socketsOf are the sockets of --driver and --drivers by the device that they serve.
func socketsOf(a *cli.App) (map[string]string, error) {
	if a.DriverFolder != "" {
		return nil, cli.Usage(fmt.Errorf("mlts crash needs each driver by itself: --driver SOCKET"))
	}
	sockets := map[string]string{}
	for _, value := range a.Drivers {
		path := machine.Socket(value)
		d, err := service.DialWithin(path, a.DriverTimeout)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--driver %s: %w", path, err))
		}
		sockets[d.Name()] = path
		_ = d.Close()
	}
	return sockets, nil
}

// verdict is the exit code: 1 unless all tests succeeded.
func (r *crashReport) verdict() error {
	bad := 0
	for i := range r.Tests {
		if r.Tests[i].Outcome != crash.Success {
			bad++
		}
	}
	if bad > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d crash tests did not succeed", bad, len(r.Tests))}
	}
	return nil
}

func (r *crashReport) text(out io.Writer) error {
	fmt.Fprintf(out, "crash tests of the ML Test Suite on %s, durations x %g, seed %d, via %s\n\n", r.SoC, r.Scale, r.Seed, r.Via)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\tmode\ts\tcompiled\tinferred\tkilled\toutcome")
	for i := range r.Tests {
		v := &r.Tests[i]
		text := v.Text
		if text != "" {
			text = ": " + text
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%d\t%d\t%d\t%s%s\n", v.Device, v.Mode, v.HostSec, v.Counts.Compilations, v.Counts.Inferences, v.Counts.Killed, v.Outcome, text)
	}
	return t.Flush()
}

// workerCommand makes processes of the crash tests, of this one's SoC, which wait for drivers as
// long as this one does.
func workerCommand(a *cli.App, program string) func() *exec.Cmd {
	args := []string{"mlts", "crash-worker", "--soc", a.SoC, "--driver-timeout", a.DriverTimeout.String()}
	for _, s := range a.Set {
		args = append(args, "--set", s)
	}
	return func() *exec.Cmd { return exec.Command(program, args...) }
}

// newCrashWorker is the process of a crash test, a client or a driver.
func newCrashWorker(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "crash-worker",
		Short:   "be a process of a crash test: reads a request from standard input",
		Example: "  nnsoc mlts crash inference-stress --scale 0.001",
		Hidden:  true,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := crash.ReadRequest(cmd.InOrStdin())
			if err != nil {
				return cli.Usage(err)
			}
			p := &crash.Program{
				Open: func(device string) (d, cpu hal.Device, err error) {
					m, err := machine.Open(a, hal.FastSingleAnswer)
					if err != nil {
						return nil, nil, err
					}
					if device == "" {
						return nil, m.Registry.CPU(), nil
					}
					d, err = m.Find(device)
					return d, m.Registry.CPU(), err
				},
				Dial: func(socket string) (hal.Device, error) {
					d, err := service.DialWithin(socket, a.DriverTimeout)
					if err != nil {
						return nil, err
					}
					return nnrt.WithTimeout(d, a.DriverTimeout), nil
				},
				Command: workerCommand(a, os.Args[0]),
				In:      cmd.InOrStdin(), Out: a.Out,
			}
			return p.Work(q)
		},
	}
}
