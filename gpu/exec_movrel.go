package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// movRel is a move between registers that M0 picks, or an exchange.
type movRel struct {
	src, dst bool // M0 is added to the number of that register
	two      bool // M0[9:0] to the source's, M0[25:16] to the destination's
	swap     bool
}

// relative is the element offset of the register rel above the one at off.
func (w *wave) relative(off, rel uint32) (uint32, bool) {
	r := uint64(off)/uint64(w.n) + uint64(rel)
	if r >= uint64(w.m.p.k.VGPRs) {
		w.m.fail(w, fmt.Errorf("M0 = %#x picks v%d, the kernel has %d registers", w.s[sM0], r, w.m.p.k.VGPRs))
		return 0, false
	}
	if w.pendV[r>>6]>>(r&63)&1 != 0 {
		w.m.fail(w, fmt.Errorf("v%d is the target of a load that was not waited for (%s)", r, w.counterOf(int(r))))
		return 0, false
	}
	return uint32(r) * uint32(w.n), true
}

func execMovRel(w *wave, u *uop) {
	f := u.x.f.(movRel)
	m0 := w.s[sM0]
	rs, rd := m0, m0
	if f.two {
		rs, rd = m0&0x3FF, m0>>16&0x3FF
	}
	a, d, ok := u.a, u.dst, true
	if f.src {
		if a, ok = w.relative(a, rs); !ok {
			return
		}
	}
	if f.dst {
		if d, ok = w.relative(d, rd); !ok {
			return
		}
	}
	src, dst := w.src(u.ak, a, 0), w.at(d)
	for m := w.mask(); m != 0; m &= m - 1 {
		l := firstLane(m)
		if f.swap {
			src[l], dst[l] = dst[l], src[l]
		} else {
			dst[l] = src[l]
		}
	}
}

// scalarRelative is the scalar register of n words that M0 picks.
func (w *wave) scalarRelative(reg uint32, n uint32) (uint32, bool) {
	r := uint64(reg) + uint64(w.s[sM0])
	if r+uint64(n) > rdna2.VCC {
		w.m.fail(w, fmt.Errorf("M0 = %#x picks s%d, the last scalar register is s%d", w.s[sM0], r, rdna2.VCC-1))
		return 0, false
	}
	return uint32(r), true
}

// scalarMovRel is s_movrels (source relative) or s_movreld of n words.
func scalarMovRel(source bool, n uint32) execFn {
	return func(w *wave, u *uop) {
		a, d, ok := u.a, u.dst, true
		if source {
			a, ok = w.scalarRelative(a, n)
		} else {
			d, ok = w.scalarRelative(d, n)
		}
		if !ok {
			return
		}
		if n == 1 {
			w.s[d] = w.scalar(u.ak, a)
			return
		}
		v := w.wideScalar(u, 0)
		if source {
			v = w.s64(a)
		}
		w.setS64(d, v)
	}
}
