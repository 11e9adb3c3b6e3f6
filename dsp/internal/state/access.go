package state

import (
	"unsafe"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// find is the slow half of an address lookup: it brings the segment that holds n bytes at ea into the thread's table of
// views and sets it as the micro-op's expected one. It returns nil, with the fault recorded, when there is none.
func (t *Thread) find(u *Uop, ea, n uint32, write bool) unsafe.Pointer {
	i := -1
	for k := range t.nseg {
		s := &t.seg[k]
		if off := ea - s.Base; off < s.size && s.size-off >= n {
			i = k
			break
		}
	}
	if i < 0 {
		base, data, readOnly := t.Memory.Lookup(ea, n)
		if data == nil {
			t.raise(u, Unmapped, ea, n)
			return nil
		}
		i = t.place(base, len(data))
		t.seg[i] = view(base, data, readOnly)
		t.data[i] = data
	}
	s := &t.seg[i]
	if write && s.readOnly != 0 {
		t.raise(u, ReadOnly, ea, n)
		return nil
	}
	u.Seg = OffSeg + uint16(i)*uint16(unsafe.Sizeof(Segment{}))
	t.Sought = true
	return unsafe.Pointer(&t.data[i][ea-s.Base])
}

// place is the index of the view of a segment: the first is reserved for the scratchpad, all others use the rest
// round-robin.
func (t *Thread) place(base uint32, n int) int {
	if off := base - t.Memory.Scratch; t.seg[0].size == 0 && off < t.Memory.ScratchBytes && n <= int(t.Memory.ScratchBytes-off) {
		return 0
	}
	t.victim = t.victim%(maxSegments-1) + 1
	t.nseg = max(t.nseg, t.victim+1)
	return t.victim
}

// view describes a mapped range.
func view(base uint32, data []byte, readOnly bool) Segment {
	n := uint32(len(data))
	s := Segment{Base: base, size: n, Host: uintptr(unsafe.Pointer(unsafe.SliceData(data)))}
	s.Read128, s.Read8 = max(n, 127)-127, max(n, 7)-7
	if readOnly {
		s.readOnly = 1
	} else {
		s.Write128, s.Write8 = s.Read128, s.Read8
	}
	return s
}

// Memory is the memory that a thread can reach: a program image beside an address space.
type Memory struct {
	Base  uint32 // of Code
	Code  []byte // read only; empty when the space has the code
	Space *mem.Space

	Scratch, ScratchBytes uint32 // range of the scratchpad
}

// Lookup finds the mapped bytes around ea that hold n bytes there, cut to the 32-bit range.
func (m *Memory) Lookup(ea, n uint32) (base uint32, data []byte, readOnly bool) {
	if off := ea - m.Base; off < uint32(len(m.Code)) && uint32(len(m.Code))-off >= n {
		return m.Base, m.Code, true
	}
	if m.Space == nil {
		return 0, nil, false
	}
	s := m.Space.Find(uint64(ea), int(n))
	if s == nil {
		return 0, nil, false
	}
	return uint32(s.Base), s.Data[:min(uint64(len(s.Data)), 1<<32-1-s.Base)], s.ReadOnly
}

// Access resolves ea to host memory and notes the address for the timing model.
func (t *Thread) Access(u *Uop, ea, n uint32, write bool) unsafe.Pointer {
	*t.R(u.EA) = ea
	s := (*Segment)(t.At(u.Seg))
	off := ea - s.Base
	if off >= s.size || s.size-off < n || write && s.readOnly != 0 {
		return t.find(u, ea, n, write)
	}
	i := (u.Seg - OffSeg) / uint16(unsafe.Sizeof(Segment{}))
	return unsafe.Pointer(&t.data[i][off])
}

// Scalar is Access for an n-byte scalar, which must be naturally aligned.
func (t *Thread) Scalar(u *Uop, ea, n uint32, write bool) unsafe.Pointer {
	if ea&(n-1) != 0 {
		*t.R(u.EA) = Skipped
		t.raise(u, Misaligned, ea, n)
		return nil
	}
	return t.Access(u, ea, n, write)
}

// EA is the address of operand x plus the immediate.
func (t *Thread) EA(u *Uop, x int) uint32 { return *t.R(u.Arg[x]) + uint32(u.Imm) }
