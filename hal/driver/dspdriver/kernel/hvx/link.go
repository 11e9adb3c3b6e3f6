package hvx

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Linked is a compiled kernel with packets at their final addresses.
type Linked struct {
	Name    string
	Entry   uint32 // address of the first packet
	Packets []hexagon.Packet
	Shares  []PhaseShares // of each packet
	Sources []int         // operations of the model that it was generated for, rising
	Loops   []Loop        // its parts by how often they run; nil when it comes from a compilation cache
	Fetches bool          // it brings its inputs to L2 itself
}

// Link gives packets their addresses, the first addr, and branches their distances. It
// returns the program and its bytes.
func (c *Code) Link(addr uint32) (*Linked, []byte, error) {
	k := &Linked{Name: c.Name, Entry: addr, Loops: c.Loops, Fetches: c.Fetches}
	l := newLinker(c.code, k)
	err := l.relax()
	var words []uint32
	for i := 0; i < len(k.Packets) && err == nil; i++ {
		p := &k.Packets[i]
		if err = p.Check(); err == nil {
			words, err = p.AppendWords(words)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("hvx: kernel %s: %w", c.Name, err)
	}
	bytes := make([]byte, 0, 4*len(words))
	for _, w := range words {
		bytes = binary.LittleEndian.AppendUint32(bytes, w)
	}
	return k, bytes, nil
}

// linker finds the addresses of packets.
type linker struct {
	*Linked
	code     *codegen.Code
	branches []branch
	starts   []uint32 // of the groups, and the end
}

// branch is a packet that names labels, before the distances to these are known.
type branch struct {
	group  int
	packet hexagon.Packet
}

// newLinker makes the packets of the code, without addresses.
func newLinker(code *codegen.Code, k *Linked) *linker {
	l := &linker{Linked: k, code: code, starts: make([]uint32, len(code.Groups)+1)}
	k.Packets = make([]hexagon.Packet, len(code.Groups))
	k.Shares = make([]PhaseShares, len(code.Groups))
	for i := range code.Groups {
		g, p := &code.Groups[i], &k.Packets[i]
		k.Shares[i] = sharesOf(g)
		for _, in := range g.Instrs {
			parts, n := instructions(in)
			copy(p.Insts[p.N:], parts[:n])
			p.N += uint8(n)
		}
		if p.N == 0 {
			p.Insts[0] = hexagon.Inst{Op: hexagon.A2_nop}
			p.N = 1
		}
		p.EndLoop0 = g.EndLoop&1 != 0
		p.EndLoop1 = g.EndLoop&2 != 0
		if namesLabel(g) {
			l.branches = append(l.branches, branch{i, *p})
		}
	}
	return l
}

// maxRounds bounds the search for distances.
const maxRounds = 16

// relax brings all packets into their final form. Distances depend on sizes and, through
// extenders, sizes on distances: it begins without extenders, from where sizes only grow. Only packets
// that name labels change from round to round.
func (l *linker) relax() error {
	for i, b := 0, 0; i < len(l.Packets); i++ {
		p := &l.Packets[i]
		if b < len(l.branches) && l.branches[b].group == i {
			p.Words = p.N
			b++
		} else if err := p.Layout(); err != nil {
			return err
		}
	}
	l.move()
	for range maxRounds {
		for b := range l.branches {
			if err := l.setDistances(&l.branches[b]); err != nil {
				return err
			}
		}
		if !l.move() {
			return nil
		}
	}
	return fmt.Errorf("branch distances do not converge")
}

// move gives packets the addresses that follow from their sizes; it reports whether these
// are others than before.
func (l *linker) move() (moved bool) {
	at := l.Entry
	for i := range l.starts {
		moved = moved || l.starts[i] != at
		l.starts[i] = at
		if i < len(l.Packets) {
			l.Packets[i].Addr = at
			at += 4 * uint32(l.Packets[i].Words)
		}
	}
	return moved
}

func namesLabel(g *codegen.CodeGroup) bool {
	for _, in := range g.Instrs {
		for n := range in.Args {
			if in.Args[n].Kind == codegen.ArgLabel {
				return true
			}
		}
	}
	return false
}

// setDistances makes the packet of a branch anew with the distances to its labels.
func (l *linker) setDistances(b *branch) error {
	p := &l.Packets[b.group]
	*p = b.packet
	p.Addr = l.starts[b.group]
	j := 0
	for _, in := range l.code.Groups[b.group].Instrs {
		for n := range in.Args {
			if a := &in.Args[n]; a.Kind == codegen.ArgLabel {
				o := &hexagon.Op(in.Op).Form().Operands[n]
				p.Insts[j].Imm[o.Index] = int32(l.starts[l.code.LabelGroup(a.Label)] - p.Addr)
			}
		}
		_, n := instructions(in)
		j += n
	}
	return p.Layout()
}
