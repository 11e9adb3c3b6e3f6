package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var gatherRows = []family.Row{
	{hexagon.V6_vgathermh, gather(2, false, offsetH)},
	{hexagon.V6_vgathermhq, gather(2, true, offsetH)},
	{hexagon.V6_vgathermhw, gather(2, false, offsetHW)},
	{hexagon.V6_vgathermhwq, gather(2, true, offsetHW)},
	{hexagon.V6_vgathermw, gather(4, false, offsetW)},
	{hexagon.V6_vgathermwq, gather(4, true, offsetW)},
	{hexagon.V6_vscattermh, scatter(2, false, false, offsetH)},
	{hexagon.V6_vscattermh_add, scatter(2, false, true, offsetH)},
	{hexagon.V6_vscattermhq, scatter(2, true, false, offsetH)},
	{hexagon.V6_vscattermhw, scatter(2, false, false, offsetHW)},
	{hexagon.V6_vscattermhw_add, scatter(2, false, true, offsetHW)},
	{hexagon.V6_vscattermhwq, scatter(2, true, false, offsetHW)},
	{hexagon.V6_vscattermw, scatter(4, false, false, offsetW)},
	{hexagon.V6_vscattermw_add, scatter(4, false, true, offsetW)},
	{hexagon.V6_vscattermwq, scatter(4, true, false, offsetW)},
	{hexagon.V6_vS32b_srls_ai, scatterRelease},
	{hexagon.V6_vS32b_srls_pi, scatterRelease},
	{hexagon.V6_vS32b_srls_ppu, scatterRelease},
}

// HVX scatter and gather. Elements are at Rt + offset; those that do not fit the region [Rt, Rt+Mu] are dropped, so are
// those whose offset is negative. The hardware requires the region in VTCM; here any mapped memory will do.

// offsets returns the offset of element i in a form.
type offsets func(t *state.Thread, o uint16, i int) uint32

func offsetH(t *state.Thread, o uint16, i int) uint32 { return uint32(t.UH(o)[i]) }
func offsetW(t *state.Thread, o uint16, i int) uint32 { return t.UW(o)[i] }

// offsetHW: words in a pair, even elements in the low vector.
func offsetHW(t *state.Thread, o uint16, i int) uint32 { return t.UW(o + uint16(i&1)*128)[i>>1] }

// element is the address of n bytes at an offset of the region that Rt and Mu
// at operands k and k+1 describe; ok is false outside of it.
func element(t *state.Thread, u *state.Uop, k int, off, n uint32) (ea uint32, ok bool) {
	base, last := *t.R(u.Arg[k]), *t.R(u.Arg[k+1])
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
func bytesAt(t *state.Thread, u *state.Uop, k int, ea, n uint32, write bool) *[4]byte {
	p := t.Access(u, ea, n, write)
	*t.R(u.EA) = *t.R(u.Arg[k])
	return (*[4]byte)(p)
}

// gather makes the vector of a vtmp in Arg[5] and its byte mask in Arg[4], which
// the store of the packet writes out.
func gather(n uint32, masked bool, at offsets) state.Semantic {
	k := 0
	if masked {
		k = 1
	}
	return func(t *state.Thread, u *state.Uop) {
		d, m := t.UB(u.Arg[5]), t.UB(u.Arg[4])
		*t.R(u.EA) = *t.R(u.Arg[k])
		*m = state.VecUB{}
		var banks bankSet
		for i := range 128 / int(n) {
			ea, ok := element(t, u, k, at(t, u.Arg[k+2], i), n)
			if !ok || masked && !anySet(t.UB(u.Arg[0])[i*int(n):][:n]) {
				continue
			}
			banks.add(ea)
			p := bytesAt(t, u, k, ea, n, false)
			if p == nil {
				return
			}
			for b := range int(n) {
				j := i*int(n) + b
				d[j] = p[b]
				if m[j] = 0xff; masked {
					m[j] = t.UB(u.Arg[0])[j]
				}
			}
		}
		banks.note(t, u)
	}
}

// scatter writes, or adds, the elements of the last operand. Equal addresses
// are served in the order of the elements.
func scatter(n uint32, masked, sum bool, at offsets) state.Semantic {
	k := 0
	if masked {
		k = 1
	}
	return func(t *state.Thread, u *state.Uop) {
		s := t.UB(u.Arg[k+3])
		*t.R(u.EA) = *t.R(u.Arg[k])
		var banks bankSet
		for i := range 128 / int(n) {
			off := at(t, u.Arg[k+2], i)
			if sum {
				off &^= n - 1
			}
			ea, ok := element(t, u, k, off, n)
			if !ok || masked && !anySet(t.UB(u.Arg[0])[i*int(n):][:n]) {
				continue
			}
			banks.add(ea)
			p := bytesAt(t, u, k, ea, n, true)
			if p == nil {
				return
			}
			carry := uint32(0)
			for b := range int(n) {
				x := s[i*int(n)+b]
				switch {
				case masked && t.UB(u.Arg[0])[i*int(n)+b] == 0:
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
func scatterRelease(t *state.Thread, u *state.Uop) { *t.R(u.EA) = *t.R(u.Arg[0]) }

// bankSet collects bits 7:1 of the addresses of a vector.
type bankSet struct {
	seen     [2]uint64
	conflict bool
}

func (b *bankSet) add(ea uint32) {
	w, bit := &b.seen[ea>>7&1], uint64(1)<<(ea>>1&63)
	b.conflict = b.conflict || *w&bit != 0
	*w |= bit
}

// note leaves for the timing model whether the memory operation of u has
// conflicts.
func (b *bankSet) note(t *state.Thread, u *state.Uop) {
	bit := uint64(1) << ((u.EA - state.OffEA) / 4)
	t.Conflicts &^= bit
	if b.conflict {
		t.Conflicts |= bit
	}
}
