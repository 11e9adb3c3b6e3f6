package dsp

import (
	"fmt"
	"math/bits"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

// packetGen makes random legal packets of scalar instructions for the harness: r26 (and r29, r30) point into the scratch
// memory, r27 is a small index, r25 a bit-reversed address, r24 a branch target.
type packetGen struct {
	r     *rand.Rand
	forms []*hexagon.Form // candidates for the other instructions
}

// block returns a packet around one instruction of the form; ok is false when none was found.
func (g *packetGen) block(f *hexagon.Form) (x scalarBlock, ok bool) {
	for try := range 400 {
		p := hexagon.Packet{}
		g.add(&p, f)
		if !f.Has(hexagon.FlagSolo) {
			for range g.r.Intn(4) * (400 - try) / 400 {
				c := g.forms[g.r.Intn(len(g.forms))]
				if !c.Has(hexagon.FlagBranch|hexagon.FlagSolo) || g.r.Intn(8) == 0 {
					g.add(&p, c)
				}
			}
			if int(p.N) > len(p.Insts) {
				continue
			}
		}
		p.EndLoop0, p.EndLoop1 = g.r.Intn(20) == 0, g.r.Intn(40) == 0
		if p.Layout() != nil || p.Check() != nil || !defined(&p) {
			continue
		}
		if constant, relative := globals(&p); constant && relative {
			continue
		}
		if g.r.Intn(3) == 0 {
			p = withPairs(p)
		}
		g.land(&p)
		return scalarBlock{packet: p, prelude: g.prelude(&p)}, true
	}
	return x, false
}

// add appends an instruction of the form behind the producers of its new values. Where the packet makes a register or
// predicate already, that may be the one.
func (g *packetGen) add(p *hexagon.Packet, f *hexagon.Form) {
	in := g.inst(f)
	push := func(x hexagon.Inst) {
		if int(p.N) < len(p.Insts) {
			p.Insts[p.N] = x
		}
		p.N++
	}
	reg := func() uint8 { return uint8(g.r.Intn(24)) }
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Kind == hexagon.KindNR:
			if r, ok := g.made(p, hexagon.KindR); ok && g.r.Intn(4) != 0 {
				in.R[o.Index] = r
				continue
			}
			op := []hexagon.Op{hexagon.A2_xor, hexagon.A2_add, hexagon.A4_rcmpeq, hexagon.M2_mpyi, hexagon.S2_asl_r_r, hexagon.A2_max}[g.r.Intn(6)]
			push(hexagon.Inst{Op: op, R: [4]uint8{in.R[o.Index], reg(), reg()}})
		case o.Kind == hexagon.KindP && o.New:
			if r, ok := g.made(p, hexagon.KindP); ok && g.r.Intn(4) != 0 {
				in.R[o.Index] = r
				continue
			}
			op := []hexagon.Op{hexagon.C2_cmpeq, hexagon.C2_cmpgt, hexagon.C2_cmpgtu, hexagon.C4_cmplte, hexagon.C2_bitsset}[g.r.Intn(5)]
			push(hexagon.Inst{Op: op, R: [4]uint8{in.R[o.Index], reg(), reg()}})
		}
	}
	push(in)
}

// made is a register of the kind that an instruction of the packet writes.
func (g *packetGen) made(p *hexagon.Packet, kind hexagon.Kind) (uint8, bool) {
	for i := range p.Insts[:min(int(p.N), len(p.Insts))] {
		in := &p.Insts[i]
		f := in.Op.Form()
		for k := range f.Operands {
			if o := &f.Operands[k]; o.Role == hexagon.Def && o.Kind == kind {
				return in.R[o.Index], true
			}
		}
	}
	return 0, false
}

