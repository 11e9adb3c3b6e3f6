package codeobject

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	machineAMDGPU = 224 // EM_AMDGPU
	osabiHSA      = 64
	noteMetadata  = 32 // NT_AMDGPU_METADATA
)

// Read reads a code object, and links it when it is relocatable. Of an offload bundle, or a program with one, it reads
// the code object for this GPU.
func Read(data []byte) (*File, error) {
	data, err := unbundle(data)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil, errors.New("codeobject: no ELF file")
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("codeobject: %w", err)
	}
	defer e.Close()
	if e.Class != elf.ELFCLASS64 || e.Data != elf.ELFDATA2LSB || e.Machine != machineAMDGPU {
		return nil, fmt.Errorf("codeobject: an ELF file for %v, want a 64-bit one for AMDGPU", e.Machine)
	}
	if e.OSABI != osabiHSA {
		return nil, fmt.Errorf("codeobject: OS ABI %d, want %d (target amdgcn-amd-amdhsa)", e.OSABI, osabiHSA)
	}
	if e.ABIVersion < 1 || e.ABIVersion > 4 {
		return nil, fmt.Errorf("codeobject: ABI version %d is not supported, only code objects v3 to v6", e.ABIVersion)
	}
	f := &File{Version: int(e.ABIVersion) + 2, flags: binary.LittleEndian.Uint32(data[0x30:])}
	mach := f.flags & 0xFF
	if f.Machine = machines[mach]; f.Machine == "" {
		if name := foreign[mach]; name != "" {
			return nil, fmt.Errorf("codeobject: code for %s, this GPU runs gfx1030 (clang -mcpu=gfx1030)", name)
		}
		return nil, fmt.Errorf("codeobject: code for machine %#x, this GPU runs gfx1030 (clang -mcpu=gfx1030)", mach)
	}
	switch e.Type {
	case elf.ET_DYN:
		err = f.readShared(e)
	case elf.ET_REL:
		err = f.readRelocatable(e)
	default:
		err = fmt.Errorf("codeobject: ELF type %v, want a shared or relocatable object", e.Type)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) readShared(e *elf.File) error {
	total := uint64(0)
	for _, p := range e.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if p.Memsz == 0 {
				continue
			}
			if p.Filesz > p.Memsz || p.Memsz > maxImage || total+p.Memsz > maxImage || p.Vaddr > 1<<40 {
				return fmt.Errorf("codeobject: segment of %d bytes at %#x, at most %d bytes in all", p.Memsz, p.Vaddr, maxImage)
			}
			if p.Flags&elf.PF_X != 0 && p.Memsz > maxCode {
				return fmt.Errorf("codeobject: %d bytes of code, at most %d", p.Memsz, maxCode)
			}
			total += p.Memsz
			b, err := io.ReadAll(io.NewSectionReader(p, 0, int64(p.Filesz)))
			if err != nil || uint64(len(b)) != p.Filesz {
				return fmt.Errorf("codeobject: segment at %#x is truncated", p.Vaddr)
			}
			f.Segments = append(f.Segments, Segment{
				Addr: p.Vaddr, Data: append(b, make([]byte, p.Memsz-p.Filesz)...), Write: p.Flags&elf.PF_W != 0, Exec: p.Flags&elf.PF_X != 0,
			})
		case elf.PT_NOTE:
			b, err := io.ReadAll(io.LimitReader(p.Open(), maxImage))
			if err != nil {
				return fmt.Errorf("codeobject: note: %w", err)
			}
			if err := f.findNote(b); err != nil {
				return err
			}
		}
	}
	for i := 1; i < len(f.Segments); i++ {
		a, b := &f.Segments[i-1], &f.Segments[i]
		if b.Addr < a.Addr+uint64(len(a.Data)) {
			return fmt.Errorf("codeobject: segments at %#x and %#x overlap or are out of order", a.Addr, b.Addr)
		}
	}
	dyn, err := e.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("codeobject: %w", err)
	}
	f.addSymbols(dyn)
	if all, err := e.Symbols(); err == nil {
		f.addSymbols(all)
	}
	for _, s := range e.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		if err := f.dynamicRelocs(s, dyn); err != nil {
			return err
		}
	}
	return f.finish()
}

