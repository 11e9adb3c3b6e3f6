package linux

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Bounds of a program in memory.
const (
	maxImageBytes = 1 << 30   // pages of all segments
	maxCodeBytes  = 256 << 20 // from the first executable segment to the last
	maxLoads      = 256       // segments
)

// Image is a static executable in memory: its code to run, and all of it as data.
type Image struct {
	Program *dsp.Program
	Space   *mem.Space
	Entry   uint32

	writableCode                      bool
	headers, headerBytes, headerCount uint32 // program headers, where they are in memory; 0 if they are not
}

// load is a segment of a file to map.
type load struct {
	index     int // of its program header
	addr, end uint64
	file      []byte // the part in the file
	flags     elf.ProgFlag
}

// LoadELF maps a static 32-bit Hexagon executable. Like Linux it maps whole pages, where segments do not share them.
// Errors name the defect of the file.
func LoadELF(data []byte) (*Image, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("dsp: elf: %w", err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS32 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_QDSP6 || f.Type != elf.ET_EXEC {
		return nil, fmt.Errorf("dsp: elf: %v %v %v %v, want a static 32-bit little-endian Hexagon executable", f.Class, f.Data, f.Machine, f.Type)
	}
	im := &Image{Space: new(mem.Space), Entry: uint32(f.Entry)}
	var loads []load
	for i, ph := range f.Progs {
		if ph.Type == elf.PT_INTERP || ph.Type == elf.PT_DYNAMIC {
			return nil, fmt.Errorf("dsp: elf: program header %d is %v: dynamic executables are not supported", i, ph.Type)
		}
		if ph.Type != elf.PT_LOAD || ph.Memsz == 0 {
			continue
		}
		end, limit := ph.Vaddr+ph.Memsz, uint64(1)<<32
		if ph.Flags&elf.PF_X != 0 {
			limit = heapBase
		}
		if ph.Filesz > ph.Memsz || ph.Memsz > maxImageBytes || end > limit || ph.Off > uint64(len(data)) || ph.Filesz > uint64(len(data))-ph.Off {
			return nil, fmt.Errorf("dsp: elf: segment %d at %#x: %d bytes in the file, %d in memory: outside the file, above %#x or more than %d in all", i, ph.Vaddr, ph.Filesz, ph.Memsz, limit, maxImageBytes)
		}
		if ph.Flags&elf.PF_X != 0 && ph.Vaddr&3 != 0 {
			return nil, fmt.Errorf("dsp: elf: executable segment %d at %#x is not aligned to words", i, ph.Vaddr)
		}
		if off := uint64(binary.LittleEndian.Uint32(data[28:])); ph.Off <= off && off-ph.Off < ph.Filesz {
			im.headers = uint32(ph.Vaddr + off - ph.Off)
			im.headerBytes, im.headerCount = uint32(binary.LittleEndian.Uint16(data[42:])), uint32(len(f.Progs))
		}
		loads = append(loads, load{i, ph.Vaddr, end, data[ph.Off:][:ph.Filesz], ph.Flags})
	}
	if len(loads) > maxLoads {
		return nil, fmt.Errorf("dsp: elf: %d segments, more than %d", len(loads), maxLoads)
	}
	slices.SortStableFunc(loads, func(a, b load) int { return cmp.Compare(a.addr, b.addr) })
	if err := im.mapAll(loads); err != nil {
		return nil, fmt.Errorf("dsp: elf: %w", err)
	}
	if err := im.link(loads); err != nil {
		return nil, fmt.Errorf("dsp: elf: %w", err)
	}
	return im, nil
}

// mapAll maps the pages of segments that are sorted by address.
func (im *Image) mapAll(loads []load) error {
	const page = pageBytes - 1
	total, from := uint64(0), uint64(0)
	for i := range loads {
		l := &loads[i]
		if i > 0 && l.addr < loads[i-1].end {
			return fmt.Errorf("segment %d at %#x overlaps segment %d, which ends at %#x", l.index, l.addr, loads[i-1].index, loads[i-1].end)
		}
		from = max(from, l.addr&^page)
		to := (l.end + page) &^ page
		if i+1 < len(loads) {
			to = max(l.end, min(to, loads[i+1].addr))
		}
		if total += to - from; total > maxImageBytes {
			return fmt.Errorf("segments of more than %d bytes in all", maxImageBytes)
		}
		pages := make([]byte, to-from)
		copy(pages[l.addr-from:], l.file)
		if err := im.Space.Map(mem.Segment{Name: fmt.Sprintf("segment %d", l.index), Base: from, Data: pages, ReadOnly: l.flags&elf.PF_W == 0}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// link makes the program of the executable segments.
func (im *Image) link(loads []load) error {
	loads = slices.DeleteFunc(slices.Clone(loads), func(l load) bool { return l.flags&elf.PF_X == 0 })
	if len(loads) == 0 {
		return errors.New("no executable segment")
	}
	base, end := loads[0].addr, loads[len(loads)-1].end
	if end-base > maxCodeBytes {
		return fmt.Errorf("executable segments from %#x to %#x, more than %d bytes", base, end, maxCodeBytes)
	}
	p := &dsp.Program{Base: uint32(base), Code: make([]byte, (end-base+3)&^3)}
	for i, l := range loads {
		copy(p.Code[l.addr-base:], l.file)
		im.writableCode = im.writableCode || l.flags&elf.PF_W != 0
		if i+1 < len(loads) {
			p.Gaps = append(p.Gaps, dsp.Gap{From: uint32(l.end+3) &^ 3, To: uint32(loads[i+1].addr)})
		}
	}
	im.Program = p
	return nil
}
