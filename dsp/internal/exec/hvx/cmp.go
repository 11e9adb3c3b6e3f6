package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var cmpRows = []family.Row{
	// vsetq: the first Rt mod 128 lanes.
	{hexagon.V6_pred_scalar2, func(t *state.Thread, u *state.Uop) { setFirst(t.UB(u.Arg[0]), int(*t.R(u.Arg[1])&127)) }},
	// vsetq2: lanes up to and including (Rt-1) mod 128.
	{hexagon.V6_pred_scalar2v2, func(t *state.Thread, u *state.Uop) { setFirst(t.UB(u.Arg[0]), int((*t.R(u.Arg[1])-1)&127)+1) }},
	{hexagon.V6_vandvrt, func(t *state.Thread, u *state.Uop) {
		q, a, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range q {
			q[i] = 0
			if a[i]&byteOf(r, i) != 0 {
				q[i] = 0xff
			}
		}
	}},
	{hexagon.V6_vandvrt_acc, func(t *state.Thread, u *state.Uop) {
		q, a, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range q {
			if a[i]&byteOf(r, i) != 0 {
				q[i] = 0xff
			}
		}
	}},
	{hexagon.V6_vandnqrt, func(t *state.Thread, u *state.Uop) {
		d, q, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range d {
			d[i] = ^q[i] & byteOf(r, i)
		}
	}},
	{hexagon.V6_vandnqrt_acc, func(t *state.Thread, u *state.Uop) {
		d, q, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range d {
			d[i] |= ^q[i] & byteOf(r, i)
		}
	}},
	{hexagon.V6_vandqrt, func(t *state.Thread, u *state.Uop) {
		d, q, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range d {
			d[i] = q[i] & byteOf(r, i)
		}
	}},
	{hexagon.V6_vandqrt_acc, func(t *state.Thread, u *state.Uop) {
		d, q, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		for i := range d {
			d[i] |= q[i] & byteOf(r, i)
		}
	}},
	{hexagon.V6_shuffeqh, func(t *state.Thread, u *state.Uop) { shuffeq(t, u, 1) }},
	{hexagon.V6_shuffeqw, func(t *state.Thread, u *state.Uop) { shuffeq(t, u, 2) }},
}

// HVX compares and vector predicates. A predicate has one bit per byte lane,
// held as 0 or 0xff; a compare of halfwords or words sets all bytes of a lane.

// qop is how a compare combines with the predicate it writes.
type qop uint8

const (
	qset qop = iota + 1
	qand
	qor
	qxor
)

func put(q *state.VecUB, i, n int, c bool, op qop) {
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

func gt[T number](q *state.VecUB, a, b []T, op qop) {
	for i := range a {
		put(q, i, 128/len(a), a[i] > b[i], op)
	}
}

func eq[T number](q *state.VecUB, a, b []T, op qop) {
	for i := range a {
		put(q, i, 128/len(a), a[i] == b[i], op)
	}
}

// compare combines the outcome of f with the predicate.
func compare[T number](f func(q *state.VecUB, a, b []T, op qop), op qop) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		f(t.UB(u.Arg[0]), lanes[T](t, u.Arg[1]), lanes[T](t, u.Arg[2]), op)
	}
}

func andNot(d, a, b []uint32) {
	for i := range d {
		d[i] = a[i] &^ b[i]
	}
}

func orNot(d, a, b []uint32) {
	for i := range d {
		d[i] = a[i] | ^b[i]
	}
}

func setFirst(q *state.VecUB, n int) {
	for i := range q {
		q[i] = 0
		if i < n {
			q[i] = 0xff
		}
	}
}

func byteOf(r uint32, i int) byte { return byte(r >> (8 * (i & 3))) }

func notAnd(d, q, a []uint32) {
	for i := range d {
		d[i] = a[i] &^ q[i]
	}
}

// shuffeq picks the even halfwords (words) of two predicates: odd places are from Qs, even ones from Qt.
func shuffeq(t *state.Thread, u *state.Uop, n int) {
	a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	d := t.UB(u.Arg[0])
	for i := range d {
		if i&n != 0 {
			d[i] = a[i-n]
		} else {
			d[i] = b[i]
		}
	}
}
