package hexagon

import (
	"fmt"
	"math/bits"
	"strings"
)

// RuleError is the packet rule that is broken, and the instruction of the packet that breaks it.
type RuleError struct {
	Addr uint32
	Text string // the offending instruction, empty when the packet as a whole breaks the rule
	Rule string
}

func (e *RuleError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("hexagon: packet 0x%x: %s", e.Addr, e.Rule)
	}
	return fmt.Sprintf("hexagon: packet 0x%x: %s: %s", e.Addr, e.Text, e.Rule)
}

// Check reports the first rule that makes the packet illegal, as a *RuleError, or an operand that cannot be encoded.
func (p *Packet) Check() error {
	if p.N == 0 || int(p.N) > len(p.Insts) || p.Duplex && p.N < 2 {
		return &RuleError{Addr: p.Addr, Rule: ruleText[ruleCount]}
	}
	for i := range p.Insts[:p.N] {
		if err := p.Insts[i].Valid(); err != nil {
			return fmt.Errorf("hexagon: packet 0x%x: %w", p.Addr, err)
		}
	}
	r, k := p.broken()
	if r == ruleOK {
		return nil
	}
	e := &RuleError{Addr: p.Addr, Rule: ruleText[r]}
	if k >= 0 {
		e.Text = p.Insts[k].Text(p.Addr)
	}
	return e
}

// broken returns the first broken rule and the instruction that breaks it (-1: the packet). It does not allocate.
func (p *Packet) broken() (rule, int) {
	insts := p.Insts[:p.N]
	l := p.slotLayout()
	if n := p.singles(); n > 0 {
		if r := l.assign(insts[:n]); r != ruleOK {
			return r, -1
		}
	}
	if k := p.branchWithDuplex(); k >= 0 {
		return ruleBranchAlone, k
	}
	if q := *p; q.PadLoopEnd() != nil {
		return ruleLoop0Words, -1
	}
	for i := range insts {
		f := &forms[insts[i].Op]
		if f.Has(FlagSolo) && (p.N > 1 || p.EndLoop0 || p.EndLoop1) {
			return ruleSolo, i
		}
		if f.Has(FlagBranch) && (p.EndLoop0 || p.EndLoop1) {
			return ruleLoopBranch, i
		}
		if f.Has(FlagOnlyALU) && !p.onlyALU(i) {
			return ruleOnlyALU, i
		}
		if c, ok := writesControl(&insts[i]); ok && (c == CtrlPC || c == CtrlUSR && insts[i].Op == A4_tfrpcp) {
			return ruleReadOnly, i
		} else if ok && (p.EndLoop0 && c <= CtrlLC0 || p.EndLoop1 && c|1 == CtrlLC1) {
			return ruleLoopRegs, i
		}
		if f.Has(FlagLoop) && (p.EndLoop0 && loopOf(insts[i].Op) == 0 || p.EndLoop1 && loopOf(insts[i].Op) == 1) {
			return ruleLoopRegs, i
		}
		if f.Has(FlagTmp) && p.accumulatesInto(i) {
			return ruleTmpDef, i
		}
		if r := p.newOperands(i); r != ruleOK {
			return r, i
		}
	}
	return p.definitions()
}

// branchWithDuplex is the half of a duplex that branches while another instruction
// of the packet does, -1 without one.
func (p *Packet) branchWithDuplex() int {
	half, branches := -1, 0
	for i := range p.Insts[:p.N] {
		if forms[p.Insts[i].Op].Has(FlagBranch) {
			if branches++; i >= p.singles() {
				half = i
			}
		}
	}
	if branches < 2 {
		return -1
	}
	return half
}

// writesControl is the control register, or the even one of the pair, that a transfer writes.
func writesControl(in *Inst) (uint8, bool) {
	return in.R[0], in.Op == A2_tfrrcr || in.Op == A4_tfrpcp
}

// loopOf returns which hardware loop a loop setup starts.
func loopOf(op Op) int {
	if op == J2_loop1i || op == J2_loop1r {
		return 1
	}
	return 0
}

