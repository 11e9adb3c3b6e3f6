package exec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// movRel is a move between registers that M0 picks, or an exchange.
type movRel struct {
	src, dst bool // M0 is added to the number of that register
	two      bool // M0[9:0] to the source's, M0[25:16] to the destination's
	swap     bool
}

// relative is the element offset of the register rel above the one at off.
func relative(w *state.Wave, off, rel uint32) (uint32, bool) {
	r := uint64(off)/uint64(w.Lanes) + uint64(rel)
	if r >= uint64(w.Machine.Program.VGPRs) {
		w.Fail(fmt.Errorf("M0 = %#x picks v%d, the kernel has %d registers", w.S[state.M0], r, w.Machine.Program.VGPRs))
		return 0, false
	}
	if w.PendingV[r>>6]>>(r&63)&1 != 0 {
		w.Fail(fmt.Errorf("v%d is the target of a load that was not waited for (vmcnt or lgkmcnt)", r))
		return 0, false
	}
	return uint32(r) * uint32(w.Lanes), true
}

func execMovRel(w *state.Wave, u *state.Op) {
	f := u.Details.Func.(movRel)
	m0 := w.S[state.M0]
	rs, rd := m0, m0
	if f.two {
		rs, rd = m0&0x3FF, m0>>16&0x3FF
	}
	a, d, ok := u.A, u.Dst, true
	if f.src {
		if a, ok = relative(w, a, rs); !ok {
			return
		}
	}
	if f.dst {
		if d, ok = relative(w, d, rd); !ok {
			return
		}
	}
	src, dst := readRow(w, u.AFrom, a, 0), w.Row(d)
	for m := w.Exec(); m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		if f.swap {
			src[l], dst[l] = dst[l], src[l]
		} else {
			dst[l] = src[l]
		}
	}
}

// scalarRelative is the scalar register of n words that M0 picks.
func scalarRelative(w *state.Wave, reg uint32, n uint32) (uint32, bool) {
	r := uint64(reg) + uint64(w.S[state.M0])
	if r+uint64(n) > rdna2.VCC {
		w.Fail(fmt.Errorf("M0 = %#x picks s%d, the last scalar register is s%d", w.S[state.M0], r, rdna2.VCC-1))
		return 0, false
	}
	return uint32(r), true
}

// scalarMovRel is s_movrels (source relative) or s_movreld of n words.
func scalarMovRel(source bool, n uint32) state.Handler {
	return func(w *state.Wave, u *state.Op) {
		a, d, ok := u.A, u.Dst, true
		if source {
			a, ok = scalarRelative(w, a, n)
		} else {
			d, ok = scalarRelative(w, d, n)
		}
		if !ok {
			return
		}
		if n == 1 {
			w.S[d] = w.Scalar(u.AFrom, a)
			return
		}
		v := readScalar64(w, u, 0)
		if source {
			v = w.S64(a)
		}
		w.SetS64(d, v)
	}
}
