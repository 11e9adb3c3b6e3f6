package devices_test

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// dramProgram asks the memory of a SoC directly, as engines with many requests in
// flight do: streams that share banks, random lines, writes among them, bursts of
// requests with pauses between, one of them long.
func dramProgram(h io.Writer, c *soc.Config, _ hal.Preference) error {
	memory, d, err := c.NewPath("probe", 0)
	if err != nil {
		return refusal{err}
	}
	now, last := sim.Time(0), sim.Time(0)
	random := uint64(1)
	access := func(addr uint64, k mem.Kind) {
		done, _ := memory.Access(now, addr, 64, k)
		last = max(last, done)
		fmt.Fprintln(h, done)
	}
	for i := range uint64(6000) {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
		switch i / 1000 {
		case 0: // streams of reads that meet in a bank, far more than can be served
			access(i%4*(16<<20)+i/4*64, mem.Read)
			now += sim.Nanosecond
		case 1: // random reads, a quarter writes
			k := mem.Read
			if random>>60 < 4 {
				k = mem.Write
			}
			access(random>>36&^63, k)
			now += 4 * sim.Nanosecond
		case 2: // random writes, as fast as they are taken
			access(random>>36&^63, mem.Write)
			now = max(now, last-sim.Microsecond)
		case 3: // a few posted writes, then reads, with pauses
			access(random>>36&^63, mem.Kind(i/20%2))
			if i%40 == 39 {
				now = last + 300*sim.Nanosecond
			}
		case 4: // one row again and again, seldom another of its bank
			access(i%50/49*(16<<20)+i%32*64, mem.Read)
			now += 2 * sim.Nanosecond
		case 5: // alone
			access(random>>40&^63, mem.Read)
			now = last + sim.Time(i%50)*20*sim.Nanosecond
		}
		if i%1000 == 999 {
			now = last + 150*sim.Microsecond
		}
	}
	fmt.Fprintln(h, d.Flush(now), d.Counters())
	pj, mw := d.Energy()
	fmt.Fprintln(h, pj, mw)
	return nil
}
