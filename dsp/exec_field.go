package dsp

// Bit fields named by registers, carries, comparisons of pairs and other
// instructions on bits.

// field reads width and offset from a pair: seven signed bits of the low word
// say how far the field lies to the left.
func field(p uint64) (mask uint64, offset int32) {
	return 1<<(p>>32&63) - 1, amount(uint32(p))
}

func extracted(x, p uint64, signed bool) uint64 {
	_, offset := field(p)
	w := uint(p >> 32 & 63)
	if w == 0 {
		return 0
	}
	return uint64(lane(lsr64(x, offset), 0, w, signed))
}

func extractRP(signed bool) semantic {
	return func(t *thread, u *uop) {
		*t.r(u.o[0]) = uint32(extracted(uint64(*t.r(u.o[1])), *t.d(u.o[2]), signed))
	}
}
func extractPRP(signed bool) semantic {
	return func(t *thread, u *uop) { *t.d(u.o[0]) = extracted(*t.d(u.o[1]), *t.d(u.o[2]), signed) }
}

func inserted(d, x, p uint64) uint64 {
	mask, offset := field(p)
	if offset < 0 {
		return 0
	}
	return d&^(mask<<offset) | x&mask<<offset
}

func insertRP(t *thread, u *uop) {
	d := t.r(u.o[0])
	*d = uint32(inserted(uint64(*d), uint64(*t.r(u.o[1])), *t.d(u.o[2])))
}
func insertPRP(t *thread, u *uop) {
	d := t.d(u.o[0])
	*d = inserted(*d, *t.d(u.o[1]), *t.d(u.o[2]))
}

// tableIndex puts bits of the source into the destination, above the bits of
// an element's size. The raw form counts them from bit imm2 + size on.
func tableIndex(size int) semantic {
	return func(t *thread, u *uop) {
		mask := lowbits(u.imm) << size
		d := t.r(u.o[0])
		*d = *d&^mask | uint32(lsr64(uint64(*t.r(u.o[1])), u.imm2+int32(size)))<<size&mask
	}
}

// zipped spreads the bits of a word over the even bits.
func zipped(w uint32) (d uint64) {
	for i := range 32 {
		d |= uint64(w>>i&1) << (2 * i)
	}
	return d
}

// unzipped collects the even bits.
func unzipped(x uint64) (w uint32) {
	for i := range 32 {
		w |= uint32(x>>(2*i)&1) << i
	}
	return w
}

func zipBits(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.d(u.o[0]) = zipped(uint32(x>>32))<<1 | zipped(uint32(x))
}
func unzipBits(t *thread, u *uop) {
	x := *t.d(u.o[1])
	*t.d(u.o[0]) = pair(unzipped(x>>1), unzipped(x))
}

// spliced puts the low n bytes of x below the low bytes of y.
func spliced(x, y uint64, n uint8) uint64 {
	s := 8 * uint(n&7)
	return y<<s | x&(1<<s-1)
}

func vspliceI(t *thread, u *uop) { *t.d(u.o[0]) = spliced(*t.d(u.o[1]), *t.d(u.o[2]), uint8(u.imm)) }
func vspliceR(t *thread, u *uop) { *t.d(u.o[0]) = spliced(*t.d(u.o[1]), *t.d(u.o[2]), *t.p(u.o[3])) }

// evenOdd collects the even or odd lanes of w bits of two pairs: those of the
// second source in the low word.
func evenOdd(w, odd uint) semantic {
	return func(t *thread, u *uop) {
		x, y := *t.d(u.o[1]), *t.d(u.o[2])
		var d uint64
		for i := uint(0); i < 32; i += w {
			d |= uint64(lane(y, 2*i+odd*w, w, false))<<i | uint64(lane(x, 2*i+odd*w, w, false))<<(32+i)
		}
		*t.d(u.o[0]) = d
	}
}

func splat8(t *thread, u *uop) { *t.d(u.o[0]) = uint64(*t.r(u.o[1])&0xff) * 0x0101010101010101 }

func vitpack(t *thread, u *uop) { *t.r(u.o[0]) = uint32(*t.p(u.o[1])&0x55 | *t.p(u.o[2])&0xaa) }

// withCarry adds two pairs and the carry; invert makes it a subtraction.
func withCarry(invert uint64) semantic {
	return func(t *thread, u *uop) {
		x, y, p := *t.d(u.o[1]), *t.d(u.o[2])^invert, t.p(u.o[3])
		s := x + y
		carry := s < x
		s += uint64(*p & 1)
		carry = carry || s < uint64(*p&1)
		*t.d(u.o[0]), *p = s, flag(carry)
	}
}

// boundscheck compares a word of the first source with the range in the second.
func boundscheck(high uint) semantic {
	return func(t *thread, u *uop) {
		x, y := uint32(*t.d(u.o[1])>>(32*high)), *t.d(u.o[2])
		*t.p(u.o[0]) = flag(x >= uint32(y) && x < uint32(y>>32))
	}
}

func modwrap(t *thread, u *uop) {
	x, n := *t.r(u.o[1]), *t.r(u.o[2])
	switch {
	case int32(x) < 0:
		x += n
	case x >= n:
		x -= n
	}
	*t.r(u.o[0]) = x
}

// anyByte reports equal bytes of two pairs.
func anyByte(want bool) semantic {
	return func(t *thread, u *uop) {
		*t.p(u.o[0]) = flag((cmpBits(*t.d(u.o[1]), *t.d(u.o[2]), 8, false, cEq) != 0) == want)
	}
}

// tlbmatch compares an address with a TLB entry; the number of trailing zeros
// of its low word is the size of the page.
func tlbmatch(t *thread, u *uop) {
	entry, va := *t.d(u.o[1]), *t.r(u.o[2])
	low, high := uint32(entry), uint32(entry>>32)
	size := 0
	for size < 6 && low>>size&1 == 0 {
		size++
	}
	mask := uint32(0x07ffffff) & (^uint32(0) << (2 * size))
	*t.p(u.o[0]) = flag(high>>31 != 0 && high&mask == va&mask)
}

// fastcorner9 looks for nine set bits side by side in a circle of sixteen.
func fastcorner9(want bool) semantic {
	return func(t *thread, u *uop) {
		x := uint32(*t.p(u.o[1]))<<8 | uint32(*t.p(u.o[2]))
		x |= x << 16
		for i := 1; i < 9; i++ {
			x &= x >> 1
		}
		*t.p(u.o[0]) = flag((x != 0) == want)
	}
}

// zxtbIf is the predicated zxtb, which has no plain form.
func zxtbIf(want uint8) semantic {
	return func(t *thread, u *uop) {
		if *t.p(u.o[0])&1 == want {
			*t.r(u.o[1]) = *t.r(u.o[2]) & 0xff
		}
	}
}
