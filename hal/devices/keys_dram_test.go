package devices_test

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// dramProgram accesses the memory of a SoC directly, like engines with many requests in
// flight: streams that share banks, random lines, writes among them, bursts of
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
		case 2: // random writes, as fast as they are accepted
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

// memoryClockProgram lets the traffic of the CPU rise and fall, and looks after each step what
// clock a DSP finds that votes for the lowest; then a GPU goes from its lowest point to its
// highest.
func memoryClockProgram(h io.Writer, c *soc.Config, p hal.Preference) error {
	c.DSP.Clock.OPPs[0].DDRMHz = 1
	m, err := platform.NewMachine(c)
	if err != nil {
		return refusal{err}
	}
	line := uint64(0) // each is read once: none is in the system-level cache
	probe := func(e soc.Engine, p sim.Preference, every sim.Time, n int) error {
		_, err := m.Execute(platform.Request{Engine: e, Preference: p}, func(k platform.Conditions) (platform.Outcome, error) {
			for i := range n {
				now := sim.Time(i) * every
				for range 64 {
					done, _ := k.Memory.Access(now, line*64, 64, mem.Read)
					fmt.Fprint(h, done-now)
					line++
				}
			}
			end := sim.Time(n) * every
			return platform.Outcome{Time: end, Traffic: m.Traffic(end)}, nil
		})
		return err
	}
	traffic := func(length sim.Time, rate float64) error {
		if _, err := m.Execute(platform.Request{Engine: soc.EngineCPU}, func(platform.Conditions) (platform.Outcome, error) {
			return platform.Outcome{Time: length, DRAMBytes: int64(rate * length.Seconds())}, nil
		}); err != nil {
			return err
		}
		return probe(soc.EngineDSP, sim.LowPower, sim.Microsecond, 1)
	}
	for range 3 { // a peak, a pause of some decisions, a lower one
		for _, x := range [][2]float64{{8, 2100e6}, {200, 0}, {8, 2000e6}, {4000, 0}} {
			if err := traffic(sim.Time(x[0])*sim.Millisecond, x[1]); err != nil {
				return refusal{err}
			}
		}
	}
	for rate := 1100e6; rate < 8000e6; rate += 400e6 { // a burst in each zone, each after a pause
		for _, x := range [][2]float64{{8, rate}, {4000, 0}} {
			if err := traffic(sim.Time(x[0])*sim.Millisecond, x[1]); err != nil {
				return refusal{err}
			}
		}
	}
	random := uint64(1)
	for i := range 1500 {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
		length := sim.Time(1+random>>61) * sim.Millisecond
		share := float64(random>>40&0xff) / 256 * [4]float64{1, 0.5, 0.1, 0.25}[i/40%4]
		if err := traffic(length, share*5e9); err != nil {
			return refusal{err}
		}
	}
	if err := probe(soc.EngineGPU, sim.Preference(p), 10*sim.Microsecond, 8000); err != nil {
		return refusal{err}
	}
	return probe(soc.EngineDSP, sim.FastSingleAnswer, sim.Microsecond, 1)
}