// findNote keeps the metadata of a note segment.
func (f *File) findNote(b []byte) error {
	for len(b) >= 12 {
		name, desc, typ := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:])
		at := 12 + (name+3)&^3
		end := at + (desc+3)&^3
		if at > uint64(len(b)) || at+desc > uint64(len(b)) {
			return fmt.Errorf("codeobject: note of %d bytes is truncated", desc)
		}
		if typ == noteMetadata && name == 7 && string(b[12:18]) == "AMDGPU" {
			f.note = b[at : at+desc]
		}
		b = b[min(end, uint64(len(b))):]
	}
	return nil
}

func (f *File) addSymbols(syms []elf.Symbol) {
	for _, s := range syms {
		typ := elf.ST_TYPE(s.Info)
		if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || s.Name == "" || typ == elf.STT_SECTION || typ == elf.STT_FILE {
			continue
		}
		f.Symbols = append(f.Symbols, Symbol{Name: s.Name, Addr: s.Value, Bytes: s.Size, Func: typ == elf.STT_FUNC, Global: elf.ST_BIND(s.Info) != elf.STB_LOCAL})
	}
}

// Relocation types of AMDGPU.
const (
	relAbs32Lo     = 1
	relAbs32Hi     = 2
	relAbs64       = 3
	relRel32       = 4
	relRel64       = 5
	relAbs32       = 6
	relGOTPCRel    = 7
	relGOTPCRelLo  = 8
	relGOTPCRelHi  = 9
	relRel32Lo     = 10
	relRel32Hi     = 11
	relRelative64  = 13
	relRel16       = 14
	relocationSize = 24
)

func (f *File) dynamicRelocs(s *elf.Section, dyn []elf.Symbol) error {
	b, err := sectionData(s)
	if err != nil {
		return err
	}
	for ; len(b) >= relocationSize; b = b[relocationSize:] {
		at, info, addend := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
		typ, sym := uint32(info), int(info>>32)
		switch typ {
		case relRelative64:
		case relAbs64:
			if sym < 1 || sym > len(dyn) {
				return fmt.Errorf("codeobject: relocation at %#x of symbol %d, the file has %d", at, sym, len(dyn))
			}
			y := &dyn[sym-1]
			if y.Section == elf.SHN_UNDEF {
				return undefined(y.Name)
			}
			addend += y.Value
		default:
			return fmt.Errorf("codeobject: dynamic relocation of type %d at %#x is not supported", typ, at)
		}
		if word(f.Segments, at, 8) == nil {
			return fmt.Errorf("codeobject: relocation at %#x outside the file", at)
		}
		f.relocs = append(f.relocs, reloc{at, addend})
	}
	return nil
}

// undefined is the error of a symbol that no one defines.
func undefined(name string) error {
	if strings.HasPrefix(name, "get_") || strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "__ocml") || strings.HasPrefix(name, "__ockl") {
		return fmt.Errorf("codeobject: undefined symbol %s: link a device library, or use clang's builtins as __builtin_amdgcn_workitem_id_x", name)
	}
	return fmt.Errorf("codeobject: undefined symbol %s", name)
}

// sectionData is the content of an uncompressed section.
func sectionData(s *elf.Section) ([]byte, error) {
	if s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > maxImage {
		return nil, fmt.Errorf("codeobject: section %s of %d bytes, compressed or above %d bytes", s.Name, s.Size, maxImage)
	}
	if s.Type == elf.SHT_NOBITS {
		return make([]byte, s.Size), nil
	}
	b, err := s.Data()
	if err != nil || uint64(len(b)) != s.Size {
		return nil, fmt.Errorf("codeobject: section %s is truncated", s.Name)
	}
	return b, nil
}
