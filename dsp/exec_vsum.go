package dsp

// HVX sums of products (vdmpy, vmpa, vtmpy, windowed vrmpy) and widening adds.

// vdmpy: sums of two products.

func vdmpybusInto(t *thread, u *uop, keep int16) {
	d, a, r := t.h(u.o[0]), *t.ub(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = d[i]&keep + int16(int32(a[2*i])*rb(r, 2*i)+int32(a[2*i+1])*rb(r, 2*i+1))
	}
}
func vdmpybus(t *thread, u *uop)    { vdmpybusInto(t, u, 0) }
func vdmpybusAcc(t *thread, u *uop) { vdmpybusInto(t, u, -1) }

func vdmpyhbInto(t *thread, u *uop, keep int32) {
	d, a, r := t.w(u.o[0]), *t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = d[i]&keep + int32(a[2*i])*rb(r, 2*i) + int32(a[2*i+1])*rb(r, 2*i+1)
	}
}
func vdmpyhb(t *thread, u *uop)    { vdmpyhbInto(t, u, 0) }
func vdmpyhbAcc(t *thread, u *uop) { vdmpyhbInto(t, u, -1) }

func vdmpyhsatInto(t *thread, u *uop, keep int32) {
	d, a, r := t.w(u.o[0]), *t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(int32(a[2*i])*rh(r, 0)) + int64(int32(a[2*i+1])*rh(r, 1)))
	}
}
func vdmpyhsat(t *thread, u *uop)    { vdmpyhsatInto(t, u, 0) }
func vdmpyhsatAcc(t *thread, u *uop) { vdmpyhsatInto(t, u, -1) }

func vdmpyhvsatInto(t *thread, u *uop, keep int32) {
	d, a, b := t.w(u.o[0]), *t.h(u.o[1]), *t.h(u.o[2])
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(int32(a[2*i])*int32(b[2*i])) + int64(int32(a[2*i+1])*int32(b[2*i+1])))
	}
}
func vdmpyhvsat(t *thread, u *uop)    { vdmpyhvsatInto(t, u, 0) }
func vdmpyhvsatAcc(t *thread, u *uop) { vdmpyhvsatInto(t, u, -1) }

// vmpa: two weighted vectors added, the weights being bytes of Rt.
func vmpabusInto(t *thread, u *uop, keep int16) {
	a, b, r := *t.ub(u.o[1]), *t.ub(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.hh(u.o[0])
	for i := range l {
		l[i] = l[i]&keep + int16(int32(a[2*i])*rb(r, 0)+int32(b[2*i])*rb(r, 1))
		h[i] = h[i]&keep + int16(int32(a[2*i+1])*rb(r, 2)+int32(b[2*i+1])*rb(r, 3))
	}
}
func vmpabus(t *thread, u *uop)    { vmpabusInto(t, u, 0) }
func vmpabusAcc(t *thread, u *uop) { vmpabusInto(t, u, -1) }

// sum2 is the pair form of vmpa: even and odd lanes of two weighted pairs.
func sum2[D, A, B number](lo, hi []D, a0, a1 []A, b0, b1, b2, b3 func(i int) B, keep D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a0[2*i])*D(b0(i)) + D(a1[2*i])*D(b1(i))
		hi[i] = hi[i]&keep + D(a0[2*i+1])*D(b2(i)) + D(a1[2*i+1])*D(b3(i))
	}
}

func fixed(x int32) func(int) int32 { return func(int) int32 { return x } }

