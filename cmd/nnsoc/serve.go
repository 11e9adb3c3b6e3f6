package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/testvectors"
)

func newServe(a *app) *cobra.Command {
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
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if socket == "" || device == "" {
				return usage(fmt.Errorf("serve needs --device and --socket"))
			}
			if megabytes < 0 || min(q.Sessions, q.Prepared, q.Buffers, q.Bursts, q.Fenced, q.Calls) < 0 {
				return usage(fmt.Errorf("a quota below 0"))
			}
			q.Memory = megabytes << 20
			m, err := a.machine(hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			d, err := m.registry.Find(device)
			if err != nil {
				return usage(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.serve(ctx, d, socket, q)
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
	completeDevices(a, cmd)
	return cmd
}

// serve runs a driver until the context ends.
func (a *app) serve(ctx context.Context, d hal.Device, socket string, q service.Quotas) error {
	l, err := service.Listen(socket)
	if err != nil {
		return usage(err)
	}
	temporaries.add(socket)
	s := service.NewServer(d, q)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	if a.json {
		if err := printJSON(a.out, map[string]any{"schema_version": schemaVersion, "device": d.Name(), "socket": socket}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "%s serves %s\n", d.Name(), socket)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		s.Close()
		err = <-done
	}
	return err
}

// connect puts drivers that are processes of their own in the place of the devices of
// the same name, or behind all devices.
func (a *app) connect(list []hal.Device) ([]hal.Device, error) {
	var remote []*service.Device
	for _, path := range a.drivers {
		d, err := service.Dial(path)
		if err != nil {
			return nil, usage(fmt.Errorf("--driver %s: %w", path, err))
		}
		remote = append(remote, d)
	}
	if a.driverFolder != "" {
		found, err := service.DialAll(a.driverFolder)
		if err != nil {
			return nil, usage(fmt.Errorf("--drivers %s: %w", a.driverFolder, err))
		}
		remote = append(remote, found...)
	}
	if len(remote) > 0 && !(a.driverTimeout > 0) {
		return nil, usage(fmt.Errorf("--driver-timeout %v, want a time above 0", a.driverTimeout))
	}
	list = slices.Clone(list)
	for _, r := range remote {
		d := nnrt.GiveUpAfter(r, a.driverTimeout)
		if i := slices.IndexFunc(list, func(x hal.Device) bool { return x.Name() == d.Name() }); i >= 0 {
			list[i] = d
		} else {
			list = append(list, d)
		}
	}
	return list, nil
}

// through is a device of a machine by the way that clients can take to it: "device" is
// the driver itself, "service" a process boundary, "runtime" NNAPI's runtime.
func (m *machine) through(way string, d hal.Device) (hal.Device, func(), error) {
	none := func() {}
	switch way {
	case "device":
		return d, none, nil
	case "service":
		there, stop, err := service.Loopback(d)
		if err != nil {
			return nil, none, err
		}
		return there, stop, nil
	case "runtime":
		return testvectors.ThroughRuntime(m.registry, d), none, nil
	}
	return nil, none, usage(fmt.Errorf("--via %s, takes device, service or runtime", way))
}
