package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var histRows = []family.Row{
	{hexagon.V6_vhist, vhist},
	{hexagon.V6_vhistq, func(t *state.Thread, u *state.Uop) { hist(t, u, t.UB(u.Arg[0])) }},
	{hexagon.V6_vwhist256, vwhist256},
	{hexagon.V6_vwhist256_sat, vwhist256Sat},
	{hexagon.V6_vwhist256q, vwhist256q},
	{hexagon.V6_vwhist256q_sat, func(t *state.Thread, u *state.Uop) { whist256(t, u, t.UB(u.Arg[0]), simd.MaxUH) }},
	{hexagon.V6_vwhist128, vwhist128},
	{hexagon.V6_vwhist128q, vwhist128q},
	{hexagon.V6_vwhist128m, vwhist128m},
	{hexagon.V6_vwhist128qm, func(t *state.Thread, u *state.Uop) { whist128(t, u, t.UB(u.Arg[0]), uint8(u.Imm), false) }},
}

// HVX histograms. All 32 vector registers are counters; the input is the
// vector that a .tmp load of the packet makes (the decoder puts it in Arg[5]).

// hist is vhist: each 16-byte lane of the input is counted in the same lane of the
// registers: byte value v in halfword v&7 of register v>>3.
func hist(t *state.Thread, u *state.Uop, q *state.VecUB) {
	in := t.UB(u.Arg[5])
	for i, v := range in {
		if q == nil || q[i] != 0 {
			(*state.VecUH)(t.At(state.OffV + uint16(v>>3)*128))[i>>4<<3+int(v&7)]++
		}
	}
}

func vhist(t *state.Thread, u *state.Uop) { hist(t, u, nil) }

// whist256 is vwhist256: the low byte of each halfword names a counter, the high byte is
// added to it.
func whist256(t *state.Thread, u *state.Uop, q *state.VecUB, top uint32) {
	in := t.UB(u.Arg[5])
	for i := range 64 {
		v, w := in[2*i], in[2*i+1]
		if q != nil && q[2*i] == 0 {
			continue
		}
		c := &(*state.VecUH)(t.At(state.OffV + uint16(v>>3)*128))[i&^7+int(v&7)]
		*c = uint16(min(uint32(*c)+uint32(w), top))
	}
}

const noTop = 1<<32 - 1

func vwhist256(t *state.Thread, u *state.Uop)    { whist256(t, u, nil, noTop) }
func vwhist256Sat(t *state.Thread, u *state.Uop) { whist256(t, u, nil, simd.MaxUH) }
func vwhist256q(t *state.Thread, u *state.Uop)   { whist256(t, u, t.UB(u.Arg[0]), noTop) }

// whist128 is vwhist128: it has word counters for pairs of values; with an immediate it counts
// the values of that parity only.
func whist128(t *state.Thread, u *state.Uop, q *state.VecUB, parity uint8, any bool) {
	in := t.UB(u.Arg[5])
	for i := range 64 {
		v, w := in[2*i], in[2*i+1]
		if q != nil && q[2*i] == 0 || !any && v&1 != parity {
			continue
		}
		(*state.VecUW)(t.At(state.OffV + uint16(v>>3)*128))[i>>1&^3+int(v>>1&3)] += uint32(w)
	}
}

func vwhist128(t *state.Thread, u *state.Uop)  { whist128(t, u, nil, 0, true) }
func vwhist128q(t *state.Thread, u *state.Uop) { whist128(t, u, t.UB(u.Arg[0]), 0, true) }
func vwhist128m(t *state.Thread, u *state.Uop) { whist128(t, u, nil, uint8(u.Imm), false) }