func vmpabuuInto(t *thread, u *uop, keep int16) {
	a, b, r := *t.ub(u.o[1]), *t.ub(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.hh(u.o[0])
	sum2(l, h, a[:], b[:], fixed(rub(r, 0)), fixed(rub(r, 1)), fixed(rub(r, 2)), fixed(rub(r, 3)), keep)
}
func vmpabuu(t *thread, u *uop)    { vmpabuuInto(t, u, 0) }
func vmpabuuAcc(t *thread, u *uop) { vmpabuuInto(t, u, -1) }

func vmpabusv(t *thread, u *uop) {
	a, b, c, d := *t.ub(u.o[1]), *t.ub(hi(u.o[1])), *t.b(u.o[2]), *t.b(hi(u.o[2]))
	l, h := t.hh(u.o[0])
	for i := range l {
		l[i] = int16(int32(a[2*i])*int32(c[2*i]) + int32(b[2*i])*int32(d[2*i]))
		h[i] = int16(int32(a[2*i+1])*int32(c[2*i+1]) + int32(b[2*i+1])*int32(d[2*i+1]))
	}
}

func vmpabuuv(t *thread, u *uop) {
	a, b, c, d := *t.ub(u.o[1]), *t.ub(hi(u.o[1])), *t.ub(u.o[2]), *t.ub(hi(u.o[2]))
	l, h := t.hh(u.o[0])
	for i := range l {
		l[i] = int16(int32(a[2*i])*int32(c[2*i]) + int32(b[2*i])*int32(d[2*i]))
		h[i] = int16(int32(a[2*i+1])*int32(c[2*i+1]) + int32(b[2*i+1])*int32(d[2*i+1]))
	}
}

func vmpahbInto(t *thread, u *uop, keep int32) {
	a, b, r := *t.h(u.o[1]), *t.h(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.ww(u.o[0])
	sum2(l, h, a[:], b[:], fixed(rb(r, 0)), fixed(rb(r, 1)), fixed(rb(r, 2)), fixed(rb(r, 3)), keep)
}
func vmpahb(t *thread, u *uop)    { vmpahbInto(t, u, 0) }
func vmpahbAcc(t *thread, u *uop) { vmpahbInto(t, u, -1) }

func vmpauhbInto(t *thread, u *uop, keep int32) {
	a, b, r := *t.uh(u.o[1]), *t.uh(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.ww(u.o[0])
	sum2(l, h, a[:], b[:], fixed(rb(r, 0)), fixed(rb(r, 1)), fixed(rb(r, 2)), fixed(rb(r, 3)), keep)
}
func vmpauhb(t *thread, u *uop)    { vmpauhbInto(t, u, 0) }
func vmpauhbAcc(t *thread, u *uop) { vmpauhbInto(t, u, -1) }

// Sliding windows over the bytes (halfwords) of a pair: output lanes use
// neighbours that begin one element later in the odd register.

func vdmpybusDvInto(t *thread, u *uop, keep int16) {
	a, b, r := *t.ub(u.o[1]), *t.ub(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.hh(u.o[0])
	for i := range l {
		x, y := rb(r, 2*i), rb(r, 2*i+1)
		l[i] = l[i]&keep + int16(int32(a[2*i])*x+int32(a[2*i+1])*y)
		h[i] = h[i]&keep + int16(int32(a[2*i+1])*x+int32(b[2*i])*y)
	}
}
func vdmpybusDv(t *thread, u *uop)    { vdmpybusDvInto(t, u, 0) }
func vdmpybusDvAcc(t *thread, u *uop) { vdmpybusDvInto(t, u, -1) }

func vdmpyhbDvInto(t *thread, u *uop, keep int32) {
	a, b, r := *t.h(u.o[1]), *t.h(hi(u.o[1])), *t.r(u.o[2])
	l, h := t.ww(u.o[0])
	for i := range l {
		x, y := rb(r, 2*i), rb(r, 2*i+1)
		l[i] = l[i]&keep + int32(a[2*i])*x + int32(a[2*i+1])*y
		h[i] = h[i]&keep + int32(a[2*i+1])*x + int32(b[2*i])*y
	}
}
func vdmpyhbDv(t *thread, u *uop)    { vdmpyhbDvInto(t, u, 0) }
func vdmpyhbDvAcc(t *thread, u *uop) { vdmpyhbDvInto(t, u, -1) }

// tmpy is a three-tap filter whose third tap is 1.
func tmpy[D, A number](lo, hi []D, a, b []A, r uint32, keep D) {
	for i := range lo {
		x, y := D(rb(r, 2*i)), D(rb(r, 2*i+1))
		lo[i] = lo[i]&keep + D(a[2*i])*x + D(a[2*i+1])*y + D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*x + D(b[2*i])*y + D(b[2*i+1])
	}
}

func tmpyb(t *thread, u *uop, keep int16) {
	a, b := *t.b(u.o[1]), *t.b(hi(u.o[1]))
	l, h := t.hh(u.o[0])
	tmpy(l, h, a[:], b[:], *t.r(u.o[2]), keep)
}
func vtmpyb(t *thread, u *uop)    { tmpyb(t, u, 0) }
func vtmpybAcc(t *thread, u *uop) { tmpyb(t, u, -1) }

func tmpybus(t *thread, u *uop, keep int16) {
	a, b := *t.ub(u.o[1]), *t.ub(hi(u.o[1]))
	l, h := t.hh(u.o[0])
	tmpy(l, h, a[:], b[:], *t.r(u.o[2]), keep)
}
func vtmpybus(t *thread, u *uop)    { tmpybus(t, u, 0) }
func vtmpybusAcc(t *thread, u *uop) { tmpybus(t, u, -1) }

func tmpyhb(t *thread, u *uop, keep int32) {
	a, b := *t.h(u.o[1]), *t.h(hi(u.o[1]))
	l, h := t.ww(u.o[0])
	tmpy(l, h, a[:], b[:], *t.r(u.o[2]), keep)
}
func vtmpyhb(t *thread, u *uop)    { tmpyhb(t, u, 0) }
func vtmpyhbAcc(t *thread, u *uop) { tmpyhb(t, u, -1) }

// vrmpy of a pair with an immediate that rotates the weights: two windows of
// four bytes, two bytes apart, over eight.
func rmpyi(t *thread, u *uop, part func(uint32, int) int32, keep int32) {
	a, r, n := [2]v8u{*t.ub(u.o[1]), *t.ub(hi(u.o[1]))}, *t.r(u.o[2]), int(u.imm&1)
	l, h := t.ww(u.o[0])
	w := func(i int) int32 { return part(r, i-n) }
	for i := range l {
		x := func(v, k int) int32 { return int32(a[v][4*i+k]) }
		l[i] = l[i]&keep + x(n, 0)*w(0) + x(0, 1)*w(1) + x(0, 2)*w(2) + x(0, 3)*w(3)
		h[i] = h[i]&keep + x(1, 0)*w(2) + x(1, 1)*w(3) + x(n, 2)*w(0) + x(0, 3)*w(1)
	}
}
func vrmpybusi(t *thread, u *uop)    { rmpyi(t, u, rb, 0) }
func vrmpybusiAcc(t *thread, u *uop) { rmpyi(t, u, rb, -1) }
func vrmpyubi(t *thread, u *uop)     { rmpyi(t, u, rub, 0) }
func vrmpyubiAcc(t *thread, u *uop)  { rmpyi(t, u, rub, -1) }

// Widening add and subtract.

func widenAdd[D, A number](lo, hi []D, a, b []A, keep, sign D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a[2*i]) + sign*D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1]) + sign*D(b[2*i+1])
	}
}

func addubh(t *thread, u *uop, keep, sign int16) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	l, h := t.hh(u.o[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vaddubh(t *thread, u *uop)    { addubh(t, u, 0, 1) }
func vaddubhAcc(t *thread, u *uop) { addubh(t, u, -1, 1) }
func vsububh(t *thread, u *uop)    { addubh(t, u, 0, -1) }

func addhw(t *thread, u *uop, keep, sign int32) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	l, h := t.ww(u.o[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vaddhw(t *thread, u *uop)    { addhw(t, u, 0, 1) }
func vaddhwAcc(t *thread, u *uop) { addhw(t, u, -1, 1) }
func vsubhw(t *thread, u *uop)    { addhw(t, u, 0, -1) }

func adduhw(t *thread, u *uop, keep, sign int32) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	l, h := t.ww(u.o[0])
	widenAdd(l, h, a[:], b[:], keep, sign)
}
func vadduhw(t *thread, u *uop)    { adduhw(t, u, 0, 1) }
func vadduhwAcc(t *thread, u *uop) { adduhw(t, u, -1, 1) }
func vsubuhw(t *thread, u *uop)    { adduhw(t, u, 0, -1) }
