package codeobject

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
)

// Unit is code and data before linking.
type Unit struct {
	Sections []Section
	Symbols  []UnitSymbol
	Relocs   []Reloc
	Note     []byte // MessagePack metadata, may be nil
	Version  int    // of the code object ABI; 0 means 5
}

// Section is a part of a unit that is loaded.
type Section struct {
	Name  string
	Data  []byte
	Align uint64 // a power of two
	Write bool
	Exec  bool
	Lines []Line // of the source, with offsets in the section for addresses
}

// UnitSymbol is a symbol of a unit.
type UnitSymbol struct {
	Symbol      // Addr is the offset in the section, or the value
	Section int // index; Absolute or Undefined
}

// Places of symbols that are in no section.
const (
	Absolute  = -1
	Undefined = -2
)

// Reloc is a place whose content depends on where a symbol ends up.
type Reloc struct {
	Section int
	Offset  uint64
	Type    uint32 // R_AMDGPU_*
	Symbol  int
	Addend  int64
}

// Relocation types that assemblers make.
const (
	RelAbs64   uint32 = relAbs64
	RelAbs32   uint32 = relAbs32
	RelAbs32Lo uint32 = relAbs32Lo
	RelAbs32Hi uint32 = relAbs32Hi
	RelRel32   uint32 = relRel32
	RelRel64   uint32 = relRel64
	RelRel32Lo uint32 = relRel32Lo
	RelRel32Hi uint32 = relRel32Hi
	RelGOTLo   uint32 = relGOTPCRelLo
	RelGOTHi   uint32 = relGOTPCRelHi
	RelRel16   uint32 = relRel16
)

// pageBytes separates segments of different rights.
const pageBytes = 4096

// Link lays the sections out and resolves the relocations.
func (u *Unit) Link() (*File, error) {
	f := &File{Version: u.Version, Machine: "gfx1030", flags: 0x36, note: u.Note}
	f.Version = cmp.Or(f.Version, 5)
	if err := u.linkInto(f); err != nil {
		return nil, err
	}
	return f, nil
}

func (u *Unit) linkInto(f *File) error {
	got := u.offsetTable()
	addr, err := u.place(f)
	if err != nil {
		return err
	}
	for i := range u.Symbols {
		s := u.Symbols[i]
		if s.Section < 0 || s.Name == "" {
			continue
		}
		if s.Section >= len(u.Sections) || s.Addr > uint64(len(u.Sections[s.Section].Data)) {
			return fmt.Errorf("codeobject: symbol %s outside its section", s.Name)
		}
		s.Addr += addr[s.Section]
		f.Symbols = append(f.Symbols, s.Symbol)
	}
	if err := u.relocate(f, addr, got); err != nil {
		return err
	}
	return f.finish()
}

// class is the segment that a section belongs to: of read-only data, code, or writable data with the offset table.
func (s *Section) class() int {
	switch {
	case s.Write:
		return 2
	case s.Exec:
		return 1
	}
	return 0
}

// place lays the sections out in segments, and returns their addresses.
func (u *Unit) place(f *File) ([]uint64, error) {
	addr := make([]uint64, len(u.Sections))
	at := uint64(pageBytes)
	for c := range 3 {
		at = (at + pageBytes - 1) &^ (pageBytes - 1)
		seg := Segment{Addr: at, Write: c == 2, Exec: c == 1}
		for i := range u.Sections {
			s := &u.Sections[i]
			if s.class() != c || len(s.Data) == 0 {
				continue
			}
			if s.Align == 0 || s.Align&(s.Align-1) != 0 || s.Align > 1<<20 {
				return nil, fmt.Errorf("codeobject: section %s is aligned to %d", s.Name, s.Align)
			}
			at = (at + s.Align - 1) &^ (s.Align - 1)
			if at+uint64(len(s.Data)) > maxImage {
				return nil, fmt.Errorf("codeobject: more than %d bytes of sections", maxImage)
			}
			addr[i] = at
			for _, l := range s.Lines {
				f.Lines = append(f.Lines, Line{at + l.Addr, l.Line})
			}
			seg.Data = append(seg.Data, make([]byte, at-seg.Addr-uint64(len(seg.Data)))...)
			seg.Data = append(seg.Data, s.Data...)
			at += uint64(len(s.Data))
		}
		if len(seg.Data) > 0 {
			f.Segments = append(f.Segments, seg)
		}
	}
	return addr, nil
}

// relocate resolves the relocations of sections at addresses; got are the offsets of symbols in the offset table.
func (u *Unit) relocate(f *File, addr []uint64, got map[int]uint64) error {
	for _, r := range u.Relocs {
		if r.Section < 0 || r.Section >= len(u.Sections) || r.Symbol < 0 || r.Symbol >= len(u.Symbols) {
			return fmt.Errorf("codeobject: relocation of symbol %d in section %d", r.Symbol, r.Section)
		}
		s := &u.Symbols[r.Symbol]
		v := s.Addr
		switch {
		case s.Section == Absolute:
		case s.Section < 0 || s.Section >= len(u.Sections):
			return undefined(s.Name)
		default:
			v += addr[s.Section]
		}
		p := addr[r.Section] + r.Offset
		if slot, ok := got[r.Symbol]; ok && (r.Type == relGOTPCRel || r.Type == relGOTPCRelLo || r.Type == relGOTPCRelHi) {
			table := len(u.Sections) - 1
			f.relocs = append(f.relocs, reloc{addr[table] + slot, v})
			v = addr[table] + slot
		}
		if err := f.apply(r.Type, p, v+uint64(r.Addend), s.Section == Absolute); err != nil {
			return fmt.Errorf("codeobject: %s+%#x: %w", u.Sections[r.Section].Name, r.Offset, err)
		}
	}
	slices.SortFunc(f.relocs, func(a, b reloc) int { return cmp.Compare(a.at, b.at) })
	f.relocs = slices.Compact(f.relocs)
	return nil
}

