package codeobject

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// section of a written file.
type outSection struct {
	name              string
	typ               elf.SectionType
	flags             elf.SectionFlag
	addr, align, ents uint64
	link, info        uint32
	data              []byte
	off               uint64
}

// ELF is the file as a shared object, which LLVM's tools read and runtimes load.
func (f *File) ELF() ([]byte, error) {
	le := binary.LittleEndian
	var dynstr, strtab bytes.Buffer
	dynstr.WriteByte(0)
	strtab.WriteByte(0)
	dynsym, symtab := make([]byte, 24), make([]byte, 24)
	secs := []outSection{{}}
	first := len(secs)
	for i := range f.Segments {
		s := &f.Segments[i]
		o := outSection{name: ".rodata", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: s.Addr, align: 256, data: s.Data}
		switch {
		case s.Exec:
			o.name, o.flags = ".text", o.flags|elf.SHF_EXECINSTR
		case s.Write:
			o.name, o.flags = ".data", o.flags|elf.SHF_WRITE
		}
		secs = append(secs, o)
	}
	locals := uint32(1)
	for pass := range 2 {
		for i := range f.Symbols {
			s := &f.Symbols[i]
			if s.Global != (pass == 1) {
				continue
			}
			shndx := 0
			for j := range f.Segments {
				if g := &f.Segments[j]; s.Addr >= g.Addr && s.Addr <= g.Addr+uint64(len(g.Data)) {
					shndx = first + j
				}
			}
			typ, bind := elf.STT_OBJECT, elf.STB_LOCAL
			if s.Func {
				typ = elf.STT_FUNC
			}
			if s.Global {
				bind = elf.STB_GLOBAL
			} else {
				locals++
			}
			entry := func(name int, visibility byte) []byte {
				b := le.AppendUint32(nil, uint32(name))
				b = append(b, byte(bind)<<4|byte(typ), visibility)
				b = le.AppendUint16(b, uint16(shndx))
				return le.AppendUint64(le.AppendUint64(b, s.Addr), s.Bytes)
			}
			symtab = append(symtab, entry(strtab.Len(), 0)...)
			strtab.WriteString(s.Name + "\x00")
			if s.Global {
				dynsym = append(dynsym, entry(dynstr.Len(), byte(elf.STV_PROTECTED))...)
				dynstr.WriteString(s.Name + "\x00")
			}
		}
	}
	var rela []byte
	for _, r := range f.relocs {
		rela = le.AppendUint64(le.AppendUint64(le.AppendUint64(rela, r.at), relRelative64), r.addend)
	}
	var note []byte
	if len(f.note) > 0 {
		note = le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 7), uint32(len(f.note))), noteMetadata)
		note = append(append(note, "AMDGPU\x00\x00"...), f.note...)
		for len(note)%4 != 0 {
			note = append(note, 0)
		}
		secs = append(secs, outSection{name: ".note", typ: elf.SHT_NOTE, flags: elf.SHF_ALLOC, align: 4, data: note})
	}
	noteAt := len(secs) - 1
	add := func(s outSection) uint32 { secs = append(secs, s); return uint32(len(secs) - 1) }
	ds := add(outSection{name: ".dynstr", typ: elf.SHT_STRTAB, flags: elf.SHF_ALLOC, align: 1, data: dynstr.Bytes()})
	dy := add(outSection{name: ".dynsym", typ: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, align: 8, ents: 24, link: ds, info: 1, data: dynsym})
	if len(rela) > 0 {
		add(outSection{name: ".rela.dyn", typ: elf.SHT_RELA, flags: elf.SHF_ALLOC, align: 8, ents: relocationSize, link: dy, data: rela})
	}
	st := add(outSection{name: ".strtab", typ: elf.SHT_STRTAB, align: 1, data: strtab.Bytes()})
	add(outSection{name: ".symtab", typ: elf.SHT_SYMTAB, align: 8, ents: 24, link: st, info: locals, data: symtab})
	var names bytes.Buffer
	offsets := make([]int, len(secs)+1)
	for i, s := range append(secs, outSection{name: ".shstrtab"}) {
		offsets[i] = names.Len()
		names.WriteString(s.name + "\x00")
	}
	add(outSection{name: ".shstrtab", typ: elf.SHT_STRTAB, align: 1, data: names.Bytes()})

	phnum := len(f.Segments)
	if len(note) > 0 {
		phnum++
	}
	out := make([]byte, 64+56*phnum)
	for i := range secs {
		s := &secs[i]
		if i == 0 {
			continue
		}
		align := max(s.align, 1)
		if i >= first && i < first+len(f.Segments) {
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
	shoff := uint64(len(out))
	for i, s := range secs {
		out = le.AppendUint32(out, uint32(offsets[min(i, len(offsets)-1)]))
		out = le.AppendUint32(out, uint32(s.typ))
		for _, v := range []uint64{uint64(s.flags), s.addr, s.off, uint64(len(s.data))} {
			out = le.AppendUint64(out, v)
		}
		out = le.AppendUint32(le.AppendUint32(out, s.link), s.info)
		out = le.AppendUint64(le.AppendUint64(out, s.align), s.ents)
	}
	header(out, f.Version, f.flags, shoff, phnum, len(secs))
	for i := range f.Segments {
		s := &f.Segments[i]
		flags := elf.PF_R
		if s.Exec {
			flags |= elf.PF_X
		}
		if s.Write {
			flags |= elf.PF_W
		}
		program(out[64+56*i:], elf.PT_LOAD, flags, secs[first+i].off, s.Addr, uint64(len(s.Data)), pageBytes)
	}
	if len(note) > 0 {
		program(out[64+56*(phnum-1):], elf.PT_NOTE, elf.PF_R, secs[noteAt].off, 0, uint64(len(note)), 4)
	}
	return out, nil
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
