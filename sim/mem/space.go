package mem

import (
	"cmp"
	"fmt"
	"slices"
)

// Segment is a mapped range of an address space.
type Segment struct {
	Name     string
	Base     uint64
	Data     []byte
	ReadOnly bool
}

// Contains reports whether n bytes at addr are inside the segment.
func (s *Segment) Contains(addr uint64, n int) bool {
	off := addr - s.Base
	return addr >= s.Base && off <= uint64(len(s.Data)) && uint64(n) <= uint64(len(s.Data))-off
}

// Space is a functional address space: disjoint segments of host memory.
// Lookups do not allocate; a core keeps the segment it used last.
type Space struct {
	segs []Segment // sorted by Base and size
}

// Map adds a segment. It is an error when it overlaps another or wraps.
func (s *Space) Map(seg Segment) error {
	end := seg.Base + uint64(len(seg.Data))
	if end < seg.Base {
		return fmt.Errorf("mem: segment %s at %#x wraps the address space", seg.Name, seg.Base)
	}
	for i := range s.segs {
		o := &s.segs[i]
		if seg.Base < o.Base+uint64(len(o.Data)) && o.Base < end {
			return fmt.Errorf("mem: segment %s [%#x,%#x) overlaps %s", seg.Name, seg.Base, end, o.Name)
		}
	}
	s.segs = append(s.segs, seg)
	slices.SortFunc(s.segs, func(a, b Segment) int { // an empty one before one at the same address
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(len(a.Data), len(b.Data)))
	})
	return nil
}

// Clone is a space of the same segments: it shares their bytes, but not later mappings.
func (s *Space) Clone() *Space { return &Space{segs: append([]Segment(nil), s.segs...)} }

// Find is the segment that holds n bytes at addr, nil when none does.
func (s *Space) Find(addr uint64, n int) *Segment {
	lo, hi := 0, len(s.segs)
	for lo < hi {
		m := (lo + hi) / 2
		if s.segs[m].Base+uint64(len(s.segs[m].Data)) <= addr {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(s.segs) && s.segs[lo].Contains(addr, n) {
		return &s.segs[lo]
	}
	return nil
}

// Bytes is the n bytes at addr, nil when they are not mapped.
func (s *Space) Bytes(addr uint64, n int) []byte {
	seg := s.Find(addr, n)
	if seg == nil {
		return nil
	}
	off := addr - seg.Base
	return seg.Data[off : off+uint64(n) : off+uint64(n)]
}
