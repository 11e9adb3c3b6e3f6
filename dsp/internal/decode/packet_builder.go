package decode

import (
	"errors"

	"github.com/nnsoc/nnsoc/dsp/internal/exec"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// packetBuilder translates packets, one after another, to micro-ops; its slices keep their
// capacity from packet to packet.
type packetBuilder struct {
	d      *Decoder
	b      *Block
	p      *hexagon.Packet
	nodes  []node
	reads  []read // of the nodes, one node after another
	writes []uint8
	front  []state.Uop // copies of old values
	uses   []Use       // of the packet
	defs   []Use

	temporary
}

// temporary counts the temporaries that a packet has allocated.
type temporary struct {
	nextV, nextR, nextP, nextQ int

	zLoad int // of Mem, from 1: the packet's load of the Z window

	gatherV, gatherQ int // of vtmp and of its byte mask, from 1
}

// begin starts packet p of block b.
func (c *packetBuilder) begin(d *Decoder, b *Block, p *hexagon.Packet) {
	c.d, c.b, c.p = d, b, p
	c.nodes, c.reads, c.writes, c.front = c.nodes[:0], c.reads[:0], c.writes[:0], c.front[:0]
	c.uses, c.defs = c.uses[:0], c.defs[:0]
	c.temporary = temporary{}
}

// add appends a node without reads and writes: space for them is behind those of the nodes before, and keep reserves
// the used part of it.
func (c *packetBuilder) add(n node) *node {
	n.reads, n.writes = c.reads[len(c.reads):], c.writes[len(c.writes):]
	c.nodes = append(c.nodes, n)
	return &c.nodes[len(c.nodes)-1]
}

func (c *packetBuilder) retain(n *node) {
	c.reads, n.reads = appendInPlace(c.reads, n.reads)
	c.writes, n.writes = appendInPlace(c.writes, n.writes)
}

// appendInPlace appends part to list, in place where part begins at the end of list.
func appendInPlace[T any](list, part []T) ([]T, []T) {
	at := len(list)
	list = append(list, part...)
	return list, list[at:len(list):len(list)]
}

var errTemps = errors.New("more exchanged registers than the core has temporaries for")

func (c *packetBuilder) tempV(n int) (int, error) {
	t, err := allocTemp(&c.nextV, n, state.TempV)
	return state.NumV + t, err
}

func (c *packetBuilder) tempR(n int) (int, error) {
	t, err := allocTemp(&c.nextR, n, state.TempR)
	return state.NumR + t, err
}

// allocTemp allocates a temporary or an even-numbered pair of those from next on.
func allocTemp(next *int, n, end int) (int, error) {
	at := *next
	if n == 2 {
		at = (at + 1) &^ 1
	}
	if at+n > end {
		return 0, errTemps
	}
	*next = at + n
	return at, nil
}

// uop is a micro-op that the decoder puts in.
func (c *packetBuilder) uop(op hexagon.Op, o ...uint16) state.Uop {
	u := state.Uop{PC: c.p.Addr}
	c.d.bind(&u, op)
	copy(u.Arg[:], o)
	return u
}

// bind makes u execute op.
func (d *Decoder) bind(u *state.Uop, op hexagon.Op) {
	u.Fn, u.Op, u.Asm = exec.Of(op), uint16(op), d.Asm.Of(op)
}
