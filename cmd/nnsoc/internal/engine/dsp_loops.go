package engine

import (
	"sort"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// codeRange is a range of addresses and the cycles spent there.
type codeRange struct {
	lo, hi uint32 // [lo,hi)
	cycles int64
	count  int64 // executions of its last packet
}

func (r codeRange) inside(o codeRange) bool {
	return r != o && r.lo >= o.lo && r.hi <= o.hi
}

// ranPacket is a packet of a profile, decoded.
type ranPacket struct {
	hexagon.Packet
	cost *dsp.PacketProfile
}

// ranPackets returns the packets of a profile in order of address.
func ranPackets(program *dsp.Program, prof *dsp.Profile) (out []ranPacket) {
	words := hexagon.Words(program.Code)
	for i := range prof.Packets {
		x := &prof.Packets[i]
		if p, _, err := hexagon.DecodePacket(words[(x.Addr-program.Base)/4:], x.Addr); err == nil {
			out = append(out, ranPacket{p, x})
		}
	}
	return out
}

// innerLoops are the loops inside within that have run and contain no other one,
// hottest first: hardware loops, and branches back.
func innerLoops(packets []ranPacket, within codeRange) []codeRange {
	var all []codeRange
	add := func(lo uint32, end *ranPacket) {
		r := codeRange{lo: lo, hi: end.Addr + 4*uint32(end.Words), count: end.cost.Count}
		if lo < within.lo || r.hi > within.hi {
			return
		}
		for i := range packets {
			if a := packets[i].Addr; a >= r.lo && a < r.hi {
				r.cycles += packets[i].cost.Stalls.Total()
			}
		}
		all = append(all, r)
	}
	// A loop end belongs to the setup whose start is the nearest before it.
	var starts [2][]uint32
	for i := range packets {
		p := &packets[i]
		for _, in := range p.Insts[:p.N] {
			if to, ok := in.Target(p.Addr); ok && in.Op.Form().Has(hexagon.FlagLoop) {
				k := 0
				if in.Op == hexagon.J2_loop1i || in.Op == hexagon.J2_loop1r {
					k = 1
				}
				starts[k] = append(starts[k], to)
			}
		}
	}
	for i := range packets {
		p := &packets[i]
		for k, ends := range [...]bool{p.EndLoop0, p.EndLoop1} {
			best, ok := uint32(0), false
			for _, s := range starts[k] {
				if s <= p.Addr && (!ok || s > best) {
					best, ok = s, true
				}
			}
			if ends && ok {
				add(best, p)
			}
		}
		for _, in := range p.Insts[:p.N] {
			f := in.Op.Form()
			if to, ok := in.Target(p.Addr); ok && f.Has(hexagon.FlagBranch) && !f.Has(hexagon.FlagCall) && to <= p.Addr {
				add(to, p)
			}
		}
	}
	var inner []codeRange
	for i, r := range all {
		outer := r.count < 2
		for k, o := range all {
			outer = outer || k != i && o.inside(r) && o.count >= 2
		}
		if !outer {
			inner = append(inner, r)
		}
	}
	sort.SliceStable(inner, func(i, j int) bool { return inner[i].cycles > inner[j].cycles })
	return inner
}
