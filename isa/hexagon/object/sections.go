package object

import "encoding/binary"

// elfSection is a row of the section table: how debuggers and disassemblers see an executable.
type elfSection struct {
	name              string
	kind, flags, addr uint32
	size              uint32
	link, info        uint32
	align, entry      uint32
	data              []byte // of sections that are not loaded
}

// Kinds and flags of sections.
const (
	secProgbits = 1
	secSymtab   = 2
	secStrtab   = 3
	secNobits   = 8

	secWrite = 1
	secAlloc = 2
	secExec  = 4
)

// sections is the section table: one for each named segment, symbols and their names. An image without names has none.
func (im *Image) sections() []elfSection {
	out := []elfSection{{}}
	number := make([]int, len(im.Segments))
	for i := range im.Segments {
		s := &im.Segments[i]
		if s.Name == "" {
			continue
		}
		e := elfSection{name: s.Name, kind: secProgbits, flags: secAlloc, addr: s.Addr, size: s.size(), align: 4}
		if len(s.Data) == 0 {
			e.kind = secNobits
		}
		if s.Exec {
			e.flags |= secExec
		}
		if s.Write {
			e.flags |= secWrite
		}
		number[i] = len(out)
		out = append(out, e)
	}
	if len(out) == 1 {
		return nil
	}
	if len(im.Symbols) > 0 {
		names := []byte{0}
		table := make([]byte, 16)
		locals := uint32(1)
		for _, global := range [...]bool{false, true} { // local symbols are first
			for _, s := range im.Symbols {
				if s.Global != global {
					continue
				}
				info := byte(0)
				if global {
					info = 1 << 4
				} else {
					locals++
				}
				if s.Func {
					info |= 2
				}
				le := binary.LittleEndian
				table = le.AppendUint32(table, uint32(len(names)))
				table = le.AppendUint32(table, s.Addr)
				table = le.AppendUint32(table, 0)
				table = append(table, info, 0)
				table = le.AppendUint16(table, uint16(number[s.Segment]))
				names = append(append(names, s.Name...), 0)
			}
		}
		n := uint32(len(out))
		out = append(out,
			elfSection{name: ".symtab", kind: secSymtab, link: n + 1, info: locals, align: 4, entry: 16, data: table},
			elfSection{name: ".strtab", kind: secStrtab, align: 1, data: names})
	}
	return append(out, elfSection{name: ".shstrtab", kind: secStrtab, align: 1})
}

// appendSections writes the table after the segments; offsets are where those are in the file.
func appendSections(out []byte, secs []elfSection, offsets map[uint32]uint32) []byte {
	if len(secs) == 0 {
		return out
	}
	names := []byte{0}
	var head []byte
	for i := range secs {
		s := &secs[i]
		name := uint32(0)
		if s.name != "" {
			name = uint32(len(names))
			names = append(append(names, s.name...), 0)
		}
		if i == len(secs)-1 {
			s.data = names
		}
		off, size := offsets[s.addr], s.size
		if s.data != nil {
			for len(out)%4 != 0 {
				out = append(out, 0)
			}
			off, size = uint32(len(out)), uint32(len(s.data))
			out = append(out, s.data...)
		}
		if i == 0 {
			off = 0
		}
		for _, v := range []uint32{name, s.kind, s.flags, s.addr, off, size, s.link, s.info, s.align, s.entry} {
			head = binary.LittleEndian.AppendUint32(head, v)
		}
	}
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	const shoff = 32 // of e_shoff
	binary.LittleEndian.PutUint32(out[shoff:], uint32(len(out)))
	return append(out, head...)
}
