package exec

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// byName converts a table keyed by mnemonic text to one keyed by number, at first use.
func byName[T any](table func() []T, name func(*T) string) func() *[rdna2.NumMnemonics]*T {
	return sync.OnceValue(func() *[rdna2.NumMnemonics]*T {
		number := make(map[string]rdna2.Mnemonic, rdna2.NumMnemonics)
		for m := rdna2.Mnemonic(1); m < rdna2.NumMnemonics; m++ {
			number[m.String()] = m
		}
		out, rows := new([rdna2.NumMnemonics]*T), table()
		for i := range rows {
			if m, ok := number[name(&rows[i])]; ok {
				out[m] = &rows[i]
			}
		}
		return out
	})
}

// laneRow makes a row function of a lane function.
func laneRow(f any) state.RowFunc {
	switch f := f.(type) {
	case lane1:
		return func(d, a, _, _ *state.Row, m uint64, n int) uint64 {
			if m == state.FullMask(n) {
				for i := range n {
					d[i&63] = f(a[i&63])
				}
				return 0
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				d[i] = f(a[i])
			}
			return 0
		}
	case lane2:
		return func(d, a, b, _ *state.Row, m uint64, n int) uint64 {
			if m == state.FullMask(n) {
				for i := range n {
					d[i&63] = f(a[i&63], b[i&63])
				}
				return 0
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				d[i] = f(a[i], b[i])
			}
			return 0
		}
	case lane3:
		return func(d, a, b, c *state.Row, m uint64, n int) uint64 {
			if m == state.FullMask(n) {
				for i := range n {
					d[i&63] = f(a[i&63], b[i&63], c[i&63])
				}
				return 0
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				d[i] = f(a[i], b[i], c[i])
			}
			return 0
		}
	}
	return nil
}

// readRow is the row of an operand; scalars are spread over scratch row i.
func readRow(w *state.Wave, k state.Source, v uint32, i int) *state.Row {
	switch k {
	case state.SourceVGPR:
		return w.Row(v)
	case state.SourceConstant:
		return &w.Machine.Program.Constants[v]
	case state.SourcePrepared:
		return &w.Machine.Prepared[v]
	case state.SourceSGPR, state.SourceStatus:
		t := &w.Machine.Temp[i]
		asm.Splat(t, w.Scalar(k, v), w.Lanes)
		return t
	}
	return &w.Machine.Zero
}

// execVVV is the path of plain vector instructions whose operands are all
// vector registers.
func execVVV(w *state.Wave, u *state.Op) {
	m := uint64(w.S[state.EXEC]) | uint64(w.S[state.EXEC+1])<<32&w.High
	if m == 0 {
		return
	}
	v := w.V
	d, a := (*state.Row)(unsafe.Add(v, uintptr(u.Dst)*4)), (*state.Row)(unsafe.Add(v, uintptr(u.A)*4))
	b, c := (*state.Row)(unsafe.Add(v, uintptr(u.B)*4)), (*state.Row)(unsafe.Add(v, uintptr(u.C)*4))
	if rest := u.Row(d, a, b, c, m, w.Lanes); rest != 0 {
		u.Details.Lanes(d, a, b, c, rest, w.Lanes)
	}
}

// execSVV is execVVV with a scalar register as first operand.
func execSVV(w *state.Wave, u *state.Op) {
	m := uint64(w.S[state.EXEC]) | uint64(w.S[state.EXEC+1])<<32&w.High
	if m == 0 {
		return
	}
	v := w.V
	a := (*state.Row)(unsafe.Pointer(&w.S[u.A&127]))
	d, b := (*state.Row)(unsafe.Add(v, uintptr(u.Dst)*4)), (*state.Row)(unsafe.Add(v, uintptr(u.B)*4))
	c := (*state.Row)(unsafe.Add(v, uintptr(u.C)*4))
	if rest := u.Row(d, a, b, c, m, w.Lanes); rest != 0 {
		u.Details.Lanes(d, readRow(w, state.SourceSGPR, u.A, 0), b, c, rest, w.Lanes)
	}
}

