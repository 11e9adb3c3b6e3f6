package devices_test

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// systemCacheProgram lets the engines of a SoC use its memory alternately: each reads and
// writes as much as the system-level cache holds and a bit more, slowly, then a part of
// it as fast as it can.
func systemCacheProgram(h io.Writer, c *soc.Config, _ hal.Preference) error {
	m, err := c.NewSharedMemory()
	if err != nil {
		return refusal{err}
	}
	now := sim.Time(0)
	access := func(p *interconnect.Port, addr uint64, n int, k mem.Kind) sim.Time {
		done, from := p.Access(now, addr, n, k)
		fmt.Fprintln(h, done-now, from)
		return done
	}
	const total = 4 << 20
	for e := range soc.NumEngines {
		p := m.Ports[e]
		for at := uint64(0); at < total; at += 4096 {
			now = access(p, uint64(e)<<32+at, 4096, mem.Kind(at>>12&1))
		}
		for range 2 {
			now += 10 * sim.Microsecond
			for at := uint64(total - 64<<10); at < total; at += 512 {
				access(p, uint64(e)<<32+at, 512, mem.Kind(at>>9&1))
			}
		}
	}
	pj, mw := m.Ports[soc.EngineCPU].Energy()
	fmt.Fprintln(h, pj, mw)
	return nil
}
