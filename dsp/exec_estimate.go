package dsp

import "math"

// Estimates and scaling for division and square root in software: sfrecipa and sfinvsqrta give a first estimate, the sffixup
// instructions the operands as the estimate's refinement needs them.

const oneSF = 127 << 23

// recipTable holds eight bits of 2/x - 1 in the middle of each of 128 steps of x in [1,2). As read out of qemu-hexagon; two
// steps, whose value lies within 1/1000 of a tie, are rounded the other way.
var recipTable = estimates(func(i int) float64 {
	v := 512 / (1 + (float64(i)+0.5)/128)
	switch i {
	case 112:
		return math.Ceil(v)
	case 127:
		return math.Floor(v)
	}
	return v
})

// rootTable holds eight bits of 2/sqrt(x) - 1: 64 steps of x in [2,4), then 64 of x in [1,2).
var rootTable = estimates(func(i int) float64 {
	x := 1 + (float64(i&63)+0.5)/64
	if i < 64 {
		x *= 2
	}
	return 512 / math.Sqrt(x)
})

func estimates(f func(i int) float64) (t [128]uint32) {
	for i := range t {
		t[i] = uint32(math.Round(f(i))) - 256
	}
	return t
}

// division is a quotient prepared for software: operands to divide, the power of two its result is to be scaled by, and
// whether an estimate of the reciprocal is wanted; otherwise num / den is already the result.
type division struct {
	num, den uint64
	scale    uint8
	estimate bool
}

// scaled multiplies by a power of two.
func (t *thread) scaled(x uint64, by int) uint64 {
	n := single.unpack(x)
	n.exp += by
	return t.pack(single, n)
}

func (t *thread) divide(num, den uint64) (d division) {
	f := single
	sign := (num ^ den) & f.sign()
	special := func(x, y uint64) division { return division{num: x, den: y} }
	a, b := f.unpack(num), f.unpack(den)
	switch {
	case a.kind == aNaN || b.kind == aNaN:
		n := t.nan(f, num, den)
		return special(n, n)
	case a.kind == b.kind && a.kind != aFinite:
		n := t.invalid(f)
		return special(n, n)
	case b.kind == aZero:
		if a.kind != anInf {
			t.sticky(usrDivByZero)
		}
		return special(sign|f.inf(), oneSF)
	case b.kind == anInf || a.kind == aZero:
		return special(sign, oneSF)
	case a.kind == anInf:
		return special(sign|f.inf(), oneSF)
	}
	d = division{num: num, den: den, estimate: true}
	scale := func(n, m int, p uint8) {
		d.num, d.den, d.scale = t.scaled(num, n), t.scaled(den, m), p
	}
	ne, de := f.rawExp(num), f.rawExp(den)
	switch q := ne - de + f.bias(); {
	case q <= 23: // the quotient is nearly denormal
		scale(64, -64, 0x80)
	case q > 254-24: // or nearly infinite
		scale(-32, 32, 0x40)
	case ne <= 25:
		scale(64, 64, 0)
	case de <= 1:
		scale(32, 32, 0)
	case de > 252:
		scale(-32, -32, 0)
	}
	return d
}

func sfrecipa(t *thread, u *uop) {
	d := t.divide(t.f32(u.o[2]), t.f32(u.o[3]))
	if !d.estimate {
		*t.r(u.o[0]), *t.p(u.o[1]) = uint32(d.den), 0
		return
	}
	den := uint32(d.den)
	man := recipTable[den>>16&0x7f]<<15 | 1
	exp := 2*127 - 1 - den>>23&0xff
	*t.r(u.o[0]), *t.p(u.o[1]) = den&(1<<31)|exp<<23|man, d.scale
}

func sffixupn(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(t.divide(t.f32(u.o[1]), t.f32(u.o[2])).num)
}
func sffixupd(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(t.divide(t.f32(u.o[1]), t.f32(u.o[2])).den)
}

// root prepares a square root like divide a quotient: radicand, estimate where none is to be looked up, scale. An infinite
// radicand gives minus infinity, as in qemu-hexagon.
func (t *thread) root(x uint64) (rad, est uint64, scale uint8, estimate bool) {
	f := single
	n := f.unpack(x)
	switch {
	case n.kind == aNaN:
		v := t.nan(f, x)
		return v, v, 0, false
	case n.kind == aZero:
		return x, oneSF, 0, false
	case n.neg:
		v := t.invalid(f)
		return v, v, 0, false
	case n.kind == anInf:
		return f.sign() | f.inf(), f.sign() | f.inf(), 0, false
	}
	if f.rawExp(x) <= 24 {
		return t.scaled(x, 64), 0, 0xe0, true
	}
	return x, 0, 0, true
}

func sfinvsqrta(t *thread, u *uop) {
	x, est, scale, estimate := t.root(t.f32(u.o[2]))
	*t.p(u.o[1]) = scale
	if !estimate {
		*t.r(u.o[0]) = uint32(est)
		return
	}
	man := rootTable[x>>17&0x7f] << 15
	exp := 127 - (int32(x>>23&0xff)-127)>>1 - 1
	*t.r(u.o[0]) = uint32(exp)<<23 | man
}

func sffixupr(t *thread, u *uop) {
	rad, _, _, _ := t.root(t.f32(u.o[1]))
	*t.r(u.o[0]) = uint32(rad)
}
