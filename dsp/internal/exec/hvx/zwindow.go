package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// The Z window: 256 bytes that z = vmem loads and vrmpyz multiplies by. Source: code and its description that ran on a
// Snapdragon 480 (1640675651/CPPminer, pearlx.S); no public emulator has the instructions. The decoder passes the place
// of the window: as operand 0 of a load, as operand 3 of a product.

// zwindow adds the loads and the products.
func zwindow(r *family.Table) {
	modes(r, "V6_zLd", 1, true, aligned, zld)
	into(r, "V6_vrmpyzbb_rt", rmpyz[int8](0))
	into(r, "V6_vrmpyzbb_rx", rmpyz[int8](4))
	into(r, "V6_vrmpyzbub_rt", rmpyz[uint8](0))
	into(r, "V6_vrmpyzbub_rx", rmpyz[uint8](4))
}

// zld loads 128 bytes into the half of the window that bit 7 of the address selects.
func zld(t *state.Thread, u *state.Uop, z uint16, ea uint32) bool {
	p := t.Access(u, ea, 128, false)
	if p == nil {
		return false
	}
	z += uint16(ea & 128)
	*t.UB(z) = *(*state.VecUB)(p)
	*t.UB(z + state.ZBytes) = *(*state.VecUB)(p)
	return true
}

// rmpyz is, in word i of vector n of four,
//
//	sum over t = 0..3 of Vu.b[4i+t] * z[(Rt - 100 + 32n + t) mod 256]
//
// and then adds step to Rt.
func rmpyz[Z int8 | uint8](step uint32) func(*state.Thread, *state.Uop, int32) {
	return func(t *state.Thread, u *state.Uop, keep int32) {
		v := *t.B(u.Arg[1])
		at := u.Arg[3] + uint16(uint8(*t.R(u.Arg[2])-100))
		for n := range uint16(4) {
			d, b := t.W(u.Arg[0]+128*n), t.UB(at+32*n)
			z := [4]int32{int32(Z(b[0])), int32(Z(b[1])), int32(Z(b[2])), int32(Z(b[3]))}
			for i := range d {
				x := v[4*i:][:4]
				d[i] = d[i]&keep + int32(x[0])*z[0] + int32(x[1])*z[1] + int32(x[2])*z[2] + int32(x[3])*z[3]
			}
		}
		*t.R(u.Arg[2]) += step
	}
}
