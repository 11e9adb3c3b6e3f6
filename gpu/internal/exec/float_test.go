package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/floattest"
)

// TestTranscendental: the unit's results are within half an ulp plus what the
// host's float64 functions are off.
func TestTranscendental(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, c := range []struct {
		name   string
		f      func(uint32) uint32
		want   func(float64) float64
		lo, hi float64
	}{
		{"exp", fexp2, math.Exp2, -126, 127},
		{"log", flog2, math.Log2, 1e-30, 1e30},
		{"log near 1", flog2, math.Log2, 0.99, 1.01},
		{"sin", fsin, func(x float64) float64 { return math.Sin(2 * math.Pi * (x - math.Round(x))) }, -2, 2},
		{"cos", fcos, func(x float64) float64 { return math.Cos(2 * math.Pi * (x - math.Round(x))) }, -2, 2},
	} {
		for range 20000 {
			x := float32(c.lo + (c.hi-c.lo)*r.Float64())
			got, w := f32(c.f(b32(x))), c.want(float64(x))
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
		f := f16to32(h)
		if isNaN32(f) {
			continue
		}
		if back := f32to16(f); back != h {
			t.Fatalf("%#04x -> %#08x -> %#04x", h, f, back)
		}
		if back := f32to16z(f); back != h {
			t.Fatalf("%#04x -> %#08x -> %#04x toward zero", h, f, back)
		}
	}
	// A NaN keeps the upper bits of its fraction.
	if got := f32to16(0xFFC12345); got != 0xFE09 {
		t.Errorf("NaN becomes %#x", got)
	}
	r := rand.New(rand.NewPCG(31, 32))
	for range 200000 {
		u := floattest.Value(r)
		x := float64(f32(u))
		if x != x {
			continue
		}
		if got, want := f32to16(u), floattest.Half(x); got != want {
			t.Fatalf("f32to16(%g) = %#x, want %#x", x, got, want)
		}
		if got, want := f32to16z(u), floattest.TruncHalf(u); got != want {
			t.Fatalf("f32to16z(%g) = %#x, want %#x", x, got, want)
		}
	}
}

// TestFMARounding aims at sums whose float64 value lies on a float32 tie.
func TestFMARounding(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 300000 {
		a := b32(float32(1 + float64(r.IntN(1<<12))/(1<<12)))
		b := b32(float32(1 + float64(r.IntN(1<<12))/(1<<12)))
		c := b32(float32(math.Ldexp(r.Float64()-0.5, r.IntN(90)-60)))
		if got, want := ffma(a, b, c), b32(floattest.FMA(f32(a), f32(b), f32(c))); got != want {
			t.Fatalf("fma(%#x, %#x, %#x) = %#x, want %#x", a, b, c, got, want)
		}
	}
	// math.FMA in float64 rounded again to float32 is wrong here.
	a, b, c := b32(0x1.000002p0), b32(0x1.000002p0), b32(0x1p-80)
	if twice := b32(float32(math.FMA(float64(f32(a)), float64(f32(b)), float64(f32(c))))); ffma(a, b, c) != b32(floattest.FMA(f32(a), f32(b), f32(c))) {
		t.Errorf("%#x, rounded twice %#x", ffma(a, b, c), twice)
	}
}