// execRow accepts any operand.
func execRow(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	d, a, b, c := w.Row(u.Dst), readRow(w, u.AFrom, u.A, 0), readRow(w, u.BFrom, u.B, 1), readRow(w, u.CFrom, u.C, 2)
	if rest := u.Row(d, a, b, c, m, w.Lanes); rest != 0 {
		u.Details.Lanes(d, a, b, c, rest, w.Lanes)
	}
}

// execMods is the path of everything with modifiers or half results.
func execMods(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	var src [3]*state.Row
	for i := range src {
		k, v := u.Operand(i)
		src[i] = readRow(w, k, v, i)
	}
	for i := range src {
		src[i] = modify(w, src[i], u, i)
	}
	d := w.Row(u.Dst)
	out := &w.Machine.Temp[3]
	if rest := u.Row(out, src[0], src[1], src[2], w.Full(), w.Lanes); rest != 0 {
		u.Details.Lanes(out, src[0], src[1], src[2], rest, w.Lanes)
	}
	finish(w, d, out, u, m)
}

// modify applies the source modifiers of operand i.
func modify(w *state.Wave, r *state.Row, u *state.Op, i int) *state.Row {
	x := u.Details
	in := &x.Inst
	bit := uint8(1) << i
	k, _ := u.Operand(i)
	if k == state.SourceNone || i == 2 && x.Accumulates {
		return r
	}
	neg, abs, negHi := in.Neg&bit != 0, in.Abs&bit != 0, in.NegHi&bit != 0
	t := &w.Machine.Temp[i]
	if x.Form.Format == rdna2.VOP3P && (x.Kind[i] == rdna2.V2F16 || x.Kind[i] == rdna2.V2B16) {
		lo, hi := in.OpSel&bit != 0, in.OpSelHi&bit != 0
		if !lo && hi && !neg && !negHi {
			return r
		}
		for l := range w.Lanes {
			v := r[l]
			a, b := v, v
			if lo {
				a >>= 16
			}
			if hi {
				b >>= 16
			}
			if neg {
				a ^= 0x8000
			}
			if negHi {
				b ^= 0x8000
			}
			t[l] = pack16(a, b)
		}
		return t
	}
	sign := uint32(1 << 31)
	half := x.Kind[i] == rdna2.F16 || x.Kind[i] == rdna2.B16
	if half {
		sign = 0x8000
	}
	sel := x.Form.Format != rdna2.VOP3P && x.Form.Flags&rdna2.FlagOpSel != 0 && in.OpSel&bit != 0
	if !neg && !abs && !sel {
		return r
	}
	for l := range w.Lanes {
		v := r[l]
		if sel {
			v >>= 16
		}
		if abs {
			v &^= sign
		}
		if neg {
			v ^= sign
		}
		t[l] = v
	}
	return t
}

// finish writes a result with clamp, half selection and mask.
func finish(w *state.Wave, d, out *state.Row, u *state.Op, m uint64) {
	x := u.Details
	if by := outputScale(w.Mode, x.Result, x.Inst.OMod); by != 1 {
		for l := range w.Lanes {
			if x.Result == state.ResultF32 {
				out[l] = scaled32(out[l], by)
			} else {
				out[l] = scaled16(out[l]&0xFFFF, by)
			}
		}
	}
	if x.Inst.Clamp && !x.Saturates {
		for l := range w.Lanes {
			switch {
			case x.Result == state.ResultF32:
				out[l] = clamp32(w.Mode, out[l])
			case x.Result == state.ResultF16 && x.Half:
				out[l] = clamp16(w.Mode, out[l]&0xFFFF)
			case x.Result == state.ResultF16:
				out[l] = clamp16(w.Mode, out[l]&0xFFFF) | clamp16(w.Mode, out[l]>>16)<<16
			}
		}
	}
	if !x.Half {
		for ; m != 0; m &= m - 1 {
			l := state.FirstLane(m)
			d[l] = out[l]
		}
		return
	}
	high := x.Form.Format == rdna2.VOP3 && x.Inst.OpSel&8 != 0
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		if high {
			d[l] = d[l]&0xFFFF | out[l]<<16
		} else {
			d[l] = d[l]&^0xFFFF | out[l]&0xFFFF
		}
	}
}
