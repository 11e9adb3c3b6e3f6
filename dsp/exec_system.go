package dsp

// Control register pairs, watched addresses, cache operations and waits.

// tfrcpp reads a pair of control registers; of usr and pc the decoder makes
// tfrUsrPC.
func tfrcpp(t *thread, u *uop)   { *t.d(u.o[0]) = pair(*t.r(u.o[1] + 4), *t.r(u.o[1])) }
func tfrUsrPC(t *thread, u *uop) { *t.d(u.o[0]) = pair(u.pc, t.C[cUSR]) }

func tfrpcp(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.r(u.o[0]), *t.r(u.o[0] + 4) = uint32(x), uint32(x>>32)
}

// watch is the address of the last locked load, and what loads of words and of
// doublewords have seen.
type watch struct {
	on     bool
	addr   uint32
	word   uint32
	double uint64
}

func loadLocked[T uint32 | uint64](t *thread, u *uop) {
	ea := *t.r(u.o[1])
	p := t.scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return
	}
	v := *(*T)(p)
	w := &t.watch
	w.on, w.addr = true, ea
	if sizeOf[T]() == 8 {
		w.double = uint64(v)
		*t.d(u.o[0]) = uint64(v)
	} else {
		w.word = uint32(v)
		*t.r(u.o[0]) = uint32(v)
	}
}

// storeLocked stores if the address is the watched one and still holds what
// the load saw.
func storeLocked[T uint32 | uint64](t *thread, u *uop) {
	ea, w := *t.r(u.o[0]), t.watch
	t.watch.on = false
	if !w.on || w.addr != ea {
		*t.r(u.ea), *t.p(u.o[1]) = skipped, 0
		return
	}
	p := t.scalar(u, ea, sizeOf[T](), true)
	if p == nil {
		return
	}
	seen := T(w.word)
	if sizeOf[T]() == 8 {
		seen = T(w.double)
	}
	same := *(*T)(p) == seen
	if same {
		stFrom[T](t, u, u.o[2], ea)
	}
	*t.p(u.o[1]) = flag(same)
}

// dczeroa clears the 32 bytes around the address.
func dczeroa(t *thread, u *uop) {
	if p := t.access(u, *t.r(u.o[0])&^31, 32, true); p != nil {
		*(*[32]byte)(p) = [32]byte{}
	}
}

// drain and pause are for the timing model alone: wait for the thread's
// stores; wait the number of cycles left in the address slot.
func drain(t *thread, u *uop) { *t.r(u.ea) = 0 }
func pause(t *thread, u *uop) { *t.r(u.ea) = uint32(u.imm) }
