package scalar

import (
	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var systemRows = []family.Row{
	// User DMA.
	{hexagon.Y6_dmstart, dmCommand(state.DMAStart)},
	{hexagon.Y6_dmlink, dmCommand(state.DMALink)},
	{hexagon.Y6_dmpoll, dmCommand(state.DMAPoll)},
	{hexagon.Y6_dmwait, dmCommand(state.DMAWait)},
	{hexagon.Y6_dmpause, dmCommand(state.DMAPause)},
	{hexagon.Y6_dmresume, dmCommand(state.DMAResume)},

	// Control register pairs, watched addresses, caches.
	{hexagon.A4_tfrcpp, tfrcpp},
	{hexagon.A4_tfrpcp, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.R(u.Arg[0]), *t.R(u.Arg[0] + 4) = uint32(x), uint32(x>>32)
	}},
	{hexagon.L2_loadw_locked, loadLocked[uint32]},
	{hexagon.L4_loadd_locked, loadLocked[uint64]},
	{hexagon.S2_storew_locked, storeLocked[uint32]},
	{hexagon.S4_stored_locked, storeLocked[uint64]},
	// Clears the 32 bytes around the address.
	{hexagon.Y2_dczeroa, func(t *state.Thread, u *state.Uop) {
		if p := t.Access(u, *t.R(u.Arg[0])&^31, 32, true); p != nil {
			*(*[32]byte)(p) = [32]byte{}
		}
	}},
	{hexagon.Y2_isync, drain},
	{hexagon.Y2_barrier, drain},
	{hexagon.Y2_syncht, drain},
	{hexagon.J2_pause, func(t *state.Thread, u *state.Uop) { *t.R(u.EA) = uint32(u.Imm) }},
}

// tfrcpp reads a pair of control registers; of usr and pc the decoder makes
// TransferUSRPC.
func tfrcpp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1] + 4), *t.R(u.Arg[1])) }

// TransferUSRPC reads the pair of usr and pc.
func TransferUSRPC(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(u.PC, *t.R(u.Arg[1])) }

func loadLocked[T constraints.Unsigned](t *state.Thread, u *state.Uop) {
	ea := *t.R(u.Arg[1])
	p := t.Scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return
	}
	v := *(*T)(p)
	w := &t.Reserved
	w.On, w.Addr = true, ea
	if sizeOf[T]() == 8 {
		w.Double = uint64(v)
		*t.D(u.Arg[0]) = uint64(v)
	} else {
		w.Word = uint32(v)
		*t.R(u.Arg[0]) = uint32(v)
	}
}

// storeLocked stores if the address is the watched one and still holds the value that the load saw.
func storeLocked[T constraints.Unsigned](t *state.Thread, u *state.Uop) {
	ea, w := *t.R(u.Arg[0]), t.Reserved
	t.Reserved.On = false
	if !w.On || w.Addr != ea {
		*t.R(u.EA), *t.P(u.Arg[1]) = state.Skipped, 0
		return
	}
	p := t.Scalar(u, ea, sizeOf[T](), true)
	if p == nil {
		return
	}
	seen := T(w.Word)
	if sizeOf[T]() == 8 {
		seen = T(w.Double)
	}
	same := *(*T)(p) == seen
	if same {
		stFrom[T](t, u, u.Arg[2], ea)
	}
	*t.P(u.Arg[1]) = flag(same)
}

// drain and pause are for the timing model alone: wait for the thread's
// stores; wait the number of cycles left in the address slot.
func drain(t *state.Thread, u *state.Uop) { *t.R(u.EA) = 0 }

// dmCommand leaves the request for the end of the block.
func dmCommand(c state.DMACommand) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		t.DMA = state.DMARequest{Command: c, Op: hexagon.Op(u.Op), PC: u.PC}
		switch c {
		case state.DMAStart, state.DMAResume:
			t.DMA.A = *t.R(u.Arg[0])
		case state.DMALink:
			t.DMA.A, t.DMA.B = *t.R(u.Arg[0]), *t.R(u.Arg[1])
		default:
			t.DMA.Out = u.Arg[0]
		}
	}
}
