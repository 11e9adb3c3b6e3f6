package dspdriver

import (
	"sort"
	"strings"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim"
)

// multiplyUnits is how many of a packet's two multipliers an instruction occupies.
func multiplyUnits(f *hexagon.Form) int64 {
	switch f.Class {
	case hexagon.CVI_VX, hexagon.CVI_VX_LATE:
		return 1
	case hexagon.CVI_VX_DV, hexagon.CVI_4SLOT_MPY:
		return 2
	}
	return 0
}

// byteProducts is how many products of bytes an instruction makes.
func byteProducts(f *hexagon.Form) int64 {
	switch {
	case strings.HasPrefix(f.Name, "V6_vrmpyz"):
		return 512
	case strings.HasPrefix(f.Name, "V6_vmpabus"):
		return 256
	case strings.HasPrefix(f.Name, "V6_vrmpy"), strings.HasPrefix(f.Name, "V6_vmpyb"):
		return 128
	}
	return 0
}

// detail fills the threads and counters of every operation: packets, the packets of each phase (a packet of
// several phases counts in parts), the multipliers they occupied, their products of bytes and the packets
// that all threads together had time for.
func (p *executable) detail(st *hal.Stats, report *sim.Report, prof *dsp.Profile) {
	type counts struct {
		packets, units, products int64
		phases                   [hvx.NumPhases]int64
	}
	regions := map[int]*counts{}
	for i := range prof.Packets {
		x := &prof.Packets[i]
		c := regions[x.Region]
		if c == nil {
			c = &counts{}
			regions[x.Region] = c
		}
		pk, shares := p.packetAt(x.Addr)
		c.packets += x.Count
		for ph, n := range shares {
			c.phases[ph] += x.Count * n
		}
		for k := range pk.Insts[:pk.N] {
			f := pk.Insts[k].Op.Form()
			c.units += x.Count * multiplyUnits(f)
			c.products += x.Count * byteProducts(f)
		}
	}
	interval := packetInterval(&p.dev.cfg.Spec)
	for i := range report.Regions { // the rows of st.Operations but for the launch
		o, g := &st.Operations[i], &report.Regions[i]
		o.Threads = statistics.Threads(g)
		c := regions[o.Index]
		if c == nil {
			continue
		}
		o.Counters = []hal.Counter{
			{Name: "packets", Value: c.packets},
			{Name: "packet_slots", Value: g.Threads.Total() / interval},
			{Name: "multiply_units", Value: c.units},
			{Name: "byte_products", Value: c.products},
		}
		for ph, n := range c.phases {
			o.Counters = append(o.Counters, hal.Counter{Name: "packets_" + hvx.PhaseNames[ph], Value: (n + hvx.PacketShare/2) / hvx.PacketShare})
		}
	}
}

// packetInterval is the cycles from a packet of a thread to its next while all threads run.
func packetInterval(s *dsp.Spec) int64 {
	if s.Contexts <= s.IssueWidth {
		return int64(s.AloneInterval)
	}
	return int64(max(s.IssueInterval, (s.Contexts+s.IssueWidth-1)/s.IssueWidth))
}

// profile passes on what the packets of an execution cost.
func (p *executable) profile(to hal.Profiler, c *dsp.Core, report *sim.Report, prof *dsp.Profile) error {
	if err := p.decode(); err != nil {
		return err
	}
	var list sim.Profile
	spec := c.Spec()
	prof.AddTo(&list, &spec, &p.program, report, func(addr uint32) (string, uint32) {
		k := p.kernelAt(addr)
		return k.Name, k.Entry
	})
	statistics.Profile(to, &list)
	return nil
}

// kernelAt is the kernel that an address belongs to.
func (p *executable) kernelAt(addr uint32) *hvx.Linked {
	return p.all[sort.Search(len(p.all), func(i int) bool { return p.all[i].Entry > addr })-1]
}

// packetAt is the packet at an address and what it is for.
func (p *executable) packetAt(addr uint32) (*hexagon.Packet, *hvx.PhaseShares) {
	k := p.kernelAt(addr)
	i := sort.Search(len(k.Packets), func(i int) bool { return k.Packets[i].Addr > addr }) - 1
	return &k.Packets[i], &k.Shares[i]
}
