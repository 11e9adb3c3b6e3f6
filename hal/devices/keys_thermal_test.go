package devices_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// warmAndCool heats a phone with its GPU alone, where there is one, then with its other
// engines, lets it cool while all work at little power, and heats it until it switches
// itself off. Each sample of the way is a part of the report.
func warmAndCool(h io.Writer, c *soc.Config, p hal.Preference) error {
	m, err := platform.NewMachine(c)
	if err != nil {
		return refusal{err}
	}
	var skin float64
	m.Observe(func(s *platform.Sample) {
		skin = s.Celsius[len(s.Celsius)-1]
		for _, x := range []any{s.To, s.Watts, s.Celsius, s.Hz, s.Status} {
			_ = binary.Write(h, binary.LittleEndian, x) // a hash takes everything
		}
	})
	var engines []soc.Engine
	for _, r := range m.Rails() {
		if r < soc.RailDRAM {
			engines = append(engines, soc.Engine(r))
		}
	}
	work := func(e soc.Engine, watts float64) error {
		const span = 200 * sim.Millisecond
		m.Sleep(m.Now() + 9*span)
		_, err := m.Execute(platform.Request{Engine: e, Preference: sim.Preference(p)}, func(k platform.Conditions) (platform.Outcome, error) {
			fmt.Fprint(h, k.Points)
			return platform.Outcome{Time: span, EnergyPJ: watts * 1e12 * span.Seconds()}, nil
		})
		return err
	}
	for _, phase := range []struct {
		until, gpu, others float64 // skin, W
	}{{43, 80, 0.1}, {49, 80, 80}, {36, 0.1, 0.1}, {58, 99, 99}} {
		hotter := phase.until > skin
		for i := 0; (skin < phase.until) == hotter && i < 2000; i++ {
			e, watts := engines[i%len(engines)], phase.others
			if e == soc.EngineGPU || c.GPU == nil && hotter {
				watts = max(phase.gpu, phase.others)
			}
			err := work(e, watts)
			if errors.Is(err, platform.ErrShutdown) {
				fmt.Fprint(h, m.Now())
				return nil
			}
			if err != nil {
				return refusal{err}
			}
		}
	}
	return nil
}
