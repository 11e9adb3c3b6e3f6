package dsp

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// maxImageBytes bounds what the segments of a program take in memory.
const maxImageBytes = 1 << 30

// Image is a static executable in memory: its code, and its data in a space.
type Image struct {
	Program *Program
	Space   *mem.Space
	Entry   uint32

	headers, headerBytes, headerCount uint32 // program headers, where they are in memory; 0 if they are not
}

// LoadELF maps a static 32-bit Hexagon executable. Errors name what is wrong
// with the file.
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
	total := uint64(0)
	for i, ph := range f.Progs {
		if ph.Type == elf.PT_INTERP || ph.Type == elf.PT_DYNAMIC {
			return nil, fmt.Errorf("dsp: elf: program header %d is %v: dynamic executables are not supported", i, ph.Type)
		}
		if ph.Type != elf.PT_LOAD || ph.Memsz == 0 {
			continue
		}
		total += ph.Memsz
		end, limit := ph.Vaddr+ph.Memsz, uint64(1)<<32
		if ph.Flags&elf.PF_X != 0 {
			limit = heapBase
		}
		if ph.Filesz > ph.Memsz || ph.Memsz > maxImageBytes || total > maxImageBytes || end > limit || ph.Off > uint64(len(data)) || ph.Filesz > uint64(len(data))-ph.Off {
			return nil, fmt.Errorf("dsp: elf: segment %d at %#x: %d bytes in the file, %d in memory: outside the file, above %#x or more than %d in all", i, ph.Vaddr, ph.Filesz, ph.Memsz, limit, maxImageBytes)
		}
		if off := uint64(binary.LittleEndian.Uint32(data[28:])); ph.Off <= off && off-ph.Off < ph.Filesz {
			im.headers = uint32(ph.Vaddr + off - ph.Off)
			im.headerBytes, im.headerCount = uint32(binary.LittleEndian.Uint16(data[42:])), uint32(len(f.Progs))
		}
		image := make([]byte, (ph.Memsz+3)&^3)
		copy(image, data[ph.Off:ph.Off+ph.Filesz])
		if ph.Flags&elf.PF_X != 0 {
			if im.Program != nil {
				return nil, fmt.Errorf("dsp: elf: segment %d is a second executable one", i)
			}
			if ph.Vaddr&3 != 0 {
				return nil, fmt.Errorf("dsp: elf: executable segment %d at %#x is not aligned to words", i, ph.Vaddr)
			}
			im.Program = &Program{Base: uint32(ph.Vaddr), Code: image}
		} else if err := im.Space.Map(mem.Segment{Name: fmt.Sprintf("segment %d", i), Base: ph.Vaddr, Data: image, ReadOnly: ph.Flags&elf.PF_W == 0}); err != nil {
			return nil, fmt.Errorf("dsp: elf: %w", err)
		}
	}
	if im.Program == nil {
		return nil, fmt.Errorf("dsp: elf: no executable segment")
	}
	return im, nil
}
