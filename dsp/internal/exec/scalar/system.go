package scalar

import (
	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Control register pairs, watched addresses, cache operations and waits.

// tfrcpp reads a pair of control registers; of usr and pc the decoder makes
// TransferUSRPC.
func tfrcpp(t *state.Thread, u *state.Uop)        { *t.D(u.Arg[0]) = pair(*t.R(u.Arg[1] + 4), *t.R(u.Arg[1])) }
func TransferUSRPC(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = pair(u.PC, t.C[state.USR]) }

func tfrpcp(t *state.Thread, u *state.Uop) {
	x := *t.D(u.Arg[1])
	*t.R(u.Arg[0]), *t.R(u.Arg[0] + 4) = uint32(x), uint32(x>>32)
}

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

// storeLocked stores if the address is the watched one and still holds what
// the load saw.
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

// dczeroa clears the 32 bytes around the address.
func dczeroa(t *state.Thread, u *state.Uop) {
	if p := t.Access(u, *t.R(u.Arg[0])&^31, 32, true); p != nil {
		*(*[32]byte)(p) = [32]byte{}
	}
}

// drain and pause are for the timing model alone: wait for the thread's
// stores; wait the number of cycles left in the address slot.
func drain(t *state.Thread, u *state.Uop) { *t.R(u.EA) = 0 }
func pause(t *state.Thread, u *state.Uop) { *t.R(u.EA) = uint32(u.Imm) }

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
