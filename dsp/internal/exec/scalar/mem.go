package scalar

import (
	"unsafe"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var memRows = []family.Row{
	// Loads.
	{hexagon.L2_deallocframe, func(t *state.Thread, u *state.Uop) { dealloc(t, u, u.Arg[0], u.Arg[1]) }},
	{hexagon.L4_return, func(t *state.Thread, u *state.Uop) {
		if dealloc(t, u, u.Arg[0], u.Arg[1]) {
			t.Jump(uint32(*t.D(u.Arg[0]) >> 32))
		}
	}},

	// Stores.
	{hexagon.S2_allocframe, func(t *state.Thread, u *state.Uop) { alloc(t, u, u.Arg[0], uint32(u.Imm)) }},

	// The timing model reads the address; nothing else happens.
	{hexagon.Y2_dcfetchbo, func(t *state.Thread, u *state.Uop) { *t.R(u.EA) = t.EA(u, 0) }},
	// The shape of the box is packed in one register (l2fetch(Rs,Rt)).
	{hexagon.Y4_l2fetch, func(t *state.Thread, u *state.Uop) {
		*t.R(u.EA) = *t.R(u.Arg[0])
		s := *t.R(u.Arg[1])
		t.Box = state.Box{Height: s & 0xff, Width: s >> 8 & 0xff, Stride: s >> 16}
	}},
	// The shape of the box is in a pair (l2fetch(Rs,Rtt)).
	{hexagon.Y5_l2fetch, func(t *state.Thread, u *state.Uop) {
		*t.R(u.EA) = *t.R(u.Arg[0])
		r := *t.D(u.Arg[1])
		t.Box = state.Box{Stride: uint32(r >> 32 & 0xffff), Width: uint32(r >> 16 & 0xffff), Height: uint32(r & 0xffff)}
	}},
}

// Scalar loads and stores. An address mode is a function from micro-op to
// address; x is the index of the operand that holds the address register.

func sizeOf[T constraints.Integer]() uint32 { var x T; return uint32(unsafe.Sizeof(x)) }

// eaIndexed is Rs + Rt<<#u2.
func eaIndexed(t *state.Thread, u *state.Uop, x int) uint32 {
	return *t.R(u.Arg[x]) + *t.R(u.Arg[x+1])<<(u.Imm&3)
}

// ldTo loads into the register at o.
func ldTo[T constraints.Integer](t *state.Thread, u *state.Uop, o uint16, ea uint32) bool {
	p := t.Scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return false
	}
	if sizeOf[T]() == 8 {
		*t.D(o) = uint64(*(*T)(p))
	} else {
		*t.R(o) = uint32(*(*T)(p))
	}
	return true
}

// stFrom stores the register at o.
func stFrom[T constraints.Integer](t *state.Thread, u *state.Uop, o uint16, ea uint32) bool {
	p := t.Scalar(u, ea, sizeOf[T](), true)
	if p == nil {
		return false
	}
	if sizeOf[T]() == 8 {
		*(*T)(p) = T(*t.D(o))
	} else {
		*(*T)(p) = T(*t.R(o))
	}
	return true
}

func loadIO[T constraints.Integer](t *state.Thread, u *state.Uop) {
	ldTo[T](t, u, u.Arg[0], t.EA(u, 1))
}
func loadRR[T constraints.Integer](t *state.Thread, u *state.Uop) {
	ldTo[T](t, u, u.Arg[0], eaIndexed(t, u, 1))
}

// loadPI uses the address, then adds the immediate to it.
func loadPI[T constraints.Integer](t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); ldTo[T](t, u, u.Arg[0], *x) {
		*x += uint32(u.Imm)
	}
}

// loadPR adds a modifier register.
func loadPR[T constraints.Integer](t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); ldTo[T](t, u, u.Arg[0], *x) {
		*x += *t.R(u.Arg[2])
	}
}

func storeIO[T constraints.Integer](t *state.Thread, u *state.Uop) {
	stFrom[T](t, u, u.Arg[1], t.EA(u, 0))
}
func storeRR[T constraints.Integer](t *state.Thread, u *state.Uop) {
	stFrom[T](t, u, u.Arg[2], eaIndexed(t, u, 0))
}

func storePI[T constraints.Integer](t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); stFrom[T](t, u, u.Arg[1], *x) {
		*x += uint32(u.Imm)
	}
}

func storePR[T constraints.Integer](t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); stFrom[T](t, u, u.Arg[2], *x) {
		*x += *t.R(u.Arg[1])
	}
}

// storeImm stores an immediate: memw(Rs+#u6) = #S8.
func storeImm[T constraints.Integer](t *state.Thread, u *state.Uop) {
	if p := t.Scalar(u, t.EA(u, 0), sizeOf[T](), true); p != nil {
		*(*T)(p) = T(u.Imm2)
	}
}

// Read-modify-write of memory.

func memop[T constraints.Integer](f func(m, r uint32) uint32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if p := t.Scalar(u, t.EA(u, 0), sizeOf[T](), true); p != nil {
			*(*T)(p) = T(f(uint32(*(*T)(p)), *t.R(u.Arg[1])))
		}
	}
}

func memopImm[T constraints.Integer](f func(m, r uint32) uint32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if p := t.Scalar(u, t.EA(u, 0), sizeOf[T](), true); p != nil {
			*(*T)(p) = T(f(uint32(*(*T)(p)), uint32(u.Imm2)))
		}
	}
}

func mAdd(m, r uint32) uint32 { return m + r }
func mSub(m, r uint32) uint32 { return m - r }
func mAnd(m, r uint32) uint32 { return m & r }
func mOr(m, r uint32) uint32  { return m | r }

// Frames.

func alloc(t *state.Thread, u *state.Uop, sp uint16, size uint32) {
	ea := *t.R(sp) - 8
	p := t.Scalar(u, ea, 8, true)
	if p == nil {
		return
	}
	*(*uint64)(p) = uint64(t.GR[31])<<32 | uint64(t.GR[30])
	t.GR[30] = ea
	*t.R(sp) = ea - size
}

func dealloc(t *state.Thread, u *state.Uop, d, fp uint16) bool {
	ea := *t.R(fp)
	if !ldTo[uint64](t, u, d, ea) {
		return false
	}
	t.GR[29] = ea + 8
	return true
}
