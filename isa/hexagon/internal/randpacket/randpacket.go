// Package randpacket makes random instructions and packets for tests.
package randpacket

import (
	"math/rand"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Gen makes random instructions and packets for tests.
type Gen struct{ R *rand.Rand }

// New returns a source of packets.
func New(r *rand.Rand) *Gen { return &Gen{r} }

// Inst returns the operation with random operands; extenders appear now and then.
func (g *Gen) Inst(op hexagon.Op) hexagon.Inst {
	f := op.Form()
	in := hexagon.Inst{Op: op}
	for i := range f.Operands {
		o := &f.Operands[i]
		switch o.Kind {
		case hexagon.KindImm:
			if o.Extendable && (op.Form().Has(hexagon.FlagExtended) || op == hexagon.A4_combineii || g.R.Intn(3) == 0) {
				in.Ext = true
				in.Imm[o.Index] = int32(g.R.Uint32()) >> g.R.Intn(32)
				if o.PCRel && o.Scale != 0 {
					in.Imm[o.Index] &^= 3
				}
				continue
			}
			v := g.R.Int31() & (1<<o.Width - 1)
			if o.Signed {
				s := 32 - uint(o.Width)
				v = v << s >> s
			}
			in.Imm[o.Index] = v << o.Scale
		case hexagon.KindP, hexagon.KindQ:
			in.R[o.Index] = uint8(g.R.Intn(4))
		case hexagon.KindMImm:
			in.Imm[o.Index] = int32(g.R.Intn(2))
			continue
		case hexagon.KindM:
			in.R[o.Index] = uint8(g.R.Intn(2))
		case hexagon.KindC:
			in.R[o.Index] = []uint8{hexagon.CtrlSA0, hexagon.CtrlLC0, hexagon.CtrlSA1, hexagon.CtrlLC1, hexagon.CtrlM0, hexagon.CtrlM1, hexagon.CtrlUSR, hexagon.CtrlCS0, hexagon.CtrlCS1, hexagon.CtrlUGP, hexagon.CtrlGP}[g.R.Intn(11)]
		case hexagon.KindRR, hexagon.KindVV, hexagon.KindGG:
			in.R[o.Index] = uint8(g.R.Intn(16) * 2)
		case hexagon.KindVVVV:
			in.R[o.Index] = uint8(g.R.Intn(8) * 4)
		case hexagon.KindCC:
			in.R[o.Index] = []uint8{0, 2, 6, 10, 12, 4}[g.R.Intn(6)]
			if op == hexagon.A4_tfrpcp && in.R[o.Index] == 4 {
				in.R[o.Index] = 0 // llvm-mc treats a write of c5:4 as a producer of .new predicates, but not one of p3:0
			}
		case hexagon.KindS:
			in.R[o.Index] = uint8(g.R.Intn(81))
		case hexagon.KindSS:
			in.R[o.Index] = uint8(g.R.Intn(40) * 2)
		default:
			in.R[o.Index] = uint8(g.R.Intn(32))
		}
		if o.Low8 {
			in.R[o.Index] &= 7
		}
		if o.Low16 {
			in.R[o.Index] &= 0x17
		}
	}
	return in
}

// Joins reports forms whose text is two instructions: the assembler makes them where it joins.
func Joins(f *hexagon.Form) bool { return f.Class == hexagon.CJ }

// Carrier returns a legal packet around one random instruction of the form: with a producer for its .new operands and a
// consumer for .cur and .tmp results.
func (g *Gen) Carrier(op hexagon.Op, addr uint32) hexagon.Packet {
	for {
		p := hexagon.Packet{Addr: addr}
		in := g.Inst(op)
		f := op.Form()
		add := func(x hexagon.Inst) { p.Insts[p.N] = x; p.N++ }
		for i := range f.Operands {
			o := &f.Operands[i]
			r := in.R[o.Index]
			switch {
			case o.Kind == hexagon.KindNR:
				add(hexagon.Inst{Op: hexagon.A2_tfr, R: [4]uint8{r, uint8(g.R.Intn(32))}})
			case o.Kind == hexagon.KindNV:
				add(hexagon.Inst{Op: hexagon.V6_vnot, R: [4]uint8{r, uint8(g.R.Intn(32))}})
			case o.New:
				add(hexagon.Inst{Op: hexagon.C2_cmpeq, R: [4]uint8{r, uint8(g.R.Intn(32)), uint8(g.R.Intn(32))}})
			}
		}
		add(in)
		if f.Has(hexagon.FlagCur | hexagon.FlagTmp) {
			r := in.R[0]
			if f.Has(hexagon.FlagPred) {
				r = in.R[1]
			}
			add(hexagon.Inst{Op: hexagon.V6_vnot, R: [4]uint8{r ^ 1, r}})
		}
		if p.Layout() == nil && p.Check() == nil {
			return p
		}
	}
}

// Packet returns a random packet, legal or not, of one to four instructions over few registers.
func (g *Gen) Packet() hexagon.Packet {
	n := 1 + g.R.Intn(4)
	few, vectors := g.R.Intn(3) == 0, g.R.Intn(3) == 0
	var p hexagon.Packet
	for int(p.N) < n {
		op := hexagon.Op(1 + g.R.Intn(hexagon.NumOps-1))
		f := op.Form()
		if Joins(f) || f.Has(hexagon.FlagV68|hexagon.FlagSupervisor) || vectors && !f.IsHVX() && g.R.Intn(4) != 0 {
			continue
		}
		if f.Has(hexagon.FlagSolo) && g.R.Intn(8) != 0 {
			continue
		}
		in := g.Inst(op)
		for i := range f.Operands {
			o := &f.Operands[i]
			switch o.Kind {
			case hexagon.KindR, hexagon.KindV, hexagon.KindRR, hexagon.KindVV, hexagon.KindVVVV:
				if !few && o.Role&hexagon.Def != 0 && g.R.Intn(3) != 0 {
					in.R[o.Index] = (uint8(p.N)*8 + in.R[o.Index]&7) &^ (registers(o.Kind) - 1)
					if o.Low8 {
						in.R[o.Index] &= 7
					}
				}
			case hexagon.KindNR, hexagon.KindNV: // mostly something an earlier instruction writes
				if p.N > 0 && g.R.Intn(6) != 0 {
					q := &p.Insts[g.R.Intn(int(p.N))]
					for k := range q.Op.Form().Operands {
						if x := &q.Op.Form().Operands[k]; x.Role&hexagon.Def != 0 && x.Kind != hexagon.KindImm {
							if in.R[o.Index] = q.R[x.Index]; x.Kind == hexagon.KindVV {
								in.R[o.Index] += uint8(g.R.Intn(2))
							}
							break
						}
					}
					if q.Op.Form().Class == hexagon.CVI_GATHER || q.Op.Form().Class == hexagon.CVI_GATHER_DV {
						in.R[o.Index] = hexagon.VTmp
					}
				}
			}
			if few && o.Kind != hexagon.KindImm && o.Kind != hexagon.KindC && in.R[o.Index] != hexagon.VTmp {
				in.R[o.Index] &= 3
				if o.Kind == hexagon.KindVVVV {
					in.R[o.Index] = 0
				}
			}
			if o.Kind == hexagon.KindImm && in.Ext && o.Extendable && g.R.Intn(3) != 0 {
				in.Ext = op.Form().Has(hexagon.FlagExtended) || op == hexagon.A4_combineii
				if !in.Ext {
					in.Imm[o.Index] = 0
				}
			}
		}
		p.Insts[p.N] = in
		p.N++
	}
	if g.R.Intn(12) == 0 {
		p.EndLoop0 = true
	}
	if g.R.Intn(24) == 0 {
		p.EndLoop1 = true
	}
	return p
}

// registers is how many registers an operand of the kind names.
func registers(k hexagon.Kind) uint8 {
	switch k {
	case hexagon.KindRR, hexagon.KindVV:
		return 2
	case hexagon.KindVVVV:
		return 4
	}
	return 1
}

// sub returns a random instruction that a duplex can hold.
func (g *Gen) sub() hexagon.Inst {
	for {
		word := g.R.Uint32() &^ 0xc000 // the parse bits of a duplex
		if p, _, err := hexagon.DecodePacket([]uint32{word}, 0); err == nil {
			return p.Insts[g.R.Intn(2)]
		}
	}
}

// Pairable returns a random packet of instructions that LLVM's assembler likes to join.
func (g *Gen) Pairable() hexagon.Packet {
	var p hexagon.Packet
	n := 2 + g.R.Intn(3)
	reg := func() uint8 { return []uint8{0, 1, 2, 3, 7, 16, 23, 29, 30, 8}[g.R.Intn(10)] }
	for int(p.N) < n {
		var in hexagon.Inst
		switch g.R.Intn(8) {
		case 0, 1, 2, 3: // one that has a sub-instruction, with its operands mostly within reach
			sub := g.sub()
			in = sub
			if g.R.Intn(4) == 0 {
				in = g.Inst(sub.Op)
			}
			// Forms with an extender: Rd=#u6, and Rx=add(Rx,#s7) but not Rd=add(r29,#u6): TestOracleExtendedDuplex.
			if extends := sub.Op == hexagon.A2_tfrsi || sub.Op == hexagon.A2_addi && sub.R[0] == sub.R[1]; extends && g.R.Intn(4) == 0 {
				in.Ext, in.Imm[0] = true, g.R.Int31()>>g.R.Intn(31)
			}
		case 4:
			in = g.Inst([]hexagon.Op{hexagon.C2_cmpeq, hexagon.C2_cmpgt, hexagon.C2_cmpgtu, hexagon.C2_cmpeqi, hexagon.C2_cmpgti, hexagon.C2_cmpgtui, hexagon.S2_tstbit_i, hexagon.A2_tfr, hexagon.A2_tfrsi}[g.R.Intn(9)])
			in.R[0] &= 0x11
			if in.R[0] > 3 && in.Op != hexagon.A2_tfr && in.Op != hexagon.A2_tfrsi {
				in.R[0] = 1
			}
			in.R[1] &= 0x17
			if in.Imm[0] > 31 || in.Imm[0] < 0 {
				in.Imm[0] = []int32{-1, 0, 0, 1, 31, 32, 63}[g.R.Intn(7)]
			}
			in.Ext = false
			if in.Op == hexagon.S2_tstbit_i || in.Op == hexagon.C2_cmpgtui {
				in.Imm[0] &= 1
			}
		case 5:
			in = g.Inst([]hexagon.Op{hexagon.J2_jump, hexagon.J2_jumptnew, hexagon.J2_jumpfnew, hexagon.J2_jumptnewpt, hexagon.J2_jumpfnewpt, hexagon.J2_jumptnew, hexagon.J2_jump}[g.R.Intn(7)])
			in.R[0] &= 1
			in.Ext = false
			in.Imm[0] = int32(g.R.Intn(100)-50) * 4
		case 6:
			in = g.Inst(hexagon.Op(1 + g.R.Intn(hexagon.NumOps-1)))
			if Joins(in.Op.Form()) || in.Op.Form().Has(hexagon.FlagSolo|hexagon.FlagV68|hexagon.FlagSupervisor) {
				continue
			}
		default:
			in = hexagon.Inst{Op: []hexagon.Op{hexagon.A2_add, hexagon.A2_addi, hexagon.L2_loadri_io, hexagon.S2_storeri_io, hexagon.A2_combinew}[g.R.Intn(5)], R: [4]uint8{reg() &^ 1, reg(), reg()}}
			in.Imm[0] = int32(g.R.Intn(40)) * 4
		}
		if f := in.Op.Form(); in.Op == hexagon.L2_deallocframe || f.Has(hexagon.FlagIndirect) && f.Has(hexagon.FlagLoad) { // llvm-mc forgets other registers
			in.R[f.NumReg-1], in.R[f.NumReg-2] = 30, 30
		}
		if in.Ext && (in.Imm[0] == 1 || in.Imm[0] == -1) {
			continue // llvm-mc forgets the extender
		}
		if f := in.Op.Form(); f.Class == hexagon.JUMP && f.NumImm > 0 && (in.Imm[0] > 1000 || in.Imm[0] < -1000) {
			continue // llvm-mc cuts the displacement of a compound
		}
		if in.Op == hexagon.S2_allocframe {
			in.R[0] = 29
		}
		p.Insts[p.N] = in
		p.N++
	}
	if g.R.Intn(10) == 0 {
		p.EndLoop0 = true
	}
	if g.R.Intn(20) == 0 {
		p.EndLoop1 = true
	}
	return p
}

// Legal returns n random packets that are legal, and their words.
func Legal(n int) ([]hexagon.Packet, []uint32) {
	g := New(rand.New(rand.NewSource(8)))
	var pk []hexagon.Packet
	var words []uint32
	for len(pk) < n {
		if p := g.Packet(); p.Check() == nil && p.Layout() == nil {
			p.Addr = uint32(4 * len(words))
			pk = append(pk, p)
			words, _ = p.Encode(words)
		}
	}
	return pk, words
}
