package dsp

import "unsafe"

// Scalar loads and stores. An address mode is a function from micro-op to
// address; x is the index of the operand that holds the address register.

type scalarT interface {
	int8 | uint8 | int16 | uint16 | uint32 | uint64
}

func sizeOf[T scalarT]() uint32 { var x T; return uint32(unsafe.Sizeof(x)) }

func (t *thread) ea(u *uop, x int) uint32 { return *t.r(u.o[x]) + uint32(u.imm) }

// eaIndexed is Rs + Rt<<#u2.
func (t *thread) eaIndexed(u *uop, x int) uint32 {
	return *t.r(u.o[x]) + *t.r(u.o[x+1])<<(u.imm&3)
}

// ldTo loads into the register at o.
func ldTo[T scalarT](t *thread, u *uop, o uint16, ea uint32) bool {
	p := t.scalar(u, ea, sizeOf[T](), false)
	if p == nil {
		return false
	}
	if sizeOf[T]() == 8 {
		*t.d(o) = uint64(*(*T)(p))
	} else {
		*t.r(o) = uint32(*(*T)(p))
	}
	return true
}

// stFrom stores the register at o.
func stFrom[T scalarT](t *thread, u *uop, o uint16, ea uint32) bool {
	p := t.scalar(u, ea, sizeOf[T](), true)
	if p == nil {
		return false
	}
	if sizeOf[T]() == 8 {
		*(*T)(p) = T(*t.d(o))
	} else {
		*(*T)(p) = T(*t.r(o))
	}
	return true
}

func loadIO[T scalarT](t *thread, u *uop) { ldTo[T](t, u, u.o[0], t.ea(u, 1)) }
func loadRR[T scalarT](t *thread, u *uop) { ldTo[T](t, u, u.o[0], t.eaIndexed(u, 1)) }

// loadPI uses the address, then adds the immediate to it.
func loadPI[T scalarT](t *thread, u *uop) {
	if x := t.r(u.o[1]); ldTo[T](t, u, u.o[0], *x) {
		*x += uint32(u.imm)
	}
}

// loadPR adds a modifier register.
func loadPR[T scalarT](t *thread, u *uop) {
	if x := t.r(u.o[1]); ldTo[T](t, u, u.o[0], *x) {
		*x += *t.r(u.o[2])
	}
}

// Rt<<#u2 + #u6, absolute base.
func loadUR[T scalarT](t *thread, u *uop) {
	ldTo[T](t, u, u.o[0], *t.r(u.o[1])<<(u.imm&3)+uint32(u.imm2))
}
func storeUR[T scalarT](t *thread, u *uop) {
	stFrom[T](t, u, u.o[1], *t.r(u.o[0])<<(u.imm&3)+uint32(u.imm2))
}

func storeIO[T scalarT](t *thread, u *uop) { stFrom[T](t, u, u.o[1], t.ea(u, 0)) }
func storeRR[T scalarT](t *thread, u *uop) { stFrom[T](t, u, u.o[2], t.eaIndexed(u, 0)) }

func storePI[T scalarT](t *thread, u *uop) {
	if x := t.r(u.o[0]); stFrom[T](t, u, u.o[1], *x) {
		*x += uint32(u.imm)
	}
}

func storePR[T scalarT](t *thread, u *uop) {
	if x := t.r(u.o[0]); stFrom[T](t, u, u.o[2], *x) {
		*x += *t.r(u.o[1])
	}
}

// storeImm stores an immediate: memw(Rs+#u6) = #S8.
func storeImm[T scalarT](t *thread, u *uop) {
	if p := t.scalar(u, t.ea(u, 0), sizeOf[T](), true); p != nil {
		*(*T)(p) = T(u.imm2)
	}
}

// Read-modify-write of memory.

func memop[T scalarT](f func(m, r uint32) uint32) semantic {
	return func(t *thread, u *uop) {
		if p := t.scalar(u, t.ea(u, 0), sizeOf[T](), true); p != nil {
			*(*T)(p) = T(f(uint32(*(*T)(p)), *t.r(u.o[1])))
		}
	}
}

func memopImm[T scalarT](f func(m, r uint32) uint32) semantic {
	return func(t *thread, u *uop) {
		if p := t.scalar(u, t.ea(u, 0), sizeOf[T](), true); p != nil {
			*(*T)(p) = T(f(uint32(*(*T)(p)), uint32(u.imm2)))
		}
	}
}

func mAdd(m, r uint32) uint32 { return m + r }
func mSub(m, r uint32) uint32 { return m - r }
func mAnd(m, r uint32) uint32 { return m & r }
func mOr(m, r uint32) uint32  { return m | r }

// Frames.

func allocframe(t *thread, u *uop) { t.alloc(u, u.o[0], uint32(u.imm)) }

func (t *thread) alloc(u *uop, sp uint16, size uint32) {
	ea := *t.r(sp) - 8
	p := t.scalar(u, ea, 8, true)
	if p == nil {
		return
	}
	*(*uint64)(p) = uint64(t.R[31])<<32 | uint64(t.R[30])
	t.R[30] = ea
	*t.r(sp) = ea - size
}

