// Package farm computes FarmHash's 64-bit fingerprint, which LSH_PROJECTION
// hashes with. The function is public (Fingerprint64) and never changes.
package farm

import (
	"encoding/binary"
	"math/bits"
)

// Mixing constants: primes between 2^63 and 2^64.
const (
	k0 = 0xc3a5c85c97cb3127
	k1 = 0xb492b66fbe98f273
	k2 = 0x9ae16a3b2f90404f
)

func u64(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
func u32(s []byte) uint64 { return uint64(binary.LittleEndian.Uint32(s)) }

func ror(v uint64, n int) uint64 { return bits.RotateLeft64(v, -n) }

func fold(v uint64) uint64 { return v ^ v>>47 }

// mix combines two words.
func mix(u, v, mul uint64) uint64 {
	a := fold((u ^ v) * mul)
	return fold((v^a)*mul) * mul
}

// Fingerprint64 is the fingerprint of s.
func Fingerprint64(s []byte) uint64 {
	n := len(s)
	mul := k2 + 2*uint64(n)
	switch {
	case n > 64:
		return long(s)
	case n > 32:
		return medium(s, mul)
	case n > 16:
		a, b := u64(s)*k1, u64(s[8:])
		c, d := u64(s[n-8:])*mul, u64(s[n-16:])*k2
		return mix(ror(a+b, 43)+ror(c, 30)+d, a+ror(b+k2, 18)+c, mul)
	case n >= 8:
		a, b := u64(s)+k2, u64(s[n-8:])
		return mix(ror(b, 37)*mul+a, (ror(a, 25)+b)*mul, mul)
	case n >= 4:
		return mix(uint64(n)+u32(s)<<3, u32(s[n-4:]), mul)
	case n > 0:
		y := uint64(s[0]) + uint64(s[n>>1])<<8
		z := uint64(n) + uint64(s[n-1])<<2
		return fold(y*k2^z*k0) * k2
	}
	return k2
}

func medium(s []byte, mul uint64) uint64 {
	n := len(s)
	a, b := u64(s)*k2, u64(s[8:])
	c, d := u64(s[n-8:])*mul, u64(s[n-16:])*k2
	y := ror(a+b, 43) + ror(c, 30) + d
	z := mix(y, a+ror(b+k2, 18)+c, mul)
	e, f := u64(s[16:])*mul, u64(s[24:])
	g, h := (y+u64(s[n-32:]))*mul, (z+u64(s[n-24:]))*mul
	return mix(ror(e+f, 43)+ror(g, 30)+h, e+ror(f+a, 18)+g, mul)
}

// pair is 16 bytes of state.
type pair struct{ lo, hi uint64 }

// absorb mixes 32 bytes into a pair.
func absorb(s []byte, a, b uint64) pair {
	w, x, y, z := u64(s), u64(s[8:]), u64(s[16:]), u64(s[24:])
	a += w
	b = ror(b+a+z, 21)
	c := a
	a += x + y
	return pair{a + z, b + ror(a, 44) + c}
}

func long(s []byte) uint64 {
	const seed = 81
	n := len(s)
	last := s[n-64:]
	x, y := uint64(seed), uint64(seed)
	y = y*k1 + 113
	z := fold(y*k2+113) * k2
	x = x*k2 + u64(s)
	var v, w pair
	round := func(s []byte, mul, times uint64) {
		x = ror(x+y+v.lo+u64(s[8:]), 37) * mul
		y = ror(y+v.hi+u64(s[48:]), 42) * mul
		x ^= w.hi * times
		y += v.lo*times + u64(s[40:])
		z = ror(z+w.lo, 33) * mul
		v = absorb(s, v.hi*mul, x+w.lo)
		w = absorb(s[32:], z+w.hi, y+u64(s[16:]))
		z, x = x, z
	}
	for ; len(s) > 64; s = s[64:] {
		round(s, k1, 1)
	}
	mul := k1 + (z&0xff)<<1
	w.lo += uint64(n-1) & 63
	v.lo += w.lo
	w.lo += v.lo
	round(last, mul, 9)
	return mix(mix(v.lo, w.lo, mul)+fold(y)*k0+z, mix(v.hi, w.hi, mul)+x, mul)
}
