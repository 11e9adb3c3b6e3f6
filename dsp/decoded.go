package dsp

import "encoding/binary"

// decoded is what a run knows of a program: its blocks and their schedules. One
// run at a time has it. It depends on the core and the code alone, so that a run
// that finds it does the same as one that begins without.
type decoded struct {
	core   *Core
	dec    *decoder
	blocks []*block // by word of the program
	states states
}

// decode is what the run of p before has left, or a new beginning; blocks do not
// run past stop.
func (c *Core) decode(p *Program, stop uint32) (*decoded, error) {
	if k := p.decoded.Swap(nil); k != nil && k.core == c && k.dec.stop == stop && k.of(p) {
		for _, b := range k.blocks {
			if b != nil {
				b.renew()
			}
		}
		return k, nil
	}
	d, err := newDecoder(p)
	if err != nil {
		return nil, err
	}
	d.single, d.stop = c.single, stop
	d.asm, d.extract, d.dma = c.asm, uint8(c.spec.ExtractCycles), c.spec.DMA != nil
	k := &decoded{core: c, dec: d, blocks: make([]*block, len(d.words))}
	k.states.init()
	return k, nil
}

// of reports whether p still has the code that has been decoded.
func (k *decoded) of(p *Program) bool {
	if k.dec.prog != p || len(p.Code) != 4*len(k.dec.words) {
		return false
	}
	for i, w := range k.dec.words {
		if binary.LittleEndian.Uint32(p.Code[4*i:]) != w {
			return false
		}
	}
	return true
}

// renew forgets what a run has counted.
func (b *block) renew() {
	b.runs, b.prof, b.fetched = 0, nil, 0
	for _, v := range b.variants {
		v.runs = 0
	}
}