// onlyALU reports whether every instruction but k is an integer ALU, shift or multiply instruction.
func (p *Packet) onlyALU(k int) bool {
	for i := range p.Insts[:p.N] {
		switch forms[p.Insts[i].Op].Class {
		case ALU32, ALU64, SOP, MPY:
			if forms[p.Insts[i].Op].Has(FlagFloat) {
				return false
			}
		default:
			if i != k {
				return false
			}
		}
	}
	return true
}

// accumulatesInto reports whether another instruction accumulates into the single vector that instruction k loads for this
// packet only.
func (p *Packet) accumulatesInto(k int) bool {
	r, _, _ := vectorDef(&p.Insts[k])
	for i := range p.Insts[:p.N] {
		if d, pair, ok := vectorDef(&p.Insts[i]); ok && i != k && !pair && d == r && forms[p.Insts[i].Op].Has(FlagAcc) {
			return true
		}
	}
	return false
}

// vectorDef returns the vector register or pair that the instruction defines.
func vectorDef(in *Inst) (r uint8, pair, ok bool) {
	f := &forms[in.Op]
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Role&Def != 0 && (o.Kind == KindV || o.Kind == KindVV) {
			return in.R[o.Index], o.Kind == KindVV, true
		}
	}
	return 0, false, false
}

// guard is the condition under which an instruction runs: predicate register and sense, or none.
type guard struct {
	on, not, fresh bool
	reg            uint8
}

func (in *Inst) guard() guard {
	f := &forms[in.Op]
	if !f.Has(FlagPred) {
		return guard{}
	}
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == KindP {
			return guard{on: true, not: o.Neg, fresh: o.New, reg: in.R[o.Index]}
		}
	}
	return guard{}
}

// newOperands checks that the .new operands of instruction k have producers.
func (p *Packet) newOperands(k int) rule {
	in := &p.Insts[k]
	f := &forms[in.Op]
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Kind == KindP && o.New:
			if r := p.predicateProduced(in.R[o.Index]); r != ruleOK {
				return r
			}
		case o.Kind == KindNR || o.Kind == KindNV:
			if r := p.valueProduced(k, o.Kind, in.R[o.Index]); r != ruleOK {
				return r
			}
		}
	}
	return ruleOK
}

func (p *Packet) predicateProduced(r uint8) rule {
	late, writers := p.predicateWriters()
	switch {
	case late[r&3] >= 0:
		return rulePredLate
	case writers[r&3] == 0:
		return rulePredProducer
	}
	return ruleOK
}

// comparesAndJumps reports compounds that make a predicate, p0 or p1 by their form, and jump by it.
func (f *Form) comparesAndJumps() bool { return f.Class == CJ && f.Template[0] == 'p' }

// conditional reports branches that may fall through.
func (f *Form) conditional() bool {
	return f.Has(FlagPred) || f.comparesAndJumps() || strings.HasPrefix(f.Template, "if (")
}

// impliedPredicate is the predicate that the form writes and does not name as an operand.
func impliedPredicate(op Op) (uint8, bool) {
	switch f := &forms[op]; {
	case f.comparesAndJumps():
		return f.Template[1] - '0', true
	case op == S2_cabacdecbin:
		return 0, true
	}
	return 3, WritesP3Late(op)
}

// WritesP3Late reports the loop setups that write p3 after the packet.
func WritesP3Late(op Op) bool { return op >= J2_ploop1si && op <= J2_ploop3sr }

// predicateWriters counts the instructions that write each predicate and returns the one among them that makes it too late
// for use in the packet, or -1.
func (p *Packet) predicateWriters() (late [4]int, writers [4]int) {
	late = [4]int{-1, -1, -1, -1}
	for k := range p.Insts[:p.N] {
		in := &p.Insts[k]
		f := &forms[in.Op]
		if r, ok := impliedPredicate(in.Op); ok {
			if f.Class != CJ {
				late[r] = k
			}
			writers[r]++
		}
		for i := range f.Operands {
			if o := &f.Operands[i]; o.Kind == KindP && o.Role&Def != 0 {
				r := in.R[o.Index] & 3
				if f.Has(FlagPredLate) {
					late[r] = k
				}
				writers[r]++
			}
		}
	}
	return late, writers
}

