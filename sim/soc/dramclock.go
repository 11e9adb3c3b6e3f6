package soc

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
)

// DRAMClock is the clock of a DRAM that follows votes: the lowest point that is enough for
// all engines at work (ddr_mhz of their points, the highest without) and for the governor.
type DRAMClock struct {
	MHz      []float64 `toml:"mhz" len:"2..32" range:"50..4000"` // rising, the last that of mt_per_s
	SwitchUs float64   `toml:"switch_us" range:"0..1000"`        // nothing is served while it changes
	// Governor measures the traffic; without it there are only the engines' votes.
	Governor *Governor `toml:"governor" soc:"optional"`
}

// Domain returns the clock domain that the governor moves. Volts are ignored.
func (d *DRAMClock) Domain() sim.DomainConfig {
	g := d.Governor
	c := sim.DomainConfig{Name: "ddr", Governor: g.bandwidthMonitor()}
	top := 0
	for i, mhz := range d.MHz {
		c.OPPs = append(c.OPPs, sim.OPP{Hz: sim.Hertz(mhz), Volts: 1})
		if mhz*1e6*g.BytesPerClock/(1<<20) < g.MaxMBps {
			top = min(i+1, len(d.MHz)-1)
		}
	}
	for p := range c.Points {
		c.Points[p] = top
	}
	return c
}

func (k *checker) dramClock(d *DRAM) {
	c := d.Clock
	if c == nil {
		return
	}
	for i := 1; i < len(c.MHz); i++ {
		if c.MHz[i] <= c.MHz[i-1] {
			k.fail(fmt.Sprintf("dram.clock.mhz[%d]", i), "%v MHz is not above the point before", c.MHz[i])
			return
		}
	}
	if top, want := c.MHz[len(c.MHz)-1], d.MTPerS/d.transfersPerClock(); top != want {
		k.fail("dram.clock.mhz", "the highest is %v MHz, that of mt_per_s %v; --set dram.mt_per_s=%v changes both", top, want, d.MTPerS)
	}
	if c.Governor != nil {
		k.governor("dram.clock.governor", c.Governor, governorBandwidth)
	}
}

// vote checks the request of an engine at a point.
func (k *checker) vote(p string, mhz float64, d *DRAMClock) {
	switch {
	case mhz == 0:
	case d == nil:
		k.fail(p, "takes no effect: it needs [dram.clock]")
	case !slices.Contains(d.MHz, mhz):
		k.fail(p, "%v MHz is not one of dram.clock.mhz", mhz)
	}
}