// inst draws the operands of an instruction.
func (g *packetGen) inst(f *hexagon.Form) hexagon.Inst {
	r := g.r
	in := hexagon.Inst{Op: f.Op}
	memory := f.MemBytes > 0 || strings.Contains(f.Syntax, "dc") || strings.Contains(f.Syntax, "l2fetch")
	few := r.Intn(3) != 0
	address := 0 // registers of the address seen so far
	for i := range f.Operands {
		o := &f.Operands[i]
		x := &in.R[o.Index]
		switch o.Kind {
		case hexagon.KindImm:
			g.immediate(f, &in, o)
		case hexagon.KindP:
			*x = uint8(r.Intn(4))
		case hexagon.KindM:
			*x = uint8(r.Intn(2))
		case hexagon.KindC:
			*x = []uint8{0, 1, 2, 3, 4, 6, 7, 8, 11, 12, 13}[r.Intn(11)]
			if f.Op == hexagon.A2_tfrcrr && r.Intn(8) == 0 {
				*x = hexagon.CtrlPC
			}
		case hexagon.KindCC:
			*x = []uint8{0, 2, 4, 6, 10, 12, 8}[r.Intn(7)]
			if f.Op == hexagon.A4_tfrpcp && *x == hexagon.CtrlUSR {
				*x = hexagon.CtrlCS0 // pc cannot be written
			}
		case hexagon.KindRR:
			*x = uint8(r.Intn(11)) * 2
			if few {
				*x = uint8(r.Intn(3)) * 2
			}
		default: // R, NR
			*x = uint8(r.Intn(22))
			if few {
				*x = uint8(r.Intn(6))
			}
			if o.Low16 {
				*x = []uint8{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18}[r.Intn(11)]
			}
			if o.Kind == hexagon.KindR && o.Role&hexagon.Use != 0 && memory {
				address++
				g.addressRegister(f, x, address)
			}
			if f.Has(hexagon.FlagIndirect) && !f.Has(hexagon.FlagLoad) && o.Role == hexagon.Use {
				*x = 24
			}
		}
	}
	return in
}

// addressRegister sets the n-th register that a memory instruction reads.
func (g *packetGen) addressRegister(f *hexagon.Form, x *uint8, n int) {
	switch {
	case f.Has(hexagon.FlagExtended) && strings.Contains(f.Syntax, "<<"): // index<<n + constant
		if n == 1 {
			*x = 27
		}
	case f.Has(hexagon.FlagExtended), strings.Contains(f.Syntax, "(gp+"):
	case f.Op == hexagon.S2_allocframe:
		*x = 29
	case n == 1 && strings.Contains(f.Syntax, ":brev"):
		*x = 25
	case n == 1:
		*x = 26
	case n == 2 && strings.Contains(f.Syntax, "<<"):
		*x = 27
	}
}

// immediate draws a value, at its ends often, with an extender now and then; addresses stay in the scratch memory.
func (g *packetGen) immediate(f *hexagon.Form, in *hexagon.Inst, o *hexagon.OperandSpec) {
	r := g.r
	v := &in.Imm[o.Index]
	ext := o.Extendable && r.Intn(4) == 0
	size := int32(max(f.MemBytes, 1))
	switch {
	case o.PCRel:
		in.Ext = in.Ext || ext // the target is set when the size of the packet is known
	case f.Has(hexagon.FlagExtended) && o.Extendable:
		*v, in.Ext = int32(scratchBase+256+8*r.Intn(32)), true
	case strings.Contains(f.Syntax, "(gp+"):
		*v = int32(8 * r.Intn(64))
		if ext {
			*v, in.Ext = scratchBase+*v, true
		}
	case f.MemBytes > 0 && o.Index == 0 && strings.Contains(f.Syntax, "+#"):
		*v = int32(r.Intn(16)) * size
		if o.Signed {
			*v -= 8 * size
		}
		in.Ext = in.Ext || ext
	case ext:
		*v, in.Ext = int32(corner(r)), true
	default:
		*v = randomImm(r, o)
		switch low, n := int32(0), uint(o.Width); r.Intn(6) {
		case 0:
			*v = 0
		case 1: // the ends
			if o.Signed {
				low, n = -1<<(n-1), n-1
			}
			*v = []int32{low, 1<<n - 1}[r.Intn(2)] << o.Scale
		}
	}
	if f.Op == hexagon.A4_combineii && o.Extendable && !in.Ext {
		in.Ext = true // LLVM writes the plain form as A2_combineii
	}
}

// land sets the targets of branches and loop starts: after the first or the second packet after this one.
func (g *packetGen) land(p *hexagon.Packet) {
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		for k := range in.Op.Form().Operands {
			if o := &in.Op.Form().Operands[k]; o.PCRel && o.Scale > 0 {
				in.Imm[o.Index] = 4*int32(p.Words) + 4 + 4*int32(g.r.Intn(2))
			}
		}
	}
}

