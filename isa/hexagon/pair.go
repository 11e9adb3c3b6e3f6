package hexagon

import (
	"strings"
	"sync"
)

// LLVM's assembler shortens packets: a compare or a move and a matching jump become one compound instruction, two
// instructions with sub-instructions a duplex. Its choices are repeated here, so that text gives the same words.

// compound is a pair of instructions that one compound instruction represents.
type compound struct {
	first, jump Op
	op          Op
	pred        uint8 // predicate that both name
	onP         bool
	fixed       bool // the immediate of first is part of the form
	imm         int32
}

// compounds are the rows of the table that represent two instructions, by the first of them. Their text names both.
var compounds = sync.OnceValue(func() map[Op][]compound {
	m := map[Op][]compound{}
	for op := Op(1); op < numOps; op++ {
		f := &forms[op]
		if f.Class != CJ {
			continue
		}
		in := Inst{Op: op} // all registers r0, all immediates 0
		first, jump, ok := strings.Cut(string(in.appendText(nil, 0, RelativeTarget, nil)), ";")
		if !ok {
			continue
		}
		x, okA := plain(first)
		b, okB := plain(jump)
		if !okA || !okB {
			continue // the table does not know the halves: no text can request the compound
		}
		c := compound{first: x.Op, jump: b.Op, op: op}
		if forms[x.Op].Operands[0].Kind == KindP {
			c.onP, c.pred = true, x.R[0]
		}
		if forms[x.Op].NumImm > 0 && f.NumImm == 1 {
			c.fixed, c.imm = true, x.Imm[0]
		}
		m[c.first] = append(m[c.first], c)
	}
	return m
})

// plainTexts are the instructions that the halves of a compound's text can be: of scalar forms with r0, p0 or p1, and 0.
var plainTexts = sync.OnceValue(func() map[string]Inst {
	m := map[string]Inst{}
	for op := Op(1); op < numOps; op++ {
		f := &forms[op]
		if f.Class == CJ || f.IsHVX() || f.Has(FlagSupervisor|FlagLoad|FlagStore|FlagFloat|FlagLoop) {
			continue
		}
		for p := range uint8(2) {
			in := Inst{Op: op}
			for i := range f.Operands {
				if o := &f.Operands[i]; o.Kind == KindP {
					in.R[o.Index] = p
				}
			}
			for _, imm := range [...]int32{0, -1} {
				if f.NumImm > 0 {
					in.Imm[0] = imm
				}
				text := string(in.appendText(nil, 0, RelativeTarget, nil))
				if _, ok := m[text]; !ok && in.Valid() == nil {
					m[text] = in
				}
			}
		}
	}
	return m
})

// plain is the instruction of half of a compound's text, which writes #0 for #0x0.
func plain(half string) (Inst, bool) {
	in, ok := plainTexts()[strings.ReplaceAll(strings.TrimSpace(half), "#0)", "#0x0)")]
	return in, ok
}

// compoundOf joins a and jump, if there is a form for both.
func compoundOf(a, jump *Inst) (Inst, bool) {
	for _, c := range compounds()[a.Op] {
		if jump.Op != c.jump || a.Extended() {
			continue
		}
		regs := a.R[:]
		if c.onP {
			if a.R[0] != c.pred || jump.R[0] != c.pred {
				continue
			}
			regs = a.R[1:]
		}
		if c.fixed && a.Imm[0] != c.imm {
			continue
		}
		in := Inst{Op: c.op, Ext: jump.Ext}
		f := &forms[c.op]
		copy(in.R[:f.NumReg], regs)
		if in.Imm[f.NumImm-1] = jump.Imm[0]; f.NumImm == 2 {
			in.Imm[0] = a.Imm[0]
		}
		if in.Valid() == nil {
			return in, true
		}
	}
	return Inst{}, false
}

// Draft is a packet under construction: instructions in the order of the text, more than a packet has place for until
// some of them are joined. Fixups name instructions by their id.
type Draft struct {
	Insts []Inst
	IDs   []int
}

// Join makes the compounds and the duplex that LLVM's assembler would make, and reports whether there is a duplex; noShuf
// is the packet's :mem_noshuf.
func (d *Draft) Join(noShuf bool) (duplex bool) {
	behind := storeThenLoad(d.Insts)
	d.joinCompounds()
	return !(noShuf && behind) && d.joinDuplex()
}

func (d *Draft) remove(k int) {
	d.Insts = append(d.Insts[:k], d.Insts[k+1:]...)
	d.IDs = append(d.IDs[:k], d.IDs[k+1:]...)
}

