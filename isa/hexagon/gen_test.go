package hexagon

import "math/rand"

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
		case KindM:
			in.R[o.Index] = uint8(g.r.Intn(2))
		case KindC:
			in.R[o.Index] = []uint8{CtrlSA0, CtrlLC0, CtrlSA1, CtrlLC1, CtrlM0, CtrlM1, CtrlUSR, CtrlCS0, CtrlCS1, CtrlUGP, CtrlGP}[g.r.Intn(11)]
		case KindRR, KindVV:
			in.R[o.Index] = uint8(g.r.Intn(16) * 2)
		default:
			in.R[o.Index] = uint8(g.r.Intn(32))
		}
		if o.Low8 {
			in.R[o.Index] &= 7
		}
	}
	return in
}

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
