package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
)

// quotient32 is num / den by the instructions that compilers emit for a quotient that is rounded correctly.
func quotient32(num, den uint32) uint32 {
	neg := func(x uint32) uint32 { return x ^ 1<<31 }
	scale := func(x uint32) (uint32, bool) {
		r, back := divScale(&div32, float64(float.F32(x)), float64(float.F32(den)), float64(float.F32(num)), x == num, x == den)
		return float.Bits32(float32(r)), back
	}
	d, _ := scale(den)
	n, back := scale(num)
	r := float.Rcp(d)
	r = float.FMA(float.FMA(neg(d), r, 0x3F800000), r, r)
	q := float.Mul(n, r)
	q = float.FMA(float.FMA(neg(d), q, n), r, q)
	return uint32(div32.fixup(uint64(divFmas32(float.Nearest, float.FMA(neg(d), q, n), r, q, back)), uint64(den), uint64(num)))
}

// quotient64 is quotient32 of float64.
func quotient64(num, den float64) float64 {
	d, _ := divScale(&div64, den, den, num, den == num, true)
	n, back := divScale(&div64, num, den, num, true, den == num)
	r := 1 / d
	r = math.FMA(r, math.FMA(-d, r, 1), r)
	r = math.FMA(r, math.FMA(-d, r, 1), r)
	q := n * r
	e := math.FMA(-d, q, n)
	bits := divFmas64(float.Nearest, math.Float64bits(e), math.Float64bits(r), math.Float64bits(q), back)
	return math.Float64frombits(div64.fixup(bits, math.Float64bits(den), math.Float64bits(num)))
}

// TestQuotients divides numbers of all magnitudes as compiled programs do: each quotient is the one of IEEE 754, up to
// the payload of a NaN.
func TestQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	corners := []uint32{0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F7FFFFF, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000}
	draw32 := func() uint32 {
		if r.IntN(4) == 0 {
			return corners[r.IntN(len(corners))] | r.Uint32()&(1<<31)
		}
		return r.Uint32()
	}
	for range 100000 {
		n, d := draw32(), draw32()
		want := float.F32(n) / float.F32(d)
		if got := float.F32(quotient32(n, d)); got != want && (got == got || want == want) {
			t.Fatalf("%08x / %08x is %x, want %x", n, d, got, want)
		}
	}
	draw64 := func() float64 {
		switch r.IntN(8) {
		case 0:
			return float64(float.F32(corners[r.IntN(len(corners))]))
		case 1:
			return math.Float64frombits(r.Uint64() >> (11 + r.IntN(50))) // a denormal
		case 2:
			return math.Float64frombits(r.Uint64() | 0x7FE<<52&^(1<<52))
		}
		return math.Float64frombits(r.Uint64())
	}
	for range 100000 {
		n, d := draw64(), draw64()
		if got, want := quotient64(n, d), n/d; got != want && (got == got || want == want) {
			t.Fatalf("%x / %x is %x, want %x", math.Float64bits(n), math.Float64bits(d), math.Float64bits(got), math.Float64bits(want))
		}
	}
}
