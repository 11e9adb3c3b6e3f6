package bench

import (
	"fmt"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// serviceReport is the JSON object of bench service.
type serviceReport struct {
	SchemaVersion int           `json:"schema_version"`
	Device        string        `json:"device"`
	Rows          []serviceWay  `json:"rows"`
	Burst         *float64      `json:"burst_speedup"` // overhead of a call over that of a burst; null when one is within the noise
	Clients       clientsReport `json:"clients"`
	Kills         *killsReport  `json:"kills,omitempty"` // with --kills
}

// serviceWay is one way to execute a model of one ADD, in host microseconds.
type serviceWay struct {
	Way      string  `json:"call_path"`
	Median   float64 `json:"median_us"`
	P95      float64 `json:"p95_us"`
	Overhead float64 `json:"overhead_us"` // the median over that in process
}

// clientsReport is the result of many concurrent clients.
type clientsReport struct {
	Clients  int `json:"client_count"`
	Requests int `json:"requests"` // of each
	Errors   int `json:"errors"`
	Held     int `json:"leaked"` // sessions, memories, models and bursts left afterwards
}

func newBenchService(a *cli.App) *cobra.Command {
	var device, client string
	var repeat, clients, requests, kills int
	cmd := &cobra.Command{
		Use:   "service",
		Short: "measure what a process boundary costs",
		Long: `service executes a model of one ADD in process, by calls and by bursts over the process
boundary that "nnsoc serve" makes, --repeat times each, and prints the host time of an
execution and its excess over that in process. Then --clients connect and execute
--requests each at once; afterwards the driver must hold nothing for them. With --kills that
many client processes are killed while they start or work, beside one that
is not; none of their objects, goroutines, descriptors or mapped memory may
remain, or the exit code is 1. --client is such a process.`,
		Example: "  nnsoc bench service\n  nnsoc bench service --device dsp --clients 100 --requests 1000 --json\n  nnsoc bench service --kills 100",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if client != "" {
				return serveAsClient(a, cmd.Context(), client)
			}
			if kills < 0 || kills > 1_000_000 {
				return cli.Usage(fmt.Errorf("--kills is 0 to 1000000"))
			}
			if repeat < 1 || repeat > 1_000_000 || clients < 0 || clients > 1000 || requests < 1 || requests > 1_000_000 {
				return cli.Usage(fmt.Errorf("--repeat is 1 to 1000000, --clients 0 to 1000, --requests 1 to 1000000"))
			}
			m := try.V(machine.Open(a, hal.FastSingleAnswer))
			d, err := m.Registry.Find(device)
			if err != nil {
				return cli.Usage(err)
			}
			r := try.V(benchService(d, repeat, clients, requests))
			if kills > 0 {
				r.Kills = try.V(killClients(d, a, kills))
			}
			if a.JSON {
				err = cli.PrintJSON(a.Out, r)
			} else {
				err = printService(a, r)
			}
			if err == nil && (r.Clients.Errors > 0 || r.Clients.Held > 0) {
				err = &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d errors, %d things left", r.Clients.Errors, r.Clients.Held)}
			}
			if err == nil && r.Kills != nil && r.Kills.leaks() > 0 {
				err = &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("killed clients left something")}
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&device, "device", "cpu", "device behind the boundary")
	fl.IntVar(&repeat, "repeat", 500, "executions of each way")
	fl.IntVar(&clients, "clients", 10, "clients at once")
	fl.IntVar(&requests, "requests", 20, "executions of each client")
	fl.IntVar(&kills, "kills", 0, "clients to kill")
	fl.StringVar(&client, "client", "", "be a client of the driver at this socket until it is killed")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// oneAdd is a model of one ADD of bytes, which every device supports.
func oneAdd() (*nn.Model, error) {
	b := builder.New(builder.Config{Format: builder.Quant8})
	x, y := b.Values("x", 1, 1, 1, 16), b.Values("y", 1, 1, 1, 16)
	b.Output(b.Add(x, y, builder.NoActivation), "sum")
	return b.Model("add")
}

func benchService(d hal.Device, repeat, clients, requests int) (_ *serviceReport, err error) {
	defer try.Catch(&err)
	model := try.V(oneAdd())
	there, stop := try.V2(service.Loopback(d))
	defer stop()
	here := try.V(d.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer}))
	remote := try.V(there.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer}))
	inProcess := try.V(here.ConfigureExecutionBurst())
	defer func() { _ = inProcess.Close() }()
	burst := try.V(remote.ConfigureExecutionBurst())
	defer func() { _ = burst.Close() }()
	request := addRequest()
	r := &serviceReport{SchemaVersion: cli.SchemaVersion, Device: d.Name()}
	for _, w := range []struct {
		name    string
		execute func() error
	}{
		{"in process", func() error { _, err := here.Execute(request, hal.ExecuteOptions{}); return err }},
		{"in process, burst", func() error { _, err := inProcess.Execute(request, hal.ExecuteOptions{}); return err }},
		{"service", func() error { _, err := remote.Execute(request, hal.ExecuteOptions{}); return err }},
		{"service, burst", func() error { _, err := burst.Execute(request, hal.ExecuteOptions{}); return err }},
	} {
		row, err := timeWay(repeat, w.execute)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		row.Way = w.name
		if len(r.Rows) > 0 {
			row.Overhead = row.Median - r.Rows[0].Median
		}
		r.Rows = append(r.Rows, row)
	}
	r.Burst = speedup(r.Rows[2].Overhead, r.Rows[3].Overhead)
	r.Clients = manyClients(d, model, clients, requests)
	return r, nil
}

