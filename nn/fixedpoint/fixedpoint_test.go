package fixedpoint

import (
	"math"
	"math/big"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"pgregory.net/rapid"
)

// TestSRDHM compares with the definition: nudge by the sign of the product,
// divide by 2^31 towards zero, saturate.
func TestSRDHM(t *testing.T) {
	require.Check(t, SRDHM(math.MinInt32, math.MinInt32) == math.MaxInt32, "the product of the minima does not saturate")
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int32().Draw(t, "a"), rapid.Int32().Draw(t, "b")
		p := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
		nudge := big.NewInt(1 << 30)
		if p.Sign() < 0 {
			nudge = big.NewInt(1 - 1<<30)
		}
		want := p.Add(p, nudge).Quo(p, big.NewInt(1<<31)).Int64()
		if want = min(want, math.MaxInt32); int64(SRDHM(a, b)) != want {
			t.Fatalf("SRDHM(%d, %d) = %d, want %d", a, b, SRDHM(a, b), want)
		}
	})
}

// TestRDPOT compares with rounding of the exact quotient, half away from zero.
func TestRDPOT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, n := rapid.Int32().Draw(t, "x"), rapid.IntRange(0, 40).Draw(t, "n")
		want := int32(math.Round(math.Ldexp(float64(x), -n)))
		if got := RDPOT(x, n); got != want {
			t.Fatalf("RDPOT(%d, %d) = %d, want %d", x, n, got, want)
		}
	})
}

func TestQuantizeMultiplier(t *testing.T) {
	for _, c := range []struct {
		real float64
		want Multiplier
	}{
		{0, Multiplier{}}, {1, Multiplier{1 << 30, 1}}, {0.5, Multiplier{1 << 30, 0}}, {3, Multiplier{3 << 29, 2}},
		{1 - math.Ldexp(1, -40), Multiplier{1 << 30, 1}}, {math.Ldexp(1, -32), Multiplier{1 << 30, -31}},
		{math.Ldexp(1, -33), Multiplier{}}, {math.NaN(), Multiplier{}}, {math.Inf(1), Multiplier{}}, {-1, Multiplier{}},
	} {
		if got := QuantizeMultiplier(c.real); got != c.want {
			t.Errorf("QuantizeMultiplier(%v) = %+v, want %+v", c.real, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		real := math.Exp(rapid.Float64Range(-15, 8).Draw(t, "ln"))
		x := rapid.Int32Range(-1<<18, 1<<18).Draw(t, "x")
		if got, want := float64(QuantizeMultiplier(real).Apply(x)), real*float64(x); !(math.Abs(got-want) <= 1+math.Abs(want)*1e-8) {
			t.Fatalf("%v applied to %d is %v", real, x, got)
		}
	})
}

// TestFixedPoint compares the fixed-point functions with the real ones.
func TestFixedPoint(t *testing.T) {
	const ulp = 1. / (1 << 31)
	for i := range 4000 {
		a := -int32(float64(i) / 4000 * math.MaxInt32)
		for _, bits := range []int{4, 5} {
			want := math.Exp(float64(a) / float64(int64(1)<<(31-bits)))
			if got := float64(ExpNegative(a, bits)) * ulp; !(math.Abs(got-want) <= 3e-8*8) {
				t.Fatalf("exp of %d in Q%d is %v, want %v", a, bits, got, want)
			}
		}
		x := float64(a) / (1 << 27)
		for _, s := range []int32{1, -1} {
			if got, want := float64(Logistic(s*a))*ulp, 1/(1+math.Exp(-float64(s)*x)); !(math.Abs(got-want) <= 3e-7) {
				t.Fatalf("logistic of %v is %v, want %v", float64(s)*x, got, want)
			}
			if got, want := float64(Tanh(s*a))*ulp, math.Tanh(float64(s)*x); !(math.Abs(got-want) <= 6e-7) {
				t.Fatalf("tanh of %v is %v, want %v", float64(s)*x, got, want)
			}
		}
		f := float64(-a) * ulp
		if got, want := float64(oneOverOnePlus(-a))*ulp, 1/(1+f); !(math.Abs(got-want) <= 1e-8) {
			t.Fatalf("1/(1+%v) is %v, want %v", f, got, want)
		}
	}
}

// TestExpSteps holds the constants to their formula.
func TestExpSteps(t *testing.T) {
	for i, s := range ExpSteps {
		if want := int32(math.Round(math.Exp(-math.Ldexp(1, i-2)) * (1 << 31))); s != want {
			t.Errorf("step %d is %d, want %d", i, s, want)
		}
	}
	require.Same(t, ExpEighth, int32(math.Round(math.Exp(-0.125)*(1<<31))), "exp(-1/8)")
}
