package dsp

// Scalar multiplies.

func (t *thread) mul64(u *uop) int64 { return int64(t.s(u.o[1])) * int64(t.s(u.o[2])) }
func (t *thread) umul64(u *uop) uint64 {
	return uint64(*t.r(u.o[1])) * uint64(*t.r(u.o[2]))
}

func mpyi(t *thread, u *uop)   { *t.r(u.o[0]) = *t.r(u.o[1]) * *t.r(u.o[2]) }
func mpysip(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) * uint32(u.imm) }
func mpysin(t *thread, u *uop) { *t.r(u.o[0]) = -(*t.r(u.o[1]) * uint32(u.imm)) }
func maci(t *thread, u *uop)   { *t.r(u.o[0]) += *t.r(u.o[1]) * *t.r(u.o[2]) }
func mnaci(t *thread, u *uop)  { *t.r(u.o[0]) -= *t.r(u.o[1]) * *t.r(u.o[2]) }
func macsip(t *thread, u *uop) { *t.r(u.o[0]) += *t.r(u.o[1]) * uint32(u.imm) }
func macsin(t *thread, u *uop) { *t.r(u.o[0]) -= *t.r(u.o[1]) * uint32(u.imm) }
func acci(t *thread, u *uop)   { *t.r(u.o[0]) += *t.r(u.o[1]) + *t.r(u.o[2]) }
func accii(t *thread, u *uop)  { *t.r(u.o[0]) += *t.r(u.o[1]) + uint32(u.imm) }
func nacci(t *thread, u *uop)  { *t.r(u.o[0]) -= *t.r(u.o[1]) + *t.r(u.o[2]) }
func naccii(t *thread, u *uop) { *t.r(u.o[0]) -= *t.r(u.o[1]) + uint32(u.imm) }

func mpyUp(t *thread, u *uop)   { *t.r(u.o[0]) = uint32(t.mul64(u) >> 32) }
func mpyuUp(t *thread, u *uop)  { *t.r(u.o[0]) = uint32(t.umul64(u) >> 32) }
func mpyUpS1(t *thread, u *uop) { *t.r(u.o[0]) = uint32(t.mul64(u) >> 31) }
func mpyUpS1Sat(t *thread, u *uop) {
	*t.r(u.o[0]) = t.satTo(t.mul64(u)>>31, minW, maxW)
}
func dpmpyss(t *thread, u *uop)    { *t.d(u.o[0]) = uint64(t.mul64(u)) }
func dpmpyuu(t *thread, u *uop)    { *t.d(u.o[0]) = t.umul64(u) }
func dpmpyssAcc(t *thread, u *uop) { *t.d(u.o[0]) += uint64(t.mul64(u)) }
func dpmpyuuAcc(t *thread, u *uop) { *t.d(u.o[0]) += t.umul64(u) }

func mpyHalf(t *thread, u *uop, a, b int) {
	*t.r(u.o[0]) = uint32(rh(*t.r(u.o[1]), a) * rh(*t.r(u.o[2]), b))
}
func mpyHH(t *thread, u *uop) { mpyHalf(t, u, 1, 1) }
func mpyHL(t *thread, u *uop) { mpyHalf(t, u, 1, 0) }
func mpyLH(t *thread, u *uop) { mpyHalf(t, u, 0, 1) }
func mpyLL(t *thread, u *uop) { mpyHalf(t, u, 0, 0) }

func mpyriAddi(t *thread, u *uop) { *t.r(u.o[0]) = uint32(u.imm) + *t.r(u.o[1])*uint32(u.imm2) }
func mpyrrAddi(t *thread, u *uop) { *t.r(u.o[0]) = uint32(u.imm) + *t.r(u.o[1])**t.r(u.o[2]) }
func mpyriAddr(t *thread, u *uop) { *t.r(u.o[0]) = *t.r(u.o[1]) + *t.r(u.o[2])*uint32(u.imm) }

// mpyrrAddr is Ry = add(Ru, mpyi(Ry, Rs)).
func mpyrrAddr(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1]) + *t.r(u.o[0])**t.r(u.o[2])
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

func svrmpybuu(t *thread, u *uop) {
	*t.d(u.o[0]) = dotBytes(*t.d(u.o[1]), *t.d(u.o[2]), false)
}
func svrmpybsu(t *thread, u *uop) {
	*t.d(u.o[0]) = dotBytes(*t.d(u.o[1]), *t.d(u.o[2]), true)
}
func svrmacbuu(t *thread, u *uop) {
	d := t.d(u.o[0])
	*d = addWords(*d, dotBytes(*t.d(u.o[1]), *t.d(u.o[2]), false))
}
func svrmacbsu(t *thread, u *uop) {
	d := t.d(u.o[0])
	*d = addWords(*d, dotBytes(*t.d(u.o[1]), *t.d(u.o[2]), true))
}

// addWords adds two pairs of words; each sum wraps.
func addWords(x, y uint64) uint64 { return pair(uint32(x>>32)+uint32(y>>32), uint32(x)+uint32(y)) }

func svmacbuu(t *thread, u *uop) {
	a, b, x := *t.r(u.o[1]), *t.r(u.o[2]), *t.d(u.o[0])
	var d uint64
	for i := range 4 {
		h := uint16(x>>(16*i)) + uint16(rub(a, i)*rub(b, i))
		d |= uint64(h) << (16 * i)
	}
	*t.d(u.o[0]) = d
}