func (t *thread) dealloc(u *uop, d, fp uint16) bool {
	ea := *t.r(fp)
	if !ldTo[uint64](t, u, d, ea) {
		return false
	}
	t.R[29] = ea + 8
	return true
}

func deallocframe(t *thread, u *uop) { t.dealloc(u, u.o[0], u.o[1]) }

func deallocReturn(t *thread, u *uop) {
	if t.dealloc(u, u.o[0], u.o[1]) {
		t.jump(uint32(*t.d(u.o[0]) >> 32))
	}
}

// Vector loads and stores ignore the low seven address bits, but for vmemu.
// The decoder has turned offsets into bytes.

func (t *thread) vld(u *uop, d uint16, ea uint32) bool {
	p := t.access(u, ea, 128, false)
	if p == nil {
		return false
	}
	*t.ub(d) = *(*v8u)(p)
	return true
}

func (t *thread) vst(u *uop, s uint16, ea uint32) bool {
	p := t.access(u, ea, 128, true)
	if p == nil {
		return false
	}
	*(*v8u)(p) = *t.ub(s)
	return true
}

const vmask = ^uint32(127)

func vloadAI(t *thread, u *uop)  { t.vld(u, u.o[0], t.ea(u, 1)&vmask) }
func vloaduAI(t *thread, u *uop) { t.vld(u, u.o[0], t.ea(u, 1)) }

func vloadPI(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vld(u, u.o[0], *x&vmask) {
		*x += uint32(u.imm)
	}
}
func vloaduPI(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vld(u, u.o[0], *x) {
		*x += uint32(u.imm)
	}
}
func vloadPPU(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vld(u, u.o[0], *x&vmask) {
		*x += *t.r(u.o[2])
	}
}
func vloaduPPU(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vld(u, u.o[0], *x) {
		*x += *t.r(u.o[2])
	}
}

func vstoreAI(t *thread, u *uop)  { t.vst(u, u.o[1], t.ea(u, 0)&vmask) }
func vstoreuAI(t *thread, u *uop) { t.vst(u, u.o[1], t.ea(u, 0)) }

func vstorePI(t *thread, u *uop) {
	if x := t.r(u.o[0]); t.vst(u, u.o[1], *x&vmask) {
		*x += uint32(u.imm)
	}
}
func vstoreuPI(t *thread, u *uop) {
	if x := t.r(u.o[0]); t.vst(u, u.o[1], *x) {
		*x += uint32(u.imm)
	}
}
func vstorePPU(t *thread, u *uop) {
	if x := t.r(u.o[0]); t.vst(u, u.o[2], *x&vmask) {
		*x += *t.r(u.o[1])
	}
}
func vstoreuPPU(t *thread, u *uop) {
	if x := t.r(u.o[0]); t.vst(u, u.o[2], *x) {
		*x += *t.r(u.o[1])
	}
}

// vstq stores the byte lanes whose predicate, xor flip, is set.
func (t *thread) vstq(u *uop, q, s uint16, ea uint32, flip byte) bool {
	p := t.access(u, ea, 128, true)
	if p == nil {
		return false
	}
	d, m, v := (*v8u)(p), t.ub(q), t.ub(s)
	for i := range d {
		k := m[i] ^ flip
		d[i] = v[i]&k | d[i]&^k
	}
	return true
}

func vstoreQAI(t *thread, u *uop)  { t.vstq(u, u.o[0], u.o[2], t.ea(u, 1)&vmask, 0) }
func vstoreNQAI(t *thread, u *uop) { t.vstq(u, u.o[0], u.o[2], t.ea(u, 1)&vmask, 0xff) }

func vstoreQPI(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vstq(u, u.o[0], u.o[2], *x&vmask, 0) {
		*x += uint32(u.imm)
	}
}
func vstoreNQPI(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vstq(u, u.o[0], u.o[2], *x&vmask, 0xff) {
		*x += uint32(u.imm)
	}
}
func vstoreQPPU(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vstq(u, u.o[0], u.o[3], *x&vmask, 0) {
		*x += *t.r(u.o[2])
	}
}
func vstoreNQPPU(t *thread, u *uop) {
	if x := t.r(u.o[1]); t.vstq(u, u.o[0], u.o[3], *x&vmask, 0xff) {
		*x += *t.r(u.o[2])
	}
}

// dcfetch has no architectural effect: the address goes to the timing model.
func dcfetch(t *thread, u *uop) { *t.r(u.ea) = t.ea(u, 0) }

// l2fetchWord is l2fetch with the shape in one register.
func l2fetchWord(t *thread, u *uop) {
	*t.r(u.ea) = *t.r(u.o[0])
	s := *t.r(u.o[1])
	t.box = box{height: s & 0xff, width: s >> 8 & 0xff, stride: s >> 16}
}

// l2fetch also leaves the shape of the box for the timing model.
func l2fetch(t *thread, u *uop) {
	*t.r(u.ea) = *t.r(u.o[0])
	r := *t.d(u.o[1])
	t.box = box{stride: uint32(r >> 32 & 0xffff), width: uint32(r >> 16 & 0xffff), height: uint32(r & 0xffff)}
}

// box is what an l2fetch asks for: height rows of width bytes, stride apart.
type box struct{ stride, width, height uint32 }
