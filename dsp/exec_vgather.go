package dsp

// HVX scatter and gather. Elements lie at Rt + offset; those that do not fit
// the region [Rt, Rt+Mu] are dropped, so are those whose offset is negative.
// The hardware wants the region in VTCM; here any mapped memory will do.

// offsets says where a form keeps the offset of element i.
type offsets func(t *thread, o uint16, i int) uint32

func offsetH(t *thread, o uint16, i int) uint32 { return uint32(t.uh(o)[i]) }
func offsetW(t *thread, o uint16, i int) uint32 { return t.uw(o)[i] }

// offsetHW: words in a pair, even elements in the low vector.
func offsetHW(t *thread, o uint16, i int) uint32 { return t.uw(o + uint16(i&1)*128)[i>>1] }

// element is the address of n bytes at an offset of the region that Rt and Mu
// at operands k and k+1 describe; ok is false outside of it.
func (t *thread) element(u *uop, k int, off, n uint32) (ea uint32, ok bool) {
	base, last := *t.r(u.o[k]), *t.r(u.o[k+1])
	return base + off, off <= last && last-off >= n-1
}

func anySet(q []byte) bool {
	for _, b := range q {
		if b != 0 {
			return true
		}
	}
	return false
}

// bytesAt resolves the n bytes of an element. The address slot of the micro-op
// keeps the base, for the timing model.
func (t *thread) bytesAt(u *uop, k int, ea, n uint32, write bool) *[4]byte {
	p := t.access(u, ea, n, write)
	*t.r(u.ea) = *t.r(u.o[k])
	return (*[4]byte)(p)
}

// gather makes the vector of a vtmp in o[5] and its byte mask in o[4], which
// the store of the packet writes out.
func gather(n uint32, masked bool, at offsets) semantic {
	k := 0
	if masked {
		k = 1
	}
	return func(t *thread, u *uop) {
		d, m := t.ub(u.o[5]), t.ub(u.o[4])
		*t.r(u.ea) = *t.r(u.o[k])
		*m = v8u{}
		var banks bankSet
		for i := range 128 / int(n) {
			ea, ok := t.element(u, k, at(t, u.o[k+2], i), n)
			if !ok || masked && !anySet(t.ub(u.o[0])[i*int(n):][:n]) {
				continue
			}
			banks.add(ea)
			p := t.bytesAt(u, k, ea, n, false)
			if p == nil {
				return
			}
			for b := range int(n) {
				j := i*int(n) + b
				d[j] = p[b]
				if m[j] = 0xff; masked {
					m[j] = t.ub(u.o[0])[j]
				}
			}
		}
		banks.note(t, u)
	}
}

// scatter writes, or adds, the elements of the last operand. Equal addresses
// are served in the order of the elements.
func scatter(n uint32, masked, sum bool, at offsets) semantic {
	k := 0
	if masked {
		k = 1
	}
	return func(t *thread, u *uop) {
		s := t.ub(u.o[k+3])
		*t.r(u.ea) = *t.r(u.o[k])
		var banks bankSet
		for i := range 128 / int(n) {
			off := at(t, u.o[k+2], i)
			if sum {
				off &^= n - 1
			}
			ea, ok := t.element(u, k, off, n)
			if !ok || masked && !anySet(t.ub(u.o[0])[i*int(n):][:n]) {
				continue
			}
			banks.add(ea)
			p := t.bytesAt(u, k, ea, n, true)
			if p == nil {
				return
			}
			carry := uint32(0)
			for b := range int(n) {
				x := s[i*int(n)+b]
				switch {
				case masked && t.ub(u.o[0])[i*int(n)+b] == 0:
				case sum:
					carry += uint32(p[b]) + uint32(x)
					p[b] = byte(carry)
					carry >>= 8
				default:
					p[b] = x
				}
			}
		}
		banks.note(t, u)
	}
}

// A scatter release waits; it writes nothing, not even its address register
// (as QEMU, D-154).
func scatterRelease(t *thread, u *uop) { *t.r(u.ea) = *t.r(u.o[0]) }
