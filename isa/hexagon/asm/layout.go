package asm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

type itemKind uint8

const (
	itemPacket itemKind = iota // n: packet
	itemData
	itemSpace // n: bytes
	itemAlign // n: alignment, limit: the most bytes it may skip
)

// item is a piece of a section.
type item struct {
	kind   itemKind
	fill   byte
	filled bool // explicit fill value: no no-operations in code
	n      int64
	limit  int64
	data   []byte
	fixups []dataFix
	at     token
	addr   uint32
	before extent
}

// extent is the distance before an item: known bytes and items of variable size, code and alignments.
type extent struct{ fixed, moving int64 }

func (s *section) before(item int) extent {
	if item < len(s.items) {
		return s.items[item].before
	}
	return s.size
}

// dataFix is a datum that is known when addresses are.
type dataFix struct {
	off, size int
	value     value
	at        token
}

type section struct {
	items []item
	align uint32
	addr  uint32
	end   uint32
	size  extent
}

func (a *assembler) add(it item) {
	switch it.kind {
	case itemSpace:
		if it.n < 0 {
			fail(it.at, "%d bytes", it.n)
		}
		a.bytes += it.n
	case itemPacket:
		a.bytes += 4 * hexagon.MaxWords
	default:
		a.bytes += int64(len(it.data)) + it.n
	}
	if a.bytes > maxAsmBytes || a.bytes < 0 {
		fail(it.at, "more than %d bytes", maxAsmBytes)
	}
	if sectionKinds[a.cur].zero && it.kind == itemData && len(it.fixups) == 0 && len(bytes.Trim(it.data, "\x00")) == 0 {
		it = item{kind: itemSpace, n: int64(len(it.data)), at: it.at} // filled with zeros already
	}
	if sectionKinds[a.cur].zero && (it.kind == itemData || it.fill != 0) {
		fail(it.at, "data in %s", sectionKinds[a.cur].name)
	}
	s := &a.sections[a.cur]
	if it.kind == itemAlign {
		s.align = max(s.align, uint32(it.n))
	}
	it.before = s.size
	switch it.kind {
	case itemData:
		s.size.fixed += int64(len(it.data))
	case itemSpace:
		s.size.fixed += it.n
	default:
		s.size.moving++
	}
	s.items = append(s.items, it)
}

func (a *assembler) symbol(name string) *symbol {
	s := a.symbols[name]
	if s == nil {
		s = &symbol{}
		a.symbols[name] = s
		a.order = append(a.order, name)
	}
	return s
}

// define puts a label here.
func (a *assembler) define(t token) {
	s := a.symbol(t.text)
	if s.defined {
		fail(t, "label %s is defined twice", t.text)
	}
	a.place(s)
}

func (a *assembler) place(s *symbol) {
	s.defined, s.place = true, true
	s.section, s.item = a.cur, len(a.sections[a.cur].items)
}

// here is a label without a name at the current place.
func (a *assembler) here() string {
	a.dots++
	name := hiddenName + "." + strconv.Itoa(a.dots)
	a.place(a.symbol(name))
	return name
}

// numbered defines the next of the labels that 1b and 1f name.
func (a *assembler) numbered(t token) {
	c := a.symbol(hiddenName + t.text)
	a.place(a.symbol(numberedName(t.text, int(c.value.add))))
	c.value.add++
}

func numberedName(n string, k int) string { return fmt.Sprintf("%s%s.%d", hiddenName, n, k) }

// count is how many labels of this number there are so far.
func (a *assembler) count(counter string) int {
	if s := a.symbols[counter]; s != nil {
		return int(s.value.add)
	}
	return 0
}

// address is the address of a placed symbol.
func (a *assembler) address(s *symbol) uint32 {
	sec := &a.sections[s.section]
	if s.item < len(sec.items) {
		return sec.items[s.item].addr
	}
	return sec.end
}

// layout assigns addresses to items and displacements to branches. A branch that does not reach gets an extender, which
// moves all that follows, so this repeats; extenders are only added, so it ends.
func (a *assembler) layout() {
	for {
		if a.addresses(); !a.fixPackets() {
			break
		}
	}
	if a.padPackets() {
		a.addresses()
		a.fixPackets()
	}
	for i := range a.packets {
		p := &a.packets[i]
		err := p.Check()
		if err == nil {
			err = p.Layout()
		}
		if err != nil {
			fail(p.at, "%s", strings.TrimPrefix(err.Error(), "hexagon: "))
		}
		if p.Addr&3 != 0 {
			fail(p.at, "packet at 0x%x is not aligned to 4", p.Addr)
		}
	}
}

// padPackets moves the no-operations that an alignment needs into the packet before it, as far as they fit, as LLVM
// does. Items after the alignment stay in place.
func (a *assembler) padPackets() (padded bool) {
	items := a.sections[secText].items
	for i := 1; i < len(items); i++ {
		it, before := &items[i], &items[i-1]
		if it.kind != itemAlign || it.filled || before.kind != itemPacket {
			continue
		}
		p := &a.packets[before.n].Packet
		for n := a.skip(it, uint64(it.addr)); n >= 4; n -= 4 {
			q := *p
			if q.PadLoopEnd() != nil || q.CountWords() >= hexagon.MaxWords || int(q.N) == len(q.Insts) {
				break
			}
			q.Insert(hexagon.Inst{Op: hexagon.A2_nop})
			if q.Check() != nil {
				break
			}
			*p, padded = q, true
		}
	}
	return padded
}

