package dsp

import (
	"unsafe"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// find is the slow half of an address lookup: it brings the segment that holds
// n bytes at ea into the thread's table of views and lets the micro-op expect
// it there. It answers nil, with the fault recorded, when there is none.
func (t *thread) find(u *uop, ea, n uint32, write bool) unsafe.Pointer {
	i := -1
	for k := range t.nseg {
		s := &t.seg[k]
		if off := ea - s.base; off < s.size && s.size-off >= n {
			i = k
			break
		}
	}
	if i < 0 {
		base, data, readOnly := t.lookup(ea, n)
		if data == nil {
			t.raise(u, faultUnmapped, ea, n)
			return nil
		}
		if i = t.nseg; i < maxSegments {
			t.nseg++
		} else {
			i = t.victim
			t.victim = (t.victim + 1) % maxSegments
		}
		t.seg[i] = view(base, data, readOnly)
		t.data[i] = data
	}
	s := &t.seg[i]
	if write && s.readOnly != 0 {
		t.raise(u, faultReadOnly, ea, n)
		return nil
	}
	u.seg = offSeg + uint16(i)*uint16(unsafe.Sizeof(segment{}))
	return unsafe.Pointer(&t.data[i][ea-s.base])
}

// view describes a mapped range.
func view(base uint32, data []byte, readOnly bool) segment {
	n := uint32(len(data))
	s := segment{base: base, size: n, host: uintptr(unsafe.Pointer(unsafe.SliceData(data)))}
	s.read128, s.read8 = max(n, 127)-127, max(n, 7)-7
	if readOnly {
		s.readOnly = 1
	} else {
		s.write128, s.write8 = s.read128, s.read8
	}
	return s
}

// lookup finds the mapped bytes around ea: the program image or a segment of
// the address space, cut to the 32-bit range. A guest has its code in its space.
func (t *thread) lookup(ea, n uint32) (base uint32, data []byte, readOnly bool) {
	if t.guest != nil {
		return lookupIn(t.guest.Space, ea, n)
	}
	return t.run.lookup(ea, n)
}

func (r *run) lookup(ea, n uint32) (base uint32, data []byte, readOnly bool) {
	if off := ea - r.prog.Base; off < uint32(len(r.prog.Code)) && uint32(len(r.prog.Code))-off >= n {
		return r.prog.Base, r.prog.Code, true
	}
	return lookupIn(r.space, ea, n)
}

func lookupIn(space *mem.Space, ea, n uint32) (base uint32, data []byte, readOnly bool) {
	if space == nil {
		return 0, nil, false
	}
	s := space.Find(uint64(ea), int(n))
	if s == nil {
		return 0, nil, false
	}
	return uint32(s.Base), s.Data[:min(uint64(len(s.Data)), 1<<32-1-s.Base)], s.ReadOnly
}

// access resolves ea to host memory and notes the address for the timing model.
func (t *thread) access(u *uop, ea, n uint32, write bool) unsafe.Pointer {
	*t.r(u.ea) = ea
	s := (*segment)(t.at(u.seg))
	off := ea - s.base
	if off >= s.size || s.size-off < n || write && s.readOnly != 0 {
		return t.find(u, ea, n, write)
	}
	i := (u.seg - offSeg) / uint16(unsafe.Sizeof(segment{}))
	return unsafe.Pointer(&t.data[i][off])
}

// scalar is access for an n-byte scalar, which must be naturally aligned.
func (t *thread) scalar(u *uop, ea, n uint32, write bool) unsafe.Pointer {
	if ea&(n-1) != 0 {
		*t.r(u.ea) = skipped
		t.raise(u, faultMisaligned, ea, n)
		return nil
	}
	return t.access(u, ea, n, write)
}
