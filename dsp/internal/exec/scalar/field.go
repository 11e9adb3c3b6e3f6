package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var fieldRows = []family.Row{
	{hexagon.S2_extractu_rp, extractRP(false)},
	{hexagon.S4_extract_rp, extractRP(true)},
	{hexagon.S2_extractup_rp, extractPRP(false)},
	{hexagon.S4_extractp_rp, extractPRP(true)},
	{hexagon.S2_insert_rp, func(t *state.Thread, u *state.Uop) {
		d := t.R(u.Arg[0])
		*d = uint32(inserted(uint64(*d), uint64(*t.R(u.Arg[1])), *t.D(u.Arg[2])))
	}},
	{hexagon.S2_insertp_rp, func(t *state.Thread, u *state.Uop) {
		d := t.D(u.Arg[0])
		*d = inserted(*d, *t.D(u.Arg[1]), *t.D(u.Arg[2]))
	}},
	{hexagon.S2_tableidxb, tableIndex(0)},
	{hexagon.S2_tableidxh, tableIndex(1)},
	{hexagon.S2_tableidxw, tableIndex(2)},
	{hexagon.S2_tableidxd, tableIndex(3)},
	{hexagon.S2_interleave, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.D(u.Arg[0]) = zipped(uint32(x>>32))<<1 | zipped(uint32(x))
	}},
	{hexagon.S2_deinterleave, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.D(u.Arg[0]) = pair(unzipped(x>>1), unzipped(x))
	}},
	{hexagon.S2_vspliceib, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = spliced(*t.D(u.Arg[1]), *t.D(u.Arg[2]), uint8(u.Imm))
	}},
	{hexagon.S2_vsplicerb, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = spliced(*t.D(u.Arg[1]), *t.D(u.Arg[2]), *t.P(u.Arg[3]))
	}},
	{hexagon.S2_vtrunewh, evenOdd(16, 0)},
	{hexagon.S2_vtrunowh, evenOdd(16, 1)},
	{hexagon.S6_vtrunehb_ppp, evenOdd(8, 0)},
	{hexagon.S6_vtrunohb_ppp, evenOdd(8, 1)},
	{hexagon.S6_vsplatrbp, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64(*t.R(u.Arg[1])&0xff) * 0x0101010101010101
	}},
	{hexagon.C2_vitpack, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(*t.P(u.Arg[1])&0x55 | *t.P(u.Arg[2])&0xaa)
	}},
	{hexagon.A4_addp_c, withCarry(0)},
	{hexagon.A4_subp_c, withCarry(1<<64 - 1)},
	{hexagon.A4_boundscheck_hi, boundscheck(1)},
	{hexagon.A4_boundscheck_lo, boundscheck(0)},
	{hexagon.A4_modwrapu, func(t *state.Thread, u *state.Uop) {
		x, n := *t.R(u.Arg[1]), *t.R(u.Arg[2])
		switch {
		case int32(x) < 0:
			x += n
		case x >= n:
			x -= n
		}
		*t.R(u.Arg[0]) = x
	}},
	// Compares an address with a TLB entry; the number of trailing zeros
	// of its low word is the size of the page.
	{hexagon.A4_tlbmatch, func(t *state.Thread, u *state.Uop) {
		entry, va := *t.D(u.Arg[1]), *t.R(u.Arg[2])
		low, high := uint32(entry), uint32(entry>>32)
		size := 0
		for size < 6 && low>>size&1 == 0 {
			size++
		}
		mask := uint32(0x07ffffff) & (^uint32(0) << (2 * size))
		*t.P(u.Arg[0]) = flag(high>>31 != 0 && high&mask == va&mask)
	}},
	{hexagon.A4_vcmpbeq_any, anyByte(true)},
	{hexagon.A6_vcmpbeq_notany, anyByte(false)},
	{hexagon.C4_fastcorner9, fastcorner9(true)},
	{hexagon.C4_fastcorner9_not, fastcorner9(false)},
	{hexagon.A4_pzxtbt, zxtbIf(1)},
	{hexagon.A4_pzxtbtnew, zxtbIf(1)},
	{hexagon.A4_pzxtbf, zxtbIf(0)},
	{hexagon.A4_pzxtbfnew, zxtbIf(0)},
}

// Bit fields named by registers, carries, comparisons of pairs and other
// instructions on bits.

// field reads width and offset from a pair: seven signed bits of the low word are the field's distance to the left.
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

func extractRP(signed bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(extracted(uint64(*t.R(u.Arg[1])), *t.D(u.Arg[2]), signed))
	}
}
func extractPRP(signed bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = extracted(*t.D(u.Arg[1]), *t.D(u.Arg[2]), signed)
	}
}

func inserted(d, x, p uint64) uint64 {
	mask, offset := field(p)
	if offset < 0 {
		return 0
	}
	return d&^(mask<<offset) | x&mask<<offset
}

// tableIndex puts bits of the source into the destination, above the bits of
// an element's size. The raw form counts them from bit Imm2 + size on.
func tableIndex(size int) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		mask := lowbits(u.Imm) << size
		d := t.R(u.Arg[0])
		*d = *d&^mask | uint32(lsr64(uint64(*t.R(u.Arg[1])), u.Imm2+int32(size)))<<size&mask
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

// spliced puts the low n bytes of x below the low bytes of y.
func spliced(x, y uint64, n uint8) uint64 {
	s := 8 * uint(n&7)
	return y<<s | x&(1<<s-1)
}

// evenOdd collects the even or odd lanes of w bits of two pairs: those of the
// second source in the low word.
func evenOdd(w, odd uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var d uint64
		for i := uint(0); i < 32; i += w {
			d |= uint64(lane(y, 2*i+odd*w, w, false))<<i | uint64(lane(x, 2*i+odd*w, w, false))<<(32+i)
		}
		*t.D(u.Arg[0]) = d
	}
}

// withCarry adds two pairs and the carry; invert makes it a subtraction.
func withCarry(invert uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y, p := *t.D(u.Arg[1]), *t.D(u.Arg[2])^invert, t.P(u.Arg[3])
		s := x + y
		carry := s < x
		s += uint64(*p & 1)
		carry = carry || s < uint64(*p&1)
		*t.D(u.Arg[0]), *p = s, flag(carry)
	}
}

// boundscheck compares a word of the first source with the range in the second.
func boundscheck(high uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := uint32(*t.D(u.Arg[1])>>(32*high)), *t.D(u.Arg[2])
		*t.P(u.Arg[0]) = flag(x >= uint32(y) && x < uint32(y>>32))
	}
}

// anyByte reports equal bytes of two pairs.
func anyByte(want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag((cmpBits(*t.D(u.Arg[1]), *t.D(u.Arg[2]), 8, false, cEq) != 0) == want)
	}
}

// fastcorner9 looks for nine set bits side by side in a circle of sixteen.
func fastcorner9(want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := uint32(*t.P(u.Arg[1]))<<8 | uint32(*t.P(u.Arg[2]))
		x |= x << 16
		for i := 1; i < 9; i++ {
			x &= x >> 1
		}
		*t.P(u.Arg[0]) = flag((x != 0) == want)
	}
}

// zxtbIf is the predicated zxtb, which has no plain form.
func zxtbIf(want uint8) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if *t.P(u.Arg[0])&1 == want {
			*t.R(u.Arg[1]) = *t.R(u.Arg[2]) & 0xff
		}
	}
}
