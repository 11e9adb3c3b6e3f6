package gpu

import "github.com/nnsoc/nnsoc/isa/rdna2"

// Rows that the mixed multiply-add is made of.
var (
	rowWiden = rowFor("v_cvt_f32_f16")
	rowFMA   = rowFor("v_fma_f32")
)

// rowFor is the complete row function of a mnemonic of the vector table.
func rowFor(name string) func(d, a, b, c *row, m uint64, n int) {
	for i := range vectorTable {
		if s := &vectorTable[i]; s.name == name {
			lanes := laneRow(s.f)
			fast := hostRow(name)
			if fast == nil {
				fast = lanes
			}
			return func(d, a, b, c *row, m uint64, n int) {
				if rest := fast(d, a, b, c, m, n); rest != 0 {
					lanes(d, a, b, c, rest, n)
				}
			}
		}
	}
	return nil
}

// execFmaMix: each source is float32, or the half that op_sel picks when its
// op_sel_hi bit is set.
func execFmaMix(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	in := &u.x.in
	mode := u.x.f.(int)
	var src [3]*row
	for i := range src {
		k, v := u.operand(i)
		r := w.src(k, v, i)
		t := &w.m.tmp[i]
		code := in.Src[i]
		switch {
		case in.OpSelHi>>i&1 != 0:
			if in.OpSel>>i&1 != 0 {
				for l := range w.n {
					t[l&63] = r[l&63] >> 16
				}
				r = t
			}
			rowWiden(t, r, r, r, w.full(), w.n)
			r = t
		case code >= rdna2.ConstHalf && code <= rdna2.ConstInv:
			splat(t, uint32(inline(code, rdna2.F32, 1, 0)), w.n)
			r = t
		}
		abs, neg := in.Abs>>i&1 != 0, in.Neg>>i&1 != 0
		if abs || neg {
			for l := range w.n {
				x := r[l]
				if abs {
					x &^= 1 << 31
				}
				if neg {
					x ^= 1 << 31
				}
				t[l] = x
			}
			r = t
		}
		src[i] = r
	}
	d := w.at(u.dst)
	if mode == 0 && !in.Clamp {
		rowFMA(d, src[0], src[1], src[2], m, w.n)
		return
	}
	out := &w.m.tmp[3]
	rowFMA(out, src[0], src[1], src[2], w.full(), w.n)
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		r := out[l]
		if in.Clamp {
			r = clampF32(r)
		}
		switch mode {
		case 0:
			d[l] = r
		case 1:
			d[l] = d[l]&^0xFFFF | f32to16(r)
		default:
			d[l] = d[l]&0xFFFF | f32to16(r)<<16
		}
	}
}
