package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// Scalar multiplies.

func mul64(t *state.Thread, u *state.Uop) int64 { return int64(t.S(u.Arg[1])) * int64(t.S(u.Arg[2])) }
func umul64(t *state.Thread, u *state.Uop) uint64 {
	return uint64(*t.R(u.Arg[1])) * uint64(*t.R(u.Arg[2]))
}

func mpyi(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func mpysip(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) * uint32(u.Imm) }
func mpysin(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = -(*t.R(u.Arg[1]) * uint32(u.Imm)) }
func maci(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func mnaci(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func macsip(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) * uint32(u.Imm) }
func macsin(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) * uint32(u.Imm) }
func acci(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }
func accii(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) + uint32(u.Imm) }
func nacci(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }
func naccii(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) + uint32(u.Imm) }

func mpyUp(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = uint32(mul64(t, u) >> 32) }
func mpyuUp(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(umul64(t, u) >> 32) }
func mpyUpS1(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(mul64(t, u) >> 31) }
func mpyUpS1Sat(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = satTo(t, mul64(t, u)>>31, simd.MinW, simd.MaxW)
}
func dpmpyss(t *state.Thread, u *state.Uop)    { *t.D(u.Arg[0]) = uint64(mul64(t, u)) }
func dpmpyuu(t *state.Thread, u *state.Uop)    { *t.D(u.Arg[0]) = umul64(t, u) }
func dpmpyssAcc(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) += uint64(mul64(t, u)) }
func dpmpyuuAcc(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) += umul64(t, u) }

func mpyriAddi(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[1])*uint32(u.Imm2)
}
func mpyrrAddi(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[1])**t.R(u.Arg[2])
}
func mpyriAddr(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2])*uint32(u.Imm)
}

// mpyrrAddr is Ry = add(Ru, mpyi(Ry, Rs)).
func mpyrrAddr(t *state.Thread, u *state.Uop) {
	*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[0])**t.R(u.Arg[2])
}

// Byte dot products of register pairs.

func dotBytes(a, b uint64, signed bool) (d uint64) {
	for w := range 2 {
		var sum int32
		for i := 4 * w; i < 4*w+4; i++ {
			x := int32(uint8(a >> (8 * i)))
			if signed {
				x = int32(int8(a >> (8 * i)))
			}
			sum += x * int32(uint8(b>>(8*i)))
		}
		d |= uint64(uint32(sum)) << (32 * w)
	}
	return d
}

func svrmpybuu(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), false)
}
func svrmpybsu(t *state.Thread, u *state.Uop) {
	*t.D(u.Arg[0]) = dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), true)
}
func svrmacbuu(t *state.Thread, u *state.Uop) {
	d := t.D(u.Arg[0])
	*d = addWords(*d, dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), false))
}
func svrmacbsu(t *state.Thread, u *state.Uop) {
	d := t.D(u.Arg[0])
	*d = addWords(*d, dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), true))
}

// addWords adds two pairs of words; each sum wraps.
func addWords(x, y uint64) uint64 { return pair(uint32(x>>32)+uint32(y>>32), uint32(x)+uint32(y)) }

func svmacbuu(t *state.Thread, u *state.Uop) {
	a, b, x := *t.R(u.Arg[1]), *t.R(u.Arg[2]), *t.D(u.Arg[0])
	var d uint64
	for i := range 4 {
		h := uint16(x>>(16*i)) + uint16(simd.UB(a, i)*simd.UB(b, i))
		d |= uint64(h) << (16 * i)
	}
	*t.D(u.Arg[0]) = d
}
