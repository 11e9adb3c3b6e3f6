package hexagon

// VTmp is the number that Inst.R holds for vtmp, the vector that a gather of the packet makes.
const VTmp = 32

// newValue is a register whose new value other instructions of the packet can use, and the low bit of the distance
// field, which selects among the two results of one producer.
type newValue struct{ reg, bit uint8 }

// newValues returns the up to two registers that the instruction forwards within its packet; kind is KindR or KindV.
func newValues(in *Inst) (v [2]newValue, n int, kind Kind) {
	f := &forms[in.Op]
	if f.Class == CVI_GATHER || f.Class == CVI_GATHER_DV {
		v[0].reg = VTmp
		return v, 1, KindV
	}
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Role&Def == 0 {
			continue
		}
		r := in.R[o.Index]
		switch o.Kind {
		case KindR:
			if f.Has(FlagPostInc) && o.Role == DefUse {
				continue // the updated address register is not forwarded
			}
			if f.Has(FlagExtended) && !f.Has(FlagPred) && i > 0 {
				continue // neither is the register that keeps a constant address
			}
			v[0].reg = r
			return v, 1, KindR
		case KindVV:
			return [2]newValue{{r, 0}, {r + 1, 1}}, 2, KindV
		case KindV:
			v[n], kind = newValue{reg: r}, KindV
			if n++; n == 2 { // vshuff and vdeal in place: the bit selects the first
				v[0].bit = 1
				return v, n, kind
			}
		}
	}
	return v, n, kind
}

// newDistance finds the producer of register r before instruction k and returns the encoded distance to it.
func (p *Packet) newDistance(k int, r uint8) (uint32, bool) {
	vector := forms[p.Insts[k].Op].IsHVX()
	n := uint32(0)
	for j := k - 1; j >= 0; j-- {
		if vector && !forms[p.Insts[j].Op].IsHVX() {
			continue // vector consumers count vector instructions only
		}
		n++
		v, count, kind := newValues(&p.Insts[j])
		for _, x := range v[:count] {
			if x.reg == r && (kind == KindV) == vector {
				return n<<1 | uint32(x.bit), true
			}
		}
	}
	return 0, false
}

// resolveNew converts the distance field of instruction k to the number of the register that its producer writes.
func (p *Packet) resolveNew(k int, field uint8) string {
	vector := forms[p.Insts[k].Op].IsHVX()
	n := field >> 1
	if n == 0 {
		return ".new operand with distance zero"
	}
	for j := k - 1; j >= 0; j-- {
		if vector && !forms[p.Insts[j].Op].IsHVX() {
			continue
		}
		if n--; n > 0 {
			continue
		}
		v, count, kind := newValues(&p.Insts[j])
		for _, x := range v[:count] {
			if (kind == KindV) == vector && x.bit == field&1 {
				p.setNew(k, x.reg)
				return ""
			}
		}
		return ".new operand refers to an instruction without a new value"
	}
	return ".new operand refers to an instruction before the packet"
}

func (p *Packet) setNew(k int, r uint8) {
	f := &forms[p.Insts[k].Op]
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == KindNR || o.Kind == KindNV {
			p.Insts[k].R[o.Index] = r
		}
	}
}

// valueProduced checks that the packet makes the new value of register r that instruction k uses. Of several producers one
// under the consumer's own predicate decides; else none may run under another predicate.
func (p *Packet) valueProduced(k int, kind Kind, r uint8) rule {
	want := KindR
	if kind == KindNV {
		want = KindV
	}
	cg, found := p.Insts[k].guard(), ruleNoProducer
	for j := range p.Insts[:p.N] {
		if j == k {
			continue
		}
		pr := &p.Insts[j]
		f := &forms[pr.Op]
		for i := range f.Operands {
			o := &f.Operands[i]
			if want == KindR && o.Role&Def != 0 && o.Kind == KindRR && pr.R[o.Index] == r&^1 {
				return rulePairProducer
			}
		}
		v, count, made := newValues(pr)
		for _, x := range v[:count] {
			if x.reg != r || made != want {
				continue
			}
			if f.Has(FlagFloat) && forms[p.Insts[k].Op].Has(FlagNewJump) {
				return ruleFloatProducer
			}
			pg := pr.guard()
			same := pg.on == cg.on && pg.reg == cg.reg && pg.not == cg.not
			if pg.on && (!same || pg.fresh != cg.fresh) {
				found = rulePredicated
			} else if same || found == ruleNoProducer {
				found = ruleOK
			}
			if same {
				return found
			}
		}
	}
	return found
}
