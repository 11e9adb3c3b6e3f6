package devices_test

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// interrupted is a client of a priority whose program leaves the engine between operations.
func interrupted(h io.Writer, m *platform.Machine, e soc.Engine, priority int) func() error {
	return func() error {
		m.Sleep(m.Now() + sim.Time(priority)*sim.Millisecond)
		x, err := m.Execute(platform.Request{Engine: e, Priority: priority}, func(k platform.Conditions) (platform.Outcome, error) {
			const operation = 500 * sim.Microsecond
			for i := sim.Time(1); i < 10; i++ {
				if k.Preemption.Pending(i * operation) {
					k.Preemption.Yield(i * operation)
				}
			}
			return platform.Outcome{Time: 10 * operation}, nil
		})
		fmt.Fprint(h, x)
		return err
	}
}

// hostCalls carries executions of known length to an engine: cold, after pauses of all
// lengths, of all sizes, in bursts, and with every share of load.
func hostCalls(e soc.Engine) func(io.Writer, *soc.Config, hal.Preference) error {
	return func(h io.Writer, c *soc.Config, p hal.Preference) error {
		m, err := platform.NewMachine(c)
		if err != nil {
			return refusal{err}
		}
		call := func(bytes int64, work sim.Time, burst bool) error {
			r := platform.Request{Engine: e, Preference: sim.Preference(p), Buffers: 2, In: bytes, Out: bytes, Burst: burst}
			x, err := m.Execute(r, func(k platform.Conditions) (platform.Outcome, error) {
				fmt.Fprint(h, k.Points)
				return platform.Outcome{Time: work, EnergyPJ: 1}, nil
			})
			fmt.Fprint(h, x)
			return err
		}
		for bytes := int64(512); bytes < 64<<20; bytes *= 2 {
			if err := call(bytes, 100*sim.Microsecond, false); err != nil {
				return refusal{err}
			}
		}
		for pause := 50 * sim.Microsecond; pause < 10*sim.Second; pause *= 2 {
			m.Sleep(m.Now() + pause)
			_ = call(1, pause/8, pause%3 == 0)
			_ = call(1, 100*sim.Microsecond, false)
			_ = call(1, 100*sim.Microsecond, true)
		}
		if _, err := m.RunConcurrent(interrupted(h, m, e, 0), interrupted(h, m, e, 1)); err != nil {
			return err
		}
		for share := sim.Time(1); share < 20; share++ { // of 20
			for range 40 {
				_ = call(1, share*500*sim.Microsecond, false)
				m.Sleep(m.Now() + (20-share)*500*sim.Microsecond)
			}
		}
		return nil
	}
}
