package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// HVX lane-wise operations: add, subtract, min, max, average, logic, compare.
// Operand order is that of the assembly text: Arg[0] is the destination.

// number is a lane type narrow enough that sums fit int64.
type number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32
}

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

func addSat[T number](d, a, b []T, lo, hi int64) {
	for i := range d {
		d[i] = T(simd.Clamp(int64(a[i])+int64(b[i]), lo, hi))
	}
}

func subSat[T number](d, a, b []T, lo, hi int64) {
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

// avg is (a + b + rnd) >> 1, navg the same of a - b.
func avg[T number](d, a, b []T, rnd int64) {
	for i := range d {
		d[i] = T((int64(a[i]) + int64(b[i]) + rnd) >> 1)
	}
}

func navg[T number](d, a, b []T) {
	for i := range d {
		d[i] = T((int64(a[i]) - int64(b[i])) >> 1)
	}
}

func absDiff[D, T number](d []D, a, b []T) {
	for i := range d {
		x := int64(a[i]) - int64(b[i])
		d[i] = D(max(x, -x))
	}
}

func b3(t *state.Thread, u *state.Uop) (d, a, b []int8) {
	return t.B(u.Arg[0])[:], t.B(u.Arg[1])[:], t.B(u.Arg[2])[:]
}
func ub3(t *state.Thread, u *state.Uop) (d, a, b []uint8) {
	return t.UB(u.Arg[0])[:], t.UB(u.Arg[1])[:], t.UB(u.Arg[2])[:]
}
func h3(t *state.Thread, u *state.Uop) (d, a, b []int16) {
	return t.H(u.Arg[0])[:], t.H(u.Arg[1])[:], t.H(u.Arg[2])[:]
}
func uh3(t *state.Thread, u *state.Uop) (d, a, b []uint16) {
	return t.UH(u.Arg[0])[:], t.UH(u.Arg[1])[:], t.UH(u.Arg[2])[:]
}
func w3(t *state.Thread, u *state.Uop) (d, a, b []int32) {
	return t.W(u.Arg[0])[:], t.W(u.Arg[1])[:], t.W(u.Arg[2])[:]
}
func uw3(t *state.Thread, u *state.Uop) (d, a, b []uint32) {
	return t.UW(u.Arg[0])[:], t.UW(u.Arg[1])[:], t.UW(u.Arg[2])[:]
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

func vaddb(t *state.Thread, u *state.Uop) { d, a, b := b3(t, u); add(d, a, b) }
func vaddh(t *state.Thread, u *state.Uop) { d, a, b := h3(t, u); add(d, a, b) }
func vaddw(t *state.Thread, u *state.Uop) { d, a, b := w3(t, u); add(d, a, b) }
func vsubb(t *state.Thread, u *state.Uop) { d, a, b := b3(t, u); sub(d, a, b) }
func vsubh(t *state.Thread, u *state.Uop) { d, a, b := h3(t, u); sub(d, a, b) }
func vsubw(t *state.Thread, u *state.Uop) { d, a, b := w3(t, u); sub(d, a, b) }

func vaddbsat(t *state.Thread, u *state.Uop) {
	d, a, b := b3(t, u)
	addSat(d, a, b, simd.MinB, simd.MaxB)
}
func vaddubsat(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); addSat(d, a, b, 0, simd.MaxUB) }
func vaddhsat(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	addSat(d, a, b, simd.MinH, simd.MaxH)
}
func vadduhsat(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); addSat(d, a, b, 0, simd.MaxUH) }
func vaddwsat(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	addSat(d, a, b, simd.MinW, simd.MaxW)
}
func vadduwsat(t *state.Thread, u *state.Uop) { d, a, b := uw3(t, u); addSat(d, a, b, 0, simd.MaxUW) }
func vsubbsat(t *state.Thread, u *state.Uop) {
	d, a, b := b3(t, u)
	subSat(d, a, b, simd.MinB, simd.MaxB)
}
func vsububsat(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); subSat(d, a, b, 0, simd.MaxUB) }
func vsubhsat(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	subSat(d, a, b, simd.MinH, simd.MaxH)
}
func vsubuhsat(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); subSat(d, a, b, 0, simd.MaxUH) }
func vsubwsat(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	subSat(d, a, b, simd.MinW, simd.MaxW)
}
func vsubuwsat(t *state.Thread, u *state.Uop) { d, a, b := uw3(t, u); subSat(d, a, b, 0, simd.MaxUW) }

