package hvx

import (
	"unsafe"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var lanesRows = []family.Row{
	// Add, subtract, average.
	{hexagon.V6_vaddububb_sat, binary(addSat[uint8, int8])},
	{hexagon.V6_vsubububb_sat, binary(subSat[uint8, int8])},

	// Logic and vector predicates.
	{hexagon.V6_vand, binary(and)},
	{hexagon.V6_vor, binary(or)},
	{hexagon.V6_vxor, binary(xor)},
	{hexagon.V6_vnot, unary(not)},
	{hexagon.V6_pred_and, binary(and)},
	{hexagon.V6_pred_and_n, binary(andNot)},
	{hexagon.V6_pred_not, unary(not)},
	{hexagon.V6_pred_or, binary(or)},
	{hexagon.V6_pred_or_n, binary(orNot)},
	{hexagon.V6_pred_xor, binary(xor)},
	{hexagon.V6_vandvnqv, binary(notAnd)},
	{hexagon.V6_vandvqv, binary(and)},

	// Multiply, 16-bit.
	{hexagon.V6_vmpyhvsrs, binary(vmpyhvsrs)},

	// Multiply, 32-bit.
	{hexagon.V6_vmpyewuh, binary(vmpyewuh)},
	{hexagon.V6_vmpyowh, binary(vmpyowh)},
	{hexagon.V6_vmpyowh_rnd, binary(vmpyowhRnd)},
	{hexagon.V6_vmpyowh_rnd_sacc, binary(vmpyowhRndSacc)},
	{hexagon.V6_vmpyowh_sacc, binary(vmpyowhSacc)},
	{hexagon.V6_vmpyieoh, binary(vmpyieoh)},
	{hexagon.V6_vmpyiewh_acc, binary(vmpyiewhAcc)},
	{hexagon.V6_vmpyiewuh, binary(vmpyiewuh)},
	{hexagon.V6_vmpyiewuh_acc, binary(vmpyiewuhAcc)},
	{hexagon.V6_vmpyiowh, binary(vmpyiowh)},

	// Saturate, count, rotate.
	{hexagon.V6_vsatdw, binary(vsatdw)},
	{hexagon.V6_vaddclbh, binary(vaddclbh)},
	{hexagon.V6_vaddclbw, binary(vaddclbw)},
	{hexagon.V6_vrotr, binary(vrotr)},
}

// number is a lane type narrow enough that sums fit int64.
type number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32
}

// bitsOf is the width of a lane.
func bitsOf[T number]() uint32 { var x T; return 8 * uint32(unsafe.Sizeof(x)) }

// limits are the least and the largest value of a lane.
func limits[T number]() (lo, hi int64) {
	if n := bitsOf[T](); ^T(0) < 0 {
		return -1 << (n - 1), 1<<(n-1) - 1
	} else {
		return 0, 1<<n - 1
	}
}

// view sees the bytes of a vector as lanes.
func view[T number](v *state.VecUB) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(v)), 8*len(v)/int(bitsOf[T]()))
}

// lanes returns the lanes of a register; upper returns those of a pair's odd register.
func lanes[T number](t *state.Thread, o uint16) []T { return view[T](t.UB(o)) }
func upper[T number](t *state.Thread, o uint16) []T { return view[T](t.UB(state.High(o))) }

// unary and binary apply a function of whole vectors; none may read a lane after the one that it writes.
func unary[D, A number](f func(d []D, a []A)) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { f(lanes[D](t, u.Arg[0]), lanes[A](t, u.Arg[1])) }
}
func binary[D, A, B number](f func(d []D, a []A, b []B)) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		f(lanes[D](t, u.Arg[0]), lanes[A](t, u.Arg[1]), lanes[B](t, u.Arg[2]))
	}
}

// both runs a one-vector operation on the two halves of pairs.
func both(f state.Semantic) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		low, high := *u, *u
		for i := range high.Arg {
			high.Arg[i] = state.High(u.Arg[i])
		}
		f(t, &low)
		f(t, &high)
	}
}

// into adds the form that replaces its destination and the one that adds to it: keep is the mask of the bits that stay.
func into[K number](r *family.Table, tag string, f func(t *state.Thread, u *state.Uop, keep K)) {
	r.Put(tag, func(t *state.Thread, u *state.Uop) { f(t, u, 0) })
	r.Put(tag+"_acc", func(t *state.Thread, u *state.Uop) { f(t, u, ^K(0)) })
}