func (d *Draft) clone() Draft {
	return Draft{append([]Inst(nil), d.Insts...), append([]int(nil), d.IDs...)}
}

// fits reports whether the instructions find slots, whatever their number of words.
func (d *Draft) fits() bool {
	l := layout{anyWords: true}
	return l.assign(d.Insts) == ruleOK
}

// joinCompounds joins each jump and the first matching instruction into a compound, as long as the packet finds slots
// then.
func (d *Draft) joinCompounds() {
	valid, next := d.fits(), d.clone()
	for next.joinCompound() {
		if ok := next.fits(); ok || !valid {
			*d, valid = next.clone(), ok
		}
	}
}

// joinCompound makes one compound. It keeps the id of the jump, whose target may still be open.
func (d *Draft) joinCompound() bool {
	for j := range d.Insts {
		if forms[d.Insts[j].Op].Class != JUMP {
			continue
		}
		for k := range d.Insts {
			if in, ok := compoundOf(&d.Insts[k], &d.Insts[j]); ok && k != j {
				d.Insts[j] = in
				d.remove(k)
				return true
			}
		}
	}
	return false
}

// candidate is a possible duplex: places of the instructions for slots 1 and 0.
type candidate struct{ high, low int }

// candidates lists the possible duplexes in the order in which LLVM finds them, nearest neighbours first; it uses the
// last that fits. Extenders count as neighbours.
func (d *Draft) candidates() (out []candidate) {
	type place struct {
		k   int // -1: an extender
		sub sub
		ok  bool
	}
	var at []place
	for k := range d.Insts {
		if d.Insts[k].Ext {
			at = append(at, place{k: -1})
		}
		s, ok := subOf(&d.Insts[k])
		at = append(at, place{k, s, ok})
	}
	fits := func(high, low *place, free bool) bool {
		h, l := &d.Insts[high.k], &d.Insts[low.k]
		switch {
		case l.Ext || h.Op == S2_allocframe:
			return false
		case high.sub.group == low.sub.group && free && low.sub.row.match < high.sub.row.match:
			return false // of two from one group the smaller opcode is in slot 1
		case forms[h.Op].Has(FlagIndirect) && !forms[h.Op].Has(FlagLoad):
			return false // a jump to r31 belongs to slot 0
		}
		_, ok := duplexClass(low.sub.group, high.sub.group)
		return ok
	}
	for distance := 1; distance < len(at); distance++ {
		for j := 0; j+distance < len(at); j++ {
			x, y := &at[j], &at[j+distance]
			if !x.ok || !y.ok {
				continue
			}
			free := !forms[d.Insts[x.k].Op].Has(FlagStore) || !forms[d.Insts[y.k].Op].Has(FlagStore)
			switch {
			case fits(x, y, free):
				out = append(out, candidate{x.k, y.k})
			case free && fits(y, x, free):
				out = append(out, candidate{y.k, x.k})
			}
		}
	}
	return out
}

// joinDuplex moves the two instructions of the duplex that LLVM would make to the end and reports whether there is one.
func (d *Draft) joinDuplex() bool {
	if len(d.Insts) < 2 || len(d.Insts) > 4 {
		return false
	}
	for k := range d.Insts {
		d.Insts[k].Ext = d.Insts[k].Extended()
	}
	var l layout
	l.anyWords = true
	if l.assign(d.Insts) == ruleOK {
		l.shuffle()
		old := d.clone()
		for i := range l.res[:l.n] {
			d.Insts[i], d.IDs[i] = old.Insts[l.res[i].index], old.IDs[l.res[i].index]
		}
	}
	found := d.candidates()
	for i := len(found) - 1; i >= 0; i-- {
		c := found[i]
		var rest []Inst
		for k := range d.Insts {
			if k != c.high && k != c.low {
				rest = append(rest, d.Insts[k])
			}
		}
		l := layout{anyWords: true, reserved: 3}
		if len(rest) > 0 && l.assign(rest) != ruleOK {
			continue
		}
		next := Draft{}
		for k := range d.Insts {
			if k != c.high && k != c.low {
				next.Insts, next.IDs = append(next.Insts, d.Insts[k]), append(next.IDs, d.IDs[k])
			}
		}
		for _, k := range [...]int{c.high, c.low} {
			next.Insts, next.IDs = append(next.Insts, d.Insts[k]), append(next.IDs, d.IDs[k])
		}
		*d = next
		return true
	}
	return false
}
