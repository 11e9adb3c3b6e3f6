package scalar

import (
	"math"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/float"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var estimateRows = []family.Row{
	{hexagon.F2_sffixupd, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(divide(t, f32(t, u.Arg[1]), f32(t, u.Arg[2])).den)
	}},
	{hexagon.F2_sffixupn, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(divide(t, f32(t, u.Arg[1]), f32(t, u.Arg[2])).num)
	}},
	{hexagon.F2_sffixupr, func(t *state.Thread, u *state.Uop) {
		rad, _, _, _ := root(t, f32(t, u.Arg[1]))
		*t.R(u.Arg[0]) = uint32(rad)
	}},
	{hexagon.F2_sfinvsqrta, func(t *state.Thread, u *state.Uop) {
		x, est, scale, estimate := root(t, f32(t, u.Arg[2]))
		*t.P(u.Arg[1]) = scale
		if !estimate {
			*t.R(u.Arg[0]) = uint32(est)
			return
		}
		man := rootTable[x>>17&0x7f] << 15
		exp := 127 - (int32(x>>23&0xff)-127)>>1 - 1
		*t.R(u.Arg[0]) = uint32(exp)<<23 | man
	}},
	{hexagon.F2_sfrecipa, func(t *state.Thread, u *state.Uop) {
		d := divide(t, f32(t, u.Arg[2]), f32(t, u.Arg[3]))
		if !d.estimate {
			*t.R(u.Arg[0]), *t.P(u.Arg[1]) = uint32(d.den), 0
			return
		}
		den := uint32(d.den)
		man := recipTable[den>>16&0x7f]<<15 | 1
		exp := 2*127 - 1 - den>>23&0xff
		*t.R(u.Arg[0]), *t.P(u.Arg[1]) = den&(1<<31)|exp<<23|man, d.scale
	}},
}

// Estimates and scaling for division and square root in software: sfrecipa and sfinvsqrta produce a first estimate, the
// sffixup instructions the operands as the estimate's refinement needs them.

const oneSF = 127 << 23

// recipTable holds eight bits of 2/x - 1 in the middle of each of 128 steps of x in [1,2). As read out of qemu-hexagon;
// two steps, whose value is within 1/1000 of a tie, are rounded the other way.
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
func scaled(t *state.Thread, x uint64, by int) uint64 {
	n := float.Single.Unpack(x)
	n.Exp += by
	return env(t).Pack(float.Single, n)
}

func divide(t *state.Thread, num, den uint64) (d division) {
	f := float.Single
	sign := (num ^ den) & f.Sign()
	special := func(x, y uint64) division { return division{num: x, den: y} }
	a, b := f.Unpack(num), f.Unpack(den)
	switch {
	case a.Kind == float.NaN || b.Kind == float.NaN:
		n := env(t).NaN(f, num, den)
		return special(n, n)
	case a.Kind == b.Kind && a.Kind != float.Finite:
		n := env(t).Invalid(f)
		return special(n, n)
	case b.Kind == float.Zero:
		if a.Kind != float.Inf {
			env(t).Raise(float.DivByZero)
		}
		return special(sign|f.Inf(), oneSF)
	case b.Kind == float.Inf || a.Kind == float.Zero:
		return special(sign, oneSF)
	case a.Kind == float.Inf:
		return special(sign|f.Inf(), oneSF)
	}
	d = division{num: num, den: den, estimate: true}
	scale := func(n, m int, p uint8) {
		d.num, d.den, d.scale = scaled(t, num, n), scaled(t, den, m), p
	}
	ne, de := f.RawExp(num), f.RawExp(den)
	switch q := ne - de + f.Bias(); {
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

// root prepares a square root like divide a quotient: radicand, estimate where none is to be looked up, scale. An infinite
// radicand yields minus infinity, as in qemu-hexagon.
func root(t *state.Thread, x uint64) (rad, est uint64, scale uint8, estimate bool) {
	f := float.Single
	n := f.Unpack(x)
	switch {
	case n.Kind == float.NaN:
		v := env(t).NaN(f, x)
		return v, v, 0, false
	case n.Kind == float.Zero:
		return x, oneSF, 0, false
	case n.Neg:
		v := env(t).Invalid(f)
		return v, v, 0, false
	case n.Kind == float.Inf:
		return f.Sign() | f.Inf(), f.Sign() | f.Inf(), 0, false
	}
	if f.RawExp(x) <= 24 {
		return scaled(t, x, 64), 0, 0xe0, true
	}
	return x, 0, 0, true
}
