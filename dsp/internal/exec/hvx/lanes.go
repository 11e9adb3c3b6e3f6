package hvx

import (
	"unsafe"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

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

// lanes are those of a register, upper those of the odd register of a pair.
func lanes[T number](t *state.Thread, o uint16) []T { return view[T](t.UB(o)) }
func upper[T number](t *state.Thread, o uint16) []T { return view[T](t.UB(state.High(o))) }

// unary and binary apply a function of whole vectors; none may read a lane behind the one that it writes.
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

// into puts in the form that replaces its destination and the one that adds to it: keep is the mask of what stays.
func into[K number](r *family.Table, tag string, f func(t *state.Thread, u *state.Uop, keep K)) {
	r.Put(tag, func(t *state.Thread, u *state.Uop) { f(t, u, 0) })
	r.Put(tag+"_acc", func(t *state.Thread, u *state.Uop) { f(t, u, ^K(0)) })
}
