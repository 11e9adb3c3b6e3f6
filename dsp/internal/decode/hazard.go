package decode

import (
	"errors"
	"slices"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

// The micro-ops of a packet run one after another, so the decoder orders them
// such that every old value is read before it is overwritten and every .new
// value after it is made. Where registers are exchanged in a circle, one old
// value is copied to a temporary first.

// read is one register read of a micro-op.
type read struct {
	res  uint8
	n    uint8 // registers from res on: 2 for a pair, 4 for a quad
	slot int8  // operand index; guardSlot for the predicate; implicit when it has none
	new  bool  // needs the value made in this packet
	both bool  // the operand is also written, so a copy cannot replace it
}

const (
	guardSlot = -1
	implicit  = -2
)

type node struct {
	u      state.Uop
	reads  []read
	writes []uint8
	load   bool
	store  bool
	vector bool
	branch bool
	guard  bool   // runs under a scalar predicate
	hist   bool   // counts the vector of a .tmp load
	tmp    int16  // .tmp load: the vector register its value is known by, else -1
	after  uint16 // nodes that must precede
}

const maxNodes = 16

// packet appends the micro-ops of p to b.
func (d *Decoder) packet(b *Block, p *hexagon.Packet) (err error) {
	defer try.Catch(&err)
	c := &d.builder
	c.begin(d, b, p)
	for i := range p.Insts[:p.N] {
		parts := p.Insts[i : i+1]
		if c.sharesPredicate(i) {
			q := try.V(asm.ParsePacket("{ "+p.Insts[i].Text(p.Addr)+" }", p.Addr))
			parts = q.Insts[:q.N]
		}
		for k := range parts {
			try.E(c.inst(&parts[k]))
		}
	}
	try.E(c.temporaries())
	try.E(c.histograms())
	try.E(c.mergeCompares())
	try.E(c.order())
	c.besideZ()
	b.WritesP3 = false
	vector := false
	for i := range c.nodes {
		b.WritesP3 = b.WritesP3 || c.nodes[i].writesTo(resP+3)
		vector = vector || c.nodes[i].vector
	}
	b.Packets = append(b.Packets, Packet{Addr: p.Addr, Vector: vector, Uses: d.retain(c.uses), Defs: d.retain(c.defs)})
	b.Events[energy.Packet]++
	b.Insts += int64(p.N)
	return nil
}

// sharesPredicate reports a compound instruction whose predicate another one of the packet writes, too: its jump reads
// both, so it is split.
func (c *packetBuilder) sharesPredicate(k int) bool {
	r, ok := compoundPredicate(c.p.Insts[k].Op.Form())
	if !ok {
		return false
	}
	for i := range c.p.Insts[:c.p.N] {
		in := &c.p.Insts[i]
		f := in.Op.Form()
		if q, ok := compoundPredicate(f); ok && q == r && i != k {
			return true
		}
		for j := range f.Operands {
			if o := &f.Operands[j]; o.Kind == hexagon.KindP && o.Role&hexagon.Def != 0 && in.R[o.Index] == r {
				return true
			}
		}
	}
	return false
}

// mergeCompares ands the results when two compares write one predicate.
func (c *packetBuilder) mergeCompares() error {
	writer := [4]int{-1, -1, -1, -1}
	merge := [4]int{-1, -1, -1, -1}
	n := len(c.nodes)
	for i := range n {
		for w := range c.nodes[i].writes {
			res := c.nodes[i].writes[w]
			if res < resP || res >= resP+4 {
				continue
			}
			p := res - resP
			if writer[p] < 0 {
				writer[p] = i
				continue
			}
			if c.nextP >= state.TempP {
				return errTemps
			}
			t := state.OffPT + uint16(c.nextP)
			tres := resT + 64 + uint8(c.nextP)
			c.nextP++
			c.nodes[i].writes[w] = tres
			c.nodes[i].u.Arg[0] = t
			if k := merge[p]; k >= 0 { // a third writer: and its result into the one that waits to be merged
				if c.nextP >= state.TempP {
					return errTemps
				}
				x := node{tmp: -1, u: c.nodes[k].u}
				last := c.nodes[k].reads[0].res
				sum, sumRes := state.OffPT+uint16(c.nextP), resT+64+uint8(c.nextP)
				c.nextP++
				x.u.Arg = [6]uint16{sum, c.nodes[k].u.Arg[2], t}
				x.reads = []read{{res: last, n: 1, slot: 1, new: true}, {res: tres, n: 1, slot: 2, new: true}}
				x.writes = []uint8{sumRes}
				c.nodes[k].u.Arg[2] = sum
				c.nodes[k].reads[0].res = sumRes
				c.nodes = append(c.nodes, x)
				continue
			}
			merge[p] = len(c.nodes)
			m := node{tmp: -1, u: c.uop(hexagon.C2_and)}
			m.u.Arg = [6]uint16{state.OffP + uint16(p), state.OffP + uint16(p), t}
			m.reads = []read{{res: tres, n: 1, slot: 2, new: true}, {res: res, n: 1, slot: 1, new: true, both: true}}
			m.writes = []uint8{res}
			c.nodes = append(c.nodes, m)
		}
	}
	return nil
}

func (n *node) writesTo(res uint8) bool {
	return slices.Contains(n.writes, res)
}

// edges computes which nodes must precede each.
func (c *packetBuilder) edges() error {
	ns := c.nodes
	if len(ns) > maxNodes {
		return errTemps
	}
	var predicates [maxNodes]uint8 // that each node writes
	for i := range ns {
		ns[i].after = 0
		for _, res := range ns[i].writes {
			if res -= resP; res < 4 {
				predicates[i] |= 1 << res
			}
		}
	}
	for i := range ns {
		for k := range ns[i].reads {
			r := &ns[i].reads[k]
			if r.res == noRes {
				continue
			}
			made := false
			for j := range ns {
				if j == i || r.both && ns[i].guard && ns[j].guard {
					continue // two writers are legal only when at most one of them runs
				}
				for w := range r.n {
					if !ns[j].writesTo(r.res + w) {
						continue
					}
					made = true
					if r.new {
						ns[i].after |= 1 << j
					} else {
						ns[j].after |= 1 << i
					}
				}
			}
			if r.new && !made {
				return errors.New("a .new operand has no producer in the packet")
			}
		}
		for j := range i {
			a, b := &ns[j], &ns[i]
			switch {
			case a.branch && b.branch, a.store && b.store, a.load && !a.store && b.store:
				b.after |= 1 << j
			case a.store && b.load && !b.store:
				// A load in slot 0 sees the data of the store in slot 1; a vector load sees memory as it was before the
				// packet (QEMU).
				if b.vector {
					a.after |= 1 << i
				} else {
					b.after |= 1 << j
				}
			case predicates[i]&predicates[j] != 0: // merged compares: the first writer, then the merge
				b.after |= 1 << j
			}
		}
	}
	return nil
}

// order appends the nodes to the block.
func (c *packetBuilder) order() (err error) {
	defer try.Catch(&err)
	try.E(c.edges())
	var room [maxNodes]int
	seq, done := room[:0], uint16(0)
	for len(seq) < len(c.nodes) {
		next := -1
		for i := range c.nodes {
			if done>>i&1 == 0 && c.nodes[i].after&^done == 0 {
				next = i
				break
			}
		}
		if next >= 0 {
			done |= 1 << next
			seq = append(seq, next)
			continue
		}
		try.E(c.breakCircle(done))
		try.E(c.edges())
	}
	c.b.Ops = append(c.b.Ops, c.front...)
	for _, i := range seq {
		c.b.Ops = append(c.b.Ops, c.nodes[i].u)
	}
	return nil
}

// breakCircle copies one old value that is read within a circle.
func (c *packetBuilder) breakCircle(done uint16) error {
	for i := range c.nodes {
		if done>>i&1 != 0 {
			continue
		}
		for k := range c.nodes[i].reads {
			r := &c.nodes[i].reads[k]
			if r.new || r.both || r.res == noRes || r.slot == implicit || r.res >= resP && r.res < resQ && r.n > 1 {
				continue // in place of p3:0, another read of the circle is copied
			}
			for j := range c.nodes {
				if j == i || done>>j&1 != 0 || !c.nodes[j].writesTo(r.res) && (r.n < 2 || !c.nodes[j].writesTo(r.res+1)) {
					continue
				}
				if c.reaches(j, i, done) {
					return c.copyOld(i, r)
				}
			}
		}
	}
	return errors.New("registers are exchanged in a way that cannot be ordered")
}

// reaches reports whether node to must follow node from, transitively.
func (c *packetBuilder) reaches(from, to int, seen uint16) bool {
	for i := range c.nodes {
		if c.nodes[i].after>>from&1 == 0 {
			continue
		}
		if i == to {
			return true
		}
		if seen>>i&1 == 0 {
			seen |= 1 << i
			if c.reaches(i, to, seen) {
				return true
			}
		}
	}
	return false
}

// copyOld redirects read r of node i to a copy made before the packet.
func (c *packetBuilder) copyOld(i int, r *read) (err error) {
	defer try.Catch(&err)
	var to, from uint16
	switch {
	case r.res < ResV:
		t := try.V(c.tempR(int(r.n)))
		to, from = state.OffR+4*uint16(t), state.OffR+4*uint16(r.res)
		op := hexagon.A2_tfr
		if r.n == 2 {
			op = hexagon.A2_orp
		}
		c.front = append(c.front, c.uop(op, to, from, from))
	case r.res < resP:
		t := try.V(c.tempV(int(r.n)))
		to, from = state.OffV+128*uint16(t), state.OffV+128*uint16(r.res-ResV)
		for h := range uint16(r.n) {
			c.front = append(c.front, c.copyV(to+128*h, from+128*h))
		}
	case r.res < resQ:
		if c.nextP >= state.TempP {
			return errTemps
		}
		to, from = state.OffPT+uint16(c.nextP), state.OffP+uint16(r.res-resP)
		c.nextP++
		c.front = append(c.front, c.uop(hexagon.C2_or, to, from, from))
	case r.res < resC && r.res >= resQ:
		if c.nextQ >= state.TempQ {
			return errTemps
		}
		to, from = state.OffQ+128*uint16(state.NumQ+c.nextQ), state.OffQ+128*uint16(r.res-resQ)
		c.nextQ++
		c.front = append(c.front, c.copyV(to, from))
	case r.res < resT && r.n <= 2 && r.res >= resC: // control or modifier registers
		t := try.V(c.tempR(int(r.n)))
		to, from = state.OffR+4*uint16(t), state.OffC+4*uint16(r.res-resC)
		for h := range uint16(r.n) {
			c.front = append(c.front, c.uop(hexagon.A2_tfr, to+4*h, from+4*h))
		}
	default:
		return errTemps
	}
	if r.slot == guardSlot {
		c.nodes[i].u.Pred = to
	} else {
		c.nodes[i].u.Arg[r.slot] = to
	}
	r.res = noRes
	return nil
}
