package dsp

import (
	"math/bits"
	"sort"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim"
)

// PacketProfile is the cost of one packet of the program in one region: how often it ran and the thread cycles charged
// to it, by reason. Threads run concurrently, so the packets of a job add up to the cycles of all its threads, not to
// its elapsed cycles; starting a job is not among them.
type PacketProfile struct {
	Region int
	Addr   uint32
	Count  int64
	Stalls sim.StallTable
}

// Profile collects the cost of every packet that ran. A timed run fills it
// when Options.Profile points to it.
type Profile struct {
	// Packets are ordered by region and address.
	Packets []PacketProfile
}

// blockProfile is the part of a block's cost that is not in its schedule.
type blockProfile struct {
	wait  []sim.StallTable // by packet: memory
	fetch int64            // charged to the first packet
	lost  int64            // branches, charged to the last
}

func (b *block) profile() *blockProfile {
	if b.prof == nil {
		b.prof = &blockProfile{wait: make([]sim.StallTable, len(b.Packets))}
	}
	return b.prof
}

// collect moves the counts of r's blocks for a job to the profile.
func (p *Profile) collect(r *run) {
	at := map[uint32]int{}
	for i := range p.Packets {
		if p.Packets[i].Region == r.job.Region {
			at[p.Packets[i].Addr] = i
		}
	}
	for _, b := range r.ran {
		bp := b.profile()
		for i := range b.Packets {
			addr := b.Packets[i].Addr
			k, ok := at[addr]
			if !ok {
				k = len(p.Packets)
				at[addr] = k
				p.Packets = append(p.Packets, PacketProfile{Region: r.job.Region, Addr: addr})
			}
			s := &p.Packets[k]
			s.Count += b.runs
			s.Stalls.Add(&bp.wait[i])
			for _, v := range b.variants {
				s.Stalls[sim.StallIssue] += v.runs * int64(1+v.queued[i]) * v.period
				s.Stalls[sim.StallOperand] += v.runs * int64(v.stall[i]) * v.period
			}
			if i == 0 {
				s.Stalls[sim.StallFetch] += bp.fetch
			}
			if i == len(b.Packets)-1 {
				s.Stalls[sim.StallBranch] += bp.lost
			}
		}
		for v := range b.variants {
			b.variants[v].runs = 0
		}
		b.prof = nil
	}
	sort.Slice(p.Packets, func(i, j int) bool {
		a, b := &p.Packets[i], &p.Packets[j]
		if a.Region != b.Region {
			return a.Region < b.Region
		}
		return a.Addr < b.Addr
	})
}

// samples is a profile in the terms of all cores.
type samples struct {
	spec    *Spec
	program *Program
	to      *sim.Profile
	name    func(addr uint32) (program string, base uint32)
}

// AddTo adds the profile of a run, with its report rep, to one in the terms of all cores. Threads run concurrently, so
// the cycles of a region, but for its launch and its drain, are divided among its packets as the cycles of all threads
// are. Energy of the core's own events is charged to the packet, static energy by the cycles, and that of the memory by
// the bytes that packets load and store. name returns the kernel that an address belongs to and its start.
func (p *Profile) AddTo(to *sim.Profile, s *Spec, program *Program, rep *sim.Report, name func(addr uint32) (string, uint32)) {
	c := samples{s, program, to, name}
	for i := range rep.Regions {
		g := &rep.Regions[i]
		from := sort.Search(len(p.Packets), func(k int) bool { return p.Packets[k].Region >= g.ID })
		end := sort.Search(len(p.Packets), func(k int) bool { return p.Packets[k].Region > g.ID })
		c.region(g, p.Packets[from:end])
	}
}

// region adds the samples of a region.
func (c *samples) region(g *sim.RegionReport, packets []PacketProfile) {
	static := c.spec.Energy.StaticMW / float64(c.spec.ClockHz) * 1e9 // pJ per cycle
	shared, energy := g.Cycles, g.EnergyPJ
	for _, why := range [...]sim.Reason{sim.StallLaunch, sim.StallDrain} {
		n := g.Stalls[why]
		if n == 0 {
			continue
		}
		x := sim.Sample{Region: g.ID, Program: why.String(), At: sim.NoInstruction, Text: why.String(), EnergyPJ: static * float64(n)}
		x.Stalls[why] = n
		c.to.Samples = append(c.to.Samples, x)
		shared -= n
		energy -= x.EnergyPJ
	}
	first := len(c.to.Samples)
	var all, bytes int64 // thread cycles, bytes moved
	weights := make([]int64, len(packets))
	for i := range packets {
		x := &packets[i]
		all += x.Stalls.Total()
		d := c.packet(x)
		weights[i] = d.bytes * x.Count
		bytes += weights[i]
		name, base := c.name(x.Addr)
		c.to.Samples = append(c.to.Samples, sim.Sample{Region: g.ID, Program: name, At: int64(x.Addr - base), Text: d.text, Count: x.Count, EnergyPJ: float64(x.Count) * d.pj})
		energy -= float64(x.Count) * d.pj
	}
	own := c.to.Samples[first:]
	var seen, given int64
	for i := range own {
		for why, n := range packets[i].Stalls {
			seen += n
			part := share(shared, seen, all) - given
			given += part
			own[i].Stalls[why] = part
			own[i].EnergyPJ += static * float64(part)
			energy -= static * float64(part)
		}
	}
	if shared != given || bytes == 0 || len(own) == 0 { // the part that no packet caused
		x := sim.Sample{Region: g.ID, Program: "memory", At: sim.NoInstruction, Text: "memory", EnergyPJ: energy}
		x.Stalls[sim.StallDMA] = shared - given
		c.to.Samples = append(c.to.Samples, x)
		return
	}
	for i := range own {
		own[i].EnergyPJ += energy * float64(weights[i]) / float64(bytes)
	}
}

// share is n*part/all, rounded down.
func share(n, part, all int64) int64 {
	if all == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(all))
	return int64(q)
}

// packetCost is the core's cost of one execution of a packet, and the bytes that it loads and stores.
type packetCost struct {
	pj    float64
	bytes int64
	text  string
}

func (c *samples) packet(x *PacketProfile) (d packetCost) {
	const longest = 16 // bytes of a packet
	words := c.program.Code[x.Addr-c.program.Base:]
	p, _, err := hexagon.DecodePacket(hexagon.Words(words[:min(len(words), longest)]), x.Addr)
	if err != nil {
		d.text = "packet" // of a program that has written over its code
		return d
	}
	events := energy.Events{energy.Packet: 1}
	for i := range p.Insts[:p.N] {
		f := p.Insts[i].Op.Form()
		energy.Count(&events, f)
		d.bytes += int64(f.MemBytes)
	}
	scale := c.spec.VoltageV / c.spec.Energy.ReferenceV
	for e, n := range events {
		d.pj += float64(n) * c.spec.Energy.PJ[energy.Names[e]] * scale * scale
	}
	d.text = p.Asm()
	return d
}
