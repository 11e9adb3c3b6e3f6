package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// HVX sums of products (vdmpy, vmpa, vtmpy, windowed vrmpy) and widening adds.

// vdmpy: sums of two products.

func vdmpybusInto(t *state.Thread, u *state.Uop, keep int16) {
	d, a, r := t.H(u.Arg[0]), *t.UB(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = d[i]&keep + int16(int32(a[2*i])*simd.B(r, 2*i)+int32(a[2*i+1])*simd.B(r, 2*i+1))
	}
}
func vdmpybus(t *state.Thread, u *state.Uop)    { vdmpybusInto(t, u, 0) }
func vdmpybusAcc(t *state.Thread, u *state.Uop) { vdmpybusInto(t, u, -1) }

func vdmpyhbInto(t *state.Thread, u *state.Uop, keep int32) {
	d, a, r := t.W(u.Arg[0]), *t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = d[i]&keep + int32(a[2*i])*simd.B(r, 2*i) + int32(a[2*i+1])*simd.B(r, 2*i+1)
	}
}
func vdmpyhb(t *state.Thread, u *state.Uop)    { vdmpyhbInto(t, u, 0) }
func vdmpyhbAcc(t *state.Thread, u *state.Uop) { vdmpyhbInto(t, u, -1) }

func vdmpyhsatInto(t *state.Thread, u *state.Uop, keep int32) {
	d, a, r := t.W(u.Arg[0]), *t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(int32(a[2*i])*simd.H(r, 0)) + int64(int32(a[2*i+1])*simd.H(r, 1)))
	}
}
func vdmpyhsat(t *state.Thread, u *state.Uop)    { vdmpyhsatInto(t, u, 0) }
func vdmpyhsatAcc(t *state.Thread, u *state.Uop) { vdmpyhsatInto(t, u, -1) }

func vdmpyhvsatInto(t *state.Thread, u *state.Uop, keep int32) {
	d, a, b := t.W(u.Arg[0]), *t.H(u.Arg[1]), *t.H(u.Arg[2])
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(int32(a[2*i])*int32(b[2*i])) + int64(int32(a[2*i+1])*int32(b[2*i+1])))
	}
}
func vdmpyhvsat(t *state.Thread, u *state.Uop)    { vdmpyhvsatInto(t, u, 0) }
func vdmpyhvsatAcc(t *state.Thread, u *state.Uop) { vdmpyhvsatInto(t, u, -1) }

// vmpa: two weighted vectors added, the weights being bytes of Rt.
func vmpabusInto(t *state.Thread, u *state.Uop, keep int16) {
	a, b, r := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	for i := range l {
		l[i] = l[i]&keep + int16(int32(a[2*i])*simd.B(r, 0)+int32(b[2*i])*simd.B(r, 1))
		h[i] = h[i]&keep + int16(int32(a[2*i+1])*simd.B(r, 2)+int32(b[2*i+1])*simd.B(r, 3))
	}
}
func vmpabus(t *state.Thread, u *state.Uop)    { vmpabusInto(t, u, 0) }
func vmpabusAcc(t *state.Thread, u *state.Uop) { vmpabusInto(t, u, -1) }

// sum2 is the pair form of vmpa: even and odd lanes of two weighted pairs.
func sum2[D, A, B number](lo, hi []D, a0, a1 []A, b0, b1, b2, b3 func(i int) B, keep D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a0[2*i])*D(b0(i)) + D(a1[2*i])*D(b1(i))
		hi[i] = hi[i]&keep + D(a0[2*i+1])*D(b2(i)) + D(a1[2*i+1])*D(b3(i))
	}
}

func fixed(x int32) func(int) int32 { return func(int) int32 { return x } }

func vmpabuuInto(t *state.Thread, u *state.Uop, keep int16) {
	a, b, r := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	sum2(l, h, a[:], b[:], fixed(simd.UB(r, 0)), fixed(simd.UB(r, 1)), fixed(simd.UB(r, 2)), fixed(simd.UB(r, 3)), keep)
}
func vmpabuu(t *state.Thread, u *state.Uop)    { vmpabuuInto(t, u, 0) }
func vmpabuuAcc(t *state.Thread, u *state.Uop) { vmpabuuInto(t, u, -1) }