// Unsigned bytes plus or minus signed ones.
func vaddububbSat(t *state.Thread, u *state.Uop) {
	d, a, b := t.UB(u.Arg[0]), t.UB(u.Arg[1]), t.B(u.Arg[2])
	for i := range d {
		d[i] = uint8(simd.Clamp(int64(a[i])+int64(b[i]), 0, simd.MaxUB))
	}
}
func vsubububbSat(t *state.Thread, u *state.Uop) {
	d, a, b := t.UB(u.Arg[0]), t.UB(u.Arg[1]), t.B(u.Arg[2])
	for i := range d {
		d[i] = uint8(simd.Clamp(int64(a[i])-int64(b[i]), 0, simd.MaxUB))
	}
}

func vmaxb(t *state.Thread, u *state.Uop)  { d, a, b := b3(t, u); vmax(d, a, b) }
func vmaxub(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); vmax(d, a, b) }
func vmaxh(t *state.Thread, u *state.Uop)  { d, a, b := h3(t, u); vmax(d, a, b) }
func vmaxuh(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); vmax(d, a, b) }
func vmaxw(t *state.Thread, u *state.Uop)  { d, a, b := w3(t, u); vmax(d, a, b) }
func vminb(t *state.Thread, u *state.Uop)  { d, a, b := b3(t, u); vmin(d, a, b) }
func vminub(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); vmin(d, a, b) }
func vminh(t *state.Thread, u *state.Uop)  { d, a, b := h3(t, u); vmin(d, a, b) }
func vminuh(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); vmin(d, a, b) }
func vminw(t *state.Thread, u *state.Uop)  { d, a, b := w3(t, u); vmin(d, a, b) }

func vavgb(t *state.Thread, u *state.Uop)     { d, a, b := b3(t, u); avg(d, a, b, 0) }
func vavgbrnd(t *state.Thread, u *state.Uop)  { d, a, b := b3(t, u); avg(d, a, b, 1) }
func vavgub(t *state.Thread, u *state.Uop)    { d, a, b := ub3(t, u); avg(d, a, b, 0) }
func vavgubrnd(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); avg(d, a, b, 1) }
func vavgh(t *state.Thread, u *state.Uop)     { d, a, b := h3(t, u); avg(d, a, b, 0) }
func vavghrnd(t *state.Thread, u *state.Uop)  { d, a, b := h3(t, u); avg(d, a, b, 1) }
func vavguh(t *state.Thread, u *state.Uop)    { d, a, b := uh3(t, u); avg(d, a, b, 0) }
func vavguhrnd(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); avg(d, a, b, 1) }
func vavgw(t *state.Thread, u *state.Uop)     { d, a, b := w3(t, u); avg(d, a, b, 0) }
func vavgwrnd(t *state.Thread, u *state.Uop)  { d, a, b := w3(t, u); avg(d, a, b, 1) }
func vavguw(t *state.Thread, u *state.Uop)    { d, a, b := uw3(t, u); avg(d, a, b, 0) }
func vavguwrnd(t *state.Thread, u *state.Uop) { d, a, b := uw3(t, u); avg(d, a, b, 1) }
func vnavgb(t *state.Thread, u *state.Uop)    { d, a, b := b3(t, u); navg(d, a, b) }
func vnavgub(t *state.Thread, u *state.Uop)   { d, a, b := ub3(t, u); navg(d, a, b) }
func vnavgh(t *state.Thread, u *state.Uop)    { d, a, b := h3(t, u); navg(d, a, b) }
func vnavgw(t *state.Thread, u *state.Uop)    { d, a, b := w3(t, u); navg(d, a, b) }

