package codeobject

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// File is a linked code object.
type File struct {
	Version  int // of the code object ABI: 3 to 6
	Machine  string
	Segments []Segment // by address
	Symbols  []Symbol  // of functions, kernels and data that have a name, by address
	Kernels  []Kernel  // by name
	Lines    []Line    // of the source, by address; none of a file that was read

	flags  uint32  // e_flags
	note   []byte  // MessagePack
	relocs []reloc // of values that depend on the load address
}

// Segment is a range of memory that the file fills. Addresses are relative to
// the load address.
type Segment struct {
	Addr  uint64
	Data  []byte
	Write bool
	Exec  bool
}

// Line is the source line, from 1, of the instruction at an address.
type Line struct {
	Addr uint64
	Line int
}

// Line is the source line of the instruction at an address, 0 where it is not known.
func (f *File) Line(addr uint64) int {
	i, ok := slices.BinarySearchFunc(f.Lines, addr, func(l Line, addr uint64) int { return cmp.Compare(l.Addr, addr) })
	if !ok {
		return 0
	}
	return f.Lines[i].Line
}

// Symbol is a name for an address.
type Symbol struct {
	Name   string
	Addr   uint64
	Bytes  uint64
	Func   bool
	Global bool
}

// Kernel is one kernel of a file.
type Kernel struct {
	Name       string
	Descriptor rdna2.Descriptor
	Addr       uint64 // of the descriptor
	Entry      uint64 // of the first instruction
	Meta       *Meta  // nil when the file has no metadata for it
}

// reloc is a 64-bit word that holds an address.
type reloc struct {
	at     uint64
	addend uint64 // the address, relative to the load address
}

// machines are the e_flags machine numbers of the chips whose instruction set is
// that of gfx1030.
var machines = map[uint32]string{
	0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3E: "gfx1034", 0x3D: "gfx1035", 0x45: "gfx1036", 0x53: "gfx10-3-generic",
}

// foreign are other chips, for messages.
var foreign = map[uint32]string{
	0x20: "gfx600", 0x22: "gfx700", 0x28: "gfx801", 0x2A: "gfx803", 0x2C: "gfx900", 0x2F: "gfx906", 0x30: "gfx908", 0x3F: "gfx90a", 0x4C: "gfx942",
	0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103", 0x48: "gfx1200", 0x4E: "gfx1201",
}

// Limits of the sizes in a file, in bytes.
const (
	maxImage = 64 << 20 // of all segments
	maxCode  = 8 << 20
)

// Kernel is the kernel of that name.
func (f *File) Kernel(name string) (*Kernel, error) {
	for i := range f.Kernels {
		if f.Kernels[i].Name == name {
			return &f.Kernels[i], nil
		}
	}
	if len(f.Kernels) == 0 {
		return nil, fmt.Errorf("no kernel %q: the file has none", name)
	}
	return nil, fmt.Errorf("no kernel %q: the file has %s", name, strings.Join(f.Names(), ", "))
}

// Names are the names of the kernels.
func (f *File) Names() []string {
	var out []string
	for i := range f.Kernels {
		out = append(out, f.Kernels[i].Name)
	}
	return out
}

// Load returns the segments of the file loaded at base. Their Addr is absolute and their Data a copy.
func (f *File) Load(base uint64) ([]Segment, error) {
	out := make([]Segment, len(f.Segments))
	for i, s := range f.Segments {
		s.Addr += base
		s.Data = slices.Clone(s.Data)
		out[i] = s
	}
	for _, r := range f.relocs {
		w := word(out, base+r.at, 8)
		if w == nil {
			return nil, fmt.Errorf("codeobject: relocation at %#x outside the file", r.at)
		}
		binary.LittleEndian.PutUint64(w, base+r.addend)
	}
	return out, nil
}

// word is the n bytes at addr, nil when no segment has them.
func word(segs []Segment, addr uint64, n int) []byte {
	for i := range segs {
		if s := &segs[i]; addr >= s.Addr && addr-s.Addr <= uint64(len(s.Data)) && uint64(n) <= uint64(len(s.Data))-(addr-s.Addr) {
			return s.Data[addr-s.Addr:][:n]
		}
	}
	return nil
}

// Code is the executable segment that holds addr.
func (f *File) Code(addr uint64) *Segment {
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Exec && addr >= s.Addr && addr-s.Addr < uint64(len(s.Data)) {
			return s
		}
	}
	return nil
}

// finish finds the kernels and reads the metadata.
func (f *File) finish() error {
	metas, err := parseNote(f.note)
	if err != nil {
		return err
	}
	byKD := map[string]*Meta{}
	for i := range metas {
		byKD[metas[i].Symbol] = &metas[i]
	}
	for _, s := range f.Symbols {
		name, ok := strings.CutSuffix(s.Name, ".kd")
		if !ok || s.Func {
			continue
		}
		b := word(f.Segments, s.Addr, rdna2.DescriptorSize)
		if b == nil {
			return fmt.Errorf("codeobject: kernel %s: descriptor at %#x outside the file", name, s.Addr)
		}
		d, err := rdna2.ParseDescriptor(b)
		if err != nil {
			return fmt.Errorf("codeobject: kernel %s: %w", name, err)
		}
		k := Kernel{Name: name, Descriptor: d, Addr: s.Addr, Entry: s.Addr + uint64(d.Entry), Meta: byKD[s.Name]}
		if f.Code(k.Entry) == nil {
			return fmt.Errorf("codeobject: kernel %s: entry %#x is not code", name, k.Entry)
		}
		if k.Meta != nil && k.Meta.WaveSize != 0 && k.Meta.WaveSize != d.WaveSize() {
			return fmt.Errorf("codeobject: kernel %s: metadata says wave%d, descriptor wave%d", name, k.Meta.WaveSize, d.WaveSize())
		}
		f.Kernels = append(f.Kernels, k)
	}
	slices.SortFunc(f.Kernels, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	f.Kernels = slices.CompactFunc(f.Kernels, func(a, b Kernel) bool { return a.Name == b.Name && a.Addr == b.Addr })
	slices.SortStableFunc(f.Symbols, func(a, b Symbol) int {
		if a.Addr != b.Addr {
			if a.Addr < b.Addr {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	f.Symbols = slices.Compact(f.Symbols)
	return nil
}
