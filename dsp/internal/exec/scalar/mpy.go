package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var mpyRows = []family.Row{
	// Multiply.
	{hexagon.M2_mpyi, mpyi},
	{hexagon.M2_mpysip, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) * uint32(u.Imm) }},
	{hexagon.M2_mpysin, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = -(*t.R(u.Arg[1]) * uint32(u.Imm)) }},
	{hexagon.M2_maci, maci},
	{hexagon.M2_mnaci, mnaci},
	{hexagon.M2_macsip, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) * uint32(u.Imm) }},
	{hexagon.M2_macsin, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) * uint32(u.Imm) }},
	{hexagon.M2_acci, acci},
	{hexagon.M2_accii, accii},
	{hexagon.M2_nacci, nacci},
	{hexagon.M2_naccii, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) + uint32(u.Imm) }},
	{hexagon.M2_mpy_up, mpyUp},
	{hexagon.M2_mpyu_up, mpyuUp},
	{hexagon.M2_mpy_up_s1, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(mul64(t, u) >> 31) }},
	{hexagon.M2_mpy_up_s1_sat, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, mul64(t, u)>>31, simd.MinW, simd.MaxW)
	}},
	{hexagon.M2_dpmpyss_s0, dpmpyss},
	{hexagon.M2_dpmpyuu_s0, dpmpyuu},
	{hexagon.M2_dpmpyss_acc_s0, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) += uint64(mul64(t, u)) }},
	{hexagon.M2_dpmpyuu_acc_s0, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) += umul64(t, u) }},
	{hexagon.M4_mpyri_addi, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[1])*uint32(u.Imm2)
	}},
	{hexagon.M4_mpyrr_addi, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(u.Imm) + *t.R(u.Arg[1])**t.R(u.Arg[2])
	}},
	// Ry = add(Ru, mpyi(Ry, Rs)).
	{hexagon.M4_mpyrr_addr, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[0])**t.R(u.Arg[2])
	}},
	{hexagon.M4_mpyri_addr, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + *t.R(u.Arg[2])*uint32(u.Imm)
	}},
	{hexagon.M5_vrmpybuu, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), false)
	}},
	{hexagon.M5_vrmpybsu, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), true) }},
	{hexagon.M5_vrmacbuu, func(t *state.Thread, u *state.Uop) {
		d := t.D(u.Arg[0])
		*d = addWords(*d, dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), false))
	}},
	{hexagon.M5_vrmacbsu, func(t *state.Thread, u *state.Uop) {
		d := t.D(u.Arg[0])
		*d = addWords(*d, dotBytes(*t.D(u.Arg[1]), *t.D(u.Arg[2]), true))
	}},
	{hexagon.M5_vmacbuu, func(t *state.Thread, u *state.Uop) {
		a, b, x := *t.R(u.Arg[1]), *t.R(u.Arg[2]), *t.D(u.Arg[0])
		var d uint64
		for i := range 4 {
			h := uint16(x>>(16*i)) + uint16(simd.UB(a, i)*simd.UB(b, i))
			d |= uint64(h) << (16 * i)
		}
		*t.D(u.Arg[0]) = d
	}},
}

// Scalar multiplies.

func mul64(t *state.Thread, u *state.Uop) int64 { return int64(t.S(u.Arg[1])) * int64(t.S(u.Arg[2])) }
func umul64(t *state.Thread, u *state.Uop) uint64 {
	return uint64(*t.R(u.Arg[1])) * uint64(*t.R(u.Arg[2]))
}

func mpyi(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func maci(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func mnaci(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) * *t.R(u.Arg[2]) }
func acci(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }
func accii(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) += *t.R(u.Arg[1]) + uint32(u.Imm) }
func nacci(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) -= *t.R(u.Arg[1]) + *t.R(u.Arg[2]) }

func mpyUp(t *state.Thread, u *state.Uop)   { *t.R(u.Arg[0]) = uint32(mul64(t, u) >> 32) }
func mpyuUp(t *state.Thread, u *state.Uop)  { *t.R(u.Arg[0]) = uint32(umul64(t, u) >> 32) }
func dpmpyss(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = uint64(mul64(t, u)) }
func dpmpyuu(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = umul64(t, u) }

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

// addWords adds two pairs of words; each sum wraps.
func addWords(x, y uint64) uint64 { return pair(uint32(x>>32)+uint32(y>>32), uint32(x)+uint32(y)) }