func vabsdiffub(t *state.Thread, u *state.Uop) { d, a, b := ub3(t, u); absDiff(d, a, b) }
func vabsdiffuh(t *state.Thread, u *state.Uop) { d, a, b := uh3(t, u); absDiff(d, a, b) }
func vabsdiffh(t *state.Thread, u *state.Uop) {
	absDiff(t.UH(u.Arg[0])[:], t.H(u.Arg[1])[:], t.H(u.Arg[2])[:])
}
func vabsdiffw(t *state.Thread, u *state.Uop) {
	absDiff(t.UW(u.Arg[0])[:], t.W(u.Arg[1])[:], t.W(u.Arg[2])[:])
}

// abs with and without saturation differ in the most negative value only.
func vabs[T number](d, a []T, hi int64) {
	for i := range d {
		x := int64(a[i])
		d[i] = T(min(max(x, -x), hi))
	}
}

func vabsb(t *state.Thread, u *state.Uop)    { vabs(t.B(u.Arg[0])[:], t.B(u.Arg[1])[:], simd.MaxW) }
func vabsbSat(t *state.Thread, u *state.Uop) { vabs(t.B(u.Arg[0])[:], t.B(u.Arg[1])[:], simd.MaxB) }
func vabsh(t *state.Thread, u *state.Uop)    { vabs(t.H(u.Arg[0])[:], t.H(u.Arg[1])[:], simd.MaxW) }
func vabshSat(t *state.Thread, u *state.Uop) { vabs(t.H(u.Arg[0])[:], t.H(u.Arg[1])[:], simd.MaxH) }
func vabsw(t *state.Thread, u *state.Uop)    { vabs(t.W(u.Arg[0])[:], t.W(u.Arg[1])[:], simd.MaxUW) }
func vabswSat(t *state.Thread, u *state.Uop) { vabs(t.W(u.Arg[0])[:], t.W(u.Arg[1])[:], simd.MaxW) }

func vand(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func vor(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func vxor(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func vnot(t *state.Thread, u *state.Uop) {
	d, a := t.W(u.Arg[0]), t.W(u.Arg[1])
	for i := range d {
		d[i] = ^a[i]
	}
}

func vassign(t *state.Thread, u *state.Uop) { *t.UB(u.Arg[0]) = *t.UB(u.Arg[1]) }

func vcombine(t *state.Thread, u *state.Uop) {
	high, low := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	*t.UB(u.Arg[0]), *t.UB(state.High(u.Arg[0])) = low, high
}

func vmux(t *state.Thread, u *state.Uop) {
	d, q, a, b := t.UB(u.Arg[0]), t.UB(u.Arg[1]), t.UB(u.Arg[2]), t.UB(u.Arg[3])
	for i := range d {
		d[i] = a[i]&q[i] | b[i]&^q[i]
	}
}

func vswap(t *state.Thread, u *state.Uop) {
	q, a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), *t.UB(u.Arg[3])
	d, e := t.UB(u.Arg[0]), t.UB(state.High(u.Arg[0]))
	for i := range d {
		d[i] = a[i]&q[i] | b[i]&^q[i]
		e[i] = b[i]&q[i] | a[i]&^q[i]
	}
}

// Conditional accumulation, if (Q) Vx += Vu: the sum is made lane by lane and
// taken byte by byte.
func addQ[T number](t *state.Thread, u *state.Uop, x, a []T, flip byte, minus bool) {
	q, old := *t.UB(u.Arg[0]), *t.UB(u.Arg[1])
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

func vaddQb(flip byte, minus bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { addQ(t, u, t.B(u.Arg[1])[:], t.B(u.Arg[2])[:], flip, minus) }
}
func vaddQh(flip byte, minus bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { addQ(t, u, t.H(u.Arg[1])[:], t.H(u.Arg[2])[:], flip, minus) }
}
func vaddQw(flip byte, minus bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { addQ(t, u, t.W(u.Arg[1])[:], t.W(u.Arg[2])[:], flip, minus) }
}
