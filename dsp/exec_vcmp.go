package dsp

// HVX compares and vector predicates. A predicate has one bit per byte lane,
// held as 0 or 0xff; a compare of halfwords or words sets all bytes of a lane.

// qop says how a compare combines with the predicate it writes.
type qop uint8

const (
	qset qop = iota
	qand
	qor
	qxor
)

func put(q *v8u, i, n int, c bool, op qop) {
	var m byte
	if c {
		m = 0xff
	}
	for j := i * n; j < i*n+n; j++ {
		switch op {
		case qset:
			q[j] = m
		case qand:
			q[j] &= m
		case qor:
			q[j] |= m
		case qxor:
			q[j] ^= m
		}
	}
}

func gt[T number](q *v8u, a, b []T, op qop) {
	for i := range a {
		put(q, i, 128/len(a), a[i] > b[i], op)
	}
}

func eq[T number](q *v8u, a, b []T, op qop) {
	for i := range a {
		put(q, i, 128/len(a), a[i] == b[i], op)
	}
}

// vcmp makes the semantics of one compare form.
func vgtb(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.b3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func vgtub(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.ub3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func vgth(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.h3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func vgtuh(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.uh3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func vgtw(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.w3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func vgtuw(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.uw3(u); gt(t.ub(u.o[0]), a, b, op) }
}
func veqb(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.b3(u); eq(t.ub(u.o[0]), a, b, op) }
}
func veqh(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.h3(u); eq(t.ub(u.o[0]), a, b, op) }
}
func veqw(op qop) semantic {
	return func(t *thread, u *uop) { _, a, b := t.w3(u); eq(t.ub(u.o[0]), a, b, op) }
}

func predAnd(t *thread, u *uop) { vand(t, u) }
func predOr(t *thread, u *uop)  { vor(t, u) }
func predXor(t *thread, u *uop) { vxor(t, u) }
func predNot(t *thread, u *uop) { vnot(t, u) }

func predAndNot(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] &^ b[i]
	}
}

func predOrNot(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] | ^b[i]
	}
}

// vsetq: the first Rt mod 128 lanes.
func predScalar2(t *thread, u *uop) { setFirst(t.ub(u.o[0]), int(*t.r(u.o[1])&127)) }

// vsetq2: lanes up to and including (Rt-1) mod 128.
func predScalar2v2(t *thread, u *uop) { setFirst(t.ub(u.o[0]), int((*t.r(u.o[1])-1)&127)+1) }

func setFirst(q *v8u, n int) {
	for i := range q {
		q[i] = 0
		if i < n {
			q[i] = 0xff
		}
	}
}

func byteOf(r uint32, i int) byte { return byte(r >> (8 * (i & 3))) }

func vandvrt(t *thread, u *uop) {
	q, a, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range q {
		q[i] = 0
		if a[i]&byteOf(r, i) != 0 {
			q[i] = 0xff
		}
	}
}

func vandvrtAcc(t *thread, u *uop) {
	q, a, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range q {
		if a[i]&byteOf(r, i) != 0 {
			q[i] = 0xff
		}
	}
}

func vandqrt(t *thread, u *uop) {
	d, q, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = q[i] & byteOf(r, i)
	}
}

func vandqrtAcc(t *thread, u *uop) {
	d, q, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] |= q[i] & byteOf(r, i)
	}
}

func vandnqrt(t *thread, u *uop) {
	d, q, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = ^q[i] & byteOf(r, i)
	}
}

func vandnqrtAcc(t *thread, u *uop) {
	d, q, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] |= ^q[i] & byteOf(r, i)
	}
}

func vandvqv(t *thread, u *uop) { vand(t, u) }

func vandvnqv(t *thread, u *uop) {
	d, q, a := t.w3(u)
	for i := range d {
		d[i] = a[i] &^ q[i]
	}
}

// shuffeq picks the even halfwords (words) of two predicates: odd places come
// from Qs, even ones from Qt.
func shuffeq(t *thread, u *uop, n int) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	d := t.ub(u.o[0])
	for i := range d {
		if i&n != 0 {
			d[i] = a[i-n]
		} else {
			d[i] = b[i]
		}
	}
}
func shuffeqh(t *thread, u *uop) { shuffeq(t, u, 1) }
func shuffeqw(t *thread, u *uop) { shuffeq(t, u, 2) }
