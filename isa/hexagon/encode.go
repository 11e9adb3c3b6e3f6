package hexagon

import (
	"encoding/binary"
	"fmt"
)

// Extended reports whether encoding the instruction needs a constant-extender word: because Ext requests it, or because
// the value does not fit the form's own field.
func (in *Inst) Extended() bool {
	if in.Ext {
		return true
	}
	f := &forms[in.Op]
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Extendable {
			return !o.Fits(in.Imm[o.Index])
		}
	}
	return false
}

// Fits reports whether an immediate can be encoded without an extender.
func (o *OperandSpec) Fits(v int32) bool {
	if v&(1<<o.Scale-1) != 0 {
		return false
	}
	v >>= o.Scale
	if o.Signed {
		s := 32 - uint(o.Width)
		return v<<s>>s == v
	}
	return uint32(v)>>o.Width == 0
}

// Encode appends the packet's words to dst, in LLVM's order: the instruction in the highest slot first. It inserts constant
// extenders where they are needed and no-operations where a loop end needs a longer packet. It fails when an operand cannot
// be encoded or no slot assignment exists; it does not run the other rules of Check.
func (p *Packet) Encode(dst []uint32) ([]uint32, error) {
	q := *p
	if err := q.Layout(); err != nil {
		return dst, err
	}
	return q.AppendWords(dst)
}

// AppendWords is Encode of a packet that has been brought into its final form by Layout and not changed since.
func (p *Packet) AppendWords(dst []uint32) ([]uint32, error) {
	n := int(p.Words)
	w := 0
	single := p.singles()
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		if in.Ext {
			v := in.extValue() >> 6
			dst = append(dst, v>>14<<16|v&0x3fff|p.parse(w, n))
			w++
		}
		if i == single {
			word, ok := encodeDuplex(in, &p.Insts[i+1])
			if !ok {
				return dst, fmt.Errorf("hexagon: packet 0x%x: %s and %s make no duplex", p.Addr, in.Op, p.Insts[i+1].Op)
			}
			return append(dst, word), nil
		}
		word, err := p.encodeInst(i, in.Ext)
		if err != nil {
			return dst, fmt.Errorf("hexagon: packet 0x%x: %w", p.Addr, err)
		}
		dst = append(dst, word|p.parse(w, n))
		w++
	}
	return dst, nil
}

// singles is the number of instructions with their own word; a duplex follows them.
func (p *Packet) singles() int {
	if p.Duplex {
		return int(p.N) - 2
	}
	return int(p.N)
}

// Layout brings the packet into the form in which it is encoded, and in which DecodePacket would return it: operands checked,
// extenders decided, loop ends padded with no-operations, instructions in slot order, Words counted.
func (p *Packet) Layout() error {
	if p.N == 0 || int(p.N) > len(p.Insts) || p.Duplex && p.N < 2 {
		return fmt.Errorf("hexagon: packet 0x%x: %s", p.Addr, ruleText[ruleCount])
	}
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		if err := in.Valid(); err != nil {
			return fmt.Errorf("hexagon: packet 0x%x: %w", p.Addr, err)
		}
		in.Ext = in.Extended()
	}
	if err := p.PadLoopEnd(); err != nil {
		return err
	}
	p.Words = uint8(p.CountWords())
	return p.Order()
}

// PadLoopEnd adds the no-operations that a loop end needs: loop 0 ends in a packet of two words or more, loop 1 of three.
func (p *Packet) PadLoopEnd() error {
	need := 0
	if p.EndLoop0 {
		need = 2
	}
	if p.EndLoop1 {
		need = 3
	}
	for p.CountWords() < need && int(p.N) < len(p.Insts) {
		p.Insert(Inst{Op: A2_nop})
	}
	if n := p.CountWords(); n > MaxWords {
		return fmt.Errorf("hexagon: packet 0x%x: %s", p.Addr, ruleText[ruleWords])
	}
	return nil
}

// Insert adds an instruction, in front of a duplex.
func (p *Packet) Insert(in Inst) {
	k := p.singles()
	copy(p.Insts[k+1:], p.Insts[k:p.N])
	p.Insts[k] = in
	p.N++
}

// CountWords is the size of the packet in words, extenders and a duplex included.
func (p *Packet) CountWords() int {
	n := int(p.N)
	if p.Duplex {
		n--
	}
	for i := range p.Insts[:p.N] {
		if p.Insts[i].Extended() {
			n++
		}
	}
	return n
}