// prelude is the code that the packet needs before it.
func (g *packetGen) prelude(p *hexagon.Packet) (out []string) {
	if p.EndLoop0 {
		out = append(out, fmt.Sprintf("{ loop0(LA,#%d) }", 1+g.r.Intn(2)))
		if n := g.r.Intn(4); n > 0 { // a plain loop0 has cleared the configuration
			out = append(out, fmt.Sprintf("{ r28 = usr }\n\t{ r28 = or(r28,##%d) }\n\t{ usr = r28 }", n<<state.LPCFGShift))
		}
	}
	if p.EndLoop1 {
		out = append(out, fmt.Sprintf("{ loop1(LA,#%d) }", 1+g.r.Intn(2)))
	}
	if constant, _ := globals(p); constant {
		out = append(out, "{ r24 = #0 }\n\t{ gp = r24 }") // QEMU 7.2 adds gp to constant addresses
	}
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		f := in.Op.Form()
		switch {
		case strings.Contains(f.Syntax, ":brev"):
			at := scratchBase&^0xffff | uint32(bits.Reverse16(uint16((scratchBase+512)&0xffff)))
			out = append(out, fmt.Sprintf("{ r25 = ##%#x }", at))
		case f.Has(hexagon.FlagIndirect) && f.Has(hexagon.FlagLoad): // returns to the address in the frame
			out = append(out, "{ r24 = ##LA }\n\t{ memw(r26+#4) = r24 }")
		case f.Has(hexagon.FlagIndirect):
			out = append(out, "{ r24 = ##LA }\n\t{ r31 = r24 }")
		case in.Op == hexagon.S2_storew_locked && g.r.Intn(4) != 0:
			out = append(out, fmt.Sprintf("{ r24 = memw_locked(r26) }\n\t{ memw(r26+#%d) = r24 }", 4*g.r.Intn(2)))
		case in.Op == hexagon.S4_stored_locked && g.r.Intn(4) != 0:
			out = append(out, fmt.Sprintf("{ r25:24 = memd_locked(r26) }\n\t{ memw(r26+#%d) = r24 }", 4*g.r.Intn(3)))
		}
	}
	return out
}

// shortForms are the forms that sub-instructions of duplexes represent.
var shortForms = []hexagon.Op{
	hexagon.L2_loadri_io, hexagon.L2_loadrub_io, hexagon.L2_loadrh_io, hexagon.L2_loadruh_io, hexagon.L2_loadrb_io, hexagon.L2_loadrd_io,
	hexagon.S2_storeri_io, hexagon.S2_storerb_io, hexagon.S2_storerh_io, hexagon.S2_storerd_io, hexagon.S4_storeiri_io, hexagon.S4_storeirb_io,
	hexagon.S2_allocframe, hexagon.L2_deallocframe, hexagon.L4_return, hexagon.L4_return_t, hexagon.L4_return_fnew_pnt, hexagon.J2_jumpr, hexagon.J2_jumprt,
	hexagon.J2_jumprfnew, hexagon.A2_addi, hexagon.A2_tfrsi, hexagon.A2_tfr, hexagon.A2_add, hexagon.A2_andir, hexagon.A2_sxtb, hexagon.A2_sxth, hexagon.A2_zxth,
	hexagon.C2_cmpeqi, hexagon.A2_combineii, hexagon.A4_combineri, hexagon.A4_combineir, hexagon.C2_cmoveit, hexagon.C2_cmoveif, hexagon.C2_cmovenewit,
}

// duplex returns a packet of short instructions that LLVM's assembler joins to a duplex.
func (g *packetGen) duplex() scalarBlock {
	for {
		p := hexagon.Packet{}
		for range 2 + g.r.Intn(2) {
			op := shortForms[g.r.Intn(len(shortForms))]
			n := p.N
			g.add(&p, op.Form())
			for k := n; k < min(p.N, uint8(len(p.Insts))); k++ {
				g.shorten(&p.Insts[k])
			}
		}
		if int(p.N) > len(p.Insts) || p.Layout() != nil || p.Check() != nil || !defined(&p) {
			continue
		}
		if p = withPairs(p); p.Duplex {
			g.land(&p)
			return scalarBlock{packet: p, prelude: g.prelude(&p)}
		}
	}
}

