package hexagon

import (
	"fmt"
	"math/bits"
)

// Order puts the instructions into the order in which LLVM lays the packet out, highest slot first. The halves of a duplex
// stay at the end.
func (p *Packet) Order() error {
	l := p.slotLayout()
	n := p.singles()
	if n == 0 {
		return nil
	}
	if r := l.assign(p.Insts[:n]); r != ruleOK {
		return fmt.Errorf("hexagon: packet 0x%x: %s", p.Addr, r)
	}
	l.shuffle()
	old := p.Insts
	for i := range l.res[:l.n] {
		p.Insts[i] = old[l.res[i].index]
	}
	return nil
}

// slotLayout is the state in which slot assignment of the packet begins: a duplex has slots 0 and 1.
func (p *Packet) slotLayout() (l layout) {
	l.ordered = p.NoShuf
	if p.Duplex {
		l.reserved = 3
	}
	return l
}

// shuffle orders the instructions for encoding. Slots are visited from 3 down; whenever some remaining instruction can
// run in the slot, the remaining ones are sorted by how much they need it: few slots and low slots weigh more. Before
// that the instructions with the fewest choices of slots and pipes are first.
func (l *layout) shuffle() {
	for i := range l.res[:l.n] {
		l.res[i].weight = uint32(4 - bits.OnesCount8(l.res[i].slots))
	}
	l.sort(0)
	for i := range l.res[:l.n] {
		l.res[i].weight = uint32(4 - l.res[i].pipes)
	}
	l.sort(0)
	skipped := 0
	for step := 0; step < 4; step++ {
		slot := 3 - step
		from := min(max(step-skipped, 0), l.n)
		any := false
		for i := from; i < l.n; i++ {
			r := &l.res[i]
			r.weight = slotWeight(r.slots, slot)
			any = any || r.weight != 0
		}
		if !any {
			skipped++
			continue
		}
		l.sort(from)
	}
}

// sort orders the instructions from index from on by descending weight, keeping the order of equals.
func (l *layout) sort(from int) {
	rest := l.res[from:l.n]
	for i := 1; i < len(rest); i++ {
		for j := i; j > 0 && rest[j].weight > rest[j-1].weight; j-- {
			rest[j], rest[j-1] = rest[j-1], rest[j]
		}
	}
}

func slotWeight(slots uint8, slot int) uint32 {
	if slots>>slot&1 == 0 {
		return 0
	}
	return (7 - uint32(bits.OnesCount8(slots))) << bits.TrailingZeros8(slots) << (8 * slot)
}

// Placement is where the instructions of a packet run.
type Placement struct {
	Slot  [4]uint8 // slot of each instruction
	Pipes [4]uint8 // vector pipes that it occupies: MPY0 1, MPY1 2, SHIFT 4, XLANE 8
}

// Place assigns slots and pipes to the instructions of a legal packet in encoding order: the highest slots and the
// first pipes that leave enough for the others.
func (p *Packet) Place() (pl Placement) {
	l := p.slotLayout()
	n := p.singles()
	if p.Duplex {
		pl.Slot[n], pl.Slot[n+1] = 1, 0
	}
	if n > 0 && l.assign(p.Insts[:n]) == ruleOK {
		placeSlots(l.res[:n], l.reserved, pl.Slot[:])
	}
	placePipes(p.Insts[:p.N], 0, pl.Pipes[:])
	return pl
}

func placeSlots(res []resource, taken uint8, out []uint8) {
	if len(res) == 0 {
		return
	}
	for s := 3; s >= 0; s-- {
		bit := uint8(1) << s
		if res[0].slots&^taken&bit != 0 && fitSlots(res[1:], taken|bit) {
			out[0] = uint8(s)
			placeSlots(res[1:], taken|bit, out[1:])
			return
		}
	}
}

func placePipes(insts []Inst, taken uint8, out []uint8) {
	if len(insts) == 0 {
		return
	}
	for _, m := range pipes[forms[insts[0].Op].Units] {
		if m&taken == 0 && fitPipes(insts[1:], taken|m) {
			out[0] = m
			placePipes(insts[1:], taken|m, out[1:])
			return
		}
	}
	placePipes(insts[1:], taken, out[1:])
}
