package hexagon

import (
	"fmt"
	"math/bits"
)

// Parse-field values: bits 15:14 of each word.
const (
	parseShift   = 14
	parseDuplex  = 0
	parseMore    = 1 // another word of the packet follows
	parseLoopEnd = 2 // in word 0: packet ends loop 0, in word 1: loop 1; more words follow
	parseEnd     = 3
)

// MaxWords is the largest packet in words.
const MaxWords = 4

// DecodeError is where and why a packet cannot be decoded.
type DecodeError struct {
	Addr   uint32 // address of the packet
	Index  int    // word of the packet
	Word   uint32 // the word, 0 when it is missing
	Reason string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("hexagon: packet 0x%x: word %d (0x%08x): %s", e.Addr, e.Index, e.Word, e.Reason)
}

// lookup returns the operation that a word encodes, ignoring its parse bits; ok is false for words the table does not list.
func lookup(word uint32) (op Op, ok bool) {
	k := word >> 21
	for _, op := range decodeList[decodeStart[k]:decodeStart[k+1]] {
		f := &forms[op]
		if word&f.Mask == f.Match {
			return op, true
		}
	}
	return opNone, false
}

// newDecodeError is the error of word i, which may be one that is not there.
func newDecodeError(words []uint32, addr uint32, i int, reason string) error {
	e := &DecodeError{Addr: addr, Index: i, Reason: reason}
	if i < len(words) {
		e.Word = words[i]
	}
	return e
}

// DecodePacket decodes the packet that starts at words[0], at address addr, and returns its number of words. Errors are
// *DecodeError. The result is not checked for legality beyond what decoding needs; see Check.
func DecodePacket(words []uint32, addr uint32) (Packet, int, error) {
	p := Packet{Addr: addr}
	fail := func(i int, reason string) (Packet, int, error) {
		return Packet{}, 0, newDecodeError(words, addr, i, reason)
	}
	var dist [4]int8 // raw new-value field of each instruction, -1 if none
	ext, haveExt := uint32(0), false
	for i := 0; ; i++ {
		if i >= MaxWords {
			return fail(i-1, "packet does not end within four words")
		}
		if i >= len(words) {
			return fail(i, "code ends inside a packet")
		}
		w := words[i]
		pp := w >> parseShift & 3
		switch pp {
		case parseDuplex:
			if p.N > 2 {
				return fail(i, "duplex beside more than two instructions")
			}
			high, low, reason := decodeDuplex(w, ext, haveExt)
			if reason != "" {
				return fail(i, reason)
			}
			p.Insts[p.N], p.Insts[p.N+1] = high, low
			dist[p.N], dist[p.N+1] = -1, -1
			p.N += 2
			p.Duplex, p.Words = true, uint8(i+1)
		case parseLoopEnd:
			switch i {
			case 0:
				p.EndLoop0 = true
			case 1:
				p.EndLoop1 = true
			default:
				return fail(i, "loop-end parse bits in the third word")
			}
		}
		if p.Duplex {
			break
		}
		if w>>28 == 0 { // constant extender
			if haveExt {
				return fail(i, "two constant extenders in a row")
			}
			if pp == parseEnd {
				return fail(i, "constant extender ends the packet")
			}
			ext, haveExt = extenderValue(w), true
			continue
		}
		op, ok := lookup(w)
		if !ok {
			return fail(i, unknown(w))
		}
		d, reason := decodeInst(&p.Insts[p.N], op, w, ext, haveExt)
		if reason != "" {
			return fail(i, reason)
		}
		dist[p.N] = d
		haveExt = false
		p.N++
		if pp == parseEnd {
			p.Words = uint8(i + 1)
			break
		}
	}
	for k := range p.Insts[:p.N] {
		if dist[k] >= 0 {
			if reason := p.resolveNew(k, uint8(dist[k])); reason != "" {
				return fail(k, reason)
			}
		}
	}
	if !p.Duplex {
		p.NoShuf = storeThenLoad(p.Insts[:p.N])
	}
	return p, int(p.Words), nil
}

// extenderValue is the constant that an extender provides, without its low six bits.
func extenderValue(w uint32) uint32 { return (w>>16&0xfff<<14 | w&0x3fff) << 6 }

func decodeInst(in *Inst, op Op, w, ext uint32, haveExt bool) (dist int8, reason string) {
	f := &forms[op]
	in.Op, in.Ext = op, false
	dist = -1
	for k := range f.Operands {
		o := &f.Operands[k]
		v := gather(w, o.Field)
		switch o.Kind {
		case KindImm:
			if haveExt && o.Extendable {
				in.Ext, haveExt = true, false
				in.Imm[o.Index] = int32(ext | v&0x3f)
				continue
			}
			if o.Signed {
				s := 32 - uint(o.Width)
				in.Imm[o.Index] = int32(v<<s) >> s << o.Scale
			} else {
				in.Imm[o.Index] = int32(v << o.Scale)
			}
		case KindNR, KindNV:
			dist = int8(v)
		case KindMImm:
			in.Imm[o.Index] = int32(v)
		case KindRR, KindGG:
			in.R[o.Index] = uint8(v<<o.Shift) &^ 1
		case KindC, KindCC, KindS, KindSS:
			r := uint8(v << o.Shift)
			if !registerExists(o.Kind, r) {
				return -1, "reserved " + kindNames[o.Kind]
			}
			in.R[o.Index] = r
		case KindVV:
			if v&1 != 0 {
				return -1, "odd vector register pair"
			}
			in.R[o.Index] = uint8(v)
		case KindVVVV:
			in.R[o.Index] = uint8(v) &^ 3
		default:
			if o.Low16 {
				v = v&7 | v>>3<<4
			}
			in.R[o.Index] = uint8(v)
		}
	}
	if haveExt {
		return -1, "constant extender before an instruction that takes none"
	}
	if alwaysExtended(op) && !in.Ext {
		return -1, "instruction needs a constant extender"
	}
	return dist, ""
}

// alwaysExtended reports forms whose address is a 32-bit constant and that exist with an extender only.
func alwaysExtended(op Op) bool {
	return forms[op].Has(FlagExtended)
}

// gather collects the bits of w under mask, least significant first.
func gather(w, mask uint32) uint32 {
	lo := bits.TrailingZeros32(mask)
	if m := mask >> lo; m&(m+1) == 0 { // contiguous
		return w >> lo & m
	}
	var v uint32
	for n := 0; mask != 0; n++ {
		b := mask & -mask
		if w&b != 0 {
			v |= 1 << n
		}
		mask &^= b
	}
	return v
}

// scatter spreads the low bits of v over mask: the inverse of gather.
func scatter(v, mask uint32) uint32 {
	var w uint32
	for mask != 0 {
		b := mask & -mask
		if v&1 != 0 {
			w |= b
		}
		v >>= 1
		mask &^= b
	}
	return w
}