// shorten sets operands of an instruction that sub-instructions can encode.
func (g *packetGen) shorten(in *hexagon.Inst) {
	f := in.Op.Form()
	for i := range f.Operands {
		o := &f.Operands[i]
		x := &in.R[o.Index]
		switch {
		case o.Kind == hexagon.KindImm && o.Signed && g.r.Intn(4) == 0:
			in.Imm[o.Index], in.Ext = -1<<o.Scale, false
		case o.Kind == hexagon.KindImm && (!in.Ext || g.r.Intn(2) == 0):
			in.Imm[o.Index], in.Ext = int32(g.r.Intn(8))<<o.Scale, false
			if in.Op == hexagon.A2_andir {
				in.Imm[o.Index] = []int32{1, 255}[g.r.Intn(2)]
			}
		case o.Kind == hexagon.KindP:
			*x = 0
		case o.Kind == hexagon.KindR && *x == 24 && f.Has(hexagon.FlagIndirect):
			*x = 31
		case o.Kind == hexagon.KindR && *x == 26 && f.MemBytes > 0:
			*x = []uint8{21, 21, 29}[g.r.Intn(3)]
			if f.Has(hexagon.FlagIndirect) || in.Op == hexagon.L2_deallocframe {
				*x = 30
			}
		case o.Kind == hexagon.KindRR && *x > 6:
			*x = 16 + *x&6
			if in.Op == hexagon.L2_deallocframe || f.Has(hexagon.FlagIndirect) {
				*x = 30
			}
		case o.Kind == hexagon.KindR && *x > 7 && *x < 24:
			*x = 16 + *x&7
		}
	}
	if in.Op == hexagon.A2_add && g.r.Intn(2) == 0 {
		in.R[1] = in.R[0]
	}
}

// withPairs is the packet with the compounds and duplexes that LLVM's assembler makes.
func withPairs(p hexagon.Packet) hexagon.Packet {
	o, err := asm.AssembleObject(p.Asm(), asm.Options{})
	if err != nil || len(o.Packets) != 1 || o.Packets[0].Check() != nil {
		return p
	}
	return o.Packets[0]
}

// globals reports accesses at constant addresses and relative to gp.
func globals(p *hexagon.Packet) (constant, relative bool) {
	for i := range p.Insts[:p.N] {
		if in := &p.Insts[i]; decode.IsGlobal(in.Op) {
			constant, relative = constant || in.Ext, relative || !in.Ext
		}
	}
	return
}

// defined leaves out packets in which two instructions write one register, unless one runs exactly when the other does not.
func defined(p *hexagon.Packet) bool {
	type write struct {
		kind hexagon.Kind
		reg  uint8
	}
	by := map[write]int{}
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		f := in.Op.Form()
		for k := range f.Operands {
			o := &f.Operands[k]
			if o.Role&hexagon.Def == 0 || o.Kind == hexagon.KindP {
				continue
			}
			n := uint8(1)
			kind := o.Kind
			if kind == hexagon.KindRR {
				kind, n = hexagon.KindR, 2
			}
			for d := range n {
				w := write{kind, in.R[o.Index] + d}
				if j, twice := by[w]; twice && !complementary(&p.Insts[j], in) {
					return false
				}
				by[w] = i
			}
		}
	}
	return true
}

func complementary(a, b *hexagon.Inst) bool {
	x, y := a.Op.Form(), b.Op.Form()
	if !x.Has(hexagon.FlagPred) || !y.Has(hexagon.FlagPred) {
		return false
	}
	p, q := predicateOf(x), predicateOf(y)
	return a.R[p.Index] == b.R[q.Index] && p.New == q.New && p.Neg != q.Neg
}

func predicateOf(f *hexagon.Form) *hexagon.OperandSpec {
	for k := range f.Operands {
		if f.Operands[k].Kind == hexagon.KindP {
			return &f.Operands[k]
		}
	}
	return nil
}

// oracleSeed is the fixed seed of a test, or NNSOC_SEED when a longer hunt is wanted.
func oracleSeed(fixed int64) int64 {
	if s, err := strconv.ParseInt(os.Getenv("NNSOC_SEED"), 10, 64); err == nil {
		return s
	}
	return fixed
}
