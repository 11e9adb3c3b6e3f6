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
}

// Link gives packets their addresses, the first addr, and branches their distances. It
// returns the program and its bytes.
func (c *Code) Link(addr uint32) (*Linked, []byte, error) {
	code := c.code
	k := &Linked{Name: c.Name, Entry: addr}
	k.Packets = make([]hexagon.Packet, len(code.Groups))
	k.Shares = make([]PhaseShares, len(code.Groups))
	starts := make([]uint32, len(code.Groups)+1)
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
	}
	var words []uint32
	for i, at := 0, k.Entry; i < len(starts); i++ { // without extenders
		starts[i] = at
		if i < len(k.Packets) {
			at += 4 * uint32(k.Packets[i].N)
		}
	}
	// Distances depend on sizes and, through extenders, sizes on distances: sizes only grow.
	for round := 0; ; round++ {
		words = words[:0]
		stable := true
		at := k.Entry
		for i := range k.Packets {
			p := &k.Packets[i]
			if p.Addr != at {
				p.Addr = at
				stable = false
			}
			setLabels(code, i, p, starts)
			n := len(words)
			var err error
			if words, err = p.Encode(words); err != nil {
				return nil, nil, fmt.Errorf("hvx: kernel %s: %w", code.Name, err)
			}
			p.Words = uint8(len(words) - n)
			starts[i] = at
			at += 4 * uint32(p.Words)
		}
		if starts[len(k.Packets)] != at {
			starts[len(k.Packets)] = at
			stable = false
		}
		if stable {
			break
		}
		if round == 16 {
			return nil, nil, fmt.Errorf("hvx: kernel %s: branch distances do not settle", code.Name)
		}
	}
	for i := range k.Packets {
		if err := k.Packets[i].Layout(); err != nil {
			return nil, nil, fmt.Errorf("hvx: kernel %s: %w", code.Name, err)
		}
		if err := k.Packets[i].Check(); err != nil {
			return nil, nil, fmt.Errorf("hvx: kernel %s: %w", code.Name, err)
		}
	}
	bytes := make([]byte, 0, 4*len(words))
	for _, w := range words {
		bytes = binary.LittleEndian.AppendUint32(bytes, w)
	}
	return k, bytes, nil
}

// setLabels fills the branch distances of packet i.
func setLabels(code *codegen.Code, i int, p *hexagon.Packet, starts []uint32) {
	j := 0
	for _, in := range code.Groups[i].Instrs {
		for n := range in.Args {
			if a := &in.Args[n]; a.Kind == codegen.ArgLabel {
				o := &hexagon.Op(in.Op).Form().Operands[n]
				p.Insts[j].Imm[o.Index] = int32(starts[code.LabelGroup(a.Label)] - p.Addr)
			}
		}
		_, n := instructions(in)
		j += n
	}
}
