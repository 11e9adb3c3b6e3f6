package decode

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/exec"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/scalar"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// inst makes the node of one instruction and its share of the timing facts.
func (c *packetBuilder) inst(in *hexagon.Inst) (err error) {
	defer try.Catch(&err)
	f := in.Op.Form()
	op, guard := try.V2(c.semantics(in))
	n := c.add(node{tmp: -1, guard: guard, load: f.Has(hexagon.FlagLoad), store: f.Has(hexagon.FlagStore), vector: f.IsHVX(), branch: f.Has(hexagon.FlagBranch)})
	u := &n.u
	c.d.bind(u, op)
	u.PC, u.NextPC = c.p.Addr, c.p.Addr+4*uint32(c.p.Words)
	u.Seg = state.OffSeg
	k := 0 // operands before those of the text
	if storesGather(in, f) {
		v, q := try.V2(c.vtmp())
		op = maskedStore(f)
		c.d.bind(u, op)
		u.Arg[0], k = q, 1
		n.reads = append(n.reads, read{res: resT + v, n: 1, slot: implicit, new: true})
	}
	if f.Class == hexagon.CVI_ZW {
		u.Arg[0], k = state.OffZ, 1
	}
	if p, ok := compoundPredicate(f); ok {
		u.Arg[0], k = state.OffP+uint16(p), 1
		n.writes = append(n.writes, resP+p)
		c.defs = append(c.defs, Use{resP + p, 3, false})
	}
	try.E(c.operands(n, in, op, k))
	try.E(c.control(n, in))
	implied(n, op, f)
	if c.d.textOf(in.Op)&textCircular != 0 {
		n.reads = append(n.reads, read{res: circularBuffer(in, f), n: 1, slot: implicit})
	}
	if c.d.textOf(op)&textGlobal != 0 {
		n.reads = append(n.reads, read{res: resC + state.GP, n: 1, slot: implicit})
		if in.Ext {
			u.Imm2 = 1
		}
	}
	try.E(c.special(n, f))
	if guard {
		if n.tmp >= 0 { // a load that does not run leaves the old vector
			c.front = append(c.front, c.copyV(u.Arg[0], state.OffV+uint16(n.tmp)*128))
		}
		u.Asm2 = u.Asm
		if c.d.Asm != nil {
			u.Asm = c.d.Asm.Guard
		}
		u.Fn = exec.Guarded
	}
	c.account(n, f)
	c.retain(n)
	if in.Op == hexagon.A2_nop {
		c.nodes = c.nodes[:len(c.nodes)-1]
	}
	return nil
}

// semantics returns the operation that computes an instruction, and whether a predicate guards it: a conditional form
// without its own semantics is the plain one behind a guard.
func (c *packetBuilder) semantics(in *hexagon.Inst) (op hexagon.Op, guard bool, err error) {
	f := in.Op.Form()
	op = in.Op
	if f.Has(hexagon.FlagSupervisor) {
		return 0, false, fmt.Errorf("supervisor instruction %s (%s)", in.Text(c.p.Addr), f.Name)
	}
	if f.Has(hexagon.FlagV66) && c.d.Version < 66 {
		return 0, false, fmt.Errorf("%s needs a core of V66 or later, this one is V%d", in.Text(c.p.Addr), c.d.Version)
	}
	if f.Has(hexagon.FlagUndefined) {
		return 0, false, fmt.Errorf("%s (%s): no public source says what it computes (D-60)", in.Text(c.p.Addr), f.Name)
	}
	if guard = f.Has(hexagon.FlagPred) && exec.Of(op) == nil; guard {
		op = f.Plain
	}
	if op == 0 || exec.Of(op) == nil {
		return 0, false, fmt.Errorf("%s has no semantics", f.Name)
	}
	if f.Has(hexagon.FlagV68) && !c.d.DMA {
		return 0, false, fmt.Errorf("%s: this core has no user DMA, which comes with V68", f.Syntax)
	}
	return op, guard, nil
}

