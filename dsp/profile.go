package dsp

import (
	"sort"

	"github.com/nnsoc/nnsoc/sim"
)

// PacketProfile is what one packet of the program cost in one region: how
// often it ran and the thread cycles charged to it, by reason. Threads run at
// the same time, so the packets of a job add up to the cycles of all its
// threads, not to its elapsed cycles; starting a job is not among them.
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

// blockProfile is the part of a block's cost that its schedule does not tell.
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

// collect moves what the blocks of r have gathered in a job to the profile.
func (p *Profile) collect(r *run, period int64) {
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
			s.Stalls[sim.StallIssue] += b.runs * period
			for v := range b.variants {
				s.Stalls[sim.StallOperand] += b.variants[v].runs * int64(b.variants[v].stall[i]) * period
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