func vmpabusv(t *state.Thread, u *state.Uop) {
	a, b, c, d := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.B(u.Arg[2]), *t.B(state.High(u.Arg[2]))
	l, h := hh(t, u.Arg[0])
	for i := range l {
		l[i] = int16(int32(a[2*i])*int32(c[2*i]) + int32(b[2*i])*int32(d[2*i]))
		h[i] = int16(int32(a[2*i+1])*int32(c[2*i+1]) + int32(b[2*i+1])*int32(d[2*i+1]))
	}
}

func vmpabuuv(t *state.Thread, u *state.Uop) {
	a, b, c, d := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.UB(u.Arg[2]), *t.UB(state.High(u.Arg[2]))
	l, h := hh(t, u.Arg[0])
	for i := range l {
		l[i] = int16(int32(a[2*i])*int32(c[2*i]) + int32(b[2*i])*int32(d[2*i]))
		h[i] = int16(int32(a[2*i+1])*int32(c[2*i+1]) + int32(b[2*i+1])*int32(d[2*i+1]))
	}
}

func vmpahbInto(t *state.Thread, u *state.Uop, keep int32) {
	a, b, r := *t.H(u.Arg[1]), *t.H(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	sum2(l, h, a[:], b[:], fixed(simd.B(r, 0)), fixed(simd.B(r, 1)), fixed(simd.B(r, 2)), fixed(simd.B(r, 3)), keep)
}
func vmpahb(t *state.Thread, u *state.Uop)    { vmpahbInto(t, u, 0) }
func vmpahbAcc(t *state.Thread, u *state.Uop) { vmpahbInto(t, u, -1) }

func vmpauhbInto(t *state.Thread, u *state.Uop, keep int32) {
	a, b, r := *t.UH(u.Arg[1]), *t.UH(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	sum2(l, h, a[:], b[:], fixed(simd.B(r, 0)), fixed(simd.B(r, 1)), fixed(simd.B(r, 2)), fixed(simd.B(r, 3)), keep)
}
func vmpauhb(t *state.Thread, u *state.Uop)    { vmpauhbInto(t, u, 0) }
func vmpauhbAcc(t *state.Thread, u *state.Uop) { vmpauhbInto(t, u, -1) }

// Sliding windows over the bytes (halfwords) of a pair: output lanes use
// neighbours that begin one element later in the odd register.

func vdmpybusDvInto(t *state.Thread, u *state.Uop, keep int16) {
	a, b, r := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	for i := range l {
		x, y := simd.B(r, 2*i), simd.B(r, 2*i+1)
		l[i] = l[i]&keep + int16(int32(a[2*i])*x+int32(a[2*i+1])*y)
		h[i] = h[i]&keep + int16(int32(a[2*i+1])*x+int32(b[2*i])*y)
	}
}
func vdmpybusDv(t *state.Thread, u *state.Uop)    { vdmpybusDvInto(t, u, 0) }
func vdmpybusDvAcc(t *state.Thread, u *state.Uop) { vdmpybusDvInto(t, u, -1) }

func vdmpyhbDvInto(t *state.Thread, u *state.Uop, keep int32) {
	a, b, r := *t.H(u.Arg[1]), *t.H(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	for i := range l {
		x, y := simd.B(r, 2*i), simd.B(r, 2*i+1)
		l[i] = l[i]&keep + int32(a[2*i])*x + int32(a[2*i+1])*y
		h[i] = h[i]&keep + int32(a[2*i+1])*x + int32(b[2*i])*y
	}
}
func vdmpyhbDv(t *state.Thread, u *state.Uop)    { vdmpyhbDvInto(t, u, 0) }
func vdmpyhbDvAcc(t *state.Thread, u *state.Uop) { vdmpyhbDvInto(t, u, -1) }

// tmpy is a three-tap filter whose third tap is 1.
func tmpy[D, A number](lo, hi []D, a, b []A, r uint32, keep D) {
	for i := range lo {
		x, y := D(simd.B(r, 2*i)), D(simd.B(r, 2*i+1))
		lo[i] = lo[i]&keep + D(a[2*i])*x + D(a[2*i+1])*y + D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*x + D(b[2*i])*y + D(b[2*i+1])
	}
}

func tmpyb(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.B(u.Arg[1]), *t.B(state.High(u.Arg[1]))
	l, h := hh(t, u.Arg[0])
	tmpy(l, h, a[:], b[:], *t.R(u.Arg[2]), keep)
}
func vtmpyb(t *state.Thread, u *state.Uop)    { tmpyb(t, u, 0) }
func vtmpybAcc(t *state.Thread, u *state.Uop) { tmpyb(t, u, -1) }

func tmpybus(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1]))
	l, h := hh(t, u.Arg[0])
	tmpy(l, h, a[:], b[:], *t.R(u.Arg[2]), keep)
}
func vtmpybus(t *state.Thread, u *state.Uop)    { tmpybus(t, u, 0) }
func vtmpybusAcc(t *state.Thread, u *state.Uop) { tmpybus(t, u, -1) }

