package float

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/float/floattest"
)

// TestTranscendental: the unit's results are within half an ulp plus the error of the host's float64 functions.
func TestTranscendental(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, c := range []struct {
		name   string
		f      func(uint32) uint32
		want   func(float64) float64
		lo, hi float64
	}{
		{"exp", Exp2, math.Exp2, -126, 127},
		{"log", Log2, math.Log2, 1e-30, 1e30},
		{"log near 1", Log2, math.Log2, 0.99, 1.01},
		{"sin", Sin, func(x float64) float64 { return math.Sin(2 * math.Pi * (x - math.Round(x))) }, -2, 2},
		{"cos", Cos, func(x float64) float64 { return math.Cos(2 * math.Pi * (x - math.Round(x))) }, -2, 2},
	} {
		for range 20000 {
			x := float32(c.lo + (c.hi-c.lo)*r.Float64())
			got, w := F32(c.f(Bits32(x))), c.want(float64(x))
			ulp := math.Abs(float64(math.Nextafter32(float32(w), 2*float32(w))) - float64(float32(w)))
			if d := math.Abs(float64(got) - w); d > 0.501*ulp+1e-16 {
				t.Errorf("%s(%g) = %g, want %g: off by %g ulp", c.name, x, got, w, d/ulp)
				break
			}
		}
	}
}

func TestHalfConversions(t *testing.T) {
	for h := range uint32(1 << 16) {
		f := FromHalf(h)
		if IsNaN32(f) {
			continue
		}
		if back := ToHalf(f); back != h {
			t.Fatalf("%#04x -> %#08x -> %#04x", h, f, back)
		}
		if back := ToHalfTrunc(f); back != h {
			t.Fatalf("%#04x -> %#08x -> %#04x toward zero", h, f, back)
		}
	}
	// A NaN keeps the upper bits of its fraction.
	if got := ToHalf(0xFFC12345); got != 0xFE09 {
		t.Errorf("NaN becomes %#x", got)
	}
	r := rand.New(rand.NewPCG(31, 32))
	for range 200000 {
		u := floattest.Value(r)
		x := float64(F32(u))
		if x != x {
			continue
		}
		if got, want := ToHalf(u), floattest.Half(x); got != want {
			t.Fatalf("ToHalf(%g) = %#x, want %#x", x, got, want)
		}
		if got, want := ToHalfTrunc(u), floattest.TruncHalf(u); got != want {
			t.Fatalf("ToHalfTrunc(%g) = %#x, want %#x", x, got, want)
		}
	}
}

// TestFMARounding tests sums whose float64 value is a float32 tie.
func TestFMARounding(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 300000 {
		a := Bits32(float32(1 + float64(r.IntN(1<<12))/(1<<12)))
		b := Bits32(float32(1 + float64(r.IntN(1<<12))/(1<<12)))
		c := Bits32(float32(math.Ldexp(r.Float64()-0.5, r.IntN(90)-60)))
		if got, want := FMA(a, b, c), Bits32(floattest.FMA(F32(a), F32(b), F32(c))); got != want {
			t.Fatalf("FMA(%#x, %#x, %#x) = %#x, want %#x", a, b, c, got, want)
		}
	}
	// math.FMA in float64 rounded again to float32 is wrong here.
	a, b, c := Bits32(0x1.000002p0), Bits32(0x1.000002p0), Bits32(0x1p-80)
	if twice := Bits32(float32(math.FMA(float64(F32(a)), float64(F32(b)), float64(F32(c))))); FMA(a, b, c) != Bits32(floattest.FMA(F32(a), F32(b), F32(c))) {
		t.Errorf("%#x, rounded twice %#x", FMA(a, b, c), twice)
	}
}

// TestNaNOperands: of several NaN operands the result is the first, with its payload and quieted; without one it is the
// default NaN.
func TestNaNOperands(t *testing.T) {
	const one, inf, zero = 0x3F800000, 0x7F800000, 0
	const a, b, c = 0x7F80000A, 0xFF80000B, 0x7FC0000C // two signalling ones, a quiet one
	for _, x := range []struct {
		name      string
		got, want uint32
	}{
		{"a+b", Add(a, b), 0x7FC0000A}, {"1+b", Add(one, b), 0xFFC0000B}, {"inf-inf", Add(inf, inf|1<<31), NaN32},
		{"b-a", Sub(b, a), 0xFFC0000B}, {"1-c", Sub(one, c), c}, {"inf-inf, sub", Sub(inf, inf), NaN32},
		{"c*a", Mul(c, a), c}, {"1*a", Mul(one, a), 0x7FC0000A}, {"0*inf", Mul(zero, inf), NaN32},
		{"a*b+c", FMA(a, b, c), 0x7FC0000A}, {"1*b+c", FMA(one, b, c), 0xFFC0000B}, {"1*c+b", FMA(one, c, b), c},
		{"1*1+c", FMA(one, one, c), c}, {"0*inf+c", FMA(zero, inf, c), c}, {"0*inf+1", FMA(zero, inf, one), NaN32},
		{"inf*1-inf", FMA(inf, one, inf|1<<31), NaN32},
		{"half a+b", AddHalf(0x7C0A, 0xFC0B), 0x7E0A}, {"half 1-b", SubHalf(0x3C00, 0xFC0B), 0xFE0B}, {"half 0*inf", MulHalf(0, 0x7C00), NaN16},
		{"half a*b+c", FMAHalf(0x7C0A, 0xFC0B, 0x7E0C), 0x7E0A}, {"half 1*b+c", FMAHalf(0x3C00, 0xFC0B, 0x7E0C), 0xFE0B},
		{"half 1*1+c", FMAHalf(0x3C00, 0x3C00, 0x7C0C), 0x7E0C}, {"half 0*inf+1", FMAHalf(0, 0x7C00, 0x3C00), NaN16},
	} {
		if x.got != x.want {
			t.Errorf("%s = %#x, want %#x", x.name, x.got, x.want)
		}
	}
}
