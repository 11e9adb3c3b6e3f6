package serving

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

// New returns the command serve.
func New(a *cli.App) *cobra.Command {
	var device, socket, phone, unsupported, dump string
	var front options
	retire := -1
	var q service.Quotas
	var megabytes int64
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run a device's driver as a separate process",
		Long: `serve runs the driver of one device of the SoC for other processes, as Android's HAL
services do: control calls over gRPC on a Unix socket, models, tensors and bursts in
shared memory. It runs until it is interrupted, then removes the socket. Clients are
"nnsoc run --driver PATH" and Go programs with package hal/service. The objects of a client
are freed when it ends, however it ends; quotas bound them.

--machine serves a whole phone to apps: a folder with a socket per device. Programs whose NNSOC_MACHINE names it
("nnsoc app --machine", docs/Apps.md) share its engines, clocks, heat, memory and queues.

For tests of clients and planners it can modify the driver: --name gives the device another
name, --force-unsupported refuses operations by their number in the model of a query, --retire
runs one request at a time by priority, and --dump writes every request's tensors as .npy and every
model's graph, before and after the driver's passes, as .dot and .json.`,
		Example: "  nnsoc serve --device dsp --socket dsp.sock &\n  nnsoc run --driver dsp.sock --device dsp\n  nnsoc serve --device dsp --name acme --force-unsupported 3,7-9 --dump seen --socket acme.sock\n  nnsoc serve --machine phone &\n  nnsoc app --machine phone -- ./classify",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (socket == "" || device == "") && phone == "" {
				return cli.Usage(fmt.Errorf("serve needs --device and --socket, or --machine"))
			}
			if err := cli.Exclude(cmd, "machine", "device", "socket", "name", "force-unsupported", "dump", "retire"); err != nil {
				return err
			}
			if megabytes < 0 || min(q.Sessions, q.Prepared, q.Buffers, q.Bursts, q.Fenced, q.Calls) < 0 {
				return cli.Usage(fmt.Errorf("a quota below 0"))
			}
			q.Memory, q.All = megabytes<<20, megabytes<<20
			if err := front.read(a, unsupported, dump, retire, cmd.Flags().Changed("retire")); err != nil {
				return cli.Usage(err)
			}
			if phone != "" {
				return servePhone(a, cmd.Context(), phone, q)
			}
			m, err := machine.OpenSteady(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			d, err := m.Find(device)
			if err != nil {
				return cli.Usage(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), cli.EndSignals()...)
			defer stop()
			return serve(a, ctx, front.before(d), socket, q)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&device, "device", "", "device to serve (nnsoc devices)")
	fl.StringVar(&socket, "socket", "", "path of the Unix socket")
	fl.StringVar(&phone, "machine", "", "serve all devices of one phone: path of the folder of their sockets, which is made")
	fl.StringVar(&front.name, "name", "", "name of the device for its clients (default: its own)")
	fl.StringVar(&unsupported, "force-unsupported", "", "operations that support queries refuse, by their numbers in the model: 3,7-9")
	fl.StringVar(&dump, "dump", "", "folder for the tensors of every request and the graphs of every model")
	fl.IntVar(&retire, "retire", -1, "run one request at a time, by priority; a waiting one runs when so many of higher priority have passed it")
	fl.Int64Var(&megabytes, "memory-mib", 0, "MiB of all clients together; 0 is 1024 of one and 4096")
	fl.IntVar(&q.Sessions, "max-sessions", 0, "sessions of a client; 0 is 256")
	fl.IntVar(&q.Buffers, "max-buffers", 0, "buffers of device memory of a client; 0 is 1024")
	fl.IntVar(&q.Fenced, "max-fenced", 0, "executions with fences of a client; 0 is 256")
	fl.IntVar(&q.Prepared, "max-prepared", 0, "prepared models of a client; 0 is 256")
	fl.IntVar(&q.Bursts, "max-bursts", 0, "bursts of a client; 0 is 256")
	fl.IntVar(&q.Calls, "max-calls", 0, "calls of a client that run at a time; 0 is 16")
	_ = cmd.RegisterFlagCompletionFunc("force-unsupported", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp))
	machine.CompleteDevices(a, cmd)
	return cmd
}

// serveReport is the JSON object of serve.
type serveReport struct {
	SchemaVersion int    `json:"schema_version"`
	Device        string `json:"device"`
	Socket        string `json:"socket"`
}

// serve runs a driver until the context ends.
func serve(a *cli.App, ctx context.Context, d hal.Device, socket string, q service.Quotas) error {
	s := service.NewServer(d, q)
	l, err := service.Listen(socket)
	if err != nil {
		return cli.Usage(err)
	}
	cli.Temporaries.Add(socket)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	if a.JSON {
		if err := cli.PrintJSON(a.Out, serveReport{cli.SchemaVersion, d.Name(), socket}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.Out, "%s serves %s\n", d.Name(), socket)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		s.Close()
		err = <-done
	}
	return err
}

// read reads the values of flags.
func (o *options) read(a *cli.App, unsupported, dump string, retire int, queued bool) (err error) {
	if o.name != "" && !regexp.MustCompile(`^[a-z][a-z0-9_.:-]{0,63}$`).MatchString(o.name) {
		return fmt.Errorf("--name %q: want at most 64 small letters, digits and _.:-, a letter first", o.name)
	}
	if unsupported != "" {
		if o.unsupported, err = parseNumbers(unsupported); err != nil {
			return err
		}
	}
	if queued {
		if retire < 0 {
			return fmt.Errorf("--retire %d, want 0 or more", retire)
		}
		o.queue = &queue{retire: retire}
	}
	if dump != "" {
		if err := os.MkdirAll(dump, 0o700); err != nil {
			return err
		}
		o.dump = &recorder{folder: dump, warn: func(text string) { fmt.Fprintln(a.Err, "nnsoc: warning:", text) }}
	}
	return nil
}

// before puts the options before a driver, if there are any.
func (o *options) before(d hal.Device) hal.Device {
	if o.name == "" && o.unsupported == nil && o.queue == nil && o.dump == nil {
		return d
	}
	return &front{d, *o}
}