// operands fills the arguments of n from k on with the operands of the text, and their reads and writes.
func (c *packetBuilder) operands(n *node, in *hexagon.Inst, op hexagon.Op, k int) error {
	f, u := in.Op.Form(), &n.u
	imms := 0
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Kind == hexagon.KindImm {
			v := in.Imm[o.Index]
			if o.PCRel {
				v += int32(c.p.Addr)
			}
			if f.MemBytes == 128 {
				v *= 128 // vmem offsets count vectors
			}
			if imms == 0 {
				u.Imm = v
			} else {
				u.Imm2 = v
			}
			imms++
			continue
		}
		reg := o.Reg(in)
		if reg == hexagon.VTmp {
			u.Arg[k] = state.OffV + uint16(state.NumV+c.gatherV-1)*128
			continue
		}
		off, res, width := place(o.Kind, reg)
		slot := int8(k)
		if n.guard && i == 0 {
			slot = guardSlot
			u.Pred = off
			u.Guard = 1
			if o.Neg {
				u.Guard = 0
			}
		} else {
			u.Arg[k] = off
			k++
		}
		if o.Role&hexagon.Use != 0 {
			isNew := o.New || o.Kind == hexagon.KindNR || o.Kind == hexagon.KindNV
			n.reads = append(n.reads, read{res: res, n: width, slot: slot, new: isNew, both: o.Role == hexagon.DefUse})
			if !isNew {
				for w := range width {
					c.uses = append(c.uses, Use{res + w, o.UseCycle, f.IsHVX()})
				}
			}
		}
		if o.Role&hexagon.Def != 0 {
			if f.Has(hexagon.FlagTmp) && o.Kind == hexagon.KindV {
				t, err := c.tempV(1)
				if err != nil {
					return err
				}
				u.Arg[k-1] = state.OffV + uint16(t)*128
				n.tmp = int16(reg)
				n.writes = append(n.writes, resT+uint8(t-state.NumV))
				continue
			}
			for w := range width {
				n.writes = append(n.writes, res+w)
				cycle := o.DefCycle
				if op == hexagon.V6_extractw {
					cycle += c.d.ExtractCycles
				}
				c.defs = append(c.defs, Use{res + w, cycle, f.IsHVX()})
			}
		}
	}
	return nil
}

// account adds an instruction's access to memory, branch and events to the block.
func (c *packetBuilder) account(n *node, f *hexagon.Form) {
	if kind, ok := memKindOf(f); ok {
		bytes := f.MemBytes
		if kind == ScatterElements || kind == GatherElements {
			bytes = Elements(f)
			c.b.Elements = true
		}
		if kind == VectorLoad && !n.guard {
			c.b.Loads |= 1 << len(c.b.Mem)
		}
		n.u.EA = state.OffEA + uint16(4*len(c.b.Mem))
		c.b.Mem = append(c.b.Mem, MemOp{Kind: kind, Bytes: bytes, Packet: uint16(len(c.b.Packets))})
	}
	if n.branch {
		c.b.Branches = true
		c.b.Indirect = c.b.Indirect || f.Has(hexagon.FlagIndirect)
		if conditional(f, n.guard) {
			c.b.Conditional = true
			c.b.HintTaken = c.b.HintTaken || hintsTaken(f)
		}
	}
	c.b.Vector = c.b.Vector || f.IsHVX()
	c.b.Extracts = c.b.Extracts || f.Op == hexagon.V6_extractw
	energy.Count(&c.b.Events, f)
}

// place is the byte offset, first resource and width of a register operand.
func place(k hexagon.Kind, reg uint8) (off uint16, res, width uint8) {
	r := uint16(reg)
	switch k {
	case hexagon.KindR, hexagon.KindNR:
		return state.OffR + 4*r, resR + reg, 1
	case hexagon.KindRR:
		return state.OffR + 4*r, resR + reg, 2
	case hexagon.KindV, hexagon.KindNV:
		return state.OffV + 128*r, ResV + reg, 1
	case hexagon.KindVV:
		return state.OffV + 128*r, ResV + reg, 2
	case hexagon.KindVVVV:
		return state.OffV + 128*r, ResV + reg, 4
	case hexagon.KindP:
		return state.OffP + r, resP + reg, 1
	case hexagon.KindQ:
		return state.OffQ + 128*r, resQ + reg, 1
	case hexagon.KindM, hexagon.KindMImm:
		return state.OffC + 4*(state.M0+r), resC + state.M0 + reg, 1
	}
	if k == hexagon.KindCC {
		return state.OffC + 4*r, resC + reg, 2
	}
	if reg == state.P30 {
		return state.OffP, resP, 4
	}
	return state.OffC + 4*r, resC + reg, 1
}

// control handles the side effects of a transfer from or to a control register.
func (c *packetBuilder) control(n *node, in *hexagon.Inst) error {
	switch in.Op {
	case hexagon.A2_tfrcrr:
		r := in.R[1]
		if r == state.PC {
			c.d.bind(&n.u, hexagon.A2_tfrsi)
			n.u.Imm = int32(c.p.Addr)
		} else if r == state.USR {
			n.reads = append(n.reads, read{res: resFlags, n: 1, slot: implicit})
		} else if counterC[r] {
			n.ignoreReads()
		} else if !modelledC[r] {
			return fmt.Errorf("control register c%d is not modelled", r)
		}
	case hexagon.A2_tfrrcr:
		r := in.R[0]
		if !modelledC[r] {
			return fmt.Errorf("control register c%d cannot be written", r)
		}
	case hexagon.A4_tfrcpp:
		r := in.R[1]
		switch {
		case r == state.USR:
			n.u.Fn = scalar.TransferUSRPC
			n.reads = append(n.reads, read{res: resFlags, n: 1, slot: implicit})
		case counterC[r]:
			n.ignoreReads()
		case !modelledC[r] || !modelledC[r+1]:
			return fmt.Errorf("control registers c%d:%d are not modelled", r+1, r)
		case r == state.P30:
			n.reads = append(n.reads, read{res: resP, n: 4, slot: implicit})
		}
	case hexagon.A4_tfrpcp:
		r := in.R[0]
		if !modelledC[r] || !modelledC[r+1] {
			return fmt.Errorf("control registers c%d:%d cannot be written", r+1, r)
		}
		if r == state.P30 {
			n.writes = append(n.writes, resP, resP+1, resP+2, resP+3)
		}
	}
	return nil
}

