package exec

import (
	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Rows that the mixed multiply-add is made of.
var (
	rowWiden = rowFor("v_cvt_f32_f16")
	rowFMA   = rowFor("v_fma_f32")
)

// rowFor is the complete row function of a mnemonic of the vector table.
func rowFor(name string) func(d, a, b, c *state.Row, m uint64, n int) {
	for i := range vectorTable {
		if s := &vectorTable[i]; s.name == name {
			lanes := laneRow(s.f)
			fast := asm.Row(name)
			if fast == nil {
				fast = lanes
			}
			return func(d, a, b, c *state.Row, m uint64, n int) {
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
func execFmaMix(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	in := &u.Details.Inst
	mode := u.Details.Func.(int)
	var src [3]*state.Row
	for i := range src {
		k, v := u.Operand(i)
		r := readRow(w, k, v, i)
		t := &w.Machine.Temp[i]
		code := in.Src[i]
		switch {
		case in.OpSelHi>>i&1 != 0:
			if in.OpSel>>i&1 != 0 {
				for l := range w.Lanes {
					t[l&63] = r[l&63] >> 16
				}
				r = t
			}
			rowWiden(t, r, r, r, w.Full(), w.Lanes)
			r = t
		case code >= rdna2.ConstHalf && code <= rdna2.ConstInv:
			v, _ := rdna2.Value32(code, rdna2.F32)
			asm.Splat(t, v, w.Lanes)
			r = t
		}
		abs, neg := in.Abs>>i&1 != 0, in.Neg>>i&1 != 0
		if abs || neg {
			for l := range w.Lanes {
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
	d := w.Row(u.Dst)
	if mode == 0 && !in.Clamp && w.Mode&state.ModeRounding == 0 {
		rowFMA(d, src[0], src[1], src[2], m, w.Lanes)
		return
	}
	out := &w.Machine.Temp[3]
	half := float.ToHalf
	if direction := rounding(w.Mode, u.Details.Result); direction != float.Nearest {
		// Rounding twice in one direction is rounding once.
		laneRow(lane3(direction.FMA32))(out, src[0], src[1], src[2], w.Full(), w.Lanes)
		half = direction.ToHalf
	} else {
		rowFMA(out, src[0], src[1], src[2], w.Full(), w.Lanes)
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		r := out[l]
		if in.Clamp {
			r = clamp32(w.Mode, r)
		}
		switch mode {
		case 0:
			d[l] = r
		case 1:
			d[l] = d[l]&^0xFFFF | half(r)
		default:
			d[l] = d[l]&0xFFFF | half(r)<<16
		}
	}
}
