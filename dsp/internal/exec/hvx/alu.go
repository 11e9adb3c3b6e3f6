package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var aluRows = []family.Row{
	// Min, max, compare, select.
	{hexagon.V6_vmux, func(t *state.Thread, u *state.Uop) {
		d, q, a, b := t.UB(u.Arg[0]), t.UB(u.Arg[1]), t.UB(u.Arg[2]), t.UB(u.Arg[3])
		for i := range d {
			d[i] = a[i]&q[i] | b[i]&^q[i]
		}
	}},
	{hexagon.V6_vswap, func(t *state.Thread, u *state.Uop) {
		q, a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), *t.UB(u.Arg[3])
		d, e := t.UB(u.Arg[0]), t.UB(state.High(u.Arg[0]))
		for i := range d {
			d[i] = a[i]&q[i] | b[i]&^q[i]
			e[i] = b[i]&q[i] | a[i]&^q[i]
		}
	}},

	// Logic and vector predicates.
	{hexagon.V6_vassign, func(t *state.Thread, u *state.Uop) { *t.UB(u.Arg[0]) = *t.UB(u.Arg[1]) }},
	{hexagon.V6_vcombine, func(t *state.Thread, u *state.Uop) {
		high, low := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		*t.UB(u.Arg[0]), *t.UB(state.High(u.Arg[0])) = low, high
	}},
}

// HVX lane-wise operations: add, subtract, min, max, average, logic, compare.
// Operand order is that of the assembly text: Arg[0] is the destination.

func satw(x int64) int32 { return int32(simd.Clamp(x, -1<<31, 1<<31-1)) }

func add[T number](d, a, b []T) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func sub[T number](d, a, b []T) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

// Sums and differences that saturate; b may be signed where a is not.
func addSat[T, B number](d, a []T, b []B) {
	lo, hi := limits[T]()
	for i := range d {
		d[i] = T(simd.Clamp(int64(a[i])+int64(b[i]), lo, hi))
	}
}

func subSat[T, B number](d, a []T, b []B) {
	lo, hi := limits[T]()
	for i := range d {
		d[i] = T(simd.Clamp(int64(a[i])-int64(b[i]), lo, hi))
	}
}

func vmin[T number](d, a, b []T) {
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func vmax[T number](d, a, b []T) {
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

// avg is (a + b) >> 1, avgRnd rounds it, navg is the same of a - b.
func avg[T number](d, a, b []T) {
	for i := range d {
		d[i] = T((int64(a[i]) + int64(b[i])) >> 1)
	}
}

func avgRnd[T number](d, a, b []T) {
	for i := range d {
		d[i] = T((int64(a[i]) + int64(b[i]) + 1) >> 1)
	}
}

func navg[T number](d, a, b []T) {
	for i := range d {
		d[i] = T((int64(a[i]) - int64(b[i])) >> 1)
	}
}

func absDiff[T number](d, a, b []T) {
	for i := range d {
		x := int64(a[i]) - int64(b[i])
		d[i] = T(max(x, -x))
	}
}

// vabs and vabsSat differ in the most negative value only.
func vabs[T number](d, a []T) {
	for i := range d {
		d[i] = max(a[i], -a[i])
	}
}

func vabsSat[T number](d, a []T) {
	_, hi := limits[T]()
	for i := range d {
		x := int64(a[i])
		d[i] = T(min(max(x, -x), hi))
	}
}

func and(d, a, b []uint32) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func or(d, a, b []uint32) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xor(d, a, b []uint32) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func not(d, a []uint32) {
	for i := range d {
		d[i] = ^a[i]
	}
}

// addQ is conditional accumulation, if (Q) Vx += Vu: the sum is computed by lane and selected by byte.
func addQ[T number](flip byte, minus bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		q, old := *t.UB(u.Arg[0]), *t.UB(u.Arg[1])
		x, a := lanes[T](t, u.Arg[1]), lanes[T](t, u.Arg[2])
		for i := range x {
			if minus {
				x[i] -= a[i]
			} else {
				x[i] += a[i]
			}
		}
		d := t.UB(u.Arg[1])
		for i := range d {
			m := q[i] ^ flip
			d[i] = d[i]&m | old[i]&^m
		}
	}
}
