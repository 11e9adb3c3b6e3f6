package object

import (
	"bytes"
	"debug/elf"
	"fmt"
	"sort"
	"strings"
)

// ReadELF returns the code of an executable or relocatable Hexagon ELF file: its executable sections, or where it has
// no section table its executable segments. Errors name the defect of the file.
func ReadELF(data []byte) ([]Code, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("hexagon: elf: %w", err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS32 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_QDSP6 {
		return nil, fmt.Errorf("hexagon: elf: %v %v %v, want 32-bit little-endian Hexagon", f.Class, f.Data, f.Machine)
	}
	symbols, err := f.Symbols()
	if err != nil && err != elf.ErrNoSymbols {
		return nil, fmt.Errorf("hexagon: elf: %w", err)
	}
	var out []Code
	for i, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("hexagon: elf: section %s: %w", s.Name, err)
		}
		c := Code{Name: s.Name, Addr: uint32(s.Addr), Data: b}
		for _, y := range symbols {
			if int(y.Section) == i && (elf.ST_TYPE(y.Info) == elf.STT_FUNC || elf.ST_TYPE(y.Info) == elf.STT_NOTYPE) && y.Name != "" {
				c.Symbols = append(c.Symbols, Symbol{Name: y.Name, Addr: uint32(y.Value), Global: elf.ST_BIND(y.Info) != elf.STB_LOCAL, Func: elf.ST_TYPE(y.Info) == elf.STT_FUNC})
			}
		}
		c.dropOutside()
		out = append(out, c)
	}
	if len(out) > 0 {
		return out, nil
	}
	for i, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || p.Filesz == 0 {
			continue
		}
		if p.Off > uint64(len(data)) || p.Filesz > uint64(len(data))-p.Off {
			return nil, fmt.Errorf("hexagon: elf: segment %d lies outside the file", i)
		}
		out = append(out, Code{Name: ".text", Addr: uint32(p.Vaddr), Data: data[p.Off:][:p.Filesz]})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("hexagon: elf: no code")
	}
	return out, nil
}

// dropOutside drops symbols outside the code, and names that cannot be; it orders the others.
func (c *Code) dropOutside() {
	in := c.Symbols[:0]
	for _, s := range c.Symbols {
		if s.Addr-c.Addr < uint32(len(c.Data)) && s.Name != "" && strings.IndexByte(s.Name, 0) < 0 {
			in = append(in, s)
		}
	}
	c.Symbols = in
	sort.SliceStable(in, func(i, j int) bool { return in[i].Addr < in[j].Addr })
}
