package main

import (
	"context"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

func newServe(a *cli.App) *cobra.Command {
	var device, socket string
	var q service.Quotas
	var megabytes int64
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run a device's driver as a process of its own",
		Long: `serve runs the driver of one device of the SoC for other processes, as Android's HAL
services do: control calls over gRPC on a Unix socket, models, tensors and bursts in
shared memory. It runs until it is interrupted, then removes the socket. Clients are
"nnsoc run --driver PATH" and Go programs with package hal/service. What a client holds
is freed when it ends, however it ends; quotas bound what each can hold.`,
		Example: "  nnsoc serve --device dsp --socket dsp.sock &\n  nnsoc run --driver dsp.sock --device dsp",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if socket == "" || device == "" {
				return cli.Usage(fmt.Errorf("serve needs --device and --socket"))
			}
			if megabytes < 0 || min(q.Sessions, q.Prepared, q.Buffers, q.Bursts, q.Fenced, q.Calls) < 0 {
				return cli.Usage(fmt.Errorf("a quota below 0"))
			}
			q.Memory = megabytes << 20
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			d, err := m.Find(device)
			if err != nil {
				return cli.Usage(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), cli.EndSignals()...)
			defer stop()
			return serve(a, ctx, d, socket, q)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&device, "device", "", "device to serve (nnsoc devices)")
	fl.StringVar(&socket, "socket", "", "path of the Unix socket")
	fl.Int64Var(&megabytes, "memory-mib", 0, "shared and device memory of a client in MiB; 0 is 1024")
	fl.IntVar(&q.Sessions, "max-sessions", 0, "sessions of a client; 0 is 256")
	fl.IntVar(&q.Buffers, "max-buffers", 0, "buffers of device memory of a client; 0 is 1024")
	fl.IntVar(&q.Fenced, "max-fenced", 0, "executions with fences of a client; 0 is 256")
	fl.IntVar(&q.Prepared, "max-prepared", 0, "prepared models of a client; 0 is 256")
	fl.IntVar(&q.Bursts, "max-bursts", 0, "bursts of a client; 0 is 256")
	fl.IntVar(&q.Calls, "max-calls", 0, "calls of a client that run at a time; 0 is 16")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// serve runs a driver until the context ends.
func serve(a *cli.App, ctx context.Context, d hal.Device, socket string, q service.Quotas) error {
	l, err := service.Listen(socket)
	if err != nil {
		return cli.Usage(err)
	}
	cli.Temporaries.Add(socket)
	s := service.NewServer(d, q)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	if a.JSON {
		if err := cli.PrintJSON(a.Out, map[string]any{"schema_version": cli.SchemaVersion, "device": d.Name(), "socket": socket}); err != nil {
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