// speedup is the overhead of a call over that of a burst, nil unless both were measured: a median may be below that in
// process.
func speedup(call, burst float64) *float64 {
	if call <= 0 || burst <= 0 {
		return nil
	}
	x := call / burst
	return &x
}

func addRequest() *hal.Request {
	b := hal.Buffers{Inputs: [][]byte{make([]byte, 16), make([]byte, 16)}, Outputs: [][]byte{make([]byte, 16)}}
	return b.Request()
}

// timeWay executes often, in host time; the first tenth warms up.
func timeWay(repeat int, execute func() error) (serviceWay, error) {
	us := make([]float64, 0, repeat)
	for i := range repeat + repeat/10 + 1 {
		start := time.Now()
		if err := execute(); err != nil {
			return serviceWay{}, err
		}
		if i > repeat/10 {
			us = append(us, float64(time.Since(start))/float64(time.Microsecond))
		}
	}
	slices.Sort(us)
	return serviceWay{Median: stat.Quantile(0.5, stat.Empirical, us, nil), P95: stat.Quantile(0.95, stat.Empirical, us, nil)}, nil
}

// manyClients runs clients with separate sessions against one driver.
func manyClients(d hal.Device, model *nn.Model, clients, requests int) clientsReport {
	r := clientsReport{Clients: clients, Requests: requests}
	if clients == 0 {
		return r
	}
	var mu sync.Mutex
	fail := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		r.Errors += n
	}
	held, err := service.Crowd(d, clients, func(there *service.Device) {
		p, err := there.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
		if err != nil {
			fail(requests)
			return
		}
		request := addRequest()
		for range requests {
			if _, err := p.Execute(request, hal.ExecuteOptions{}); err != nil {
				fail(1)
			}
		}
	})
	if err != nil {
		fail(1)
	}
	r.Held = held
	return r
}

func printService(a *cli.App, r *serviceReport) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(a.Out, "one ADD on %s, host microseconds\n\n", r.Device)
	fmt.Fprintln(t, "way\tmedian\tp95\tover in process\t")
	for _, w := range r.Rows {
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t\n", w.Way, w.Median, w.P95, w.Overhead)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	burst := "the boundary costs less than the scatter of the measurement"
	if r.Burst != nil {
		burst = fmt.Sprintf("a burst costs %.2f of a call", 1 / *r.Burst)
	}
	_, err := fmt.Fprintf(a.Out, "\n%s; %d clients x %d requests: %d errors, %d things left\n",
		burst, r.Clients.Clients, r.Clients.Requests, r.Clients.Errors, r.Clients.Held)
	if k := r.Kills; k != nil && err == nil {
		_, err = fmt.Fprintf(a.Out, "%d clients killed, %d of them at work: %d errors of another, left %d objects, %d goroutines, %d descriptors, %d mapped memories, %d bytes\n",
			k.Kills, k.Working, k.Errors, k.Held, k.Goroutines, k.Files, k.Memfds, k.HeapBytes)
	}
	return err
}
