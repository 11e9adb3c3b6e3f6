package dsp

import (
	"errors"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// composer makes the micro-ops of one packet after another; its lists keep their
// room.
type composer struct {
	d      *decoder
	b      *block
	p      *hexagon.Packet
	nodes  []node
	reads  []read // of the nodes, one node after another
	writes []uint8
	front  []uop // copies of old values
	uses   []use // of the packet
	defs   []use

	temporary
}

// temporary numbers the temporaries of a packet that are taken.
type temporary struct {
	nextV, nextR, nextP, nextQ int

	gatherV, gatherQ int // of vtmp and of its byte mask, from 1
}

// begin turns to packet p.
func (c *composer) begin(d *decoder, b *block, p *hexagon.Packet) {
	c.d, c.b, c.p = d, b, p
	c.nodes, c.reads, c.writes, c.front = c.nodes[:0], c.reads[:0], c.writes[:0], c.front[:0]
	c.uses, c.defs = c.uses[:0], c.defs[:0]
	c.temporary = temporary{}
}

// add appends a node without reads and writes: room for them is behind those of
// the nodes before, and keep takes what has been used of it.
func (c *composer) add(n node) *node {
	n.reads, n.writes = c.reads[len(c.reads):], c.writes[len(c.writes):]
	c.nodes = append(c.nodes, n)
	return &c.nodes[len(c.nodes)-1]
}

func (c *composer) keep(n *node) {
	c.reads, n.reads = kept(c.reads, n.reads)
	c.writes, n.writes = kept(c.writes, n.writes)
}

// kept takes the part of a list into the list behind whose end it began, or, when
// there was no room for it, adds a copy.
func kept[T any](list, part []T) ([]T, []T) {
	at := len(list)
	list = append(list, part...)
	return list, list[at:len(list):len(list)]
}

var errTemps = errors.New("more exchanged registers than the core has temporaries for")

func (c *composer) tempV(n int) (int, error) {
	if c.nextV+n > tempV {
		return 0, errTemps
	}
	if n == 2 && c.nextV&1 != 0 {
		c.nextV++
		return c.tempV(n)
	}
	c.nextV += n
	return numV + c.nextV - n, nil
}

func (c *composer) tempR(n int) (int, error) {
	if c.nextR+n > tempR {
		return 0, errTemps
	}
	if n == 2 && c.nextR&1 != 0 {
		c.nextR++
		return c.tempR(n)
	}
	c.nextR += n
	return numR + c.nextR - n, nil
}
