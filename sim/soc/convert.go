package soc

import (
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// Domain is the clock domain of the section, named name.
func (c *Clock) Domain(name string) sim.DomainConfig {
	d := sim.DomainConfig{Name: name, Ramp: sim.Microseconds(c.RampUs), IdleAfter: sim.Microseconds(c.IdleAfterUs), IdleExit: sim.Microseconds(c.IdleExitUs), Slumber: sim.Microseconds(c.SlumberUs), Governor: c.governor()}
	for i, o := range c.OPPs {
		d.OPPs = append(d.OPPs, sim.OPP{Hz: sim.Hertz(o.MHz), Volts: o.V})
		for p, mhz := range [sim.NumPreferences]float64{c.LowPowerMHz, c.FastMHz, c.SustainedMHz} {
			if o.MHz == mhz {
				d.Points[p] = i
			}
		}
	}
	return d
}

// At is the highest operating point for a preference.
func (c *Clock) At(p sim.Preference) sim.OPP {
	d := c.Domain("")
	return d.OPPs[d.Points[p]]
}

// NewDRAM builds the DRAM, cold.
func (c *Config) NewDRAM() (*dram.DRAM, error) { return dram.New(c.DRAM.Config()) }

// NewFabric builds the DRAM and the interconnect in front of it, without the
// system-level cache, for measuring a core alone.
func (c *Config) NewFabric() (*dram.DRAM, *interconnect.Bus, error) {
	d, err := c.NewDRAM()
	if err != nil {
		return nil, nil, err
	}
	b, err := c.newBus(d)
	return d, b, err
}

func (c *Config) newBus(next mem.Level) (*interconnect.Bus, error) {
	x := &c.Interconnect
	return interconnect.NewBus(interconnect.BusConfig{
		Name: "fabric", Hz: sim.Hertz(x.MHz), BytesPerCycle: x.BytesPerCycle, LatencyCycles: x.LatencyCycles, Outstanding: x.Outstanding,
	}, next)
}

// Memory is the memory of that name, nil when there is none.
func (n *NPU) Memory(name string) *Memory {
	for i := range n.Memories {
		if n.Memories[i].Name == name {
			return &n.Memories[i]
		}
	}
	return nil
}

// MACsPerCycle is the number of 8-bit multiply-accumulates of all cores.
func (n *NPU) MACsPerCycle() int {
	return n.Cores * n.Ublock[0] * n.Ublock[1] * n.Ublock[2] * n.IFMDepth
}

// used reports whether threads of an inference may run on a cluster.
func (c *CPU) used(cluster string) bool {
	return len(c.Affinity) == 0 || slices.Contains(c.Affinity, cluster)
}

// Pin lets an inference have threads on the cores of these clusters, the first one's first;
// none are all. Its clusters are the first ones from then on.
func (c *CPU) Pin(threads int, clusters ...string) {
	c.Threads, c.Affinity = threads, clusters
	at := func(x Cluster) int {
		if i := slices.Index(clusters, x.Name); i >= 0 {
			return i
		}
		return len(clusters)
	}
	slices.SortStableFunc(c.Clusters, func(x, y Cluster) int { return at(x) - at(y) })
}

// Peak is the fp32 multiply-accumulates per second of Threads cores at their
// highest points, fastest clusters first.
func (c *CPU) Peak() float64 {
	left, sum := c.Threads, 0.0
	for i := range c.Clusters {
		cl := &c.Clusters[i]
		n := min(left, cl.Cores)
		left -= n
		sum += float64(n) * cl.MACF32 * float64(cl.Clock.At(sim.FastSingleAnswer).Hz)
	}
	return sum
}

// NewPath is a core's own view of memory, cold: a port of the interconnect in
// front of the DRAM, without the system-level cache, and the delay of the device's path (memory_ns). The DRAM is
// returned for its counters.
func (c *Config) NewPath(device string, memoryNs float64) (mem.Level, *dram.DRAM, error) {
	d, b, err := c.NewFabric()
	if err != nil {
		return nil, nil, err
	}
	return &mem.Path{Next: b.Port(device), Delay: sim.Nanoseconds(memoryNs)}, d, nil
}
