package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/try"
)

// roundWait is how long an execution waits for others that are expected beside it, of the host's time (D-2605).
const roundWait = 5 * time.Millisecond

// phoneReport is the JSON object of serve --machine.
type phoneReport struct {
	SchemaVersion int      `json:"schema_version"`
	Devices       []string `json:"device_names"`
	Folder        string   `json:"folder"`
}

// servePhone serves the devices of one machine until the context ends.
func servePhone(a *cli.App, ctx context.Context, folder string, q service.Quotas) (err error) {
	defer try.Catch(&err)
	m := try.V(machine.OpenLive(a, hal.FastSingleAnswer))
	m.Live.Together(roundWait)
	ctx, stop := signal.NotifyContext(ctx, cli.EndSignals()...)
	defer stop()
	defer cli.Children.Foreground(func(os.Signal) {})() // the context ends with the first signal
	if err := os.Mkdir(folder, 0o700); err != nil {
		return cli.Usage(err)
	}
	cli.Temporaries.Add(folder)
	defer os.Remove(folder)
	r := phoneReport{SchemaVersion: cli.SchemaVersion, Folder: folder}
	done := make(chan error)
	var servers []*service.Server
	for _, d := range m.Registry.Devices() {
		s := service.NewServer(d, q)
		socket := filepath.Join(folder, d.Name()+".sock")
		l, err := service.Listen(socket)
		if err != nil {
			return cli.Usage(err)
		}
		cli.Temporaries.Add(socket)
		servers, r.Devices = append(servers, s), append(r.Devices, d.Name())
		go func() { done <- s.Serve(l) }()
	}
	if a.JSON {
		try.E(cli.PrintJSON(a.Out, r))
	} else {
		fmt.Fprintf(a.Out, "%s serves %s\n", m.Config.SoC.Name, folder)
	}
	var errs []error
	ended := 0
	select {
	case err := <-done: // one cannot go on: none does
		errs, ended = append(errs, err), 1
	case <-ctx.Done():
	}
	for _, s := range servers {
		s.Close()
	}
	for ; ended < len(servers); ended++ {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}