// offsetTable adds a section with a word for each symbol that is reached through
// the global offset table, and returns their offsets.
func (u *Unit) offsetTable() map[int]uint64 {
	got := map[int]uint64{}
	for _, r := range u.Relocs {
		if r.Type == relGOTPCRel || r.Type == relGOTPCRelLo || r.Type == relGOTPCRelHi {
			if _, ok := got[r.Symbol]; !ok {
				got[r.Symbol] = uint64(8 * len(got))
			}
		}
	}
	if len(got) > 0 {
		u.Sections = append(u.Sections, Section{Name: ".got", Data: make([]byte, 8*len(got)), Align: 8, Write: true})
	}
	return got
}

// apply puts the value s of a relocation, addend included, into the place p.
func (f *File) apply(typ uint32, p, s uint64, absolute bool) error {
	size := 4
	switch typ {
	case relAbs64, relRel64:
		size = 8
	case relRel16:
		size = 2
	}
	w := word(f.Segments, p, size)
	if w == nil {
		return errors.New("relocation outside the section")
	}
	if !absolute && (typ == relAbs32 || typ == relAbs32Lo || typ == relAbs32Hi) {
		return errors.New("a 32-bit absolute address depends on where the code object is loaded")
	}
	le := binary.LittleEndian
	switch typ {
	case relAbs64:
		le.PutUint64(w, s)
		if !absolute {
			f.relocs = append(f.relocs, reloc{p, s})
		}
	case relRel64:
		le.PutUint64(w, s-p)
	case relAbs32, relAbs32Lo:
		le.PutUint32(w, uint32(s))
	case relAbs32Hi:
		le.PutUint32(w, uint32(s>>32))
	case relRel32, relRel32Lo, relGOTPCRel, relGOTPCRelLo:
		if d := int64(s - p); (typ == relRel32 || typ == relGOTPCRel) && (d < math.MinInt32 || d > math.MaxInt32) {
			return fmt.Errorf("distance %d does not fit 32 bits", d)
		}
		le.PutUint32(w, uint32(s-p))
	case relRel32Hi, relGOTPCRelHi:
		le.PutUint32(w, uint32((s-p)>>32))
	case relRel16:
		d := int64(s-p-4) / 4
		if d < math.MinInt16 || d > math.MaxInt16 || int64(s-p)%4 != 0 {
			return fmt.Errorf("branch over %d words", d)
		}
		le.PutUint16(w, uint16(d))
	default:
		return fmt.Errorf("relocation type %d is not supported", typ)
	}
	return nil
}

// readRelocatable links a relocatable object.
func (f *File) readRelocatable(e *elf.File) (err error) {
	defer try.Catch(&err)
	u := Unit{Version: f.Version}
	index := make([]int, len(e.Sections)) // of the unit's section, -1 for those not loaded
	total := uint64(0)
	for i, s := range e.Sections {
		index[i] = -1
		switch {
		case s.Type == elf.SHT_NOTE:
			b := try.V(sectionData(s))
			try.E(f.findNote(b))
		case s.Flags&elf.SHF_ALLOC != 0 && (s.Type == elf.SHT_PROGBITS || s.Type == elf.SHT_NOBITS):
			if total += s.Size; total > maxImage {
				return fmt.Errorf("codeobject: more than %d bytes of sections", maxImage)
			}
			b := try.V(sectionData(s))
			index[i] = len(u.Sections)
			u.Sections = append(u.Sections, Section{
				Name: s.Name, Data: b, Align: max(s.Addralign, 1), Write: s.Flags&elf.SHF_WRITE != 0, Exec: s.Flags&elf.SHF_EXECINSTR != 0,
			})
		}
	}
	syms, err := e.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("codeobject: %w", err)
	}
	u.Symbols = append(u.Symbols, UnitSymbol{Section: Undefined})
	for _, s := range syms {
		y := UnitSymbol{Symbol: Symbol{Name: s.Name, Addr: s.Value, Bytes: s.Size, Func: elf.ST_TYPE(s.Info) == elf.STT_FUNC, Global: elf.ST_BIND(s.Info) != elf.STB_LOCAL}, Section: Undefined}
		switch {
		case s.Section == elf.SHN_ABS:
			y.Section = Absolute
		case s.Section > 0 && int(s.Section) < len(index) && index[s.Section] >= 0:
			y.Section = index[s.Section]
		}
		if typ := elf.ST_TYPE(s.Info); typ == elf.STT_SECTION || typ == elf.STT_FILE {
			y.Name = ""
		}
		u.Symbols = append(u.Symbols, y)
	}
	for _, s := range e.Sections {
		if s.Type != elf.SHT_RELA || int(s.Info) >= len(index) || index[s.Info] < 0 {
			continue
		}
		b := try.V(sectionData(s))
		for ; len(b) >= relocationSize; b = b[relocationSize:] {
			info := binary.LittleEndian.Uint64(b[8:])
			u.Relocs = append(u.Relocs, Reloc{
				Section: index[s.Info], Offset: binary.LittleEndian.Uint64(b), Type: uint32(info), Symbol: int(info >> 32), Addend: int64(binary.LittleEndian.Uint64(b[16:])),
			})
		}
	}
	return u.linkInto(f)
}
