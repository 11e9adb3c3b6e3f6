package gpu

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// rowFn computes a whole register: for every lane i of m, d[i] = f(a[i], b[i],
// c[i]). n is the number of lanes of the wave. d may be one of the sources. It
// returns the lanes it left undone, for the portable function to finish.
type rowFn func(d, a, b, c *row, m uint64, n int) uint64

// byName turns a table keyed by mnemonic text into one keyed by number, at first
// use.
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
func laneRow(f any) rowFn {
	switch f := f.(type) {
	case lane1:
		return func(d, a, _, _ *row, m uint64, n int) uint64 {
			if m == fullMask(n) {
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
		return func(d, a, b, _ *row, m uint64, n int) uint64 {
			if m == fullMask(n) {
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
		return func(d, a, b, c *row, m uint64, n int) uint64 {
			if m == fullMask(n) {
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

// splatLanes fills the lanes of a row with a scalar.
func splatLanes(t *row, v uint32, n int) {
	for l := range n {
		t[l&63] = v
	}
}

// src is the row of an operand; scalars are spread over scratch row i.
func (w *wave) src(k srcKind, v uint32, i int) *row {
	switch k {
	case srcV:
		return w.at(v)
	case srcC:
		return &w.m.p.consts[v]
	case srcP:
		return &w.m.pre[v]
	case srcS, srcStatus:
		t := &w.m.tmp[i]
		splat(t, w.scalar(k, v), w.n)
		return t
	}
	return &w.m.zero
}

// scalar is the 32-bit value of a scalar operand.
func (w *wave) scalar(k srcKind, v uint32) uint32 {
	switch k {
	case srcS:
		return w.s[v&127]
	case srcC:
		return w.m.p.consts[v][0]
	case srcStatus:
		var z bool
		switch v {
		case rdna2.VCCZ:
			z = w.sMask(sVCC) == 0
		case rdna2.EXECZ:
			z = w.mask() == 0
		default:
			return w.s[sSCC]
		}
		if z {
			return 1
		}
		return 0
	}
	return 0
}

// operand is slot i of u.
func (u *uop) operand(i int) (srcKind, uint32) {
	switch i {
	case 0:
		return u.ak, u.a
	case 1:
		return u.bk, u.b
	}
	return u.ck, u.c
}

// execVVV is the path of plain vector instructions whose operands are all
// vector registers.
func execVVV(w *wave, u *uop) {
	m := uint64(w.s[sEXEC]) | uint64(w.s[sEXEC+1])<<32&w.high
	if m == 0 {
		return
	}
	v := w.v
	d, a := (*row)(unsafe.Add(v, uintptr(u.dst)*4)), (*row)(unsafe.Add(v, uintptr(u.a)*4))
	b, c := (*row)(unsafe.Add(v, uintptr(u.b)*4)), (*row)(unsafe.Add(v, uintptr(u.c)*4))
	if rest := u.row(d, a, b, c, m, w.n); rest != 0 {
		u.x.lanes(d, a, b, c, rest, w.n)
	}
}

// execSVV is execVVV with a scalar register as first operand.
func execSVV(w *wave, u *uop) {
	m := uint64(w.s[sEXEC]) | uint64(w.s[sEXEC+1])<<32&w.high
	if m == 0 {
		return
	}
	v := w.v
	a := (*row)(unsafe.Pointer(&w.s[u.a&127]))
	d, b := (*row)(unsafe.Add(v, uintptr(u.dst)*4)), (*row)(unsafe.Add(v, uintptr(u.b)*4))
	c := (*row)(unsafe.Add(v, uintptr(u.c)*4))
	if rest := u.row(d, a, b, c, m, w.n); rest != 0 {
		u.x.lanes(d, w.src(srcS, u.a, 0), b, c, rest, w.n)
	}
}

// execRow takes any operand.
func execRow(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	d, a, b, c := w.at(u.dst), w.src(u.ak, u.a, 0), w.src(u.bk, u.b, 1), w.src(u.ck, u.c, 2)
	if rest := u.row(d, a, b, c, m, w.n); rest != 0 {
		u.x.lanes(d, a, b, c, rest, w.n)
	}
}

// execMods is the path of everything with modifiers or half results.
func execMods(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	var src [3]*row
	for i := range src {
		k, v := u.operand(i)
		src[i] = w.src(k, v, i)
	}
	for i := range src {
		src[i] = w.modify(src[i], u, i)
	}
	d := w.at(u.dst)
	out := &w.m.tmp[3]
	if rest := u.row(out, src[0], src[1], src[2], w.full(), w.n); rest != 0 {
		u.x.lanes(out, src[0], src[1], src[2], rest, w.n)
	}
	w.finish(d, out, u, m)
}

// modify applies the source modifiers of operand i.
func (w *wave) modify(r *row, u *uop, i int) *row {
	x := u.x
	in := &x.in
	bit := uint8(1) << i
	k, _ := u.operand(i)
	if k == srcNone || i == 2 && x.sem != nil && x.sem.acc {
		return r
	}
	neg, abs, negHi := in.Neg&bit != 0, in.Abs&bit != 0, in.NegHi&bit != 0
	t := &w.m.tmp[i]
	if x.form.Format == rdna2.VOP3P && (x.kind[i] == rdna2.V2F16 || x.kind[i] == rdna2.V2B16) {
		lo, hi := in.OpSel&bit != 0, in.OpSelHi&bit != 0
		if !lo && hi && !neg && !negHi {
			return r
		}
		for l := range w.n {
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
	half := x.kind[i] == rdna2.F16 || x.kind[i] == rdna2.B16
	if half {
		sign = 0x8000
	}
	sel := x.form.Format != rdna2.VOP3P && x.form.Flags&rdna2.FlagOpSel != 0 && in.OpSel&bit != 0
	if !neg && !abs && !sel {
		return r
	}
	for l := range w.n {
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
func (w *wave) finish(d, out *row, u *uop, m uint64) {
	x := u.x
	if x.in.Clamp && x.sem.sat == nil {
		for l := range w.n {
			switch {
			case x.fkind == fkF32:
				out[l] = clampF32(out[l])
			case x.fkind == fkF16 && x.sem.half:
				out[l] = clampF16(out[l] & 0xFFFF)
			case x.fkind == fkF16:
				out[l] = clampF16(out[l]&0xFFFF) | clampF16(out[l]>>16)<<16
			}
		}
	}
	if !x.sem.half {
		for ; m != 0; m &= m - 1 {
			l := firstLane(m)
			d[l] = out[l]
		}
		return
	}
	high := x.form.Format == rdna2.VOP3 && x.in.OpSel&8 != 0
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		if high {
			d[l] = d[l]&0xFFFF | out[l]<<16
		} else {
			d[l] = d[l]&^0xFFFF | out[l]&0xFFFF
		}
	}
}

func clampF16(h uint32) uint32 { return f32to16(clampF32(f16to32(h))) }

func execBad(w *wave, u *uop) { w.m.fail(w, u.x.err) }

func execNop(*wave, *uop) {}
