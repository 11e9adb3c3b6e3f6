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

// relative is the element offset of the register rel above the one at off, in 32 bits that wrap. Beyond the
// kernel's registers there is none: exists is false, and a source is v0, a destination is not written. The wave
// fails, and ok is false, where a load to the register is under way.
func relative(w *state.Wave, off, rel uint32) (at uint32, exists, ok bool) {
	r := off/uint32(w.Lanes) + rel
	if exists = r < uint32(w.Machine.Program.VGPRs); !exists {
		r = 0
	}
	if w.PendingV[r>>6]>>(r&63)&1 != 0 {
		w.Fail(fmt.Errorf("v%d is the target of a load that was not waited for (vmcnt or lgkmcnt)", r))
		return 0, exists, false
	}
	return r * uint32(w.Lanes), exists, true
}

func execMovRel(w *state.Wave, u *state.Op) {
	f := u.Details.Func.(movRel)
	m0 := w.S[state.M0]
	rs, rd := m0, m0
	if f.two {
		rs, rd = m0&0x3FF, m0>>16&0x3FF
	}
	a, d := u.A, u.Dst
	hasSource, hasTarget, ok := true, true, true
	if f.src {
		if a, hasSource, ok = relative(w, a, rs); !ok {
			return
		}
	}
	if f.dst {
		if d, hasTarget, ok = relative(w, d, rd); !ok {
			return
		}
	}
	src, dst := readRow(w, u.AFrom, a, 0), w.Row(d)
	for m := w.Exec(); m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		from, to := src[l], dst[l]
		if hasTarget {
			dst[l] = from
		}
		if f.swap && hasSource {
			src[l] = to
		}
	}
}

// scalarRelative is the scalar register of n words that M0 picks, with a number of 32 bits that wraps. Beyond the
// scalar registers there is none: exists is false, and a source is s0, a destination is not written.
func scalarRelative(w *state.Wave, reg uint32, n uint32) (r uint32, exists bool) {
	r = reg + w.S[state.M0]
	if r >= rdna2.VCC || r+n > rdna2.VCC {
		return 0, false
	}
	return r, true
}

// scalarMovRel is s_movrels (source relative) or s_movreld of n words.
func scalarMovRel(source bool, n uint32) state.Handler {
	return func(w *state.Wave, u *state.Op) {
		a, d, written := u.A, u.Dst, true
		if source {
			a, _ = scalarRelative(w, a, n)
		} else {
			d, written = scalarRelative(w, d, n)
		}
		if !written {
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
