package float

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// operand draws bits of a float with n of exponent and fraction: any number, or one whose
// exponent is near the middle or the ends, so that sums cancel and products round into
// denormals and infinities.
func operand(r *rand.Rand, f *Format) uint64 {
	x := r.Uint64() & (f.Sign()<<1 - 1)
	switch r.Intn(4) {
	case 0:
		x = x&^f.Inf() | uint64(f.Bias()+r.Intn(5)-2)<<f.frac
	case 1:
		x = x&^f.Inf() | uint64(r.Intn(3))<<f.frac
	case 2:
		x = x&^f.Inf() | uint64(f.MaxExp()-1)<<f.frac
	}
	return x
}

// TestHost: to nearest, sums, differences and products are those of the host, but for NaNs, which are all one; the
// inexact flag is set exactly when the result is not the exact value.
func TestHost(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	single := func(v float64, bits uint32) uint64 {
		if math.IsNaN(v) {
			return Single.NaN
		}
		return uint64(bits)
	}
	double := func(v float64) uint64 {
		if math.IsNaN(v) {
			return Double.NaN
		}
		return math.Float64bits(v)
	}
	rounded := 0
	for range 200_000 {
		x, y := operand(r, Single), operand(r, Single)
		a, b := math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))
		for _, c := range []struct {
			name string
			do   func(e *Env, f *Format, x, y uint64) uint64
			host float32
		}{{"+", (*Env).Add, a + b}, {"-", (*Env).Sub, a - b}, {"*", (*Env).Mul, a * b}} {
			var e Env
			if got, want := c.do(&e, Single, x, y), single(float64(c.host), math.Float32bits(c.host)); got != want {
				t.Fatalf("%08x %s %08x = %08x, the host says %08x", x, c.name, y, got, want)
			}
		}
		if p := float64(a) * float64(b); !math.IsNaN(p) && !math.IsInf(p, 0) { // exact
			var e Env
			e.Mul(Single, x, y)
			if got, want := e&Inexact != 0, float64(a*b) != p; got != want {
				t.Fatalf("%08x * %08x: inexact %v, want %v", x, y, got, want)
			} else if got {
				rounded++
			}
		}
		x, y = operand(r, Double), operand(r, Double)
		c, d := math.Float64frombits(x), math.Float64frombits(y)
		var e Env
		if got, want := e.Add(Double, x, y), double(c+d); got != want {
			t.Fatalf("%016x + %016x = %016x, the host says %016x", x, y, got, want)
		}
		if got, want := e.Mul(Double, x, y), double(c*d); got != want {
			t.Fatalf("%016x * %016x = %016x, the host says %016x", x, y, got, want)
		}
	}
	if rounded < 10_000 {
		t.Errorf("only %d products are inexact", rounded)
	}
}

// TestFMA: the sum of a product and a number is rounded once, in every mode.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	modes := []struct {
		usr  Env
		mode big.RoundingMode
	}{
		{ToNearest << RoundShift, big.ToNearestEven}, {ToZero << RoundShift, big.ToZero},
		{Down << RoundShift, big.ToNegativeInf}, {Up << RoundShift, big.ToPositiveInf},
	}
	exact := func(x uint64) *big.Float {
		return new(big.Float).SetPrec(2000).SetFloat64(float64(math.Float32frombits(uint32(x))))
	}
	tried := 0
	for range 50_000 {
		x, y, z := operand(r, Single), operand(r, Single), operand(r, Single)
		if x&Single.Inf() == Single.Inf() || y&Single.Inf() == Single.Inf() || z&Single.Inf() == Single.Inf() {
			continue
		}
		sum := new(big.Float).SetPrec(2000)
		sum.Add(sum.Mul(exact(x), exact(y)), exact(z))
		if e := sum.MantExp(nil); sum.Sign() == 0 || e < -124 || e > 127 { // a normal number, whatever the mode
			continue
		}
		tried++
		for _, m := range modes {
			e := m.usr
			v, _ := new(big.Float).SetPrec(24).SetMode(m.mode).Set(sum).Float32()
			if got, want := e.FMA(x, y, z, 0), uint64(math.Float32bits(v)); got != want {
				t.Fatalf("mode %v: %08x * %08x + %08x = %08x, want %08x", m.mode, x, y, z, got, want)
			}
		}
	}
	if tried < 5000 {
		t.Errorf("only %d sums tried", tried)
	}
}
