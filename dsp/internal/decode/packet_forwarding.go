package decode

import (
	"errors"
	"strings"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Packet forwarding passes vectors between instructions of one packet: from .tmp and .cur
// loads to their readers, from a gather to its store, from a .tmp load to a histogram.

// vtmp reserves the temporaries of the packet's gather and returns the number of the vector
// and the offset of the byte mask.
func (c *packetBuilder) vtmp() (v uint8, mask uint16, err error) {
	if c.gatherV == 0 {
		t, err := c.tempV(1)
		if err != nil {
			return 0, 0, err
		}
		c.gatherV, c.gatherQ = t-state.NumV+1, c.nextQ+1
		c.nextQ++
	}
	return uint8(c.gatherV - 1), state.OffQ + 128*uint16(state.NumQ+c.gatherQ-1), nil
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

// special adds the implicit operands of a gather or histogram.
func (c *packetBuilder) special(n *node, f *hexagon.Form) error {
	switch f.Class {
	case hexagon.CVI_GATHER, hexagon.CVI_GATHER_DV:
		v, mask, err := c.vtmp()
		if err != nil {
			return err
		}
		n.u.Arg[4], n.u.Arg[5] = mask, state.OffV+128*uint16(state.NumV+v)
		n.writes = append(n.writes, resT+v)
	case hexagon.CVI_ZW:
		c.zLoad = len(c.b.Mem) + 1
		n.writes = append(n.writes, resZ)
		c.defs = append(c.defs, Use{resZ, zDef, true})
	case hexagon.CVI_4SLOT_MPY:
		n.u.Arg[3] = state.OffZ
		n.reads = append(n.reads, read{res: resZ, n: 1, slot: implicit})
		c.uses = append(c.uses, Use{resZ, zUse, true})
	case hexagon.CVI_HIST:
		n.hist = true
		for v := range uint8(state.NumV) {
			n.writes = append(n.writes, ResV+v)
			c.uses = append(c.uses, Use{ResV + v, histUse, true})
			c.defs = append(c.defs, Use{ResV + v, histDef, true})
		}
		n.reads = append(n.reads, read{res: ResV, n: state.NumV, slot: implicit})
	}
	return nil
}

// Operand cycles of the counters of a histogram, for which the tables have
// none: assumed those of an accumulator (D-152).
const histUse, histDef = 7, 9

// Operand cycles of the Z window, for which the tables have none: assumed those of a vector load and of a multiplier's
// input (D-2810).
const zUse, zDef = 5, 9

// besideZ lists the other loads of a packet that loads the Z window.
func (c *packetBuilder) besideZ() {
	if c.zLoad == 0 {
		return
	}
	for k := range c.b.Mem {
		m := &c.b.Mem[k]
		if int(m.Packet) == len(c.b.Packets) && k != c.zLoad-1 && (m.Kind == ScalarLoad || m.Kind == ScalarUpdate || m.Kind == VectorLoad) {
			c.b.Beside = append(c.b.Beside, Beside{Z: uint8(c.zLoad - 1), Load: uint8(k)})
		}
	}
}

// histograms makes them count the vector of the packet's .tmp load.
func (c *packetBuilder) histograms() error {
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
		c.nodes[i].u.Arg[5] = load.u.Arg[0]
		c.nodes[i].reads = append(c.nodes[i].reads, read{res: load.writes[0], n: 1, slot: implicit, new: true})
	}
	return nil
}

// temporaries makes readers of .tmp and .cur loads see the loaded vector.
func (c *packetBuilder) temporaries() error {
	for i := range c.p.N {
		f := c.p.Insts[i].Op.Form()
		if f.Has(hexagon.FlagCur) {
			c.forward(ResV + c.p.Insts[i].R[curOperand(f)])
		}
	}
	for i := range c.nodes {
		if c.nodes[i].tmp < 0 {
			continue
		}
		if err := c.redirect(i); err != nil {
			return err
		}
	}
	return nil
}

// curOperand is the index in Inst.R of the vector that a load defines.
func curOperand(f *hexagon.Form) uint8 {
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == hexagon.KindV && o.Role&hexagon.Def != 0 {
			return o.Index
		}
	}
	return 0
}

// isWritten reports whether a node of the packet writes the register.
func (c *packetBuilder) isWritten(res uint8) bool {
	for i := range c.nodes {
		if c.nodes[i].writesTo(res) {
			return true
		}
	}
	return false
}

// forward converts reads of res to reads of the value made in this packet. A pair is split: only one of its registers
// may be new.
func (c *packetBuilder) forward(res uint8) {
	for i := range c.nodes {
		for k := range c.nodes[i].reads {
			r := &c.nodes[i].reads[k]
			switch {
			case r.new:
			case r.n == 1 && r.res == res:
				r.new = true
			case r.n == 2 && (r.res == res || r.res+1 == res):
				other := r.res ^ 1
				if r.res != res {
					other = r.res
				}
				r.res, r.n, r.new = res, 1, true
				c.nodes[i].reads = append(c.nodes[i].reads, read{res: other, n: 1, slot: implicit})
			}
		}
	}
}

// redirect makes readers of the register named by .tmp load i read its temporary. A pair of which it is one half is
// assembled from copies.
func (c *packetBuilder) redirect(i int) error {
	v := uint8(c.nodes[i].tmp) + ResV
	tmpRes, tmpOff := c.nodes[i].writes[0], c.nodes[i].u.Arg[0]
	for j := range c.nodes {
		for k := range c.nodes[j].reads {
			r := &c.nodes[j].reads[k]
			if r.new && c.isWritten(v) || r.res > v || r.res+r.n <= v || r.slot < 0 {
				continue
			}
			if r.both { // accumulates: the register starts as the loaded vector
				n := node{tmp: -1, u: c.copyV(state.OffV+128*uint16(v-ResV), tmpOff)}
				n.reads = []read{{res: tmpRes, n: 1, slot: 1, new: true}}
				n.writes = []uint8{v}
				r.new = true
				c.nodes = append(c.nodes, n)
				continue
			}
			slot := r.slot
			if r.n == 1 {
				r.res, r.new = tmpRes, true
				c.nodes[j].u.Arg[slot] = tmpOff
				continue
			}
			t, err := c.tempV(2)
			if err != nil {
				return err
			}
			low := r.res
			r.res, r.new = resT+uint8(t-state.NumV), true
			c.nodes[j].u.Arg[slot] = state.OffV + 128*uint16(t)
			for h := range uint8(2) {
				from, src, isNew := state.OffV+128*uint16(low+h-ResV), low+h, false
				if low+h == v {
					from, src, isNew = tmpOff, tmpRes, true
				}
				n := node{tmp: -1, u: c.copyV(state.OffV+128*uint16(t+int(h)), from)}
				n.reads = []read{{res: src, n: 1, slot: 1, new: isNew}}
				n.writes = []uint8{resT + uint8(t-state.NumV) + h}
				c.nodes = append(c.nodes, n)
			}
		}
	}
	return nil
}

func (c *packetBuilder) copyV(d, s uint16) state.Uop {
	return c.uop(hexagon.V6_vassign, d, s)
}