func (a *assembler) addresses() {
	addr := uint64(a.opt.Base)
	for k := range a.sections {
		s := &a.sections[k]
		if k == secNone {
			addr = 0
		} else if k != secText && len(s.items) > 0 {
			unit := uint64(max(s.align, 4))
			if !a.opt.Flat {
				unit = object.PageSize
			}
			addr = (addr + unit - 1) &^ (unit - 1)
		}
		s.addr = uint32(addr)
		for i := range s.items {
			it := &s.items[i]
			it.addr = uint32(addr)
			switch it.kind {
			case itemPacket:
				p := &a.packets[it.n]
				p.Addr = it.addr
				q := p.Packet
				if err := q.PadLoopEnd(); err != nil {
					fail(it.at, "%s", hexagon.TooManyWords)
				}
				addr += uint64(4 * q.CountWords())
			case itemAlign:
				addr += a.skip(it, addr)
			case itemSpace:
				addr += uint64(it.n)
			default:
				addr += uint64(len(it.data))
			}
			if addr > 1<<32-1 {
				fail(it.at, "the program leaves the address space")
			}
		}
		s.end = uint32(addr)
	}
}

func (a *assembler) skip(it *item, addr uint64) uint64 {
	if n := -addr & uint64(it.n-1); n <= uint64(it.limit) {
		return n
	}
	return 0
}

// fixPackets fills open immediates in; again reports that a branch has grown.
func (a *assembler) fixPackets() (again bool) {
	for i := range a.packets {
		p := &a.packets[i]
		for _, f := range p.fixups {
			n := a.resolve(f.value, p.Addr, f.at, 0)
			in := &p.Insts[f.inst]
			before := in.Extended()
			form := in.Op.Form()
			for k := range form.Operands {
				o := &form.Operands[k]
				if o.Kind != hexagon.KindImm || int(o.Index) != f.imm {
					continue
				}
				if o.PCRel {
					n -= int64(p.Addr)
				}
				if n < -1<<32 || n >= 1<<32 {
					fail(f.at, "%d does not fit 32 bits", n)
				}
				in.Imm[f.imm] = int32(n)
				if !o.Extendable && !o.Fits(int32(n)) {
					fail(f.at, "immediate %d does not fit %s", n, o.ImmType())
				}
			}
			if in.Extended() && !before {
				in.Ext, again = true, true
			}
		}
	}
	return again
}

// object encodes the sections.
func (a *assembler) object() *Object {
	o := &Object{Image: object.Image{Entry: a.sections[secText].addr}}
	number := [numSections]int{}
	for k := range a.sections {
		s := &a.sections[k]
		number[k] = -1
		if k == secNone || len(s.items) == 0 {
			continue
		}
		kind := &sectionKinds[k]
		seg := object.Segment{Name: kind.name, Addr: s.addr, Size: s.end - s.addr, Exec: kind.exec, Write: kind.write}
		if !kind.zero {
			seg.Data = a.encodeSection(s, kind.exec)
		}
		number[k] = len(o.Segments)
		o.Segments = append(o.Segments, seg)
	}
	for i := range a.packets {
		o.Packets = append(o.Packets, a.packets[i].Packet)
		o.Lines = append(o.Lines, a.packets[i].at.line)
	}
	for _, name := range a.order {
		s := a.symbols[name]
		if !s.defined || !s.place || name[:1] == hiddenName || strings.HasPrefix(name, ".L") || number[s.section] < 0 {
			continue
		}
		addr := a.address(s)
		o.Symbols = append(o.Symbols, object.Symbol{Name: name, Addr: addr, Segment: number[s.section], Global: s.global, Func: s.isFunc || sectionKinds[s.section].exec && s.global})
		if name == "_start" {
			o.Entry = addr
		}
	}
	return o
}

func (a *assembler) encodeSection(s *section, code bool) []byte {
	out := make([]byte, 0, s.end-s.addr)
	for i := range s.items {
		it := &s.items[i]
		switch it.kind {
		case itemPacket:
			p := &a.packets[it.n]
			words, err := p.Encode(nil)
			if err != nil {
				fail(p.at, "%s", strings.TrimPrefix(err.Error(), "hexagon: "))
			}
			out = append(out, hexagon.Bytes(words)...)
		case itemData:
			from := len(out)
			out = append(out, it.data...)
			for _, f := range it.fixups {
				v := a.resolve(f.value, it.addr+uint32(f.off), f.at, 0)
				if err := fitsData(v, f.size); err != nil {
					fail(f.at, "%s", err)
				}
				copy(out[from+f.off:], binary.LittleEndian.AppendUint64(nil, uint64(v))[:f.size])
			}
		case itemSpace:
			for range it.n {
				out = append(out, it.fill)
			}
		case itemAlign:
			n := int(a.skip(it, uint64(it.addr)))
			if code && !it.filled {
				out = appendNops(out, n)
				continue
			}
			for range n {
				out = append(out, it.fill)
			}
		}
	}
	return out
}

// appendNops fills n bytes of code: packets of up to four no-operations, the last ones full.
func appendNops(out []byte, n int) []byte {
	for ; n%4 != 0; n-- {
		out = append(out, 0)
	}
	for n > 0 {
		var p hexagon.Packet
		for first := (n-1)%(4*hexagon.MaxWords)/4 + 1; int(p.N) < first; p.N++ {
			p.Insts[p.N] = hexagon.Inst{Op: hexagon.A2_nop}
		}
		words, _ := p.Encode(nil)
		out = append(out, hexagon.Bytes(words)...)
		n -= 4 * int(p.N)
	}
	return out
}
