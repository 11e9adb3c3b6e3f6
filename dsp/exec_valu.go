package dsp

// HVX lane-wise operations: add, subtract, min, max, average, logic, compare.
// Operand order is that of the assembly text: o[0] is the destination.

// number is a lane type narrow enough that sums fit int64.
type number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32
}

func clamp(x, lo, hi int64) int64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

func satw(x int64) int32 { return int32(clamp(x, -1<<31, 1<<31-1)) }

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
		d[i] = T(clamp(int64(a[i])+int64(b[i]), lo, hi))
	}
}

func subSat[T number](d, a, b []T, lo, hi int64) {
	for i := range d {
		d[i] = T(clamp(int64(a[i])-int64(b[i]), lo, hi))
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

const (
	minB, maxB, maxUB = -1 << 7, 1<<7 - 1, 1<<8 - 1
	minH, maxH, maxUH = -1 << 15, 1<<15 - 1, 1<<16 - 1
	minW, maxW, maxUW = -1 << 31, 1<<31 - 1, 1<<32 - 1
)

func (t *thread) b3(u *uop) (d, a, b []int8) {
	return t.b(u.o[0])[:], t.b(u.o[1])[:], t.b(u.o[2])[:]
}
func (t *thread) ub3(u *uop) (d, a, b []uint8) {
	return t.ub(u.o[0])[:], t.ub(u.o[1])[:], t.ub(u.o[2])[:]
}
func (t *thread) h3(u *uop) (d, a, b []int16) {
	return t.h(u.o[0])[:], t.h(u.o[1])[:], t.h(u.o[2])[:]
}
func (t *thread) uh3(u *uop) (d, a, b []uint16) {
	return t.uh(u.o[0])[:], t.uh(u.o[1])[:], t.uh(u.o[2])[:]
}
func (t *thread) w3(u *uop) (d, a, b []int32) {
	return t.w(u.o[0])[:], t.w(u.o[1])[:], t.w(u.o[2])[:]
}
func (t *thread) uw3(u *uop) (d, a, b []uint32) {
	return t.uw(u.o[0])[:], t.uw(u.o[1])[:], t.uw(u.o[2])[:]
}

// both runs a one-vector operation on the two halves of pairs.
func both(f semantic) semantic {
	return func(t *thread, u *uop) {
		low, high := *u, *u
		for i := range high.o {
			high.o[i] = hi(u.o[i])
		}
		f(t, &low)
		f(t, &high)
	}
}

func vaddb(t *thread, u *uop) { d, a, b := t.b3(u); add(d, a, b) }
func vaddh(t *thread, u *uop) { d, a, b := t.h3(u); add(d, a, b) }
func vaddw(t *thread, u *uop) { d, a, b := t.w3(u); add(d, a, b) }
func vsubb(t *thread, u *uop) { d, a, b := t.b3(u); sub(d, a, b) }
func vsubh(t *thread, u *uop) { d, a, b := t.h3(u); sub(d, a, b) }
func vsubw(t *thread, u *uop) { d, a, b := t.w3(u); sub(d, a, b) }

func vaddbsat(t *thread, u *uop)  { d, a, b := t.b3(u); addSat(d, a, b, minB, maxB) }
func vaddubsat(t *thread, u *uop) { d, a, b := t.ub3(u); addSat(d, a, b, 0, maxUB) }
func vaddhsat(t *thread, u *uop)  { d, a, b := t.h3(u); addSat(d, a, b, minH, maxH) }
func vadduhsat(t *thread, u *uop) { d, a, b := t.uh3(u); addSat(d, a, b, 0, maxUH) }
func vaddwsat(t *thread, u *uop)  { d, a, b := t.w3(u); addSat(d, a, b, minW, maxW) }
func vadduwsat(t *thread, u *uop) { d, a, b := t.uw3(u); addSat(d, a, b, 0, maxUW) }
func vsubbsat(t *thread, u *uop)  { d, a, b := t.b3(u); subSat(d, a, b, minB, maxB) }
func vsububsat(t *thread, u *uop) { d, a, b := t.ub3(u); subSat(d, a, b, 0, maxUB) }
func vsubhsat(t *thread, u *uop)  { d, a, b := t.h3(u); subSat(d, a, b, minH, maxH) }
func vsubuhsat(t *thread, u *uop) { d, a, b := t.uh3(u); subSat(d, a, b, 0, maxUH) }
func vsubwsat(t *thread, u *uop)  { d, a, b := t.w3(u); subSat(d, a, b, minW, maxW) }
func vsubuwsat(t *thread, u *uop) { d, a, b := t.uw3(u); subSat(d, a, b, 0, maxUW) }

// Unsigned bytes plus or minus signed ones.
func vaddububbSat(t *thread, u *uop) {
	d, a, b := t.ub(u.o[0]), t.ub(u.o[1]), t.b(u.o[2])
	for i := range d {
		d[i] = uint8(clamp(int64(a[i])+int64(b[i]), 0, maxUB))
	}
}
func vsubububbSat(t *thread, u *uop) {
	d, a, b := t.ub(u.o[0]), t.ub(u.o[1]), t.b(u.o[2])
	for i := range d {
		d[i] = uint8(clamp(int64(a[i])-int64(b[i]), 0, maxUB))
	}
}

func vmaxb(t *thread, u *uop)  { d, a, b := t.b3(u); vmax(d, a, b) }
func vmaxub(t *thread, u *uop) { d, a, b := t.ub3(u); vmax(d, a, b) }
func vmaxh(t *thread, u *uop)  { d, a, b := t.h3(u); vmax(d, a, b) }
func vmaxuh(t *thread, u *uop) { d, a, b := t.uh3(u); vmax(d, a, b) }
func vmaxw(t *thread, u *uop)  { d, a, b := t.w3(u); vmax(d, a, b) }
func vminb(t *thread, u *uop)  { d, a, b := t.b3(u); vmin(d, a, b) }
func vminub(t *thread, u *uop) { d, a, b := t.ub3(u); vmin(d, a, b) }
func vminh(t *thread, u *uop)  { d, a, b := t.h3(u); vmin(d, a, b) }
func vminuh(t *thread, u *uop) { d, a, b := t.uh3(u); vmin(d, a, b) }
func vminw(t *thread, u *uop)  { d, a, b := t.w3(u); vmin(d, a, b) }

func vavgb(t *thread, u *uop)     { d, a, b := t.b3(u); avg(d, a, b, 0) }
func vavgbrnd(t *thread, u *uop)  { d, a, b := t.b3(u); avg(d, a, b, 1) }
func vavgub(t *thread, u *uop)    { d, a, b := t.ub3(u); avg(d, a, b, 0) }
func vavgubrnd(t *thread, u *uop) { d, a, b := t.ub3(u); avg(d, a, b, 1) }
func vavgh(t *thread, u *uop)     { d, a, b := t.h3(u); avg(d, a, b, 0) }
func vavghrnd(t *thread, u *uop)  { d, a, b := t.h3(u); avg(d, a, b, 1) }
func vavguh(t *thread, u *uop)    { d, a, b := t.uh3(u); avg(d, a, b, 0) }
func vavguhrnd(t *thread, u *uop) { d, a, b := t.uh3(u); avg(d, a, b, 1) }
func vavgw(t *thread, u *uop)     { d, a, b := t.w3(u); avg(d, a, b, 0) }
func vavgwrnd(t *thread, u *uop)  { d, a, b := t.w3(u); avg(d, a, b, 1) }
func vavguw(t *thread, u *uop)    { d, a, b := t.uw3(u); avg(d, a, b, 0) }
func vavguwrnd(t *thread, u *uop) { d, a, b := t.uw3(u); avg(d, a, b, 1) }
func vnavgb(t *thread, u *uop)    { d, a, b := t.b3(u); navg(d, a, b) }
func vnavgub(t *thread, u *uop)   { d, a, b := t.ub3(u); navg(d, a, b) }
func vnavgh(t *thread, u *uop)    { d, a, b := t.h3(u); navg(d, a, b) }
func vnavgw(t *thread, u *uop)    { d, a, b := t.w3(u); navg(d, a, b) }

func vabsdiffub(t *thread, u *uop) { d, a, b := t.ub3(u); absDiff(d, a, b) }
func vabsdiffuh(t *thread, u *uop) { d, a, b := t.uh3(u); absDiff(d, a, b) }
func vabsdiffh(t *thread, u *uop) {
	absDiff(t.uh(u.o[0])[:], t.h(u.o[1])[:], t.h(u.o[2])[:])
}
func vabsdiffw(t *thread, u *uop) {
	absDiff(t.uw(u.o[0])[:], t.w(u.o[1])[:], t.w(u.o[2])[:])
}

// abs with and without saturation differ in the most negative value only.
func vabs[T number](d, a []T, hi int64) {
	for i := range d {
		x := int64(a[i])
		d[i] = T(min(max(x, -x), hi))
	}
}

func vabsb(t *thread, u *uop)    { vabs(t.b(u.o[0])[:], t.b(u.o[1])[:], maxW) }
func vabsbSat(t *thread, u *uop) { vabs(t.b(u.o[0])[:], t.b(u.o[1])[:], maxB) }
func vabsh(t *thread, u *uop)    { vabs(t.h(u.o[0])[:], t.h(u.o[1])[:], maxW) }
func vabshSat(t *thread, u *uop) { vabs(t.h(u.o[0])[:], t.h(u.o[1])[:], maxH) }
func vabsw(t *thread, u *uop)    { vabs(t.w(u.o[0])[:], t.w(u.o[1])[:], maxUW) }
func vabswSat(t *thread, u *uop) { vabs(t.w(u.o[0])[:], t.w(u.o[1])[:], maxW) }

func vand(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func vor(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func vxor(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func vnot(t *thread, u *uop) {
	d, a := t.w(u.o[0]), t.w(u.o[1])
	for i := range d {
		d[i] = ^a[i]
	}
}

func vassign(t *thread, u *uop) { *t.ub(u.o[0]) = *t.ub(u.o[1]) }

func vcombine(t *thread, u *uop) {
	high, low := *t.ub(u.o[1]), *t.ub(u.o[2])
	*t.ub(u.o[0]), *t.ub(hi(u.o[0])) = low, high
}

func vmux(t *thread, u *uop) {
	d, q, a, b := t.ub(u.o[0]), t.ub(u.o[1]), t.ub(u.o[2]), t.ub(u.o[3])
	for i := range d {
		d[i] = a[i]&q[i] | b[i]&^q[i]
	}
}

func vswap(t *thread, u *uop) {
	q, a, b := *t.ub(u.o[1]), *t.ub(u.o[2]), *t.ub(u.o[3])
	d, e := t.ub(u.o[0]), t.ub(hi(u.o[0]))
	for i := range d {
		d[i] = a[i]&q[i] | b[i]&^q[i]
		e[i] = b[i]&q[i] | a[i]&^q[i]
	}
}

// Conditional accumulation, if (Q) Vx += Vu: the sum is made lane by lane and
// taken byte by byte.
func addQ[T number](t *thread, u *uop, x, a []T, flip byte, minus bool) {
	q, old := *t.ub(u.o[0]), *t.ub(u.o[1])
	for i := range x {
		if minus {
			x[i] -= a[i]
		} else {
			x[i] += a[i]
		}
	}
	d := t.ub(u.o[1])
	for i := range d {
		m := q[i] ^ flip
		d[i] = d[i]&m | old[i]&^m
	}
}

func vaddQb(flip byte, minus bool) semantic {
	return func(t *thread, u *uop) { addQ(t, u, t.b(u.o[1])[:], t.b(u.o[2])[:], flip, minus) }
}
func vaddQh(flip byte, minus bool) semantic {
	return func(t *thread, u *uop) { addQ(t, u, t.h(u.o[1])[:], t.h(u.o[2])[:], flip, minus) }
}
func vaddQw(flip byte, minus bool) semantic {
	return func(t *thread, u *uop) { addQ(t, u, t.w(u.o[1])[:], t.w(u.o[2])[:], flip, minus) }
}