func tmpyhb(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.H(u.Arg[1]), *t.H(state.High(u.Arg[1]))
	l, h := ww(t, u.Arg[0])
	tmpy(l, h, a[:], b[:], *t.R(u.Arg[2]), keep)
}
func vtmpyhb(t *state.Thread, u *state.Uop)    { tmpyhb(t, u, 0) }
func vtmpyhbAcc(t *state.Thread, u *state.Uop) { tmpyhb(t, u, -1) }

// vrmpy of a pair with an immediate that rotates the weights: two windows of
// four bytes, two bytes apart, over eight.
func rmpyi(t *state.Thread, u *state.Uop, part func(uint32, int) int32, keep int32) {
	a, r, n := [2]state.VecUB{*t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1]))}, *t.R(u.Arg[2]), int(u.Imm&1)
	l, h := ww(t, u.Arg[0])
	w := func(i int) int32 { return part(r, i-n) }
	for i := range l {
		x := func(v, k int) int32 { return int32(a[v][4*i+k]) }
		l[i] = l[i]&keep + x(n, 0)*w(0) + x(0, 1)*w(1) + x(0, 2)*w(2) + x(0, 3)*w(3)
		h[i] = h[i]&keep + x(1, 0)*w(2) + x(1, 1)*w(3) + x(n, 2)*w(0) + x(0, 3)*w(1)
	}
}
func vrmpybusi(t *state.Thread, u *state.Uop)    { rmpyi(t, u, simd.B, 0) }
func vrmpybusiAcc(t *state.Thread, u *state.Uop) { rmpyi(t, u, simd.B, -1) }
func vrmpyubi(t *state.Thread, u *state.Uop)     { rmpyi(t, u, simd.UB, 0) }
func vrmpyubiAcc(t *state.Thread, u *state.Uop)  { rmpyi(t, u, simd.UB, -1) }

// Widening add and subtract.

func widenAdd[D, A number](lo, hi []D, a, b []A, keep, sign D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a[2*i]) + sign*D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1]) + sign*D(b[2*i+1])
	}
}

func addubh(t *state.Thread, u *state.Uop, keep, sign int16) {
	a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vaddubh(t *state.Thread, u *state.Uop)    { addubh(t, u, 0, 1) }
func vaddubhAcc(t *state.Thread, u *state.Uop) { addubh(t, u, -1, 1) }
func vsububh(t *state.Thread, u *state.Uop)    { addubh(t, u, 0, -1) }

func addhw(t *state.Thread, u *state.Uop, keep, sign int32) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vaddhw(t *state.Thread, u *state.Uop)    { addhw(t, u, 0, 1) }
func vaddhwAcc(t *state.Thread, u *state.Uop) { addhw(t, u, -1, 1) }
func vsubhw(t *state.Thread, u *state.Uop)    { addhw(t, u, 0, -1) }

func adduhw(t *state.Thread, u *state.Uop, keep, sign int32) {
	a, b := *t.UH(u.Arg[1]), *t.UH(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vadduhw(t *state.Thread, u *state.Uop)    { adduhw(t, u, 0, 1) }
func vadduhwAcc(t *state.Thread, u *state.Uop) { adduhw(t, u, -1, 1) }
func vsubuhw(t *state.Thread, u *state.Uop)    { adduhw(t, u, 0, -1) }
