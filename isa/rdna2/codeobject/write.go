package codeobject

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// outSection is a section of a written file.
type outSection struct {
	name              string
	nameAt            uint32 // place among the names
	typ               elf.SectionType
	flags             elf.SectionFlag
	addr, align, ents uint64
	link, info        uint32
	data              []byte
	off               uint64
}

// ELF is the file as a shared object, which LLVM's tools read and runtimes load.
func (f *File) ELF() ([]byte, error) {
	w := elfWriter{File: f, sections: []outSection{{}}}
	w.addSegments()
	if len(f.note) > 0 {
		w.noteAt = w.add(outSection{name: ".note", typ: elf.SHT_NOTE, flags: elf.SHF_ALLOC, align: 4, data: f.metadataNote()})
	}
	w.addTables()
	return w.bytes()
}

// elfWriter collects the sections of a file. The segments are sections 1 and on.
type elfWriter struct {
	*File
	sections []outSection
	noteAt   uint32 // section of the note, 0 without
}

func (w *elfWriter) add(s outSection) uint32 {
	w.sections = append(w.sections, s)
	return uint32(len(w.sections) - 1)
}

func (w *elfWriter) addSegments() {
	for i := range w.Segments {
		s := &w.Segments[i]
		o := outSection{name: ".rodata", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: s.Addr, align: 256, data: s.Data}
		switch {
		case s.Exec:
			o.name, o.flags = ".text", o.flags|elf.SHF_EXECINSTR
		case s.Write:
			o.name, o.flags = ".data", o.flags|elf.SHF_WRITE
		}
		w.add(o)
	}
}

// metadataNote is the note with the metadata of the kernels.
func (f *File) metadataNote() []byte {
	le := binary.LittleEndian
	note := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 7), uint32(len(f.note))), noteMetadata)
	note = append(append(note, "AMDGPU\x00\x00"...), f.note...)
	for len(note)%4 != 0 {
		note = append(note, 0)
	}
	return note
}

// symbolTable is a table of symbols with its names.
type symbolTable struct{ entries, names []byte }

func newSymbolTable() symbolTable { return symbolTable{make([]byte, symbolSize), []byte{0}} }

// symbolSize is the bytes of an entry of a symbol table.
const symbolSize = 24

func (t *symbolTable) add(s *Symbol, visibility byte, section int) {
	le := binary.LittleEndian
	typ, bind := elf.STT_OBJECT, elf.STB_LOCAL
	if s.Func {
		typ = elf.STT_FUNC
	}
	if s.Global {
		bind = elf.STB_GLOBAL
	}
	b := le.AppendUint32(t.entries, uint32(len(t.names)))
	b = append(b, byte(bind)<<4|byte(typ), visibility)
	b = le.AppendUint16(b, uint16(section))
	t.entries = le.AppendUint64(le.AppendUint64(b, s.Addr), s.Bytes)
	t.names = append(t.names, s.Name+"\x00"...)
}

// sectionOf is the section of an address, 0 when no segment has it.
func (w *elfWriter) sectionOf(addr uint64) (section int) {
	for i := range w.Segments {
		if g := &w.Segments[i]; addr >= g.Addr && addr <= g.Addr+uint64(len(g.Data)) {
			section = 1 + i
		}
	}
	return section
}

// addTables adds the tables of symbols, local ones first, of relocations and of names.
func (w *elfWriter) addTables() {
	dynamic, all := newSymbolTable(), newSymbolTable()
	locals := uint32(1)
	for _, global := range []bool{false, true} {
		for i := range w.Symbols {
			s := &w.Symbols[i]
			if s.Global != global {
				continue
			}
			all.add(s, 0, w.sectionOf(s.Addr))
			if s.Global {
				dynamic.add(s, byte(elf.STV_PROTECTED), w.sectionOf(s.Addr))
			} else {
				locals++
			}
		}
	}
	var rela []byte
	le := binary.LittleEndian
	for _, r := range w.relocs {
		rela = le.AppendUint64(le.AppendUint64(le.AppendUint64(rela, r.at), relRelative64), r.addend)
	}
	dynstr := w.add(outSection{name: ".dynstr", typ: elf.SHT_STRTAB, flags: elf.SHF_ALLOC, align: 1, data: dynamic.names})
	dynsym := w.add(outSection{name: ".dynsym", typ: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, align: 8, ents: symbolSize, link: dynstr, info: 1, data: dynamic.entries})
	if len(rela) > 0 {
		w.add(outSection{name: ".rela.dyn", typ: elf.SHT_RELA, flags: elf.SHF_ALLOC, align: 8, ents: relocationSize, link: dynsym, data: rela})
	}
	strtab := w.add(outSection{name: ".strtab", typ: elf.SHT_STRTAB, align: 1, data: all.names})
	w.add(outSection{name: ".symtab", typ: elf.SHT_SYMTAB, align: 8, ents: symbolSize, link: strtab, info: locals, data: all.entries})
	names := w.add(outSection{name: ".shstrtab", typ: elf.SHT_STRTAB, align: 1})
	var text []byte
	for i := range w.sections {
		w.sections[i].nameAt = uint32(len(text))
		text = append(text, w.sections[i].name+"\x00"...)
	}
	w.sections[names].data = text
}

