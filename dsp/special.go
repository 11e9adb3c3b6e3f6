package dsp

import (
	"errors"
	"strings"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Vector instructions that use more than their operands: gathers with the store
// of their packet, histograms.

// vtmp reserves the temporaries of the packet's gather and answers the number
// of the vector and the place of the byte mask.
func (c *composer) vtmp() (v uint8, mask uint16, err error) {
	if c.gatherV == 0 {
		t, err := c.tempV(1)
		if err != nil {
			return 0, 0, err
		}
		if c.nextQ >= tempQ {
			return 0, 0, errTemps
		}
		c.gatherV, c.gatherQ = t-numV+1, c.nextQ+1
		c.nextQ++
	}
	return uint8(c.gatherV - 1), offQ + 128*uint16(numQ+c.gatherQ-1), nil
}

// storesGather reports stores of vtmp.
func storesGather(in *hexagon.Inst, f *hexagon.Form) bool {
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == hexagon.KindNV && in.R[o.Index] == hexagon.VTmp {
			return true
		}
	}
	return false
}

// maskedStore is the store under a byte mask with the address mode of f.
func maskedStore(f *hexagon.Form) hexagon.Op {
	switch {
	case strings.HasSuffix(f.Name, "_ppu"):
		return hexagon.V6_vS32b_qpred_ppu
	case strings.HasSuffix(f.Name, "_pi"):
		return hexagon.V6_vS32b_qpred_pi
	}
	return hexagon.V6_vS32b_qpred_ai
}

// special adds what a gather or histogram uses without naming it.
func (c *composer) special(n *node, f *hexagon.Form, info *packetInfo) error {
	switch f.Class {
	case hexagon.CVI_GATHER, hexagon.CVI_GATHER_DV:
		v, mask, err := c.vtmp()
		if err != nil {
			return err
		}
		n.u.o[4], n.u.o[5] = mask, offV+128*uint16(numV+v)
		n.writes = append(n.writes, resT+v)
	case hexagon.CVI_HIST:
		n.hist = true
		for v := range uint8(numV) {
			n.writes = append(n.writes, resV+v)
			info.uses = append(info.uses, use{resV + v, histUse, true})
			info.defs = append(info.defs, use{resV + v, histDef, true})
		}
		n.reads = append(n.reads, read{res: resV, n: numV, slot: implicit})
	}
	return nil
}

// Operand cycles of the counters of a histogram, for which the tables have
// none: assumed those of an accumulator.
const histUse, histDef = 7, 9

// histograms makes them count the vector of the packet's .tmp load.
func (c *composer) histograms() error {
	for i := range c.nodes {
		if !c.nodes[i].hist {
			continue
		}
		from := -1
		for j := range c.nodes {
			if c.nodes[j].tmp >= 0 {
				from = j
			}
		}
		if from < 0 {
			return errors.New("a histogram needs a .tmp load in its packet")
		}
		load := &c.nodes[from]
		c.nodes[i].u.o[5] = load.u.o[0]
		c.nodes[i].reads = append(c.nodes[i].reads, read{res: load.writes[0], n: 1, slot: implicit, new: true})
	}
	return nil
}