// definition space: scalar registers, vector registers, vector predicates and control registers in one numbering.
const (
	defR = 0
	defV = 32
	defQ = 64
	defC = 68
	defN = 100
)

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// implicitDef returns the scalar register that the form writes without naming it, or -1.
func implicitDef(op Op) int {
	switch op {
	case L2_deallocframe, L4_return, L4_return_t, L4_return_f, L4_return_tnew_pt, L4_return_fnew_pt, L4_return_tnew_pnt, L4_return_fnew_pnt:
		return 29
	case S2_allocframe:
		return 30
	case J2_call, J2_callr, J2_callt, J2_callf, J2_callrt, J2_callrf:
		return 31
	}
	return -1
}

// writesPredicates is the instruction that writes p3:0 as a whole, or -1.
func (p *Packet) writesPredicates() int {
	for k := range p.Insts[:p.N] {
		if c, ok := writesControl(&p.Insts[k]); ok && c == CtrlP30 {
			return k
		}
	}
	return -1
}

// definitions checks that no register is written twice, unless under complementary predicates.
func (p *Packet) definitions() (rule, int) {
	all := p.writesPredicates()
	late, writers := p.predicateWriters()
	for r := range writers {
		if late[r] >= 0 && writers[r] > 1 {
			return ruleDoubleDef, late[r]
		}
		if all >= 0 && writers[r] > 0 {
			return ruleDoubleDef, all
		}
	}
	// Per register: bit 2p+s is set when it is written under predicate p with sense s; plain writes are separate.
	var under [defN]uint8
	var plain [defN]bool
	write := func(d int, g guard) bool {
		if plain[d] || !g.on && under[d] != 0 {
			return false
		}
		if !g.on {
			plain[d] = true
			return true
		}
		bit := uint8(1) << (2*g.reg + uint8(b2u(g.not)))
		if under[d]&bit != 0 {
			return false
		}
		under[d] |= bit
		both := under[d] & 0x55 & (under[d] >> 1)
		return both == 0 || bits.OnesCount8(under[d]) <= 2
	}
	setsUSR, mayOvf := -1, false
	for k := range p.Insts[:p.N] {
		in := &p.Insts[k]
		if c, ok := writesControl(in); ok && c == CtrlUSR {
			setsUSR = k
		}
		mayOvf = mayOvf || forms[in.Op].Has(FlagOvf)
	}
	if setsUSR >= 0 && mayOvf {
		return ruleDoubleDef, setsUSR
	}
	for k := range p.Insts[:p.N] {
		in := &p.Insts[k]
		f := &forms[in.Op]
		g := in.guard()
		if r := implicitDef(in.Op); r >= 0 && !write(defR+r, g) {
			return ruleDoubleDef, k
		}
		for i := range f.Operands {
			o := &f.Operands[i]
			if o.Role&Def == 0 || o.Kind == KindV && f.Has(FlagTmp) {
				continue
			}
			first, n := defined(o.Kind, int(in.R[o.Index]))
			for d := first; d < first+n; d++ {
				if !write(d, g) {
					return ruleDoubleDef, k
				}
			}
		}
	}
	return ruleOK, -1
}

// defined returns the first definition that writing register r of a kind is, and their number: 0 where the kind
// is none that this rule counts.
func defined(k Kind, r int) (first, n int) {
	switch k {
	case KindR:
		return defR + r, 1
	case KindRR:
		return defR + r, 2
	case KindV:
		return defV + r, 1
	case KindVV:
		return defV + r, 2
	case KindVVVV:
		return defV + r, 4
	case KindQ:
		return defQ + r, 1
	case KindC:
		return defC + r, 1
	case KindCC:
		return defC + r, 2
	}
	return 0, 0
}
