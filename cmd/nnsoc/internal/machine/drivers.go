package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/testvectors"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// split splits the engine from a value of --driver, ENGINE=SOCKET or SOCKET.
func split(value string) (e soc.Engine, named bool, path string) {
	if name, rest, ok := strings.Cut(value, "="); ok {
		if e, named = soc.EngineNamed(name); named {
			return e, true, rest
		}
	}
	return 0, false, value
}

// Socket is the socket in a value of --driver.
func Socket(value string) string {
	_, _, path := split(value)
	return path
}

// connect replaces the devices of the same name by drivers in separate processes, or appends them to all devices. On a
// live machine their executions occupy the engines that they replace.
func connect(a *cli.App, list []hal.Device, c *soc.Config, live *devices.Machine) ([]hal.Device, error) {
	var remote []*service.Device
	places := map[string]soc.Engine{} // of devices for which --driver names one
	from := map[string]string{}       // by name of a device, the flag of its socket
	add := func(flag string, d *service.Device) error {
		if other, twice := from[d.Name()]; twice {
			return cli.Usage(fmt.Errorf("%s %s serves a device %s, and so does %s", flag, d.Socket(), d.Name(), other))
		}
		if err := nnapi.Registrable(d); err != nil {
			return cli.Usage(fmt.Errorf("%s %s: %w", flag, d.Socket(), err))
		}
		from[d.Name()] = flag + " " + d.Socket()
		remote = append(remote, d)
		return nil
	}
	if (len(a.Drivers) > 0 || a.DriverFolder != "") && !(a.DriverTimeout > 0) {
		return nil, cli.Usage(fmt.Errorf("--driver-timeout %v, want a time above 0", a.DriverTimeout))
	}
	for _, value := range a.Drivers {
		e, named, path := split(value)
		d, err := service.DialWithin(path, a.DriverTimeout)
		if name, _, ok := strings.Cut(value, "="); err != nil && ok && !named {
			err = fmt.Errorf("%w; and %q is no engine", err, name)
		}
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--driver %s: %w", path, err))
		}
		if err := add("--driver", d); err != nil {
			return nil, err
		}
		if named {
			places[d.Name()] = e
		}
	}
	if a.DriverFolder != "" {
		found, dead, err := service.DialAllWithin(a.DriverFolder, a.DriverTimeout)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--drivers %s: %w", a.DriverFolder, err))
		}
		for _, err := range dead {
			fmt.Fprintf(a.Err, "nnsoc: warning: --drivers %s: left out: %v\n", a.DriverFolder, err)
		}
		for _, d := range found {
			if err := add("--drivers", d); err != nil {
				return nil, err
			}
		}
	}
	list = slices.Clone(list)
	for _, r := range remote {
		d := nnrt.WithTimeout(r, a.DriverTimeout)
		if live != nil {
			e, named := places[d.Name()]
			if !named {
				e = devices.PlaceOf(c, d)
			}
			if live.SoC().Has(e) {
				d = live.Foreign(d, e)
			} else {
				return nil, cli.Usage(fmt.Errorf("--driver %s=: %s has no %s", e, c.SoC.Name, e))
			}
		}
		if i := slices.IndexFunc(list, func(x hal.Device) bool { return x.Name() == d.Name() }); i >= 0 {
			list[i] = d
		} else {
			list = append(list, d)
		}
	}
	return list, nil
}

// Through is a device of a machine by one of the access paths of clients: "device" is the driver itself, "service" a
// process boundary, "runtime" NNAPI's runtime.
func (m *Machine) Through(way string, d hal.Device) (hal.Device, func(), error) {
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
		return testvectors.ThroughRuntime(m.Registry, d), none, nil
	}
	return nil, none, cli.Usage(fmt.Errorf("--via %s, want device, service or runtime", way))
}