// ignoreReads removes the registers that a node reads from the hazard analysis: no instruction writes them.
func (n *node) ignoreReads() {
	for i := range n.reads {
		n.reads[i].res = noRes
	}
}

// implied adds the registers that a form uses without naming them.
func implied(n *node, op hexagon.Op, f *hexagon.Form) {
	old := func(res uint8) { n.reads = append(n.reads, read{res: res, n: 1, slot: implicit}) }
	switch op {
	case hexagon.S2_allocframe:
		old(resR + 31)
		n.writes = append(n.writes, resR+30)
	case hexagon.L2_deallocframe, hexagon.L4_return:
		n.writes = append(n.writes, resR+29)
	case hexagon.J2_loop1i, hexagon.J2_loop1r:
		n.writes = append(n.writes, resC+state.SA1, resC+state.LC1)
	case hexagon.S2_cabacdecbin:
		n.writes = append(n.writes, resP)
	}
	switch {
	case f.Has(hexagon.FlagCall):
		n.writes = append(n.writes, resR+31)
	case f.Has(hexagon.FlagLoop) && op != hexagon.J2_loop1i && op != hexagon.J2_loop1r:
		n.writes = append(n.writes, resC+state.SA0, resC+state.LC0, resC+state.USR)
		if op != hexagon.J2_loop0i && op != hexagon.J2_loop0r {
			n.writes = append(n.writes, resP+3)
		}
	}
	if f.Has(hexagon.FlagOvf) {
		n.writes = append(n.writes, resC+state.USR)
	}
	if f.Has(hexagon.FlagFloat) { // several may raise flags in one packet, all in the old rounding mode
		old(resC + state.USR)
		n.writes = append(n.writes, resFlags)
	}
}

// compoundPredicate is the predicate that a compound instruction makes.
func compoundPredicate(f *hexagon.Form) (uint8, bool) {
	if f.Class != hexagon.CJ || f.Syntax[0] != 'p' {
		return 0, false
	}
	return f.Syntax[1] - '0', true
}

// conditional reports branches that may fall through.
func conditional(f *hexagon.Form, guard bool) bool {
	_, compound := compoundPredicate(f)
	return guard || f.Class == hexagon.NCJ || compound || strings.HasPrefix(f.Syntax, "if (")
}

// IsGlobal reports accesses relative to gp, or at a constant address.
func IsGlobal(op hexagon.Op) bool { return strings.Contains(op.Form().Syntax, "(gp+") }

// circularBuffer is the register that holds the start of the buffer of a
// circular access.
func circularBuffer(in *hexagon.Inst, f *hexagon.Form) uint8 {
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == hexagon.KindM {
			return resC + state.CS0 + in.R[o.Index]
		}
	}
	return noRes
}

// What the text of a form states.
const (
	textKnown = 1 << iota
	textGlobal
	textCircular
)

// textOf looks at the text of a form, once in a program.
func (d *Decoder) textOf(op hexagon.Op) uint8 {
	t := d.text[op]
	if t != 0 {
		return t
	}
	t = textKnown
	syntax := op.Form().Syntax
	if IsGlobal(op) {
		t |= textGlobal
	}
	if strings.Contains(syntax, ":circ(") {
		t |= textCircular
	}
	d.text[op] = t
	return t
}

// modelledC are the control registers that a program may read and write. All
// bits of each can be written, as in QEMU.
var modelledC = [32]bool{
	state.SA0: true, state.LC0: true, state.SA1: true, state.LC1: true, state.P30: true, state.P30 + 1: true, state.M0: true, state.M0 + 1: true,
	state.USR: true, state.UGP: true, state.GP: true, state.CS0: true, state.CS0 + 1: true,
}

// counterC are the control registers that count; they can be read only.
var counterC = [32]bool{
	state.UPCYCLE: true, state.UPCYCLE + 1: true, state.PKTCOUNT: true, state.PKTCOUNT + 1: true, state.UTIMER: true, state.UTIMER + 1: true,
}
