package object

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// ELF constants of a static Hexagon Linux executable.
const (
	elfMachine  = 164  // EM_QDSP6
	elfFlagsV66 = 0x66 // EF_HEXAGON_MACH_V66
	elfHeader   = 52
	elfProgHdr  = 32
	elfSecHdr   = 40
	PageSize    = 0x10000 // page size of Hexagon Linux

	progExec  = 1
	progWrite = 2
	progRead  = 4
)

// Segment is a range of memory in an executable image.
type Segment struct {
	Name  string // of its section; none without a name
	Addr  uint32
	Data  []byte
	Size  uint32 // bytes in memory, zero beyond Data. 0 means len(Data)
	Exec  bool
	Write bool
}

func (s *Segment) size() uint32 { return max(s.Size, uint32(len(s.Data))) }

// Image is a static executable: segments at fixed virtual addresses and an entry point.
type Image struct {
	Entry    uint32
	Segments []Segment
	Symbols  []Symbol
}

// Symbol is a name for an address.
type Symbol struct {
	Name    string
	Addr    uint32
	Segment int // index of the segment that contains it
	Global  bool
	Func    bool
}

// ELF returns the image as a 32-bit little-endian static Linux executable for Hexagon V66, as qemu-hexagon runs it. It
// is an error when segments share a 64 KiB page, wrap the address space or the entry is in no executable segment.
func (im *Image) ELF() ([]byte, error) {
	segs := append([]Segment(nil), im.Segments...)
	sort.SliceStable(segs, func(i, j int) bool { return segs[i].Addr < segs[j].Addr })
	entry := false
	for i := range segs {
		s := &segs[i]
		end := uint64(s.Addr) + uint64(s.size())
		if end > 1<<32 {
			return nil, fmt.Errorf("hexagon: elf: segment 0x%x of %d bytes wraps the address space", s.Addr, s.size())
		}
		if i > 0 {
			if p := &segs[i-1]; uint64(p.Addr)+uint64(p.size())+PageSize-1 > uint64(s.Addr)/PageSize*PageSize+PageSize-1 {
				return nil, fmt.Errorf("hexagon: elf: segments 0x%x and 0x%x share a page", p.Addr, s.Addr)
			}
		}
		entry = entry || s.Exec && im.Entry >= s.Addr && uint64(im.Entry) < end
	}
	if !entry {
		return nil, fmt.Errorf("hexagon: elf: entry 0x%x is in no executable segment", im.Entry)
	}

	le := binary.LittleEndian
	out := []byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	for _, v := range []uint16{2, elfMachine} { // ET_EXEC
		out = le.AppendUint16(out, v)
	}
	tables := im.sections()
	for _, v := range []uint32{1, im.Entry, elfHeader, 0, elfFlagsV66} { // version, entry, program headers, sections patched below
		out = le.AppendUint32(out, v)
	}
	for _, v := range []uint16{elfHeader, elfProgHdr, uint16(len(segs)), elfSecHdr, uint16(len(tables)), uint16(max(len(tables)-1, 0))} {
		out = le.AppendUint16(out, v)
	}
	// File offsets are congruent to addresses modulo the page, so that the loader can map them.
	off := uint32(elfHeader + elfProgHdr*len(segs))
	offsets := map[uint32]uint32{} // by address
	for i := range segs {
		s := &segs[i]
		off += (s.Addr - off) & (PageSize - 1)
		offsets[s.Addr] = off
		flags := uint32(progRead)
		if s.Exec {
			flags |= progExec
		}
		if s.Write {
			flags |= progWrite
		}
		for _, v := range []uint32{1, off, s.Addr, s.Addr, uint32(len(s.Data)), s.size(), flags, PageSize} { // PT_LOAD
			out = le.AppendUint32(out, v)
		}
		off += uint32(len(s.Data))
	}
	for i := range segs {
		out = append(out, make([]byte, int(offsets[segs[i].Addr])-len(out))...)
		out = append(out, segs[i].Data...)
	}
	return appendSections(out, tables, offsets), nil
}