// parse returns the parse bits of word w of n.
func (p *Packet) parse(w, n int) uint32 {
	switch {
	case w == n-1:
		return parseEnd << parseShift
	case w == 0 && p.EndLoop0, w == 1 && p.EndLoop1:
		return parseLoopEnd << parseShift
	}
	return parseMore << parseShift
}

func (in *Inst) extValue() uint32 {
	f := &forms[in.Op]
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Extendable {
			return uint32(in.Imm[o.Index])
		}
	}
	return 0
}

// Valid checks that every operand is in its class and encodable.
func (in *Inst) Valid() error {
	if in.Op == opNone || in.Op >= numOps {
		return fmt.Errorf("operation %d does not exist", in.Op)
	}
	f := &forms[in.Op]
	ext := in.Extended()
	used := false
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Kind == KindImm {
			if ext && o.Extendable {
				used = true
				continue
			}
			if v := in.Imm[o.Index]; !o.Fits(v) {
				return fmt.Errorf("%s: immediate %d does not fit %s", f.Name, v, o.ImmType())
			}
			continue
		}
		r := o.Reg(in)
		limit := uint8(32)
		if !registerExists(o.Kind, r) {
			return fmt.Errorf("%s: %s %d is reserved", f.Name, kindNames[o.Kind], r)
		}
		switch o.Kind {
		case KindP, KindQ:
			limit = 4
		case KindM, KindMImm:
			limit = 2
		case KindNV:
			limit = VTmp + 1
		case KindS, KindSS:
			limit = 128
		}
		if o.Low8 {
			limit = 8
		}
		if o.Low16 && r&8 != 0 {
			limit = 0
		}
		if o.Low16 {
			limit = min(limit, 24)
		}
		if r >= limit {
			return fmt.Errorf("%s: register number %d, limit %d", f.Name, r, limit-1)
		}
		if o.Kind == KindVVVV && r&3 != 0 {
			return fmt.Errorf("%s: vector quad starts at register %d, which is no multiple of 4", f.Name, r)
		}
		if o.Kind.isPair() && r&1 != 0 {
			return fmt.Errorf("%s: register pair starts at odd register %d", f.Name, r)
		}
	}
	if ext && !used {
		return fmt.Errorf("%s: takes no constant extender", f.Name)
	}
	if alwaysExtended(in.Op) && !ext {
		return fmt.Errorf("%s: needs a constant extender", f.Name)
	}
	return nil
}

// ImmType is LLVM's name of the range of an immediate.
func (o *OperandSpec) ImmType() string {
	t := "#u"
	if o.PCRel {
		t = "#r"
	} else if o.Signed {
		t = "#s"
	}
	if o.Scale != 0 {
		return fmt.Sprintf("%s%d:%d", t, o.Width, o.Scale)
	}
	return fmt.Sprintf("%s%d", t, o.Width)
}

// encodeInst encodes instruction k without parse bits.
func (p *Packet) encodeInst(k int, ext bool) (uint32, error) {
	in := &p.Insts[k]
	f := &forms[in.Op]
	w := f.Match
	for i := range f.Operands {
		o := &f.Operands[i]
		var v uint32
		switch o.Kind {
		case KindImm:
			v = uint32(in.Imm[o.Index])
			if ext && o.Extendable {
				v &= 0x3f
			} else {
				v = uint32(in.Imm[o.Index] >> o.Scale)
			}
		case KindNR, KindNV:
			d, ok := p.newDistance(k, in.R[o.Index])
			if !ok {
				return 0, fmt.Errorf("%s: %s", f.Name, ruleText[ruleNoProducer])
			}
			v = d
		default:
			v = uint32(o.Reg(in)) >> o.Shift
			if o.Low16 {
				v = v&7 | v>>4<<3
			}
		}
		w |= scatter(v, o.Field)
	}
	return w, nil
}

// Bytes returns code words in memory order.
func Bytes(words []uint32) []byte {
	b := make([]byte, 0, 4*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// Words returns the code words in memory bytes; a trailing part of a word is ignored.
func Words(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// EncodeAll appends the words of consecutive packets.
func EncodeAll(dst []uint32, packets []Packet) ([]uint32, error) {
	var err error
	for i := range packets {
		if dst, err = packets[i].Encode(dst); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