// bytes lays the sections out after the program headers, and the section headers last.
func (w *elfWriter) bytes() ([]byte, error) {
	phnum := len(w.Segments)
	if w.noteAt > 0 {
		phnum++
	}
	out := make([]byte, 64+56*phnum)
	for i := 1; i < len(w.sections); i++ {
		s := &w.sections[i]
		align := max(s.align, 1)
		if i <= len(w.Segments) {
			align = pageBytes
		}
		for uint64(len(out))%align != s.addr%align {
			out = append(out, 0)
		}
		s.off = uint64(len(out))
		out = append(out, s.data...)
		if len(out) > 2*maxImage {
			return nil, fmt.Errorf("codeobject: a file of more than %d bytes", 2*maxImage)
		}
	}
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	header(out, w.Version, w.flags, uint64(len(out)), phnum, len(w.sections))
	for i := range w.Segments {
		s := &w.Segments[i]
		flags := elf.PF_R
		if s.Exec {
			flags |= elf.PF_X
		}
		if s.Write {
			flags |= elf.PF_W
		}
		program(out[64+56*i:], elf.PT_LOAD, flags, w.sections[1+i].off, s.Addr, uint64(len(s.Data)), pageBytes)
	}
	if w.noteAt > 0 {
		n := &w.sections[w.noteAt]
		program(out[64+56*(phnum-1):], elf.PT_NOTE, elf.PF_R, n.off, 0, uint64(len(n.data)), 4)
	}
	for i := range w.sections {
		out = w.sections[i].header(out)
	}
	return out, nil
}

// header appends the section's header.
func (s *outSection) header(out []byte) []byte {
	le := binary.LittleEndian
	out = le.AppendUint32(le.AppendUint32(out, s.nameAt), uint32(s.typ))
	for _, v := range []uint64{uint64(s.flags), s.addr, s.off, uint64(len(s.data))} {
		out = le.AppendUint64(out, v)
	}
	out = le.AppendUint32(le.AppendUint32(out, s.link), s.info)
	return le.AppendUint64(le.AppendUint64(out, s.align), s.ents)
}

// header fills in the ELF header.
func header(b []byte, version int, flags uint32, shoff uint64, phnum, shnum int) {
	le := binary.LittleEndian
	copy(b, elf.ELFMAG)
	b[4], b[5], b[6], b[7], b[8] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), osabiHSA, byte(version-2)
	le.PutUint16(b[16:], uint16(elf.ET_DYN))
	le.PutUint16(b[18:], machineAMDGPU)
	le.PutUint32(b[20:], uint32(elf.EV_CURRENT))
	le.PutUint64(b[32:], 64)
	le.PutUint64(b[40:], shoff)
	le.PutUint32(b[48:], flags)
	for i, v := range []int{64, 56, phnum, 64, shnum, shnum - 1} {
		le.PutUint16(b[52+2*i:], uint16(v))
	}
}

// program fills in a program header.
func program(b []byte, typ elf.ProgType, flags elf.ProgFlag, off, addr, size, align uint64) {
	le := binary.LittleEndian
	le.PutUint32(b, uint32(typ))
	le.PutUint32(b[4:], uint32(flags))
	for i, v := range []uint64{off, addr, addr, size, size, align} {
		le.PutUint64(b[8+8*i:], v)
	}
}
