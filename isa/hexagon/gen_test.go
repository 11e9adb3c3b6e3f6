package hexagon

import (
	"math/rand"
)

// gen makes random instructions and packets for tests.
type gen struct{ r *rand.Rand }

func newGen(r *rand.Rand) *gen { return &gen{r} }

// inst returns the operation with random operands; extenders appear now and then.
func (g *gen) inst(op Op) Inst {
	f := op.Form()
	in := Inst{Op: op}
	for i := range f.Operands {
		o := &f.Operands[i]
		switch o.Kind {
		case KindImm:
			if o.Extendable && (alwaysExtended(op) || op == A4_combineii || g.r.Intn(3) == 0) {
				in.Ext = true
				in.Imm[o.Index] = int32(g.r.Uint32()) >> g.r.Intn(32)
				if o.PCRel && o.Scale != 0 {
					in.Imm[o.Index] &^= 3
				}
				continue
			}
			v := g.r.Int31() & (1<<o.Width - 1)
			if o.Signed {
				s := 32 - uint(o.Width)
				v = v << s >> s
			}
			in.Imm[o.Index] = v << o.Scale
		case KindP, KindQ:
			in.R[o.Index] = uint8(g.r.Intn(4))
		case KindMImm:
			in.Imm[o.Index] = int32(g.r.Intn(2))
			continue
		case KindM:
			in.R[o.Index] = uint8(g.r.Intn(2))
		case KindC:
			in.R[o.Index] = []uint8{CtrlSA0, CtrlLC0, CtrlSA1, CtrlLC1, CtrlM0, CtrlM1, CtrlUSR, CtrlCS0, CtrlCS1, CtrlUGP, CtrlGP}[g.r.Intn(11)]
		case KindRR, KindVV, KindGG:
			in.R[o.Index] = uint8(g.r.Intn(16) * 2)
		case KindCC:
			in.R[o.Index] = []uint8{0, 2, 6, 10, 12, 4}[g.r.Intn(6)]
			if op == A4_tfrpcp && in.R[o.Index] == 4 {
				in.R[o.Index] = 0 // llvm-mc takes a write of c5:4 as a producer of .new predicates, but not one of p3:0
			}
		case KindS:
			in.R[o.Index] = uint8(g.r.Intn(lastSystem + 1))
		case KindSS:
			in.R[o.Index] = uint8(g.r.Intn(lastSystem/2) * 2)
		default:
			in.R[o.Index] = uint8(g.r.Intn(32))
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

// joins reports forms whose text is two instructions: the assembler makes them where it joins.
func joins(f *Form) bool { return f.Class == CJ }

// carrier returns a legal packet around one random instruction of the form: with a producer for its .new operands and a
// consumer for .cur and .tmp results.
func (g *gen) carrier(op Op, addr uint32) Packet {
	for {
		p := Packet{Addr: addr}
		in := g.inst(op)
		f := op.Form()
		add := func(x Inst) { p.Insts[p.N] = x; p.N++ }
		for i := range f.Operands {
			o := &f.Operands[i]
			r := in.R[o.Index]
			switch {
			case o.Kind == KindNR:
				add(Inst{Op: A2_tfr, R: [4]uint8{r, uint8(g.r.Intn(32))}})
			case o.Kind == KindNV:
				add(Inst{Op: V6_vnot, R: [4]uint8{r, uint8(g.r.Intn(32))}})
			case o.New:
				add(Inst{Op: C2_cmpeq, R: [4]uint8{r, uint8(g.r.Intn(32)), uint8(g.r.Intn(32))}})
			}
		}
		add(in)
		if f.Has(FlagCur | FlagTmp) {
			r := in.R[0]
			if f.Has(FlagPred) {
				r = in.R[1]
			}
			add(Inst{Op: V6_vnot, R: [4]uint8{r ^ 1, r}})
		}
		if p.Layout() == nil && p.Check() == nil {
			return p
		}
	}
}

// packet returns a random packet, legal or not, of one to four instructions over few registers.
func (g *gen) packet() Packet {
	n := 1 + g.r.Intn(4)
	few, vectors := g.r.Intn(3) == 0, g.r.Intn(3) == 0
	var p Packet
	for int(p.N) < n {
		op := Op(1 + g.r.Intn(int(numOps)-1))
		f := op.Form()
		if joins(f) || f.Has(FlagV68|FlagSupervisor) || vectors && !f.IsHVX() && g.r.Intn(4) != 0 {
			continue
		}
		if f.Has(FlagSolo) && g.r.Intn(8) != 0 {
			continue
		}
		in := g.inst(op)
		for i := range f.Operands {
			o := &f.Operands[i]
			switch o.Kind {
			case KindR, KindV, KindRR, KindVV:
				if !few && o.Role&Def != 0 && g.r.Intn(3) != 0 {
					in.R[o.Index] = (uint8(p.N)*8 + in.R[o.Index]&7) &^ uint8(b2i(o.Kind == KindRR || o.Kind == KindVV))
					if o.Low8 {
						in.R[o.Index] &= 7
					}
				}
			case KindNR, KindNV: // mostly something an earlier instruction writes
				if p.N > 0 && g.r.Intn(6) != 0 {
					q := &p.Insts[g.r.Intn(int(p.N))]
					for k := range q.Op.Form().Operands {
						if x := &q.Op.Form().Operands[k]; x.Role&Def != 0 && x.Kind != KindImm {
							if in.R[o.Index] = q.R[x.Index]; x.Kind == KindVV {
								in.R[o.Index] += uint8(g.r.Intn(2))
							}
							break
						}
					}
					if q.Op.Form().Class == CVI_GATHER || q.Op.Form().Class == CVI_GATHER_DV {
						in.R[o.Index] = VTmp
					}
				}
			}
			if few && o.Kind != KindImm && o.Kind != KindC && in.R[o.Index] != VTmp {
				in.R[o.Index] &= 3
			}
			if o.Kind == KindImm && in.Ext && o.Extendable && g.r.Intn(3) != 0 {
				in.Ext = alwaysExtended(op) || op == A4_combineii
				if !in.Ext {
					in.Imm[o.Index] = 0
				}
			}
		}
		p.Insts[p.N] = in
		p.N++
	}
	if g.r.Intn(12) == 0 {
		p.EndLoop0 = true
	}
	if g.r.Intn(24) == 0 {
		p.EndLoop1 = true
	}
	return p
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
